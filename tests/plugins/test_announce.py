"""Announcements: who hears them is said, and if nobody does, that is said."""

import pytest

from hubd.tool_context import Speaker
from plugins.api import Entity, HomeError, ServiceResult, Snapshot, ToolCall, ToolError


async def test_who_hears_it_is_said(workshop):
    async with workshop.board.listen() as queue:
        said = await workshop("announce.say", message="Dinner is ready")
        assert queue.get_nowait().data["text"] == "Dinner is ready"
    assert said.text == "Announced (open pages: 1): Dinner is ready"


@pytest.mark.parametrize(
    ("language", "told"),
    [("en", "could not announce"), ("de", "nicht durchsagen"), ("zh", "没法广播")],
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


class Speakers:
    """A household with two speakers, that keeps what they were told to say."""

    def __init__(self, home):
        self.said = []
        self.away = False
        rooms = {"media_player.den": "den", "media_player.attic": "attic", "tts.demo": None}
        found = (Entity(id=one, name=one, area=area) for one, area in rooms.items())
        self._snapshot = Snapshot(entities=tuple(found), areas=home.snapshot().areas)

    def snapshot(self):
        return self._snapshot

    def location(self):
        return None

    async def call(self, service, entities, data):
        if self.away:
            raise HomeError("Home Assistant is away.")
        assert (service, entities, data["entity_id"]) == ("tts.speak", (), "tts.demo")
        self.said.append((data["message"], *data["media_player_entity_id"]))
        return ServiceResult()


@pytest.fixture
async def speakers(workshop):
    found = workshop.tools.home = Speakers(workshop.home)
    named = ["media_player.den", "media_player.attic"]
    workshop.settings["announce"] = {"speakers": named, "voice": "tts.demo", "rings": True}

    async def heard():
        for notice in (queue.get_nowait() for _ in range(queue.qsize())):
            await workshop.tools.tell(notice.event, notice.data)

    found.hear = heard
    async with workshop.board.listen() as queue:
        yield found


async def test_what_rings_is_said_thrice_by_the_speakers(workshop, speakers):
    await workshop("timers.start", seconds=9, name="tea")
    await workshop.pass_time(seconds=10)
    await speakers.hear()
    words = "The tea timer is done."
    assert speakers.said == [(words, "media_player.den", "media_player.attic")]
    await workshop.pass_time(minutes=9)
    assert [said[0] for said in speakers.said] == [words] * 3


async def test_in_the_room_where_it_was_set_until_somebody_stops_it(workshop, speakers):
    alarm = ToolCall(tool="alarms.set", arguments={"when": "at 1 pm"})
    await workshop.tools.call(alarm, Speaker(area="den"))
    await workshop.pass_time(hours=1)
    await speakers.hear()
    await workshop("timers.cancel", timer="ringing")
    await speakers.hear()
    await workshop.pass_time(minutes=9)
    assert speakers.said == [("Alarm", "media_player.den")]


async def test_a_reminder_is_said_once(workshop, speakers):
    await workshop("reminders.add", what="call Bob", when="at 1 pm")
    await workshop.pass_time(hours=1)
    await speakers.hear()
    await workshop.pass_time(minutes=9)
    assert [said[0] for said in speakers.said] == ["Call Bob"]


async def test_speakers_that_are_away_do_not_keep_it_from_ringing_again(workshop, speakers):
    speakers.away = True
    await workshop("timers.start", seconds=9)
    await workshop.pass_time(seconds=10)
    await speakers.hear()
    speakers.away = False
    await workshop.pass_time(minutes=9)
    assert len(speakers.said) == 2


async def test_it_can_be_turned_off(workshop, speakers):
    workshop.settings["announce"]["rings"] = False
    await workshop("timers.start", seconds=9)
    await workshop.pass_time(seconds=10)
    await speakers.hear()
    assert speakers.said == []
