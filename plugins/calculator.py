"""A calculator: "what is 15% of 80"."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from msgspec import Meta

from plugins.api import Plugin, ToolContext, ToolError, ToolResult
from plugins.arithmetic import LONGEST, ExpressionError, evaluate, is_expression
from plugins.numbers import written
from plugins.said_numbers import in_digits, is_fraction, is_unclear
from plugins.speech import full_stop, say

plugin = Plugin("calculator", sentences="calculator.{language}.yaml")


def _fits(arguments: Mapping[str, Any], language: str) -> bool:
    return _arithmetic(str(arguments.get("expression", "")), language) is not None


@plugin.tool(risk="read", fits=_fits)
async def calculate(
    context: ToolContext, expression: Annotated[str, Meta(min_length=1, max_length=LONGEST)]
) -> ToolResult:
    """Calculate: + - * / ^ ( ) %, sqrt, or the words for them.

    expression: for instance 15% of 80, or (3 + 4) * 12
    """
    try:
        arithmetic = _arithmetic(expression, context.language) or expression
        value = evaluate(arithmetic, context.language)
    except ZeroDivisionError as error:
        raise ToolError(say(context.language, "division_by_zero")) from error
    except ExpressionError as error:
        raise ToolError(say(context.language, "no_expression", [expression])) from error
    asked = " ".join(expression.split()).strip(" ?=")
    shown = written(value, context.language)
    return ToolResult(
        text=f"{asked} {_sign(value, shown)} {shown}{full_stop(context.language)}",
        data={"value": shown},
    )


def _arithmetic(said: str, language: str) -> str | None:
    """What was said, its numbers in digits, or else as it stands; ``None``: neither is a sum."""
    if len(said) > LONGEST:
        return None
    read = in_digits(said, language)
    if is_unclear(read):
        return None
    candidates = (said,) if is_fraction(read) else (read, said)
    return next((text for text in candidates if is_expression(text, language)), None)


def _sign(value: Decimal, shown: str) -> str:
    """``=``, or ``≈`` where digits were left out."""
    exact = "×" not in shown and abs(Decimal(shown.replace(",", ".")) - value) < Decimal("1e-15")
    return "=" if exact else "≈"
