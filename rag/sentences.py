"""A page's text as the smallest pieces that can be quoted: sentences, list items, table rows.

Every piece keeps its character offsets: ``text[piece.start:piece.end] == piece.text``. Must
not know of questions or models.
"""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["sentence", "item", "row", "label", "heading"]


class Sentence(NamedTuple):
    """One quotable piece. A ``heading`` says what follows is about, and answers nothing alone."""

    start: int
    end: int
    text: str
    kind: Kind
    context: str
    """What stands above it in the same text: headings, a list's lead-in, a table's header row."""


class _Line(NamedTuple):
    start: int
    end: int
    text: str
    kind: Kind


_HEADING = re.compile(r"#{1,6}\s+\S|[*_]{2}[^*_]+[*_]{2}:?$")
_ITEM = re.compile(r"(?:[-*+•·▪◦–—]|\(?\d{1,2}[.)]|\(?[a-h][.)]|步骤\d+|[①-⑳])\s+\S|[①-⑳•]\S")
_TITLE_YEAR = re.compile(r"\s(?:19|20)\d\d$")
_RULE = re.compile(r"[\s|:=*_+-]+$")
_LABEL = re.compile(r"[^.!?:;。！？：；]{1,40}(?::\s+|：\s*)\S")
_COLUMNS = re.compile(r"\S(?:\t+| {3,})\S")
_CELL_END = re.compile(r"\||\t+| {2,}")
_LONG_LINE = 60
_WHOLE = 160
"""Items and labelled lines up to this long are one piece: the remedy stays with its error code."""
_TERMINAL = tuple(".!?。！？；…:：")

_END = re.compile(r"""[.!?…]+["'”’)\]*_]*(?=\s)|[。！？；]+["'”’」』）]*""")
_BEFORE = r"(?:^|[\s(\"'])"
_ABBREVIATION = re.compile(
    _BEFORE
    + r"(?:e\.g|i\.e|eg|ie|cf|approx|ca|Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|vs|max|min|incl|excl|Tel|tel|Ext"
    r"|ext|Apt|Ave|Rd|Blvd|Co|Inc|Ltd|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Mon|Tue|Wed"
    r"|Thu|Fri|Sat|Sun|z\.B|bzw|Str|[A-Z]|[A-Z]\.[A-Z]|U\.S)\.$"
)
_BEFORE_A_NUMBER = re.compile(
    _BEFORE + r"(?:No|Nos|Nr|Fig|Figs|Art|Sec|Para|Vol|Ch|pp?)\.$", re.IGNORECASE
)
_LIST_NUMBER = re.compile(r"\s*\(?\d{1,2}\.$")


@lru_cache(maxsize=1_024)
def split(text: str) -> tuple[Sentence, ...]:
    """The pieces of ``text`` in order. Rules and empty lines belong to none."""
    pieces: list[Sentence] = []
    context = _Context()
    for block in _blocks(_lines(text)):
        start, end, kind = block[0].start, block[-1].end, block[0].kind
        if kind == "heading":
            context.heading(text[start:end])
        else:
            context.leave(kind)
        whole = kind in ("label", "item") and end - start <= _WHOLE
        if whole or kind in ("heading", "row"):
            pieces.append(Sentence(start, end, text[start:end], kind, context.text(kind)))
            if kind == "row":
                context.row(text[start:end])
        else:
            for a, b in _sentences(text, start, end):
                pieces.append(Sentence(a, b, text[a:b], kind, context.text(kind)))
    return tuple(pieces)


def cells(row: str) -> list[str]:
    """What stands in the columns of a row, without bars and spaces."""
    return [cell.strip() for cell in _CELL_END.split(row.strip().strip("|"))]


class _Context:
    """What the pieces to come stand under."""

    def __init__(self) -> None:
        self._heading = ""
        self._lead_in = ""
        self._header: str | None = None

    def heading(self, text: str) -> None:
        title = text.strip("#*_ \t\n:：")
        if text.rstrip().endswith((":", "：")) and not text.startswith("#"):
            self._lead_in = title
        else:
            self._heading, self._lead_in = title, ""
        self._header = None

    def leave(self, kind: Kind) -> None:
        """A lead-in holds for the list or table below it, and one paragraph."""
        if kind != "row":
            self._header = None
        if kind == "sentence":
            self._lead_in = ""

    def row(self, text: str) -> None:
        """The first row names the columns, unless it holds numbers or codes: then it is data."""
        if self._header is None:
            self._header = "" if any(c.isdigit() for c in text) else text.strip("| \t")

    def text(self, kind: Kind) -> str:
        if kind == "heading":
            return ""
        header = self._header if kind == "row" else None
        return " > ".join(part for part in (self._heading, self._lead_in, header) if part)


def _lines(text: str) -> list[_Line | None]:
    """Each line with its kind, ``None`` for an empty one."""
    lines: list[_Line | None] = []
    spans = [(match.start(), match.end()) for match in re.finditer(r"[^\n\f]+", text)]
    previous_end = 0
    for number, (start, end) in enumerate(spans):
        if text.count("\n", previous_end, start) + text.count("\f", previous_end, start) > 1:
            lines.append(None)
        previous_end = end
        body = text[start:end]
        stripped = body.strip()
        if not stripped:
            lines.append(None)
            continue
        start += len(body) - len(body.lstrip())
        if _RULE.fullmatch(stripped):
            continue
        following = (
            text[spans[number + 1][0] : spans[number + 1][1]] if number + 1 < len(spans) else ""
        )
        after_gap = not lines or lines[-1] is None or lines[-1].kind == "heading"
        kind = _line_kind(stripped, following, after_gap)
        lines.append(_Line(start, start + len(stripped), stripped, kind))
    return lines


def _line_kind(line: str, following: str, after_gap: bool) -> Kind:
    if _HEADING.match(line):
        return "heading"
    if line.count("|") >= 2 or " | " in line:
        return "row"
    spaced = "\t" in line or "   " in line  # looked for first: a long line is read in no time
    if spaced and _COLUMNS.search(line) and not _LABEL.match(line):
        return "row"
    if _ITEM.match(line):
        return "item"
    if line.endswith((":", "：")) and len(line) <= 60:
        return "heading"
    if _LABEL.match(line):
        return "label"
    if after_gap and following and _looks_like_a_title(line):
        return "heading"
    return "sentence"


def _looks_like_a_title(line: str) -> bool:
    """A short line without an end stop or a value: "4.2 Descaling", not "Password: oak-17".

    In capitals it may have a year: "RULES 2026".
    """
    words = re.sub(r"^\d+(?:\.\d+)*\.?\s+", "", line)
    if words.isupper():
        words = _TITLE_YEAR.sub("", words)
    return (
        len(words) <= 60
        and len(words.split()) <= 8
        and not words.endswith((*_TERMINAL, ",", "，", "、"))
        and not any(c.isdigit() for c in words)
        and not words[:1].islower()
    )


def _blocks(lines: list[_Line | None]) -> list[list[_Line]]:
    """Lines that belong together: a paragraph wrapped over lines, an item and its continuation."""
    blocks: list[list[_Line]] = []
    open_block = False
    for line in lines:
        if line is None:
            open_block = False
        elif open_block and _continues(blocks[-1][-1], blocks[-1][0].kind, line):
            blocks[-1].append(line)
        else:
            blocks.append([line])
            open_block = line.kind not in ("heading", "row")
    return blocks


def _continues(previous: _Line, block_kind: Kind, line: _Line) -> bool:
    if line.text[0].islower():
        return line.kind == "sentence" or (
            line.kind == "label" and len(previous.text) >= _LONG_LINE
        )
    if line.kind != "sentence" or len(previous.text) < _LONG_LINE:
        return False
    return block_kind == "sentence" or not previous.text.endswith(_TERMINAL)


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of the sentences in ``text[start:end]``, surrounding white space left out."""
    spans: list[tuple[int, int]] = []
    begin = start
    for match in _END.finditer(text, start, end):
        stop = match.end()
        if match[0][0] in ".…" and not _ends_a_sentence(text, begin, match.start() + 1, stop, end):
            continue
        spans.append((begin, stop))
        begin = stop
    spans.append((begin, end))
    trimmed = []
    for a, b in spans:
        piece = text[a:b]
        a, b = a + len(piece) - len(piece.lstrip()), b - len(piece) + len(piece.rstrip())
        if a < b:
            trimmed.append((a, b))
    return trimmed


def _ends_a_sentence(text: str, begin: int, stop: int, after: int, end: int) -> bool:
    following = text[after:end].lstrip()
    if not following:
        return True
    if following[0].islower() or _LIST_NUMBER.fullmatch(text[begin:stop]):
        return False
    last = text[max(begin, stop - 12) : stop]
    if following[0].isdigit() and _BEFORE_A_NUMBER.search(last):
        return False
    return _ABBREVIATION.search(last) is None
