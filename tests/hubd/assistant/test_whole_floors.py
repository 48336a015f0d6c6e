"""What is said of a whole floor or a whole room is of all of it, and of nothing else."""

import pytest


@pytest.mark.parametrize(
    ("text", "language", "entities"),
    [
        ("Schalte im ganzen Obergeschoss das Licht aus", "de",
         {"light.nachttischlampe", "light.schreibtischlampe"}),
        ("Schalte doch bitte im gesamten Obergeschoss sämtliche Lichter aus", "de",
         {"light.nachttischlampe", "light.schreibtischlampe"}),
        ("Mach in der ganzen Küche das Licht aus", "de", {"light.kuechenlampe"}),
        ("turn off the lights in the whole kitchen", "en",
         {"light.kitchen_ceiling", "light.counter"}),
    ],
)  # fmt: skip
async def test_all_of_it(make_house, text, language, entities):
    house = await make_house(f"home.{language}.yaml")
    (part,) = await house.commands.decider.parts(text, language, "")
    assert (part.decision.tool, set(part.decision.entities)) == ("home.turn_off", entities)


async def test_a_room_is_not_on_another_floor(make_house):
    """The bathroom is upstairs: with "downstairs" it is another one."""
    house = await make_house()
    text = "turn off the bedroom lights downstairs"
    (part,) = await house.commands.decider.parts(text, "en", "")
    assert not part.decision.entities


async def test_a_floor_and_a_room_are_not_the_room_alone(make_house):
    house = await make_house()
    text = "all the lights upstairs and the hallway, um, every one of them, off"
    for part in await house.commands.decider.parts(text, "en", ""):
        assert part.decision.entities != ["light.hallway"]
