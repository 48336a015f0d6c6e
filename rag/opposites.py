"""Words that say the contrary: "the lease ends" is not what "the tenancy begins" tells.

A small model puts the question's verb into the sentence that it read. Must not know of passages.
"""

import re

_PAIRS = (
    (r"begin\w*|began|begun|start\w*|commenc\w*", r"end(?:s|ed|ing)?|finish\w*|expir\w*|ceas\w*"),
    (r"open\w*", r"clos\w+|shut\w*"),
    (r"before", r"after"),
    (r"above", r"below"),
    (r"includ\w+", r"exclud\w+"),
    (r"allow\w*|permit\w*", r"forbid\w*|prohibit\w*"),
    (r"increas\w+|raise\w*", r"decreas\w+|reduc\w+|lower\w*"),
    (r"maximum|at most", r"minimum|at least"),
    (r"first", r"last"),
    (r"arriv\w+", r"leave\w*|depart\w*"),
    (r"inside|indoors", r"outside|outdoors"),
    (r"upstairs", r"downstairs"),
    (r"morning", r"evening|afternoon"),
    (r"earl(?:y|ier|iest)", r"late(?:r|st)?"),
    (r"lock\w*", r"unlock\w*"),
    (r"(?:turn|switch)\w* on", r"(?:turn|switch)\w* off"),
    (r"hot|hottest", r"cold|coldest"),
    (r"left", r"right"),
    (r"borrow\w*", r"lend\w*|lent"),
    (r"buy\w*|bought", r"sell\w*|sold"),
)
_CHINESE = (
    ("开始", "结束|到期|截止"),
    ("打开", "关闭|关上"),
    ("之前|以前", "之后|以后"),
    ("最高|最大|最多", "最低|最小|最少"),
    ("增加|提高", "减少|降低"),
    ("上午|早上", "下午|晚上"),
    ("允许", "禁止"),
)
_OPPOSITES = [
    *((re.compile(rf"\b(?:{one})\b"), re.compile(rf"\b(?:{other})\b")) for one, other in _PAIRS),
    *((re.compile(one), re.compile(other)) for one, other in _CHINESE),
]


def contradicts(claim: str, text: str) -> bool:
    """Whether ``claim`` says of something what ``text`` says the contrary of, and not that."""
    said, told = claim.casefold(), text.casefold()
    return any(
        (one.search(said) and other.search(told) and not (one.search(told) or other.search(said)))
        or (
            other.search(said) and one.search(told) and not (other.search(told) or one.search(said))
        )
        for one, other in _OPPOSITES
    )
