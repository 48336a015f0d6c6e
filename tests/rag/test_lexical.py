"""Words, numbers and codes in comparable form."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.lexical import coverage, inverse_frequency, keys, number, places_of, stem, terms_of


@pytest.mark.parametrize(
    "words",
    [
        "heat heats heated heating heater",
        "install installs installed installation",
        "clean cleans cleaned cleaning",
        "day days",
        "key keys",
        "battery batteries",
        "stop stopped stopping",
        "vaccinated vaccination",
        "buy bought",
        "child children",
        "bicycle bikes",
        "warranty guarantee",
        "say says said",
        "refund refunds refunded reimbursed",
    ],
)
def test_forms_of_a_word_meet(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize(
    "pair",
    [
        "lock unlock",
        "on off",
        "oven over",
        "bread break",
        "wash wasp",
        "band forbid",
        "mind minute",
        "gps doctor",
        "tired tyre",
    ],
)
def test_different_words_do_not(pair: str) -> None:
    one, other = pair.split()
    assert stem(one) != stem(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wi-Fi", "wifi"),
        ("E-24", "e24"),
        ("07:30", "7:30"),
        ("1,000", "1000"),
        ("1,5 bar", "1.5 bar"),
        ("two years", "2 years"),
        ("24-hour", "24 hours"),
        ("220°C", "220 °C"),
        ("Anna's", "Anna"),
    ],
)
def test_spellings_meet(one: str, other: str) -> None:
    assert keys(one) == keys(other)


def test_codes_are_exact() -> None:
    assert not keys("E24") & keys("E25")
    assert [term.kind for term in terms_of("E24 24 oven 烤")] == ["code", "number", "word", "cjk"]


def test_function_words_are_no_terms() -> None:
    assert keys("What is the pressure of it?") == {"pressur"}
    assert keys("热水器是多少") == keys("热水器是")


def test_leading_zeros_of_codes_stay() -> None:
    assert number("0171") == "0171"
    assert number("0") == "0"


def test_weights_fall_with_frequency() -> None:
    weights = inverse_frequency([frozenset("ab"), frozenset("a"), frozenset("a")])
    assert weights["a"] < weights["b"] < weights[""]
    assert coverage("ab", frozenset("b"), weights) > 0.5
    assert coverage("", frozenset("b"), weights) == 0.0
    assert coverage("ab", frozenset("ab"), weights) == pytest.approx(1.0)


@settings(deadline=None)
@given(st.text(max_size=120))
def test_terms_lie_within_the_text(text: str) -> None:
    for term in terms_of(text):
        assert 0 <= term.start < term.end <= len(text)
        assert term.key
    assert keys(text) == {term.key for term in terms_of(text)}


_LETTERS = "aEszZ19 -‑'’_.,:ºéß年月什么烤のがİ\n"


@settings(deadline=None)
@given(st.text(alphabet=_LETTERS, max_size=60), st.integers(1, 4))
def test_places_are_those_of_the_wanted_terms(text: str, every: int) -> None:
    terms = terms_of(text)
    wanted = frozenset(term.key for term in terms[::every])
    assert places_of(text, wanted) == [(t.start, t.key) for t in terms if t.key in wanted]


def test_places_in_text_of_several_scripts() -> None:
    text = "The boilers' Wi-Fi code is E-24, 锅炉多少钱, three boilers."
    assert places_of(text, keys("boiler 锅炉 3 wifi E24")) == [
        (4, "boil"), (13, "wifi"), (27, "e24"), (33, "锅炉"), (33, "锅"), (34, "炉"),
        (40, "3"), (46, "boil"),
    ]  # fmt: skip
