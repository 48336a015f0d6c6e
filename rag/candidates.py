"""The sentences of passages that can answer a question, and what an encoder reads of each.

Must not know of questions, databases or models.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from rag.lexical import Term, keys, name_words, terms_of
from rag.sentences import Sentence, cells, split
from rag.types import Passage

_PRONOUN = re.compile(
    r"(?:he|she|it|they|his|her|hers|its|their|this|these|that|those)\b", re.IGNORECASE
)


_SOMEBODY = re.compile(r"\b(?:he|she|his|him|her|hers)\b", re.IGNORECASE)
LONGEST_LINK = 120
"""Characters: a longer sentence says other things besides."""


class Candidate(NamedTuple):
    """A sentence with the passage it stands in."""

    sentence: Sentence
    passage: Passage
    subject: str
    """The sentence before it, when it begins with a pronoun that stands for something there."""
    around: frozenset[str]
    """Keys of the headings, of the document's name, and of what stands above the sentence."""
    present: frozenset[str]
    """The same with those of the sentence, of its subject, and of whom "his" or "she" may mean."""
    link: str = ""
    """Of a row: the sentence of the document that speaks of what the row is of. "Mika is with the
    Juniors" makes the Juniors' row one about Mika."""


def candidates_of(passages: Sequence[Passage]) -> list[Candidate]:
    """The sentences of ``passages`` that can answer, each text once a document, in order."""
    seen: set[tuple[str, str]] = set()
    candidates = []
    sentences = _sentences_by_document(passages)
    for passage in passages:
        above = keys(passage.heading) | keys(name_words(passage.document))
        before, named = "", frozenset[str]()
        for sentence in split(passage.text):
            subject = before if _PRONOUN.match(sentence.text) else ""
            before = sentence.text
            of_somebody = named if _SOMEBODY.search(sentence.text) else frozenset[str]()
            named |= {term.key for term in terms_of(sentence.text) if _may_be_a_name(term)}
            if (passage.document, sentence.text) in seen or not _can_answer(sentence):
                continue
            seen.add((passage.document, sentence.text))
            around = above | keys(sentence.context)
            present = around | keys(sentence.text) | keys(subject) | of_somebody
            link = _link(sentence, sentences[passage.document]) if sentence.kind == "row" else ""
            candidates.append(Candidate(sentence, passage, subject, around, present, link))
    return candidates


def _may_be_a_name(term: Term) -> bool:
    return term.kind == "word" and term.capital and term.end - term.start > 2


def _sentences_by_document(passages: Sequence[Passage]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for passage in passages:
        own = [piece.text for piece in split(passage.text) if piece.kind == "sentence"]
        found.setdefault(passage.document, []).extend(own)
    return found


def _link(row: Sentence, sentences: Sequence[str]) -> str:
    """The short sentence that writes what stands in the row's first cell as a name; "" if none."""
    label = cells(row.text)[0]
    if not label[:1].isupper() or not keys(label):
        return ""
    named = re.compile(rf"(?<=\w ){re.escape(label)}\b")
    return next((one for one in sentences if named.search(one) and len(one) <= LONGEST_LINK), "")


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
