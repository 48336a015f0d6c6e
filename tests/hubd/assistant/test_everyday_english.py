"""Commands as people put them in passing: beside a reason, thinking aloud, wondering, misheard."""

import pytest

HOME = "home13.en.yaml"

DONE = [
    # a reason in a sentence of its own, what others feel included
    ("Could you warm Grandad's room up a bit, please? He says his feet are freezing.",
     "climate.change", ["climate.grandad"]),
    ("Please turn the bedroom fan down a bit. Sophie says it's blowing her hair about.",
     "fans.change", ["fan.bedroom"]),
    ("Grandad's cold, turn the living room heating up", "climate.change", ["climate.living"]),
    ("Sophie's asleep, turn the bedroom light off", "home.turn_off", ["light.bedroom"]),
    # what is turned on and paused shall play
    ("stick the radio on in the kitchen", "media.play", ["media_player.kitchen"]),
    ("start the kitchen radio", "media.play", ["media_player.kitchen"]),
    ("start the telly", "home.turn_on", ["media_player.telly"]),
    # for how long nobody says
    ("pause the telly for a minute", "media.pause", ["media_player.telly"]),
    ("just hold the telly a sec", "media.pause", ["media_player.telly"]),
    ("pause the timer while I answer the door", "timers.pause", []),
    ("stop the timer while I answer the door", "timers.pause", []),
    # thinking aloud
    ("what was I saying, oh yes, close the nursery blind", "home.close", ["cover.nursery_blind"]),
    ("I was going to do it myself, but, um, just close the kitchen blind", "home.close",
     ["cover.kitchen_blind"]),
    ("how much, er, charge has the car battery got", "home.state", ["sensor.car_battery"]),
    ("how much charge is left in the car battery", "home.state", ["sensor.car_battery"]),
    # corrections
    ("don't turn the telly off, just mute it", "media.mute", ["media_player.telly"]),
    ("the timer, um, don't stop it, just pause it", "timers.pause", []),
    ("put the telly on, let's say, forty, no, thirty percent volume", "media.set_volume",
     ["media_player.telly"]),
    # wondering
    ("I'm wondering whether it'll rain tomorrow", "weather.on", []),
    ("I'm just wondering if we'll need a brolly on Saturday", "weather.on", []),
    ("I haven't a clue how long the cake's got left", "timers.list", []),
    # split and misheard
    ("turn grand dads lamp on", "home.turn_on", ["light.grandad_reading"]),
    ("skip to the next song on grand dads radio", "media.next", ["media_player.grandad"]),
    ("pause the who ver rite there", "vacuum.stop", ["vacuum.henry"]),
    ("moot the telly she's on the phone", "media.mute", ["media_player.telly"]),
    # complaints and hints that name the thing
    ("the telly's a bit quiet", "media.change_volume", ["media_player.telly"]),
    ("that bunny light's far too bright", "lights.change", ["light.nursery_night"]),
    ("I could do with the extractor", "home.turn_on", ["fan.bathroom"]),
    ("the bathroom's steamed up and the extractor isn't even on", "home.turn_on",
     ["fan.bathroom"]),
    ("somebody's left the telly on mute", "media.unmute", ["media_player.telly"]),
    ("the telly's still on mute", "media.unmute", ["media_player.telly"]),
    ("no one's locked the back door and we're off to bed", "home.lock", ["lock.back"]),
    ("My mum's stood at the front door and hasn't got her keys", "home.unlock", ["lock.front"]),
    ("the sun's streaming in through the window and I can't see the telly", "home.close",
     ["cover.living_curtains"]),
]  # fmt: skip
LEFT = [
    "Mum's here. She says the lights should go off.",
    "Grandad says the radio should stay on.",
    "Matt rang. He said turn off the big light.",
    "turn off the big light, Sophie said",
    "he says his hands are cold",
    "Matt, close the garage door",
    "does she need the hall light on?",
    "Sophie told me she wants the hall light on",
    "if Sophie's asleep, turn the bedroom light off",
    "before I go to bed, turn off the big light",
    "I was going to turn the big light off, but leave it",
    "Don't turn the telly off, just leave it.",
    "don't lock the back door, just close it",
    "don't turn off the lights, just leave them on",
    "he could do with a new reading lamp",
    "could he do with his reading lamp?",
    "who left the telly on mute?",
    "is the telly still on mute?",
    "has nobody locked the back door?",
    "the back door's locked",
    "the landing light isn't on",
    "that telly's not too loud",
    "the telly is quiet",
    "the sun's coming out tomorrow",
    "radio on?",
    "kitchen speaker",
]
READS = frozenset({"home.state", "weather.now", "weather.on", "help.help"})
"""Tools that do nothing."""


async def decided(make_house, text):
    house = await make_house(HOME)
    parts = await house.commands.decider.parts(text, "en", "living_room")
    return [part.decision for part in parts if part.decision.tool]


@pytest.mark.parametrize(("text", "tool", "entities"), DONE)
async def test_what_is_wanted_is_done(make_house, text, tool, entities):
    (decision,) = await decided(make_house, text)
    assert (decision.tool, decision.entities) == (tool, entities)


@pytest.mark.parametrize("text", LEFT)
async def test_what_is_told_asked_or_denied_does_nothing(make_house, text):
    assert {decision.tool for decision in await decided(make_house, text)} <= READS


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("I've bought the nappies, so they can be ticked off the list", "nappies"),
        ("we've got the milk so you can tick it off the list", "milk"),
        ("I got the, uh, the bread, so cross it off the shopping list", "bread"),
        ("the eggs can come off the list", "eggs"),
    ],
)
async def test_what_was_bought_is_ticked_off(make_house, text, item):
    (decision,) = await decided(make_house, text)
    assert decision.tool == "lists.complete"
    assert decision.call.arguments["item"] == item


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("set the alarm for seven, no, actually, better make it half past six", "half past 6"),
        ("wake me at eight, no, rather make it quarter to nine", "quarter to 9"),
    ],
)
async def test_a_time_is_corrected(make_house, text, when):
    (decision,) = await decided(make_house, text)
    assert decision.tool == "alarms.set"
    assert decision.call.arguments["when"].endswith(when)


@pytest.mark.parametrize(
    "text",
    [
        "turn the kitchen speaker down a little, I've got a call in five minutes",
        "pause the telly, we're eating in ten minutes",
    ],
)
async def test_the_time_of_a_reason_is_not_when_it_shall_be_done(make_house, text):
    tools = {decision.tool for decision in await decided(make_house, text)}
    assert "routines.later" not in tools
    assert tools <= {"media.change_volume", "media.pause", None}


@pytest.mark.parametrize("text", ["turn the kitchen speaker down in five minutes",
                                  "in five minutes turn the telly off"])  # fmt: skip
async def test_a_time_of_its_own_is(make_house, text):
    assert [one.tool for one in await decided(make_house, text)] == ["routines.later"]


async def test_of_a_rooms_lights_the_one_that_is_spoken_of(make_house, assistant_data):
    house = await make_house(assistant_data / "home27.en.yaml")
    text = "turn off the ceiling light in the boys' room"
    (part,) = await house.commands.decider.parts(text, "en", "family_room")
    assert part.decision.entities == ["light.twins_ceiling"]
