"""Scripted dialogues of tests/dialogues: what was called, what was not, how the house is after."""

from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from hubd.policy import Person

FOLDER = Path(__file__).parents[2] / "dialogues"
DIALOGUES = [
    dialogue
    for path in sorted(FOLDER.glob("*.yaml"))
    for dialogue in yaml.safe_load(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda dialogue: dialogue["name"])
async def test_a_dialogue(house, dialogue):
    person = Person(name="speaker", role=dialogue.get("role", "owner"))
    for turn in dialogue["turns"]:
        house.time += timedelta(seconds=turn.get("wait", 2))
        reply = await house.say(
            turn["say"], person=person, area=dialogue.get("area", "living_room")
        )
        assert house.called == turn["calls"], (turn["say"], reply)
        assert turn.get("reply", "").casefold() in (reply or "").casefold()
        for entity, state in turn.get("state", {}).items():
            assert house.state(entity) == state, (turn["say"], reply)
