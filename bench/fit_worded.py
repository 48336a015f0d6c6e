"""Fit what tells utterances about words and times apart, and what marks their parts.

    python -m bench.fit_worded [LANGUAGE…] [--check]

Writes hubd/assistant/understanding/worded/LANGUAGE.npz beside each LANGUAGE.txt, and has to be run
after every change of these examples, of those of `bench/fit_examples.py`, or of the words (the
lexicon) that are known in either. With ``--check`` nothing is written: every fifth example in turn
is left out of a fit and guessed, which prints how often the likeliest tool was the right one, and
how often all parts were the marked ones.
"""

import itertools
import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bench.fit_examples import FOLDS, Inputs, asked, fitted, regression, vectors_of
from hubd.assistant.understanding import likeness
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.likeness import (
    ENCODED,
    SHARPNESS,
    inputs_of,
    intents_of,
    softmax,
    spoken_of,
)
from hubd.assistant.understanding.ngrams import counted, rarity
from hubd.assistant.understanding.tagger import PLACES, TAGS, parts_of, places_of, scores_of, tagged
from hubd.assistant.understanding.worded import (
    FOLDER,
    Example,
    digest_of,
    examples_of,
    masked_examples,
    spoken_examples_of,
    tools_of,
    worded_tools,
)

EPOCHS = 8
SPOKEN_TIMES = 2
"""How often what people said is learned from in an epoch."""
HIDDEN = 0.5
"""How many words are not looked at in training: what is put on a list may be anything."""


class Tags:
    """The weights of the tagger while they are fitted, and their averages."""

    def __init__(self) -> None:
        self.weights = np.zeros((PLACES, TAGS), np.float32)
        self.moves = np.zeros((TAGS, TAGS), np.float32)
        self._summed, self._summed_moves = self.weights.copy(), self.moves.copy()
        self._seen = 0

    def learn(self, one: Example, places: NDArray[np.intp]) -> None:
        """Weigh down the tags that are likeliest, and up those that are wanted."""
        self._seen += 1
        wanted = one.tags
        found = tagged(scores_of(self.weights, places, one.tokens), self.moves)
        if found == wanted:
            return
        for row, tag, other in zip(places, wanted, found, strict=True):
            if tag != other:
                for weights, by in ((self.weights, 1.0), (self._summed, float(self._seen))):
                    np.add.at(weights[:, tag], row, by)
                    np.subtract.at(weights[:, other], row, by)
        for tags, by in ((wanted, 1.0), (found, -1.0)):
            for before, after in itertools.pairwise(tags):
                self.moves[before, after] += by
                self._summed_moves[before, after] += by * self._seen

    def averaged(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Weights (PLACES, TAGS) and moves (TAGS, TAGS)."""
        seen = np.float32(self._seen + 1)
        return self.weights - self._summed / seen, self.moves - self._summed_moves / seen


def tags_of(examples: Sequence[Example], language: str) -> Tags:
    """The tagger, fitted."""
    chance = random.Random(0)
    tags, order = Tags(), list(examples)
    for _ in range(EPOCHS):
        chance.shuffle(order)
        for one in order:
            hidden = [i for i in range(len(one.tokens)) if chance.random() < HIDDEN]
            tags.learn(one, places_of(one.tokens, one.tool, language=language, hidden=hidden))
    return tags


class Texts:
    """All examples of a language as the regression sees them: the marked ones, then the others, and
    what people said."""

    def __init__(self, language: str) -> None:
        self.marked, tools = examples_of(language), tools_of(language)
        rest = [intent.tool for intent in intents_of(language) for _ in intent.said]
        spoken = [(one.tool, text) for one in spoken_of(language) for text in one.said]
        spoken = [(tool, text) for tool, text in spoken if tool in tools]
        number = {tool: i for i, tool in enumerate(tools)}
        said_of = (*(e.tool for e in self.marked), *rest, *(tool for tool, _ in spoken))
        self.labels = np.array([number[tool] for tool in said_of])
        said = [*masked_examples(self.marked, language), *likeness.examples_of(language)]
        said += [text for _, text in spoken]
        counts = counted(said, lexicon(language).spaces)
        self.rare = rarity(counts)
        encoded = [vectors_of(said) * SHARPNESS] if language in ENCODED else []
        constant = np.ones((len(said), 1), np.float32)
        words = csr_array(inputs_of(counts, self.rare))
        self.inputs = Inputs(np.hstack([*encoded, constant]), words)


def write(language: str) -> None:
    """Fit a language's weights and write them."""
    spoken = spoken_examples_of(language) * SPOKEN_TIMES
    weights, moves = tags_of([*examples_of(language), *spoken], language).averaged()
    unit = float(np.abs(weights).max()) / 127
    texts = Texts(language)
    tools = tools_of(language)
    stored = fitted(texts.inputs, texts.rare, texts.labels, len(tools), digest_of(language))
    path = FOLDER / f"{language}.npz"
    tags = np.rint(weights / unit).astype(np.int8)
    np.savez_compressed(
        path, tools=tools, tags=tags, moves=moves, tag_unit=unit, **stored._asdict()
    )
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


def check(language: str) -> None:
    """Print how well what takes no part in a fit is understood."""
    texts = Texts(language)
    tools, own = np.array(tools_of(language)), worded_tools(language)
    fold_of = np.arange(len(texts.labels)) % FOLDS
    chances = np.zeros((len(texts.labels), len(tools)), np.float32)
    exact = []
    for fold in range(FOLDS):
        out = fold_of == fold
        weights = regression(texts.inputs.of(~out), texts.labels[~out], len(tools))
        chances[out] = softmax(texts.inputs.of(out).scores(weights))
        learned = [one for i, one in enumerate(texts.marked) if fold_of[i] != fold]
        tag_weights, moves = tags_of(learned, language).averaged()
        for i, one in enumerate(texts.marked):
            if fold_of[i] == fold:
                places = places_of(one.tokens, one.tool, language=language)
                found = tagged(scores_of(tag_weights, places, one.tokens), moves)
                said = parts_of(one.text, one.tokens, found)
                exact.append(said == parts_of(one.text, one.tokens, one.tags))
    best = chances.argmax(axis=1)
    marked = np.arange(len(best)) < len(texts.marked)
    is_own = np.isin(tools[best], list(own))
    print(
        f"{language}: {marked.sum()} marked examples, "
        f"{(best == texts.labels)[marked].mean():.1%} have the right tool, "
        f"{np.mean(exact):.1%} exactly the marked parts; "
        f"{is_own[~marked].mean():.1%} of the {(~marked).sum()} others are taken for one of them"
    )


def main() -> None:
    languages, only_check = asked(__doc__ or "", FOLDER, ".txt")
    for language in languages:
        check(language) if only_check else write(language)


if __name__ == "__main__":
    main()
