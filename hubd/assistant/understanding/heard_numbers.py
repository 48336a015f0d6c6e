"""Chinese numerals that speech recognition wrote as other characters of the same sound, where
nothing but a numeral can stand: 六点办 is 六点半, 百分之武十 is 百分之五十.
"""

import re

_SOUNDS = {
    "一": "依", "三": "伞散", "四": "思斯", "五": "武舞无午物", "六": "刘流", "七": "气其",
    "八": "巴爸", "九": "酒久",
}  # fmt: skip
_DIGITS = {heard: digit for digit, alike in _SOUNDS.items() for heard in alike}
_HALF = re.compile("(?<=点)[班办般板版绊](?=[的叫起闹提就，,。 ]|$)")
_TEN = re.compile(
    "(?<=[二两三四五六七八九到个定])[是时事石](?=(?:[一二三四五六七八九](?!十)|[分点度]))"
    "|(?<=点[一二三四五六七八九])[是时事石](?![一二三四五六七八九十])"
    "|(?<=百分之)[是时事石](?=[一二三四五六七八九](?!十))"
)
_DIGIT = re.compile(
    f"(?:(?<=百分之)|(?<=[调开设]到))[{''.join(_DIGITS)}](?=十)|(?<=[上午晚早天])[刘流](?=点)"
)


def numerals_heard(text: str, language: str) -> str:
    """``text`` with the numerals that were said."""
    if language != "zh":
        return text
    text = _TEN.sub("十", _HALF.sub("半", text))
    return _DIGIT.sub(lambda found: _DIGITS[found[0]], text)
