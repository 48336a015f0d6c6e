"""What is said beside a command and is no part of it: thoughts, what somebody does meanwhile."""

import re

from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.plain import NEVER, plain

_ASIDE = {
    "en": re.compile(
        r"^(?:what was|what am i|what's it|let me|how do|where was|never mind)\b"
        r"|^(?:exactly|right|that's it|ah yes|got it)$"
        r"|^(?:i|we) (?:just |only )?need to know\b"
        r"|^(?:i (?:can )?never remember|i (?:always|keep) forget(?:ting)?)$"
        r"|^(?:he|she|they) (?:was|were|has been|have been) (?:just |only )?"
        r"(?!going|wondering|hoping|asking)\w+ing\b"
        r"|^i was (?:just |only )?(?:going|about|meaning) to\b(?!.*\b(?:the|a|my|our)\b)"
        r"|^forget (?:about )?(?:the|my|our) \w+$"
    ),
    "de": re.compile(
        r"^(?:was weiß|was wollt|was wollte|wie sagt|wie heißt|weißt)\b"
        r"|^(?:genau|richtig|stimmt|jetzt hab ich's|ah ja)$"
        r"|^(?:ich vergesse? das immer|(?:das )?(?:kann ich mir|merk ich mir) nie(?: merken)?)$"
        r"|^war das (?:ein|heute|wieder)\b"
        r"|^vergiss (?:de[nrms]|d[ia]s|die|mein\w*|unser\w*) \w+$"
    ),
    "zh": re.compile(
        "^那个什么$|^(?:怎么说|叫什么|我想想|让我|我(?:先|来|去)?(?:听听|看看|瞧瞧|试试|问问))|"
        "^(?:孩子|宝宝|[爸妈爷奶]+|外[公婆]|老[公婆]|[他她])们?(?:还|正|都)?在.{2,10}呢$|"
        "^(?:对了?|想起来了|我?(?:老是|总是|总)(?:忘|记不住))$|^还?(?:缺|差|有|要买?)(?:什么|啥)来着$|"
        "^(?:先?别管|不用管).{1,6}$"
    ),
}
"""Thinking aloud, and what somebody is about to find out, that look like a question."""
_MEANWHILE = {
    "en": re.compile(
        r"(?<=\w),? while (?:i|we)(?:['’]m|['’]re)? (?!.*\b(?:away|out|gone|asleep)\b).*$",
        re.IGNORECASE,
    )
}
"""What somebody does meanwhile, which is no part of a command: "play jazz while we cook"."""


def is_aside(text: str, known: Lexicon) -> bool:
    """Whether ``text`` is thinking aloud: "what was it", "genau"."""
    pattern = _ASIDE.get(known.language, NEVER)
    return any(pattern.search(said) for said in (known.stripped(text), plain(text)))


def without_meanwhile(text: str, language: str) -> str:
    """``text`` without what somebody does meanwhile."""
    return _MEANWHILE.get(language, NEVER).sub("", text)
