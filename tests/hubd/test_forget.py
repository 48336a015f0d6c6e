"""What is forgotten is gone from the file too."""

import pytest

from hubd.store.conversations import Conversations
from hubd.store.forget import forget_conversation, forget_person, forget_words
from hubd.turn_events import Done, Timings


@pytest.fixture
async def said(database):
    conversations = Conversations(database)
    for person, conversation, text in (
        ("owner", "a", "the marzipan is in the pantry"),
        ("Ann", "a", "where is the nougat"),
        ("Ann", "b", "100% of the nou_gat"),
    ):
        done = Done(
            answer=text.upper(), citations=[], refused=False, actions=[],
            timings=Timings(total_ms=1), conversation=conversation,
        )  # fmt: skip
        await conversations.append(conversation, text, done, person)
    return conversations


def turns(database):
    return database.run(lambda db: [row[0] for row in db.execute("SELECT utterance FROM turn")])


def bytes_of(paths):
    return b"".join(file.read_bytes() for file in paths.data.glob("hubd.db*"))


async def test_a_person_is_forgotten_to_the_last_byte(database, paths, said):
    assert b"nougat" in bytes_of(paths)
    assert await forget_person(database, "Ann") == 2
    assert await turns(database) == ["the marzipan is in the pantry"]
    assert b"nougat" not in bytes_of(paths).lower()
    assert [c.conversation for c in await said.list()] == ["a"]


async def test_a_conversation_is_forgotten(database, said):
    assert await forget_conversation(database, "a") == 2
    assert await turns(database) == ["100% of the nou_gat"]


@pytest.mark.parametrize(
    ("words", "count"), [("NOUGAT", 1), ("nou_gat", 1), ("0%", 1), ("the", 3), ("!", 0)]
)
async def test_words_are_taken_as_they_are(database, said, words, count):
    assert await forget_words(database, words) == count


def test_the_command_finds_out_what_is_meant(hubd, served):
    with served():
        hubd("person", "add", "Ann", "--role", "guest")
        hubd("ask", "set a nougat timer for 9 minutes")
        assert hubd("forget", "Ann").stdout == "Forgotten (person): nothing was there.\n"
        assert "no person and no document" in hubd("forget", "nougat").stderr
        done = hubd("forget", "nougat", "--as", "words")
        assert done.stdout == "Forgotten (words): 1 turns.\n"
        assert "Ann" not in hubd("person", "list").stdout
