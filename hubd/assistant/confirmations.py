"""What is asked before something is done that a person must confirm: "Shall I unlock the front
door?". Where there are no words for a call, what was said is asked about."""

import string
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from hubd.assistant.questions import ask
from hubd.assistant.understanding.data_files import texts_in
from hubd.home.model import Entity
from plugins.api import ToolCall
from plugins.articles import with_articles

MOST_THINGS = 4
"""Things that are named with their articles; more are listed."""


def confirmation(
    call: ToolCall | None, entities: Sequence[Entity], language: str, said: str
) -> str:
    """The question whether ``call`` shall be done; said: what was said."""
    worded = _worded(call, entities, language) if call else ""
    return worded or ask(language, "confirm", entities, said)


def _worded(call: ToolCall, entities: Sequence[Entity], language: str) -> str:
    """The call in words; empty where they would not say all of it."""
    given = {k: v for k, v in call.arguments.items() if k not in ("entities", "step")}
    names = (f"{call.tool} {call.arguments.get('step')}", call.tool)
    forms = next((_phrases()[name] for name in names if name in _phrases()), {})
    if language not in forms or len(entities) > MOST_THINGS:
        return ""
    form = forms[language]
    places = {field for _, field, _, _ in string.Formatter().parse(form) if field}
    if places - {"things"} != set(given) or ("things" in places) != bool(entities):
        return ""
    listed = with_articles([entity.name for entity in entities], language, "object")
    shown = {k: f"{v:g}" if isinstance(v, int | float) else str(v) for k, v in given.items()}
    return form.format_map({**shown, "things": listed})


@cache
def _phrases() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = texts_in(Path(__file__).with_suffix(".yaml"))
    return found
