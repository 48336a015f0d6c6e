"""Questions how something in the house works go to the documents, however much they sound like one
for the alarms, timers, reminders and lists that the hub keeps; in a home with devices and without.
"""

import pytest

from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.likeness import intents_of

WORKINGS = {
    "en": [
        "How long do I have to get out of the house after setting the alarm?",
        "how long does the timer on the oven run",
        "how long does the oven timer ring before it stops",
        "what time does the heating timer start",
        "how long is the timer of the boiler set to",
        "what happens when the alarm goes off",
        "okay so what happens when the timer runs out",
        "when is the alarm serviced",
        "when does the alarm company come",
        "how many minutes does the reminder light stay on",
        "how do I turn the alarm off",
        "who do I call when the alarm goes off",
        "how long does the alarm ring for",
        "how long after the alarm do we have to leave",
        "does the alarm work when the power is out",
        "which alarm is for the fire",
        "how many timers does the oven have",
        "how does the shopping list work",
        "where do we keep the shopping list",
        "what do reminders cost",
    ],
    "de": [
        "Wie lange habe ich Zeit, das Haus zu verlassen, nachdem ich den Alarm gestellt habe?",
        "Was passiert, wenn der Alarm losgeht?",
        "Was passiert, wenn der Timer abläuft?",
        "Wann wird der Alarm gewartet?",
        "Wie stelle ich den Wecker aus?",
        "Wen rufe ich an, wenn der Alarm losgeht?",
        "Wie lange klingelt der Wecker?",
        "Wie viele Timer hat der Ofen?",
        "Was kostet der Alarm im Monat?",
    ],
    "zh": [
        "闹钟响了以后会怎么样",
        "设了警报以后多久要出门",
        "闹钟响了怎么关",
        "定时器到时间会怎么样",
        "闹钟一般响多久",
        "怎么设置闹钟",
        "烤箱的定时器能定多久",
    ],
}
KEPT = {
    "en": [
        ("what alarms are set", "alarms.list"),
        ("when does my alarm go off", "alarms.list"),
        ("when am I getting up", "alarms.list"),
        ("how many hours of sleep do I get before the alarm", "alarms.list"),
        ("how long is left on the timer", "timers.list"),
        ("how long do I have left on the egg timer", "timers.list"),
        ("how many minutes does the timer still have", "timers.list"),
        ("how many reminders do I have", "reminders.list"),
        ("what's on the shopping list", "lists.show"),
    ],
    "de": [
        ("Wann klingelt mein Wecker?", "alarms.list"),
        ("Welcher Wecker ist gestellt?", "alarms.list"),
        ("Wie lange läuft der Timer noch?", "timers.list"),
        ("Wie viele Minuten hat der Timer noch?", "timers.list"),
        ("Was steht auf der Einkaufsliste?", "lists.show"),
    ],
    "zh": [
        ("我设了哪些闹钟", "alarms.list"),
        ("我的闹钟几点响", "alarms.list"),
        ("计时器还剩多久", "timers.list"),
        ("购物清单上有什么", "lists.show"),
    ],
}
LANGUAGES = ["en", "de", "zh"]
NO_DEVICES = "entities: []"


@pytest.fixture(params=["home.{}.yaml", NO_DEVICES], ids=["devices", "no devices"])
async def asked(request, make_house):
    """``await asked(text, language)``: the tool that answers, or ``None`` for the documents."""
    houses = {}

    async def decided(text, language):
        if language not in houses:
            houses[language] = await make_house(f"home.{language}.yaml")
            if request.param == NO_DEVICES:
                await houses[language].home.load(NO_DEVICES)
        (part,) = await houses[language].commands.decider.parts(text, language, "")
        return part.decision.tool

    return decided


@pytest.mark.parametrize("language", LANGUAGES)
async def test_how_something_works_is_asked_of_the_documents(asked, language):
    found = {text: await asked(text, language) for text in WORKINGS[language]}
    assert {text: tool for text, tool in found.items() if tool} == {}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_the_hub_keeps_is_told_by_it(asked, language):
    for text, tool in KEPT[language]:
        assert await asked(text, language) == tool, text


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_example_of_what_the_hub_keeps_asks_how_it_works(language):
    listing = {"alarms.list", "timers.list", "reminders.list", "lists.show"}
    said = [text for i in intents_of(language) if i.tool in listing for text in i.said]
    assert [text for text in said if lexicon(language).asks_how_it_works(text)] == []


async def test_how_long_is_no_lounge(make_house):
    said = await (await make_house()).commands.decider.mentions("how long does it take", "en")
    assert said.areas == ()
