"""What somebody wishes a thing to do or to be, as a command: "it'd be nice if the porch light came
on every evening at seven" → "turn on the porch light every evening at seven".

English and Chinese; German is in `requested`.
"""

import re
from collections.abc import Mapping

_LEAD = (
    r"^(?:(?:hey|so|okay|ok|please|um|uh|well|you know what),? )*"
    r"(?:(?:i|we) (?:want|need)|(?:i|we)(?:'d| would) (?:want|need|like|love)|"
    r"(?:can|could) (?:we|i) have|"
    r"(?:would|might|is) it (?:be )?possible (?:for (?:us|me) )?to have|"
    r"(?:it'd|it would|it'll|that'd|wouldn't it) be (?:\w+ )?(?:nice|great|cool|lovely|good|better|"
    r"perfect|handy|helpful|awesome|wonderful)(?: if| to have)|"
    r"(?:i|we)(?:'d| would)? (?:like|love|appreciate) it if|i wish) "
)
_THING = r"(?P<thing>(?:the|my|our|this|that|all the|\w+'s) [\w' -]+?)"
_DOES = (
    r"(?: (?:to|would|could))? (?:automatically )?"
    r"(?:(?:came|come|comes|went|go|goes|turned|turn|turns|switched|switch|switches|kicked|kick)"
    r"(?: itself)? (?P<way>on|off)(?! time\b)|"
    r"(?P<moves>opened|open|opens|closed|close|closes|locked|lock|locks))(?: by itself)?(?![\w'-])"
)
_IS = r" (?:was|were|is|be|to be) (?P<state>[a-z]+)(?: please)?[.!]?$"
_ENGLISH = (
    re.compile(rf"{_LEAD}{_THING}{_DOES}(?P<rest>.*)$", re.IGNORECASE),
    re.compile(rf"{_LEAD}{_THING}{_IS}", re.IGNORECASE),
)
_NO_WISH = re.compile(
    r"\b(?:not|never|n't|don't|didn't|wasn't|isn't|why|whether|who|that|which|because|yesterday|"
    r"already|always)\b|\b(?:was|were|is|are|be)$",
    re.IGNORECASE,
)
"""What a wish is not made of: it tells or doubts."""
_VERBS: Mapping[str, str] = {"open": "open", "clos": "close", "lock": "lock"}
_STATES: Mapping[str, str] = {
    "on": "turn on", "off": "turn off", "open": "open", "closed": "close", "shut": "close",
    "locked": "lock",
}  # fmt: skip
_CHINESE = re.compile(
    "^(?:我想|我希望|希望|最好|要是|能不能)?[让叫]?(?P<before>每[^，,]*?点[半一二三四五\\d十]*[分钟]*)?"
    "(?P<thing>[\u4e00-\u9fff]{2,10}?)(?P<behind>每[^，,]*?点[半一二三四五\\d十]*[分钟]*)?"
    "(?:能|就|会|都)?(?:自动|自己)?(?P<verb>亮|打开|开|灭|关)(?:起来|上|掉|了|着)*(?:就好了|就好|吧)?[。！]?$"
)
_TURNED: Mapping[str, str] = {
    "亮": "打开",
    "打开": "打开",
    "开": "打开",
    "灭": "关掉",
    "关": "关掉",
}
_NO_THING = re.compile("[把请给帮提醒叫我你说]|.*[打开关]")


def wished(text: str, language: str) -> str:
    """The command that ``text`` wishes for; ``text`` where it wishes nothing of a thing."""
    if language == "en":
        return _in_english(text)
    return _in_chinese(text) if language == "zh" else text


def _in_english(text: str) -> str:
    does, is_so = (pattern.match(text.strip()) for pattern in _ENGLISH)
    found = is_so or does
    if found is None or _NO_WISH.search(thing := found["thing"]):
        return text
    if is_so:
        state = is_so["state"].lower()
        return f"{_STATES[state]} {thing}" if state in _STATES else f"make {thing} {state}"
    way, moves = found["way"], found["moves"]
    verb = f"turn {way.lower()}" if way else _VERBS[moves.lower()[:4]]
    return f"{verb} {thing}{found['rest'].rstrip(' ?')}"


def _in_chinese(text: str) -> str:
    found = _CHINESE.match(text.strip())
    if found is None or _NO_THING.match(found["thing"]):
        return text
    when = found["before"] or found["behind"]
    thing = found["thing"].removesuffix("的")
    return f"{when}{_TURNED[found['verb']]}{thing}" if when else text
