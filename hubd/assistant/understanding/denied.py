"""A verb that is taken back in the same breath: "turn the telly off, oh, not off, just pause it",
„mach die Lampe aus, ach nicht aus, nur dunkler“, 把电视关，哦不是关，先暂停一下.

Words alone: what is meant instead is for others to see.
"""

import re
from collections.abc import Callable

from hubd.assistant.understanding.plain import NEVER

_DENIED = {
    "en": re.compile(
        r"(?<=\w)[,;.… -]+(?:(?:oh|um|uh|er|erm|ah|hmm|well|no|wait|sorry|actually|i mean),? )*"
        r"not (?P<verb>(?!on (?:\w+days?|the weekend|weekends)\b)[a-z]+)[,;.… ]+(?:but )?"
    ),
    "de": re.compile(
        r"(?<=\w)[,;.… -]+(?:(?:ach|äh|ähm|oh|nein|nee|ne|hm|halt|moment|also|doch)[, ]+)*"
        r"nicht (?P<verb>[^\W\d]+)[,;.… ]+(?:sondern )?"
    ),
    "zh": re.compile(
        r"[，,。… ]+(?:(?:[哦啊呃嗯诶欸唉]|哎呀?|不对?|等等|说错了)[，,]?)*(?:不是|不要|别)"
        r"(?P<verb>[^，,。… ]{1,2}?)[掉上了啊哦]*[，,。… ]+(?:而是|只?是)?"
    ),
}
_PARTICLE = re.compile("(?:an|aus|auf|zu)(?=[a-zäöü]{4})")
"""How a German verb begins that is parted where it commands."""


def verb_denied(text: str, language: str, is_verb: Callable[[str], bool]) -> tuple[str, str] | None:
    """What comes before and behind the denial of a verb that ``text`` (folded) said just before;
    ``None`` where there is none."""
    for found in _DENIED.get(language, NEVER).finditer(text):
        first, verb = text[: found.start()], found["verb"]
        if language == "de" and (parted := _PARTICLE.match(verb)):
            verb = parted[0]
        before = first if language == "zh" else re.findall(r"\w+", first)
        if verb in before and is_verb(verb):
            return first, text[found.end() :]
    return None
