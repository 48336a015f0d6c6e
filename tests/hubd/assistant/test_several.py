"""The commands of a sentence: which of its parts are some, and which only say why."""

import pytest

from plugins.lists import items_of


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        ("turn on the counter light, it's pitch black in the kitchen", ["home.turn_on"]),
        ("turn on the counter light, we have guests", ["home.turn_on"]),
        ("turn on the counter light, the sauna too", ["home.turn_on", None]),
        (
            "turn on the counter light, and do I have an alarm",
            ["home.turn_on", "alarms.list"],
        ),
        ("turn on the counter light, and lock the fridge", ["home.turn_on", None]),
    ],
)
async def test_what_is_not_done_is_told_but_for_remarks(make_house, text, tools):
    house = await make_house("home.en.yaml")
    parts = await house.commands.decider.parts(text, "en", "kitchen")
    assert [part.decision.tool for part in parts] == tools


async def test_of_two_things_for_a_list_both_are_noted(make_house):
    house = await make_house("home.en.yaml")
    said = "we need, let me look, butter and cling film on the shopping list"
    (part,) = await house.commands.decider.parts(said, "en", "kitchen")
    assert part.decision.tool == "lists.add"
    assert items_of([part.decision.arguments["items"]]) == ["butter", "cling film"]


@pytest.mark.parametrize(
    ("text", "language", "tool", "arguments"),
    [
        ("wake me at seven thirty a m tomorrow", "en", "alarms.set", None),
        ("put another five minutes on that timer", "en", "timers.add", {"minutes": 5}),
        ("will it rain in the garden on Sunday", "en", "weather.on", None),
        ("oh, the desk lamp, let me think, set it to 40 percent", "en", "lights.set", None),
    ],
)
async def test_it_is_understood(make_house, text, language, tool, arguments):
    house = await make_house("home.en.yaml")
    (part,) = await house.commands.decider.parts(text, language, "living_room")
    assert part.decision.tool == tool
    assert part.decision.asks is None
    if arguments is not None:
        assert arguments.items() <= part.decision.call.arguments.items()


async def test_a_time_that_nobody_understands_is_asked_for(make_house):
    house = await make_house("home.en.yaml")
    (part,) = await house.commands.decider.parts("wake me up at wibble", "en", "living_room")
    assert (part.decision.tool, part.decision.asks) == ("alarms.set", "missing")


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "wake me at 75 percent six"),
        ("de", "Wecker auf 75 Prozent 6"),
        ("en", "remind me at wibble this evening to put the bins out"),
        ("de", "erinnere mich um wibble heute Abend an die Tonnen"),
    ],
)
async def test_a_time_that_is_half_understood_is_asked_for(make_house, language, said):
    house = await make_house(f"home.{language}.yaml")
    (part,) = await house.commands.decider.parts(said, language, "living_room")
    assert part.decision.call is None or part.decision.asks == "missing"


@pytest.mark.parametrize("home", ["home.de.yaml", "home4.de.yaml"])
async def test_a_list_in_german_is_noted_whole(make_house, home):
    house = await make_house(home)
    said = "wir brauchen, äh, butter und frischhaltefolie auf die einkaufsliste"
    (part,) = await house.commands.decider.parts(said, "de", "küche")
    assert part.decision.tool == "lists.add"
    assert part.decision.call.arguments["items"] == ["butter und frischhaltefolie"]


@pytest.mark.parametrize("called", ["honey", "hello darling", "hey you"])
async def test_who_is_called_is_no_item(make_house, called):
    house = await make_house("home.en.yaml")
    text = f"{called}, put milk on the shopping list"
    decision = (await house.commands.decider.parts(text, "en", "kitchen"))[-1].decision
    assert decision.tool == "lists.add"
    assert decision.call.arguments["items"] == ["milk"]


async def test_no_list_is_noted_as_one_item(make_house):
    house = await make_house("home4.de.yaml")
    said = "Kannst du bitte Klopapier und Müllbeutel auf Liste schreiben"
    parts = await house.commands.decider.parts(said, "de", "küche")
    items = [
        i
        for part in parts
        if part.decision.call
        for i in part.decision.call.arguments.get("items", [])
    ]
    assert "klopapier müllbeutel" not in [item.casefold() for item in items]


@pytest.mark.parametrize(
    ("home", "language", "area", "said", "done"),
    [
        # Who shall take a break has been said, and it is not the radio.
        (
            "home6.de.yaml",
            "de",
            "wohnküche",
            "kann der Krümel, ähm, kurz Pause machen",
            "vacuum.stop",
        ),
        ("home6.zh.yaml", "zh", "客厅", "我那个，计时，呃，还剩多久来着", "timers.list"),
        ("home6.zh.yaml", "zh", "客厅", "可以麻烦你让小圆去厨房扫一下吗", "vacuum.clean_area"),
        ("home6.zh.yaml", "zh", "客厅", "大门锁了没得", "home.state"),
        ("home6.en.yaml", "en", "galley", "would the battery charger be on at all?", "home.state"),
        ("home6.en.yaml", "en", "galley", "start the casino night scene", ""),
        ("home6.en.yaml", "en", "galley", "start the car sting off scene", "home.activate"),
        ("home6.de.yaml", "de", "wohnküche", "fahr die Markise halb aus", "home.set_position"),
        ("home6.zh.yaml", "zh", "客厅", "刚才那个计时器，呃，再加五分钟吧，肉还没烂", "timers.add"),
        ("home6.de.yaml", "de", "wohnküche", "Rollladen klemmt wieder", ""),
        ("home6.en.yaml", "en", "galley", "the blinds are stuck again", ""),
    ],
)
async def test_nothing_else_is_set_off(make_house, home, language, area, said, done):
    house = await make_house(home)
    parts = await house.commands.decider.parts(said, language, area)
    tools = [part.decision.tool for part in parts if part.decision.tool]
    assert all(done and tool.startswith(done) for tool in tools)
    assert bool(tools) == bool(done)


CORRECTED = [
    ("en", "set a timer for ten, no hang on, it says fifteen on the packet, fifteen minutes",
     "timers.start", {"minutes": 15}),
    ("en", "set a timer for five minutes, no, wait, eight", "timers.start", {"minutes": 8}),
    ("en", "desk lamp to thirty percent, no, that's too dark, fifty percent",
     "lights.set", {"brightness": 50}),
    ("en", "desk lamp blue, no, she doesn't like it, she likes green", None, None),
    ("en", "desk lamp, blue, no, I've gone off blue, green", "lights.set", {"color": "green"}),
    ("en", "wake me at half six, no, make it six fifteen in the morning",
     "alarms.set", {"when": "at 6 15 in the morning"}),
    ("en", "put milk and cream on the shopping list, no, not cream, butter",
     "lists.add", {"items": ["milk and butter"]}),
    ("en", "turn on the, oh, what was it, no, never mind, forget it", "help.never_mind", {}),
    ("en", "set a timer for ten, no, or perhaps twelve, or fifteen, I don't know", None, None),
    ("en", "put, um, shearing combs, no scratch that, just lamp oil on the list",
     "lists.add", {"items": ["lamp oil"]}),
    ("en", "could you give me another ten minutes on that timer", "timers.add", {"minutes": 10}),
    ("de", "stell den Timer auf zehn, nein wart, auf zwölf Minuten, der Kuchen ist größer",
     "timers.start", {"minutes": 12}),
    ("de", "die Leselampe, sagen wir zwanzig Prozent, oder nein, fünfzehn reicht auch",
     "lights.set", {"brightness": 15}),
    ("de", "schreib auf die Einkaufsliste Sahne und Lauch, nee, keinen Lauch, Petersilie",
     "lists.add", {"items": ["Sahne und Petersilie"]}),
    ("zh", "落地灯调到一半，不，太亮了，百分之十", "lights.set", {"brightness": 10}),
    ("zh", "计时十分钟，不对，包装上写的十五，十五分钟", "timers.start", {"minutes": 15}),
]  # fmt: skip


@pytest.mark.parametrize(("language", "said", "tool", "arguments"), CORRECTED)
async def test_what_was_said_last_takes_the_place_of_its_kind(
    make_house, language, said, tool, arguments
):
    house = await make_house(f"home.{language}.yaml")
    (part,) = await house.commands.decider.parts(said, language, "living_room")
    assert part.decision.tool == tool
    if arguments is not None:
        call = part.decision.call.arguments
        assert {name: call.get(name) for name in arguments} == arguments


@pytest.mark.parametrize(
    ("home", "language", "area", "said", "step"),
    [
        ("home9.de.yaml", "de", "Wohnküche", "mach das Küchenradio leise", "down"),
        ("home9.de.yaml", "de", "Wohnküche", "Küchenradio bitte leise", "down"),
        ("home9.de.yaml", "de", "Wohnküche", "das Küchen Rad jo bitte leise er", "down"),
        ("home9.de.yaml", "de", "Wohnküche", "das Küchenradio ist zu leise", "up"),
        ("home9.de.yaml", "de", "Wohnküche", "mach die Grubenlampe ein bisschen dunkel", "down"),
        ("home9.en.yaml", "en", "Kitchen", "make the rocket lamp dim", "down"),
        ("home9.en.yaml", "en", "Kitchen", "the rocket lamp is so dim", "up"),
    ],
)
async def test_how_it_shall_be_and_how_it_is_are_opposites(
    make_house, home, language, area, said, step
):
    house = await make_house(home)
    (part,) = await house.commands.decider.parts(said, language, area)
    assert part.decision.call is not None
    assert step in part.decision.call.arguments.values()


@pytest.mark.parametrize(
    "said", ["there's no hot water, the immersion must be off", "the immersion might be on"]
)
async def test_what_somebody_supposes_sets_nothing_off(make_house, said):
    house = await make_house("home9.en.yaml")
    parts = await house.commands.decider.parts(said, "en", "Kitchen")
    assert [part.decision.tool for part in parts if part.decision.tool] == []


@pytest.mark.parametrize(
    ("language", "said", "tools"),
    [
        ("en", "stop, turn the pendants off", ["home.turn_off"]),
        ("en", "stop the music and turn off the arc lamp", ["media.pause", "home.turn_off"]),
        ("de", "Halt, stopp, das Hoftor, äh, das Tor anhalten", ["home.stop"]),
        ("en", "stop, add milk and bread to the shopping list", ["lists.add"]),
        ("de", "Stopp, Milch und Brot auf die Einkaufsliste", ["lists.add"]),
        ("en", "stop, I'm awake", ["timers.cancel"]),
        ("en", "stop, the eggs are out", ["timers.cancel"]),
        ("en", "stop the roof hatch, it's stuck", ["home.stop"]),
    ],
)
async def test_a_cry_ends_no_timer_and_no_music(make_house, language, said, tools):
    house = await make_house(f"home10.{language}.yaml")
    parts = await house.commands.decider.parts(said, language, "")
    assert [part.decision.tool for part in parts if part.decision.tool] == tools


async def test_a_question_beside_a_command_is_no_item(make_house):
    house = await make_house("home.en.yaml")
    parts = await house.commands.decider.parts(
        "turn on the counter light, and what's on my list", "en", ""
    )
    assert [part.decision.tool for part in parts] == ["home.turn_on", "lists.show"]


@pytest.mark.parametrize("said", ["Wecker sieben Uhr zehn", "Wecker auf sieben Uhr zehn"])
async def test_ten_is_no_toe(make_house, said):
    house = await make_house("home.de.yaml")
    (part,) = await house.commands.decider.parts(said, "de", "")
    assert part.decision.call.arguments == {"when": "sieben Uhr zehn"}


async def test_what_is_thought_between_items_is_none_of_them(make_house):
    house = await make_house("home10.de.yaml")
    said = "Schreib mal auf die Liste, Butter, äh, was war's noch, ach so, Speck und Schmand"
    (part,) = await house.commands.decider.parts(said, "de", "")
    assert part.decision.call.arguments["items"] == ["Butter, Speck, Schmand"]


async def test_a_time_is_corrected_with_its_part_of_the_day(make_house):
    house = await make_house("home10.zh.yaml")
    said = "早上七点半，呃不，晚上八点半，提醒我给豆豆罩笼子"
    (part,) = await house.commands.decider.parts(said, "zh", "")
    assert part.decision.call.arguments == {"when": "晚上8点半", "what": "给豆豆罩笼子"}
    said = "嗯，晚上八点，不对，八点半，提醒我给婆婆量血压"
    (part,) = await house.commands.decider.parts(said, "zh", "")
    assert part.decision.call.arguments == {"when": "晚上8点半", "what": "给婆婆量血压"}


@pytest.mark.parametrize(
    "said",
    ["番茄苗晒得叶子都蔫了，棚子还收起的", "太阳直射到电视上，啥子都看不清",
     "我记不到打包间的门锁好没有了"],
)  # fmt: skip
async def test_what_is_told_sets_nothing_off(make_house, said):
    house = await make_house("home10.zh.yaml")
    parts = await house.commands.decider.parts(said, "zh", "")
    assert [part.decision.tool for part in parts] == [None]


async def test_minutes_that_are_hung_on_are_more_of_the_timer(make_house):
    house = await make_house("home10.de.yaml")
    said = "Wäre es möglich, noch drei Minuten dranzuhängen? Am Timer, meine ich, bitte."
    (part,) = await house.commands.decider.parts(said, "de", "")
    assert part.decision.tool == "timers.add"
    assert part.decision.call.arguments == {"minutes": 3}


@pytest.mark.parametrize(
    ("said", "tools"),
    [
        ("turn on the sauna, and which timers are there", [None, "timers.list"]),
        ("switch on the hot tub and tell me the time", [None, "clock.time"]),
        ("tell me the time and place of the concert", [None]),
        ("open the lease and tell me the rent", [None]),
    ],
)
async def test_a_command_that_nobody_understands_is_told_beside_an_answer(make_house, said, tools):
    house = await make_house("home.en.yaml")
    parts = await house.commands.decider.parts(said, "en", "kitchen")
    assert [part.decision.tool for part in parts] == tools


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        (
            "Mach das Licht an und streich die Butter von der Einkaufsliste",
            ["home.turn_on", "lists.remove"],
        ),
        ("Streich die Butter und die Milch von der Einkaufsliste", ["lists.remove"]),
        ("Könntest du bitte die Butter und die Milch wieder von der Einkaufsliste streichen?",
         ["lists.remove"]),
    ],
)  # fmt: skip
async def test_what_is_taken_off_a_list_is_all_of_it_and_no_command(make_house, text, tools):
    house = await make_house("home.de.yaml")
    parts = await house.commands.decider.parts(text, "de", "")
    assert [part.decision.tool for part in parts] == tools
    item = str(parts[-1].decision.call.arguments["item"])
    assert "Butter" in item
    assert ("Milch" in item) == ("Milch" in text)
