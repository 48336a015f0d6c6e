"""What the language model reads: the static part first, what changes last.

The system message is byte-identical between requests, so that its keys and values are computed
once. Then the conversation; then the passages, in the order of the documents rather than of their
scores, so that two questions about one page share a longer prefix; last the question.
"""

from collections.abc import Sequence

from engine.protocol import ChatMessage
from rag.types import Evidence, Passage

SYSTEM = (
    "You answer questions about a family's home from the notes you are given. "
    "Answer in one short sentence with the words and numbers of the notes. "
    "Never add anything that the notes do not say."
)

PASSAGES_BUDGET = 1600
"""Characters of passages, about 400 tokens: prefill decides when the first word comes."""

HISTORY_MESSAGES = 4


def build(
    question: str, passages: Sequence[Passage], evidence: Evidence, history: Sequence[ChatMessage]
) -> list[ChatMessage]:
    """The messages of one question: static, then conversation, then passages, then question."""
    notes = "\n\n".join(_note(passage) for passage in in_budget(passages, evidence))
    return [
        ChatMessage(role="system", content=SYSTEM),
        *history[-HISTORY_MESSAGES:],
        ChatMessage(role="user", content=f"Notes:\n\n{notes}\n\nQuestion: {question}"),
    ]


def in_budget(passages: Sequence[Passage], evidence: Evidence) -> list[Passage]:
    """The passages that fit, those with evidence first, then by rank; in document order."""
    ranked = sorted(passages, key=lambda passage: not _holds_evidence(passage, evidence))
    chosen: list[Passage] = []
    room = PASSAGES_BUDGET
    for passage in ranked:
        if chosen and len(passage.text) > room:
            break
        chosen.append(passage)
        room -= len(passage.text)
    return sorted(chosen, key=lambda passage: (passage.document, passage.page or 0, passage.start))


def _holds_evidence(passage: Passage, evidence: Evidence) -> bool:
    return any(
        quote.document == passage.document
        and quote.page == passage.page
        and passage.start <= quote.start < passage.end
        for quote in evidence.quotes
    )


def _note(passage: Passage) -> str:
    return f"{passage.heading}\n{passage.text}" if passage.heading else passage.text
