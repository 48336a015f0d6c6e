"""Splitting pages into quotable pieces."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.sentences import cells, split


def texts(page: str) -> list[str]:
    return [piece.text for piece in split(page)]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("It is 1.5 bar. Top it up.", ["It is 1.5 bar.", "Top it up."]),
        ("Use acid, e.g. lemon juice. Rinse.", ["Use acid, e.g. lemon juice.", "Rinse."]),
        ("Ask Dr. Nwosu or Mrs. Obi. Now.", ["Ask Dr. Nwosu or Mrs. Obi.", "Now."]),
        ("Open at 6 p.m. on weekdays. Free.", ["Open at 6 p.m. on weekdays.", "Free."]),
        ("Stop! Is it hot? Wait… Go.", ["Stop!", "Is it hot?", "Wait…", "Go."]),
        ('He said "No." She left.', ['He said "No."', "She left."]),
        ("See Fig. 3 and no. 7. Done.", ["See Fig. 3 and no. 7.", "Done."]),
        ("压力为1.5巴。不要超过！为什么？", ["压力为1.5巴。", "不要超过！", "为什么？"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_sentences(page: str, expected: list[str]) -> None:
    assert texts(page) == expected


def test_wrapped_lines_are_one_sentence_with_its_line_break() -> None:
    page = (
        "The pressure of the heating circuit, measured when it is cold,\nshould be 1.5 bar. Good."
    )
    assert texts(page) == [page.removesuffix(" Good."), "Good."]


def test_short_lines_stay_apart() -> None:
    assert texts("Anna Smith\n12 Oak Road\nSpringfield") == [
        "Anna Smith",
        "12 Oak Road",
        "Springfield",
    ]


def test_labelled_lines_stay_apart_and_whole() -> None:
    page = "Network: Kestrel\nPassword: oak-17\nER21: too hot. Let it cool down."
    assert [(p.text, p.kind) for p in split(page)] == [
        ("Network: Kestrel", "label"),
        ("Password: oak-17", "label"),
        ("ER21: too hot. Let it cool down.", "label"),
    ]


def test_items_with_their_lead_in() -> None:
    page = "# Bread\n\nYou need:\n- 500 g flour\n- 11 g salt, e.g. from\n  the sea\n\nMix it."
    assert [(p.text, p.kind, p.context) for p in split(page)] == [
        ("# Bread", "heading", ""),
        ("You need:", "heading", ""),
        ("- 500 g flour", "item", "Bread > You need"),
        ("- 11 g salt, e.g. from\n  the sea", "item", "Bread > You need"),
        ("Mix it.", "sentence", "Bread"),
    ]


@pytest.mark.parametrize("row", ["| E24 | Door open |", "E24 | Door open", "E24    Door open"])
def test_rows_stand_under_the_first(row: str) -> None:
    first = row.replace("E24", "Code").replace("Door open", "Meaning")
    rule = "|---|---|\n" if row.startswith("|") else ""
    pieces = split(f"## Codes\n\n{first}\n{rule}{row}\n")
    assert [piece.kind for piece in pieces] == ["heading", "row", "row"]
    assert pieces[2].text == row
    assert pieces[2].context == f"Codes > {first.strip('| ')}"


def test_a_title_line_is_a_heading_but_a_value_is_not() -> None:
    pieces = split("4.2 Descaling\nDescale it every month.\n\nCode 4711\n\nEnd of text here.")
    assert [(p.text, p.kind) for p in pieces][:3] == [
        ("4.2 Descaling", "heading"),
        ("Descale it every month.", "sentence"),
        ("Code 4711", "sentence"),
    ]
    assert pieces[1].context == "4.2 Descaling"


_alphabet = st.text("ab Z.!?。！|-#*:1\n\t\"'é热", max_size=200)


@settings(deadline=None)
@given(st.one_of(_alphabet, st.text(max_size=200)))
def test_pieces_are_in_order_and_lose_no_letter(page: str) -> None:
    position = 0
    for piece in split(page):
        assert position <= piece.start < piece.end <= len(page)
        assert page[piece.start : piece.end] == piece.text
        assert piece.text == piece.text.strip()
        assert not any(c.isalnum() for c in page[position : piece.start])
        position = piece.end
    assert not any(c.isalnum() for c in page[position:])


def test_a_label_with_its_value_further_right_is_no_table_row() -> None:
    (piece,) = split("Away:   code, then the long arrow.")
    assert piece.kind == "label"


def test_rows_of_numbers_are_no_header() -> None:
    data = split("E04 | faulty\nE07 | blocked")
    named = split("Code | Meaning\nE04 | faulty")
    assert [piece.context for piece in data] == ["", ""]
    assert named[1].context == "Code | Meaning"


@pytest.mark.parametrize(
    "row", ["| Glass | green | Monday |", "Glass | green | Monday", "Glass     green  Monday"]
)
def test_cells_of_a_row(row: str) -> None:
    assert cells(row) == ["Glass", "green", "Monday"]
