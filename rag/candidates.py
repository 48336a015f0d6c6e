"""The sentences of passages that can answer a question, and what an encoder reads of each.

Must not know of questions, databases or models.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from rag.lexical import keys, name_words, terms_of
from rag.sentences import Sentence, split
from rag.types import Passage

_PRONOUN = re.compile(
    r"(?:he|she|it|they|his|her|hers|its|their|this|these|that|those)\b", re.IGNORECASE
)


class Candidate(NamedTuple):
    """A sentence with the passage it stands in."""

    sentence: Sentence
    passage: Passage
    subject: str
    """The sentence before it, when it begins with a pronoun that stands for something there."""
    around: frozenset[str]
    """Keys of the headings, of the document's name, and of what stands above the sentence."""
    present: frozenset[str]
    """The same with those of the sentence and of its subject."""


def candidates_of(passages: Sequence[Passage]) -> list[Candidate]:
    """The sentences of ``passages`` that can answer, each text once a document, in order."""
    seen: set[tuple[str, str]] = set()
    candidates = []
    for passage in passages:
        above = keys(passage.heading) | keys(name_words(passage.document))
        before = ""
        for sentence in split(passage.text):
            subject = before if _PRONOUN.match(sentence.text) else ""
            before = sentence.text
            if (passage.document, sentence.text) in seen or not _can_answer(sentence):
                continue
            seen.add((passage.document, sentence.text))
            around = above | keys(sentence.context)
            present = around | keys(sentence.text) | keys(subject)
            candidates.append(Candidate(sentence, passage, subject, around, present))
    return candidates


def embedded_sentence(candidate: Candidate) -> str:
    """What the encoder reads of a candidate: the innermost heading says what a bare value is of."""
    context = candidate.sentence.context or candidate.passage.heading
    above = context.rsplit(" > ", 1)[-1]
    text = " ".join(part for part in (candidate.subject, candidate.sentence.text) if part)
    return f"{above}: {text}" if above else text


def read_text(candidate: Candidate) -> str:
    """What the reader reads of a candidate: all that stands above it, from the document's name."""
    passage = candidate.passage
    above = (name_words(passage.document), passage.heading, candidate.sentence.context)
    text = " ".join(part for part in (candidate.subject, candidate.sentence.text) if part)
    return f"{' > '.join(dict.fromkeys(part for part in above if part))}: {text}"


def _can_answer(sentence: Sentence) -> bool:
    """Headings, and fragments without two words or a value, say nothing by themselves."""
    if sentence.kind == "heading":
        return False
    found = terms_of(sentence.text)
    return len(found) >= 2 or any(term.kind in ("number", "code") for term in found)
