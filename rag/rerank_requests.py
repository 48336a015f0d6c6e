"""What goes over the pipe to the reranking process, and back, as msgpack."""

import msgspec


class ScoreRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Texts that are to be compared with one question."""

    question: str
    texts: list[str]


class ScoreReply(msgspec.Struct, frozen=True, kw_only=True):
    """How well each text answers, in the order asked; larger is better, of any scale."""

    scores: list[float]
