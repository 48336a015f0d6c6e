"""What tools say, in the language they were asked in. Shared by the plugins; no plugin itself."""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path

import yaml

from plugins.agreement import ending, several
from plugins.spoken import day_of_year, weekday

FAST_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Every scalar is text, "on" and "no" too; the C loader where there is one is ten times as fast."""
MANY = 4
"""More names than this are counted instead of listed."""

COMMA = frozenset({"de", "fr", "es"})
"""Languages in which a comma stands before the tenths."""
_AND = {"en": " and ", "zh": "和", "de": " und ", "fr": " et ", "es": " y "}
_COMMA = {"zh": "、"}
_IS = {
    "en": ("is", "are"), "de": ("ist", "sind"), "fr": ("est", "sont"), "es": ("está", "están"),
}  # fmt: skip
_PLAYS = {"de": ("spielt", "spielen")}


_GERMAN_PLURALS = re.compile(
    r"(?:spots|lichter|lampen|leuchten|roll?l?läden|rollos|vorhänge|jalousien|markisen|türen|tore"
    r"|gardinen|boxen|heizungen|steckdosen|kerzen|leisten)$",
    re.IGNORECASE,
)
"""Names that mean several things."""
_PLAIN_MARKS = (": ", ".")
_MARKS = {"zh": ("：", "。"), "fr": (" : ", ".")}
"""Behind a name, and at the end."""
_QUOTED = {"de": "„{}“", "fr": "« {} »", "es": "«{}»"}


def say(
    language: str,
    key: str,
    names: Sequence[str] = (),
    value: object = "",
    *,
    count: bool = True,
    plural: bool | None = None,
) -> str:
    """The sentence ``key`` of speech.yaml, in English where the language has none.

    count: say how many names there are instead of more than ``MANY``
    plural: whether several things are meant, where the names do not tell
    """
    sentences = _sentences()[key]
    known = language if language in sentences else "en"
    shown = number(value, known) if isinstance(value, float) else str(value)
    listed, end = joined(known, names), ending(names, known)
    if count and len(names) > MANY:
        listed, end = _sentences()["many"][known].format(value=len(names)), several(known)
    more = plural if plural is not None else len(names) > 1 or _plural(known, listed)
    verbs = {"is": _IS.get(known, ("", "")), "plays": _PLAYS.get(known, ("", ""))}
    told = {name: forms[more] for name, forms in verbs.items()}
    told = {"names": listed, "value": shown, "end": end, **told}
    return sentences[known].format_map(told)


def said_of(key: str, device_class: str) -> str:
    """The key of what is said of such a thing, where that has words of its own: an awning is
    extended and not open."""
    of_class = f"{key}_{device_class}"
    return of_class if of_class in _sentences() else key


def state_word(state: str, language: str, device_class: str = "", names: Sequence[str] = ()) -> str:
    """How a thing is, in a word of the language; as it is where there is none.

    names: what the things are called, by which the word ends in French and Spanish
    """
    keys = (f"state_{device_class}_{state}", f"state_{state}")
    words = next((_sentences()[key] for key in keys if key in _sentences()), {})
    if (word := words.get(language)) is None:
        return state
    return word.format_map({"end": ending(names, language)})


def labelled(name: str, text: str, language: str) -> str:
    """What is told of a thing: ``Dentist: tomorrow 18:00``, ``看牙：明天 18:00``."""
    colon, _ = _MARKS.get(language, _PLAIN_MARKS)
    return f"{name}{colon}{text}"


def told_of(name: str, text: str, language: str) -> str:
    """The same as a sentence: ``Dentist: tomorrow 18:00.``, ``看牙：明天 18:00。``"""
    return labelled(name, text, language) + full_stop(language)


def capital(text: str) -> str:
    """``text`` with a capital in front, and the others as they are."""
    return f"{text[:1].upper()}{text[1:]}"


def full_stop(language: str) -> str:
    """What ends a sentence."""
    return _MARKS.get(language, _PLAIN_MARKS)[1]


def quoted(text: str, language: str) -> str:
    """``“turn on the lamp”``, „mach die Lampe an“."""
    return _QUOTED.get(language, "“{}”").format(text)


def color_word(color: str, language: str) -> str:
    """A color by its English name, in a word of the language; as it is where there is none."""
    words = _sentences().get(f"color_{color.replace(' ', '').lower()}", {})
    return words.get(language, color)


def joined(language: str, names: Sequence[str]) -> str:
    """``Lamp, TV and Fan``."""
    if len(names) < 2:
        return "".join(names)
    comma = _COMMA.get(language, ", ")
    return comma.join(names[:-1]) + _AND.get(language, " and ") + names[-1]


def day_name(day: date, today: date, language: str) -> str:
    """``today``, ``tomorrow``, ``Friday 4 December``, ``12月4日星期五``."""
    if day == today:
        return say(language, "today")
    if day == today + timedelta(days=1):
        return say(language, "tomorrow")
    name, date_ = weekday(day, language), day_of_year(day.month, day.day, language)
    return f"{date_}{name}" if language == "zh" else f"{name} {date_}"


def moment(when: datetime, now: datetime, language: str) -> str:
    """``tomorrow 18:00``; both in the household's zone."""
    return f"{day_name(when.date(), now.date(), language)} {when:%H:%M}"


@cache
def stop_words() -> frozenset[str]:
    """Words that say nothing of what is meant, of all languages: which one a question is in is not
    always known."""
    text = (Path(__file__).parent / "stop_words.yaml").read_text(encoding="utf-8")
    languages: dict[str, list[str]] = yaml.load(text, Loader=FAST_LOADER)
    return frozenset(word for words in languages.values() for word in words)


def _plural(language: str, name: str) -> bool:
    """Whether one name means several things: ``Garden Lights are on``, ``Spots sind an``."""
    if language == "de":
        return _GERMAN_PLURALS.search(name) is not None
    return language == "en" and name.endswith("s") and not name.endswith("ss")


def number(value: float, language: str) -> str:
    """``19.5``, in German, French and Spanish ``19,5``; to two places, below one to four digits."""
    text = f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) >= 1 else f"{value:.4g}"
    return text.replace(".", ",") if language in COMMA else text


@cache
def _sentences() -> dict[str, dict[str, str]]:
    text = (Path(__file__).parent / "speech.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=FAST_LOADER))
