"""Things by the names that people give them, put back as the household calls them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.paraphrased import paraphrases_of, renamed
from hubd.home.file import read_description

ENGLISH = """
areas: [{name: Living Room}, {name: Kitchen}, {name: Bedroom}]
entities:
  - {id: light.lamp, name: Living Room Lamp, area: Living Room}
  - {id: light.corner, name: Play Corner, area: Living Room}
  - {id: light.one, name: Kitchen Light, area: Kitchen}
  - {id: light.two, name: Kitchen Counter, area: Kitchen}
  - {id: cover.left, name: Curtain Left, area: Bedroom}
  - {id: cover.right, name: Curtain Right, area: Bedroom}
  - {id: light.bed, name: Bedside Lamp, area: Bedroom}
  - {id: light.bed2, name: Reading Lamp, area: Bedroom}
  - {id: binary_sensor.shed, name: Shed Window}
"""
GERMAN = """
areas: [{name: Küche}, {name: Wohnzimmer}]
entities:
  - {id: switch.bar, name: Thekenschalter, area: Küche}
  - {id: light.kitchen, name: Küchenlampe, area: Küche}
  - {id: cover.left, name: Rollo links, area: Wohnzimmer}
  - {id: cover.right, name: Rollo rechts, area: Wohnzimmer}
  - {id: cover.front, name: Rollo vorn, area: Wohnzimmer}
"""
CHINESE = """
areas: [{name: 厨房}, {name: 卧室}, {name: 客厅}]
entities:
  - {id: light.table, name: 厨房台灯, area: 厨房}
  - {id: light.kitchen, name: 厨房灯, area: 厨房}
  - {id: cover.bedroom, name: 卧室窗帘}
  - {id: cover.nursery, name: 婴儿房窗户, area: 卧室}
  - {id: cover.left, name: 左侧窗帘, area: 客厅}
  - {id: lock.closet, name: 壁橱锁}
  - {id: light.ceiling, name: 易来吸顶灯, area: 客厅}
"""


def put_back(text: str, language: str, description: str, area: str = "") -> str:
    known = lexicon(language)
    return renamed(text, area, paraphrases_of(read_description(description), known), known)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("turn off the lamp in the living room", "turn off the Living Room Lamp"),
        ("is the window in the shed open", "is the Shed Window open"),
        ("close the left curtain halfway", "close the left curtain halfway"),
        ("close the curtain on the right", "close the right curtain"),
        ("the right-hand curtain to 30", "the right curtain to 30"),
        ("close the left and the right curtain", "close the left curtain and right curtain"),
        ("open the left and right curtains", "open the left curtain and right curtain"),
    ],
)
def test_english_names(said, meant):
    assert put_back(said, "en", ENGLISH) == meant


@pytest.mark.parametrize(
    "said",
    [
        "turn off the light in the kitchen",  # two of them shine there
        "turn off the lights in the living room",
        "turn off the lamp in the bedroom",  # both are called so
        "remind me to dust the lamp in the living room",  # is kept as it was said
        "put a bulb for the lamp in the living room on the shopping list",
    ],
)
def test_what_may_mean_more_stays(said):
    assert put_back(said, "en", ENGLISH) == said


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("schalt den Schalter an der Theke aus", "schalt den Thekenschalter aus"),
        ("mach die Lampe in der Küche an", "mach die Küchenlampe an"),
        ("ist irgendeine Lampe in der Küche an", "ist irgendeine Lampe in der Küche an"),
        ("fahr das rechte Rollo hoch", "fahr das Rollo rechts hoch"),
        ("fahr das vordere Rollo hoch", "fahr das Rollo vorn hoch"),
        ("das linke und das rechte Rollo zu", "das Rollo links und Rollo rechts zu"),
    ],
)
def test_german_names(said, meant):
    assert put_back(said, "de", GERMAN) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("把卧室的窗帘拉上", "把卧室窗帘拉上"),
        ("婴儿房的窗户打开", "婴儿房窗户打开"),
        ("打开厨房里的台灯", "打开厨房台灯"),
        ("打开厨房的灯", "打开厨房的灯"),
        ("左边的窗帘拉上", "左侧窗帘拉上"),
        ("开吸顶灯", "开易来吸顶灯"),
        ("把走廊的壁橱锁上", "把走廊的壁橱锁锁上"),
        ("锁壁橱", "锁壁橱锁"),
        ("把壁橱锁锁上", "把壁橱锁锁上"),
        ("开卧室吸顶灯", "开卧室吸顶灯"),
        ("打开易来吸顶灯", "打开易来吸顶灯"),
    ],
)
def test_chinese_names(said, meant):
    assert put_back(said, "zh", CHINESE) == meant


@pytest.mark.parametrize(
    ("said", "area", "meant"),
    [
        ("lamp off", "living_room", "Living Room Lamp off"),
        ("dim the lamp in here", "living_room", "dim the Living Room Lamp in here"),
        ("turn off the lamps", "living_room", "turn off the lamps"),
        ("turn off all the lamp and fans", "living_room", "turn off all the lamp and fans"),
        ("turn off the lamp in the hall", "living_room", "turn off the lamp in the hall"),
        ("turn off the reading lamp", "living_room", "turn off the reading lamp"),
        ("turn off the light", "kitchen", "turn off the light"),
        ("turn off the lamp", "bedroom", "turn off the lamp"),
    ],
)
def test_the_one_thing_of_this_room(said, area, meant):
    assert put_back(said, "en", ENGLISH, area) == meant


def test_a_name_is_never_taken_for_another_nor_for_a_pattern():
    home = r"""
areas: [{name: Hall}]
entities:
  - {id: light.one, name: Hall Lamp, area: Hall}
  - {id: light.two, name: Lamp in the Hall, area: Hall}
  - {id: switch.odd, name: 'Shed \g<9> Pump'}
"""
    assert put_back("turn on the lamp in the hall", "en", home) == "turn on the lamp in the hall"
    assert put_back("start the pump in the shed \\g<9>", "en", home) == "start the Shed \\g<9> Pump"


@given(st.text(max_size=80))
def test_any_text_can_be_read(text):
    assert isinstance(put_back(text, "en", ENGLISH), str)
