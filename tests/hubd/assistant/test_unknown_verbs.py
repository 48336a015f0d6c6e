"""A verb that nobody knows has nothing done, whatever it is said of."""

import random

import pytest

from hubd.assistant.by_likeness.semantic import Semantics
from hubd.assistant.supported import why_not
from hubd.assistant.understanding.lexicon import lexicon
from hubd.tools import find_plugins
from plugins.api import ToolCall

TOOLS = {tool.name: tool for plugin in find_plugins() for tool in plugin.tools.values()}
SENTENCES = 90
"""Drawn from some ten thousand for each home."""
VERBS = {
    "en": "frobnicate blorp zorbulate snarf wibble grindle flumox quazzle yeet defenestrate "
    "bamboozle transmogrify gleep munge splork vex",
    "de": "frobniziere blorpe schwurbel knorzle zwirbel verquaste fluxe grummel plümpere wurmse",
    "zh": "弗洛布 布洛普 晃悠 嘀咕 扭捏 炒熟 咕噜 踢飞 朗诵 揉搓",
}
FORMS = {
    "en": ["{} the {}", "please {} my {} now", "can you {} {} for me", "{} the {} to 30"],
    "de": ["{} das {}", "{} bitte {}", "kannst du bitte {} {}", "{} {} auf 30"],
    "zh": ["{}{}", "请帮我{}一下{}", "{}{}三十"],
}
KINDS = {
    "en": ["lights", "blinds", "heating", "music", "door", "timer", "alarm", "shopping list"],
    "de": ["Licht", "Rollläden", "Heizung", "Musik", "Timer", "Wecker", "Einkaufsliste"],
    "zh": ["灯", "窗帘", "空调", "音乐", "计时器", "闹钟", "购物清单", "风扇"],
}
HOMES = ["home.en.yaml", "home2.en.yaml", "home.de.yaml", "home2.de.yaml", "home.zh.yaml"]
HOMES += ["home2.zh.yaml"]


def sentences(snapshot, language):
    things = [name for e in snapshot.entities for name in (e.name, *e.aliases)]
    things += [name for a in snapshot.areas for name in (a.name, *a.aliases)]
    every = [
        form.format(verb, thing)
        for form in FORMS[language]
        for verb in VERBS[language].split()
        for thing in things + KINDS[language]
    ]
    return random.Random(7).sample(every, SENTENCES)


@pytest.mark.parametrize("home", HOMES)
async def test_a_made_up_verb_does_nothing(real_router, embed, classifiers, home):
    language, router = home.split(".")[1], real_router(home)
    semantics = Semantics(embed, router, list(TOOLS.values()), classifiers)
    await semantics.prepare(language)
    area = router.snapshot().areas[0].name
    acted = {}
    for text in sentences(router.snapshot(), language):
        decision = router.route(text, language=language, area=area)
        if decision.tool is None:
            decision = await semantics.decide(text, language, area) or decision
        for other in router.reworded(text, language) if decision.tool is None else ():
            decision = router.route(other, language=language, area=area)
            decision = (
                decision
                if decision.tool
                else await semantics.decide(other, language, area) or decision
            )
        acts = decision.tool and TOOLS[decision.tool].risk != "read"
        if acts and decision.asks not in ("which", "missing"):
            when = decision.tool == "alarms.set"  # asks for the time when it is called
            acted |= {} if when else {text: decision.tool}
    assert acted == {}


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (
            "frobnicate the kitchen",
            ToolCall(tool="vacuum.clean_area", arguments={"area": "Kitchen"}),
        ),
        ("frobnicate the timer", ToolCall(tool="timers.cancel")),
        ("frobnicate the shopping list", ToolCall(tool="lists.clear")),
        (
            "frobnicate the desk lamp to 30",
            ToolCall(
                tool="lights.set", arguments={"entities": ["light.desk_lamp"], "brightness": 30}
            ),
        ),
    ],
)
async def test_nor_does_a_model_that_would(real_router, text, call):
    router, known = real_router("home.en.yaml"), lexicon("en")
    await router.prepare(text, "en")
    said = router.mentions(text, "en")
    assert why_not(call, TOOLS[call.tool], text, said, router.snapshot(), "", known)


async def test_a_known_verb_beside_an_unknown_word_still_counts(real_router, embed, classifiers):
    router = real_router("home.en.yaml")
    semantics = Semantics(embed, router, list(TOOLS.values()), classifiers)
    decision = await semantics.decide("turn the blasted desk lamp off will ya", "en", "")
    assert (decision.tool, decision.entities) == ("home.turn_off", ["light.desk_lamp"])
