"""How quotes are read out."""

import msgspec
import pytest

from hubd.assistant.answers.quoted import as_read, label_of
from rag.types import Passage


def quote(text, columns="", document="manual.pdf", heading=""):
    return Passage(
        document=document,
        page=None,
        start=0,
        end=len(text),
        text=text,
        score=0.9,
        heading=heading,
        columns=columns,
    )


@pytest.mark.parametrize(
    ("text", "columns", "read"),
    [
        ("- 300 g lentils\n- 2 carrots", "", "300 g lentils; 2 carrots"),
        ("1. Stop it.\n2. Wait.", "", "1. Stop it. 2. Wait."),
        ("Set it to **1.4 bar**, then\n`OK`.", "", "Set it to 1.4 bar, then OK."),
        ("| W7 | sump full | empty it |", "", "W7 · sump full · empty it"),
        (
            "Worming | 18 May | 18 August",
            "What | Last given | Next due",
            "Worming · Last given: 18 May · Next due: 18 August",
        ),
        ("Serial number | TX-4", "Item | Value", "Serial number · TX-4"),
        ("| 9 | 6 | pump |", "| Fuse | Amps | For |", "Fuse: 9 · Amps: 6 · pump"),
        ("Glass     green   -", "WHAT     BIN   DAY", "Glass · Bin: green"),
        ("Glass | green", "What | Bin | Day", "Glass · green"),
        ("Claims | 1\nTowing | 2", "For | Phone", "Claims · Phone: 1; Towing · Phone: 2"),
    ],
)
def test_marks_are_left_out_and_columns_named(text, columns, read):
    assert as_read(quote(text, columns)) == read


def test_it_says_of_which_thing_or_when_a_quote_is():
    oven, freezer = quote("E2", document="oven-manual.pdf"), quote("E2", document="freezer_a.pdf")
    assert label_of(oven, [oven, freezer]) == "oven manual"
    assert label_of(oven, [oven, oven]) == ""
    old = msgspec.structs.replace(oven, document="loft-2009.md")
    new = msgspec.structs.replace(freezer, document="loft-2026.md")
    assert label_of(old, [old, new]) == "2009"
    same = msgspec.structs.replace(new, document="swimming-2026.md")
    assert label_of(same, [new, same]) == "swimming 2026"
