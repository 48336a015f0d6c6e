"""What the drawing process is asked, and what it answers: msgpack on the wire."""

import msgspec

Mark = tuple[float, float, float, float]
"""Left, top, width and height of a rectangle, as shares of the page: 0 to 1."""


class DrawRequest(msgspec.Struct, tag="draw"):
    """Page ``page`` (from 1) of the file at ``path``, ``width`` pixels wide."""

    path: str
    page: int
    width: int
    seconds: int


class MarkRequest(msgspec.Struct, tag="mark"):
    """Where on the page the characters of ``text`` stand, white space aside."""

    path: str
    page: int
    text: str
    before: int
    """How many of the page's visible characters come before it: decides between two of a kind."""
    seconds: int


class Drawn(msgspec.Struct):
    """A picture or marks, or the reason why there are none."""

    reason: str = ""
    png: bytes = b""
    marks: list[Mark] = []
