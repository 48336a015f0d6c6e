"""A sentence with its last number, time or color exchanged for one that corrects it."""

import re

from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.values import NEVER, PART_BEHIND, PART_OF_DAY, VALUE
from plugins.numbers import digits

_LINK = re.compile(
    r"^(?:还是|是|先|只要?|改成|换成|改|换|"
    r"(?:only|just|nur|bloß|erst ?mal|to|at|in(?= \d)|for|um|lieber|rather|doch|auf|für|bei|"
    r"sagen wir|make (?:it|that)|i mean|"
    r"ich meine|give (?:me|us|it)|(?:let's )?say|better) )+"
)
_ENOUGH = re.compile(
    r"(?: (?:(?:is|will be|should be) (?:enough|fine|plenty)|will do|(?:reicht|genügt|tut'?s)"
    r"(?: auch| mir| völlig| schon)*)|[就也]?(?:够了?|行了?|可以了?|好了?))$"
)
"""What is said of a value that is settled for."""
_IS_SO = re.compile(r" (?:sein|machen|haben|werden|bitte)$")
_PARTS_OF_AN_HOUR = (
    (re.compile(r"\b(?:einer? )?dreiviertelstunde\b"), "45 minuten"),
    (re.compile(r"\b(?:einer? )?viertelstunde\b"), "15 minuten"),
    (re.compile(r"\b(?:einer? )?halben? stunde\b"), "30 minuten"),
    (re.compile(r"\ba quarter of an hour\b"), "15 minutes"),
    (re.compile(r"\b(?:half an|a half) hour\b"), "30 minutes"),
    (re.compile("一刻钟"), "15分钟"),
    (re.compile("半个?小时"), "30分钟"),
)
"""How long something is said to take with no number."""


def bare_value(said: str) -> str:
    """``said`` without what links it to what it corrects, and that it will do: "make it forty"."""
    return _ENOUGH.sub("", _LINK.sub("", said))


def with_value(first: str, instead: str, known: Lexicon) -> str:
    """``first`` with its last number, time or color exchanged: "to forty" and "fifty percent" are
    "to fifty percent"; empty where ``instead`` begins with none."""
    before, after = digits(plain(first), known.language), digits(plain(instead), known.language)
    for words, minutes in _PARTS_OF_AN_HOUR:
        after = words.sub(minutes, after)
        before = words.sub(minutes, before) if known.language == "de" else before
    after = bare_value(known.stripped(after))
    if not known.spaces:
        after = re.sub("[吧啊呀]$", "", after)
    pattern = VALUE.get(known.language, VALUE["en"])
    of_day = PART_OF_DAY.get(known.language, NEVER)
    numbers = list(re.finditer(pattern, before))
    value = re.match(f"(?P<of_day>{of_day})?{pattern}", after)
    if not numbers or value is None:
        return _with_color(before, after, known)
    last = numbers[-1]
    whole = value.end() == len(after)
    unit = before[last.end("number") :] if whole and not value["unit"] else ""
    if whole and value["unit"]:
        unit = before[last.end() :]
    if not whole and last["unit"] and not value["unit"]:  # "…, no, in thirty, to feed the cat"
        said, left = after[: value.end("number")], after[value.end("number") :]
        after = said + before[last.end("number") : last.end()] + left
    behind = PART_BEHIND.get(known.language, NEVER)
    part = re.fullmatch(behind, before[last.end() :])
    if not whole and part and not re.match(behind, after[value.end() :]):
        after = after[: value.end()] + part[0] + after[value.end() :]
    start = last.start()
    if value["of_day"]:
        start = len(re.sub(f"{of_day}$", "", before[:start]))
    return before[:start] + after + unit


def _with_color(first: str, instead: str, known: Lexicon) -> str:
    if not known.colors_in(first):
        first = known.fixed(first)  # 红的 is 红色的
    instead = _IS_SO.sub("", instead) if known.language == "de" else instead
    said, meant = known.colors_in(first), known.colors_in(instead)
    if not said or [color[0] for color in meant] != [re.sub("的?[吧啊]?$", "", instead)]:
        return ""
    rest = re.sub("^的", "", first[said[-1].end() :])
    return first[: said[-1].start()] + instead + re.sub(r"^ (?:or|oder)$", "", rest)
