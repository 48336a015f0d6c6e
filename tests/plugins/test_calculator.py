"""Sums: against exact fractions, in five languages, and what is none."""

import re
import time
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from unicode_rbnf import RbnfEngine

from plugins import calculator
from plugins.api import ToolError
from plugins.arithmetic import DEEPEST, LONGEST, ExpressionError, evaluate, is_expression
from plugins.numbers import chinese, written
from plugins.said_numbers import in_digits

_fits = calculator.plugin.tools["calculator.calculate"].fits
CHINESE = RbnfEngine.for_language("zh")
SAID = [
    ("en", "15% of 80", 12),
    ("en", "80 + 15%", 92),
    ("en", "fifteen percent of eighty-four dollars", "12.6"),
    ("de", "19 Prozent von 250 Euro", "47.5"),
    ("zh", "三十八块五乘以六", 231),
    ("zh", "二十块加三十元", 50),
    ("en", "20% off 50", 40),
    ("en", "twelve times (3 + 4)", 84),
    ("en", "the square root of 144", 12),
    ("en", "2 to the power of 10", 1024),
    ("en", "half of 90", 45),
    ("en", "a third of 9", 3),
    ("en", "two hundred and fifty plus 3", 253),
    ("en", "1,200 / 8", 150),
    ("en", "3 squared minus one", 8),
    ("en", "seven multiplied by eight", 56),
    ("en", "seventeen nines", 153),
    ("en", "forty-eight euro fifty plus 112", "160.5"),
    ("en", "double 21", 42),
    ("en", "100 divided by 8", "12.5"),
    ("en", "-2^2", -4),
    ("en", "2^3^2", 512),
    ("en", "8 / 4 / 2", 1),
    ("en", "10 - 4 - 3", 3),
    ("en", "0.1 + 0.2", "0.3"),
    ("en", "80 * -3", -240),
    ("en", "10% + 5%", "0.15"),
    ("zh", "80的百分之十五", 12),
    ("zh", "十二乘以七", 84),
    ("zh", "三千零五万加一", 30_050_001),
    ("zh", "十二的平方", 144),
    ("zh", "八十的一半", 40),
    ("zh", "根号144", 12),
    ("zh", "3除以4", ".75"),
    ("zh", "4除12", 3),
    ("zh", "一百减二十", 80),
    ("zh", "2的3次方", 8),
    ("de", "15 Prozent von 80", 12),
    ("de", "zwölf mal sieben", 84),
    ("de", "3,5 plus 1,25", "4.75"),
    ("de", "1.234,5 + 1", "1235.5"),
    ("de", "die Wurzel aus 81", 9),
    ("de", "100 geteilt durch 8", "12.5"),
    ("fr", "12 fois 7", 84),
    ("fr", "20 % de 50", 10),
    ("fr", "la moitié de 9", "4.5"),
    ("es", "12 por 7", 84),
    ("es", "el 15% de 80", 12),
    ("es", "100 dividido entre 8", "12.5"),
]

NONE = [
    "the warranty of the oven",
    "21",
    "",
    "the light to 50%",
    "3 cups in ml",
    "E04",
    "1 +",
    "(1 + 2",
    "1 2",
    "__import__('os')",
    "9" * (LONGEST + 1),
    "(" * DEEPEST + "1" + ")" * DEEPEST,
    "-5",
    "5%5",
]


@pytest.mark.parametrize(("language", "said", "value"), SAID)
def test_a_sum_has_its_value(language, said, value):
    assert is_expression(said, language)
    assert round(evaluate(said, language), 20) == Decimal(value)


@pytest.mark.parametrize("said", NONE)
def test_what_is_no_sum(said):
    assert not is_expression(said, "en")


@pytest.mark.parametrize("said", ["9^9^9", "2^-1001", "10^999 ^ 99", "sqrt(-1)", "0.5^-999^3"])
def test_what_has_no_result_is_refused_at_once(said):
    with pytest.raises(ExpressionError):
        evaluate(said, "en")


@pytest.mark.parametrize("said", ["1/0", "0/0", "1 / (3 - 3)", "5 divided by zero"])
def test_nothing_is_divided_by_zero(said):
    with pytest.raises(ZeroDivisionError):
        evaluate(said, "en")


def expressions():
    """Pairs of text and exact value."""
    numbers = st.integers(0, 999).map(lambda n: (str(n), Fraction(n)))

    def combined(inner):
        return st.tuples(inner, st.sampled_from("+-*/"), inner).map(_combine)

    return st.recursive(numbers, combined, max_leaves=6)


def _combine(parts):
    (left, a), sign, (right, b) = parts
    text = f"({left}) {sign} ({right})"
    if sign == "/":
        return text, a / b if b and a is not None else None
    if a is None or b is None:
        return text, None
    return text, {"+": a + b, "-": a - b, "*": a * b}[sign]


@settings(deadline=None)
@given(expressions())
def test_sums_are_those_of_exact_fractions(pair):
    text, exact = pair
    assume(exact is not None and len(text) <= LONGEST)
    assert abs(Fraction(evaluate(text, "en")) - exact) <= abs(exact) / 10**20 + Fraction(1, 10**18)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 99), st.sampled_from("+-*/")), min_size=1, max_size=8))
def test_times_binds_closer_than_plus_and_equals_go_left_to_right(parts):
    text = " ".join(f"{n} {sign}" for n, sign in parts) + " 1"
    exact = eval(
        " ".join(f"Fraction({n}) {sign}" for n, sign in parts) + " 1", {"Fraction": Fraction}
    )
    assert abs(Fraction(evaluate(text, "en")) - exact) < Fraction(1, 10**10)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_text_breaks_the_parser(text):
    for language in ("en", "zh", "de", "fr", "es"):
        is_expression(text, language)
        _fits({"expression": text}, language)


@settings(deadline=None)
@given(st.integers(0, 10**9))
def test_chinese_numbers_are_those_of_unicode(number):
    assert chinese(CHINESE.format_number(number).text) == number


@settings(deadline=None)
@given(st.integers(-(10**14), 10**14))
def test_a_whole_number_is_written_as_it_is(number):
    assert written(Decimal(number), "en") == str(number)


def test_numbers_are_written_as_people_do():
    assert written(Decimal("2.50"), "de") == "2,5"
    assert written(Decimal(1) / 3, "en") == "0.333333"
    assert written(Decimal("1e30"), "en") == "1 × 10^30"
    assert written(Decimal("-0.0000"), "en") == "0"


SPOKEN = [
    ("en", "eighteen percent of a hundred and forty-two", "25.56"),
    ("en", "Three-eighths times four", "1.5"),
    ("en", "a hundred and twenty divided by five", 24),
    ("en", "two and three quarters times four", 11),
    ("en", "three quarters of twelve", 9),
    ("en", "thirty plus five and a half", "35.5"),
    ("en", "two point five million plus one", 2_500_001),
    ("en", "twelve, um, times a, uh, hundred", 1_200),
    ("en", "seven times thirteen dollars and fifty cents", "94.5"),
    ("de", "drei mal siebzehn Komma fünf", "52.5"),
    ("de", "fünf zehn prozent von zwei hundert vier zig", 36),
    ("de", "sieben mal dreizehn Euro neunundneunzig", "97.93"),
    ("de", "hundert und zwanzig mal zwei", 240),
    ("de", "dreiundzwanzig mal vierzehn plus sechs", 328),
    ("de", "dreiundzwanzig mal, äh, vierzehn", 322),
    ("de", "anderthalb mal vier", 6),
    ("de", "zweieinhalb mal vier", 10),
    ("de", "drei Achtel von vier", "1.5"),
    ("de", "zwei Komma null fünf mal drei", "6.15"),
    ("de", "fünf und drei", 8),
    ("zh", "一百八十五除以五等于几", 37),
    ("zh", "八十的四分之三", 60),
    ("zh", "三又四分之一乘以二", "6.5"),
    ("zh", "二十，呃，加五", 25),
    ("zh", "四百加二百六", 660),
    ("zh", "三千五乘以二", 7_000),
    ("zh", "三点一四乘以二", "6.28"),
]


@pytest.mark.parametrize(("language", "said", "value"), SPOKEN)
async def test_a_sum_is_read_as_it_is_said(workshop, language, said, value):
    assert _fits({"expression": said}, language)
    result = await workshop("calculator.calculate", language, expression=said)
    assert Decimal(result.data["value"].replace(",", ".")) == Decimal(value)


async def test_euros_are_divided(workshop):
    said = "hundertachtundvierzig Euro durch sechs"
    result = await workshop("calculator.calculate", "de", expression=said)
    assert result.text == f"{said} ≈ 24,666667."


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "sieben mal dreizehn neunundneunzig"),  # 13.99, or two numbers
        ("en", "nineteen ninety-nine times two"),
        ("en", "a hundred and five eighths times two"),  # 105/8, or 100 5/8
        ("en", "twenty third plus one"),
        ("en", "twenty, uh, five times three"),
        ("zh", "二十呃五加一"),
        ("zh", "一百二十八除一四"),
        ("en", "five euros and 20 percent"),
        ("en", "a hundred and a thousand plus one"),
        ("de", "drei Komma einhundert mal zwei"),
        ("en", "seven times thirteen, no, fourteen"),
        ("en", "half past ten"),
        ("en", "three quarters"),
        ("de", "ein halbes"),
        ("en", "a hundred and forty-two"),
        ("en", "two lamps"),
    ],
)
def test_what_is_no_sum_or_two_is_left_alone(language, said):
    assert not _fits({"expression": said}, language)


@settings(deadline=None)
@example("de", 301_000_000)
@given(st.sampled_from(["en", "de"]), st.integers(0, 999_999_999))
def test_a_number_is_read_as_unicode_spells_it(language, number):
    spelled = RbnfEngine.for_language(language).format_number(number)
    text = spelled.text_by_ruleset[
        "spellout-cardinal" if language == "en" else "spellout-numbering"
    ]
    assert in_digits(text.replace("\xad", ""), language) == str(number)


@settings(deadline=None)
@given(st.integers(0, 10**9))
def test_a_chinese_number_is_read_as_unicode_spells_it(number):
    assert in_digits(CHINESE.format_number(number).text, "zh") == str(number)


@settings(deadline=None)
@given(st.integers(2, 99), st.integers(1, 99))
def test_a_german_number_may_come_in_pieces(hundreds, rest):
    engine = RbnfEngine.for_language("de")
    words = [engine.format_number(n).text.replace("\xad", "") for n in (hundreds % 9 + 1, rest)]
    text = f"{words[0]} hundert {words[1]}"
    for ending in ("zehn", "zig", "ßig", "und"):
        text = re.sub(f"(?<=[a-zäöüß]){ending}(?![a-z]*ert)", f" {ending} ", text)
    assert in_digits(text, "de") == str((hundreds % 9 + 1) * 100 + rest)


@pytest.mark.parametrize("word", ["dreizehn", "fünf zehn ", "ein und ", "hundert", "vier zig und "])
def test_no_text_takes_long(word):
    began = time.perf_counter()
    in_digits(word * (LONGEST // len(word)) + "x", "de")
    assert time.perf_counter() - began < 0.5


SENTENCES = [
    ("en", "What is 15% of 80?", "15% of 80"),
    ("en", "how much is 20% off 50", "20% off 50"),
    ("en", "What's 12 times (3 + 4)", "12 times (3 + 4)"),
    ("en", "could you tell me what 7 times 8 is", "7 times 8"),
    ("en", "half of 90", "half of 90"),
    ("zh", "80的百分之十五是多少", "80的百分之十五"),
    ("zh", "三加四等于几？", "三加四"),
    ("de", "Wie viel ist zwölf mal sieben?", "zwölf mal sieben"),
    ("fr", "combien font 12 fois 7", "12 fois 7"),
    ("es", "¿cuánto es 12 por 7?", "12 por 7"),
]


@pytest.mark.parametrize(("language", "text", "expression"), SENTENCES)
def test_a_question_is_understood(understood, language, text, expression):
    assert understood(text, language) == ("calculator.calculate", {"expression": expression})


@pytest.mark.parametrize("text", ["What is the warranty of the oven?", "what is 5", "what is E04"])
def test_a_question_for_the_documents_is_left_alone(understood, text):
    assert understood(text) is None


async def test_the_answer_says_what_was_asked(workshop):
    result = await workshop("calculator.calculate", expression="15% of 80")
    assert (result.text, result.data) == ("15% of 80 = 12.", {"value": "12"})
    assert (await workshop("calculator.calculate", expression="1/3")).text == "1/3 ≈ 0.333333."
    assert (await workshop("calculator.calculate", "de", expression="5 / 2")).text == "5 / 2 = 2,5."
    with pytest.raises(ToolError, match="divided by zero"):
        await workshop("calculator.calculate", expression="1/0")
    with pytest.raises(ToolError, match="不能除以零"):
        await workshop("calculator.calculate", "zh", expression="1/0")
    with pytest.raises(ToolError, match="cannot calculate"):
        await workshop("calculator.calculate", expression="tea")
