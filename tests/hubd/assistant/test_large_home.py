"""Two thousand entities: what the model reads of them stays within its budget, and is right."""

import msgspec
import pytest

from hubd.assistant.tool_loop.agent import Agent, Wanted
from hubd.assistant.tool_loop.offer import MOST_ENTITIES

ROOMS = 50
LAMPS = 40
BUDGET = 3_000
"""Tokens of a command's prompt; the engine's context is 8 192 unless configured."""


@pytest.fixture
async def large(house):
    rooms = [f"Room {number}" for number in range(ROOMS)]
    entities = [
        {"id": f"light.{number}_{lamp}", "name": f"Lamp {number} {lamp}", "area": room}
        for number, room in enumerate(rooms)
        for lamp in range(LAMPS)
    ]
    await house.home.load(msgspec.json.encode({"areas": rooms, "entities": entities}).decode())
    return house


async def test_the_prompt_of_a_command_stays_within_its_budget(large, model):
    assert len(large.home.snapshot().entities) == ROOMS * LAMPS

    async def client():
        return model

    agent = Agent(
        client, large.tools, large.router, large.commands.decider.mentions, large.semantics.similar
    )
    wanted = Wanted(text="do something about the lights in room 7", language="en", area="room_3")
    offer, _ = await agent.offer(wanted)
    assert {entity.area for entity in offer.entities} == {"room_7"}
    assert len(offer.entities) == MOST_ENTITIES
    proposal = await agent.propose(wanted)
    assert 0 < proposal.answered.usage.prompt_tokens < BUDGET
