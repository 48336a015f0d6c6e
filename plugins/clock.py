"""The time and the date."""

from datetime import datetime

from plugins.api import Plugin, ToolContext, ToolResult

plugin = Plugin("clock", sentences="clock.{language}.yaml")

DAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "de": ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"),
    "fr": ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    "es": ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    "zh": ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
}
MONTHS = {
    "en": ("January February March April May June July August September October November December"),
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": ("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    "es": (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
    ),
}
TIME = {
    "en": "It is {:%H:%M}.",
    "de": "Es ist {:%H:%M} Uhr.",
    "fr": "Il est {:%H:%M}.",
    "es": "Son las {:%H:%M}.",
    "zh": "现在是{:%H:%M}。",
}


@plugin.tool(risk="read")
async def time(context: ToolContext) -> ToolResult:
    """Tell the time."""
    now = context.now
    text = TIME.get(context.language, TIME["en"]).format(now)
    return ToolResult(text=text, data={"now": now.isoformat()})


@plugin.tool(risk="read")
async def date(context: ToolContext) -> ToolResult:
    """Tell the date and the day of the week."""
    now = context.now
    text = _date(now, context.language)
    return ToolResult(text=text, data={"now": now.isoformat()})


def _date(day: datetime, language: str) -> str:
    if language == "zh":
        return f"今天是{day.year}年{day.month}月{day.day}日，{DAYS['zh'][day.weekday()]}。"
    known = language if language in MONTHS else "en"
    weekday, month = DAYS[known][day.weekday()], MONTHS[known].split()[day.month - 1]
    return {
        "en": f"It is {weekday}, {day.day} {month} {day.year}.",
        "de": f"Heute ist {weekday}, der {day.day}. {month} {day.year}.",
        "fr": f"Nous sommes le {weekday} {day.day} {month} {day.year}.",
        "es": f"Hoy es {weekday}, {day.day} de {month} de {day.year}.",
    }[known]
