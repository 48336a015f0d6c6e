"""Arithmetic as it is said: "15% of 80", "twelve times (3 + 4)". No plugin itself.

The words of a language become signs (arithmetic.yaml), and an operator-precedence parser reads the
signs. Numbers are decimal, 28 digits long, so that 0.1 + 0.2 is 0.3; no expression takes long:
text, depth and size are bounded.
"""

import decimal
import re
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from plugins.numbers import chinese_digits, digits
from plugins.speech import FAST_LOADER

LONGEST = 200
DEEPEST = 40
LARGEST_EXPONENT = 1_000
_TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<sign>sqrt|\*\*|[-+*/^()%]))")
_POINT_LANGUAGES = ("en", "zh")
"""Where 1,234.5 is a thousand and more; elsewhere it is written 1.234,5."""
_BINARY = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
_UNARY = 3
"""-2^2 is -4, and 2 * -3 is -6."""


class ExpressionError(ValueError):
    """No arithmetic, or none with a result."""


class _Value(NamedTuple):
    number: Decimal
    percent: bool = False
    """Whether it was said with a percent sign: 80 + 15% is 80 and 15% of it."""


def evaluate(said: str, language: str) -> Decimal:
    """The value of an expression.

    Raises:
        ExpressionError: it is none, or too long, too deep or too large.
        ZeroDivisionError: it divides by zero.
    """
    parser = _Parser(tokens(said, language))
    with decimal.localcontext(prec=28, Emax=9_999, Emin=-9_999) as context:
        context.traps[decimal.Overflow] = True
        context.traps[decimal.InvalidOperation] = True
        try:
            return parser.whole()
        except (decimal.Overflow, decimal.InvalidOperation) as error:
            if isinstance(error, ZeroDivisionError):  # 0 / 0 and 0 ** -1 are both
                raise
            raise ExpressionError(f"no number: {said}") from error


def is_expression(said: str, language: str) -> bool:
    """Whether it is arithmetic, and more than a single number."""
    try:
        read = tokens(said, language)
        _Parser(read).whole()
    except ZeroDivisionError:
        return True
    except (ExpressionError, decimal.DecimalException):
        return False
    return len(read) > 1 and read != ["-", read[-1]]


def tokens(said: str, language: str) -> list[str]:
    """The numbers and signs of an expression.

    Raises:
        ExpressionError: there is something else in it, or nothing.
    """
    if len(said) > LONGEST:
        raise ExpressionError(f"longer than {LONGEST} characters")
    text = signs(said, language)
    found: list[str] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ExpressionError(f"no arithmetic: {text[position : position + 20]}")
        found.append("^" if match["sign"] == "**" else match[0].strip())
        position = match.end()
    if not found:
        raise ExpressionError("nothing to calculate")
    return found


def signs(said: str, language: str) -> str:
    """``said`` with signs for words and a point in its decimal fractions."""
    text = " ".join(said.casefold().replace("’", "'").split())
    if language == "zh":
        text = chinese_digits(text.replace("百分之", "﹪"))
    text = digits(text, language).translate(_SIGNS).strip(" ?.!=")
    if language in _POINT_LANGUAGES:
        text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    else:
        text = re.sub(r"(?<=\d)\.(?=\d{3}(?!\d))", "", text)
        text = re.sub(r"(?<=\d),(?=\d)", ".", text)
    for pattern, sign in _words(language):
        text = pattern.sub(sign, text)
    return text.strip()


_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "（": "(", "）": ")", "√": " sqrt ",
                        "＋": "+", "²": "^2", "³": "^3", "％": "%", "：": "/"})  # fmt: skip


class _Parser:
    """Precedence climbing over tokens (Richards 1979; Norvell, "Parsing expressions", 1999)."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    def whole(self) -> Decimal:
        value = self._expression(1)
        if self._next < len(self._tokens):
            raise ExpressionError(f"not expected: {self._tokens[self._next]}")
        return value.number

    def _peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._next += 1
        return token

    def _expression(self, least: int) -> _Value:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ExpressionError("too many parentheses")
        left = self._operand()
        while (precedence := _BINARY.get(self._peek(), 0)) >= least:
            operator = self._take()
            right = self._expression(precedence if operator == "^" else precedence + 1)
            left = _applied(left, operator, right)
        self._depth -= 1
        return left

    def _operand(self) -> _Value:
        token = self._take()
        if token == "-":
            value = self._expression(_UNARY)
            return _Value(-value.number, value.percent)
        if token == "sqrt":
            return _Value(self._expression(_UNARY).number.sqrt())
        if token == "(":
            value = _Value(self._expression(1).number)
            if self._take() != ")":
                raise ExpressionError("a parenthesis is not closed")
        elif token[:1].isdigit():
            value = _Value(+Decimal(token))
        else:
            raise ExpressionError(f"a number is missing before {token or 'the end'}")
        if self._peek() == "%":
            self._take()
            return _Value(value.number / 100, percent=True)
        return value


def _applied(left: _Value, operator: str, right: _Value) -> _Value:
    a, b = left.number, right.number
    if operator in "+-":
        change = a * b if right.percent and not left.percent else b
        both = left.percent and right.percent
        return _Value(a + change if operator == "+" else a - change, both)
    if operator == "*":
        return _Value(a * b)
    if operator == "/":
        if not b:
            raise ZeroDivisionError
        return _Value(a / b)
    if abs(b) > LARGEST_EXPONENT:
        raise ExpressionError(f"an exponent over {LARGEST_EXPONENT}")
    return _Value(a**b)


@cache
def _words(language: str) -> list[tuple[re.Pattern[str], str]]:
    """The language's words with their signs, in the order of the file."""
    text = (Path(__file__).parent / "arithmetic.yaml").read_text(encoding="utf-8")
    rows: dict[str, list[Any]] = yaml.load(text, Loader=FAST_LOADER)
    edges = ("", "") if language == "zh" else (r"(?<!\w)", r"(?!\w)")
    return [
        (re.compile(f"{edges[0]}(?:{pattern}){edges[1]}"), sign)
        for pattern, sign in rows.get(language) or rows["en"]
    ]
