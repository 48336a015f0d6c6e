"""What a command says of when it shall be done, and what is left of it: "every evening at sunset".

Words alone: nothing is decided here.
"""

import re
from typing import NamedTuple

from hubd.assistant.understanding.clitics import apart
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.plain import NEVER, plain
from plugins.numbers import digits
from plugins.when import delays_in_minutes, repeat_in, sun_in

A_LITTLE = "1点"
"""调暗一点 is a bit dimmer, and not at one."""
_DAY = {
    "en": r"(?:today|tonight|tomorrow(?: morning| afternoon| evening| night)?|"
    r"this (?:morning|afternoon|evening)|in the (?:morning|afternoon|evening)),?",
    "de": r"(?:(?:heute|morgen|übermorgen)(?: früh| morgen| mittag| vormittag| nachmittag| abend|"
    r" nacht)?|(?:am )?(?:morgen|vormittag|nachmittag|abend)|morgens|abends|nachmittags|nachts),?",
    "fr": r"(?:(?:demain|après-demain)(?: (?:matin|après-midi|soir))?|aujourd'hui|"
    r"ce (?:soir|matin)|cet après-midi|cette nuit|"
    r"(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)"
    r"(?: prochain)?(?: (?:matin|après-midi|soir))?),?",
    "es": r"(?:(?:mañana|pasado mañana|hoy)(?: por la (?:mañana|tarde|noche))?|esta (?:noche|tarde|"
    r"mañana)|el (?:próximo )?(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)"
    r"(?: que viene)?(?: por la (?:mañana|tarde|noche))?),?",
}
_HOUR = r"(?:\d{1,2}(?:[:. ][0-5]\d)?|one|noon|midnight)"
_UHR = r"(?:\d{1,2}(?:[:.][0-5]\d)?(?: ?uhr(?: [0-5]?\d\b)?)?|eins|mittag|mitternacht)"
_HEURES = (
    r"(?:(?:midi|minuit|(?:\d{1,2}|une) ?h(?:eures?)?)(?: ?[0-5]\d(?! ?(?:%|pour ?cent|degrés?))|"
    r" et (?:demie?|quart|\d\d?)| moins (?:le quart|\d\d?))?|\d{1,2}[:h][0-5]\d)"
    r"(?: (?:pile|du matin|du soir|de l'après-midi|de la nuit))?"
)
_HORAS = (
    r"(?:las? (?:\d{1,2}|una)(?:[:.][0-5]\d| y (?:media|cuarto|\d\d?)| menos (?:cuarto|\d\d?)|"
    r" [0-5]\d(?! ?(?:%|por|grados?)))?(?: horas?| ?h\b)?(?: en punto)?|mediodía|medianoche)"
    r"(?: (?:de la (?:mañana|tarde|noche|madrugada)|del mediodía|[ap]\.? ?m\b\.?))?"
)
_FOR_A_WHILE = {
    "en": re.compile(
        r"(?P<verb>turn|switch|put|pop|stick|have) "
        r"(?:(?P<a>on|off) (?P<b>.+)|(?P<c>.+) (?P<d>on|off)) "
        r"(?:just )?for (?P<span>(?:half )?an hour|a minute|\d+ (?:second|minute|hour)s?)"
    ),
    "de": re.compile(
        r"(?P<verb>mach|mache|schalt|schalte|stell|stelle) (?P<c>.+) "
        r"für (?P<span>eine(?: halbe)? stunde|\d+ (?:sekunde|minute|stunde)n?) (?P<d>an|aus|ein)"
    ),
    "zh": re.compile(
        r"(?P<verb>打开|开启|开|关掉|关闭|关)(?P<thing>[^开关]{1,20}?)"
        r"(?P<span>(?:半|\d+)个?(?:小时|钟头|分钟|秒钟?))"
    ),
    "fr": re.compile(
        r"(?P<verb>allume|éteins|ouvre|ferme|mets en marche) (?P<thing>.+?) "
        r"(?:pendant|pour|durant) (?P<span>une demi[- ]heure|un quart d'heure|3 quarts d'heure|"
        r"(?:\d+|une) (?:seconde|minute|heure)s?(?: et demie)?)"
    ),
    "es": re.compile(
        r"(?P<verb>enciende|prende|apaga|abre|cierra) (?P<thing>.+?) (?:durante|por) "
        r"(?P<span>media hora|hora y media|un cuarto de hora|"
        r"(?:\d+|un|una) (?:segundo|minuto|hora)s?(?: y media)?)"
    ),
}
_UNDONE = {
    "开": "关掉", "打开": "关掉", "关": "打开",
    "allume": "éteins", "éteins": "allume", "ouvre": "ferme", "ferme": "ouvre",
    "mets en marche": "éteins", "enciende": "apaga", "prende": "apaga", "apaga": "enciende",
    "abre": "cierra", "cierra": "abre",
}  # fmt: skip
_AFTER = {"zh": "{}后", "fr": "dans {}", "es": "dentro de {}"}
_BACK = {"on": "off", "off": "on", "an": "aus", "ein": "aus", "aus": "an"}
_CLOCK = {
    "en": re.compile(
        rf"\b(?:{_DAY['en']} )?(?:"
        rf"(?:at|around) (?:half past |half |(?:quarter|\d\d?)(?: minutes)? (?:past|to) )?{_HOUR}"
        r"(?: ?(?:[ap]\.?m\b\.?|o'clock))?|\d{1,2}(?:[:. ][0-5]\d)? ?(?:[ap]\.?m\b\.?|o'clock)"
        rf")(?: (?:at night|on the dot|{_DAY['en']}))?(?!\w)(?! ?(?:%|percent|degrees?|per cent))"
    ),
    "de": re.compile(
        rf"\b(?:{_DAY['de']} )?(?:"
        rf"(?:um|gegen|ab) (?:halb |(?:viertel|\d\d?)(?: minuten)? (?:vor|nach) )?{_UHR}"
        r"|\d{1,2}(?:[:.][0-5]\d)? ?uhr(?: [0-5]?\d\b)?|(?:halb|viertel (?:vor|nach)) \d{1,2}"
        rf")(?: {_DAY['de']})?(?!\w)(?! ?(?:%|prozent|grad))"
    ),
    "zh": re.compile(
        r"(?:今天|明天|后天|明(?=[早晚]))?(?:今晚|早上|早晨|上午|中午|下午|晚上|傍晚|凌晨|半夜|夜里|早|晚)?"
        r"(?:\d{1,2}点(?!亮)(?:半|一刻|三刻|\d{1,2}分?|钟|整)?|\d{1,2}[:：][0-5]\d)(?:的?时候|时|，|,)?"
    ),
    "fr": re.compile(
        rf"(?<![\w'])(?:{_DAY['fr']} )?(?:(?:à|vers|dès) |(?=midi|minuit)(?<!après-)){_HEURES}"
        rf"(?: {_DAY['fr']})?(?!\w)(?! ?(?:%|pour ?cent|degrés?))"
    ),
    "es": re.compile(
        rf"(?<!\w)(?:{_DAY['es']} )?(?:por la (?:mañana|tarde|noche) )?(?:a|sobre|al) {_HORAS}"
        rf"(?: {_DAY['es']})?(?!\w)(?! ?(?:%|por ciento|grados?))"
    ),
}
"""Over plain text with its numbers in digits."""
_HYPHENED = re.compile(r"\b(\d{1,2})-([0-5]\d)\b")
"""A time of two numbers that are written together: "at six-thirty"."""
_DELAY = {
    "en": re.compile(r"\bin (?:(?:half )?an hour|\d+ (?:second|minute|hour)s?)\b"),
    "de": re.compile(r"\bin (?:einer(?: halben)? stunde|\d+ (?:sekunde|minute|stunde)n?)\b"),
    "zh": re.compile(
        r"(?P<before>再?过|等)?(?:半|\d+)个?(?:小时|钟头|分钟|秒钟?)(?(before)(?:之?后|以后)?再?|(?:之?后|以后)再?)"
    ),
    "fr": re.compile(
        r"\b(?:dans|d'ici) (?:une demi[- ]heure|un quart d'heure|3 quarts d'heure|"
        r"(?:\d+|une) (?:seconde|minute|heure)s?(?: et (?:demie|quart))?)\b"
    ),
    "es": re.compile(
        r"\b(?:en|dentro de) (?:media hora|hora y media|un cuarto de hora|3 cuartos de hora|"
        r"(?:\d+|un|una) (?:segundo|minuto|hora)s?(?: y (?:media|cuarto))?)\b"
    ),
}
_AWAITED = {
    "en": re.compile(
        r"^(?:\w+ ){0,6}?wait (?:for |another )?(?P<span>(?:about )?(?:[\w-]+ (?:minutes?|hours?)|"
        r"half an hour|an hour)),? (?:and then|then|and) ",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"^(?:\w+ ){0,4}?warte?n? (?:\w+ )??(?P<span>(?:[\w-]+ (?:minuten?|stunden?)|eine halbe "
        r"stunde)),? (?:und dann|dann|und) ",
        re.IGNORECASE,
    ),
}
_THEN = re.compile(r"\b(?:then|dann) ?(?=[\w ]*(?:[,.]|$))", re.IGNORECASE)
_DAY_ALONE = {
    "en": r"\b(?:today|tomorrow)\b",
    "de": r"\b(?:heute|morgen|übermorgen)\b",
    "zh": "今天|明天|后天",
    "fr": rf"\b{_DAY['fr']}(?!\w)",
    "es": rf"\b{_DAY['es']}(?!\w)",
}
_UNKNOWN_REPEAT = re.compile(
    r"\b(?:(?:every|each) (?:other|second|third|few|\d+|hour|minute|week|month|year)|"
    r"jede[nrms]? (?:zweite|dritte|\d|stunde|minute|woche|monat|jahr)|alle (?:\d+|paar)|monthly|"
    r"weekly|hourly|monatlich|stündlich|(?:chaque|tous les|toutes les) (?:\d|heure|minute|semaine|"
    r"mois|an)|un \w+ sur (?:2|3)|cada (?:\d|hora|minuto|semana|mes|año)|todos los (?:meses|años))|"
    r"每(?:隔|两|\d|半|月|年|个月|个?小时|个?钟头|分钟)"
)
"""What may not be done once: "every other day"."""
MOST_OF_A_TIME, MOST_CHARACTERS = 5, 8
"""Words that say when and nothing else, and characters in Chinese."""
_CLAUSES = re.compile(r"[,;，；、]\s*")
_HAS_HAPPENED = re.compile(
    "(?:黑|亮|下山|落山|日落|日出|升起来?|出来)了[，,]|"
    "[，,](?:天都?(?:黑|亮)|太阳都?(?:下山|落山|出来|升起来?))了[。！!啦呢]*$"
)
"""天黑了，把灯打开: it is dark already."""
_AND = re.compile(r"^\s*(?:and|und|et|y|然后|再)\s*(?:then |dann )?", re.IGNORECASE)
_VALUE = re.compile(
    r"\d ?(?:%|°|percent|per cent|degrees?|prozent|grad|度|pour ?cent|degrés?|por ciento|"
    r"grados?)|百分之|\b(?:to|auf) \d{1,3}$"
)
"""A value in the command itself, so that the number beside it is a time."""
_SAYS_A_TIME = re.compile(
    r"[ap]\.?m|o'clock|[:.]\d\d|noon|midnight|half|quarter|tonight|morning|afternoon|evening|night|"
    r"uhr|halb|viertel|mittag|mitternacht|abend|früh|nacht|[点:：]|\d ?h(?:eures?)?\b|midi|minuit|"
    r"matin|soir|\blas? (?:\d|una)|mañana|tarde|noche"
)

_JOINT = {
    "en": re.compile(r"\s*,?\s+(?:and then|then|and)\s+|\s*,\s+"),
    "de": re.compile(r"\s*,?\s+(?:und dann|dann|und)\s+|\s*,\s+"),
    "zh": re.compile(r"\s*(?:[，,；;。]|然后|并且|再)+\s*"),
    "fr": re.compile(r"\s*,?\s+(?:et puis|et ensuite|puis|et)(?! (?:demie?|quart|\d))\s+|\s*,\s+"),
    "es": re.compile(r"\s*,?\s+(?:y luego|y después|luego|y)(?! (?:media|cuarto|\d))\s+|\s*,\s+"),
}
_WORK = {
    "en": r"(?:turn|switch|put|open|close|shut|start|stop|lock|raise|lower|draw)",
    "de": r"(?:mach|schalt|stell|fahr|öffn|schließ|zieh|dreh|start)e?",
    "zh": r"(?:打开|开启|开|关掉|关上|关闭|关了|关|拉上|拉开|启动|停掉|停了|停)",
    "fr": r"(?:rallume|allume|éteins|rouvre|ouvre|referme|ferme|lève|monte|baisse|lance|arrête)",
    "es": r"(?:enciende|prende|apaga|abre|cierra|sube|baja|levanta|inicia|para)",
}
_WAY = {"en": "(?:on|off|up|down)", "de": "(?:an|aus|ein|zu|auf|hoch|rauf|runter|herunter)"}
_WORKED = {
    "en": re.compile(rf"{_WORK['en']}(?: {_WAY['en']})? (?P<thing>.+?)(?: {_WAY['en']})?"),
    "de": re.compile(rf"{_WORK['de']} (?P<thing>.+?)(?: {_WAY['de']})?"),
    "zh": re.compile(rf"把?(?:{_WORK['zh']})?(?P<thing>.+?)(?:{_WORK['zh']})?"),
    "fr": re.compile(rf"{_WORK['fr']} (?P<thing>.+)"),
    "es": re.compile(rf"{_WORK['es']} (?P<thing>.+)"),
}
"""A command, and what it works."""
_SAME = {
    "en": re.compile(
        rf"(?:(?P<verb>{_WORK['en']})(?: (?P<way>{_WAY['en']}))?)? ?(?:it|them|that|those)?"
        rf"(?: ?(?:back|again))* ?(?P<end>{_WAY['en']})?(?: again)?"
    ),
    "de": re.compile(
        rf"(?P<verb>{_WORK['de']})? ?(?:es|sie|ihn|das|die|den)? ?(?:dann )?(?:wieder ?)?"
        rf"(?P<end>{_WAY['de']})?"
    ),
    "zh": re.compile(rf"(?:再)?(?:把(?:它们?|他们))?再?(?P<verb>{_WORK['zh']})(?:它们?|他们)?"),
    "fr": re.compile(rf"(?P<verb>{_WORK['fr']}) (?:le|la|les)(?P<end>)"),
    "es": re.compile(rf"(?P<verb>{_WORK['es']}) l[aoe]s?(?P<end>)"),
}
"""What is done with the same thing: "turn them off", "off again"."""


class Parted(NamedTuple):
    """What was said, in its parts."""

    command: str
    every: str
    """On which days; empty: once."""
    when: str
    """`A_LITTLE` where several times are said."""


_TELLS_WHEN = re.compile(
    r"\b(?:is|are|it's|we're|starts?|begins?|leaves?|leaving|comes?|coming|arrives?|arriving|"
    r"ist|sind|beginnt|kommt|kommen|fahren|gehen|gibt es|gibt's)$|是$"
)
"""How a command ends whose message lacks when that is: "tell everyone dinner is"."""


def lacks_when(command: str) -> bool:
    """Whether the time behind ``command`` ends its message, and is none at which it is done."""
    return _TELLS_WHEN.search(plain(command)) is not None


def says_when_apart(text: str, known: Lexicon) -> bool:
    """Whether a clause of ``text`` says when and nothing else: "tonight, turn the dryer on"."""
    clauses = [plain(clause) for clause in _CLAUSES.split(text)]
    most = MOST_OF_A_TIME if known.spaces else MOST_CHARACTERS
    return len(clauses) > 1 and any(
        len(said.split() if known.spaces else said) <= most
        and known.times(digits(said, known.language))
        for said in clauses
    )


def each_parted(text: str, known: Lexicon) -> list[Parted]:
    """The same of commands that are joined."""
    joint = _JOINT.get(known.language)
    return [parted(one, known) for one in joint.split(text)] if joint else []


def knows_times(language: str) -> bool:
    """Whether commands for later are understood in a language."""
    return language in _CLOCK


def clocks_in(text: str, language: str) -> list[str]:
    """The times of day that ``text`` says, in the order in which they are said."""
    said = _in_digits(text, language)
    return [found[0].strip(" ,，") for found in _CLOCK[language].finditer(said)]


def _in_digits(text: str, language: str) -> str:
    """``text``, plain, with its numbers in digits and its times with a colon."""
    said = digits(delays_in_minutes(plain(text), language), language)
    return _HYPHENED.sub(r"\1:\2", said) if language == "en" else said


def has_happened(text: str) -> bool:
    """Whether what the sun does is told and not waited for."""
    return _HAS_HAPPENED.search(text) is not None


def is_awaited(text: str, language: str) -> bool:
    """Whether something shall be done after a wait: "wait ten minutes and turn it off"."""
    return _AWAITED.get(language, NEVER).search(text) is not None


def _not_awaited(text: str, language: str) -> str:
    """``text`` with its delay as one: "wait ten minutes and turn it off" is "in ten minutes"."""
    if not is_awaited(text, language):
        return text
    return _THEN.sub("", _AWAITED[language].sub(r"in \g<span>, ", text, count=1))


def parted(text: str, known: Lexicon) -> Parted:
    """What ``text`` says, in its parts."""
    said = _in_digits(
        known.fixed(known.stripped(_not_awaited(text, known.language))), known.language
    )
    every, when = repeat_in(said, known.language), ""
    rest = _without(said, every) if every else said
    found = [one for one in [sun_in(rest, known.language)] if one]
    found = found or list(_CLOCK[known.language].finditer(rest))
    if not every:
        found = found or list(_DELAY[known.language].finditer(rest))
    if found:
        when = found[0][0].strip(" ,，") if len(found) == 1 else A_LITTLE
        rest = _without(rest, found[0])
        if day := re.search(_DAY_ALONE[known.language], rest):
            when, rest = f"{day[0].strip(' ,，')} {when}", _without(rest, day)
    command = " ".join(rest.split())
    command = command if known.spaces else command.replace(" ", "")
    return Parted(command.strip(" ,，、"), every[0].strip() if every else "", when)


def says_when_again(text: str, language: str) -> bool:
    """Whether something shall be so again and again, on whatever days: it is never done at once."""
    said = plain(text)
    return bool(repeat_in(said, language) or _UNKNOWN_REPEAT.search(digits(said, language)))


def joins_days(text: str, language: str) -> bool:
    """Whether days are joined and not commands: "on Mondays and Fridays"."""
    days, joint = repeat_in(plain(text), language), _JOINT.get(language)
    return bool(days and joint and joint.search(days[0]))


def as_written(command: str, text: str) -> str:
    """The command with the capitals of the text that it was found in."""
    written = {plain(word).strip(",."): word.strip(",.") for word in text.split()}
    return " ".join(written.get(word, word) for word in command.split())


def says_another_time(command: str, language: str) -> bool:
    """Whether a command says a time of its own, or days that are not known: "turn it on every
    other day", "… and turn it off at 11"."""
    other = repeat_in(command, language) or sun_in(command, language)
    return bool(other or _CLOCK[language].search(command) or _UNKNOWN_REPEAT.search(command))


def of_the_same(command: str, before: str, language: str) -> str:
    """ "Turn them off" with what the command before it works; as it stands where it says what."""
    same = _SAME[language].fullmatch(apart(command, language))
    worked = _WORKED[language].fullmatch(before)
    if same is None or worked is None:
        return command
    said, thing = same.groupdict(), worked["thing"]
    if language == "zh":
        return f"{said['verb'].replace('了', '掉')}{thing.removeprefix('把')}"
    verb = said["verb"] or ("turn" if language == "en" else "mach")
    return " ".join(one for one in (verb, thing, said.get("way") or said["end"]) if one)


def named_command(thing: str, language: str) -> str:
    """A command that works ``thing``, as ``of_the_same`` takes it apart."""
    verb = {"en": "turn ", "de": "mach "}.get(language, "打开")
    return f"{verb}{thing}"


def when_it_ends(text: str, known: Lexicon) -> tuple[str, str, str] | None:
    """What "turn on the fan for ten minutes" does at once, what takes it back, and when: two
    commands and a time; ``None`` where ``text`` is no such one."""
    pattern = _FOR_A_WHILE.get(known.language)
    said = _in_digits(known.fixed(known.stripped(text)), known.language)
    found = pattern.fullmatch(said) if pattern else None
    if found is None:
        return None
    which = found.groupdict()
    if "thing" in which:
        back = next(back for begin, back in _UNDONE.items() if which["verb"].startswith(begin))
        thing, joint = which["thing"], " " if known.spaces else ""
        when = _AFTER[known.language].format(which["span"])
        return f"{which['verb']}{joint}{thing}", f"{back}{joint}{thing}", when
    verb, span, way = which["verb"], which["span"], which.get("a") or which["d"]
    thing = which.get("b") or which["c"]
    if known.language == "de":
        span = re.sub(
            r"^eine halbe\b", "einer halben", re.sub(r"^eine stunde", "einer stunde", span)
        )
    verb = "turn" if known.language == "en" else verb  # "pop it on" is said, "pop it off" is not
    return f"{verb} {thing} {way}", f"{verb} {thing} {_BACK[way]}", f"in {span}"


def is_bare(when: str, command: str) -> bool:
    """Whether a number stands there that may be a value of the command as well: "at 9"."""
    return _SAYS_A_TIME.search(when) is None and not _VALUE.search(command)


def without_and(text: str) -> str:
    """``text`` without the "and" that it begins with."""
    return _AND.sub("", text)


def _without(text: str, found: re.Match[str]) -> str:
    return f"{text[: found.start()]} {text[found.end() :]}"
