"""What a small model says is shown only as far as the evidence says it too."""

import msgspec
import pytest

from hubd.assistant.answers.ground import Grounding, supporting_quote
from rag.lexical import keys
from rag.types import Evidence, Passage


def quote(text, start=0, document="lease.docx", score=0.9):
    return Passage(
        document=document, page=None, start=start, end=start + len(text), text=text, score=score
    )


NOTICE = quote("The tenants must give notice of six weeks, the landlord of three months.")
PETS = quote(
    "One cat is allowed; any further animal needs permission in writing.", start=400, score=0.6
)
MOTOR = quote("Motor | 10 years", document="warranty.pdf")
GUESTS = quote("guest net | pepper-2026 | visitors", document="wifi.md")


def answer(question, quotes, *pieces):
    grounding = Grounding(question, Evidence(quotes=quotes, answerable=0.9))
    grounded = []
    for piece in pieces:
        grounded += grounding.feed(piece)
        if grounding.complete:
            break
    grounded += grounding.finish()
    text = "".join(part.text for part in grounded)
    assert all(
        text[part.citation.answer_start : part.citation.answer_end] == part.text.strip()
        for part in grounded
    )
    return text, [part.citation.text for part in grounded]


def test_a_supported_sentence_stays_as_the_model_said_it():
    said = "We must give notice of six weeks."
    assert answer("How much notice must we give?", [NOTICE], said) == (said, [NOTICE.text])


@pytest.mark.parametrize(
    "said",
    [
        "The notice is two weeks.",
        "The notice of six weeks is equivalent to three months.",
        "We have to give notice of six weeks, three months, and six weeks.",
        "We have to give notice of six weeks, three months.",
        "The landlord must give notice of six weeks.",
        "The tenants must give notice of three months.",
        "You should ask a lawyer.",
        "No notice is needed.",
        "",
        "\n\n",
    ],
)
def test_anything_else_becomes_the_quote(said):
    text, cited = answer("How much notice do we have to give?", [NOTICE], said)
    assert text == f"“{NOTICE.text}”"
    assert cited == [NOTICE.text]


def test_the_answer_begins_with_the_best_quote_even_if_the_model_prefers_another():
    text, cited = answer(
        "How much notice?", [NOTICE, PETS], "One cat is allowed. ", "Notice is six"
    )
    assert text == f"“{NOTICE.text}” “{PETS.text}”"
    assert cited == [NOTICE.text, PETS.text]


def test_of_two_that_contradict_each_other_both_are_shown():
    notes = quote("The insulation is 10 cm thick.", document="notes.txt", score=0.8)
    survey = quote("The insulation is 27 cm thick.", document="survey.md")
    text, cited = answer("How thick is the insulation?", [survey, notes], "I am not sure.")
    assert text == f"“{survey.text}” (survey) “{notes.text}” (notes)"
    assert cited == [survey.text, notes.text]


def test_a_near_rival_stands_beside_what_the_model_says_of_the_best():
    notes = quote("The insulation is 10 cm thick.", document="notes.txt", score=0.8)
    survey = quote("The insulation is 27 cm thick.", document="survey.md")
    text, cited = answer("How thick is the insulation?", [survey, notes], "It is 27 cm thick.")
    assert text == f"It is 27 cm thick. “{notes.text}” (notes)"
    assert cited == [survey.text, notes.text]


def test_a_second_sentence_may_rest_on_another_quote():
    text, cited = answer(
        "What about notice and cats?",
        [NOTICE, PETS],
        "The tenants must give notice of six",
        " weeks. One cat",
        " is allowed. And much more is said here.",
    )
    assert text == "The tenants must give notice of six weeks. One cat is allowed."
    assert cited == [NOTICE.text, PETS.text]


def test_a_row_of_two_cells_is_a_label_and_its_value():
    asked = keys("How many years is the motor covered?")
    assert supporting_quote("The motor is covered for 10 years.", [MOTOR], asked) == MOTOR
    assert supporting_quote("The motor is covered for 12 years.", [MOTOR], asked) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Motor | 10 years, parts only", "The motor is covered for 10 years."),
        ("Parts of the motor are covered only for 10 years.", "The motor is covered for 10 years."),
        ("Wool may be washed at 30 degrees if it is white.", "Wool may be washed at 30 degrees."),
        ("Salt goes into the left chamber, rinse aid into the right.", "Salt goes into the right."),
        ("Ann feeds the cat and Tom the fish.", "Ann feeds the fish."),
        ("Die Garantie gilt nur mit Rechnung.", "Die Garantie gilt."),
    ],
)
def test_words_that_belong_to_others_or_a_condition_left_out_support_nothing(text, said):
    asked = keys("How many years is the motor covered?")
    assert supporting_quote(said, [quote(text)], asked) is None
    assert supporting_quote(text, [quote(text)], frozenset()) is not None


def test_what_stands_beside_the_answer_may_be_left_out():
    text = (
        "The tenants of the upper flat must give notice of six weeks, the landlord of three months."
    )
    said = "The tenants must give notice of six weeks."
    assert supporting_quote(said, [quote(text)], frozenset()) is not None


def test_a_row_is_quoted_at_once_and_without_its_bars():
    grounding = Grounding("wifi password?", Evidence(quotes=[GUESTS], answerable=0.9))
    assert grounding.complete, "no model need be asked"
    assert answer("wifi password?", [GUESTS]) == (
        "“guest net · pepper-2026 · visitors”",
        [GUESTS.text],
    )


@pytest.mark.parametrize("said", ["The notice is two ", "Ask your lawyer ", "notice of six " * 30])
def test_the_model_is_stopped_at_its_first_own_word_or_when_it_rambles(said):
    grounding = Grounding("How much notice?", Evidence(quotes=[NOTICE], answerable=0.9))
    assert not grounding.complete
    assert list(grounding.feed(said)) == []
    assert grounding.complete


def test_a_row_of_more_cells_supports_no_sentence():
    asked = keys("What is the password for visitors?")
    assert supporting_quote("The password for visitors is guest net.", [GUESTS], asked) is None


def test_a_sentence_is_shown_as_soon_as_it_ends():
    grounding = Grounding("How much notice?", Evidence(quotes=[NOTICE], answerable=0.9))
    assert not list(grounding.feed("The tenants must give notice of six weeks"))
    assert [part.text for part in grounding.feed(". And")] == [
        "The tenants must give notice of six weeks."
    ]


def test_citations_count_from_the_beginning_of_what_is_said_before():
    lead = "Nothing tells. The closest:"
    grounding = Grounding("How?", Evidence(quotes=[PETS], answerable=0.3), lead)
    (only,) = grounding.finish()
    text = lead + only.text
    assert text == f"{lead} “{PETS.text}”"
    assert text[only.citation.answer_start : only.citation.answer_end] == f"“{PETS.text}”"


def test_two_documents_are_shown_with_their_dates():
    survey = msgspec.structs.replace(
        quote("The insulation is 27 cm thick.", document="survey.md"),
        heading="Survey of the loft, 11 March 2026",
    )
    notes = quote("The insulation is 10 cm thick.", document="loft-notes-2009.txt", score=0.85)
    text, _ = answer("How thick is the insulation?", [survey, notes], "I do not know")
    assert text == (
        "“The insulation is 27 cm thick.” (11 March 2026) “The insulation is 10 cm thick.” (2009)"
    )
    assert "(" not in answer("How thick is the insulation?", [survey], "I do not know")[0]


@pytest.mark.parametrize(
    ("question", "told", "said"),
    [
        (
            "the plates are still dirty",
            "Use the long programme for plates.",
            "The plates are dirty.",
        ),
        ("what does the freezer want", "A long beep: the door is open.", "The freezer wants it."),
        ("What's the night number?", "At night: 555-0149.", "The night number is 555."),
        (
            "the plates are dirty",
            "Let the machine stand and open the door.",
            "The machine stands and opens the door.",
        ),
    ],
)
def test_an_echo_a_part_of_a_number_and_a_command_told_as_done_are_no_answers(question, told, said):
    assert answer(question, [quote(told)], said)[0] == f"“{told}”"


def test_a_list_is_quoted_whole_and_at_once():
    steps = quote("1. Pull the plug.\n2. Open the drain.")
    assert answer("How do I empty it?", [steps], "1. Pull the plug.")[0] == (
        "“1. Pull the plug. 2. Open the drain.”"
    )


def test_what_the_best_quote_comes_to_is_said_in_its_place():
    days = quote("2026: 5 October, 2 November", document="bins.txt")
    moved = quote("That of 2 November is moved.", start=90, document="bins.txt")
    evidence = Evidence(quotes=[days, moved], answerable=0.9)
    grounding = Grounding("When?", evidence, instead="Monday 2 November.")
    assert grounding.complete
    first, second = grounding.finish()
    assert first.text == "Monday 2 November."
    assert first.citation.text == days.text
    assert second.text == f" “{moved.text}”"
