"""Why something is asked for is no command of its own, and persons in it are not who said so."""

import pytest


async def decided(make_house, text):
    house = await make_house("home13.zh.yaml")
    area = next(area.id for area in house.home.snapshot().areas if area.name == "客厅")
    parts = await house.commands.decider.parts(text, "zh", area)
    return [(part.decision.tool, part.decision.entities) for part in parts]


@pytest.mark.parametrize(
    ("text", "tool", "entity"),
    [
        ("把电风扇调到百分之二十，吹得头疼", "fans.set_speed", "fan.living"),
        ("电风扇关一下，风太大了", "home.turn_off", "fan.living"),
        ("可以把电风扇调小一点吗，吹得我头疼", "fans.change", "fan.living"),
        ("电视声音太大了，妈妈在睡觉", "media.change_volume", "media_player.tv"),
        ("我听不见乐乐叫我，厨房音箱声音太大了", "media.change_volume", "media_player.kitchen"),
        ("妈妈睡着了，把电视声音关小点", "media.change_volume", "media_player.tv"),
        ("乐乐睡着了，故事机关了吧", "home.turn_off", "media_player.kid"),
        ("餐厅太暗了，妈妈看不清菜", "home.turn_on", "light.dining"),
        ("关掉客厅大灯，我去洗澡了", "home.turn_off", "light.living_main"),
        ("打开作业模式，乐乐要写作业了", "home.activate", "scene.homework"),
        ("打开观影模式妈妈要看电影了", "home.activate", "scene.movie"),
        ("关掉客厅大灯外婆要睡觉了", "home.turn_off", "light.living_main"),
        ("儿童房地上都是乐乐的饼干屑", "vacuum.clean_area", "vacuum.robot"),
        ("客厅地上全是外婆剥的瓜子壳，一地都是", "vacuum.clean_area", "vacuum.robot"),
        ("室外几度啊，我看看给外婆穿什么", "weather.now", "weather.home"),
        ("玄关黑灯瞎火的，钥匙都找不着", "home.turn_on", "light.hall"),
        ("主卧空调吹得我后背发凉", "climate.change", "climate.master"),
        ("阳光从书房窗户照进来，电脑屏幕看不清", "home.close", "cover.study"),
        ("咱们家今天用了多少度电", "home.state", "sensor.power"),
        ("家里今天耗了多少电", "home.state", "sensor.power"),
    ],
)
async def test_one_thing_is_done(make_house, text, tool, entity):
    assert await decided(make_house, text) == [(tool, [entity])]


@pytest.mark.parametrize(
    "text",
    [
        "乐乐说客厅地上全是灰",
        "妈妈刚说的客厅地上全是灰",
        "乐乐把客厅弄得一地的灰",
        "打开作业模式乐乐要回来的时候",
        "乐乐打开作业模式了",
        "等乐乐睡着了，把小夜灯关了",
        "乐乐睡着了，就把小夜灯关了",
        "乐乐要是睡了，把小夜灯关了",
        "乐乐没写完作业，别开电视",
        "妈妈，把落地灯打开",
        "妈妈你来一下，把落地灯打开",
        "妈妈说，把落地灯打开",
        "卫生间地上全是水",
        "电视声音太大了，外婆说不要紧",
        "客厅空调吹得真凉快",
        "客厅空调吹得我一点都不冷",
        "要不要把客厅大灯关了",
        "不知道要不要打开窗帘",
        "昨天用了多少电",
        "洗衣机用了多少电",
        "烤箱用了多少电",
    ],
)
async def test_nothing_is_done(make_house, text):
    assert [tool for tool, _ in await decided(make_house, text)] == [None]
