"""An answer as it is read aloud: no Markdown, no addresses, units as words, a few sentences.

What is written stays as it is; this is said beside it. Knows nothing of voices.
"""

import re

SENTENCES = 3
LONGEST = 320
"""Characters: twenty seconds of speech."""

_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_ADDRESS = re.compile(r"<?\b(?:https?://|www\.)[^\s<>)\]，。]+>?", re.IGNORECASE)
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKER = re.compile(r"\s?\[\d{1,3}\]")
_LEAD = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+•][ \t]+|\d{1,2}[.)][ \t]+)")
_RULE = re.compile(r"^[ \t|:*_-]+$")
_EMPHASIS = re.compile(r"(\*\*|__|\*|`|~~)(?=\S)(.+?)(?<=\S)\1", re.DOTALL)
_END = re.compile(r"(?<=[.!?…])\s+(?=\S)|(?<=[。！？])")
_CLOSED = (".", "!", "?", "…", "。", "！", "？", ":", "：")

_UNITS: dict[str, dict[str, str]] = {
    "en": {
        "°C": " degrees", "°F": " degrees Fahrenheit", "°": " degrees", "%": " percent",
        "km/h": " kilometres per hour", "m/s": " metres per second", "kWh": " kilowatt hours",
        "kW": " kilowatts", "W": " watts", "hPa": " hectopascals", "mm": " millimetres",
        "cm": " centimetres", "km": " kilometres", "m²": " square metres", "€": " euros",
    },
    "de": {
        "°C": " Grad", "°F": " Grad Fahrenheit", "°": " Grad", "%": " Prozent",
        "km/h": " Kilometer pro Stunde", "m/s": " Meter pro Sekunde", "kWh": " Kilowattstunden",
        "kW": " Kilowatt", "W": " Watt", "hPa": " Hektopascal", "mm": " Millimeter",
        "cm": " Zentimeter", "km": " Kilometer", "m²": " Quadratmeter", "€": " Euro",
    },
    "zh": {
        "°C": "度", "°F": "华氏度", "°": "度", "km/h": "公里每小时", "m/s": "米每秒", "kWh": "度电",
        "kW": "千瓦", "W": "瓦", "hPa": "百帕", "mm": "毫米", "cm": "厘米", "km": "公里",
        "m²": "平方米", "€": "欧元",
    },
}  # fmt: skip
_POINT = {"en": r"\1 point \2", "de": r"\1 Komma \2", "zh": r"\1点\2"}
_MORE = {
    "en": "There is more in the chat.",
    "de": "Mehr steht im Chat.",
    "zh": "其余的在聊天里。",
    "fr": "La suite est dans la discussion.",
    "es": "Hay más en el chat.",
}


def spoken(text: str, language: str) -> str:
    """``text`` for the ear, in the language that it is written in (``de``, ``zh-CN``).

    What is left out because it is long is announced, never dropped in silence.
    """
    short = language.replace("_", "-").partition("-")[0].lower()
    sentences = [part for part in _END.split(_plain(text)) if part.strip()]
    kept: list[str] = []
    for sentence in sentences[:SENTENCES]:
        if kept and sum(map(len, kept)) + len(sentence) > LONGEST:
            break
        kept.append(sentence.strip())
    gap = "" if short == "zh" else " "
    if len(kept) < len(sentences):
        kept.append(_MORE.get(short, _MORE["en"]))
    return gap.join(_said(sentence, short) for sentence in kept)


def _plain(text: str) -> str:
    """Without Markdown, addresses and marks of citations; every line a sentence."""
    text = _MARKER.sub("", _ADDRESS.sub("", _LINK.sub(r"\1", _FENCE.sub(" ", text))))
    while (bare := _LINK.sub(r"\1", _EMPHASIS.sub(r"\2", text))) != text:
        text = bare  # marks inside of marks
    lines = [
        _LEAD.sub("", line).replace("|", ", ").strip(" ,\t")
        for line in text.splitlines()
        if not _RULE.match(line)
    ]
    ended = [line if line.endswith(_CLOSED) else f"{line}." for line in lines if line]
    if len(ended) == 1 and not lines[-1].endswith(_CLOSED):
        ended = [line for line in lines if line]
    return re.sub(r"\s+([.,;!?])", r"\1", " ".join(" ".join(ended).split()))


def _said(sentence: str, language: str) -> str:
    """Numbers and units as they are spoken."""
    units = _UNITS.get(language)
    if units is None:
        return sentence
    if language == "zh":
        sentence = re.sub(r"(\d+(?:\.\d+)?) ?%", r"百分之\1", sentence)
    names = "|".join(map(re.escape, sorted(units, key=len, reverse=True)))
    measured = re.compile(rf"(?<=\d) ?({names})(?![\w°/²])")
    sentence = measured.sub(lambda match: units[match[1]], sentence)
    if language == "de":
        sentence = re.sub(r"\b(\d{1,2}):00\b(?: Uhr)?", r"\1 Uhr", sentence)
        sentence = re.sub(r"\b(\d{1,2}):0?(\d{1,2})\b(?: Uhr)?", r"\1 Uhr \2", sentence)
    return re.sub(r"(?<![\d.,])(\d+)[.,](\d{1,2})(?![\d.,]*\d)", _POINT[language], sentence)
