"""Which timer or which list is meant, where a sentence names it and what was understood does not:
"the egg timer can go on running", „wie lang läuft denn der Bratentimer noch“, 面团的计时停一停.

Without its name a timer would be the latest one, and a list the one for the shopping. How they are
named is in named_ones.yaml.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from hubd.assistant.decision import Decision, is_open
from hubd.assistant.several import Part
from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.fluent import fluent
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.sounds import sound
from plugins.numbers import digits

LATEST = "latest"
"""What a timer is called of which only the kind is said."""
TIMERS = {
    "timers.cancel": "timer",
    "timers.pause": "timer",
    "timers.resume": "timer",
    "timers.add": "timer",
    "timers.subtract": "timer",
    "timers.list": "name",
}
"""Tools, and the argument that says which timer."""
LISTS = frozenset({"lists.add", "lists.show", "lists.remove", "lists.complete", "lists.clear"})
LIST, ASKED = "list_name", "asked"
_HOW_SET = frozenset({"of_hours", "of_minutes", "of_seconds", "area"})
"""Arguments that tell a timer by something else than its name."""


class _Words(msgspec.Struct, frozen=True):
    """How a language names them."""

    timers: list[str] = []
    lists: list[str] = []
    no_timer: frozenset[str] = frozenset()
    no_list: frozenset[str] = frozenset()
    stems: tuple[str, ...] = ()
    characters: tuple[str, ...] = ()
    whole: frozenset[str] = frozenset()
    pointing: tuple[str, ...] = ()


def named_one(decision: Decision, text: str) -> Decision:
    """The decision, with the timer or the list that ``text`` names where it has none."""
    call = decision.call
    if call is None or (words := _words().get(decision.language)) is None:
        return decision
    if (argument := TIMERS.get(call.tool)) and not _HOW_SET & call.arguments.keys():
        given = str(call.arguments.get(argument) or "")
        vague = given in ("", LATEST) or " timer " in plain(given)
        name = (_timer_in(text, decision.language) if vague else "") or given
        name = _bare(name, words.pointing)
        return _with(decision, argument, name) if name != given else decision
    if call.tool not in LISTS or call.arguments.get(ASKED):
        return decision
    given = str(call.arguments.get(LIST) or "")
    shopping = plain(given) in words.whole or _sounds_like_shopping(given, decision.language)
    name = "" if shopping else given or _list_in(text, decision.language)
    return _with(decision, LIST, name) if name != given else decision


def with_it_named_closer(parts: list[Part]) -> list[Part]:
    """The parts, or the timer alone where all that stands behind it says which one it is: „brich
    den Timer ab, also den für die Nudeln“, "cancel the timer, the one for the rice"."""
    timer, *rest = parts
    call = timer.decision.call
    if not rest or call is None or call.tool not in TIMERS:
        return parts
    if not all(is_open(part.decision) for part in rest):
        return parts
    closer, known = ", ".join(part.text for part in rest), lexicon(timer.decision.language)
    if known.commands(closer) or known.keeps(closer) or known.negates(closer):
        return parts
    whole = f"{timer.text}, {closer}"
    named = named_one(timer.decision, whole)
    return parts if named == timer.decision else [Part(text=whole, decision=named)]


def _timer_in(text: str, language: str) -> str:
    """The name of the one timer that ``text`` speaks of by a name; empty where there is none."""
    words = _words()[language]
    name = _only_one(text, language, words.timers)
    counted = any(character.isdigit() for character in digits(name, language))
    unnamed = bool(words.no_timer & set(name.split())) or name.startswith(words.stems)
    return "" if counted or unnamed else name


def _list_in(text: str, language: str) -> str:
    """The same of a list."""
    words = _words()[language]
    name = _only_one(text, language, words.lists)
    return "" if words.no_list & set(name.split()) else name


def _sounds_like_shopping(name: str, language: str) -> bool:
    """Whether the list that ``name`` was heard for is that for the shopping: 够物."""
    heard = sound(name, language) if language == "zh" else ""
    return bool(heard) and any(heard == sound(one, language) for one in _words()[language].no_list)


def _only_one(text: str, language: str, patterns: Sequence[str]) -> str:
    """What ``text`` names in the way of one of the patterns, if that is one and may be a name."""
    said = plain(fluent(text, language))
    names = {found for pattern in patterns for found in re.findall(pattern, said)}
    if len(names) != 1:
        return ""
    name = str(names.pop())
    no_name = any(part in name for part in _words()[language].characters)
    return "" if no_name or lexicon(language).commands(name) else name


def _bare(name: str, pointing: Sequence[str]) -> str:
    for ending in pointing:
        name = name.removesuffix(ending) or name
    return name


def _with(decision: Decision, argument: str, value: str) -> Decision:
    """The decision with that argument; without it where ``value`` is empty."""

    def changed(arguments: dict[str, object]) -> dict[str, object]:
        kept = {name: given for name, given in arguments.items() if name != argument}
        return {**kept, argument: value} if value else kept

    call = decision.call
    if call is not None:
        call = msgspec.structs.replace(call, arguments=changed(call.arguments))
    return msgspec.structs.replace(decision, call=call, arguments=changed(decision.arguments))


@cache
def _words() -> dict[str, _Words]:
    return msgspec.convert(texts_in(Path(__file__).with_suffix(".yaml")), dict[str, _Words])
