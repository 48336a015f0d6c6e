"""Where an answer is from is told from its citations, without a search."""

import pytest

from hubd.assistant.answers.about_answers import asks_about_answer, asks_for_page, where_from
from hubd.turn_events import Citation


def cited(document: str, page: int | None, heading: str = "", start: int = 0) -> Citation:
    return Citation(
        document=document, page=page, start=start, end=start + 5, text="words", score=0.9,
        heading=heading,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("what page is that?", "en"),
        ("and which page is that on?", "en"),
        ("Who told you that?", "en"),
        ("where does it say that", "en"),
        ("where did you get that from?", "en"),
        ("how do you know that", "en"),
        ("which document is that in?", "en"),
        ("show me", "en"),
        ("can you show me where it says so please", "en"),
        ("Wo steht das?", "de"),
        ("auf welcher Seite steht das", "de"),
        ("woher weißt du das?", "de"),
        ("Wer sagt das?", "de"),
        ("zeig mir das mal", "de"),
        ("这写在哪里？", "zh"),
        ("在第几页？", "zh"),
        ("谁告诉你的", "zh"),
        ("你是从哪里看到的？", "zh"),
        ("给我看看原文", "zh"),
    ],
)
def test_what_asks_where_an_answer_is_from(text: str, language: str) -> None:
    assert asks_about_answer(text) == language
    assert asks_about_answer(text, language) == language


@pytest.mark.parametrize(
    "text",
    [
        "where is the stopcock?",
        "who told Mika that?",
        "show me the lights",
        "what page does the error table begin on in the oven manual?",
        "where is that?",
        "Wo ist das?",
        "woher kommt der Strom",
        "在哪里？",
        "从哪里来的火车",
        "谁说了算",
    ],
)
def test_what_asks_for_something_else(text: str) -> None:
    assert asks_about_answer(text) == ""


def test_show_me_asks_so_only_after_an_answer() -> None:
    assert asks_about_answer("show me", surely=True) == ""
    assert asks_about_answer("who told you that", surely=True) == "en"


def test_a_page_is_told_with_its_document() -> None:
    quote = cited("oven-manual.pdf", 7, "Kestrolux > The meat probe")
    text, cited_there = where_from([quote], "en")
    assert text == "On page 7 of oven-manual.pdf, under “The meat probe”."
    assert [text[c.answer_start : c.answer_end] for c in cited_there] == [text[:-1]]
    assert (
        where_from([quote], "de")[0] == "Auf Seite 7 von oven-manual.pdf, unter „The meat probe“."
    )
    assert where_from([quote], "zh")[0] == "在 oven-manual.pdf 第7页，“The meat probe”一节。"


def test_that_there_are_no_pages_is_said_where_the_page_is_asked_for() -> None:
    quote = cited("lease.docx", None, "Agreement > Rent")
    assert asks_for_page("what page is that?")
    assert not asks_for_page("who told you that?")
    assert where_from([quote], "en", page=True)[0] == (
        "In lease.docx, under “Rent”; it has no pages."
    )
    assert where_from([quote], "en")[0] == "In lease.docx, under “Rent”."


def test_another_place_is_told_as_well_and_the_same_one_once() -> None:
    quotes = [cited("a.pdf", 2), cited("a.pdf", 2, start=90), cited("b.md", None, "Gas")]
    text, cited_there = where_from(quotes, "en")
    assert text == "On page 2 of a.pdf. Also: in b.md, under “Gas”."
    assert [one.document for one in cited_there] == ["a.pdf", "b.md"]
