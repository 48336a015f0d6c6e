"""What is asked for where an hour lacks, and what an answer makes of what lacked it."""

import re
from datetime import UTC, datetime

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Pending
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.readings import TIMED
from plugins.moments import asked_when
from plugins.when import as_time, parse

OF_ANSWER = "it is about the last answer"
"""The reason of a decision that takes its words from an answer of the documents."""
_FOR = {"en": " for ", "de": " auf ", "zh": "，", "fr": " de ", "es": " de "}
_AT = {"en": "at ", "de": "um ", "fr": "à ", "es": "a las "}
_BESIDE = {
    "en": re.compile(
        r"\b(?:(?:right |just |straight )?(?:after|before|with) (?:breakfast|lunch|dinner|supper|"
        r"tea|bed|work|school)|so|then|let's say|say|please|around|about|maybe|perhaps|"
        r"i think|make it|would be (?:good|fine|great)|is (?:fine|good)|fine|good|ok(?:ay)?|"
        r"well|um|uh|then)\b[,.]?|,",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(?:(?:immer |gleich |direkt )?(?:nach|vor) (?:dem |der )?(?:frühstück|mittagessen|"
        r"abendessen|essen|arbeit|schule|schlafengehen)|also|dann|sagen wir|sag mal|bitte|ungefähr|"
        r"etwa|vielleicht|ich glaube|wäre gut|ist gut|passt|gut|ok(?:ay)?|na|so|ähm?)\b[,.]?|,",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"[早中午晚]?[饭餐]之?[前后](?:的时候)?|睡觉?之?前|起床之?后|[上下][班学]之?[前后]|就|那|吧|嗯|啊|呃|"
        r"大概|差不多|左右|好了|提醒我|叫我|[\s,，。]"
    ),
}
"""What an answer to "when?" may say besides, of which nothing is kept."""
_EVENING = {
    "en": (re.compile(r"\b(?:dinner|supper|bed)\b", re.IGNORECASE), r"\g<0> in the evening"),
    "de": (re.compile(r"abendessen|schlafengehen", re.IGNORECASE), r"\g<0> abends"),
    "zh": (re.compile("晚[饭餐]|睡"), r"晚上\g<0>"),
}
"""What is in the evening, and how an hour is said to be."""
_AT_HOUR = {
    "en": re.compile(r"\S+$"),
    "de": re.compile(r"\S+$"),
    "zh": re.compile(r"(?<!晚上)(?:[一二两三四五六七八九十]{1,3}|\d{1,2})[点:]"),
}
INSTEAD = "instead"
"""What is asked for with a question whether one that there is shall be changed."""
_ANOTHER = {
    "en": r"(?:no )?(?:(?:a|an|the) )?(?:second|another|new|extra)(?: one| alarm)?(?: please)?",
    "de": r"(?:nein )?(?:(?:noch )?eine?n? )?(?:zweiten|neuen|weiteren|anderen|noch einen|dazu)"
    r"(?: wecker)?(?: dazu)?(?: bitte)?",
    "zh": r"(?:不)?(?:再|另|新)(?:设|加|定|外)?(?:一)?个?(?:新的?)?(?:闹钟)?",
}
"""What wants one more."""
_ABOUT = re.compile(
    r"^(?:(?:oh|well|hm+|äh|ach|na|so|maybe|vielleicht|let's say|sagen wir(?: mal)?)[, ]+)*"
    r"(?:(?:at )?(?:about|around|roughly|say)|gegen|ungefähr um|ungefähr|etwa um|etwa|circa|ca\.?"
    r"|大概|大约|差不多)\s*|(?:左右|吧)$",
    re.IGNORECASE,
)
"""What says that a time is not meant to the minute."""
_BARE_HOUR = re.compile(r"[一二两三四五六七八九十]{1,3}|\d{1,2}")
"""An hour as it is answered in Chinese."""


def asked_hour(decision: Decision) -> str:
    """What is asked where a day is said and its hour is not; empty where something else lacks."""
    call = decision.call
    if decision.asks != "missing" or call is None or call.tool not in TIMED:
        return ""
    said = str(call.arguments.get("when") or call.arguments.get("what") or "")
    when = parse(said, decision.language, datetime.now(UTC))
    lacks_hour = not when.said and bool(when.on or when.repeat)
    return asked_when(when, decision.language) if lacks_hour else ""


def is_another(text: str, language: str) -> bool:
    """Whether ``text`` wants one more in place of a change."""
    return re.fullmatch(_ANOTHER.get(language, "(?!)"), plain(text)) is not None


def as_hour(pending: Pending, text: str) -> str:
    """``text``; where a time was asked for, that time without an "about", and an hour that is no
    time by itself in Chinese as one."""
    if pending.decision.tool not in TIMED:
        return text
    said = _ABOUT.sub("", text).strip() or text
    bare = pending.decision.language == "zh" and _BARE_HOUR.fullmatch(said.strip(" 。"))
    return f"{said}点" if bare else said


def at_that_hour(pending: Pending, text: str) -> Decision | None:
    """The decision for the days that were said, at the hour that is the answer; ``None`` where no
    days were said, or ``text`` is no hour."""
    decision, call = pending.decision, pending.decision.call
    of_answer = decision.reason == OF_ANSWER
    if call is None or pending.argument != "when" or not (call.arguments.get("when") or of_answer):
        return None
    joint = "" if decision.language == "zh" else link(call.tool, text, decision.language)
    said, before = text.strip(" .!。！"), call.arguments.get("when", "")
    when = f"{before}{joint}{said}" if before else said
    told = parse(when, decision.language, datetime.now(UTC))
    if of_answer and not told.on and (days := parse(said, decision.language, datetime.now(UTC))).on:
        when, told = f"{said} {before}".strip(), days
    if not (told.said or (of_answer and told.on)) or re.search(r"\w", told.rest):
        return None
    arguments = {**call.arguments, "when": when}
    call = msgspec.structs.replace(call, arguments=arguments)
    return msgspec.structs.replace(decision, asks=None, call=call, arguments=arguments)


def at_that_time(pending: Pending, text: str) -> Decision | None:
    """The decision at the time that is the answer, which may say why then: 早饭后，七点半吧;
    ``None`` where no time was asked for, or ``text`` says anything else."""
    decision, call = pending.decision, pending.decision.call
    if call is None or call.tool not in TIMED or pending.argument != "when":
        return None
    said, beside = text.strip(" .!。！"), _BESIDE.get(decision.language)
    if beside is None or call.arguments.get("when") or not beside.search(said):
        return None  # a time alone is joined with what was said
    between = " " if lexicon(decision.language).spaces else ""
    alone = " ".join(beside.sub(between, said).split())
    evening, in_the_evening = _EVENING[decision.language]
    if evening.search(said) and not parse(alone, decision.language, datetime.now(UTC)).exact:
        alone = _AT_HOUR[decision.language].sub(in_the_evening, alone, count=1)
    when = parse(alone, decision.language, datetime.now(UTC), awake=True)
    if not when.said or re.search(r"\w", when.rest):
        return None
    arguments = {**call.arguments, "when": alone}
    call = msgspec.structs.replace(call, arguments=arguments)
    return msgspec.structs.replace(decision, asks=None, call=call, arguments=arguments)


def at_a_time_instead(pending: Pending, text: str) -> Decision | None:
    """The reminder at the time that is the answer, where it was asked for whose coming home it
    waits: "okay, half five then"; ``None`` where ``text`` says no time alone."""
    decision, call, now = pending.decision, pending.decision.call, datetime.now(UTC)
    if call is None or pending.argument != "who":
        return None
    beside = _BESIDE.get(decision.language)
    between = " " if lexicon(decision.language).spaces else ""
    alone = " ".join((beside.sub(between, text) if beside else text).strip(" .!。！").split())
    task = parse(str(call.arguments.get("what", "")), decision.language, now).rest
    when = as_time(alone, decision.language, now)
    if not when or not task:
        return None
    arguments = {"what": task, "when": when}
    call = msgspec.structs.replace(call, arguments=arguments)
    return msgspec.structs.replace(decision, asks=None, call=call, arguments=arguments)


def link(tool: str, text: str, language: str) -> str:
    """What joins a command and what it lacked: "seven" and "seven thirty" are times only after
    "at"."""
    if tool == "timers.start":
        return _FOR.get(language, " ")
    at, now = _AT.get(language), datetime.now(UTC)
    if at and parse(f"{at}{text}", language, now).at and not parse(f"x {text}", language, now).said:
        return f" {at}"
    return " "
