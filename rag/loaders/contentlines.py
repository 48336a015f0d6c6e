"""The lines that iCalendar (RFC 5545) and vCard (RFC 6350) share: ``NAME;PARAMETER=X:value``."""

import quopri
import re
from collections.abc import Iterator

import msgspec

_FOLD = re.compile(r"\n[ \t]")
_QUOTED_FOLD = re.compile(r"=\n")
_LINE = re.compile(
    r"(?:[\w.-]+\.)?(?P<name>[A-Za-z0-9-]+)(?P<parameters>(?:;(?:\"[^\"]*\"|[^\":])*)?):(?P<value>.*)"
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class ContentLine(msgspec.Struct, frozen=True):
    """One unfolded line, its value still escaped."""

    name: str
    """In capitals."""
    parameters: str
    """As written, in capitals."""
    value: str


def content_lines(text: str) -> Iterator[ContentLine]:
    """The lines of ``text`` (``\\n`` line ends); those of another form are left out."""
    if "QUOTED-PRINTABLE" in text.upper():
        text = _QUOTED_FOLD.sub("", text)  # vCard 2.1 folds by a soft line break
    for line in _FOLD.sub("", text).split("\n"):
        match = _LINE.fullmatch(line.strip())
        if not match:
            continue
        value, parameters = match["value"], match["parameters"].upper()
        if "QUOTED-PRINTABLE" in parameters:
            value = quopri.decodestring(value.encode(errors="replace")).decode(errors="replace")
        yield ContentLine(match["name"].upper(), parameters, value)


def unescaped(value: str) -> str:
    """A text value as a person reads it."""
    return _ESCAPE.sub(lambda m: "\n" if m[1] in "nN" else m[1], value).strip()


def fields(value: str) -> list[str]:
    """The parts of a structured value (an address), divided by ``;``."""
    return [unescaped(part) for part in re.split(r"(?<!\\);", value)]
