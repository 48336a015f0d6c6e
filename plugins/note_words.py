"""What notes and questions about them say: the words that mean something, and a fact that is
another one by now ("no, it's 34 now"; how that is said is in note_words.yaml). Shared by plugins;
no plugin itself.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from plugins.days import day_of
from plugins.numbers import chinese_digits, digits
from plugins.speech import FAST_LOADER, stop_words
from plugins.spoken import date_of_year

_ASKING = frozenset({
    "so", "well", "again", "now", "wear", "wears", "keep", "keeps", "kept", "stored", "located",
    "find", "found", "live", "lives", "put", "have", "has", "had", "got", "need", "needs", "called",
    "last", "ever", "zuletzt", "wurde", "wurden", "时", "候", "次", "上", "过",
    "also", "na", "nochmal", "trägt", "hat", "haben", "liegt", "liegen", "steht", "stehen", "wohnt",
    "heisst", "lautet", "wie", "für", "for", "多", "少", "啥",
    "finde", "finden", "hängt", "braucht", "来", "着", "了", "放", "那", "呢",
})  # fmt: skip
"""Words that a question may have which the note has not."""
_IS = re.compile(
    r"\b(?:(?:is|are|was|were)(?: called)?|ist|sind|war|waren|liegt|liegen|steht|stehen|hängt|"
    r"heißt|lautet|beträgt|est|sont|es|son|está|están)\b|放在|现在是|是|叫|在",
    re.IGNORECASE,
)
"""What joins the thing that a note is about and what it says of it."""
SHORTEST_HEAD = 5
"""Letters of what the last part of a longer word may be."""
_MOVED = {
    "en": re.compile(
        r"(?:(?:i|we|he|she|\w+)(?:'ve|'s| have| has)? (?:just )?(?:moved|put) (?:the |our )?"
        r"(?P<thing>.+?) (?=in |on |under |behind |to )(?:to )?(?P<to>.+?)(?: now)?)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:我|我们|他|她|妈妈?|爸爸?)?(?:刚刚?)?把?(?P<thing>[^,，]{1,12}?)(?:已经|刚刚?)?"
        r"(?:挪|移|搬|换|改放|放)(?:到|在|进)(?P<to>[^,，]{1,20}?)(?:了|去了)"
    ),
}
"""That a thing is kept elsewhere by now."""
_AT = re.compile(r"(?:in|on|under|behind|at|with)\b|[\u4e00-\u9fff]", re.IGNORECASE)
_SURFACE = re.compile(
    r"\b(?:shelf|table|desk|hook|wall|sill|windowsill|counter|roof)$", re.IGNORECASE
)
_OF_ANOTHER = {
    "en": re.compile(r"and (?P<who>\w+(?:'s)?)(?:'s| is| has)? (?P<value>\S+)", re.IGNORECASE),
    "de": re.compile(
        r"und (?:der |die |bei )?(?P<who>\w+)(?: ist| hat)? (?P<value>\S+)", re.IGNORECASE
    ),
    "zh": re.compile(
        r"(?:还有|那|然后)?(?P<who>[^,，的]{1,4}?)的?是?(?P<value>[0-9一二三四五六七八九十两百]+)"
    ),
}
_NOTED = {
    "en": re.compile(r"\w+(?:'s)?(?P<middle> .+ )(?P<value>\S+)"),
    "de": re.compile(r"\w+(?P<middle> .+ )(?P<value>\S+)"),
    "zh": re.compile(r"[^,，的]{1,4}(?P<middle>的.+?是?)(?P<value>[0-9一二三四五六七八九十两百]+)"),
}
"""A fact of somebody that is a number, and the same of somebody else."""


@lru_cache(maxsize=1024)  # the times of one event all have its title
def words_of(text: str) -> frozenset[str]:
    """The words that mean something, in lower case; Chinese by characters."""
    words = re.findall(r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+", text.casefold())
    return frozenset(_singular(word) for word in words if word not in stop_words())


def is_about(note: str, question: str) -> bool:
    """Whether the note has every word of the question that says what is asked for."""
    asked = words_of(question)
    meant = asked - _ASKING or asked
    told = words_of(note)
    return bool(meant) and all(
        word in told
        or _ends_one(word, told)
        or _is_past(word, told)
        or _is_put_together(word, told)
        for word in meant
    )


def _is_put_together(word: str, told: frozenset[str]) -> bool:
    """Whether it is two words of the note in one: „Gästepasswort“."""
    return any(
        word.startswith(one) and re.sub("^[sn]", "", word[len(one) :]) in told
        for one in told
        if len(one) >= SHORTEST_HEAD and one != word
    )


def without_forgetting(question: str) -> str:
    """What is asked for where somebody says that they have forgotten it: "I can never remember
    where the key is" → "where the key is"."""
    for words in _words().values():
        if rest := words.forgotten.sub("", question, count=1):
            question = rest
    return question


def _ends_one(word: str, told: frozenset[str]) -> bool:
    """Whether a word of the note is a kind of it: the "Schuhgröße" is a "Größe"."""
    return len(word) >= SHORTEST_HEAD and any(one.endswith(word) for one in told)


def _is_past(word: str, told: frozenset[str]) -> bool:
    """Whether the note tells what somebody did: "when did we change the sheets"."""
    return f"{word}ed" in told or f"{word}d" in told


def subject_of(note: str) -> str:
    """What a note is about, and the word that joins it to what it says: "the key is"; empty where
    it says nothing of anything."""
    found = _IS.search(note)
    return note[: found.end()] if found and found.start() > 0 else ""


def said_now(text: str, language: str) -> str:
    """What a fact is by now: "no, it's 34 now" → "34"; empty where ``text`` does not say so."""
    said, words = text.strip(" .!。！"), _words().get(language, _Words())
    if (on := words.another_day.fullmatch(said)) and _is_day(on["day"], language):
        return on["day"]
    found = next((f for one in words.now if (f := one.fullmatch(said))), None)
    return found["now"] if found and not words.no_fact.fullmatch(found["now"]) else ""


_MOVED_TO = re.compile("^(?:挪|移|搬|换|改放|放)(?:到|在|进)")
"""What says that something was moved, where the note says that it is there."""


_AMOUNT = re.compile(
    r"(?P<number>\d+(?:[.,:]\d+)?|[零一二两三四五六七八九十百千半]+) ?(?P<unit>[^\W\d_]{1,12})?"
)
"""How much something is."""


def _with_amount(note: str, to: str) -> str:
    """The note with its one amount of that unit exchanged for ``to``; empty where ``to`` is no
    amount, or the note has none of it, or several."""
    said = _AMOUNT.fullmatch(to.strip())
    if said is None or not said["unit"]:
        return ""
    units = re.compile(rf"{_AMOUNT.pattern.partition(' ?')[0]} ?{re.escape(said['unit'])}(?![a-z])")
    there = list(units.finditer(note))
    if len(there) != 1:
        return ""
    return note[: there[0].start()] + to.strip() + note[there[0].end() :]


def changed(note: str, to: str, language: str) -> str:
    """The note with what it says by now: of another day or amount where ``to`` is one, else behind
    what it is about."""
    words = _words().get(language, _Words())
    if with_amount := _with_amount(note, to):
        return with_amount
    named = [found for day in words.days for found in day.finditer(note)]
    if len(named) == 1 and _is_day(to, language):
        (day,) = named
        return note[: day.start()] + to + note[day.end() :]
    if (held := words.held.fullmatch(to)) and (thing := _IS.sub("", subject_of(note)).strip()):
        who = next(filter(None, held.groups()))
        return words.holds.format(who=who, thing=thing)
    if language == "zh":
        return f"{subject_of(note)}{_MOVED_TO.sub('', to)}".strip()
    return f"{subject_of(note)} {to}".strip()


def as_of(note: str, noted: date, today: date, language: str) -> str:
    """The note as it reads on another day than it was noted on: "today" is that day."""
    words = _words().get(language, _Words())
    if noted == today:
        return note
    for said, ahead in words.days.items():
        day = words.on.format(date_of_year(noted + timedelta(days=ahead), language))
        note = said.sub(day, note)
    return note


def _is_day(said: str, language: str) -> bool:
    return day_of(said, language, date(2026, 1, 1), past=True) is not None


def moved_to(text: str, language: str) -> tuple[str, str] | None:
    """What somebody says is elsewhere now, and where: 钥匙挪到书房抽屉里了; ``None`` where
    ``text`` does not say so."""
    pattern = _MOVED.get(language)
    found = pattern.fullmatch(text.strip(" .!。！")) if pattern else None
    if found is None:
        return None
    at = "" if language == "zh" else "on " if _SURFACE.search(found["to"]) else "in "
    return found["thing"], found["to"] if _AT.match(found["to"]) else f"{at}{found['to']}"


def of_another(note: str, text: str, language: str) -> str:
    """The same of somebody else: after "Ann's shoe size is 34" the note "Tom's shoe size is 42" of
    "and Tom's 42"; empty where ``text`` is nothing like it."""
    pattern, noted = _OF_ANOTHER.get(language), _NOTED.get(language)
    found = pattern.fullmatch(text.strip(" .!。！")) if pattern else None
    before = noted.fullmatch(note.strip(" .!。！")) if noted else None
    if found is None or before is None:
        return ""
    values = (chinese_digits(v) if language == "zh" else digits(v.casefold(), language)
              for v in (found["value"], before["value"]))  # fmt: skip
    if not all(value.replace(".", "").isdigit() for value in values):
        return ""
    return f"{found['who']}{before['middle']}{found['value']}"


def _singular(word: str) -> str:
    """``keys`` and ``key`` are the same word; so are their likes in French and Spanish."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


class _Words(NamedTuple):
    """How a language says that a fact is another, or forgotten; see the file."""

    now: Sequence[re.Pattern[str]] = ()
    no_fact: re.Pattern[str] = re.compile("(?!)")
    forgotten: re.Pattern[str] = re.compile("(?!)")
    another_day: re.Pattern[str] = re.compile("(?!)")
    days: Mapping[re.Pattern[str], int] = MappingProxyType({})
    on: str = "{}"
    held: re.Pattern[str] = re.compile("(?!)")
    holds: str = ""


@cache
def _words() -> Mapping[str, _Words]:
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    return {language: _compiled(data) for language, data in yaml.load(text, FAST_LOADER).items()}


def _compiled(data: Mapping[str, Any]) -> _Words:
    def pattern(form: str) -> re.Pattern[str]:
        for name in ("untrue", "no_more", "moved", "doubt", "aside", "it", "is"):
            form = form.replace(f"{{{name}}}", data[name])
        return re.compile(form, re.IGNORECASE)

    now = [pattern(one) for one in data["now"]]
    edge = "" if data["on"] == "{}" else r"\b"
    days = {
        re.compile(f"{edge}(?:{said}){edge}"): int(ahead) for said, ahead in data["days"].items()
    }
    no_fact, forgotten = pattern(data["no_fact"]), pattern(data["forgotten"])
    another_day = pattern(data["another_day"])
    held, holds = pattern(data["held"]), str(data["holds"])
    return _Words(now, no_fact, forgotten, another_day, days, str(data["on"]), held, holds)
