"""What was said, removed for good: rows, and their bytes in the file and in its write-ahead log.

Backups that were made before still hold it.
"""

from collections.abc import Sequence

import apsw

from hubd.store.database import Database

OF_PERSON = "person = ?"
OF_CONVERSATION = "conversation = ?"
WITH_WORDS = "utterance LIKE ? ESCAPE '!' OR answer LIKE ? ESCAPE '!'"


async def forget_person(database: Database, person: str) -> int:
    """Everything that a person said and was answered; how many turns that were."""
    return await _forget(database, OF_PERSON, (person,))


async def forget_conversation(database: Database, conversation: str) -> int:
    """One conversation, whoever took part."""
    return await _forget(database, OF_CONVERSATION, (conversation,))


async def forget_words(database: Database, words: str) -> int:
    """Every turn in which these words were said or answered, in any case."""
    pattern = "%" + "".join(f"!{c}" if c in "!%_" else c for c in words) + "%"
    return await _forget(database, WITH_WORDS, (pattern, pattern))


async def _forget(database: Database, where: str, values: Sequence[str]) -> int:
    def delete(connection: apsw.Connection) -> int:
        connection.execute("PRAGMA secure_delete = ON").fetchall()
        connection.execute(f"DELETE FROM turn WHERE {where}", tuple(values))
        count = connection.changes()
        connection.execute(
            "DELETE FROM conversation WHERE NOT EXISTS "
            "(SELECT 1 FROM turn WHERE turn.conversation = conversation.id)"
        )
        return count

    count = await database.run(delete)
    await database.look(_empty_log)
    return count


def _empty_log(connection: apsw.Connection) -> None:
    """Pages of before stand in the log until it is written back and cut to nothing."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
