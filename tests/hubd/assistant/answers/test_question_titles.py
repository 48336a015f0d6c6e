"""What a question was about, as one would write it into a calendar."""

import pytest

from hubd.assistant.answers.question_titles import task_of, thing_of, title_of


@pytest.mark.parametrize(
    ("question", "language", "title"),
    [
        ("when is rover's next booster due?", "en", "Rover's booster"),
        ("when is glass collected next?", "en", "Glass"),
        ("When is the rent due?", "en", "Pay the rent"),
        ("when do we have to pay the club fees?", "en", "Pay the club fees"),
        ("when does school start again in january", "en", "School starts again"),
        ("when does school break up for easter?", "en", "School breaks up for Easter"),
        ("what time does the summer fair start and where is it", "en", "Summer fair"),
        ("when does the gym membership run out", "en", "Gym membership runs out"),
        ("when do I put the green bin out?", "en", "Put the green bin out"),
        ("How often do I clean the filter?", "en", "Clean the filter"),
        ("wie oft reinige ich den Filter?", "de", "Filter reinigen"),
        ("怎么清洗滤网？", "zh", "清洗滤网"),
        ("how much is the deposit?", "en", "Deposit"),
        ("Wann ist die Miete fällig?", "de", "Miete zahlen"),
        ("wann läuft der Reisepass ab?", "de", "Reisepass läuft ab"),
        ("Wann beginnt das Sommerfest?", "de", "Sommerfest"),
        ("Wann muss ich die Tonne rausstellen?", "de", "Die Tonne rausstellen"),
        ("家长会是什么时候？", "zh", "家长会"),
        ("学费什么时候交？", "zh", "交学费"),
        ("什么时候停电？", "zh", "停电"),
    ],
)
def test_a_title(question: str, language: str, title: str) -> None:
    assert title_of(question, language) == title


def test_a_name_is_written_as_the_passage_writes_it() -> None:
    assert title_of("when is the trip to hawksmoor", "en", "the week in Hawksmoor") == (
        "Trip to Hawksmoor"
    )


def test_a_task_says_what_it_is_done_with() -> None:
    assert task_of("cancel it", "when does the gym membership run out", "en") == (
        "Cancel the gym membership"
    )
    assert task_of("ihn zu kündigen", "wann läuft der Mietvertrag ab", "de") == (
        "Den Mietvertrag kündigen"
    )
    assert task_of("buy new ones", "when do the filters run out", "en") == (
        "Buy new ones (the filters)"
    )
    assert thing_of("How long does the lentil soup take?", "en") == "lentil soup"
