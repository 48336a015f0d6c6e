"""Several alarms in one sentence, each as a command of its own: "set an alarm for six and one for
half past", „weck mich um sechs und noch mal um sieben“, 定一个六点的闹钟和一个六点半的.

Only where each is nothing but a time; one that says no day is on that of the one before. Decides
and does nothing.
"""

import re
from datetime import datetime

from hubd.assistant.follow_ups.same_hour import in_that_hour
from hubd.assistant.follow_ups.set_for_a_time import day_in_words, days_of_week
from hubd.assistant.understanding.lexicon import lexicon
from plugins.when import When, parse

_SEVERAL = {
    "en": re.compile(
        r"(?:(?:please|can you|could you|i need|i want) )*(?:"
        r"(?:(?:set|make|give|put)(?: me)?(?: on)? )?"
        r"(?:an alarm|alarms|(?:two|three|four|2|3|4) alarms)|wake (?:me|us)(?: up)?)"
        r"[,:]? (?P<rest>.+)"
    ),
    "de": re.compile(
        r"(?:(?:bitte|kannst du|ich brauche?) )*(?:"
        r"(?:(?:stell|setz|mach)e?(?: mir| uns| bitte)* )?"
        r"(?:eine?n? wecker|(?:zwei|drei|vier|2|3|4) wecker|wecker)|wecke? (?:mich|uns)"
        r"(?: bitte)?)"
        r"[,:]? (?P<rest>.+)"
    ),
    "zh": re.compile(
        r"(?:请|帮我|给我|麻烦)*(?:设|定|设置|弄|上)(?:上)?"
        r"(?:(?=一?个.+闹钟)|(?:两|二|三|四|[234])个闹钟[:：,，]?(?:分别|各)?(?:是|在|定在)?)(?P<rest>.+)"
    ),
}
_JOINTS = {
    "en": r",? and (?:also )?(?:again|another(?: one| alarm)?|(?:one|an alarm)(?: more)?)\b ?"
    r"|,? and (?=(?:at|for) )|, (?:one|another) |, ",
    "de": r",? und (?:auch )?(?:noch ?mal|noch eine[nr]?|eine[nr]?)(?: weiteren| anderen)?\b ?"
    r"|,? und (?=(?:um|auf) )|, eine[nr]? |, ",
    "zh": "(?:[、，,]|和|还有|跟|再(?:来|加|定|设))+",
}
_BESIDE = {
    "en": r"^(?:(?:one|for) )+",
    "de": r"^(?:(?:eine[nr]?|den|auf|für) )+",
    "zh": "^一?个|的?闹钟|的$",
}
"""What stands around a time and says nothing of it."""
_ALARM = {"en": "set an alarm for {}", "de": "stell einen Wecker auf {}", "zh": "设一个{}的闹钟"}


def each_woken(text: str, language: str, now: datetime) -> list[str]:
    """The command for each alarm; empty where ``text`` does not set several by their times."""
    pattern = _SEVERAL.get(language)
    said = " ".join(text.casefold().strip(" .!。！").split())
    found = pattern.fullmatch(said) if pattern else None
    if found is None:
        return []
    times: list[str] = []
    for one in re.split(_JOINTS[language], found["rest"]):
        said = re.sub(_BESIDE[language], "", one.strip())
        before = times[-1] if times else ""
        time = _time(said, before, language, now)
        if not time:
            return []
        times.append(time)
    return [_ALARM[language].format(one) for one in times] if len(times) > 1 else []


def _time(said: str, before: str, language: str, now: datetime) -> str:
    """The time that ``said`` is and nothing else, on the day of the one before; else empty."""
    earlier = parse(before, language, now) if before else When()
    said = in_that_hour(said, language, earlier.at) or said
    when = parse(said, language, now)
    if not when.said or when.rest:
        return ""
    if when.on or when.repeat or when.delay or not (earlier.on or earlier.repeat):
        return said
    day: str | None = None
    if earlier.repeat:
        day = days_of_week(earlier.repeat, language)
    elif earlier.on:
        day = day_in_words(before, language, earlier.on, now)
    if day is None:
        return ""
    return f"{day.strip()}{' ' if lexicon(language).spaces else ''}{said}".strip()
