"""A question taken apart: what is asked about, whose, and of which year."""

from datetime import date

import pytest

from rag.question import COMMON, asked_together, take_apart


def test_names_codes_and_owners_are_told_from_words() -> None:
    asked = take_apart("What does E-24 mean on Ella's bicycle?")
    assert asked.codes == {"e24"}
    assert asked.specific == {"e24", "ella"}
    assert asked.owners == {"ella"}


def test_the_noun_that_is_counted_or_looked_up_is_the_anchor() -> None:
    assert take_apart("How much sugar goes into the jam?").anchors == {"sugar"}
    assert take_apart("What is the rent of the flat?").anchors == {"rent"}


def test_last_year_is_counted_from_today() -> None:
    question = "How much did the MOT cost last year?"
    assert take_apart(question, date(2026, 11, 21)).years == {2025}
    assert take_apart(question, date(2031, 1, 2)).years == {2030}


def test_what_a_house_is_about_is_not_common() -> None:
    assert not COMMON & take_apart("boiler rent passport oven dog school pressure").wanted
    assert take_apart("stopped broken buying altogether").wanted <= COMMON


@pytest.mark.parametrize(
    ("question", "owners"),
    [
        ("What does Ann's doctor say?", {"ann"}),
        ("When is Ann's wedding?", {"ann"}),
        ("What do we cook when Ann's coming?", set()),
        ("Where do I park if Ann's at the house?", set()),
        ("What happens when Ann's not here and Ella's dog barks?", {"ella"}),
    ],
)
def test_whose_it_is_and_who_is_coming(question: str, owners: set[str]) -> None:
    assert take_apart(question).owners == owners


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "who is the vet and what's the chimney sweep's number?",
            ["who is the vet?", "what's the chimney sweep's number?"],
        ),
        ("When is the fair and when does it end?", ["When is the fair and when does it end?"]),
        ("How much is bread and butter?", ["How much is bread and butter?"]),
        ("Tell me when and how", ["Tell me when and how"]),
    ],
)
def test_two_questions_in_one(question: str, parts: list[str]) -> None:
    assert asked_together(question) == parts


def test_whom_something_may_happen_to_need_not_be_named() -> None:
    assert take_apart("Whom do I call if Lea is ill?").specific == frozenset()
    assert take_apart("May Lea swim?").specific == {"lea"}


def test_in_lower_case_an_owner_is_somebody_perhaps() -> None:
    asked = take_apart("when's uncle otto's birthday")
    assert asked.people == frozenset()
    assert asked.perhaps_people == {"otto"}
    assert take_apart("what's the freezer's address").perhaps_people == frozenset()
