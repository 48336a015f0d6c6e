"""Everyday Chinese sentences of the plugins, with what is said before, between and after them."""

import pytest

from plugins.lists import split


async def decided(make_house, text):
    house = await make_house("home13.zh.yaml")
    area = next(area.id for area in house.home.snapshot().areas if area.name == "客厅")
    (part,) = await house.commands.decider.parts(text, "zh", area)
    return part.decision


@pytest.mark.parametrize(
    ("text", "tool", "entities"),
    [
        ("故事机放下一个", "media.next", ["media_player.kid"]),
        ("故事机给孩子换一个吧", "media.next", ["media_player.kid"]),
        ("厨房音箱上一个", "media.previous", ["media_player.kitchen"]),
        ("电视声音有点大", "media.change_volume", ["media_player.tv"]),
        ("今天是礼拜几", "clock.date", []),
        ("外头几度", "weather.now", ["weather.home"]),
        ("后天去爬山，要不要带伞啊", "weather.on", []),
        ("明天上班用不用带伞", "weather.on", []),
        ("落地灯开着就关，关着就开", "home.toggle", ["light.living_floor"]),
        ("扫地机，等一下，先停一下吧", "vacuum.stop", ["vacuum.robot"]),
    ],
)
async def test_it_is_understood(make_house, text, tool, entities):
    decision = await decided(make_house, text)
    assert (decision.tool, decision.entities) == (tool, entities)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("在家里广播一下，说快递到楼下了", "快递到楼下了"),
        ("帮我跟全家喊一声，说要出发了", "要出发了"),
        ("给大家通知一下，就说我七点到家", "我七点到家"),
    ],
)
async def test_what_is_announced_follows_says(make_house, text, message):
    decision = await decided(make_house, text)
    assert decision.tool == "announce.say"
    assert decision.call.arguments["message"] == message


@pytest.mark.parametrize(
    ("text", "tool", "items"),
    [
        ("酱油快用完了，回头去超市记得买", "lists.add", ["酱油"]),
        ("家里牙膏见底了，明天可别忘了买", "lists.add", ["牙膏"]),
        ("超市的话，鸡蛋，还有，还有面条，加到清单里", "lists.add", ["鸡蛋", "面条"]),
        ("购物清单里的牛奶买好了，打个勾", "lists.complete", ["牛奶"]),
        ("清单上的酱油买到了，勾掉吧", "lists.complete", ["酱油"]),
        ("购物清单里的盐打个勾", "lists.complete", ["盐"]),
    ],
)
async def test_items_are_told_from_what_is_said_of_them(make_house, text, tool, items):
    decision = await decided(make_house, text)
    said = decision.call.arguments.get("items") or [decision.call.arguments["item"]]
    assert (decision.tool, [item for one in said for item in split(one)]) == (tool, items)


@pytest.mark.parametrize(
    ("text", "color"),
    [
        ("小夜灯，红色吧，哎，红色太刺眼了，换绿色", "green"),
        ("电视灯带绿色，绿色太怪了，改成黄色", "yellow"),
    ],
)
async def test_a_color_that_is_disliked_is_exchanged(make_house, text, color):
    decision = await decided(make_house, text)
    assert (decision.tool, decision.call.arguments["color"]) == ("lights.set", color)


@pytest.mark.parametrize("text", ["故事机别放下一个", "她说洗衣液见底了", "洗衣液没有见底"])
async def test_nothing_is_done(make_house, text):
    assert (await decided(make_house, text)).tool is None
