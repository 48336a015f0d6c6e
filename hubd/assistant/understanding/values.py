"""How a value is said, over digits: a number with its unit, a time of day, how long.

Language → pattern; the groups ``number`` and ``unit`` are its parts.
"""

import re

VALUE = {
    "en": r"(?P<number>(?:half (?:past )?|(?:quarter|\d+(?: minutes)?) (?:past|to) )?"
    r"\d+(?:[:.]\d+|(?<!\d\d) [0-5]\d(?!\d))?)"
    r"(?P<unit> ?(?:%|percent|degrees|hours?|minutes?|seconds?|o'clock|am|pm|a\.m|p\.m)(?!\w))?"
    r"(?: (?:and )?\d+ (?:minutes?|seconds?))?",
    "de": r"(?P<number>(?:halb |dreiviertel |viertel |(?:viertel|\d+(?: minuten)?) (?:nach|vor) )?"
    r"\d+(?:[:.,]\d+)?)"
    r"(?P<unit> ?(?:%|prozent|grad|stunden?|minuten?|sekunden?|uhr(?: \d+)?)(?!\w))?",
    "zh": r"(?:百分之)?(?P<number>\d+(?:[.:]\d+)?)"
    r"(?P<unit>个?半?小时|分钟|秒钟?|点半|点\d+分|点|度|%)?",
    "fr": r"(?P<number>\d+(?:[:,.]\d+)?|une(?= (?:heure|minute))|(?<!après-)(?:midi|minuit))"
    r"(?P<unit> ?(?:%|pour ?cent|degrés?|minutes?|secondes?|h(?: ?\d\d)?|heures?"
    r"(?: \d+(?: minutes?)?)?)(?!\w))?(?: (?:et (?:demie?|quart|\d+)|moins (?:le quart|\d+)))?"
    r"(?: (?:du matin|du soir|de l'après-midi))?",
    "es": r"(?P<number>\d+(?:[:,.]\d+)?|(?<=la )una(?!\w)|una(?= (?:hora|minuto))|mediodía|"
    r"medianoche)(?: (?:y (?:media|cuarto|\d+)|menos (?:cuarto|\d+)))?"
    r"(?P<unit> ?(?:%|por ciento|grados?|minutos?|segundos?|horas?)(?!\w))?"
    r"(?: de la (?:mañana|tarde|noche))?",
}

PART_OF_DAY = {"zh": "(?:凌晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里)"}
"""What may stand before a time, where it is one with it."""
DAY_BEFORE = {
    "zh": "(?:(?:下个?)?(?:周|星期|礼拜)[一二三四五六日天]|今天|明天|大?后天|今晚|明晚|今早|明早|"
    f"[0-9]+月[0-9]+[日号])?的?{PART_OF_DAY['zh']}?"
}
"""The day, and the part of it, that may stand before a time."""
PART_BEHIND = {
    "en": r" (?:in the (?:morning|afternoon|evening)|at night|tonight|this (?:afternoon|evening))",
    "de": r" (?:morgens|früh|vormittags|mittags|nachmittags|abends|nachts|in der früh|"
    r"am (?:morgen|vormittag|mittag|nachmittag|abend))",
}
"""The same behind a time."""
NEVER = "(?!)"
"""The pattern of nothing."""

_MORE_OR_LESS = {
    "en": (
        r"\b(?:(?:a (?:bit|little|touch|tad)|slightly|much|a lot|even|way) )?{words}(?: please)?"
        r"\s*[,;:–…-]+\s*(?=(?:(?:to|at|say|about|make it|let's say|maybe) )*"
        r"[\w -]{{1,20}}?\s?(?:%|per ?cent\b)(?: please)?[.! ]*$)",
        {"brightness ": "(?:brighter|lighter|dimmer|darker)", "volume ": "(?:louder|quieter)"},
    ),
    "de": (
        r"\b(?:(?:ein|noch|etwas|bisschen|bissl|wenig|viel|deutlich) )*{words}(?: bitte)?"
        r"\s*[,;:–…-]+\s*(?=(?:(?:auf|so|etwa|sagen wir|vielleicht|mach) )*"
        r"(?!um )[\w-]{{1,25}}?\s?(?:%|prozent\b)(?: bitte)?[.! ]*$)",
        {"Helligkeit ": "(?:heller|dunkler)", "Lautstärke ": "(?:lauter|leiser)"},
    ),
    "zh": (
        "(?:再|稍微|稍)?(?:调|弄|开)?{words}(?:一?点儿?|一些|些)[，,。;；… ]+"
        "(?=(?:就|调|开|到|设|成|大概)*(?:百分之[^，。, ]{{1,4}}|[0-9]{{1,3}} ?%)"
        "[吧了就行好的。]*$)",
        {"亮度": "[亮暗]", "音量": "(?:大声|小声)"},
    ),
}
"""What says only whether it shall be more or less, before the value itself; and of what that is."""


def of_a_quality(text: str, language: str) -> str:
    """``text`` with what the value is of, where it says first whether it shall be more or less: "a
    bit darker, thirty percent" is a brightness of that. "Thirty percent darker" stays."""
    form, qualities = _MORE_OR_LESS.get(language, (NEVER, {}))
    for quality, words in qualities.items():
        text = re.sub(form.format(words=words), quality, text, count=1, flags=re.IGNORECASE)
    return text
