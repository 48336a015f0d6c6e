"""What an utterance may mean by its likeness to examples, before it is decided on: its intents by
how likely they are, what it speaks of, and the call that an intent is.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from hubd.assistant.by_likeness.conditions import Candidate, is_implied
from hubd.assistant.by_likeness.proposals import only_sounds_so
from hubd.assistant.decision import Decision
from hubd.assistant.for_later.timed import clocks_in
from hubd.assistant.understanding.fill import Filled, fill
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.likeness import Guess, Intent, opposed
from hubd.assistant.understanding.mentions import Mentions
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Snapshot

SURE_BY_ITSELF = 0.7
"""How likely an intent is that no phrase makes less likely than its opposite."""
IMPLIED = 4.0
"""How much likelier an intent is whose verb is paraphrased."""
IMPLIED_ALONE = 30.0
"""The same where no verb is said besides: "it's perishing in here"."""
LEAST_IMPLIED = 0.05
"""How likely an intent is at least then: the phrase is a reason of its own."""
MOST_NONE = 0.5
"""How likely it may be that no tool is asked for, where a phrase alone stands for the verb."""
_WAKES = re.compile(r"\b(?:wake|woken)\b|alarm|weck|叫我|闹|起床")
"""What is said of an alarm, and not of when somebody gets up."""


class Heard(NamedTuple):
    """What an utterance may mean, likeliest first, what it speaks of, and where."""

    guesses: list[Guess]
    said: Mentions
    snapshot: Snapshot
    area: str
    """The id of the asking device's area."""


def is_called_otherwise(said: Mentions) -> bool:
    """Whether no word of what is named is said, and no verb: it only sounds so."""
    heard = set(said.text.split()) if " " in said.text else set(said.text)
    words = {word for name in said.names for word in plain(name).replace("-", " ").split()}
    return only_sounds_so(said) and not any(
        word in heard or (len(word) > 1 and word in said.text) for word in words
    )


def with_last_value(intent: Intent, heard: Heard, language: str) -> Filled | None:
    """What is asked for; of several values and times the last one: "sixty, no, seventy"."""
    said = heard.said
    filled = fill(intent, said, heard.snapshot, heard.area, language)
    if filled is None and len(said.numbers) > 1 and lexicon(language).corrected(said.text):
        last = said._replace(numbers=said.numbers[-1:])
        filled = fill(intent, last, heard.snapshot, heard.area, language)
    clocks = clocks_in(said.text, language) if intent.needs == "time" else []
    if filled is None and clocks and _WAKES.search(said.text):
        last = said._replace(text=clocks[-1])
        filled = fill(intent, last, heard.snapshot, heard.area, language)
    return filled


def weighed(guesses: Sequence[Guess], said: Mentions) -> list[Guess]:
    """The guesses, with those likelier whose verb a phrase stands for: "the sun blinds me". Where
    the examples are sure by themselves, they are: "I can hardly hear myself think" is no "louder",
    though "I can hardly hear" is one."""
    first = guesses[0]
    if first.confidence >= SURE_BY_ITSELF and any(
        is_implied(guess.intent, said) and opposed(guess.intent, first.intent) for guess in guesses
    ):
        return list(guesses)
    none = sum(guess.confidence for guess in guesses if guess.intent.tool == "none")
    alone = not said.actions and none <= MOST_NONE
    weights = [
        guess.confidence
        if not is_implied(guess.intent, said)
        else IMPLIED_ALONE * (guess.confidence + LEAST_IMPLIED)
        if alone
        else IMPLIED * guess.confidence
        for guess in guesses
    ]
    return scaled(guesses, weights)


def scaled(guesses: Sequence[Guess], weights: Sequence[float]) -> list[Guess]:
    """The guesses, likeliest first, with confidences in the proportions of ``weights``."""
    total = sum(weights) or 1.0
    found = [
        msgspec.structs.replace(guess, confidence=weight / total)
        for guess, weight in zip(guesses, weights, strict=True)
    ]
    return sorted(found, key=lambda guess: -guess.confidence)


def decision_of(found: Candidate, language: str) -> Decision:
    """The decision to do what a candidate asks for."""
    _, filled, confidence = found
    arguments = {k: v for k, v in filled.call.arguments.items() if k != "entities"}
    return Decision(
        route="semantic",
        tool=filled.call.tool,
        entities=filled.targets.ids,
        arguments=arguments,
        score=round(confidence, 2),
        reason=f"it is like the examples of {filled.call.tool}",
        call=filled.call,
        language=language,
    )
