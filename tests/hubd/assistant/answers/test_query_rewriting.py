"""Questions that lean on the one before are made to stand alone; others are left as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.answers.query_rewriting import asked, questions_in, topic_of


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
        ("What is the parking permit for?", "until when?", "Until when is the parking permit for?"),
        (
            "What is the rent of the flat?",
            "what about the garage?",
            "What is the rent of the garage?",
        ),
        ("Temperature for roast lamb?", "and salmon?", "Temperature for salmon?"),
        ("When is food waste collected?", "and the glass one?", "When is the glass collected?"),
        (
            "How long does the short programme take?",
            "and the long one?",
            "How long does the long programme take?",
        ),
        ("What does E02 mean on the oven?", "and E04?", "What does E04 mean on the oven?"),
        ("What's the code for visitors?", "and ours?", "What's the code for us?"),
        ("Is the drill still borrowed?", "since when?", "Since when is the drill still borrowed?"),
        ("Where is Mika's lesson?", "how long?", "How long is Mika's lesson?"),
        ("May I give the cat milk?", "why not?", "Why may I not give the cat milk?"),
        ("How hot for rye bread?", "for how long?", "For how long, hot rye bread?"),
        (
            "The router blinks red",
            "how do I turn that off?",
            "How do I turn that off, router blinks red?",
        ),
        ("The boiler shows F22", "how do I fill it?", "How do I fill the boiler?"),
        ("The printer is offline", "who do I call", "Who do I call, printer offline?"),
        ("Wie heiß backe ich den Zopf?", "und wie lange?", "Wie lange backe ich den Zopf?"),
        ("Was bedeutet E04 am Ofen?", "und E02?", "Was bedeutet E02 am Ofen?"),
        (
            "Was bedeutet E04 am Ofen?",
            "und an der Spülmaschine?",
            "Was bedeutet E04 an der Spülmaschine?",
        ),
        ("Wann wird der Hausmüll geholt?", "und Papier?", "Wann wird Papier geholt?"),
        ("电饭煲显示E3是什么意思？", "那E5呢？", "电饭煲显示E5是什么意思？"),
        ("停水是哪天？", "为什么？", "停水是哪天，为什么？"),
        ("物业费是多少？", "那停车费呢？", "停车费是多少？"),
        ("热水器的保修期是多久？", "它的温度是多少？", "热水器的温度是多少？"),
    ],
)
def test_what_leans_on_the_question_before_is_completed(before: str, text: str, meant: str) -> None:
    assert asked(text, [before]).whole == meant


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
    assert asked(text, ["What is the rent of the flat?"]).whole == text


def test_how_much_a_question_leans() -> None:
    before = ["How much is the rent of the flat?"]
    for surely in ("and when is it due?", "until when?", "and the garage?", "it's late"):
        assert asked(surely, before).leans == "surely"
    for maybe in ("is there a discount?", "who is the landlord?"):
        assert asked(maybe, before).leans == "maybe"
    for no in ("what is the wifi password for guests?", "How long does the lamb roast for six?"):
        assert asked(no, before).leans == "no"
    assert asked("and when is it due?", []).leans == "no"


def test_a_person_is_the_one_that_was_told_of() -> None:
    assert asked("what's his number?", ["Who services the boiler?"], "Omar Fielding").whole == (
        "What's Omar Fielding's number?"
    )
    assert asked("how old is he?", ["Who services the boiler?"]).whole == (
        "How old is he, services boiler?"
    )


def test_nothing_was_asked_before() -> None:
    assert asked("and when does it end?", []).whole == "and when does it end?"
    assert (
        asked("and when does it end?", questions_in(["Turn on the lamp"])).whole
        == "and when does it end?"
    )


def test_one_follow_up_leans_on_another() -> None:
    earlier = ["What does E04 mean on the oven?", "and on the dishwasher?", "turn off the lamp"]
    assert (
        asked("How do I clean it?", questions_in(earlier)).whole == "How do I clean the dishwasher?"
    )


def test_a_question_is_about_what_it_names_last() -> None:
    assert topic_of("Does the lease say anything about the dog?") == "the dog"
    assert topic_of("How much is it?") == ""


@given(st.lists(st.text(max_size=60), max_size=5), st.text(max_size=80))
def test_whatever_is_said_something_is_searched_for(earlier: list[str], text: str) -> None:
    completed = asked(text, earlier).whole
    assert completed.strip() or not text.strip()
