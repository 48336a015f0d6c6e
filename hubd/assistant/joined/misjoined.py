"""Whether what was taken for several commands of one sentence is not what it asks for: a value that
nobody heeds, a time that is said apart, one question that names two things. Decides nothing."""

from collections.abc import Callable, Sequence

from hubd.assistant.by_likeness.conditions import KEEPING, NAMELESS
from hubd.assistant.for_later import timed
from hubd.assistant.for_later.later import LATER
from hubd.assistant.misread import VALUE
from hubd.assistant.several import Part
from hubd.assistant.understanding.beside import limits
from hubd.assistant.understanding.fill import TIMER
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.of_what_is_set import is_of_what_is_set
from plugins.numbers import digits

TIMED = frozenset({"reminders.add", "alarms.set", "calendar.add"})
"""What says a time that is its own."""
HOLD_TEXTS = frozenset({"reminders.add", "calendar.add"})
"""What keeps a text, which may say anything."""
SETS = TIMED | {TIMER}
"""What begins something that other words of the same sentence may end or move."""


def is_misjoined(
    parts: Sequence[Part], text: str, known: Lexicon, only_reads: Callable[[str], bool]
) -> bool:
    """Whether the parts are not what ``text`` asks for.

    only_reads: whether a tool does nothing
    """
    tools = [part.decision.tool for part in parts if part.decision.tool]
    kinds, said_of = {tool.partition(".")[0] for tool in tools}, known.subjects(text)
    if "timers" in kinds and (said_of - kinds) & NAMELESS:
        return True  # "remind me in half an hour, no, make it forty minutes, to …" is no timer
    lost = [known.stripped(part.text) for part in parts if not part.decision.tool]
    worked = any(known.commands(said) and known.actions_in(said) for said in lost)
    if lost and not worked and all(map(only_reads, tools)):
        return True  # "tell me the time and place of the concert" is one question
    if not tools:
        return False
    if parts[-1].decision.tool is None and limits(lost[-1]):
        return True  # "the light, but only the small one"
    if any(VALUE.search(digits(said, known.language)) for said in lost):
        return True  # "a warmer white, say 2700 kelvin": a value that nobody heeds
    works = any(part.decision.entities for part in parts) and not known.corrected(text)
    timed_alone = [part for part in parts if part.decision.tool in TIMED]
    rest = text
    for part in timed_alone:
        rest = rest.replace(part.text, "")
    if works and LATER not in tools and timed.says_when_apart(rest, known):
        return True  # "tonight, turn the dryer on" is not for now
    likened = {part.decision.tool for part in parts if part.decision.route == "semantic"}
    if works and TIMER in likened and "timers" not in said_of:
        return True  # "in, like, ten minutes, well, fifteen, turn it off" is not for now either
    sets = not SETS.isdisjoint(tools)
    return sets and any(
        is_of_what_is_set(part.text, known.language) for part in parts if not part.decision.tool
    )


def is_given_up(parts: Sequence[Part], text: str) -> bool:
    """Whether something would be set that ``text`` ends or moves: „Wecker um sieben, äh, brauchen
    wir nicht“. What is kept of it, and other commands, may say anything."""
    if SETS.isdisjoint(part.decision.tool for part in parts):
        return False
    rest = text.casefold()
    for part in parts:
        call = part.decision.call
        kept = call.arguments.values() if call and call.tool in HOLD_TEXTS else ()
        said = [part.text] if len(parts) > 1 and part.decision.tool else map(str, kept)
        for value in filter(None, said):
            rest = rest.replace(value.casefold(), " ")
    return is_of_what_is_set(rest, parts[0].decision.language)


def of_something_else(parts: Sequence[Part], text: str, known: Lexicon) -> bool:
    """Whether ``text`` speaks of a timer, an alarm, a reminder or a list that no part is about: a
    part that names no thing is about it then."""
    kinds = {(part.decision.tool or "").partition(".")[0] for part in parts}
    return bool((known.subjects(text) & KEEPING) - kinds)
