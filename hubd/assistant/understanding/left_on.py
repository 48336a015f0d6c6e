"""Which light stays on where all the others are turned off: "leave the hall light on and turn off
the rest", „lass das Flurlicht an, die anderen aus“, 走廊灯留着，其他的都关了.

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


def left_on(text: str, language: str) -> tuple[str, str] | None:
    """What stays on, and the sentence that turns off all of its kind; ``None`` where nothing does.

    text: without politeness
    """
    forms = _forms().get(language)
    found = forms.said.fullmatch(text) if forms else None
    if forms is None or found is None:
        return None
    return next(filter(None, found.groups())).strip(), forms.all_off


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
        )
        for language, forms in read.items()
    }
