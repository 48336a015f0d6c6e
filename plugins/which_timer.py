"""What is said of one of several timers: "give the soup another minute", "how long on the first
one?", „brich den mit zwanzig ab“, 汤的减十分钟. No plugin itself.

It is of a timer where one that there is has that name or length, or comes in that order; else it is
of something else. How it is said is in which_timer.yaml.
"""

import re
from collections.abc import Collection, Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import yaml

from plugins.lengths import LENGTH, length_of, lengths_in_digits
from plugins.numbers import digits

OPERATIONS = ("subtract", "add", "pause", "resume", "list", "rename", "cancel")
BY_LENGTH = frozenset({"subtract", "add"})
OF_THINGS = frozenset({"pause", "resume", "cancel"})
"""What is done to things of the house as well."""
LONGEST_NAME = 30
"""Characters of a new name."""
_STEM = 4
"""Letters in which two names are alike: "potato" and "potatoes"."""
_GERMAN_ENDS = re.compile(r"(?<=\w\w[rl])e[nrs]$|(?<=te)[nrs]$|(?<=nge)[nrs]$|(?<=rze)[nrs]$")
_CHINESE = re.compile("[\u4e00-\u9fff]")
_MORE_OF_IT = re.compile(r"\b(\w+) (more|extra) (minutes?|hours?|seconds?)\b")
"""What more there is of a while, inside of it: "five more minutes"."""
_BARE = re.compile(r"\d+")


class Kept(Protocol):
    """What is asked of a timer here."""

    id: str
    name: str
    duration_s: int

    @property
    def started(self) -> Any: ...
    @property
    def due(self) -> Any: ...


class Said(NamedTuple):
    """What shall become of a timer."""

    operation: str
    timer: str
    """Its id; ``latest`` where it was only called "it"."""
    length: timedelta | None = None
    called: str = ""
    """Its new name."""


def said_of_one(
    text: str, language: str, timers: Sequence[Kept], things: Collection[str]
) -> Said | None:
    """What ``text`` asks for of one of ``timers``; ``None`` where it speaks of none of them.

    things: what else is called by a name here, which comes first: "stop the washing machine"
    """
    known = _patterns().get(language)
    if known is None or not timers:
        return None
    for said in _without_reason(text, known):
        if found := _said(known["beside"].sub("", said).strip(), language, timers, things):
            return found
    asked = known["asks"].fullmatch(text.casefold().strip())
    which = known["beside"].sub("", _plain(text)).strip()
    one = _meant(which, language, timers, things) if asked else None
    return Said("list", one.id) if one else None


def _said(said: str, language: str, timers: Sequence[Kept], things: Collection[str]) -> Said | None:
    known = _patterns()[language]
    for operation in OPERATIONS:
        elsewhere = things if operation in OF_THINGS else ()
        counted = said
        if operation in BY_LENGTH:
            counted = lengths_in_digits(_MORE_OF_IT.sub(r"\1 \3 \2", said), language)
        for pattern in known[operation]:
            found = pattern.fullmatch(counted)
            given = found.groupdict() if found else {}
            length = length_of(given.get("length", ""), language)
            called = _name(given.get("called", ""))
            if not given or ("length" in given and length is None):
                continue
            one = _meant(given["which"], language, timers, elsewhere)
            if one and (called or operation != "rename"):
                return Said(operation, one.id, length, called)
    found = known["it"].fullmatch(said)
    if found and found["instead"] and (called := _name(found["called"])):
        return Said("rename", "latest", called=called)
    return None


def _without_reason(text: str, known: dict[str, Any]) -> list[str]:
    """The plain text, and without the reason that stands behind a comma."""
    said, lower = [_plain(text)], text.casefold()
    for comma in re.finditer(r"[,，]\s*", lower):
        if known["reason"].match(lower[comma.end() :]):
            said.append(_plain(lower[: comma.start()]))
    return said


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[,，.!?。！？]+(?=\s|$)|[，。！？]", " ", text.casefold()).split())


def _name(said: str) -> str:
    name = said.strip(" ,，“”\"'„")
    return name if 0 < len(name) <= LONGEST_NAME and not re.search(r"\d", name) else ""


def _meant(
    which: str, language: str, timers: Sequence[Kept], things: Collection[str]
) -> Kept | None:
    """The one timer that is meant; ``None`` where none or several may be."""
    known = _patterns()[language]
    found = known["which"].fullmatch(which)
    if found is None:
        return None
    name = found["name"].strip()
    ordered = sorted(timers, key=lambda one: (one.started, one.id))
    for candidate in dict.fromkeys((name, which, _GERMAN_ENDS.sub("", name))):
        if order := known["orders"].get(candidate) or known["orders"].get(f"{candidate}e"):
            return _in_order(order, ordered) if len(timers) > 1 else None
    bare = known["named"].fullmatch(name)
    name = bare["name"].strip() if bare else name
    if seconds := _seconds(name, language):
        alike = [one for one in timers if one.duration_s in seconds]
        return alike[0] if len(alike) == 1 else None
    if not found["plain"] and any(_is_part(name, thing) for thing in things):
        return None
    alike = [one for one in timers if one.name and is_called(one.name, name)]
    return alike[0] if len(alike) == 1 else None


def _in_order(order: str, ordered: Sequence[Kept]) -> Kept | None:
    if order == "last":
        return ordered[-1]
    if order in ("longest", "shortest"):
        by_end = sorted(ordered, key=lambda one: (one.due, one.id))
        return by_end[-1 if order == "longest" else 0]
    at = ("first", "second", "third").index(order)
    return ordered[at] if at < len(ordered) else None


def _seconds(name: str, language: str) -> set[int]:
    """How long it may have been set for, in seconds, where it is called by that: of a number alone
    minutes."""
    if (length := length_of(name.replace("-", " "), language)) is not None:
        return {round(length.total_seconds())}
    number = digits(name, language)
    return {int(number) * 60} if _BARE.fullmatch(number) else set()


def is_called(name: str, said: str) -> bool:
    """Whether a timer of that name is meant: the same word, the one in the plural, or a part."""
    one, two = name.casefold(), said.casefold()
    if _CHINESE.search(two):
        return two in one or one in two
    alike = len(min(one, two, key=len)) >= _STEM and (one.startswith(two) or two.startswith(one))
    if len(two.split()) > len(one.split()):
        return False  # "the pasta and turn off the lamp"
    return one == two or alike or f"{one}s" == two or f"{two}s" == one or two in one.split()


def _is_part(name: str, thing: str) -> bool:
    """Whether a thing of the house is called so, or may be: "washing" of a washing machine."""
    return name == thing or name in (thing if _CHINESE.search(name) else thing.split())


@cache
def _patterns() -> dict[str, dict[str, Any]]:
    text = (Path(__file__).parent / "which_timer.yaml").read_text(encoding="utf-8")
    read = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return {language: _compiled(known) for language, known in read.items()}


def _compiled(known: dict[str, Any]) -> dict[str, Any]:
    groups = {"{which}": "(?P<which>.+?)", "{length}": f"(?P<length>{LENGTH})"}
    groups["{called}"] = "(?P<called>.+?)"

    def pattern(said: str) -> re.Pattern[str]:
        for name, group in groups.items():
            said = said.replace(name, group)
        return re.compile(said)

    each = {one: [pattern(said) for said in known[one]] for one in OPERATIONS}
    single = {
        one: pattern(known[one]) for one in ("beside", "which", "named", "it", "reason", "asks")
    }
    return {**each, **single, "orders": known["orders"]}
