"""Notes: kept with their date, found by their words, forgotten on request."""

import pytest

from hubd.tools import NotConfirmedError
from plugins.api import ToolError


async def test_a_fact_is_remembered_told_with_its_day_and_forgotten(workshop):
    kept = await workshop("notes.add", text="the spare key is with Ann")
    await workshop("notes.add", text="the wifi cabinet key is 4711")
    told = await workshop("notes.recall", about="the spare key")
    assert told.text == "“the spare key is with Ann” (27.03.2026)"
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
