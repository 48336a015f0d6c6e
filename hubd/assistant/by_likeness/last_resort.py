"""What is asked about where nothing else explains a long utterance.

``conditions`` and ``proposals`` look at every word, and in a long sentence there are some that
nobody knows. Where the examples and the wording together are sure of a tool all the same, and it
can be filled in, whoever spoke is asked: "Shall I turn the radiator up?" A short sentence has
nothing in it but what was looked at already.
"""

from collections.abc import Iterator, Sequence

from hubd.assistant.by_likeness.candidates import Heard
from hubd.assistant.by_likeness.conditions import Candidate, times_a_thing
from hubd.assistant.by_likeness.proposals import MOST_THINGS, changes, may_wish, phrase
from hubd.assistant.decision import Decision
from hubd.assistant.understanding.fill import (
    LONGER,
    MOWING,
    SHORTER,
    Filled,
    duration,
    fill,
)
from hubd.assistant.understanding.lexicon import Lexicon, lexicon
from hubd.assistant.understanding.likeness import Guess, opposed
from hubd.assistant.understanding.mentions import Mentions
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.readings import wonders
from hubd.assistant.understanding.still import is_for_later, unwished
from hubd.assistant.understanding.supposed import supposed
from hubd.assistant.understanding.targets import NOBODY, Targets
from hubd.home.model import Snapshot
from plugins.api import ToolCall

LEAST = 0.6
"""How likely a tool is at least. Of 900 utterances of strangers, asked blind, 23 came this far: 19
were meant so, none asked for nothing."""
FEWEST_WORDS, FEWEST_CHARACTERS = 7, 10
"""What is long, and in Chinese. Of 500 remarks that were made to be mistaken for commands 85 of the
shorter ones would be asked about."""

LEAST_TOLD = 0.85
"""How likely a tool is that only tells something, and so does at once."""
MOST_OPPOSED = 0.5
"""How likely the opposite may be, as a part of what is asked about."""


def may_be_asked(text: str, known: Lexicon) -> bool:
    """Whether ``text`` is long, and may be a wish."""
    return is_long(text, known) and may_wish(text, known) and not asks(text, known)


def is_long(text: str, known: Lexicon) -> bool:
    """Whether ``text`` may well have words besides those that ask for something."""
    said = plain(text)
    if known.spaces:
        return len(said.split()) >= FEWEST_WORDS
    return len(said.replace(" ", "")) >= FEWEST_CHARACTERS


def asks(text: str, known: Lexicon) -> bool:
    """Whether ``text`` is a question, which nothing is to be done for."""
    return known.inquires_first(plain(text)) or wonders(text, known.language)


def candidate(tool: str, chance: float, heard: Heard, language: str) -> Candidate | None:
    """The likeliest call of ``tool`` that what was said has all values for, that a question can
    name and that would change something; chance: how likely the tool is."""
    if times_a_thing(tool, heard.said):
        return None
    if tool in (LONGER, SHORTER):
        return _of_a_timer(tool, chance, heard, language)
    alike = {tool, *(other for other, mows in MOWING.items() if mows == tool)}
    guesses = [guess for guess in heard.guesses if guess.intent.tool in alike]
    guesses = [guess for guess in guesses if not _has_a_rival(guess, heard.guesses)]
    for guess, found in _fillings(guesses, heard, language):
        entities = found.targets.entities
        if found.call.tool != tool:
            continue
        if entities and heard.said.times:
            return None  # "turn it off in a bit" is not for now
        told = phrase(found.call, entities, language) is not None
        if told and len(entities) <= MOST_THINGS and changes(found):
            return Candidate(guess, found, chance)
    return None


def _of_a_timer(tool: str, chance: float, heard: Heard, language: str) -> Candidate | None:
    """What makes a timer longer or shorter, by the duration that is said."""
    length = duration(heard.said.text, language)
    if not length:
        return None
    call = ToolCall(tool=tool, arguments=length)
    return Candidate(heard.guesses[0], Filled(call, NOBODY, named=True), chance)


def otherwise(
    text: str, said: Mentions, snapshot: Snapshot, language: str
) -> tuple[Decision, Targets] | None:
    """The decision to change what is told to be still so, and what it touches; ``None`` where
    nothing is, or a time is said."""
    found = unwished(text, said, snapshot, lexicon(language))
    if found is None or is_for_later(said, lexicon(language)):
        return None
    thing = found.entity
    decision = Decision(
        route="semantic",
        tool=found.tool,
        entities=[thing.id],
        score=LEAST,
        reason=f"{thing.name} is said to be still {thing.state}",
        call=ToolCall(tool=found.tool, arguments={"entities": [thing.id]}),
        language=language,
    )
    return decision, Targets((thing,))


def told(tool: str, chance: float, heard: Heard, text: str, language: str) -> Candidate | None:
    """What ``tool``, which only tells something, is asked for: of one thing at most."""
    if chance < LEAST_TOLD or not is_long(text, lexicon(language)):
        return None
    for guess in heard.guesses:
        if guess.intent.tool != tool:
            continue
        found = fill(guess.intent, heard.said, heard.snapshot, heard.area, language)
        if found and len(found.targets.entities) <= 1:
            return Candidate(guess, found, chance)
    return None


def _has_a_rival(guess: Guess, guesses: Sequence[Guess]) -> bool:
    """Whether the opposite may as well be meant: warmer, and not cooler."""
    return any(
        opposed(guess.intent, other.intent) and other.confidence > MOST_OPPOSED * guess.confidence
        for other in guesses
    )


def _fillings(
    guesses: Sequence[Guess], heard: Heard, language: str
) -> Iterator[tuple[Guess, Filled]]:
    """The calls that the guesses may be here, likeliest first."""
    _, said, snapshot, area = heard
    for guess in guesses:
        for less in _with_less(said):
            if found := fill(guess.intent, less, snapshot, area, language):
                yield guess, found
    for guess in guesses:
        if found := supposed(guess.intent, said, snapshot, area, language):
            yield guess, found


def _with_less(said: Mentions) -> Iterator[Mentions]:
    """What was said, and the same with the last number alone, with none, of the first room, and
    without verbs: a reason has numbers, rooms and verbs of its own."""
    yield said
    if len(said.numbers) > 1:
        yield said._replace(numbers=said.numbers[-1:])
    if said.difference:
        yield said._replace(difference=False)
    for less in (said, said._replace(areas=said.areas[:1])):
        for numbers in dict.fromkeys((less.numbers, ())):
            for actions in dict.fromkeys((less.actions, frozenset[str]())):
                yield less._replace(numbers=numbers, actions=actions)
