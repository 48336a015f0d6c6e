"""Questions that lean on the one before are made to stand alone; others are left as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.query_rewriting import standalone, topic_of


@pytest.mark.parametrize(
    ("before", "text", "meant"),
    [
        (
            "What is the rent of the flat?",
            "and when is it due?",
            "When is the rent of the flat due?",
        ),
        ("How long is the lease?", "And when does it end?", "When does the lease end?"),
        (
            "When does Ella's passport expire?",
            "and what is its number?",
            "What is Ella's passport's number?",
        ),
        (
            "When does Ella's passport expire?",
            "And Daniel's?",
            "When does Daniel's passport expire?",
        ),
        ("When is Jonah's piano lesson?", "and Mika?", "When is Mika's piano lesson?"),
        (
            "What does E04 mean on the oven?",
            "and on the dishwasher?",
            "What does E04 mean on the dishwasher?",
        ),
        (
            "What does E04 mean on the oven?",
            "What about the dishwasher?",
            "What does E04 mean on the dishwasher?",
        ),
        (
            "How much electricity did we use in 2026?",
            "and in 2025?",
            "How much electricity did we use in 2025?",
        ),
        ("Where is the stopcock?", "How do I close it?", "How do I close the stopcock?"),
        ("What is the parking permit for?", "until when?", "Until when for the parking permit?"),
        (
            "What is the rent of the flat?",
            "what about the garage?",
            "What is the rent of the garage?",
        ),
        ("物业费是多少？", "那停车费呢？", "停车费是多少？"),
        ("热水器的保修期是多久？", "它的温度是多少？", "热水器的温度是多少？"),
    ],
)
def test_what_leans_on_the_question_before_is_completed(before: str, text: str, meant: str) -> None:
    assert standalone(text, [before]) == meant


@pytest.mark.parametrize(
    "text",
    [
        "How long does it take to bake the ginger loaf?",
        "What does error E04 on the oven mean?",
        "Is it allowed to keep hens on the allotment?",
        "红烧肉要炖多久？",
        "Thanks!",
    ],
)
def test_what_stands_alone_is_left_as_it_is(text: str) -> None:
    assert standalone(text, ["What is the rent of the flat?"]) == text


def test_nothing_was_asked_before() -> None:
    assert standalone("and when does it end?", []) == "and when does it end?"
    assert standalone("and when does it end?", ["Turn on the lamp"]) == "and when does it end?"


def test_one_follow_up_leans_on_another() -> None:
    earlier = ["What does E04 mean on the oven?", "and on the dishwasher?", "turn off the lamp"]
    assert standalone("How do I clean it?", earlier) == "How do I clean the dishwasher?"


def test_a_question_is_about_what_it_names_last() -> None:
    assert topic_of("Does the lease say anything about the dog?") == "the dog"
    assert topic_of("How much is it?") == ""


@given(st.lists(st.text(max_size=60), max_size=5), st.text(max_size=80))
def test_whatever_is_said_something_is_searched_for(earlier: list[str], text: str) -> None:
    completed = standalone(text, earlier)
    assert completed.strip() or not text.strip()
