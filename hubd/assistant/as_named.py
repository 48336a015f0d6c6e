"""A decision with the timer, or the list, that its words name, or to tick off what was bought; no
timer where somebody is only asked to wait. Where it says how long people need it is asked whether a
timer is meant."""

from hubd.assistant.by_likeness.second_opinion import asked_about
from hubd.assistant.by_likeness.timer_names import timer_named
from hubd.assistant.decision import Decision
from hubd.assistant.follow_ups.named_ones import named_one
from hubd.assistant.ticked_off import ticked_off
from hubd.assistant.understanding.fill import TIMER
from hubd.assistant.understanding.moments import asks_for_a_moment, people_need
from hubd.assistant.understanding.people import people
from hubd.home.model import Snapshot


def as_named(decision: Decision, text: str, home: Snapshot) -> Decision:
    """The decision, of what ``text`` names."""
    if decision.tool == TIMER and asks_for_a_moment(text, decision.language):
        reason = "it asks somebody for a moment"
        return Decision(route="documents", reason=reason, language=decision.language)
    needed = people_need(text, decision.language, people(home, decision.language))
    if decision.tool == TIMER and needed:
        decision = asked_about(decision, text, home)
    return ticked_off(named_one(timer_named(decision, text), text), text)
