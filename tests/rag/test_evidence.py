"""Evidence: mechanics with a counting encoder, quality on the household set with the real one."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from rag import db
from rag.candidates import candidates_of
from rag.embed import CachingEmbedder, Embedder
from rag.embed_chunks import Text, embed_chunks
from rag.errors import EmbedderError
from rag.evidence import (
    ANSWERABLE,
    CLOSE,
    MAX_EMBEDDED,
    Embed,
    evidence,
    lexical_features,
)
from rag.language import detect
from rag.question import take_apart
from rag.quotes import MAX_QUOTES, shown
from rag.retrieve import retrieve
from rag.store import NewChunk, Record, Store
from rag.types import Evidence, Passage
from rag.worker_embedder import WorkerEmbedder

HOUSEHOLD = Path(__file__).parents[2] / "bench" / "household.json"
PAGE = (
    "# Boiler\n\nPressure\n\nThe system pressure should be 1.5 bar. Below 0.8 bar, top up.\n\n"
    "| Code | Meaning |\n|---|---|\n| E04 | No flame |\n| E11 | Fan blocked |\n\n"
    "Service\n\nInes Duarte services it every March. Her mobile is 0171 555 0199."
)


def passage(text: str, start: int = 0, document: str = "boiler.md", heading: str = "") -> Passage:
    return Passage(
        document=document,
        page=None,
        start=start,
        end=start + len(text),
        text=text,
        score=0.5,
        heading=heading,
    )


class CountingReader:
    """Says of one text that it answers; remembers what it was asked."""

    def __init__(self, word: str) -> None:
        self.word, self.calls = word, list[tuple[str, list[str]]]()

    async def __call__(self, question: str, texts: Sequence[str]) -> np.ndarray:
        self.calls.append((question, list(texts)))
        return np.array([9.0 if self.word in text else -9.0 for text in texts], np.float32)


class CountingEncoder:
    """Unit vectors that are all alike; remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    async def __call__(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(list(texts))
        return np.full((len(texts), 4), 0.5, np.float32)


async def test_quotes_have_page_offsets() -> None:
    start = PAGE.index("Pressure\n")
    found = await evidence(
        "What should the system pressure be?", [passage(PAGE[start:], start)], CountingEncoder()
    )
    assert found.quotes[0].text == "The system pressure should be 1.5 bar. Below 0.8 bar, top up."
    for quote in found.quotes:
        assert PAGE[quote.start : quote.end] == quote.text
    assert found.answerable == found.quotes[0].score >= found.quotes[-1].score
    assert 1 <= len(found.quotes) <= MAX_QUOTES


async def test_one_call_embeds_no_more_than_the_limit() -> None:
    encoder = CountingEncoder()
    text = " ".join(f"Sentence number {n} is about pressure." for n in range(60))
    await evidence("What is the pressure?", [passage(text)], encoder)
    assert [len(call) for call in encoder.calls] == [1 + MAX_EMBEDDED]
    assert encoder.calls[0][0] == "What is the pressure?"


@pytest.mark.parametrize("question", ["热水器的压力是多少？", "Wie hoch ist der Druck?"])
async def test_other_languages_ask_no_encoder(question: str) -> None:
    encoder = CountingEncoder()
    await evidence(question, [passage(PAGE)], encoder)
    assert encoder.calls == []


async def test_nothing_to_quote() -> None:
    for passages in ([], [passage("# Heading\n\nOverview")]):
        found = await evidence("What is the pressure?", passages, CountingEncoder())
        assert found == Evidence(quotes=[], answerable=0.0)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What does E11 mean on the boiler?", "Fan blocked"),
        ("What is Ines Duarte's phone number?", "0171 555 0199"),
        ("Who services the boiler?", "Ines Duarte"),
    ],
)
async def test_the_right_piece_is_quoted_without_an_encoder(question: str, words: str) -> None:
    found = await evidence(question, [passage(PAGE)], None)
    assert words in found.quotes[0].text


async def test_the_reader_sees_what_stands_above_and_its_word_counts() -> None:
    text = "# Boiler\n\n## Service\n\nInes comes in March. She brings her dog along."
    question, reader = "Does anybody bring an animal?", CountingReader("dog")
    encode = CountingEncoder()
    found = await evidence(question, [passage(text, document="boiler-notes.md")], encode, reader)
    assert len(encode.calls) == len(reader.calls) == 1
    asked, texts = reader.calls[0]
    assert asked == question
    assert "boiler notes > Service: Ines comes in March." in texts
    assert "dog" in found.quotes[0].text
    against = CountingReader("nothing of it")
    refused = await evidence(question, [passage(text, document="boiler-notes.md")], encode, against)
    assert refused.answerable < found.answerable


async def test_a_reader_that_fails_is_done_without() -> None:
    async def broken(question: str, texts: Sequence[str]) -> np.ndarray:
        raise EmbedderError("gone")

    asked, page = "What should the pressure be?", [passage(PAGE)]
    without = await evidence(asked, page, CountingEncoder())
    assert await evidence(asked, page, CountingEncoder(), broken) == without


async def test_the_reader_is_not_asked_what_it_cannot_read() -> None:
    reader = CountingReader("压力")
    await evidence("锅炉的压力是多少？", [passage("压力是1.5巴。")], CountingEncoder(), reader)
    await evidence("What is the pressure?", [], CountingEncoder(), reader)
    await evidence("What is the pressure?", [passage(PAGE)], None, reader)
    assert not reader.calls


async def test_a_foreign_code_is_refused() -> None:
    known = await evidence("What does E04 mean on the boiler?", [passage(PAGE)], None)
    foreign = await evidence("What does E05 mean on the boiler?", [passage(PAGE)], None)
    assert known.answerable >= ANSWERABLE > 0.05 > foreign.answerable


async def test_the_form_of_the_answer_decides() -> None:
    text = "The oven is 60 cm wide. The oven was delivered on 3 May."
    wide = await evidence("How wide is the oven?", [passage(text, document="oven.md")], None)
    heavy = await evidence("How heavy is the oven?", [passage(text, document="oven.md")], None)
    assert wide.quotes[0].text == "The oven is 60 cm wide."
    assert wide.answerable > ANSWERABLE > heavy.answerable


async def test_a_row_of_data_is_no_header_and_the_asked_code_wins() -> None:
    """A chunk may begin in the middle of a table: E04's row must not stand above E07's."""
    text = "E04 | The sensor is faulty | call\nE07 | The fan does not turn | call the service"
    found = await evidence("What does error code E04 mean?", [passage(text)], CountingEncoder())
    assert found.quotes[0].text.startswith("E04")


async def test_a_thing_named_is_not_its_name() -> None:
    asked = "What was the name of our first boat?"
    secret = "Say the password; it is the name of our first boat."
    told = "Our first boat was called Kittiwake, the second one Puffin."
    refused = await evidence(asked, [passage(secret, document="alarm.txt")], None)
    answered = await evidence(asked, [passage(told, document="boats.txt")], None)
    assert answered.answerable >= ANSWERABLE > refused.answerable


async def test_other_peoples_values_are_not_the_owners() -> None:
    asked = "When is Ella's birthday?"
    others = "# Birthdays in Ella's class\n\nThe birthday of Noah is on 3 May, of Mika on 4 June."
    own = "# Birthdays\n\nThe birthday of Ella is on 3 May, of Mika on 4 June."
    refused = await evidence(asked, [passage(others)], None)
    answered = await evidence(asked, [passage(own)], None)
    assert answered.answerable >= ANSWERABLE > refused.answerable


async def test_what_one_person_may_have_is_not_told_of_another() -> None:
    asked = "How much ibuprofen can Ella have?"
    others = "# Medicine\n\nIbuprofen syrup: Jonas gets 6 ml, three times a day."
    own = "# Medicine\n\nIbuprofen syrup: Ella gets 6 ml, three times a day."
    refused = await evidence(asked, [passage(others)], None)
    answered = await evidence(asked, [passage(own)], None)
    assert answered.answerable >= ANSWERABLE > refused.answerable


async def test_in_lower_case_somebody_is_somebody_as_well() -> None:
    page = "# Granddad Otto's cakes\n\nEvery birthday has its cake: Lea on 3 May, Kim on 4 June."
    otto = await evidence("when's granddad otto's birthday?", [passage(page)], None)
    lea = await evidence("when's lea's birthday?", [passage(page)], None)
    assert lea.answerable >= ANSWERABLE > otto.answerable


FILTER = "# {}\n\n## Cleaning the filter\n\nTurn the filter of the {} to the left and rinse it."


async def test_the_filter_of_another_appliance_is_another_filter() -> None:
    manual = passage(FILTER.format("Dishwasher DW 7", "machine"), document="dishwasher-manual.pdf")
    own = await evidence("How do I clean the filter of the dishwasher?", [manual], None)
    other = await evidence("How do I clean the filter of the washing machine?", [manual], None)
    assert own.answerable >= ANSWERABLE > CLOSE > other.answerable


async def test_a_passage_that_names_an_appliance_may_tell_of_it() -> None:
    boiler = "The boiler's filter and that of the washing machine are rinsed in May."
    notes = passage(f"# Boiler\n\n## Filters\n\n{boiler}")
    asked = take_apart("How do I clean the filter of the washing machine?")
    assert [f.foreign_appliance for f in lexical_features(asked, candidates_of([notes]))] == [0.0]


async def test_a_paper_on_no_appliance_is_on_no_other() -> None:
    notes = passage("# Chores\n\nThe filter is rinsed in May.", document="chores.md")
    asked = take_apart("How do I clean the filter of the washing machine?")
    assert [f.foreign_appliance for f in lexical_features(asked, candidates_of([notes]))] == [0.0]


async def test_a_medicine_is_nobody_else() -> None:
    page = "# Rex\n\n## Paw\n\nWash the paw daily, with two drops of Palmolin. Otto has drops too."
    asked = take_apart("How often do I wash Rex's paw?")
    features = lexical_features(asked, candidates_of([passage(page)]))
    assert [one.foreign_owner for one in features] == [0.0, 0.0]
    page = page.replace("Otto has", "Give Otto his")
    features = lexical_features(asked, candidates_of([passage(page)]))
    assert [one.foreign_owner for one in features] == [0.0, 1.0]


async def test_the_heading_that_says_the_question_decides() -> None:
    gas = "# House\n\n## Turning off the gas\n\nThe lever is in the porch: push it down."
    dryer = "# Dryer\n\nTurn the gas dryer round. Turn off nothing. The gas hose is grey."
    found = await evidence(
        "How do I turn the gas off?",
        [passage(dryer, document="dryer.md"), passage(gas, document="house.md")],
        None,
    )
    assert found.quotes[0].text == "The lever is in the porch: push it down."


async def test_a_row_may_be_about_somebody_who_is_named_beside_the_table() -> None:
    page = (
        "Training\n\nSquad | Days | Time | Coach\nPikes | Friday | 17:15 | Leo Brandt\n"
        "Trout | Friday | 18:30 | Carys Holm\n\nKim has a place with the Trout."
    )
    found = await evidence("When is Kim's training on Friday?", [passage(page)], None)
    assert found.answerable >= ANSWERABLE
    assert found.quotes[0].text.startswith("Trout")


async def test_whom_to_ring_is_answered_by_a_number() -> None:
    text = "Take off rings and ring the bell. The plumber: 0171 555 0142, day and night."
    found = await evidence("Who do I ring for a plumber?", [passage(text)], None)
    assert "0171 555 0142" in found.quotes[0].text


class Household(NamedTuple):
    """Probability and best quotes for every question of bench/household.json."""

    questions: list[dict[str, str | None]]
    results: list[Evidence]


@pytest.fixture(scope="module")
def household(tmp_path_factory: pytest.TempPathFactory) -> Household:
    data = json.loads(HOUSEHOLD.read_bytes())
    connection = db.connect(tmp_path_factory.mktemp("household") / "hub.db")
    store = Store(connection)
    questions = data["questions"][::2]

    async def measure() -> list[Evidence]:
        embedder = CachingEmbedder(WorkerEmbedder())
        try:
            await _fill(store, data["sections"], embedder)
            return [await _ask(store, q["question"], embedder.embed) for q in questions]
        finally:
            await embedder.close()

    results = asyncio.run(measure())
    connection.close()
    return Household(questions, results)


async def _fill(store: Store, sections: list[dict[str, Any]], embedder: Embedder) -> None:
    documents: dict[str, list[dict[str, Any]]] = {}
    for section in sections:
        documents.setdefault(section["document"], []).append(section)
    for name, parts in documents.items():
        texts = [Text("", part["heading"], part["text"]) for part in parts]
        made = await embed_chunks(embedder, texts)
        chunks = [
            NewChunk(number, 0, len(part["text"]), part["text"], part["heading"], one)
            for number, (part, one) in enumerate(zip(parts, made, strict=True), start=1)
        ]
        record = Record(
            name=name,
            path=name,
            type="md",
            bytes=0,
            stamp="",
            sha256="",
            made_by="",
            ingested_at="",
            paged=True,
        )
        store.replace(record, [part["text"] for part in parts], chunks)


async def _ask(store: Store, question: str, embed: Embed) -> Evidence:
    vector = (await embed([question]))[0] if detect(question) == "en" else None
    return await evidence(question, retrieve(store, question, vector, 5).passages, embed)


def test_household_questions_are_answered_and_refused(household: Household) -> None:
    """Half of the set the models were fitted on: a guard against regressions, not a measure."""
    answered = [r.answerable >= ANSWERABLE for r in household.results]
    has_answer = [bool(q["answer"]) for q in household.questions]
    wrong = [not a for a, has in zip(answered, has_answer, strict=True) if has]
    right = [not a for a, has in zip(answered, has_answer, strict=True) if not has]
    assert sum(wrong) / len(wrong) <= 0.12
    assert sum(right) / len(right) >= 0.85


def test_household_quotes_hold_the_answer(household: Household) -> None:
    held = [
        any(question["answer"] in quote.text.replace("\n", " ") for quote in result.quotes)
        for question, result in zip(household.questions, household.results, strict=True)
        if question["answer"]
    ]
    assert sum(held) / len(held) >= 0.9


def test_other_quotes_are_shown_only_where_they_repeat_no_better_one() -> None:
    def quote(score: float, start: int, document: str = "a") -> Passage:
        return Passage(
            document=document, page=1, start=start, end=start + 9, text="x" * 9, score=score
        )

    best = quote(0.9, 0)
    for others, expected in (
        ([], []),
        ([quote(0.8, 5)], []),
        ([quote(0.8, 9)], [1]),
        ([quote(0.8, 5, "b")], [1]),
        ([quote(0.85, 3), quote(0.8, 30)], [2]),
        ([quote(0.85, 10), quote(0.8, 30)], [1, 2]),
        ([quote(0.85, 10), quote(0.8, 15)], [1]),
    ):
        quotes = [best, *others]
        found = shown(Evidence(quotes=quotes, answerable=0.9))
        assert found == [best, *(quotes[at] for at in expected)]


async def test_what_is_told_of_another_thing_is_no_answer() -> None:
    fee = "## Service\n\nA visit without a fault costs a flat fee of £65."
    oven = passage(fee, document="oven-manual.pdf", heading="Kestrolux oven > Service")
    boiler = passage(
        "The landlord pays for the yearly service.", document="boiler.md", heading="Boiler"
    )
    found = await evidence("What does the boiler service cost?", [boiler, oven], None)
    assert found.answerable < ANSWERABLE
    of_the_oven = await evidence("What does the oven service cost?", [boiler, oven], None)
    assert of_the_oven.answerable >= ANSWERABLE
    assert "£65" in of_the_oven.quotes[0].text
    asked = take_apart("What does the boiler service cost?")
    of_it, of_another = lexical_features(asked, candidates_of([boiler, oven]))
    assert (of_it.foreign_subject, of_another.foreign_subject) == (0.0, 0.5)
    assert (of_it.elsewhere, of_another.elsewhere) == (0.0, 0.5)
    # A paper that speaks of it may be of another title.
    told = passage("The boiler service costs £90.", document="lease.docx", heading="Lease")
    both = await evidence("What does the boiler service cost?", [boiler, oven, told], None)
    assert both.answerable >= ANSWERABLE
    assert both.quotes[0].document == "lease.docx"


async def test_a_price_in_a_thing_s_paper_is_not_what_the_thing_costs() -> None:
    text = "Bed at 50 degrees, 400 g of flour, 12 kg at most. It weighs 31 kg when empty."
    paper = passage(text, document="dryer.md", heading="Dryer")
    asked = take_apart("How heavy is the dryer?")
    bare, named = (one.bare for one in lexical_features(asked, candidates_of([paper])))
    assert (bare, named) == (1.0, 0.0)


async def test_the_code_of_another_appliance_is_no_second_quote() -> None:
    rows = "| E03 | The door is open |\n| E04 | {} | Call the service |"
    oven = passage(rows.format("Sensor is faulty"), document="oven-manual.pdf")
    other = passage(rows.format("Water in the base tray"), document="dishwasher-manual.pdf")
    found = await evidence("What does error code E04 on the oven mean?", [oven, other], None)
    assert {quote.document for quote in found.quotes} == {"oven-manual.pdf"}
    both = await evidence("What does error code E04 mean?", [oven, other], None)
    assert {quote.document for quote in both.quotes} == {"oven-manual.pdf", "dishwasher-manual.pdf"}


async def test_the_code_of_another_appliance_is_no_answer() -> None:
    rows = "| E03 | The door is open |\n| E04 | Water in the base tray | Close the tap |"
    page = passage(f"Error codes\n\n{rows}", document="dishwasher-manual.pdf")
    asked = ("What does error code {} on the {} mean?", "The {1} shows {0}, what now?")
    for question in asked:
        right = await evidence(question.format("E04", "dishwasher"), [page], None)
        wrong = await evidence(question.format("E04", "oven"), [page], None)
        assert wrong.answerable < ANSWERABLE < right.answerable
    of_nothing = await evidence("What does error code E04 mean?", [page], None)
    assert of_nothing.answerable > ANSWERABLE


async def test_a_value_of_another_year_is_refused() -> None:
    page = passage("MOT test for the car: Wednesday 2027-02-03 08:30; costs 54 pounds")
    this = await evidence("How much does the MOT cost in 2027?", [page], None)
    other = await evidence("How much did the MOT cost in 2025?", [page], None)
    assert other.answerable < ANSWERABLE < this.answerable


async def test_the_year_of_a_document_counts_for_its_rows() -> None:
    bill = passage("| Total for the year | £1,071.85 |", document="electricity-bill-2026.md")
    old = passage("| Total for the year | £998.20 |", document="electricity-bill-2025.md")
    found = await evidence("What did electricity cost us in 2025?", [bill, old], None)
    assert found.quotes[0].document == "electricity-bill-2025.md"


async def test_a_year_is_no_count() -> None:
    page = passage("ORCHARD RISE ALLOTMENTS - RULES 2026\n\nPlots are let from Easter 2026 on.")
    found = await evidence("How many plots are there at Orchard Rise?", [page], None)
    assert found.answerable < ANSWERABLE


async def test_a_word_that_begins_a_longer_one_counts_in_part() -> None:
    rows = "Glass | 555-0151 | on weekdays\nBreakdown and towing | 555-0152 | day and night"
    found = await evidence("The car broke down, which number do I call?", [passage(rows)], None)
    assert "555-0152" in found.quotes[0].text
