"""Days that are left out of what shall come again, in the same breath: "every evening at seven, but
not on Fridays", „täglich um sieben, außer sonntags“, 每天七点，周五除外.

What is left of the sentence is decided on, and its days are those that stay. Nothing is done where
what is left comes to something that does not come again.
"""

import re
from datetime import UTC, datetime

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.follow_ups.set_for_a_time import ALARM, EVENT, REMINDER, days_of_week
from hubd.assistant.for_later.later import LATER
from hubd.assistant.several import Part
from plugins.when import parse, repeat_in

_COMES_AGAIN = frozenset({LATER, ALARM, REMINDER, EVENT})
_SAYS_WHEN = ("every", "when", "what", "title")
"""Arguments that say on which days."""
_EN_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:the )?weekends?"
_EN_DAYS = rf"(?P<days>(?:{_EN_DAY})(?:(?:,? (?:and|or)|,) (?:on )?(?:{_EN_DAY}))*)"
_DE_DAY = r"(?:(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend|wochenende)(?:s|n)?"
_DE_DAYS = rf"(?:am |an |den )?(?P<days>{_DE_DAY}(?:(?: und| oder|,) (?:am |an )?{_DE_DAY})*)"
_ZH_DAYS = "(?P<days>(?:每?(?:周|星期|礼拜)[一二三四五六日天末](?:[、和跟，,])?)+)"
_LEFT_OUT = {
    "en": (
        re.compile(
            r",? (?:(?:but|just|only|though|and) )*"
            r"(?:not|never|except(?: for)?|apart from|other than|excluding|bar)(?: on| at)? "
            rf"{_EN_DAYS}(?: though)?\b",
            re.IGNORECASE,
        ),
        re.compile(rf"(?<=day|ing|ght),? but {_EN_DAYS}\b", re.IGNORECASE),
    ),
    "de": (
        re.compile(
            r",? (?:(?:aber|nur|bloß|und|jedoch) )*"
            rf"(?:nicht|au(?:ß|ss)er|ausgenommen|bis auf) {_DE_DAYS}\b",
            re.IGNORECASE,
        ),
        re.compile(
            rf",? (?:(?:aber|nur|bloß|und|jedoch) )*{_DE_DAYS} (?:(?:aber|allerdings) )?nicht\b",
            re.IGNORECASE,
        ),
    ),
    "zh": (
        re.compile(f"除了?{_ZH_DAYS}(?:以外|之外|外)?[，,]?"),
        re.compile(
            f"[，,]?(?:但是?|只是|不过|就)*{_ZH_DAYS}(?:就|的?时候|那天|都)*"
            "(?:除外|例外|(?:不用|不要|不必|别|不)(?:叫|提醒|开|响|关|来)?(?:我|了|它)*)(?=[，,。！]|$)"
        ),
    ),
}
_NAMES = {
    "en": ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun"),
    "de": ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"),
    "zh": ("一", "二", "三", "四", "五", "六", "日"),
}
_OTHERWISE = {"sonnabend": "samstag", "weekend": "satur sun", "wochenende": "samstag sonntag",
              "末": "六日", "天": "日"}  # fmt: skip
"""Other words for days."""


class Kept(msgspec.Struct, frozen=True):
    """A sentence without the days that it leaves out."""

    text: str
    out: frozenset[int]
    """Days of the week."""


def without_days(text: str, language: str) -> Kept | None:
    """``text`` without the days that it leaves out; ``None`` where it leaves out none of what comes
    on several."""
    for pattern in _LEFT_OUT.get(language, ()):
        if (found := pattern.search(text)) is None:
            continue
        rest = f"{text[: found.start()]}{text[found.end() :]}".strip(" ,，")
        out = _days_of(found["days"].casefold(), language)
        if out and len(_days_in(rest, language) - out) > 0 and _days_in(rest, language) & out:
            return Kept(rest, out)
    return None


def on_days_kept(part: Part, out: frozenset[int]) -> Part:
    """The part on what comes again, on the days that stay; declined where it comes once."""
    decision = part.decision
    call, language = decision.call, decision.language
    if call is None:
        return part
    changed: dict[str, object] = {}
    for name in _SAYS_WHEN if call.tool in _COMES_AGAIN else ():
        said = str(call.arguments.get(name) or "")
        found = repeat_in(said, language) if said else None
        if found and len(days := _days_in(found[0], language)) > 1:
            kept = f"{days_of_week(sorted(days - out), language)}{_part_of_day(found, language)}"
            changed[name] = f"{said[: found.start()]}{kept}{said[found.end() :]}"
            break
    if not changed:
        reason = "it leaves out days of what does not come again"
        nothing = Decision(route="documents", reason=reason, language=language, declined="declined")
        return msgspec.structs.replace(part, decision=nothing)
    call = msgspec.structs.replace(call, arguments={**call.arguments, **changed})
    arguments = {**decision.arguments, **changed}
    decision = msgspec.structs.replace(decision, call=call, arguments=arguments)
    return msgspec.structs.replace(part, decision=decision)


def _part_of_day(found: re.Match[str], language: str) -> str:
    """The part of the day that is said with the days, as it is said behind them."""
    said = (part for name, part in found.groupdict().items() if name.startswith("part"))
    part = next(filter(None, said), "").casefold().removesuffix("s")
    return f" {part}" if part and language == "en" else part


def _days_in(text: str, language: str) -> frozenset[int]:
    """The days of the week on which what ``text`` tells comes again."""
    found = repeat_in(text, language)
    return frozenset(parse(found[0], language, datetime.now(UTC)).repeat if found else ())


def _days_of(said: str, language: str) -> frozenset[int]:
    """The days of the week that are named."""
    for other, name in _OTHERWISE.items():
        said = said.replace(other, name)
    return frozenset(day for day, name in enumerate(_NAMES[language]) if name in said)
