"""Rooms and things that this house has not: no other is worked, or told, in their stead."""

import pytest

from hubd.assistant.supported import meant

HOMES = {"en": ("home17.en.yaml", "Living Room"), "de": ("home17.de.yaml", "Wohnzimmer"),
         "zh": ("home17.zh.yaml", "客厅")}  # fmt: skip
ROOMS = {
    "en": ["conservatory", "guest room", "dining room", "spare bedroom", "garden room", "cellar",
           "grandma's room", "the twins' room", "laundry room", "gym"],
    "de": ["Gästezimmer", "Esszimmer", "Keller", "Wintergarten", "Gäste-WC", "Spielzimmer",
           "Waschküche", "Hobbyraum"],
    "zh": ["办公室", "地下室", "客房", "次卧", "餐厅", "爷爷房间", "老人房", "洗衣房", "衣帽间"],
}  # fmt: skip
ABOUT = {
    "en": ["switch the {} light on", "{} blinds down", "the {} is too cold", "{} telly off",
           "it's dark in the {}", "turn the heating up in the {}", "is the {} window open",
           "what's the temperature in the {}", "dim the {} lamp to 20", "close the {} curtains",
           "it's stuffy in the {}", "is the {} light on", "put some music on in the {}"],
    "de": ["mach das Licht im {} an", "Rollo im {} runter", "im {} ist es zu kalt",
           "im {} ist es dunkel", "dreh die Heizung im {} hoch", "{} Vorhänge zu",
           "ist das Fenster im {} offen", "wie warm ist es im {}", "Fernseher im {} aus",
           "dimm die Lampe im {} auf 20", "brennt im {} noch Licht", "Musik im {} an"],
    "zh": ["{}灯打开", "{}窗帘拉上", "{}太冷了", "{}里有点黑", "{}暖气调高点", "{}窗户开着吗",
           "{}现在多少度", "{}电视关掉", "{}灯调到20", "{}灯还亮着吗", "{}门锁上", "{}放点音乐",
           "把{}里的风扇关了", "{}空调开了没"],
}  # fmt: skip
HERE = {
    "en": ["switch the living room light on", "it's dark in the bedroom"],
    "de": ["mach das Licht im Wohnzimmer an", "im Schlafzimmer ist es zu dunkel"],
    "zh": ["客厅灯打开", "卧室窗帘拉上"],
}


@pytest.mark.parametrize("language", HOMES)
async def test_what_is_said_of_a_room_that_is_not_here_is_about_nothing_here(make_house, language):
    name, place = HOMES[language]
    house = await make_house(name)
    area = next(area.id for area in house.home.snapshot().areas if area.name == place)

    async def touched(text: str) -> list[str]:
        parts = await house.commands.decider.parts(text, language, area)
        return [entity for part in parts for entity in part.decision.entities]

    said = [about.format(room) for room in ROOMS[language] for about in ABOUT[language]]
    found = {text: entities for text in said if (entities := await touched(text))}
    assert found == {}
    for text in HERE[language]:
        assert await touched(text), text


async def test_a_room_is_here_where_a_thing_is_called_after_it(make_house, assistant_data):
    house = await make_house()
    description = (assistant_data / "home17.en.yaml").read_text("utf-8")
    assert "Floor Lamp" in description
    await house.home.load(description.replace('"Floor Lamp"', '"Dining Room Lamp"'))
    (part,) = await house.commands.decider.parts("turn on the dining room lamp", "en", "")
    assert part.decision.entities == ["light.floor_lamp"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "dehumidifier off"),
        ("en", "is the dehumidifier on"),
        ("en", "the doorbell is too loud"),
        ("en", "reading lamp off"),
        ("de", "Geschirrspüler ist zu laut"),
        ("de", "Kronleuchter ist zu laut"),
        ("zh", "门铃太吵了"),
        ("zh", "打开电暖器"),
    ],
)
async def test_a_thing_that_is_not_here_is_no_other(make_house, language, text):
    house = await make_house(HOMES[language][0])
    parts = await house.commands.decider.parts(text, language, "")
    assert [part.decision.entities for part in parts] == [[]]


@pytest.mark.parametrize(
    ("language", "text", "room"),
    [
        ("en", "Dim the Dining Room lamp to 20", "“Dining Room”"),
        ("de", "Mach im Gästezimmer das Licht an", "„Gästezimmer“"),
        ("zh", "客房空调调高两度", "“客房”"),
    ],
)
async def test_it_is_said_which_room_is_not_here(make_house, language, text, room):
    house = await make_house(HOMES[language][0])
    assert room in await house.commands.decider.declined(text, language)


async def test_a_model_may_not_choose_another_room_either(make_house):
    house = await make_house("home17.en.yaml")
    text, snapshot = "switch the dining room light on", house.home.snapshot()
    said = await house.commands.decider.mentions(text, "en")
    assert meant(said, snapshot, "") == []
    said = await house.commands.decider.mentions(text.replace("dining", "living"), "en")
    assert meant(said, snapshot, "")


async def test_what_helps_in_this_room_is_not_switched_on_for_another(make_house):
    house = await make_house("home17.en.yaml")
    for text in ("it's so steamy in here", "it's so steamy in the guest room"):
        (part,) = await house.commands.decider.parts(text, "en", "bathroom")
        assert bool(part.decision.entities) == ("here" in text)
