"""What is switched on against what somebody complains of, and what is no such complaint."""

import pytest

HOMES = {
    "en": ("home15.en.yaml", "Living Room"),
    "de": ("home15.de.yaml", "Wohnzimmer"),
    "zh": ("home13.zh.yaml", "客厅"),
}


async def decided(make_house, text, language="zh"):
    home, name = HOMES[language]
    house = await make_house(home)
    area = next(area.id for area in house.home.snapshot().areas if area.name == name)
    parts = await house.commands.decider.parts(text, language, area)
    return [(part.decision.tool, part.decision.entities) for part in parts]


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("书房好潮啊，墙角都发霉了", "switch.dehumidifier"),
        ("书房返潮了", "switch.dehumidifier"),
        ("厨房里全是油烟，呛得人直咳嗽", "fan.hood"),
        ("厨房全是蒸汽", "fan.hood"),
        ("卫生间臭死了", "fan.bath"),
        ("厕所里全是雾气", "fan.bath"),
        ("儿童房蚊子嗡嗡叫", "switch.mosquito"),
    ],
)
async def test_the_one_thing_of_the_room_that_helps_is_switched_on(make_house, text, entity):
    assert await decided(make_house, text) == [("home.turn_on", [entity])]


@pytest.mark.parametrize(
    "text",
    [
        "厨房一股煤气味",  # no switch is worked then
        "厨房着火了，全是烟",
        "卫生间有烧焦的味道，好大味",
        "书房不潮",
        "书房没有那么潮了",
        "书房潮不潮",
        "书房为什么这么潮",
        "要是书房潮了就开除湿机吧",
        "乐乐房间里没有蚊子了",
        "儿童房的蚊子打死了",
        "外婆说厨房全是油烟",
        "厨房里的油烟散了",
        "昨天卫生间全是水汽",
        "楼下有蚊子",
        "客厅好潮",  # nothing here helps
        "主卧一股烟味",  # the purifier is on
        "厨房里全是油烟，别开油烟机",
    ],
)
async def test_nothing_is_switched_on_otherwise(make_house, text):
    tools = [tool for tool, _ in await decided(make_house, text)]
    assert "home.turn_on" not in tools


@pytest.mark.parametrize(
    ("language", "text", "entity"),
    [
        ("en", "it's so steamy in the bathroom", "fan.extractor"),
        ("en", "the mirror in the bathroom is all fogged up", "fan.extractor"),
        ("en", "the bathroom stinks", "fan.extractor"),
        ("de", "In der Küche ist alles voller Dampf", "fan.abzug"),
        ("de", "Puh, in der Küche steht der ganze Bratendunst.", "fan.abzug"),
        ("de", "In der Küche riecht es so nach Fisch", "fan.abzug"),
    ],
)
async def test_so_it_is_in_other_languages(make_house, language, text, entity):
    assert await decided(make_house, text, language) == [("home.turn_on", [entity])]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "the bathroom smells of gas"),
        ("en", "the bathroom was like a sauna yesterday"),
        ("en", "the bathroom's not that steamy any more"),
        ("en", "there's steam coming out of the kettle in the bathroom"),
        ("en", "is the bathroom steamed up?"),
        ("en", "the dog stinks"),
        ("en", "the living room is so stuffy"),  # nothing here helps
        ("de", "In der Küche riecht es angebrannt, alles voller Qualm"),
        ("de", "Die Küche riecht nach Gas"),
        ("de", "In der Küche dampft nichts mehr"),
        ("de", "Bei den Nachbarn in der Küche stinkt es"),
        ("de", "In der Küche war gestern alles voller Dampf"),
    ],
)
async def test_nor_otherwise_in_other_languages(make_house, language, text):
    tools = [tool for tool, _ in await decided(make_house, text, language)]
    assert "home.turn_on" not in tools
