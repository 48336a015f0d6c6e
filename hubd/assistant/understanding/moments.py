"""What somebody asks of another for a moment: "coming, love, two seconds", „bin in fünf Minuten
da“, 等我两分钟. It has a duration and is no timer. What people need may be one, or only be told:
"the kids only need five minutes".
"""

import re
from collections.abc import Mapping, Sequence

from hubd.assistant.understanding.fluent import fluent
from hubd.assistant.understanding.plain import NEVER, plain
from plugins.numbers import digits

_MOMENT: Mapping[str, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:coming|on my way|hang on|hold on|bear with me|hang about|won't be (?:a|long)|"
        r"(?:be|is|are|am|i'm|we're|he's|she's|they're|back) (?:right |just |only )*"
        r"(?:there|back|with you|down|up|over|out|home|off|along|in|ready|done|late)(?! the)|"
        r"(?:be|back|off|ready|done|down|there|home|leaving|going) in)\b|"
        r"^(?:(?:oh|yes|yeah|okay|no|just|wait|only) )*[12] (?:seconds?|secs?)(?: please)?$"
    ),
    "de": re.compile(
        r"\b(?:komm(?:e|en|t)?(?: ja| schon| gleich| sofort)*|momentchen|moment(?: mal)?|"
        r"wart(?:e|et)?(?: mal| kurz)*|bin (?:gleich|sofort|schon|in)|sind (?:gleich|sofort|in)|"
        r"(?:wieder )?(?:da|zurück|daheim|zu hause|unten|oben|so weit|fertig))\b|"
        r"^(?:(?:ja|nur|noch|nein) )*(?:eine|[12]) (?:sekunden?|sek)(?: noch| bitte| mal)*$"
    ),
    "zh": re.compile(
        "等(?:我|一?下|会儿?|等)|马上|就[到来好走去]|这就|[到来]了|回来|快到|出发|我[过去来]|^[一二两12]秒钟?$"
    ),
}
"""What is said so to those who wait."""
_NO_MOMENT: Mapping[str, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:timer|time|set|start|count|begin|for|remind|tell|let|wake|call|ping|needs?|cook\w*|bake|"
        r"boil|oven|hob|pan)\b"
    ),
    "de": re.compile(
        r"\b\w*(?:timer|wecker|eieruhr)\b|\b(?:stell|setz|start|stopp|mach|zähl|für|bescheid|"
        r"erinner|weck|sag|gib|ruf|brauch|koch|back|ofen|herd|topf|pfanne)\w*\b"
    ),
    "zh": re.compile("计时|定时|倒计|倒数|提醒|[叫喊通]|[定设]|煮|蒸|烤|炖|泡|锅|再?[加来]个"),
}
"""What makes a timer of it all the same: "hang on, five minutes for the pasta"."""
_PEOPLE_NEED: Mapping[str, str] = {
    "en": r"(?:(?:the|my|our|your|both) )*(?:{who}|bab(?:y|ies)|toddlers?|twins|guests?|visitors?|"
    r"dogs?|cats?|people|he|she|we|i) (?:(?:only|just|still|all|really|probably) )*"
    r"(?:needs?|wants?|takes?|requires?) (?:(?:only|just|about|another) )*"
    r"\d+ (?:minutes?|hours?|seconds?)(?: more| longer| yet| please)*",
    "de": r"(?:(?:der|die|das|den|meine?|unsere?) )?(?:{who}|baby|zwillinge|gäste|besuch|hund|"
    r"hunde|katze|wir|ich) brauch(?:t|en|e)? (?:(?:nur|bloß|noch|so|etwa|ja|halt) )*"
    r"\d+ (?:minuten?|stunden?|sekunden?)(?: noch| bitte)*",
    "zh": "(?:{who}|孩子们?|宝宝|客人|他们?|她们?|我们?|咱们)(?:只|还|就|再|大概)*(?:需要|要|得|用)"
    r"(?:再|大概)?\d+个?(?:分钟|小时|秒钟?)(?:就行|就好|就够)?了?",
}
"""What somebody needs, who is on no stove."""


def people_need(text: str, language: str, here: Sequence[str]) -> bool:
    """Whether ``text`` only says how long people need; here: how those of the house are called."""
    form = _PEOPLE_NEED.get(language)
    said = digits(plain(fluent(text, language)), language)
    who = "|".join(map(re.escape, here)) or "(?!)"
    return form is not None and re.fullmatch(form.format(who=who), said) is not None


def asks_for_a_moment(text: str, language: str) -> bool:
    """Whether ``text`` asks somebody else for a moment, and nothing of the house."""
    said = digits(plain(fluent(text, language)), language)
    if _NO_MOMENT.get(language, NEVER).search(said):
        return False
    return _MOMENT.get(language, NEVER).search(said) is not None
