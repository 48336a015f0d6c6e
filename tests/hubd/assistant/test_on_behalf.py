"""What somebody sets up does no more than they may, whoever, or whatever clock, runs it."""

from datetime import timedelta

import pytest

from hubd.policy import OWNER, Person
from hubd.store import jobs

CHILD = Person(name="ben", role="child", areas=frozenset({"bedroom"}))
GUEST = Person(name="gast", role="guest", acts=False)


async def an_hour_later(house):
    """What the hub says in that time."""
    house.time += timedelta(hours=1)
    async with house.board.listen() as queue:
        for job in await jobs.pending(house.database):
            await house.tools.run_job(job.plugin, job.key)
            await jobs.finish(house.database, job.id)
        heard = [queue.get_nowait() for _ in range(queue.qsize())]
    return [notice.data["text"] for notice in heard if notice.event == "announcement"]


async def test_a_command_for_later_is_done_where_its_author_may(house):
    await house.say("turn on the ceiling fan in ten minutes", person=CHILD)
    assert house.called == ["routines.later"]
    assert await an_hour_later(house) == ["Ceiling Fan is on."]
    assert house.state("fan.ceiling_fan") == "on"


@pytest.mark.parametrize(
    "command",
    [
        "turn on the coffee machine in ten minutes",
        "turn on the coffee machine at half past twelve",
        "turn on the coffee machine every day at half past twelve",
    ],
)
async def test_and_nowhere_else(house, command):
    """Whoever may not is told so now; and if the permission is taken away later, it is not done."""
    refused = await house.say(command, person=CHILD)
    assert refused == "ben may not do anything there."
    assert house.called == []
    assert await an_hour_later(house) == []


async def test_what_was_left_before_is_kept_to_its_author(house):
    call = {"command": "turn on the coffee machine", "minutes": 10}
    await house.call("routines.later", CHILD, **call)
    assert await an_hour_later(house) == ["ben may not do anything there."]
    assert house.state("switch.coffee_machine") == "off"


async def test_who_may_only_ask_leaves_nothing_for_later(house):
    refused = await house.say("turn on the coffee machine in ten minutes", person=GUEST)
    assert refused == "This device may ask, but not have anything done."
    assert await an_hour_later(house) == []


async def test_a_routine_does_what_its_author_may(house):
    """A child gives "good night" other commands; the owner says it."""
    commands = ["turn on the ceiling fan", "turn on the coffee machine"]
    await house.call("routines.define", CHILD, name="good night", commands=commands)
    said = await house.say("good night", person=OWNER)
    assert said == "Ceiling Fan is on. ben may not do anything there."
    await house.call("routines.define", OWNER, name="good night", commands=commands)
    said = await house.say("good night", person=CHILD)
    assert "Coffee" not in said
    said = await house.say("good night", person=OWNER)
    assert said == "Ceiling Fan is on. Coffee Machine is on."


async def test_what_somebody_left_ends_with_them(house):
    await house.call("routines.later", CHILD, command="turn on the ceiling fan", minutes=10)
    house.tools.is_known = {"owner"}.__contains__
    told = "“turn on the ceiling fan”: ben is not of this household any more."
    assert await an_hour_later(house) == [told]
    assert house.state("fan.ceiling_fan") == "off"
