"""What stays on while the others are turned off, and what only stays on."""

import pytest


async def decided(make_house, text, language, room=""):
    house = await make_house(f"home41.{language}.yaml")
    snapshot = house.home.snapshot()
    area = next((area.id for area in snapshot.areas if area.name == room), "")
    decider = house.commands.decider
    parts = await decider.parts(text, language, area)
    (part,) = await decider.with_proposal(parts, text, area)
    return part.decision, {e.id: e.area for e in snapshot.entities if e.domain == "light"}


@pytest.mark.parametrize(
    ("text", "language", "stays"),
    [
        ("Leave the hall light on and turn off the rest", "en", "light.hallway"),
        ("please keep the hall light on, the other lights off", "en", "light.hallway"),
        ("The hall light can stay on, but the rest can go off.", "en", "light.hallway"),
        ("Leave the hall light lit, Nan's still up, but turn the others off", "en",
         "light.hallway"),
        ("Lass das Flurlicht an und mach den Rest aus", "de", "light.flur"),
        ("Das Flurlicht bleibt an, die anderen Lichter bitte aus", "de", "light.flur"),
        ("Das Flurlicht kann anbleiben, die anderen mach aus", "de", "light.flur"),
        ("供桌灯留着，其他的都关了吧", "zh", "light.gongzhuo"),
        ("供桌灯先留着，我还要看书，其他的关一下", "zh", "light.gongzhuo"),
        ("只留供桌灯，别的灯全关掉", "zh", "light.gongzhuo"),
    ],
)  # fmt: skip
async def test_all_the_others_are_turned_off(make_house, text, language, stays):
    decision, lights = await decided(make_house, text, language)
    assert decision.tool == "home.turn_off"
    assert set(decision.entities) == lights.keys() - {stays}
    assert decision.call.arguments["entities"] == decision.entities


async def test_of_a_room_where_it_is_said_in_the_room_of_the_one_that_stays(make_house):
    text = "Leave the corner lamp on and turn off the rest"
    decision, lights = await decided(make_house, text, "en", "Lounge")
    assert decision.entities == ["light.lounge_ceiling"]
    decision, _ = await decided(make_house, text, "en", "Kitchen")
    assert set(decision.entities) == lights.keys() - {"light.corner_lamp"}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Leave the telly on and turn off the rest", "en"),
        ("leave the dungeon light on and turn off the rest", "en"),
        ("leave the corner lamp lit, we're still reading, the big one can go off", "en"),
        ("keep the corner lamp on, it's too dark without it", "en"),
        ("Lass den Fernseher an und mach den Rest aus", "de"),
        ("Das Flurlicht kann anbleiben", "de"),
        ("供桌灯就留着吧，我一会儿关", "zh"),
    ],
)
async def test_what_stays_on_is_left_alone(make_house, text, language):
    decision, _ = await decided(make_house, text, language)
    assert decision.call is None or decision.proposed, decision.reason
    assert decision.tool is None


@pytest.mark.parametrize(
    ("text", "language", "tool", "works"),
    [
        ("Leave the telly on but turn off the corner lamp", "en", "home.turn_off",
         {"light.corner_lamp"}),
        ("Turn off the corner lamp and leave the telly on", "en", "home.turn_off",
         {"light.corner_lamp"}),
        ("Keep the hall light on and set a timer for five minutes", "en", "timers.start", set()),
        ("Lass das Flurlicht an und stell einen Timer auf fünf Minuten", "de", "timers.start",
         set()),
        ("供桌灯别关，定个五分钟的计时器", "zh", "timers.start", set()),
    ],
)  # fmt: skip
async def test_a_command_is_done_beside_what_stays(make_house, text, language, tool, works):
    decision, _ = await decided(make_house, text, language)
    assert (decision.tool, set(decision.entities)) == (tool, works)
    assert not decision.asks


async def test_what_stays_is_no_part_of_what_is_turned_off(make_house):
    text = "Turn off all the lights but leave the hall light on"
    decision, lights = await decided(make_house, text, "en")
    assert set(decision.entities) == lights.keys() - {"light.hallway"}
