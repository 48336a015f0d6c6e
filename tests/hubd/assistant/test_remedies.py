"""What is switched on against what somebody complains of, and what is no such complaint."""

import pytest

AREA = "客厅"


async def decided(make_house, text):
    house = await make_house("home13.zh.yaml")
    area = next(area.id for area in house.home.snapshot().areas if area.name == AREA)
    parts = await house.commands.decider.parts(text, "zh", area)
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
