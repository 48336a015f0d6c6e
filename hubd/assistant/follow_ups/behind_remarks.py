"""What goes on with what was done before, behind something that is only told: "No, that's too dark.
Make it forty percent", „ach, die Oma schläft noch, mach sie wieder aus“, 停好了，关上吧.

Words alone: what is left is decided on like anything that goes on with what was done.
"""

import re
from collections.abc import Awaitable, Callable

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


async def _only_tells(text: str, known: Lexicon, mentioned: Mentioned) -> bool:
    """Whether a clause asks for nothing, and says neither which, where nor how much."""
    said = known.stripped(text)
    long = len(text.split()) if known.spaces else len(plain(text))
    if long < (FEWEST_WORDS if known.spaces else FEWEST_CHARACTERS):
        return False
    asks = known.inquires_first(said) and known.inquires_first(text)  # „jetzt ist es zu dunkel“
    if known.commands(said) or asks or is_conditional(said):
        return False
    if known.stays(text) or _LIMITS.search(plain(text)):
        return False
    spoken = await mentioned(text, known.language)
    if spoken.areas or spoken.floors or spoken.nouns or spoken.numbers or spoken.colors:
        return False
    tells = TELLS.search(plain(text)) or known.remarks(text) or known.is_clause(text)
    if tells or spoken.names:
        return True
    return not spoken.actions and _WHICH.match(plain(text)) is None
