"""What the language model reads: the static part first, what changes last.

The system message is byte-identical between requests, so that its keys and values are computed
once. Then the conversation; last the notes and the question. Notes are the evidence, not whole
passages: with SmolLM2-135M four times as many answers hold the fact, after a sixth of the tokens.
"""

from collections.abc import Sequence

from engine.protocol import ChatMessage
from rag.types import Evidence

SYSTEM = (
    "You answer questions about a family's home. "
    "Answer from the notes in one short sentence. Use the words and numbers of the notes."
)

HISTORY_MESSAGES = 4


def build(
    question: str, evidence: Evidence, history: Sequence[ChatMessage] = ()
) -> list[ChatMessage]:
    """The messages of one question: static, then conversation, then notes and question.

    The notes stand in the order of the documents, not of their scores: two questions about one page
    then share a longer prefix.
    """
    quotes = sorted(
        evidence.quotes, key=lambda quote: (quote.document, quote.page or 0, quote.start)
    )
    notes = "\n".join(quote.text for quote in quotes)
    return [
        ChatMessage(role="system", content=SYSTEM),
        *history[-HISTORY_MESSAGES:],
        ChatMessage(role="user", content=f"{notes}\n\nQuestion: {question}"),
    ]
