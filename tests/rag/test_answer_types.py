"""What a question asks for, and whether a text holds one."""

import pytest

from rag.answer_types import expected, holds
from rag.lexical import keys


@pytest.mark.parametrize(
    ("question", "kind", "good", "bad"),
    [
        ("What is the vet's phone number?", "phone", "030 555 0165", "The vet is Dr. Nwosu."),
        ("What is her email?", "email", "ana@example.org", "Write to Ana."),
        ("How much does a lesson cost?", "money", "It is 68 euros.", "It takes 68 minutes."),
        ("How hot for pizza?", "temperature", "Bake at 250 °C.", "Bake for 25 minutes."),
        ("How heavy is the dog?", "weight", "He has 11.2 kg.", "He has 11 toys."),
        ("How long does it take?", "duration", "for 95 minutes", "for 95 euros"),
        ("When is the concert?", "time", "11 December, 17:30", "in the main hall"),
        ("how late is it open", "time", "until 21:00", "it is heated"),
        ("How often do I clean it?", "frequency", "after every load", "with a brush"),
        ("How many keys are there?", "number", "There are five.", "They are new."),
        ("Who services it?", "person", "by Marta Olsen", "by a firm in the town"),
        ("How loud is it?", "loudness", "35 dB", "35 minutes"),
        ("Where is the router?", "place", "It stands on the shelf.", "It blinks green."),
        ("Where is the concert?", "place", "It is in the hall.", "It is on Monday."),
        ("Why is it off, and when?", "reason", "because it reacts slowly", "the night setback"),
        ("How far is it to the lake?", "distance", "twenty minutes on foot", "along the lane"),
        ("What is Bart's address?", "address", "7 Ropewalk Lane", "He has our key."),
        ("What is Ella's birthday?", "birthday", "born on 3 May", "Ella's class"),
        ("Who painted the walls?", "person", "Anouk Bertin did.", "They were painted in May."),
        ("Who made the cello of Leo?", "person", "by Anouk Bertin", "We rent it for Leo."),
        ("Who made it?", "person", "Nordbrae makes it.", "Forks and spoons lie below."),
        ("What is his phone number?", "phone", "01493 555 0162", "born 1958-11-02"),
        (
            "How big is the television?",
            "extent",
            "It has 55 inches.",
            "The search takes an hour.",
        ),
        ("When does the gym open?", "time", "on weekdays", "You may pause for three months."),
        ("When is it done?", "time", "within three days", "It took three days."),
        ("How old is the boiler?", "age", "put in in 2021", "It costs 28 euros a year."),
        ("How old is Ivor?", "age", "Ivor's 80th", "Ivor comes every month."),
        ("Whom do I call?", "contact", "030 555 0165", "Dr. Nwosu"),
        ("What's the emergency number?", "phone", "Day and night: 030 555 0165", "CLUB 2026/27"),
        ("what's the plumber's number", "phone", "Plumber 555-0172", "The plumber is Juno."),
        ("Who can repair the freezer?", "repairer", "Otto mended it.", "It is a Polaris 9."),
        ("The tap drips, who do I get hold of?", "contact", "call Juno", "Call the service."),
        ("Until when is it insured?", "until", "for 3 years", "at the Harbour office"),
        ("What is the door code?", "code", "It is not written here, ask Una.", "in 25 seconds"),
        ("How many keys?", "number", "2. Count all 7 keys.", "3. Count the keys."),
        ("When is the fair?", "time", "in 1958", "Fair office 555-0106"),
        ("How long is it guaranteed?", "duration", "fifteen years", "since it came"),
        ("房东住在哪里？", "place", "住在成都", "周建平"),
        ("为什么要关灯？", "reason", "因为鱼要睡觉", "十点关灯"),
        ("停车位每月多少钱？", "money", "每月280元", "请登记"),
    ],
)
def test_kinds(question: str, kind: str, good: str, bad: str) -> None:
    found = expected(question)
    assert found is not None
    assert found.name == kind
    assert holds(found, good, keys(question))
    assert not holds(found, bad, keys(question))


@pytest.mark.parametrize(
    "question",
    [
        "Who are the Marlows?",
        "Can I use vinegar?",
        "Do I get a new PIN?",
        "Is there a phone number?",
        "wifi password",
        "",
    ],
)
def test_other_questions_ask_for_no_kind(question: str) -> None:
    assert expected(question) is None


def test_the_opening_word_decides() -> None:
    found = expected("Who said how much it weighs?")
    assert found is not None
    assert found.name == "person"


def test_a_number_of_the_question_is_no_answer() -> None:
    question = "How many of the 3 codes are wrong?"
    found = expected(question)
    assert found is not None
    assert not holds(found, "Of 3 codes some are wrong.", keys(question))
    assert holds(found, "Of 3 codes 2 are wrong.", keys(question))


def test_an_article_within_a_word_counts_no_seconds() -> None:
    duration = expected("How long does it take?")
    assert duration is not None
    assert not holds(duration, "The password has been changed as agreed.", frozenset())
    assert holds(duration, "Half an hour.", frozenset())
    assert holds(duration, "after 2h", frozenset())
