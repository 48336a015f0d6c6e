"""Who belongs to the household, and the tokens of their devices.

A token is 256 random bits, so that its plain SHA-256 is safe to keep: nobody can try them all, and
there is nothing for a salt or a slow hash to protect. All of it is in memory too: a request's token
is looked up without the disk.
"""

import hashlib
import secrets
from datetime import UTC, date, datetime

import apsw
import msgspec

from hubd.errors import BadRequestError, NotFoundError
from hubd.policy import OWNER, Caller, Person, Role, Scope, limited
from hubd.store.database import Database

PREFIX = "hubd_"
"""Of every token, so that one that was published by mistake is recognized."""
MAXIMUM_PERSONS = 100
MAXIMUM_TOKENS = 500


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What a device may, and whose it is. The secret itself is known to the device alone."""

    id: str
    name: str
    """What the household calls the device."""
    person: str
    scopes: tuple[Scope, ...]
    areas: tuple[str, ...] | None = None
    """The ids of the areas where it may act; ``None``: wherever the person may."""
    tools: tuple[str, ...] | None = None
    """The tools or plugins that it may use; ``None``: those of the person."""
    created_at: str = ""
    used_on: str = ""
    """The day of its last use, UTC; empty: never used."""


class Access:
    """The persons and the tokens. Open with ``Access.open``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._persons: dict[str, Person] = {}
        self._tokens: dict[str, Token] = {}
        """By the digest of their secrets."""

    @classmethod
    async def open(cls, database: Database) -> "Access":
        """Those of the database."""
        access = cls(database)
        await access._load()
        return access

    def persons(self) -> list[Person]:
        """Everybody, the owner first."""
        return [OWNER, *(self._persons[name] for name in sorted(self._persons))]

    def knows(self, name: str) -> bool:
        """Whether there is somebody of that name."""
        return name == OWNER.name or name in self._persons

    def person(self, name: str) -> Person:
        """One of them. Raises NotFoundError."""
        found = OWNER if name == OWNER.name else self._persons.get(name)
        if found is None:
            raise NotFoundError(f"there is nobody called {name!r}", "`hubd person list` names all.")
        return found

    async def add_person(self, person: Person) -> None:
        """Keep somebody new. Raises BadRequestError: the name is taken, or there are too many."""
        if person.name == OWNER.name or person.name in self._persons:
            raise BadRequestError(f"name: there is a {person.name!r} already")
        if len(self._persons) >= MAXIMUM_PERSONS:
            raise BadRequestError(f"name: at most {MAXIMUM_PERSONS} persons")
        areas = None if person.areas is None else tuple(sorted(person.areas))
        row = (person.name, person.role, _listed(areas), _listed(person.tools), _now())
        await self._change("INSERT INTO person VALUES (?, ?, ?, ?, ?)", row)

    async def remove_person(self, name: str) -> None:
        """Forget somebody, and the tokens of their devices.

        Raises:
            NotFoundError: there is no such person.
            BadRequestError: it is the owner.
        """
        if self.person(name) is OWNER:
            raise BadRequestError("name: the owner stays")

        def delete(connection: apsw.Connection) -> None:
            connection.execute("DELETE FROM token WHERE person = ?", (name,))
            connection.execute("DELETE FROM person WHERE name = ?", (name,))

        await self._database.run(delete)
        await self._load()

    def tokens(self) -> list[Token]:
        """All of them, oldest first."""
        return sorted(self._tokens.values(), key=lambda token: (token.created_at, token.id))

    async def add_token(
        self,
        *,
        name: str,
        person: str,
        scopes: tuple[Scope, ...],
        areas: tuple[str, ...] | None = None,
        tools: tuple[str, ...] | None = None,
    ) -> tuple[Token, str]:
        """A new token, and its secret, which is told here and never again.

        Raises:
            NotFoundError: there is no such person.
            BadRequestError: the person may not have that scope, or there are too many tokens.
        """
        if "admin" in scopes and self.person(person).role != "owner":
            raise BadRequestError("scopes: only an owner's device may have admin")
        if len(self._tokens) >= MAXIMUM_TOKENS:
            raise BadRequestError(f"at most {MAXIMUM_TOKENS} tokens", "`hubd token revoke` one.")
        secret = PREFIX + secrets.token_urlsafe(32)
        token = Token(
            id=secrets.token_hex(4),
            name=name,
            person=person,
            scopes=scopes,
            areas=areas,
            tools=tools,
            created_at=_now(),
        )
        row = (
            token.id, _digest(secret), name, person, ",".join(scopes), _listed(areas),
            _listed(tools), token.created_at, "",
        )  # fmt: skip
        await self._change("INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        return token, secret

    async def revoke(self, identity: str) -> None:
        """The token opens nothing any more. Raises NotFoundError."""
        if all(token.id != identity for token in self._tokens.values()):
            raise NotFoundError(f"there is no token {identity!r}", "`hubd token list` names all.")
        await self._change("DELETE FROM token WHERE id = ?", (identity,))

    def find(self, secret: str) -> Caller | None:
        """Who has this secret, as their device may speak for them; ``None``: nobody."""
        token = self._tokens.get(_digest(secret))
        if token is None:
            return None
        areas = None if token.areas is None else frozenset(token.areas)
        person = limited(
            self.person(token.person), areas=areas, tools=token.tools, acts="tools" in token.scopes
        )
        return Caller(person=person, scopes=frozenset(token.scopes), token=token.id)

    async def used(self, identity: str, today: date) -> None:
        """Take down that a token was used; touches the disk once a day for each."""
        day = today.isoformat()
        for digest, token in self._tokens.items():
            if token.id == identity and token.used_on != day:
                self._tokens[digest] = msgspec.structs.replace(token, used_on=day)
                break
        else:
            return

        def update(connection: apsw.Connection) -> None:
            connection.execute("UPDATE token SET used_on = ? WHERE id = ?", (day, identity))

        await self._database.run(update)

    async def _change(self, statement: str, values: tuple[str | None, ...]) -> None:
        await self._database.run(lambda connection: _execute(connection, statement, values))
        await self._load()

    async def _load(self) -> None:
        def select(connection: apsw.Connection) -> tuple[list[tuple[str, ...]], ...]:
            persons = connection.execute("SELECT name, role, areas, tools FROM person")
            tokens = connection.execute(
                "SELECT digest, id, name, person, scopes, areas, tools, created_at, used_on "
                "FROM token"
            )
            return list(persons), list(tokens)

        persons, tokens = await self._database.run(select)
        self._persons = {row[0]: _person(row) for row in persons}
        self._tokens = {row[0]: _token(row[1:]) for row in tokens}


def _execute(connection: apsw.Connection, statement: str, values: tuple[str | None, ...]) -> None:
    connection.execute(statement, values)


def _person(row: tuple[str, ...]) -> Person:
    name, role, areas, tools = row
    allowed = _parsed(areas)
    return Person(
        name=name,
        role=msgspec.convert(role, Role),
        areas=None if allowed is None else frozenset(allowed),
        tools=_parsed(tools),
    )


def _token(row: tuple[str, ...]) -> Token:
    identity, name, person, scopes, areas, tools, created_at, used_on = row
    return Token(
        id=identity,
        name=name,
        person=person,
        scopes=msgspec.convert(scopes.split(","), tuple[Scope, ...]),
        areas=_parsed(areas),
        tools=_parsed(tools),
        created_at=created_at,
        used_on=used_on,
    )


def _listed(names: tuple[str, ...] | None) -> str | None:
    return None if names is None else msgspec.json.encode(names).decode()


def _parsed(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else msgspec.json.decode(text, type=tuple[str, ...])


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
