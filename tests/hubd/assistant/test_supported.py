"""What a model proposes is done only where the words say it, all of it, and nothing against it."""

import pytest

from hubd.assistant.supported import why_not
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.polarity import contradiction
from plugins.api import ToolCall


def refused(router, text, tool, entities, language="en", area=""):
    said = router.mentions(text, language)
    call = ToolCall(tool=tool, arguments={"entities": entities})
    known = lexicon(language)
    return why_not(call, router._tools[tool], text, said, router.snapshot(), area, known)


@pytest.mark.parametrize("tool", ["home.lock", "home.unlock"])
def test_to_open_a_lock_is_not_to_lock(tool):
    assert contradiction(tool, "开大门锁", {}, lexicon("zh"))
    assert not contradiction("home.lock", "锁上大门", {}, lexicon("zh"))
    assert not contradiction("home.lock", "schließ die haustür ab", {}, lexicon("de"))


def test_two_verbs_are_no_reason_for_either(real_router):
    router = real_router("home.en.yaml")
    text = "turn the counter light off but the reading lamp on"
    for tool in ("home.turn_on", "home.turn_off"):
        assert "opposite" in refused(router, text, tool, ["light.counter"])
    assert not refused(router, "counter light off", "home.turn_off", ["light.counter"])


def test_a_kind_of_thing_is_not_any_one_of_it(real_router):
    router = real_router("home.en.yaml")
    one, both = ["light.counter"], ["light.counter", "light.kitchen_ceiling"]
    assert "which of them" in refused(router, "kill the lights", "home.turn_off", one)
    assert "which of them" in refused(router, "kill the kitchen lights", "home.turn_off", one)
    assert not refused(router, "kill the kitchen lights", "home.turn_off", both)
    assert not refused(router, "kill the lights", "home.turn_off", both, area="kitchen")
    everywhere = [e.id for e in router.snapshot().entities if e.domain == "light"]
    assert "which of them" in refused(router, "kill the lights", "home.turn_off", everywhere)
    assert not refused(router, "kill all the lights", "home.turn_off", everywhere)


def test_when_and_by_how_much_are_no_values(real_router):
    router = real_router("home.en.yaml")
    call = ToolCall(tool="lights.set", arguments={"entities": ["light.counter"], "brightness": 8})
    for text in ("counter light on at 8 pm", "counter light by 8 percent"):
        said = router.mentions(text, "en")
        tool = router._tools["lights.set"]
        assert why_not(call, tool, text, said, router.snapshot(), "", lexicon("en"))


def test_what_is_told_is_what_was_spoken_of(real_router):
    router = real_router("home.en.yaml")
    call = ToolCall(tool="alarms.list", arguments={})
    tool = router._tools["alarms.list"]
    for text, told in (("arm the security alarm", False), ("which alarms are set", True)):
        said = router.mentions(text, "en")
        why = why_not(call, tool, text, said, router.snapshot(), "", lexicon("en"))
        assert (not why) == told, why
