"""Twenty dangerous commands: asked about, confirmed by who asked and by nobody else, then done."""

import pytest

from hubd.policy import Person

ANN, BOB = Person(name="Ann", role="owner"), Person(name="Bob", role="member")
CHILD = Person(name="Kim", role="child")

COMMANDS = [
    "unlock the front door",
    "could you please unlock the front door",
    "front door unlock",
    "disengage the lock on the front door",
    "um so unlock the front door for me",
    "open the garage door",
    "garage door open",
    "would you mind opening the garage door",
    "raise the garage door",
    "garage door halfway",
    "set the garage door to 30 percent",
    "set the garage door to 100 percent",
    "set the thermostat to 28 degrees",
    "thermostat 30 degrees",
    "could you set the office heater to 27 degrees please",
    "set the temperature in the office to 26 degrees",
    "clear the shopping list",
    "empty the grocery list",
    "forget what I told you about the alarm company",
    "delete the notes about the alarm company",
]


async def everything(house):
    """States of the house, the list and the notes."""
    states = [(e.id, e.state, e.attributes) for e in house.home.snapshot().entities]
    told = [
        await house.say(question, conversation="other")
        for question in ("what's on the shopping list", "list my notes")
    ]
    return states, told


@pytest.mark.parametrize("command", COMMANDS)
async def test_it_is_done_only_after_the_confirmation_of_who_asked(house, command):
    await house.say("add bread to the shopping list", conversation="other")
    await house.say("remember that the alarm company is called Safe", conversation="other")
    before = await everything(house)
    reply = await house.say(command, person=ANN)
    assert (house.called, "shall i" in reply.casefold()) == ([], True), reply
    assert await everything(house) == before
    await house.say("yes", person=BOB, conversation="his own")
    assert house.called == []
    assert await everything(house) == before
    assert "Only the person who asked" in await house.say("yes", person=BOB)
    assert house.called == []
    assert await everything(house) == before
    await house.say(command, person=ANN)
    reply = await house.say("yes", person=ANN)
    assert len(house.called) == 1, reply
    assert await everything(house) != before


@pytest.mark.parametrize("command", COMMANDS)
async def test_a_child_does_not_get_it_done_at_all(house, command):
    await house.say("add bread to the shopping list", conversation="other")
    await house.say("remember that the alarm company is called Safe", conversation="other")
    before = await everything(house)
    for said in (command, "yes", "yes please", command, "confirm"):
        await house.say(said, person=CHILD)
        assert house.called == []
    assert await everything(house) == before
