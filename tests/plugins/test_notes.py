"""Notes: kept with their date, found by their words, forgotten on request."""

from datetime import date

import pytest

from hubd.tool_context import Speaker
from hubd.tools import NotConfirmedError
from plugins.api import ToolError
from plugins.speech import quoted
from plugins.spoken import date_of_year


async def test_a_fact_is_remembered_told_with_its_day_and_forgotten(workshop):
    kept = await workshop("notes.add", text="the spare key is with Ann")
    await workshop("notes.add", text="the wifi cabinet key is 4711")
    told = await workshop("notes.recall", about="the spare key")
    assert told.text == "“the spare key is with Ann” (27 March 2026)"
    with pytest.raises(NotConfirmedError):
        await workshop("notes.forget", about="spare key")
    await workshop("notes.forget", confirmed=True, about="spare key")
    with pytest.raises(ToolError, match="Nothing is noted"):
        await workshop("notes.recall", about="spare key")
    with pytest.raises(ToolError):
        await workshop.undo(kept)


async def test_undo_takes_one_note_back(workshop):
    first = await workshop("notes.add", text="key a")
    await workshop("notes.add", text="key b")
    await workshop.undo(first)
    assert (await workshop("notes.list")).data["notes"][0]["text"] == "key b"


@pytest.mark.parametrize("about", ["the", "???", "der die das"])
async def test_words_that_mean_nothing_find_nothing(workshop, about):
    await workshop("notes.add", text="the key is in the shed")
    with pytest.raises(ToolError):
        await workshop("notes.recall", about=about)


async def test_chinese(workshop):
    await workshop("notes.add", "zh", text="备用钥匙在安那里")
    assert "备用钥匙在安那里" in (await workshop("notes.recall", "zh", about="备用钥匙")).text


ASKED = [
    ("en", "Where is the spare key?", "the spare key is with Ann"),
    ("en", "do you know who has got the spare keys", "the spare key is with Ann"),
    ("en", "what's the wifi password", "the wifi password is swordfish"),
    ("de", "Wo liegt der Ersatzschlüssel?", "der Ersatzschlüssel liegt bei Anna"),
    ("zh", "备用钥匙在哪里", "备用钥匙在安那里"),
    ("zh", "谁有备用钥匙？", "备用钥匙在安那里"),
    ("fr", "où est la clé", "la clé est chez Anne"),
    ("es", "¿dónde está la llave?", "la llave está con Ana"),
]


@pytest.mark.parametrize(("language", "question", "text"), ASKED)
async def test_a_question_is_answered_from_what_was_remembered(workshop, language, question, text):
    await workshop("notes.add", language, text="the bins go out on Tuesday")
    assert await workshop.tools.answer(question, Speaker(language=language)) is None
    note = await workshop("notes.add", language, text=text)
    call = await workshop.tools.answer(question, Speaker(language=language))
    told = await workshop.tools.call(call, Speaker(language=language))
    assert told.text == f"{quoted(text, language)} ({date_of_year(date(2026, 3, 27), language)})"
    assert told.data["notes"] == [note.data]
    await workshop("notes.forget", language, confirmed=True, about=question)
    assert await workshop.tools.answer(question, Speaker(language=language)) is None


@pytest.mark.parametrize(
    "question", ["What is it?", "", "how does the spare key of the car work", "where is the sofa"]
)
async def test_what_was_not_remembered_is_left_to_the_documents(workshop, question):
    await workshop("notes.add", text="the spare key is with Ann")
    assert await workshop.tools.answer(question) is None


SENTENCES = [
    ("en", "remember that the spare key is with Ann", "notes.add", "the spare key is with Ann"),
    ("en", "Note: the bins go out on Tuesday", "notes.add", "the bins go out on Tuesday"),
    ("en", "what do you know about the spare key", "notes.recall", "the spare key"),
    ("en", "forget what I told you about the key", "notes.forget", "the key"),
    ("zh", "记住备用钥匙在安那里", "notes.add", "备用钥匙在安那里"),
    ("zh", "忘掉关于备用钥匙的事", "notes.forget", "备用钥匙"),
    ("de", "merk dir, dass Anna den Schlüssel hat", "notes.add", "Anna den Schlüssel hat"),
    ("fr", "souviens-toi que la clé est chez Anne", "notes.add", "la clé est chez Anne"),
    ("es", "recuerda que la llave está con Ana", "notes.add", "la llave está con Ana"),
]


@pytest.mark.parametrize(("language", "said", "tool", "text"), SENTENCES)
def test_a_sentence_is_understood(understood, language, said, tool, text):
    found, arguments = understood(said, language)
    assert (found, list(arguments.values())) == (tool, [text])
