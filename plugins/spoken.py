"""Dates, counts and durations in words, in five languages. Shared by plugins; no plugin itself."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Literal

Unit = Literal["year", "month", "week", "day", "hour", "minute", "second"]

DAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "de": ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"),
    "fr": ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    "es": ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    "zh": ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
}
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
    ),
}
NTH = {
    "en": {1: "first", 2: "second", 3: "third", 4: "fourth", -1: "last"},
    "de": {1: "ersten", 2: "zweiten", 3: "dritten", 4: "vierten", -1: "letzten"},
    "fr": {1: "premier", 2: "deuxième", 3: "troisième", 4: "quatrième", -1: "dernier"},
    "es": {1: "primer", 2: "segundo", 3: "tercer", 4: "cuarto", -1: "último"},
    "zh": {1: "第一个", 2: "第二个", 3: "第三个", 4: "第四个", -1: "最后一个"},
}
"""Which of the Mondays of a month."""
_UNITS: dict[str, dict[Unit, tuple[str, str]]] = {
    "en": {
        "year": ("year", "years"), "month": ("month", "months"), "week": ("week", "weeks"),
        "day": ("day", "days"), "hour": ("hour", "hours"), "minute": ("minute", "minutes"),
        "second": ("second", "seconds"),
    },
    "de": {
        "year": ("Jahr", "Jahre"), "month": ("Monat", "Monate"), "week": ("Woche", "Wochen"),
        "day": ("Tag", "Tage"), "hour": ("Stunde", "Stunden"), "minute": ("Minute", "Minuten"),
        "second": ("Sekunde", "Sekunden"),
    },
    "fr": {
        "year": ("an", "ans"), "month": ("mois", "mois"), "week": ("semaine", "semaines"),
        "day": ("jour", "jours"), "hour": ("heure", "heures"), "minute": ("minute", "minutes"),
        "second": ("seconde", "secondes"),
    },
    "es": {
        "year": ("año", "años"), "month": ("mes", "meses"), "week": ("semana", "semanas"),
        "day": ("día", "días"), "hour": ("hora", "horas"), "minute": ("minuto", "minutos"),
        "second": ("segundo", "segundos"),
    },
    "zh": {
        "year": ("年", "年"), "month": ("个月", "个月"), "week": ("周", "周"), "day": ("天", "天"),
        "hour": ("小时", "小时"), "minute": ("分钟", "分钟"), "second": ("秒", "秒"),
    },
}  # fmt: skip
_AND = {"en": " and ", "de": " und ", "fr": " et ", "es": " y "}


def language_known(language: str) -> str:
    """The language, or English where there are no words in it."""
    return language if language in DAYS else "en"


def weekday(day: date, language: str) -> str:
    """``Friday``."""
    return DAYS[language_known(language)][day.weekday()]


def full_date(day: date, language: str) -> str:
    """``Friday, 25 December 2026``."""
    known = language_known(language)
    name = DAYS[known][day.weekday()]
    if known == "zh":
        return f"{day.year}年{day.month}月{day.day}日{name}"
    month = MONTHS[known].split()[day.month - 1]
    return {
        "en": f"{name}, {day.day} {month} {day.year}",
        "de": f"{name}, {day.day}. {month} {day.year}",
        "fr": f"{name} {day.day} {month} {day.year}",
        "es": f"{name}, {day.day} de {month} de {day.year}",
    }[known]


def day_of_year(month: int, day: int, language: str) -> str:
    """``12 May``, ``5月12日``."""
    known = language_known(language)
    if known == "zh":
        return f"{month}月{day}日"
    name = MONTHS[known].split()[month - 1]
    return {"en": f"{day} {name}", "de": f"{day}. {name}", "fr": f"{day} {name}",
            "es": f"{day} de {name}"}[known]  # fmt: skip


def date_of_year(day: date, language: str) -> str:
    """``12 May 2026``, ``2026年5月12日``."""
    told = day_of_year(day.month, day.day, language)
    if language == "zh":
        return f"{day.year}年{told}"
    return f"{told} de {day.year}" if language == "es" else f"{told} {day.year}"


def count(number: int, unit: Unit, language: str) -> str:
    """``3 weeks``, ``1 day``, ``3天``."""
    known = language_known(language)
    one, many = _UNITS[known][unit]
    single = number == 1 or (known == "fr" and number == 0)
    return f"{number}{'' if known == 'zh' else ' '}{one if single else many}"


def duration(length: timedelta, language: str = "en") -> str:
    """In words, parts that are zero left out: ``1 hour, 20 minutes and 5 seconds``."""
    rest = max(0, round(length.total_seconds()))
    sizes: tuple[tuple[Unit, int], ...] = (
        ("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1),
    )  # fmt: skip
    parts = []
    for unit, size in sizes:
        number, rest = divmod(rest, size)
        if number:
            parts.append(count(number, unit, language))
    return together(parts, language) if parts else count(0, "second", language)


def together(parts: Sequence[str], language: str) -> str:
    """``1 hour, 20 minutes and 5 seconds``; Chinese needs no words between."""
    if language == "zh":
        return "".join(parts)
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])}{_AND.get(language, ' and ')}{parts[-1]}"
