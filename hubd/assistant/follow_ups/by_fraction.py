"""How far or how bright in parts of the whole: "not all the way, leave it a third open", 一半就行.

Of what was worked last, where it has a position or a brightness; decides and does nothing.
"""

import re

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.follow_ups.set_for_a_time import continuing
from hubd.assistant.understanding.compose import VALUED
from hubd.assistant.understanding.plain import NEVER, plain

_PART = {
    "en": re.compile(
        r"(?:(?:no|but|actually|oh|not (?:all|the whole) (?:the )?way|not (?:completely|quite)|"
        r"only|just|leave|make|put|set|open|have) |(?:it|them|that) |(?:to|at) )*"
        r"(?P<part>half ?way|half|(?:a|one) third|(?:a|one) quarter|two thirds|three quarters)"
        r"(?: of the way)?(?P<way> (?:open|up|closed|shut|down))?"
        r"(?: (?:is enough|will do|please|then))*"
    ),
    "de": re.compile(
        r"(?:(?:nein|aber|doch|nicht ganz|nur|bloß|erst|lass|mach|fahr|stell) |"
        r"(?:es|sie|ihn|das|die|den) |(?:auf|zu|bis) )*"
        r"(?P<part>halb|(?:zur )?hälfte|(?:einem|ein) drittel|(?:einem|ein) viertel|"
        r"zwei drittel|drei viertel|dreiviertel)(?: weit)?(?P<way> (?:offen|auf|zu|geschlossen))?"
        r"(?: (?:reicht|genügt|bitte|lassen))*"
    ),
    "zh": re.compile(
        r"(?:不对?|但是?|别(?:全|都)?(?:关|开|拉)(?:死|完|满|上)?|不用(?:全|都)?(?:关|开|拉)(?:完|满|上)?|"
        r"只要?|就|留|调到?|把它|它|[, ])*(?P<part>一半|三分之一|四分之一|三分之二|四分之三)"
        r"(?P<way>开着|开|关)?(?:就行|就好|就可以|就够|够|吧|了)*"
    ),
}
_PERCENT = {
    "half": 50, "half way": 50, "halfway": 50, "halb": 50, "hälfte": 50,
    "zur hälfte": 50, "一半": 50,
    "third": 33, "drittel": 33, "三分之一": 33, "quarter": 25, "viertel": 25, "四分之一": 25,
    "two thirds": 67, "zwei drittel": 67, "三分之二": 67,
    "three quarters": 75, "drei viertel": 75, "dreiviertel": 75, "四分之三": 75,
}  # fmt: skip
_CLOSED = frozenset({"closed", "shut", "down", "zu", "geschlossen", "关"})
OF_PARTS = frozenset({"cover", "light"})


def by_fraction(text: str, last: Decision) -> Decision | None:
    """What was worked last, set to a part of the whole; ``None`` where ``text`` says none. How far
    a cover is closed is the other part of how far it is open."""
    found = _PART.get(last.language, NEVER).fullmatch(plain(text))
    domains = {entity.partition(".")[0] for entity in last.entities}
    if found is None or last.call is None or len(domains) != 1 or not domains <= OF_PARTS:
        return None
    part = re.sub(r"^(?:a|one|ein(?:em)?) ", "", found["part"])
    way = (found["way"] or "").strip()
    if way and "light" in domains:
        return None
    percent = _PERCENT[part]
    if way in _CLOSED:
        percent = 100 - percent
    tool, argument, _ = VALUED[domains.pop()]
    things = list(last.entities)
    call = msgspec.structs.replace(
        last.call, tool=tool, arguments={argument: percent, "entities": things}
    )
    return msgspec.structs.replace(continuing(last, call), entities=things)
