"""Support of answer sentences by passages: judged pairs, offsets, edge cases."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.cite import SUPPORTED, align, quote
from rag.sentences import split
from rag.types import Evidence, Passage

OVEN = (
    "Pizza\n\nHeat the oven to 250 °C top and bottom heat. Bake the pizza on the lowest shelf for "
    "8 to 10 minutes. Never cover the oven floor with foil. The fan runs on for about five minutes."
)
BOILER = (
    "The system pressure should be 1.5 bar. If it falls below 0.8 bar, top up with the filling "
    "loop behind the boiler. Error F28 means that the burner did not ignite. The last service was "
    "on 3 March 2024 by Ines Duarte of Calorix. The service costs 129.50 euros and takes 1 hour."
)
WIFI = "Network: Kestrel\nPassword: maple-street-19\nThe router restarts every Monday at 03:30."
LEASE = (
    "The tenant may keep small pets. Dogs need the written consent of the landlord. Subletting is "
    "not allowed. Two months' notice is required."
)
TABLE = (
    "| Code | Meaning | Remedy |\n|---|---|---|\n| E18 | Pump blocked | Clean the drain filter |\n"
    "| E19 | Door open | Close the door |"
)
CHINESE = "热水器的压力应为1.5巴。请勿超过2.5巴。显示E6时请联系售后，电话400-555-0123。"


def passage(text: str, document: str = "manual.md", heading: str = "", start: int = 0) -> Passage:
    return Passage(
        document=document,
        page=1,
        start=start,
        end=start + len(text),
        text=text,
        score=0.5,
        heading=heading,
    )


PASSAGES = [
    passage(OVEN, "oven.pdf", "Oven > Programmes"),
    passage(BOILER, "boiler.pdf", "Boiler"),
    passage(WIFI, "network.txt"),
    passage(LEASE, "lease.docx", "Pets and guests"),
    passage(TABLE, "dishwasher.html", "Dishwasher > Error codes"),
    passage(CHINESE, "热水器.pdf"),
]

SUPPORTED_ANSWERS = [
    ("250 °C.", "250 °C"),
    ("Heat the oven to 250 °C.", "250 °C"),
    ("The oven should be set to 250 °C.", "250 °C"),
    ("Bake it on the lowest shelf.", "lowest shelf"),
    ("The pizza bakes for 8 to 10 minutes.", "8 to 10 minutes"),
    ("8–10 minutes", "8 to 10 minutes"),
    ("Use the lowest shelf for pizza.", "lowest shelf"),
    ("Do not cover the floor of the oven with foil.", "foil"),
    ("You should never cover the oven floor with foil.", "foil"),
    ("The fan keeps running for about 5 minutes.", "five minutes"),
    ("The pressure should be 1.5 bar.", "1.5 bar"),
    ("1.5 bar", "1.5 bar"),
    ("It should be 1.5 bar.", "1.5 bar"),
    ("According to the manual, the system pressure is 1.5 bar.", "1.5 bar"),
    ("Top up when it falls below 0.8 bar.", "0.8 bar"),
    ("The filling loop is behind the boiler.", "filling loop"),
    ("F28 means the burner did not ignite.", "F28"),
    ("Error F28: the burner did not ignite.", "F28"),
    ("The last service was on 3 March 2024.", "3 March 2024"),
    ("3 March 2024", "3 March 2024"),
    ("Ines Duarte serviced it last.", "Ines Duarte"),
    ("The last service was done by Ines Duarte of Calorix.", "Calorix"),
    ("A service costs 129.50 euros.", "129.50"),
    ("The cost of the service is 129.50 euros.", "129.50"),
    ("The password is maple-street-19.", "maple-street-19"),
    ("The network is called Kestrel.", "Kestrel"),
    ("The router restarts on Mondays at 3:30.", "03:30"),
    ("Small pets may be kept.", "small pets"),
    ("You need the written consent of the landlord for dogs.", "written consent"),
    ("Subletting is not allowed.", "Subletting"),
    ("No, subletting isn't allowed.", "Subletting"),
    ("The notice is two months.", "Two months"),
    ("2 months' notice is required.", "Two months"),
    ("E18 means that the pump is blocked.", "E18"),
    ("E18: pump blocked. ", "E18"),
    ("For E19, close the door.", "E19"),
    ("Clean the drain filter.", "drain filter"),
    ("压力应为1.5巴。", "1.5巴"),
    ("电话是400-555-0123。", "400-555-0123"),
]

UNSUPPORTED_ANSWERS = [
    "220 °C.",
    "Heat the oven to 200 °C.",
    "Bake the pizza for 12 minutes.",
    "Bake the pizza for 8 hours.",
    "Bake it on the highest rack above the grill with steam.",
    "Cover the oven floor with foil.",
    "The fan runs on for ten minutes.",
    "The pressure should be 2.0 bar.",
    "The pressure should be 1.5 °C.",
    "Error F29 means that the burner did not ignite.",
    "F28 means that the water tank is empty and needs descaling.",
    "The last service was on 3 May 2024.",
    "The last service was on 3 March 2023.",
    "Robert Kline did the last service.",
    "The service costs 99 euros.",
    "The password is maple-street-20.",
    "The network is called Falcon.",
    "The router restarts every Friday at 03:30.",
    "The router was bought in 2019 by the neighbours.",
    "Subletting is allowed.",
    "Dogs do not need the written consent of the landlord.",
    "Three months' notice is required.",
    "E18 means that the door is open and the heater is broken.",
    "E20 means that the pump is blocked.",
    "The dishwasher weighs 45 kg.",
    "The president of France is Emmanuel Macron.",
    "I hope this helps you to enjoy a wonderful dinner!",
    "Yes.",
    "压力应为3巴。",
    "洗衣机在地下室。",
    "The warranty lasts two years and covers parts and labour.",
]


@pytest.mark.parametrize(("answer", "words"), SUPPORTED_ANSWERS)
def test_a_supported_sentence_finds_its_span(answer: str, words: str) -> None:
    (support, *rest) = align(answer, PASSAGES)
    assert support.passage is not None, support.score
    assert words in support.passage.text
    assert support.score >= SUPPORTED
    assert all(other.passage is not None for other in rest)


@pytest.mark.parametrize("answer", UNSUPPORTED_ANSWERS)
def test_an_unsupported_sentence_finds_none(answer: str) -> None:
    supports = align(answer, PASSAGES)
    assert [support.passage for support in supports] == [None], supports


def test_a_wrong_number_scores_nothing() -> None:
    assert align("The pressure should be 2.0 bar.", PASSAGES)[0].score == 0.0


def test_offsets_are_those_of_the_answer_and_of_the_page() -> None:
    page = "Some words before it. " + BOILER
    found = passage(BOILER, start=page.index(BOILER))
    answer = "The pressure should be 1.5 bar. It was serviced by Ines Duarte."
    first, second = align(answer, [found])
    assert answer[first.answer_start : first.answer_end] == "The pressure should be 1.5 bar."
    assert answer[second.answer_start : second.answer_end] == "It was serviced by Ines Duarte."
    for support in (first, second):
        assert support.passage is not None
        assert page[support.passage.start : support.passage.end] == support.passage.text
    assert first.passage is not None
    assert first.passage.text == "The system pressure should be 1.5 bar."


def test_one_sentence_is_preferred_to_two() -> None:
    support = align("Never cover the oven floor with foil.", PASSAGES)[0]
    assert support.passage is not None
    assert support.passage.text == "Never cover the oven floor with foil."


def test_two_neighbours_support_what_neither_says_alone() -> None:
    answer = "The pressure should be 1.5 bar; below 0.8 bar top up with the filling loop."
    support = align(answer, PASSAGES)[0]
    assert support.passage is not None
    assert "1.5 bar" in support.passage.text
    assert "filling loop" in support.passage.text


def test_nothing_supports_without_passages_or_words() -> None:
    assert align("The pressure is 1.5 bar.", [])[0].passage is None
    assert align("", PASSAGES) == []
    assert align("…", PASSAGES)[0].passage is None


def test_a_quote_supports_itself() -> None:
    best = passage("The pressure is 1.5 bar.")
    support = quote(Evidence(quotes=[best], answerable=0.9))
    assert support is not None
    assert (support.passage, support.answer_end) == (best, len(best.text))
    assert quote(Evidence(quotes=[], answerable=0.0)) is None


@settings(deadline=None)
@given(st.text(max_size=120))
def test_any_answer_aligns_within_its_bounds(answer: str) -> None:
    for support in align(answer, PASSAGES):
        assert 0 <= support.answer_start < support.answer_end <= len(answer)
        assert 0.0 <= support.score <= 1.0 + 1e-9
        assert (support.passage is None) == (support.score < SUPPORTED)


@settings(deadline=None)
@given(st.sampled_from(PASSAGES), st.data())
def test_every_sentence_of_a_passage_supports_itself(source: Passage, data: st.DataObject) -> None:
    piece = data.draw(st.sampled_from([s for s in split(source.text) if s.kind != "heading"]))
    for support in align(piece.text, PASSAGES):
        assert support.passage is not None


def test_the_contrary_of_what_is_told_has_no_support() -> None:
    told = passage("The tenancy begins on 1 September 2025 and is fixed for 24 months.")
    assert align("The tenancy begins on 1 September 2025.", [told])[0].passage is not None
    assert align("The tenancy ends on 1 September 2025.", [told])[0].score == 0.0
