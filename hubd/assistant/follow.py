"""Utterances that only make sense after another: "and the bedroom?", "turn it off again", "40%"."""

import re

from hubd.assistant import words
from hubd.assistant.compose import SIMPLE, STEPPED, STEPS, VALUED
from hubd.assistant.lexicon import lexicon
from hubd.assistant.route import Decision, Router
from hubd.assistant.targets import Targets, find
from hubd.home.model import Snapshot
from plugins.api import ToolCall

OPENINGS = re.compile(
    r"^(?:and|what about|how about|same (?:for|in)|also|now|und|und was ist mit|auch|et|et aussi|y|"
    r"y también|那|那么|还有)\s*(?:(?:in|im|for|for the|dans|en|in the|in der)\s)?\s*"
)
ENDINGS = re.compile(r"\s*(?:too|as well|again|please|auch|aussi|también|呢|也)$")
PRONOUNS = re.compile(
    r"(?<!\w)(?:it|them|that|those|this|es|sie|ihn|le|la|les|lo|las|los)(?!\w)|它们?|这个|那个"
)


def names_more(decision: Decision) -> bool:
    """Whether a decision rests on the name of a thing or a place: then it continues nothing."""
    return decision.tool is not None and bool({"name", "area", "floor"} & set(decision.arguments))


def follow(router: Router, text: str, last: Decision, snapshot: Snapshot) -> Decision | None:
    """What ``text`` asks for after ``last``; ``None`` where it does not continue it."""
    if last.tool is None or last.call is None or not last.entities:
        return None
    known = lexicon(last.language)
    said = ENDINGS.sub("", OPENINGS.sub("", known.stripped(text)))
    said = " ".join(PRONOUNS.sub(" ", said).split())
    if not said or known.negates(said) or known.asks(said):
        return None
    reading = words.read(said, known, router.phrases(last.language))
    if reading is None or reading.everything:
        return None
    domains = {entity_id.partition(".")[0] for entity_id in last.entities}
    if reading.names or reading.areas or reading.floors:
        if reading.actions or reading.numbers:
            return None
        slots = words.slots_of(reading)
        found = find(snapshot, slots, () if reading.names else domains)
        if not found.entities or not {e.domain for e in found.entities} <= domains:
            return None
        return _again(router, last, last.tool, last.call.arguments, found, slots)
    if reading.nouns or len(domains) != 1:
        return None
    domain = next(iter(domains))
    found = Targets(tuple(e for e in snapshot.entities if e.id in set(last.entities)))
    action = next(iter(reading.actions), "")
    if "degrees" in reading.units and domain != "climate":
        return None
    if reading.numbers and domain in VALUED:
        tool, argument, largest = VALUED[domain]
        value = reading.numbers[0]
        number = int(value) if value.is_integer() else value
        return (
            _again(router, last, tool, {argument: number}, found, {argument: number})
            if 0 <= value <= largest
            else None
        )
    domain_of_step, step = STEPS.get(action, (domain, action))
    if step in ("up", "down") and domain_of_step == domain and domain in STEPPED:
        return _again(router, last, STEPPED[domain], {"step": step}, found, {"step": step})
    tool_name = SIMPLE.get((action, domain))
    return _again(router, last, tool_name, {}, found, {}) if tool_name else None


def _again(
    router: Router,
    last: Decision,
    tool: str,
    arguments: dict[str, object],
    found: Targets,
    slots: dict[str, object],
) -> Decision | None:
    if not router.knows(tool) or not found.entities:
        return None
    decision = Decision(
        route="words",
        tool=tool,
        entities=found.ids,
        arguments=slots,
        score=0.85,
        reason=f"it continues {last.tool}",
        call=ToolCall(tool=tool, arguments={**arguments, "entities": found.ids}),
        language=last.language,
    )
    return router.asking(decision, found)
