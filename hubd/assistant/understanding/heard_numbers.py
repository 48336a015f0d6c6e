"""Numerals that speech recognition wrote as other words of the same sound, where nothing but a
numeral can stand: 六点办 is 六点半, 百分之武十 is 百分之五十, "in to ours" is "in two hours"; and
the verb of what somebody shall be reminded of.
"""

import re

_SOUNDS = {
    "一": "依", "三": "伞散", "四": "思斯", "五": "武舞无午物", "六": "刘流", "七": "气其",
    "八": "巴爸", "九": "酒久",
}  # fmt: skip
_DIGITS = {heard: digit for digit, alike in _SOUNDS.items() for heard in alike}
_HALF = re.compile("(?<=点)[班办般板版绊](?=[的叫起闹提就，,。 ]|$)")
_TEN = re.compile(
    "(?<=[二两三四五六七八九到个定])(?!(?<=定)时)[是时事石](?=(?:[一二三四五六七八九](?!十)|[分点度]))"
    "|(?<=点[一二三四五六七八九])[是时事石](?![一二三四五六七八九十])"
    "|(?<=百分之)[是时事石](?=[一二三四五六七八九](?!十))"
)
_AFTER = re.compile("(?<=[时钟天周月年])[一已]后")
_DIGIT = re.compile(
    f"(?:(?<=百分之)|(?<=[调开设]到))[{''.join(_DIGITS)}](?=十)|(?<=[上午晚早天])[刘流思斯](?=点)"
)

_ENGLISH = {
    "to": "two", "too": "two", "for": "four", "fore": "four", "won": "one", "ate": "eight",
    "tree": "three", "free": "three", "sex": "six", "sicks": "six", "fife": "five", "tin": "ten",
    "nein": "nine",
}  # fmt: skip
_HEARD = "|".join(_ENGLISH)
_WORDS = "an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty"
_HOURS = re.compile(
    rf"(?<!\w)(in (?:half )?(?:{_WORDS}|{_HEARD}|\d+)) (ours?)(?!\w)", re.IGNORECASE
)
_AMOUNT = re.compile(
    rf"(?<!\w)(?P<before>in|for|another|of) (?P<number>{_HEARD})"
    r"(?= (?:and a half )?(?:hours?|minutes?|seconds?|days?|weeks?|ounces|pounds|grams|cups|"
    r"miles|feet|inches|litres|degrees)(?!\w))",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    rf"(?<!\w)(?P<before>at|past|before|until|till) (?P<number>{_HEARD})(?= (?:o'?clock|thirty|"
    r"fifteen|twenty|forty|fifty|a\.?m|p\.?m|to ?night|to ?morrow|sharp)(?!\w))|"
    rf"(?<!\w)(?P<set>for) (?P<hour>{_HEARD})(?= (?:o'?clock|a\.?m|p\.?m)(?!\w))|"
    r"(?<!\w)(?P<at>at) (?P<of_day>to|too|for|fore|ate|won|sicks)(?= (?:(?:this|in the) (?:morning|"
    r"afternoon|evening)|(?:to|and|on|every|each|so) \w)|[,.!?]|$)",
    re.IGNORECASE,
)
"""An hour: nothing but a numeral stands behind "at" and before the part of the day, what shall be
done then, or nothing more."""
_TO_DO = {"by": "buy", "bye": "buy", "right": "write", "male": "mail", "meat": "meet", "sea": "see"}
_REMINDED = re.compile(
    r"(?<!\w)(?P<before>remind (?:me|us|him|her|them)\b(?:(?! to ).)*? to) "
    rf"(?P<verb>{'|'.join(_TO_DO)})(?= \w)",
    re.IGNORECASE,
)
"""What shall be done begins with its verb: "remind me to by stamps"."""
_DAY = re.compile(r"(?<!\w)(?:to|two|too) (?=(?:night|morrow)(?!\w))", re.IGNORECASE)
_WEEKDAY = re.compile(r"(?<!\w)(mon|tues|wednes|thurs|fri|satur|sun) (?=day(?!\w))", re.IGNORECASE)
_GERMAN_DIGIT = "ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun"
_GERMAN_TENS = "(?:zwan|drei|vier|fünf|sech|sieb|acht|neun)(?:zig|ßig|ssig)"
_GERMAN = re.compile(
    rf"(?<!\w)({_GERMAN_DIGIT}) (tausend|hundert|und {_GERMAN_TENS})(?!\w)|"
    r"(?<=\wtausend) (?=\w+hundert)",
    re.IGNORECASE,
)
_GERMAN_HOURS = {
    "für": "vier", "fier": "vier", "fir": "vier", "vir": "vier", "ach": "acht", "sex": "sechs",
}  # fmt: skip
_UHR = re.compile(
    r"(?<!\w)(?P<before>um|gegen|ab|bis) (?P<number>(?:fier|fir|vir|ach|sex)(?= (?:Uhr|heute|"
    r"morgen|übermorgen|am|früh|abends|morgens|nachmittags|daran)(?!\w))|für(?= Uhr(?!\w)))",
    re.IGNORECASE,
)
"""The same of a German hour; "um für morgen zu kochen" is none."""


def numerals_heard(text: str, language: str) -> str:
    """``text`` with the numerals that were said."""
    if language == "en":
        return _heard_in_english(text)
    if language == "de":
        return _heard_in_german(text)
    if language != "zh":
        return text
    text = _AFTER.sub("以后", _TEN.sub("十", _HALF.sub("半", text)))
    return _DIGIT.sub(lambda found: _DIGITS[found[0]], text)


def _heard_in_english(text: str) -> str:
    hours = _HOURS.sub(lambda found: f"{found[1]} h{found[2].lower()}", text)
    for pattern in (_AMOUNT, _CLOCK):
        hours = pattern.sub(_numeral, hours)
    hours = _REMINDED.sub(lambda found: f"{found['before']} {_TO_DO[found['verb'].lower()]}", hours)
    return _WEEKDAY.sub(r"\1", _DAY.sub("to", hours))


def _heard_in_german(text: str) -> str:
    """The parts of a number word as one: "zwei tausend sieben hundert", "fünf und zwanzig"."""
    text = _UHR.sub(
        lambda found: f"{found['before']} {_GERMAN_HOURS[found['number'].lower()]}", text
    )
    for _ in range(2):  # thousands are joined with what is joined by then
        text = _GERMAN.sub(lambda found: found[0].replace(" ", ""), text)
    return text


def _numeral(found: re.Match[str]) -> str:
    before, number = filter(None, found.groups())
    return f"{before} {_ENGLISH[number.lower()]}"
