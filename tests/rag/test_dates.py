"""Days in a text, and which comes next."""

from datetime import date

import pytest

from rag.dates import coming, dates_in, is_list_of_dates

TODAY = date(2026, 11, 29)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2027: 27 January, 24 February", [date(2027, 1, 27), date(2027, 2, 24)]),
        ("Wednesday 30 December 2026 and Mon 4 Jan", [date(2026, 12, 30), date(2027, 1, 4)]),
        ("May 3rd; 9 October", [date(2027, 5, 3), date(2026, 10, 9)]),
        ("2026-12-02, 2027-01-06", [date(2026, 12, 2), date(2027, 1, 6)]),
        ("12月4日、2027年1月8日", [date(2026, 12, 4), date(2027, 1, 8)]),
        ("31 February, 29 February", []),
        ("555-0100, 14:00, 2026", []),
    ],
)
def test_days(text: str, days: list[date]) -> None:
    assert dates_in(text, TODAY) == days


@pytest.mark.parametrize(
    ("text", "is_list"),
    [
        ("2026: 9 September, 7 October", True),
        ("Monday 5 January and Monday 2 February", True),
        ("26 to 30 October, 2 November", False),
        ("Training days: 2 September, 4 January", False),
        ("9 September", False),
    ],
)
def test_lists_of_days(text: str, is_list: bool) -> None:
    assert is_list_of_dates(text) is is_list


def test_what_is_over_does_not_come() -> None:
    days = [date(2026, 12, 9), date(2026, 11, 28), TODAY]
    assert coming(days, TODAY) == TODAY
    assert coming(days[1:2], TODAY) is None
