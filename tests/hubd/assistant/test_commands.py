"""Commands in conversation, on real tools over a described household: done, asked, undone."""

from datetime import timedelta

import pytest

from hubd.policy import Person
from hubd.tool_context import Speaker
from plugins.api import ToolCall

ANN = Person(name="Ann", role="member")
CHILD = Person(name="Tim", role="child")


async def test_a_command_is_done_and_told_from_what_was_read_back(house):
    assert await house.say("turn on the reading lamp") == "Reading Lamp is on."
    assert house.state("light.reading_lamp") == "on"


async def test_undo_brings_back_how_it_was(house):
    await house.say("set the living room light to 10 percent")
    assert "is at 50% again." in await house.say("undo")
    lamp = house.home.snapshot().entity("light.living_room")
    assert (lamp.state, round(lamp.attributes["brightness"] / 2.55)) == ("on", 50)
    assert await house.say("undo that") == "There is nothing to undo."


async def test_it_means_what_was_done_last(house):
    await house.say("turn on the reading lamp")
    await house.say("turn it off again")
    assert house.state("light.reading_lamp") == "off"
    await house.say("turn on the hallway light")
    await house.say("and the desk lamp?")
    assert house.state("light.desk_lamp") == "on"
    await house.say("turn off the kitchen lights")
    await house.say("what about the bedroom?")
    assert house.state("light.bedroom") == "off"
    await house.say("turn on the bedside lamp")
    await house.say("make it 30 percent")
    assert house.home.snapshot().entity("light.bedside").attributes["brightness"] == 76


async def test_it_is_forgotten_after_a_while_and_not_shared(house):
    await house.say("turn on the reading lamp")
    assert await house.say("turn it off again", conversation="other") is None
    house.time += timedelta(minutes=11)
    assert await house.say("turn it off again") is None
    assert house.state("light.reading_lamp") == "on"


async def test_which_is_asked_and_answered(house):
    question = await house.say("set the temperature to 21 degrees", area="")
    assert question == "Which one: Thermostat or Office Heater?"
    assert await house.say("the one in the office") == "Office Heater is set to 21 degrees."


async def test_what_is_missing_is_asked_and_completed(house):
    assert "how long" in (await house.say("set a timer")).casefold()
    assert await house.say("ten minutes") == "The timer is set for 10 minutes."
    assert await house.say("remind me to call Bob") == "When?"
    assert "Call Bob: today 17:00" in await house.say("at 5 pm")


DANGEROUS = [
    ("unlock the front door", "lock.front_door", "unlocked"),
    ("please unlock the front door", "lock.front_door", "unlocked"),
    ("disengage the lock on the front door", "lock.front_door", "unlocked"),
    ("open the garage door", "cover.garage_door", "open"),
    ("could you open the garage door", "cover.garage_door", "open"),
    ("set the garage door to 50 percent", "cover.garage_door", "open"),
]


@pytest.mark.parametrize(("said", "entity", "after"), DANGEROUS)
async def test_danger_waits_for_a_yes(house, said, entity, after):
    before = house.state(entity)
    assert (await house.say(said)).startswith("Shall I ")
    assert house.state(entity) == before
    await house.say("yes please")
    assert house.state(entity) == after


@pytest.mark.parametrize("answer", ["no", "no, leave it", "what time is it", "turn on the tv"])
async def test_anything_but_yes_leaves_it(house, answer):
    await house.say("unlock the front door")
    await house.say(answer)
    await house.say("yes")
    assert house.state("lock.front_door") == "locked"


async def test_only_the_one_who_asked_confirms_in_time_and_in_the_same_conversation(house):
    await house.say("unlock the front door", person=ANN)
    assert "Only the person" in await house.say("yes", person=Person(name="Bob", role="owner"))
    await house.say("unlock the front door", person=ANN)
    await house.say("yes", person=ANN, conversation="other")
    assert house.state("lock.front_door") == "locked"
    house.time += timedelta(seconds=61)
    await house.say("yes", person=ANN)
    assert house.state("lock.front_door") == "locked"
    await house.say("unlock the front door", person=ANN)
    await house.say("yes", person=ANN)
    assert house.state("lock.front_door") == "unlocked"


async def test_a_child_opens_nothing_even_after_a_yes(house):
    assert "may not" in await house.say("open the garage door", person=CHILD)
    await house.say("yes", person=CHILD)
    assert house.state("cover.garage_door") == "closed"
    await house.say("turn on the tv", person=CHILD)
    assert house.state("media_player.tv") == "on"


async def test_undoing_what_was_locked_asks_as_well(house):
    await house.say("lock the back door")
    assert "shall I do that" in await house.say("undo")
    assert house.state("lock.back_door") == "locked"
    await house.say("yes")
    assert house.state("lock.back_door") == "unlocked"


@pytest.mark.parametrize(
    "text",
    [
        "open the garage door in 5 minutes",
        "unlock the front door in ten minutes",
        "in 20 minutes unlock the front door",
    ],
)
async def test_what_needs_a_yes_is_declined_for_later_at_once(house, text):
    said = await house.say(text)
    assert "yes when it is done" in said
    assert house.called == []
    assert await house.tools._context("routines", Speaker()).storage.all() == {}
    decision = await house.commands.decider.decide(text, "en", "")
    assert decision.declined
    assert decision.tool is None
    assert "needs a person's yes" in decision.reason


@pytest.mark.parametrize(
    "text", ["unlock the spaceship in 10 minutes", "in 10 minutes turn on the spaceship"]
)
async def test_what_would_not_be_done_then_is_not_promised_now(house, text):
    told = await house.say(text)
    assert house.called == []
    assert told is None or "did nothing" in told
    decision = await house.commands.decider.decide(text, "en", "living_room")
    assert decision.call is None


async def test_a_command_for_later_never_opens_anything(house):
    """Even one that was left for later before that was declined."""
    call = {"command": "open the garage door", "minutes": 5}
    await house.tools.call(ToolCall(tool="routines.later", arguments=call), Speaker())
    (key,) = await house.tools._context("routines", Speaker()).storage.all()
    await house.tools.run_job("routines", key)
    assert house.state("cover.garage_door") == "closed"
    await house.say("turn off the hallway light in 5 minutes")
    (key,) = await house.tools._context("routines", Speaker()).storage.all()
    await house.tools.run_job("routines", key)
    assert house.state("light.hallway") == "off"


async def test_a_command_that_nothing_explains_is_for_the_model(house):
    decision = await house.commands.decider.decide("deal with the desk lamp somehow", "en", "")
    assert (decision.route, decision.tool) == ("documents", None)
    decision = await house.commands.decider.decide("do something about the desk lamp", "en", "")
    assert (decision.route, decision.tool) == ("model", None)
    decision = await house.commands.decider.decide(
        "what does error E04 on the oven mean?", "en", ""
    )
    assert (decision.route, decision.tool) == ("documents", None)


async def test_a_question_is_left_to_the_documents(house):
    assert await house.say("what does error E04 on the oven mean?") is None


PAIRED = """
areas: [{name: Living Room}, {name: Kitchen}]
entities:
  - {id: cover.left, name: Curtain Left, area: Living Room, state: open,
     attributes: {device_class: curtain}}
  - {id: cover.right, name: Curtain Right, area: Living Room, state: open,
     attributes: {device_class: curtain}}
  - {id: light.lamp, name: Living Room Lamp, area: Living Room, state: "on"}
  - {id: light.corner, name: Play Corner, area: Living Room, state: "on"}
"""


@pytest.mark.parametrize(
    ("said", "reply", "changed"),
    [
        ("close the left and the right curtain, the neighbors are staring",
         "Curtain Left is closed. Curtain Right is closed.", {"cover.left", "cover.right"}),
        ("close the right-hand curtain, I've got the sun in my eyes",
         "Curtain Right is closed.", {"cover.right"}),
        ("lamp off", "Living Room Lamp is off.", {"light.lamp"}),
        ("would you turn off the lamp in the living room, we're heading out",
         "Living Room Lamp is off.", {"light.lamp"}),
    ],
)  # fmt: skip
async def test_things_by_their_parts_and_reasons(make_house, tmp_path, said, reply, changed):
    description = tmp_path / "home.yaml"
    description.write_text(PAIRED)
    house = await make_house(description)
    before = {entity.id: entity.state for entity in house.home.snapshot().entities}
    assert await house.say(said) == reply
    after = {entity.id: entity.state for entity in house.home.snapshot().entities}
    assert {one for one in after if after[one] != before[one]} == changed
