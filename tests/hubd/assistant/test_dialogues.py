"""Scripted dialogues of tests/dialogues: what was called, what was not, how the house is after.

Where a dialogue says ``model: true``, what no rule understands is given to the default model.
"""

from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from hubd.policy import Person
from plugins.api import Location

FOLDER = Path(__file__).parents[2] / "dialogues"
DIALOGUES = [
    dialogue | {"file": path.stem}
    for path in sorted(FOLDER.glob("*.yaml"))
    for dialogue in yaml.safe_load(path.read_text(encoding="utf-8"))
]


def named(dialogue):
    return f"{dialogue['file']}: {dialogue['name']}"


def test_there_are_two_hundred_and_no_name_twice():
    assert len(DIALOGUES) >= 200
    assert len({named(dialogue) for dialogue in DIALOGUES}) == len(DIALOGUES)


@pytest.mark.parametrize("dialogue", [d for d in DIALOGUES if not d.get("model")], ids=named)
async def test_a_dialogue(make_house, dialogue):
    await played(await make_house(dialogue.get("home", "home.en.yaml")), dialogue)


@pytest.mark.parametrize("dialogue", [d for d in DIALOGUES if d.get("model")], ids=named)
async def test_a_dialogue_with_the_model(make_house, model, dialogue):
    await played(await make_house(dialogue.get("home", "home.en.yaml"), model), dialogue)


async def played(house, dialogue):
    person = Person(name="speaker", role=dialogue.get("role", "owner"))
    language = dialogue.get("language", dialogue.get("home", "home.en.yaml").split(".")[1])
    if "location" in dialogue:
        location = Location(*dialogue["location"])
        house.home.location = lambda: location
    for turn in dialogue["turns"]:
        house.time += timedelta(seconds=turn.get("wait", 2))
        reply = await house.say(
            turn["say"],
            person=person,
            area=dialogue.get("area", "living_room"),
            language=language,
            provenance=dialogue.get("from", "person"),
        )
        assert house.called == turn["calls"], (turn["say"], reply)
        assert turn.get("reply", "").casefold() in (reply or "").casefold()
        for entity, state in turn.get("state", {}).items():
            assert house.state(entity) == state, (turn["say"], reply)
