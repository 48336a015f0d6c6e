"""A step of so much more than now: "another degree", „gib noch zehn Prozent dazu“, 再高一度.

After something that has a value was worked; decides and does nothing. Which way it goes is said, or
is the way that it went before; where it is neither, nothing is done: "one more degree" is no value.
How it is said is in by_more.yaml.
"""

import re
from collections.abc import Sequence
from functools import cache, partial

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.set_for_a_time import continuing
from hubd.assistant.understanding.compose import changed_by
from hubd.assistant.understanding.data_files import words_beside
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import plain
from plugins.numbers import digits

_words = partial(words_beside, __file__)

OF_DEGREES = frozenset({"climate"})
OF_PERCENT = frozenset({"light", "media_player", "fan"})
POINTS = "个百分点"
"""Behind a number that is not told in digits before it."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")


def by_more(text: str, memory: Memory) -> Decision | None:
    """The step by which what was worked last shall go on; ``None`` where ``text`` says none."""
    last = memory.spoken_of
    if last is None or last.call is None or last.language not in _words():
        return None
    domains = {entity.partition(".")[0] for entity in last.entities}
    amount = _amount(text, last.language)
    if amount is None or len(domains) != 1:
        return None
    number, unit, said_way = amount
    domain = domains.pop()
    if domain not in (OF_DEGREES if unit == "degrees" else OF_PERCENT):
        return None
    way = said_way or _way_before(memory, last)
    changed = changed_by(domain, {way}, [number]) if way else None
    if changed is None:
        return _unclear(text, last.language)
    tool, arguments = changed
    call = msgspec.structs.replace(
        last.call, tool=tool, arguments={**arguments, "entities": list(last.entities)}
    )
    return msgspec.structs.replace(continuing(last, call), entities=list(last.entities))


def _amount(text: str, language: str) -> tuple[float, str, str] | None:
    """How much, of what, and which way (empty where that is not said); ``None`` where ``text`` says
    something else as well, or is no step."""
    said, words = plain(text).replace(POINTS, "%"), _words()[language]
    said = digits(said, language)
    numbers = _NUMBER.findall(said)
    if len(numbers) > 1 or said.endswith("?"):
        return None
    rest = _without(_NUMBER.sub(" ", said), words["beside"], language)
    found = {kind: _find(rest, words[kind], language) for kind in words}
    units = [unit for unit in ("degrees", "percent") if found[unit]]
    for kind in ("degrees", "percent", "more", "up", "down"):
        rest = _without(rest, words[kind], language)
    if rest.strip(" ,，") or len(units) != 1 or not found["more"]:
        return None
    up, down = bool(found["up"]), bool(found["down"])
    way = "" if up == down else "up" if up else "down"
    number = float(numbers[0].replace(",", ".")) if numbers else 1.0
    return number, units[0], way


def _find(said: str, words: Sequence[str], language: str) -> bool:
    return re.search(_any(tuple(words), language), said) is not None


def _without(said: str, words: Sequence[str], language: str) -> str:
    return re.sub(_any(tuple(words), language), " ", said)


@cache
def _any(words: tuple[str, ...], language: str) -> str:
    parted = r"(?<![\w'])(?:{})(?![\w'])" if lexicon(language).spaces else "(?:{})"
    return parted.format("|".join(sorted(words, key=len, reverse=True)))


def _way_before(memory: Memory, last: Decision) -> str:
    """Which way it went last: up or down, by a step or from what was undone; empty where that is
    not known."""
    assert last.call is not None
    if (step := last.call.arguments.get("step")) in ("up", "down"):
        return str(step)
    now = last.call.arguments.get("temperature")
    states = [one for call in memory.undo for one in call.arguments.get("states", ())]
    before = {one.get("temperature") for one in states if one.get("id") in last.entities}
    if now is None or len(before) != 1 or None in before:
        return ""
    then = float(before.pop())
    return "" if then == float(now) else "up" if float(now) > then else "down"


def _unclear(text: str, language: str) -> Decision:
    reason = f"{text}: which way it shall go is not plain"
    return Decision(route="documents", reason=reason, language=language, declined="declined")
