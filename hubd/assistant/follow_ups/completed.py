"""Half a command behind another one as the whole that it means: after a timer was set, "another
one for 25 minutes for the bread", "and one for twenty for the pie"; after an announcement that
speaks of a while, "and set a timer for that". How that is said is in completed.yaml.

What is a command by itself is left as it stands.
"""

import re
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.plain import plain
from plugins.lengths import LENGTH, lengths_in_digits
from plugins.numbers import digits

UNITS = {"en": ("minutes", "seconds"), "de": ("Minuten", "Sekunden"), "zh": ("分钟", "秒")}
"""What a bare number of a timer counts, in words."""
LASTS_IN = ("hours", "minutes", "seconds")
AN_HOUR, A_MINUTE = timedelta(hours=1), timedelta(minutes=1)
COUNTED, TOLD = "{unit}", "{told}"
SURELY_MINUTES = 10
"""So many are no hours, even behind a timer of hours."""


class _Rule(NamedTuple):
    after: tuple[str, ...]
    said: re.Pattern[str]
    means: str


def completed(text: str, last: Decision | None) -> str:
    """The whole command that ``text`` means behind ``last``; else as it stands."""
    if last is None or last.tool is None:
        return text
    said = digits(plain(text), last.language)
    for rule in _rules().get(last.language, ()):
        if last.tool.startswith(rule.after) and (found := rule.said.fullmatch(said)):
            groups = {name: part or "" for name, part in found.groupdict().items()}
            if TOLD in rule.means and not (groups := {"told": _length_told(last)})["told"]:
                continue
            if COUNTED in rule.means and "unit" not in groups:
                groups["unit"] = _unit(last, groups["number"])
            if groups.get("unit", COUNTED):
                return " ".join(rule.means.format(**groups).split())
    return text


def _unit(last: Decision, number: str) -> str:
    """What the number of another timer counts, in words: minutes, or seconds behind one of seconds;
    empty where it may be hours."""
    given = last.call.arguments if last.call else {}
    length = timedelta(**{unit: float(given[unit]) for unit in LASTS_IN if given.get(unit)})
    if length >= AN_HOUR and int(number) < SURELY_MINUTES:
        return ""
    minutes, seconds = UNITS[last.language]
    return seconds if timedelta() < length < A_MINUTE else minutes


def _length_told(last: Decision) -> str:
    """The one length that what was done last speaks of: "dinner is in ten minutes"; else empty."""
    given = last.call.arguments.values() if last.call else ()
    said = lengths_in_digits(" ".join(map(str, given)), last.language)
    told = list(re.finditer(LENGTH, said))
    return told[0][0] if len(told) == 1 else ""


@cache
def _rules() -> dict[str, list[_Rule]]:
    read = texts_in(Path(__file__).with_suffix(".yaml"))
    return {
        language: [
            _Rule(tuple(one["after"].split()), re.compile(one["said"]), one["means"])
            for one in rules
        ]
        for language, rules in read.items()
    }
