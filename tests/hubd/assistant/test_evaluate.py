"""What counts as right, worded, wrong and opposite."""

from typing import Any

import pytest

from hubd.assistant.decision import Decision
from hubd.assistant.evaluate import Sample, judged, judged_parts
from plugins.api import ToolCall


def said(tool: str | None, arguments: dict[str, Any], *entities: str) -> Sample:
    return Sample("terse", "", tool, frozenset(entities), arguments)


def done(tool: str, arguments: dict[str, Any], *entities: str) -> Decision:
    call = ToolCall(tool=tool, arguments=arguments)
    return Decision(route="grammar", tool=tool, entities=list(entities), call=call)


@pytest.mark.parametrize(
    ("wanted", "decision", "outcome"),
    [
        (
            said("timers.start", {"minutes": 8, "name": "fish"}),
            done("timers.start", {"minutes": 8, "name": "fish"}),
            "right",
        ),
        (
            said("timers.start", {"minutes": 8, "name": "fish"}),
            done("timers.start", {"minutes": 8, "name": "fish fingers"}),
            "worded",
        ),
        (
            said("timers.start", {"minutes": 8, "name": "fish"}),
            done("timers.start", {"minutes": 80, "name": "fish fingers"}),
            "wrong",
        ),
        (
            said("timers.start", {"minutes": 8, "name": "fish"}),
            done("timers.start", {"minutes": 8}),
            "wrong",
        ),
        (
            said("lists.add", {"items": ["milk", "eggs"]}),
            done("lists.add", {"items": ["milk", "egg"]}),
            "worded",
        ),
        (
            said("lists.add", {"items": ["milk", "eggs"]}),
            done("lists.add", {"items": ["milk"]}),
            "wrong",
        ),
        (
            said("home.turn_on", {}, "light.hall"),
            done("home.turn_on", {}, "light.attic"),
            "wrong",
        ),
        (
            said("home.turn_on", {}, "light.hall"),
            done("home.turn_off", {}, "light.hall"),
            "opposite",
        ),
        (said(None, {}), done("home.turn_off", {}, "light.hall"), "wrong"),
        (said(None, {}), done("weather.now", {}), "right"),
        (said("timers.list", {"name": "roast"}), done("timers.list", {}), "none"),
    ],
)
def test_what_is_done_is_judged(wanted: Sample, decision: Decision, outcome: str) -> None:
    assert judged(wanted, decision) == outcome


def test_the_worst_of_several_parts_counts() -> None:
    wanted = said("announce.say", {"message": "tea is ready"})
    worded = done("announce.say", {"message": "that tea is ready"})
    wrong = done("home.turn_on", {}, "light.hall")
    assert judged_parts(wanted, [worded]) == "worded"
    assert judged_parts(wanted, [worded, wrong]) == "wrong"
