"""Answers that the language model has given, for the same question over the same text.

Likeness of questions decides nothing here: for an encoder "turn on" and "turn off the light" are
alike (.91), true paraphrases .52 to .84. A hit has the same words, of the same model, over the same
quotes of documents, letter for letter: what changed in a document, or may not be seen by who asks,
makes another question. Only first questions of a conversation, about documents: what a tool, the
time or a device has a part in never comes here. Must not know of turns or HTTP.
"""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from hubd.assistant.answers.ground import Grounded
from rag.types import Passage


class Asked(NamedTuple):
    """What an answer depends on. Make it with ``asked``."""

    model: str
    question: str
    quotes: tuple[Hashable, ...]


def asked(model: str, question: str, quotes: Sequence[Passage]) -> Asked:
    """The question in its plainest form: without capitals, spaces too many and its last mark."""
    plain = " ".join(question.casefold().split()).rstrip(" ?!.？！。")
    return Asked(
        model, plain, tuple((q.document, q.page, q.start, q.end, q.heading, q.text) for q in quotes)
    )


class AnswerCache:
    """The answers used last, in memory: a restart forgets them."""

    def __init__(self, size: int) -> None:
        """size: answers that are kept; 0 keeps none."""
        self._size = size
        self._kept: OrderedDict[Asked, tuple[Grounded, ...]] = OrderedDict()
        self.hits = 0
        self.misses = 0

    def get(self, question: Asked) -> tuple[Grounded, ...]:
        """The pieces of the answer; none where it is not known."""
        found = self._kept.get(question, ())
        if found:
            self._kept.move_to_end(question)
            self.hits += 1
        elif self._size:
            self.misses += 1
        return found

    def put(self, question: Asked, answer: Sequence[Grounded]) -> None:
        """Keep a whole answer, in place of the one that was used longest ago."""
        if not self._size or not answer:
            return
        self._kept[question] = tuple(answer)
        self._kept.move_to_end(question)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forget everything, since somebody wants something forgotten."""
        self._kept.clear()
