"""Announcements: who hears them is said, and if nobody does, that is said."""

import pytest

from plugins.api import ToolError


async def test_who_hears_it_is_said(workshop):
    async with workshop.board.listen() as queue:
        said = await workshop("announce.say", message="Dinner is ready")
        assert queue.get_nowait().data["text"] == "Dinner is ready"
    assert said.text == "Announced (open pages: 1): Dinner is ready"


@pytest.mark.parametrize(
    ("language", "told"),
    [("en", "nobody can have heard it"), ("de", "niemand"), ("zh", "没有人听到")],
)
async def test_where_nobody_hears_it_that_is_said(workshop, language, told):
    said = await workshop("announce.say", language, message="Tea")
    assert "Tea" in said.text
    assert told in said.text


async def test_a_speaker_that_is_not_there_is_said(workshop):
    workshop.settings["announce"] = {"speakers": ["media_player.attic"], "voice": "tts.demo_say"}
    with pytest.raises(ToolError, match=r"There is no media_player\.attic"):
        await workshop("announce.say", message="Tea")
    async with workshop.board.listen():
        said = await workshop("announce.say", message="Tea")
    assert said.text.startswith("Announced (open pages: 1): Tea. There is no media_player.attic")
