"""How far what was brightened, turned down or moved a bit goes on: "a bit more", "that's too much".

After a step alone; decides and does nothing. How it is said is in once_more.yaml.
"""

import re
from functools import cache
from pathlib import Path

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.plain import plain

STEP = "step"
"""The argument of tools that change by a bit: up or down."""
_OTHER_WAY = {"up": "down", "down": "up"}


def once_more(text: str, last: Decision) -> Decision | None:
    """The same step again, or the other way where it was too much; ``None`` where ``text`` says
    neither, or the last was no step."""
    step = last.call.arguments.get(STEP) if last.call else None
    if last.call is None or step not in _OTHER_WAY:
        return None
    said, words = plain(text), _words()[last.language]
    if re.fullmatch(words["more"], said):
        way = str(step)
    elif re.fullmatch(words["too_much"], said):
        way = _OTHER_WAY[str(step)]
    else:
        return None
    call = msgspec.structs.replace(last.call, arguments={**last.call.arguments, STEP: way})
    return msgspec.structs.replace(
        last,
        route="words",
        call=call,
        arguments={**last.arguments, STEP: way},
        asks=None,
        proposed=False,
        reason=f"it continues {last.tool}",
    )


@cache
def _words() -> dict[str, dict[str, str]]:
    read: dict[str, dict[str, str]] = texts_in(Path(__file__).with_suffix(".yaml"))
    return read
