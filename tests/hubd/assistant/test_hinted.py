"""What is only hinted at is asked about, or not understood; what is misheard is nothing else."""

import pytest

AREAS = {"en": "Kitchen", "de": "Wohnzimmer", "zh": "客厅"}


async def decided(make_house, text, language, home="home46"):
    house = await make_house(f"{home}.{language}.yaml")
    rooms = house.home.snapshot().areas
    area = next((room.id for room in rooms if room.name == AREAS[language]), rooms[0].id)
    decider = house.commands.decider
    parts = await decider.parts(text, language, area)
    return [part.decision for part in await decider.with_proposal(parts, text, area)]


@pytest.mark.parametrize(
    ("text", "language", "tool", "entities"),
    [
        ("it's gone nine and the kitchen blind is still up", "en", "home.close",
         ["cover.kitchen_blind"]),
        ("why on earth is the attic light still on", "en", "home.turn_off", ["light.attic"]),
        ("Nana says it's perishing in her room", "en", "climate.change", ["climate.nana"]),
        ("the flower beds are gasping for water", "en", "home.open", ["valve.sprinkler"]),
        ("Es ist schon zehn und der Rollladen Leni ist immer noch unten", "de", "home.open",
         ["cover.leni"]),
        ("Wieso läuft die Konsole eigentlich immer noch?", "de", "home.turn_off",
         ["switch.konsole"]),
        ("Die Hecke ist schon ganz vertrocknet, die braucht Wasser", "de", "home.open",
         ["valve.rasensprenger"]),
        ("都八点了，主卧窗帘还关着呢", "zh", "home.open", ["cover.zhuwo"]),
        ("餐厅里早就没人了，灯怎么还开着", "zh", "home.turn_off", ["light.canting"]),
        ("院子里的草都快枯了", "zh", "home.open", ["valve.jiaohua"]),
    ],
)  # fmt: skip
async def test_it_is_asked_whether_that_is_wished(make_house, text, language, tool, entities):
    (decision,) = await decided(make_house, text, language)
    assert (decision.tool, decision.entities) == (tool, entities)
    assert decision.asks == "confirm"


@pytest.mark.parametrize(
    ("text", "language", "tool", "entities"),
    [
        ("Saoirse's music is shaking the walls", "en", "media.change_volume",
         ["media_player.saoirse"]),
        ("what's the, what's it like out right now", "en", "weather.now", ["weather.home"]),
        ("Puh, ist das heiß hier drin!", "de", "climate.change", ["climate.wohnzimmer"]),
        ("Wärst du so lieb und machst das Terrassenlicht an?", "de", "home.turn_on",
         ["light.terrasse"]),
        ("奶奶说她屋里太热了", "zh", "climate.change", ["climate.nainai"]),
        ("外面天黑了，拉一下客厅窗帘吧", "zh", "home.close", ["cover.keting"]),
        ("把客厅窗帘拉一下，天都黑了", "zh", "home.close", ["cover.keting"]),
    ],
)  # fmt: skip
async def test_it_is_understood(make_house, text, language, tool, entities):
    (decision,) = await decided(make_house, text, language)
    assert (decision.tool, decision.entities) == (tool, entities)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("ouch, that's hot", "en"),
        ("Autsch, heiß!", "de"),
        ("哎呀，好烫", "zh"),
        ("turn the toaster on for two minutes", "en"),
        ("schalt den toaster auf zwei minuten an", "de"),
        ("turn of the kitchen lied", "en"),
        ("the carpet in the kitchen has been on order since last week", "en"),
        ("Dad said he would lock the front door", "en"),
        ("Opa sagt, er mag keine trockenen Blumen", "de"),
        ("奶奶说她爱看电视", "zh"),
    ],
)
async def test_nothing_is_worked(make_house, text, language):
    assert not any(decision.entities for decision in await decided(make_house, text, language))
    tools = [decision.tool for decision in await decided(make_house, text, language)]
    assert "timers.start" not in tools


async def test_what_heats_is_asked_about_where_nothing_else_does(make_house):
    (decision,) = await decided(make_house, "卫生间里冷得发抖", "zh", "home48")
    assert (decision.tool, decision.entities) == ("home.turn_on", ["switch.bath_heater"])
    assert decision.asks == "confirm"


async def test_since_when_it_is_so_is_no_time_for_it(make_house):
    said = "the dehumidifier's been on since this morning"
    (decision,) = await decided(make_house, said, "en", "home48")
    assert (decision.tool, decision.entities) == ("home.turn_off", ["humidifier.dehumidifier"])
    assert decision.asks == "confirm"
