"""Which light stays on where all the others are turned off: "leave the hall light on and turn off
the rest", „lass das Flurlicht an, die anderen aus“, 走廊灯留着，其他的都关了; and what stays as it
is beside a command: "leave the TV on and turn off the lamp".

How that is said is in left_on.yaml. Knows nothing of the house: what stays may be no light.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hubd.assistant.understanding.data_files import texts_in


class _Forms(NamedTuple):
    """What left_on.yaml says of a language."""

    said: re.Pattern[str]
    all_off: str
    beside: tuple[re.Pattern[str], ...]


def left_on(text: str, language: str) -> tuple[str, str] | None:
    """What stays on, and the sentence that turns off all of its kind; ``None`` where nothing does.

    text: without politeness
    """
    forms = _forms().get(language)
    found = forms.said.fullmatch(text) if forms else None
    if forms is None or found is None:
        return None
    return next(filter(None, found.groups())).strip(), forms.all_off


def left_beside(text: str, language: str) -> tuple[str, str] | None:
    """What stays as it is, and the command beside which that is said; ``None`` where nothing does.

    text: in lower case
    """
    forms = _forms().get(language)
    for said in forms.beside if forms else ():
        if found := said.fullmatch(text):
            return found["stays"].strip(), found["command"].strip()
    return None


@cache
def _forms() -> dict[str, _Forms]:
    read = texts_in(Path(__file__).with_suffix(".yaml"))
    return {
        language: _Forms(
            re.compile(
                f"(?:{'|'.join(forms['stays'])}){forms['between']}"
                f"(?:{'|'.join(forms['off']).replace('REST', forms['rest'])})"
            ),
            forms["all_off"],
            tuple(
                re.compile(
                    said.replace("STAYS", "(?P<stays>.+?)").replace("COMMAND", "(?P<command>.+)")
                )
                for said in forms["beside"]
            ),
        )
        for language, forms in read.items()
    }
