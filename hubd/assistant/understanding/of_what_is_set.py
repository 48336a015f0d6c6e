"""What is said of something that is set already, to end or to move it: of „der Wecker um sieben,
den lösch mal“ and 七点的闹钟，改成八点 none is set for seven.
"""

import re

from hubd.assistant.understanding.plain import NEVER, plain

_ENDS = {
    "en": (
        r"\b(?:cancel|delete|remove|scrap|drop|skip|kill)"
        r"(?: (?:it|that|this|them|those)(?: one)?)?$|"
        r"\b(?:call|turn|switch|knock|leave) (?:it|that|this) off$|"
        r"\b(?:don't|do not|won't) need (?:it|that|one|this)\b(?: (?:any ?more|now|then))?$|"
        r"\b(?:move|push|put|change|make) (?:it|that|this)(?: one)? (?:to|back|forward)\b"
    ),
    "de": (
        r"\b(?:lösch\w*|streich\w*|stornier\w*|abbrechen|absagen|ausmachen|ausschalten)$|"
        r"\b(?:den|die|das|ihn|sie|es) (?:lösch|streich|stornier|verschieb|verleg)\w*\b|"
        r"\bbrauch\w*(?: (?:ich|wir|man|ihn|sie|es|den|die|das))* (?:doch )?nicht(?: mehr)?$|"
        r"\b(?:sag|brich|mach|schalt|stell)e? (?:ihn|sie|es|den|die|das)(?: \w+)? (?:ab|aus)$|"
        r"\b(?:kann|können) (?:weg|raus)$"
    ),
    "zh": (
        "(?:取消|删[了掉除]?|去掉|不用[了响]*|不要[了响]+|关[了掉]|停[了掉]|算了)[吧了呀啊]*$|"
        "改[成到为]|挪[到成]|调[到成]|推迟|提前"
    ),
}
_POLITE = {
    "en": r"(?: (?:please|then|now|again|thanks|for me|will you|would you))+$",
    "de": r"(?: (?:bitte|mal|wieder|dann|doch|einfach|danke|ja|für mich))+$",
}
_PATTERNS = {tag: re.compile(pattern) for tag, pattern in _ENDS.items()}


def is_of_what_is_set(text: str, language: str) -> bool:
    """Whether ``text`` says to end or to move what it is about."""
    said = plain(text)
    said = re.sub(_POLITE.get(language, NEVER.pattern), "", said)
    return _PATTERNS.get(language, NEVER).search(said) is not None
