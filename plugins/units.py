"""Units: "3 cups in ml", "convert 350 F to Celsius".

The words for units are ours (units.yaml), so that hearing one costs nothing; what they are worth is
pint's, which is loaded when something is converted for the first time (0.3 s, 28 MB).
"""

import asyncio
import re
import threading
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import yaml
from msgspec import Meta

from plugins.api import Plugin, ToolContext, ToolError, ToolResult
from plugins.arithmetic import ExpressionError, evaluate
from plugins.numbers import written
from plugins.quantities import Quantity, more_units
from plugins.quantities import quantity as said_quantity
from plugins.said_numbers import in_digits, is_unclear
from plugins.speech import FAST_LOADER, full_stop, say

plugin = Plugin("units", sentences="units.{language}.yaml")

SIGNIFICANT = 4
DEFINITIONS = (
    "jin = 500 * gram",
    "liang = 50 * gram",
    "li = 500 * meter",
    "mu = 2000/3 * meter**2",
    "pfund = 500 * gram",
)
"""The market units of the mainland, as they have been since 1930, and the pound of German markets,
since 1858; pint does not know them."""
VOLUMES = (
    *("milliliter", "centiliter", "deciliter", "liter", "meter**3"),
    *("cup", "tablespoon", "teaspoon", "pint", "quart", "gallon"),
)
_DEGREES = {"en": "degrees", "de": "Grad", "fr": "degrés", "es": "grados"}
_DEGREE_BEHIND = re.compile("[摄华]氏(?!度)")
"""What a temperature has before its unit, and in Chinese behind it."""
_LOADING = threading.Lock()
Words = Annotated[str, Meta(min_length=1, max_length=100)]


def _fits(arguments: Mapping[str, Any], language: str) -> bool:
    said, to = str(arguments.get("quantity", "")), str(arguments.get("unit", ""))
    return parsed(said, language) is not None and unit_of(to, language) is not None


@plugin.tool(risk="read", fits=_fits)
async def convert(context: ToolContext, quantity: Words, unit: Words) -> ToolResult:
    """Convert a quantity to another unit.

    quantity: a number and a unit, for instance 3 cups
    unit: the unit to convert it to, for instance ml
    """
    found, to = _read(quantity, context.language), unit_of(unit, context.language)
    if found is None or to is None:
        unknown = quantity if found is None else unit
        raise ToolError(say(context.language, "no_quantity", [unknown]))
    to = _meant(to, found)
    try:
        value = await asyncio.to_thread(converted, found.number, found.unit, to)
    except ValueError as error:
        raise ToolError(say(context.language, "not_the_same", [quantity, unit])) from error
    shown = written(_rounded(value), context.language)
    glue = "" if context.language == "zh" else " "
    equation = f"{quantity} = {shown}{glue}{unit}{full_stop(context.language)}"
    text = _with_degrees(equation, context.language)
    return ToolResult(text=text, data={"value": float(value), "unit": to})


def _with_degrees(text: str, language: str) -> str:
    """``text`` with the word that temperatures have: "176.7 celsius" is told as degrees Celsius."""
    degrees = _DEGREES.get(language)
    if degrees is None:
        return _DEGREE_BEHIND.sub(r"\g<0>度", text)
    bare = rf"(?i)(?<!{degrees} )(?<!degree )\b(celsius|fahrenheit)\b"
    return re.sub(bare, lambda unit: f"{degrees} {unit[1].capitalize()}", text)


def converted(number: Decimal, unit: str, to: str) -> Decimal:
    """``number`` of a unit in another, both by pint's names.

    Raises:
        ValueError: they measure different things.
    """
    registry = _registry()
    from pint import DimensionalityError

    try:
        result = registry.Quantity(number, unit).to(to).magnitude
    except DimensionalityError as error:
        raise ValueError(str(error)) from error
    return Decimal(result)


def parsed(said: str, language: str) -> tuple[Decimal, str] | None:
    """The number and the unit of a quantity; ``None``: it is none."""
    found = _read(said, language)
    return (found.number, found.unit) if found else None


def _read(said: str, language: str) -> Quantity | None:
    return _written(said, language) or said_quantity(said, language, _names(language))


def _written(said: str, language: str) -> Quantity | None:
    """A quantity as people write it: arithmetic and a unit."""
    text = _plain(said)
    names = _names(language)
    unit = next((name for name in names if text.endswith(name)), None)
    if unit is None:
        return None
    number = text.removesuffix(unit).rstrip()
    joined = number == text.removesuffix(unit) and number[-1:].isalpha() and language != "zh"
    if joined:  # "inm" ends with a meter only by its letters
        return None
    number = re.sub(r"^(?:a|an|one|ein|eine|einen|un|une|una)$", "1", number)
    if language == "zh":
        number = in_digits(number, language)
        if is_unclear(number):
            return None
    try:
        return Quantity(evaluate(number, language), names[unit])
    except (ExpressionError, ZeroDivisionError):
        return None


def _meant(to: str, of: Quantity) -> str:
    """The unit to convert to: ounces of a volume are fluid ones. Of a substance they may be its
    mass, which nobody can tell from its volume."""
    return "fluid_ounce" if to == "ounce" and of.unit in VOLUMES and not of.has_substance else to


def unit_of(said: str, language: str) -> str | None:
    """pint's name of a unit as it is said."""
    names, text = _names(language), _plain(said)
    dative = text.removesuffix("n") if language == "de" else text  # "in Kilometern"
    return names.get(text) or names.get(dative)


def _plain(said: str) -> str:
    return " ".join(said.casefold().split()).strip(" ?.!")


def _rounded(value: Decimal) -> Decimal:
    """To four significant digits, but not before the point."""
    places = max(0, SIGNIFICANT - 1 - value.adjusted()) if value else 0
    return round(value, places)


@cache
def _names(language: str) -> dict[str, str]:
    """What is said → pint's name, the longest first."""
    text = (Path(__file__).parent / "units.yaml").read_text(encoding="utf-8")
    rows: dict[str, dict[str, list[str]]] = yaml.load(text, Loader=FAST_LOADER)
    spoken = ("all", language, "en") if language != "zh" else ("all", "zh")
    names = {
        _plain(word): unit
        for unit, words in rows.items()
        for key in spoken
        for word in words.get(key, ())
    } | more_units(language)
    return dict(sorted(names.items(), key=lambda item: -len(item[0])))


@cache
def _loaded() -> Any:
    import pint

    registry: Any = pint.UnitRegistry(non_int_type=Decimal, autoconvert_offset_to_baseunit=True)
    for definition in DEFINITIONS:
        registry.define(definition)
    return registry


def _registry() -> Any:
    with _LOADING:  # two threads would load it twice
        return _loaded()
