"""What shall be done, or told, once something is measured: "if it gets over 25 degrees, turn the
fan on", 空气质量超过一百就告诉我. The hub waits for times, the sun and people, and nothing else."""

import re

from hubd.assistant.understanding.plain import NEVER, plain
from plugins.numbers import chinese_digits, digits

_WATCHED = {
    "en": re.compile(
        r"\b(?:if|when(?:ever)?|once|as soon as|should)\b[^,]*?\b(?:over|above|below|under|past|"
        r"(?:higher|lower|more|less|hotter|warmer|colder) than|(?:reach\w*|hits?)|"
        r"(?:drops?|falls?|goes|rises?|gets?|climbs?) to)\b \D{0,8}\d",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(?:wenn|sobald|falls)\b[^,]*?\b(?:über|unter|(?:mehr|weniger|höher|niedriger|wärmer|"
        r"kälter) als|(?:steigt|fällt|sinkt|klettert) auf)\b \D{0,8}\d",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:超过|高于|低于|大于|小于|高过|低过|不到|少于|多于|降到|升到|达到)了?(?:百分之)?\D{0,3}\d+"
        r"[^，,。]{0,6}?(?:就|的话|的?时候|时|以后|之后|了[，,]|[，,])"
    ),
}
_DONE = {
    "en": re.compile(
        r"\b(?:remind|tell|let me know|notify|alert|warn|message|turn|switch|open|close|shut|set|"
        r"start|stop)\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(?:erinner\w*|sag\w*|meld\w*|warn\w*|bescheid|schalt\w*|mach\w*|öffn\w*|"
        r"schließ\w*|stell\w*|start\w*|stopp\w*)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile("提醒|告诉|通知|叫我|喊我|说一声|打开|关|开|启动|停"),
}
_ASKS = re.compile(
    r"[?？]\s*$|"
    r"^(?:what|why|how|should|is|are|does|do|did|can i|was|warum|wie|soll|ist|kann ich)\b|"
    r"吗|怎么|为什么|会怎|多少",
    re.IGNORECASE,
)
"""What is a question about such a condition."""
_IF = re.compile("如果|要是|只要|一旦|等到?|当|假如|万一|的话|就|的?时候")
_TIME = re.compile(r"\d+ ?(?:[点:]|uhr|o'clock|[ap]\.?m\b|minut|hour|stund|分钟|小时|岁|年|月|号)")


def is_watched_for(text: str, language: str) -> bool:
    """Whether ``text`` asks for something to be done once a measure is reached."""
    if _ASKS.search(text):
        return False
    said = digits(plain(text), language)
    if language == "zh":
        said = chinese_digits(said)
    if language == "zh" and not _IF.search(said):
        return False
    found = _WATCHED.get(language, NEVER).search(said)
    return found is not None and not _TIME.search(said) and bool(_DONE[language].search(said))
