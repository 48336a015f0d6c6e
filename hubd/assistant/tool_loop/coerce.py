"""Arguments as a model writes them → arguments as the tool's schema wants them.

"20 percent" is 20, a scalar is a list of one, "on" is true. What cannot be made to fit is left as
it is: validation names it. Numbers are taken from texts, never invented.
"""

import re
from collections.abc import Mapping
from typing import Any

_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


def coerced(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """``arguments`` brought to the kinds of ``schema`` (of an object); nulls are left out."""
    properties = schema.get("properties", {})
    fitted = {name: _fitted(value, properties.get(name, {})) for name, value in arguments.items()}
    return {name: value for name, value in fitted.items() if value is not None}


def _fitted(value: Any, schema: Mapping[str, Any]) -> Any:
    kinds = _kinds(schema)
    if isinstance(value, list) and "array" in kinds:
        return [_fitted(one, schema.get("items", {})) for one in value]
    if not kinds or _is_of(value, kinds):
        return value
    if "array" in kinds and not isinstance(value, list | dict):
        return [_fitted(value, schema.get("items", {}))]
    if isinstance(value, list) and len(value) == 1:
        return _fitted(value[0], schema)
    if isinstance(value, str):
        return _from_text(value, kinds)
    if isinstance(value, float) and "integer" in kinds and value.is_integer():
        return int(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and "string" in kinds:
        return f"{value:g}"
    return value


def _from_text(text: str, kinds: frozenset[str]) -> Any:
    if kinds & {"integer", "number"}:
        found = _NUMBER.findall(text)
        if len(found) == 1:
            number = float(found[0].replace(",", "."))
            return int(number) if number.is_integer() else number
    if "boolean" in kinds and text.strip().casefold() in _TRUE | _FALSE:
        return text.strip().casefold() in _TRUE
    return text


def _kinds(schema: Mapping[str, Any]) -> frozenset[str]:
    """The JSON types that a schema allows."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return frozenset({kind})
    if isinstance(kind, list):
        return frozenset(kind)
    return frozenset().union(*(_kinds(one) for one in schema.get("anyOf", ())))


def _is_of(value: Any, kinds: frozenset[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in kinds
    if isinstance(value, int):
        return bool(kinds & {"integer", "number"})
    if isinstance(value, float):
        return "number" in kinds
    if isinstance(value, str):
        return "string" in kinds
    return ("array" if isinstance(value, list) else "object") in kinds
