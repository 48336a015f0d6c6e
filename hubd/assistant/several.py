"""Two or more commands in one sentence: "turn on the kitchen light and close the blinds".

Only where the sentence as a whole is no command of its own, and neither a question, a condition
nor a "not" is in it. Each part is decided by itself, the later ones in the light of the earlier
("… and the bedroom", "… and dim it"). A part that nobody understands is told as such: nothing is
left out silently. Decides and does nothing.
"""

import re
from collections.abc import Awaitable, Callable

import msgspec

from hubd.assistant.lexicon import Lexicon
from hubd.assistant.route import Decision

MOST_PARTS = 5
"""More are a story."""

_JOINTS = {
    "en": r"\s*[,;]?\s+(?:and then|then|and also|and|but|plus)\s+|\s*[,;]\s+",
    "de": r"\s*[,;]?\s+(?:und dann|dann|und auch|und|aber|sowie)\s+|\s*[,;]\s+",
    "zh": r"\s*(?:[，,；;。]|然后|并且|接着|同时|顺便|并)+再?\s*",
    "fr": r"\s*[,;]?\s+(?:et puis|puis|et|mais)\s+|\s*[,;]\s+",
    "es": r"\s*[,;]?\s+(?:y luego|luego|y|pero)\s+|\s*[,;]\s+",
}


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One of the commands of a sentence."""

    text: str
    decision: Decision
    """Without a tool where it is not understood."""


Decide = Callable[[str, Decision | None], Awaitable[Decision]]
"""The decision on a part, after the one before it."""


def split(text: str, known: Lexicon) -> list[str]:
    """The parts that may be commands; none where there is but one, or where nothing may be done."""
    said = known.fixed(known.stripped(text))
    if known.negates(said) or known.asks(said) or known.keeps(text):
        return []
    parts = [part.strip(" .!?。！？") for part in re.split(_JOINTS[known.language], text)]
    parts = [part for part in parts if known.stripped(part)]
    return parts if 2 <= len(parts) <= MOST_PARTS else []


async def commands_in(text: str, known: Lexicon, decide: Decide) -> list[Part]:
    """The commands of ``text``; empty where it is not several.

    A part that is not understood is one of them where it begins as a command does, holds a verb, or
    follows a command; a remark before the first is not.
    """
    parts: list[Part] = []
    last: Decision | None = None
    for piece in split(text, known):
        decision = await decide(piece, last)
        if decision.tool is not None:
            last = decision
            parts.append(Part(text=piece, decision=decision))
        elif decision.declined or last or known.commands(piece) or has_verb(piece, known):
            parts.append(Part(text=piece, decision=decision))
    return parts if last and len(parts) > 1 else []


def has_verb(text: str, known: Lexicon) -> bool:
    """Whether ``text`` says what shall be done: "the radio" does not."""
    return bool(known.actions_in(known.fixed(known.stripped(text)), in_place=True))
