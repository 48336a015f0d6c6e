"""A command behind a question that gives its reason: 大灯是不是有点太亮了，调暗点吧.

It dims that light, and asks for no state.
"""

import re
from collections.abc import Mapping

from hubd.assistant.understanding.fluent import fluent
from hubd.assistant.understanding.lexicon import Lexicon, Tag
from hubd.assistant.understanding.plain import plain

_FORM = {
    "zh": re.compile(
        r"(?:[诶哎嗯那]个?[，,]?)*(?P<thing>[^，,是]{2,10}?)(?:是不是|是否)[，,]?[^，,]*(?:太|有点)[^，,]*[，,]"
        r"(?P<command>[^，,]{2,8})"
    )
}


def as_command(text: str, known: Lexicon, phrases: Mapping[str, tuple[Tag, ...]]) -> str:
    """``text`` as the command alone, with the thing that the question before it names; as it stands
    where it is none."""
    form = _FORM.get(known.language)
    said = form.fullmatch(fluent(text, known.language).strip(" 。！!")) if form else None
    if said is None or not known.commands(known.stripped(said["command"]), whole=False):
        return text
    names = any(tag.kind == "entity" for tag in phrases.get(plain(said["thing"]), ()))
    return f"把{said['thing']}{said['command']}" if names else text
