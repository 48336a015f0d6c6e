"""Questions that papers answer, and no state of a thing: whether the washing machine is under
warranty, what the hot water is set to, how long one has after the alarm system is armed.

What is only like the examples of a state is not told to such a one.
"""

import re

from hubd.assistant.understanding.plain import NEVER, plain

_OF_PAPERS = {
    "en": re.compile(
        r"\b(?:warrant(?:y|ies)|guarantee\w*|insur\w+|allowed|permitted|covered|contracts?|polic(?:y|ies)"
        r"|manual|instructions|serial|error|fault|programmes?|hot water|stopcock|leave the house"
        r"|get out|armed|arming|serviced|descal\w+|notice period)\b"
    ),
    "de": re.compile(
        r"\b(?:garantie|gewährleistung|versichert|versicherung|erlaubt|vertrag|anleitung|handbuch"
        r"|seriennummer|fehler|programme?|warmwasser|haupthahn|gewartet|wartung|entkalk\w+"
        r"|kündigungsfrist)\b"
    ),
    "zh": re.compile(
        "保修|质保|保险|允许|可以用吗|合同|说明书|序列号|故障|热水器?设|总阀|保养|除垢"
    ),
}


def of_papers(text: str, language: str) -> bool:
    """Whether ``text`` asks for what stands in papers."""
    return _OF_PAPERS.get(language, NEVER).search(plain(text)) is not None
