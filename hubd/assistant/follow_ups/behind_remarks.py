"""What goes on with what was done before, behind something that is only told: "No, that's too dark.
Make it forty percent", „ach, die Oma schläft noch, mach sie wieder aus“, 停好了，关上吧.

Words alone: what is left is decided on like anything that goes on with what was done.
"""

import re
from collections.abc import Awaitable, Callable

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.mentions import Mentions
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.reasons import BREAK, TELLS, THEN, is_conditional

MOST_WORDS, MOST_CHARACTERS = 9, 12
"""Of what is left; a longer clause says enough by itself."""
FEWEST_WORDS, FEWEST_CHARACTERS = 3, 3
"""Of what tells something; a shorter clause may be which thing is meant."""
_OPENING = re.compile(
    r"(?:no|nope|oh|ah|ok(?:ay)?|right|well|sorry|actually|hey|wait|so|hang on|"
    r"nein|nee|ach|oh|na gut|gut|okay|moment|halt|schade|hoppla|ja|hey|"
    r"不|不对|哦|啊|哎呀?|好|好了|好吧|嗯|[哦噢啊哎]*等(?:等|一?下))"
)
_LIMITS = re.compile(
    r"^(?:but|only|just|not|except|unless)\b|^(?:aber|nur|bloß|nicht|außer)\b|^(?:但|只|别|除)"
)
"""How a clause begins that says more of what is left than why."""

_WHICH = re.compile(
    r"(?:the|an?|my|our|that|those|in|on|at|for|with|from|der|die|das|den|dem|ein\w*|mein\w*|im|am|"
    r"auf|für|mit|von|bei|zu)\b|[把那这第]"
)
"""How what is meant begins, where nothing is told of it."""

_CHANGES = re.compile(
    "取消|删|[划去]掉|[改换挪移推调][到成为]|推迟|提前|[加记]上|停掉?(?:吧|$)|的事情?$"
)
"""What is done with a timer, an event or an item, of which 米糊的取消吧 says which, or which one it
is: 周日爬山的事."""
OF_ANY_WORDS = ("lists.", "notes.")
"""What is about any words, so that a clause may be an item and no remark: 鸡蛋也加上，快没了."""

Mentioned = Callable[[str, str], Awaitable[Mentions]]


async def behind_remarks(text: str, known: Lexicon, mentioned: Mentioned) -> str:
    """The last clause of ``text`` where all before it only tells something; empty where it does
    not, or where there is no such clause."""
    pieces = [one for one in BREAK.split(text) if known.stripped(one)]
    if len(pieces) < 2 or THEN.search(text) or "?" in text or "？" in text:
        return ""
    *before, last = pieces
    length, most = (len(last.split()), MOST_WORDS) if known.spaces else (len(last), MOST_CHARACTERS)
    if length > most or is_conditional(known.stripped(last)):
        return ""
    told = [piece for piece in before if not _OPENING.fullmatch(plain(piece))]
    for piece in told:
        if not await _only_tells(piece, known, mentioned):
            return ""
    return last if told else ""


async def beside_a_remark(text: str, known: Lexicon, mentioned: Mentioned) -> str:
    """The one of two clauses beside which the other only tells something; empty where there are
    more, or where neither does."""
    if len([one for one in BREAK.split(text) if known.stripped(one)]) != 2:
        return ""
    said = await before_remarks(text, known, mentioned)
    return said or await behind_remarks(text, known, mentioned)


async def before_remarks(text: str, known: Lexicon, mentioned: Mentioned) -> str:
    """The first clause of ``text`` where all behind it only tells something: "make that fifty
    minutes, the meat's still tough"; empty where it does not, or where there is nothing else."""
    first, *behind = [one for one in BREAK.split(text) if known.stripped(one)] or [""]
    if not behind or THEN.search(text) or "?" in text or "？" in text:
        return ""
    for piece in behind:
        if not await _only_tells(piece, known, mentioned):
            return ""
    return first


def goes_on_alike(decision: Decision, last: Decision) -> bool:
    """Whether ``decision`` is of the timers, the lists or what else the last one was of, names
    which, and is beyond a question."""
    plugins = [(one.tool or "").partition(".")[0] for one in (decision, last)]
    return decision.call is not None and not decision.asks and plugins[0] == plugins[1]


async def _only_tells(text: str, known: Lexicon, mentioned: Mentioned) -> bool:
    """Whether a clause asks for nothing, and says neither which, where nor how much."""
    said = known.stripped(text)
    long = len(text.split()) if known.spaces else len(plain(text))
    if long < (FEWEST_WORDS if known.spaces else FEWEST_CHARACTERS):
        return False
    asks = known.inquires_first(said) and known.inquires_first(text)  # „jetzt ist es zu dunkel“
    if known.commands(said) or asks or is_conditional(said):
        return False
    if known.stays(text) or _LIMITS.search(plain(text)) or _CHANGES.search(plain(text)):
        return False
    spoken = await mentioned(text, known.language)
    if spoken.areas or spoken.floors or spoken.nouns or spoken.numbers or spoken.colors:
        return False
    tells = TELLS.search(plain(text)) or known.remarks(text) or known.is_clause(text)
    if tells or spoken.names:
        return True
    return not spoken.actions and _WHICH.match(plain(text)) is None
