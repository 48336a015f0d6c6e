"""Years: written, part of a date, or meant by "last year"; amounts and numbers are none."""

from datetime import date

import pytest

from rag.years import date_in, years_asked, years_in

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("Statement of 10 January 2027 for the year 2026.", {2026, 2027}),
        ("MOT test: Wednesday 2027-02-03 08:30", {2027}),
        ("3,640 kWh", set()),
        ("£2026 for the boiler, 2019 W of it", set()),
        ("Price: 2020.50", set()),
        ("tel. 555-2019", set()),
        ("2025年的发票", {2025}),
    ],
)
def test_years_in_a_text(text: str, years: set[int]) -> None:
    assert years_in(text) == years


@pytest.mark.parametrize(
    ("question", "years"),
    [
        ("How much was last year's bill?", {2025}),
        ("What did we pay in 2023?", {2023}),
        ("Is it dearer this year than in 2024?", {2024, 2026}),
        ("去年用了多少电？", {2025}),
        ("When is the MOT?", set()),
    ],
)
def test_years_that_a_question_asks_for(question: str, years: set[int]) -> None:
    assert years_asked(question, TODAY) == years


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Energy survey of the loft, 11 March 2026", "11 March 2026"),
        ("Statement of 2027-01-10 for 2026", "2027-01-10"),
        ("electricity bill 2025", "2025"),
        ("calendar 2026/2027", ""),
        ("Garden notes", ""),
        ("通知 2026年5月3日", "2026年5月3日"),
    ],
)
def test_the_date_of_a_heading(text: str, date: str) -> None:
    assert date_in(text) == date
