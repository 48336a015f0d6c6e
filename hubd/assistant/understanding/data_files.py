"""YAML of the assistant's own, by libyaml where PyYAML has it: ten times as fast.

The words of one language took 60 ms of the event loop without it.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_VALUES: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXTS: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def values(text: str) -> Any:
    """What a YAML document holds. Raises ``yaml.YAMLError``."""
    return yaml.load(text, Loader=_VALUES)


def texts_in(file: Path) -> Any:
    """What a file holds, every scalar as text: "on" and "no" are words and not truth values."""
    return yaml.load(file.read_text(encoding="utf-8"), Loader=_TEXTS)


@cache
def words_beside(module: str) -> dict[str, Any]:
    """By language, what stands in the file of data beside a module (its ``__file__``)."""
    read: dict[str, Any] = texts_in(Path(module).with_suffix(".yaml"))
    return read


def first_match(said: str, patterns: Iterable[str]) -> re.Match[str] | None:
    """The first of some patterns that the whole of ``said`` is."""
    return next((found for one in patterns if (found := re.fullmatch(one, said))), None)
