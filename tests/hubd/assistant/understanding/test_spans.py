"""The clause of an utterance that asks for something, among others that say nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.spans import MOST_SPANS, spans
from hubd.assistant.understanding.words import phrases_of
from hubd.home.model import Snapshot

FOUND = [
    ("en", "well, I've had my coat on all morning, what's the temperature in the office",
     "climate.temperature"),
    ("en", "that pan's still boiling, the eggs are soft, add, um, three more minutes to the timer",
     "timers.add"),
    ("de", "leg beim Timer noch, was weiß ich, drei Minuten drauf, die sind noch ganz hart",
     "timers.add"),
    ("zh", "那个计时嘛，肉还有点硬，呃，再加五分钟", "timers.add"),
    ("zh", "哎哟，刚从菜市场回来累惨了，计时，呃，二十五分钟", "timers.start"),
]  # fmt: skip
LEFT = [
    ("en", "my sister says, turn off the desk lamp"),
    ("en", "if it rains, close the blinds"),
    ("en", "don't you dare, turn on the desk lamp"),
    ("en", "in the film they shouted, unlock the front door"),
    ("en", "yesterday at six, turn on the desk lamp"),
    ("de", "wenn es regnet, mach die Leselampe an"),
    ("de", "meine Schwester sagt, mach die Leselampe an"),
    ("de", "um acht, das glaub ich nicht, mach die Leselampe an"),
    ("zh", "要是下雨，打开阅读灯"),
    ("zh", "昨天晚上，打开阅读灯"),
]


@pytest.mark.parametrize(("language", "said", "tool"), FOUND)
async def test_a_clause_among_reasons_is_found(make_house, language, said, tool):
    house = await make_house(f"home.{language}.yaml")
    parts = await house.commands.decider.parts(said, language, "kitchen")
    assert [part.decision.tool for part in parts if part.decision.tool] == [tool]


@pytest.mark.parametrize(("language", "said"), LEFT)
async def test_conditions_and_what_others_say_have_nothing_done(make_house, language, said):
    house = await make_house(f"home.{language}.yaml")
    parts = await house.commands.decider.parts(said, language, "living_room")
    called = [p.decision for p in parts if p.decision.tool and p.decision.asks is None]
    assert called == []


@given(text=st.text(alphabet="ab ,.，。!?\n", max_size=80), language=st.sampled_from(["en", "zh"]))
def test_spans_are_few_and_parts_of_the_text(text, language):
    known = lexicon(language)
    found = spans(text, known, phrases_of(Snapshot(), known))
    assert len(found) <= MOST_SPANS
    assert all(set(span.text) <= set(text) | set(", ，") for span in found)
