"""What was said: conversations and their turns, kept so that "and the dishwasher?" makes sense."""

import secrets
from datetime import UTC, datetime

import apsw
import msgspec

from engine.protocol import ChatMessage
from hubd.assistant.events import Done
from hubd.policy import OWNER
from hubd.store.database import Database


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A line in the list of conversations."""

    conversation: str
    started_at: str
    """ISO 8601, UTC."""
    turns: int
    first: str
    """The first utterance."""


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
        """Keep one turn of a person; the conversation begins with its first."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        outcome = msgspec.json.encode(done).decode()

        def insert(connection: apsw.Connection) -> None:
            connection.execute(
                "INSERT INTO conversation VALUES (?, ?) ON CONFLICT DO NOTHING", (conversation, now)
            )
            connection.execute(
                "INSERT INTO turn (conversation, at, utterance, answer, outcome, person) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (conversation, now, utterance, done.answer, outcome, person),
            )

        await self._database.run(insert)

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

    async def list(self, limit: int = 50) -> list[Conversation]:
        """The latest conversations, newest first."""

        def select(connection: apsw.Connection) -> list[Conversation]:
            rows = connection.execute(
                "SELECT c.id, c.started_at, count(*), "
                "(SELECT utterance FROM turn WHERE conversation = c.id ORDER BY id LIMIT 1) "
                "FROM conversation c JOIN turn t ON t.conversation = c.id GROUP BY c.id "
                "ORDER BY c.started_at DESC, c.id LIMIT ?",
                (limit,),
            )
            names = Conversation.__struct_fields__
            return [
                msgspec.convert(dict(zip(names, row, strict=True)), Conversation) for row in rows
            ]

        return await self._database.run(select)
