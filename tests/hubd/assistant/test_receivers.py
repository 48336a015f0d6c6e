"""For whom something is done is neither worked nor asked for."""

import pytest

from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.receivers import without_receiver
from hubd.home.file import read_description

HOME = """
areas: [{name: Hall}]
entities:
  - {id: person.ann, name: Ann, aliases: [Anna, 小安], state: home}
  - {id: lock.front_door, name: Front Door, aliases: [Haustür, 大门], area: Hall, state: locked}
  - {id: light.hall, name: Hall Light, aliases: [Flurlicht, 走廊灯], area: Hall, state: "off"}
"""


@pytest.mark.parametrize(
    ("text", "language", "rest"),
    [
        ("unlock the front door for Ann, please", "en", "unlock the front door, please"),
        ("turn on the hall light for Ann", "en", "turn on the hall light"),
        ("schließ der Anna die Haustür auf", "de", "schließ die Haustür auf"),
        ("Sperr Anna bitte die Haustür auf", "de", "Sperr bitte die Haustür auf"),
        ("Mach für Anna das Flurlicht an", "de", "Mach das Flurlicht an"),
        ("帮小安把大门打开", "zh", "把大门打开"),
        ("set a timer for Ann", "en", "set a timer for Ann"),
        ("is the hall light on for Ann's sake", "en", "is the hall light on for Ann's sake"),
        ("Sag der Anna, die Haustür ist auf", "de", "Sag der Anna, die Haustür ist auf"),
        ("Anna hat die Haustür zugesperrt", "de", "Anna hat die Haustür zugesperrt"),
        ("告诉小安把灯关了", "zh", "告诉小安把灯关了"),
    ],
)
def test_the_person_is_left_out_where_a_thing_is_worked(text, language, rest):
    assert without_receiver(text, lexicon(language), read_description(HOME)) == rest


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("unlock the front door for Ann", "en"),
        ("Bitte schließ der Anna die Haustür auf, die hat die Hände voll", "de"),
        ("帮小安把大门打开", "zh"),
    ],
)
async def test_a_door_is_unlocked_for_somebody_once_it_is_confirmed(make_house, text, language):
    house = await make_house()
    await house.home.load(HOME)
    (part,) = await house.commands.decider.parts(text, language, "")
    assert (part.decision.tool, part.decision.entities) == ("home.unlock", ["lock.front_door"])
    assert part.decision.asks == "confirm"
