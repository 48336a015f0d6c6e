"""Which way the volume is wrong, where it is said: what is "a bit loud" is never turned up, though
somebody "can't hear a word", and what "isn't very loud" is never turned down.
"""

import re
from collections.abc import Mapping
from typing import Literal

from hubd.assistant.understanding.plain import NEVER, plain

_LOUD: Mapping[str, re.Pattern[str]] = {
    "en": re.compile(
        r"(?P<no>n't|\bnot)?(?: all)?(?: \b(?:a (?:bit|little|touch|tad)|ever so|rather|quite|very|"
        r"pretty|fairly|really|awfully|terribly|too|so|that))+ (?:bloody )?loud\b(?! enough)"
    ),
    "de": re.compile(
        r"(?P<no>\bnicht)?(?: \b(?:ein|bisschen|etwas|ziemlich|recht|ganz|schön|arg|sehr|reichlich|"
        r"echt|zu|so|besonders|allzu))+ laut\b(?! genug)"
    ),
    "zh": re.compile(
        "(?P<no>不)?(?:有点儿?|太|好|挺|很|这么|那么|真|够)(?:响|吵|闹|大声)|声音(?:有点儿?|太|好|真)大"
    ),
}
"""What says that something is loud, or is not."""
_WANTED_LOUD: Mapping[str, re.Pattern[str]] = {
    "en": re.compile(r"\b(?:make|have|want|like|play|put|turn|crank)\b.* loud\b"),
    "de": re.compile(r"\b(?:mach|spiel|stell|dreh|will|hätt|möcht|dürf)\w*\b.* laut\b"),
    "zh": re.compile("(?:放|开|调|弄|搞)得?(?:很|响|大声)"),
}
"""What wants it so."""
_NOT = re.compile(r"n't\b|\b(?:not|nicht|never|nie)\b|[别不]")


def louder_or_softer(text: str, language: str) -> Literal["", "up", "down"]:
    """Which way the volume should go by what ``text`` says of it; empty where it says neither."""
    if _WANTED_LOUD.get(language, NEVER).search(plain(text)):
        return "down" if _NOT.search(plain(text)) else "up"
    said = _LOUD.get(language, NEVER).search(f" {plain(text)}")
    if said is None:
        return ""
    return "up" if said.groupdict().get("no") else "down"
