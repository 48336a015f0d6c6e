"""How French and Spanish words end that tell how something is: by the names of the things, "Lampe :
allumée", "Lámpara y Luz: encendidas". Shared by plugins; no plugin itself."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml


def ending(names: Sequence[str], language: str) -> str:
    """The end of a participle that is said of these things: "", "e", "s", "es" in French, "o", "a",
    "os", "as" in Spanish; nothing in other languages. A name that tells no gender is masculine."""
    words = _words().get(language)
    if words is None:
        return ""
    feminine = bool(names) and all(_is_feminine(name, words) for name in names)
    plural = len(names) > 1 or any(_is_plural(name, words) for name in names)
    return str(words["ends"][feminine + 2 * plural])


def several(language: str) -> str:
    """The same of more things than are named."""
    words = _words().get(language)
    return str(words["ends"][2]) if words else ""


def _is_feminine(name: str, words: Mapping[str, Any]) -> bool:
    article, noun = _article_and_noun(name, words)
    if article in words["articles"]:
        return True
    one = noun[:-1] if noun.endswith(tuple(words["plural"])) and len(noun) > 3 else noun
    if one in words["masculine"]:
        return False
    return one in words["feminine"] or one.endswith(tuple(words["feminine_endings"]))


def _is_plural(name: str, words: Mapping[str, Any]) -> bool:
    _, noun = _article_and_noun(name, words)
    return len(noun) > 3 and noun.endswith(tuple(words["plural"]))


def _article_and_noun(name: str, words: Mapping[str, Any]) -> tuple[str, str]:
    """The article of a name, empty where it has none, and its first other word."""
    said = name.casefold().replace("’", "'").replace("l'", "l' ").replace("-", " ").split() or [""]
    if len(said) > 1 and said[0] in (*words["articles"], *words["skipped"]):
        return said[0], said[1]
    return "", said[0]


@cache
def _words() -> dict[str, dict[str, Any]]:
    text = (Path(__file__).parent / "agreement.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)))
