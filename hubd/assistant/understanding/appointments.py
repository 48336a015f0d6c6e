"""Which appointment is asked for: "when is the hair appointment" is not whatever is next."""

import re
from collections.abc import Mapping

_BESIDE: Mapping[str, tuple[str, ...]] = {
    "en": (
        r"(?P<what>[a-z'-]+(?: [a-z'-]+)?) (?:appointment|meeting|lesson)s?\b",
        r"(?:appointment|meeting|lesson)s? (?:with|at|for|to see) (?P<what>[a-z'-]+(?: [a-z'-]+)*?)"
        r"(?= (?:is|was|be|at|on|this|next)\b|$)",
        r"(?:when(?:'s| is| was)|(?:what|which) (?:day|date|time) is) "
        r"(?P<what>(?!(?:the |my |our )?(?:next|thing|event|entry))[\w' -]+?) (?:in|on) "
        r"(?:the|my|our) (?:family )?(?:calendar|diary)\b",
        r"(?:what|which) (?:day|date|time) (?P<what>[\w' -]+?) is (?:in|on) "
        r"(?:the|my|our) (?:family )?(?:calendar|diary)\b",
    ),
    "de": (
        r"(?P<what>\w{3,}?)[- ]?termin(?:en?|s)?\b",
        r"termin(?:en?|s)? (?:beim?|mit|in|im|für) (?P<what>\w+(?: \w+)*?)"
        r"(?= (?:ist|war|steht|habe?n?|hat|hab|am|um|diese\w?|nächste\w?)\b|$)",
        r"(?:wann|an welchem tag|um wie ?viel uhr) (?:ist|war|steht) "
        r"(?P<what>(?!(?:der |die |das )?(?:nächste|termin|eintrag))[\w -]+?) "
        r"(?:laut|im) (?:familien)?kalender\b",
        r"(?:wann|an welchem tag) (?P<what>[\w -]+?) (?:laut|im) (?:familien)?kalender "
        r"(?:ist|steht)\b",
    ),
    "zh": (r"(?P<what>[\u4e00-\u9fff]{1,12}?)(?:的)?(?:预约|约)",),
}
"""Where the name of an appointment stands, in plain text; the first that names one counts."""
_NAMELESS: Mapping[str, re.Pattern[str]] = {
    "en": re.compile(
        r"(?:a|an|any|the|that|this|my|our|his|her|their|your|is|are|was|when|what|what's|when's|"
        r"which|next|very|first|coming|upcoming|have|has|i|we|i've|we've|got|do|of|for|like|and|"
        r"to|there|about|other|some|one|more|mean|it's|necks|forgotten|early|late|\w+'s(?= next)|"
        r"calendar|diary|new|no|another)\b"
    ),
    "de": re.compile(
        r"(?:der|die|das|den|dem|mein\w*|unser\w*|sein\w*|ihr\w*|eine?[mnrs]?|nächste[mnrs]?|als|"
        r"nächst|wann|was|welche[rn]?|kalender|haupt)$|(?:der|die|das|den|dem|unser\w*|mein\w*)\b"
    ),
    "zh": re.compile(
        r"^(?:请问|我们?|咱们?|你|他|她|[和跟与同]|下一?个?|下次|最近|接下来|那个|这个|就是|挨着|的|"
        r"有|什么|还|是|一个|要|去|查|看|帮|给|一下)+|^.*(?:的(?=.)|接下来|下一?个|下次|最近|那个)"
    ),
}
"""What stands beside it and names none."""


_DAY_OR_ANY = re.compile(
    ".|(?:[今明昨]|大?[后前])天|(?:[这本上下]个?)?(?:周|星期|礼拜)[一二三四五六日天]?|[这下]个月|"
    "(?:我们?|家里|咱们?)?的?(?:(?:下一?|最近)(?:一?个|的|次)?)?(?:安排|日程|活动|事情?|日历)?"
)
"""What 日历上 … 是几号 asks of no event: 日历上今天是几号."""


def is_none(event: str, language: str) -> bool:
    """Whether ``event`` is a day, or whatever comes next, and no event's name."""
    return language == "zh" and bool(event) and _DAY_OR_ANY.fullmatch(event.strip()) is not None


def appointment_in(text: str, language: str) -> str:
    """The name of the appointment that ``text`` (plain) asks for: ``hair`` of "do I have a hair
    appointment coming up", „zahnarzt“ of „wann ist der nächste Zahnarzttermin“; empty: any."""
    for pattern in _BESIDE.get(language, ()):
        for found in re.finditer(pattern, text):
            if name := _named(found["what"], language):
                return name
    return ""


def _named(what: str, language: str) -> str:
    nameless = _NAMELESS[language]
    if language == "zh":
        return nameless.sub("", what)
    words = what.split()
    while words and nameless.match(" ".join(words)):
        words = words[1:]
    if language == "en":
        words = [re.sub(r"'s$", "", word) for word in words]
    return " ".join(words)
