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
from hubd.assistant.mentions import Mentions
from hubd.assistant.route import Decision

TALK, NEVER_MIND = "help.", "help.never_mind"
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


Decide = Callable[[str, Decision | None, str], Awaitable[Decision]]
"""The decision on a part, after the one before it; the third is the part whose verb it shares, and
empty where it has one of its own."""


def split(text: str, known: Lexicon) -> list[str]:
    """The parts that may be commands; none where there is but one, or where nothing may be done."""
    said = known.fixed(known.stripped(text))
    if known.negates(said) or known.asks(said) or known.keeps(text):
        return []
    parts = [part.strip(" .!?。！？") for part in re.split(_JOINTS[known.language], text)]
    parts = [part for part in parts if known.stripped(part)]
    return parts if 2 <= len(parts) <= MOST_PARTS else []


async def commands_in(
    text: str, known: Lexicon, decide: Decide, mentioned: Callable[[str], Awaitable[Mentions]]
) -> list[Part]:
    """The commands of ``text``; empty where it is not several.

    A part that is not understood is told as such where it begins as a command or a question does,
    holds a verb, or follows a command; a remark before the first is not. A part that only names
    things shares the verb before it: after "turn off the sauna and", "the lamp" is not to be turned
    on, as it would be by itself. Of a sentence that corrects itself only what was said last counts.
    """
    if corrected := known.corrected(text):
        return await _corrected(*corrected, decide, mentioned)
    parts: list[Part] = []
    last: Decision | None = None
    verb_of = ""
    for piece in split(text, known):
        said = await mentioned(piece)
        bare = _is_bare(said)
        if bare and not verb_of and _names(said):
            return []  # "the lamp and the radio off": the verb comes last, and is of both
        verb_of = verb_of if bare else piece
        decision = await decide(piece, last, verb_of if bare else "")
        if decision.tool == NEVER_MIND:
            return []
        if decision.tool is not None and decision.tool.startswith(TALK):
            continue  # "good morning, turn on the light"
        if decision.tool is not None:
            if last is not None and decision.call == last.call:
                continue  # "too bright, it blinds me" is said twice and done once
            last = decision
            parts.append(Part(text=text if bare else piece, decision=decision))
        elif decision.declined or parts or known.inquires_first(piece) or _commands(piece, known):
            parts.append(Part(text=piece, decision=decision))
    return parts if last else []


async def _corrected(
    first: str, instead: str, decide: Decide, mentioned: Callable[[str], Awaitable[Mentions]]
) -> list[Part]:
    begun = await decide(first, None, "")
    shared = first if _is_bare(await mentioned(instead)) else ""
    meant = await decide(instead, begun if begun.tool else None, shared)
    return [Part(text=instead, decision=meant)] if meant.tool else []


def _is_bare(said: Mentions) -> bool:
    """Whether nothing says what shall be done."""
    values = said.numbers or said.colors
    return not (said.actions or said.implied or said.hints or said.subjects or values)


def _names(said: Mentions) -> bool:
    return bool(said.names or said.areas or said.floors or said.nouns)


def _commands(text: str, known: Lexicon) -> bool:
    said = known.fixed(known.stripped(text))
    return known.commands(said) or bool(known.actions_in(said, in_place=True))
