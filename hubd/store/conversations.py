"""What was said: conversations and their turns, kept so that "and the dishwasher?" makes sense."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import apsw
import msgspec

from engine.protocol import ChatMessage
from hubd.policy import OWNER
from hubd.store.database import Database
from hubd.turn_events import Done
from rag.types import Passage, Reranking

RESTORABLE = timedelta(days=1)
"""A deleted conversation is gone for good after this time."""
EXCERPT = 60
"""Characters before and after the words that were searched for."""


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A line in the list of conversations."""

    conversation: str
    started_at: str
    """ISO 8601, UTC; so is ``last_at``."""
    last_at: str
    turns: int
    first: str
    """The first utterance."""
    title: str
    """What a person called it; empty if nobody did."""
    excerpt: str = ""
    """Where the words that were searched for occur."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One utterance and what came of it."""

    at: str
    utterance: str
    outcome: msgspec.Raw
    """A ``Done`` as JSON."""
    passages: msgspec.Raw
    """What was retrieved, as JSON."""
    reranking: msgspec.Raw
    """A ``Reranking`` as JSON; null where no cross-encoder read the passages."""


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """A whole conversation."""

    conversation: str
    title: str
    turns: list[Turn]
    """Oldest first."""


FOUND = (
    "(SELECT CASE WHEN utterance LIKE :p ESCAPE '\\' THEN utterance ELSE answer END FROM turn "
    "WHERE conversation = c.id AND person = :person AND (utterance LIKE :p ESCAPE '\\' "
    "OR answer LIKE :p ESCAPE '\\') ORDER BY id DESC LIMIT 1)"
)
"""The latest utterance or answer of a conversation that holds the words of the pattern ``p``."""

THEIRS = "EXISTS (SELECT 1 FROM turn WHERE conversation = :conversation AND person = :person)"
"""Whether the person takes part in a conversation; to everybody else it is not there."""


class Conversations:
    """Durable conversations; every method returns after the disk has it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @staticmethod
    def new() -> str:
        """A name for a conversation that begins: it cannot be guessed."""
        return secrets.token_urlsafe(12)

    async def append(
        self, conversation: str, utterance: str, done: Done, person: str = OWNER.name
    ) -> None:
        """Keep one turn of a person; the conversation begins with its first. One that was deleted
        is back."""
        now = _stamp(datetime.now(UTC))
        outcome = msgspec.json.encode(done).decode()

        def insert(connection: apsw.Connection) -> None:
            connection.execute(
                "INSERT INTO conversation (id, started_at) VALUES (?, ?) "
                "ON CONFLICT DO UPDATE SET deleted_at = NULL",
                (conversation, now),
            )
            connection.execute(
                "INSERT INTO turn (conversation, at, utterance, answer, outcome, person) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (conversation, now, utterance, done.answer, outcome, person),
            )

        await self._database.run(insert)

    async def explain(
        self, conversation: str, passages: Sequence[Passage], reranking: Reranking | None = None
    ) -> None:
        """Keep what was retrieved for the latest turn of ``conversation``, and what put it in
        order besides the search."""
        await self._execute(
            "UPDATE turn SET passages = ?, reranking = ? WHERE id = "
            "(SELECT max(id) FROM turn WHERE conversation = ?)",
            (_json(passages), _json(reranking), conversation),
        )

    async def last(self, conversation: str, person: str = OWNER.name) -> Done | None:
        """What was answered to that person last; ``None``: nothing yet."""

        def select(connection: apsw.Connection) -> str | None:
            rows = connection.execute(
                "SELECT outcome FROM turn WHERE conversation = ? AND person = ? "
                "ORDER BY id DESC LIMIT 1",
                (conversation, person),
            )
            return next((str(outcome) for (outcome,) in rows), None)

        outcome = await self._database.run(select)
        return msgspec.json.decode(outcome, type=Done) if outcome else None

    async def recent(
        self, conversation: str, limit: int, person: str = OWNER.name
    ) -> list[tuple[str, Done]]:
        """What that person said last and what came of it, oldest first, ``limit`` turns at most."""

        def select(connection: apsw.Connection) -> list[tuple[str, str]]:
            rows = connection.execute(
                "SELECT utterance, outcome FROM turn WHERE conversation = ? AND person = ? "
                "ORDER BY id DESC LIMIT ?",
                (conversation, person, limit),
            )
            return [(str(utterance), str(outcome)) for utterance, outcome in rows][::-1]

        turns = await self._database.run(select)
        return [(said, msgspec.json.decode(outcome, type=Done)) for said, outcome in turns]

    async def history(
        self, conversation: str, limit: int = 10, person: str = OWNER.name
    ) -> list[ChatMessage]:
        """The last ``limit`` messages (two a turn) of that person, oldest first; empty if nothing
        was said yet. Whoever knows another's conversation by name does not hear what was said.
        """

        def select(connection: apsw.Connection) -> list[tuple[str, str]]:
            rows = connection.execute(
                "SELECT utterance, answer FROM turn WHERE conversation = ? AND person = ? "
                "ORDER BY id DESC LIMIT ?",
                (conversation, person, (limit + 1) // 2),
            )
            return [(str(utterance), str(answer)) for utterance, answer in rows][::-1]

        messages: list[ChatMessage] = []
        for utterance, answer in await self._database.run(select):
            messages.append(ChatMessage(role="user", content=utterance))
            messages.append(ChatMessage(role="assistant", content=answer))
        return messages[-limit:] if limit else []

    async def list(
        self, limit: int = 50, containing: str = "", person: str = OWNER.name
    ) -> list[Conversation]:
        """The latest conversations of a person, newest first; only those whose title or turns hold
        the words of ``containing``, as they stand there."""
        pattern = f"%{_escaped(containing)}%"
        query = (
            "SELECT c.id AS conversation, c.started_at, max(t.at) AS last_at, count(*) AS turns, "
            "c.title, (SELECT utterance FROM turn WHERE conversation = c.id AND person = :person "
            f"ORDER BY id LIMIT 1) AS first, {FOUND if containing else 'NULL'} AS said "
            "FROM conversation c JOIN turn t ON t.conversation = c.id "
            "WHERE c.deleted_at IS NULL AND t.person = :person GROUP BY c.id "
            + ("HAVING said IS NOT NULL OR c.title LIKE :p ESCAPE '\\' " if containing else "")
            + "ORDER BY last_at DESC, max(t.id) DESC LIMIT :limit"
        )

        def select(connection: apsw.Connection) -> list[dict[str, Any]]:
            values = {"p": pattern, "limit": limit, "person": person}
            cursor = connection.execute(query, values)
            return [
                dict(zip([name for name, _ in cursor.get_description()], row, strict=True))
                for row in cursor
            ]

        rows = await self._database.run(select)
        for row in rows:
            row["excerpt"] = excerpt(row.pop("said") or "", containing)
        return [msgspec.convert(row, Conversation) for row in rows]

    async def transcript(self, conversation: str, person: str = OWNER.name) -> Transcript | None:
        """All that the person said and heard; None where they have no such conversation."""
        which = {"conversation": conversation, "person": person}

        def select(connection: apsw.Connection) -> Transcript | None:
            title = connection.execute(
                "SELECT title FROM conversation WHERE id = :conversation AND deleted_at IS NULL "
                f"AND {THEIRS}",
                which,
            ).fetchone()
            if title is None:
                return None
            rows = connection.execute(
                "SELECT at, utterance, outcome, passages, reranking FROM turn "
                "WHERE conversation = :conversation AND person = :person ORDER BY id",
                which,
            )
            turns = [
                Turn(
                    at=str(at),
                    utterance=str(utterance),
                    outcome=msgspec.Raw(str(outcome)),
                    passages=msgspec.Raw(str(passages)),
                    reranking=msgspec.Raw(str(reranking)),
                )
                for at, utterance, outcome, passages, reranking in rows
            ]
            return Transcript(conversation=conversation, title=str(title[0]), turns=turns)

        return await self._database.run(select)

    async def rename(self, conversation: str, title: str, person: str = OWNER.name) -> bool:
        """Give it a title, or take it away with an empty one. False: there is none."""
        return await self._execute(
            "UPDATE conversation SET title = :title WHERE id = :conversation "
            f"AND deleted_at IS NULL AND {THEIRS}",
            {"title": title, "conversation": conversation, "person": person},
        )

    async def shorten(self, conversation: str, keep: int, person: str = OWNER.name) -> bool:
        """Forget all turns of the person after the first ``keep``. False: there were none."""
        turns = "FROM turn WHERE conversation = :conversation AND person = :person"
        return await self._execute(
            f"DELETE {turns} AND id NOT IN (SELECT id {turns} ORDER BY id LIMIT :keep)",
            {"conversation": conversation, "person": person, "keep": keep},
        )

    async def delete(self, conversation: str, person: str = OWNER.name) -> bool:
        """Put it aside for a day; what was put aside before that goes. False: there is none."""
        now = datetime.now(UTC)
        await self._execute(
            "DELETE FROM conversation WHERE deleted_at < ?", (_stamp(now - RESTORABLE),)
        )
        return await self._execute(
            "UPDATE conversation SET deleted_at = :now WHERE id = :conversation "
            f"AND deleted_at IS NULL AND {THEIRS}",
            {"now": _stamp(now), "conversation": conversation, "person": person},
        )

    async def restore(self, conversation: str, person: str = OWNER.name) -> bool:
        """Take back a deletion. False: there is none to take back."""
        return await self._execute(
            "UPDATE conversation SET deleted_at = NULL WHERE id = :conversation "
            f"AND deleted_at IS NOT NULL AND {THEIRS}",
            {"conversation": conversation, "person": person},
        )

    async def _execute(self, statement: str, values: Sequence[Any] | dict[str, Any]) -> bool:
        """Run a statement; whether it changed a row."""

        def change(connection: apsw.Connection) -> bool:
            connection.execute(statement, values)
            return connection.changes() > 0

        return await self._database.run(change)


def excerpt(text: str, words: str) -> str:
    """The part of ``text`` around the first occurrence of ``words``, on one line."""
    at = text.casefold().find(words.casefold())
    if not words or at < 0:
        return ""
    start, end = max(0, at - EXCERPT), at + len(words) + EXCERPT
    cut = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(text) else ''}"


def _escaped(words: str) -> str:
    """What LIKE would read as a wildcard, taken as it is written."""
    return words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _json(value: Sequence[Passage] | Reranking | None) -> str:
    return msgspec.json.encode(value).decode()


def _stamp(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
