"""Count which words stand behind each other in what is said to a house.

    python -m bench.fit_channel [LANGUAGE…]

Writes hubd/assistant/understanding/pairs/LANGUAGE.npz, from the examples and from sentences that
the grammars of hubd and of Home Assistant make, drawn at random. The hub reads it to find what was
said by what was heard; it has to be run again where sentences or examples speak of something new.
"""

import argparse
import itertools
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import home_assistant_intents
import numpy as np
from hassil import Intents
from hassil.expression import (
    Alternative,
    Expression,
    Group,
    ListReference,
    Permutation,
    RuleReference,
    Sentence,
    TextChunk,
)
from hassil.intents import RangeSlotList, SlotList, TextSlotList

import plugins
from hubd.assistant.understanding.grammar import LANGUAGES
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.likeness import intents_of
from hubd.assistant.understanding.noisy_channel import FOLDER, FREE, NUMBER, counts_of

SAMPLES = 12
"""Sentences of a template."""
EXAMPLES_WEIGH = 3
"""An example against a sentence of a template."""
LONGEST_FREE = 3
"""Words of a title."""
SEED = 7


class Drawn:
    """Sentences of a grammar at random."""

    def __init__(self, intents: Intents, language: str, chance: random.Random) -> None:
        self._intents, self._chance = intents, chance
        known = lexicon(language)
        self._named = {"name": known.stand_in("light"), "area": known.stand_in("area")}
        self._spaces = known.spaces

    def sentences(self) -> Iterator[str]:
        for intent in self._intents.intents.values():
            for data in intent.data:
                rules = {**self._intents.expansion_rules, **data.expansion_rules}
                for sentence in data.sentences:
                    yield from {self._one(sentence.expression, rules) for _ in range(SAMPLES)}

    def _one(self, expression: Expression, rules: Mapping[str, Sentence]) -> str:
        match expression:
            case TextChunk():
                return str(expression.original_text)
            case Alternative():
                return self._one(self._chance.choice(expression.items), rules)
            case Permutation():
                items = self._chance.sample(expression.items, len(expression.items))
                return " ".join(self._one(item, rules) for item in items)
            case Group():
                return "".join(self._one(item, rules) for item in expression.items)
            case RuleReference():
                return self._one(rules[expression.rule_name].expression, rules)
            case ListReference():
                return self._value(expression.list_name, rules)
            case _:
                raise TypeError(f"no part of a sentence: {expression}")

    def _value(self, name: str, rules: Mapping[str, Sentence]) -> str:
        values: SlotList | None = self._intents.slot_lists.get(name)
        if isinstance(values, RangeSlotList):
            return NUMBER
        if isinstance(values, TextSlotList) and values.values:
            return self._one(self._chance.choice(values.values).text_in, rules)
        if name in self._named:
            return self._named[name]
        between = " " if self._spaces else ""
        return between.join([FREE] * self._chance.randint(1, LONGEST_FREE))


def grammars(language: str) -> Iterator[Intents]:
    folder = Path(plugins.__file__).parent
    for path in sorted(folder.glob(f"*.{language}.yaml")):
        yield Intents.from_yaml(path.open(encoding="utf-8"))
    if shared := home_assistant_intents.get_intents(LANGUAGES[language]):
        yield Intents.from_dict(shared)


def count(language: str) -> None:
    chance = random.Random(SEED)
    examples = ((said, EXAMPLES_WEIGH) for one in intents_of(language) for said in one.said)
    drawn = (
        (text, 1) for one in grammars(language) for text in Drawn(one, language, chance).sentences()
    )
    pairs = counts_of(itertools.chain(examples, drawn), language)
    words = sorted({*pairs, *(word for behind in pairs.values() for word in behind)})
    place = {word: number for number, word in enumerate(words)}
    rows = [
        (place[before], place[word], min(times, 65_535))
        for before, behind in sorted(pairs.items())
        for word, times in sorted(behind.items())
    ]
    before, behind, times = (np.array(column, np.uint16) for column in zip(*rows, strict=True))
    path = FOLDER / f"{language}.npz"
    FOLDER.mkdir(exist_ok=True)
    text = np.frombuffer("\n".join(words).encode(), np.uint8)
    np.savez_compressed(path, words=text, before=before, behind=behind, times=times)
    print(f"{path.name}: {len(words)} words, {len(rows)} pairs, {path.stat().st_size / 1e3:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("languages", nargs="*", default=["en", "de", "zh"], metavar="LANGUAGE")
    for language in parser.parse_args().languages:
        count(language)


if __name__ == "__main__":
    main()
