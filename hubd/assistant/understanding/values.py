"""How a value is said, over digits: a number with its unit, a time of day, how long.

Language → pattern; the groups ``number`` and ``unit`` are its parts.
"""

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
NEVER = "(?!)"
"""The pattern of nothing."""
