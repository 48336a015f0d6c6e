"""How far a quote reaches, and which stand beside it."""

from collections.abc import Sequence
from datetime import date

import pytest

from rag.candidates import candidates_of
from rag.question import take_apart
from rag.quotes import Weighed, next_day, quotes_of
from rag.types import Passage

TODAY = date(2026, 11, 29)
PUMP = (
    "## Emptying the sump\n\nTo empty it:\n\n1. Pull the plug of the freezer.\n"
    "2. Lay a towel down.\n3. Open the drain at the back.\n4. Close it when no drop falls."
)
CASSEROLE = (
    "## Bean casserole\n\n- 400 g white beans\n- 3 tomatoes\n- 1 bay leaf\n\n"
    "Soak the beans overnight, and simmer them for an hour."
)
SQUADS = "Fees\n\nSquad | A term\nMinnows | £76\nPikes | £92"


def page(text: str, document: str = "notes.md", heading: str = "") -> Passage:
    return Passage(
        document=document,
        page=None,
        start=0,
        end=len(text),
        text=text,
        score=0.9,
        heading=heading,
    )


def quoted(question: str, passages: Sequence[Passage], *words: str) -> list[Passage]:
    """The quotes where the sentences with ``words`` are the best, in that order."""
    candidates = candidates_of(passages)
    chosen = [next(c for c in candidates if word in c.sentence.text) for word in words]
    weighed = [Weighed(one, 0.9 - 0.05 * at, False) for at, one in enumerate(chosen)]
    return quotes_of(take_apart(question, TODAY), weighed, passages, TODAY)


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("How do I empty the sump of the freezer?", True),
        ("the freezer leaks, what do I do", True),
        ("What does one lay down?", False),
        ("How many towels do I need?", False),
    ],
)
def test_of_a_procedure_all_steps_are_quoted(question: str, whole: bool) -> None:
    (quote, *_) = quoted(question, [page(PUMP)], "towel")
    assert quote.text == (PUMP[PUMP.index("1.") :] if whole else "2. Lay a towel down.")


def test_of_two_steps_all_are_quoted() -> None:
    quotes = quoted("emptying the freezer", [page(PUMP)], "towel", "drain")
    assert {quote.text for quote in quotes} == {PUMP[PUMP.index("1.") :]}


def test_what_is_needed_is_the_whole_list_and_first() -> None:
    quotes = quoted("What do I need for the casserole?", [page(CASSEROLE)], "Soak", "tomatoes")
    assert quotes[0].text == "- 400 g white beans\n- 3 tomatoes\n- 1 bay leaf"
    soup = page(CASSEROLE.replace("casserole", "soup"), "soups.md", "Soups > Bean soup")
    text = "Tomatoes want warmth."
    quotes = quoted("What do I need for tomatoes?", [page(text), soup], "warmth", "bay leaf")
    assert quotes[0].text == text
    (one,) = quoted("How many tomatoes go in?", [page(CASSEROLE)], "tomatoes")
    assert one.text == "- 3 tomatoes"


def test_what_holds_afterwards_is_quoted_with_what_comes_before() -> None:
    text = "For a year nobody may leave the club. Afterwards a month's notice is enough."
    (quote,) = quoted("How much notice must I give?", [page(text)], "Afterwards")
    assert quote.text == text


def test_of_a_table_the_row_that_is_asked_for_and_no_header() -> None:
    quotes = quoted("How much do the Pikes pay?", [page(SQUADS)], "Pikes", "Minnows", "Squad")
    assert [quote.text for quote in quotes] == ["Pikes | £92"]
    assert quotes[0].columns == "Squad | A term"


def test_steps_that_are_pointed_to_stand_beside() -> None:
    codes = "\n\n## Codes\n\n| Code | What |\n|---|---|\n| W7 | sump full | empty it, see above |"
    quotes = quoted("What does W7 mean?", [page(PUMP + codes)], "W7")
    assert [quote.text[:2] for quote in quotes] == ["| ", "1."]


def test_whom_to_call_is_told_with_the_number() -> None:
    text = "If the freezer hums at night, call Otto.\n\nOtto Brandt (refrigeration, 555-0149)."
    quotes = quoted("Who do I call when the freezer hums?", [page(text)], "hums")
    assert [quote.text for quote in quotes][1] == "Otto Brandt (refrigeration, 555-0149)."


def test_all_numbers_of_a_table_where_nothing_tells_which() -> None:
    rows = "Claims | 555-0151 | on weekdays\nTowing | 555-0152 | always\nGlass | 555-0153 | always"
    car = page(f"What for | Telephone | When\n{rows}", "car-policy.pdf")
    quotes = quoted("The car was scratched, whom do I ring?", [car], "Towing", "Glass")
    assert quotes[0].text == rows
    (one,) = quoted("Whom do I ring for towing?", [car], "Towing", "Glass")
    assert one.text == "Towing | 555-0152 | always"


def test_a_row_about_somebody_is_quoted_with_what_says_so() -> None:
    text = "Squad | Day\nPikes | Friday\n\nLea has a place with the Pikes."
    quotes = quoted("When does Lea's training begin?", [page(text)], "Friday")
    assert [quote.text for quote in quotes] == ["Pikes | Friday", "Lea has a place with the Pikes."]


DATES = (
    "GLASS, DATES\n\n2026: 5 October, 2 November, 30 November\n2027: 4 January, 1 February\n\n"
    "The collection of 30 November 2026 is moved to 1 December."
)


def test_of_a_list_of_days_the_next_is_told_with_what_is_said_of_it() -> None:
    asked, glass = take_apart("When is the glass collected?", TODAY), page(DATES, "bins.txt")
    quotes = quoted(asked.text, [glass], "2027", "2026:")
    assert quotes[0].text.startswith("2026:")
    assert "moved to 1 December" in quotes[1].text
    assert next_day(asked, quotes[0], TODAY) == date(2026, 11, 30)
    past = take_apart("When was the glass collected last?", TODAY)
    assert next_day(past, quotes[0], TODAY) is None
    assert next_day(take_apart("Which glass?", TODAY), quotes[0], TODAY) is None


def test_of_dated_events_the_next_one() -> None:
    rows = "17 October 2026 | Gala\n30 January 2027 | Mile\n13 March 2027 | Cup"
    club = page(f"Date | What\n{rows}", "club.md", "Rowing club > Races")
    (quote,) = quoted("When is the next race?", [club], "Gala")
    assert quote.text == "30 January 2027 | Mile"
    (named,) = quoted("When is the next gala?", [club], "Gala")
    assert named.text == "17 October 2026 | Gala"


def test_what_is_counted_comes_first() -> None:
    hay = page("Bella should weigh 400 kilograms. Give 9 kilograms of hay a day.")
    (quote, _) = quoted("How much hay does Bella get?", [hay], "400", "hay")
    assert quote.text == "Give 9 kilograms of hay a day."
