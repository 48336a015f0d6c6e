"""Several timers in one sentence, each as a command of its own: "set three timers: five, ten and
twenty minutes", „stell zwei Timer, einen auf zehn Minuten und einen auf eine Stunde“.

Only where each is nothing but a length; decides and does nothing.
"""

import re

from hubd.assistant.follow_ups.completed import UNITS
from plugins.lengths import length_of, lengths_in_digits

_SEVERAL = {
    "en": re.compile(
        r"(?:(?:please|can you|could you|i need|i want) )*"
        r"(?:set|start|make|give me|put on)?(?: me)? ?"
        r"(?:two|three|four|five|2|3|4|5) timers?\b[:,]? ?(?:for |of |one |please )*(?P<rest>.+)"
    ),
    "de": re.compile(
        r"(?:bitte )*(?:stell|setz|start|mach|ich brauch)e?(?: mir| bitte| uns)* "
        r"(?:zwei|drei|vier|fünf|2|3|4|5) timer\b[:,]? ?(?:ein(?:en)? |auf |für |von |über |mit )*"
        r"(?P<rest>.+)"
    ),
    "zh": re.compile(
        r"(?:请|帮我|给我|麻烦)*(?:设|定|设置|开|来|弄)(?:上)?(?:两|二|三|四|五|[2-5])个?计时器?[:：,，]?"
        r"(?:分别|各)?(?:是|为|定)?(?P<rest>.+)"
    ),
}
_JOINTS = {
    "en": r",? and (?:the (?:other|third|last) |another )?|, ?",
    "de": r",? und |, ?",
    "zh": "[、，,]|和|还有|跟",
}
_LEADING = {
    "en": r"^(?:(?:one|a|the|for|of|at) )*(?=\d)",
    "de": r"^(?:(?:ein|einen|den|auf|für|von|über|mit) )*(?=\d)",
    "zh": "^(?:一个是?|另一个是?)?(?=\\d)",
}
_BARE = re.compile(r"\d+(?:\.\d+)?")
_UNIT = re.compile(r"[^\d.]+$")
_TIMER = {"en": "set a timer for {}", "de": "stell einen timer auf {}", "zh": "设一个{}的计时器"}


def each_timed(text: str, language: str) -> list[str]:
    """The command for each timer; empty where ``text`` does not set several by their lengths."""
    pattern = _SEVERAL.get(language)
    said = " ".join(text.casefold().strip(" .!。！").split())
    found = pattern.fullmatch(said) if pattern else None
    if found is None:
        return []
    rest = lengths_in_digits(found["rest"], language)
    each = [
        re.sub(_LEADING[language], "", one.strip()) for one in re.split(_JOINTS[language], rest)
    ]
    if (unit := _UNIT.search(each[-1])) is None:
        return []
    whole = [f"{one}{unit[0]}" if _BARE.fullmatch(one) else one for one in each]
    if len(whole) < 2 or any(length_of(one, language) is None for one in whole):
        return []
    return [_TIMER[language].format(_spoken(one, language)) for one in whole]


def _spoken(length: str, language: str) -> str:
    """A length in whole seconds or minutes, as the sentences know it."""
    span = length_of(length, language)
    assert span is not None
    seconds = round(span.total_seconds())
    minute, second = UNITS[language]
    between = "" if language == "zh" else " "
    amount, unit = (seconds // 60, minute) if seconds % 60 == 0 else (seconds, second)
    return f"{amount}{between}{unit}"
