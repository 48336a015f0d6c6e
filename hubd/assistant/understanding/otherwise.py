"""What few say, in the words of most: "leave the lamp on, at ten percent" sets it to that, and
„das Rollo kann ganz hoch“ opens it. Only for what is not understood as it stands.

The words are in otherwise.yaml.
"""

import re
from functools import cache
from pathlib import Path

import msgspec

from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.fluent import fluent


class _Form(msgspec.Struct, frozen=True):
    said: str
    meant: str
    asks: bool = False
    """Whether it begins with a question, which would be answered as it stands."""


def said_otherwise(text: str, language: str, *, asks: bool = False) -> str:
    """``text`` in the words of most; empty where it is none of those that are known.

    asks: only what begins with a question, and then says what shall be done
    """
    said = fluent(text.strip(" .!。！").replace("’", "'"), language)
    for form in _forms().get(language, ()):
        found = re.fullmatch(form.said, said, re.IGNORECASE) if form.asks == asks else None
        if found and (instead := found.expand(form.meant)) != said:
            return instead
    return ""


@cache
def _forms() -> dict[str, list[_Form]]:
    read = texts_in(Path(__file__).with_suffix(".yaml"))
    return msgspec.convert(read, dict[str, list[_Form]], strict=False)
