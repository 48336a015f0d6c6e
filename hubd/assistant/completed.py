"""Half a command behind another one as the whole that it means: after a timer was set, "another
one for 25 minutes for the bread". How that is said is in completed.yaml.

What is a command by itself is left as it stands.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.plain import plain


class _Rule(NamedTuple):
    after: str
    said: re.Pattern[str]
    means: str


def completed(text: str, last: Decision | None) -> str:
    """The whole command that ``text`` means behind ``last``; else as it stands."""
    if last is None or last.tool is None:
        return text
    for rule in _rules().get(last.language, ()):
        if last.tool.startswith(rule.after) and (found := rule.said.fullmatch(plain(text))):
            groups = {name: said or "" for name, said in found.groupdict().items()}
            return " ".join(rule.means.format(**groups).split())
    return text


@cache
def _rules() -> dict[str, list[_Rule]]:
    read = texts_in(Path(__file__).with_suffix(".yaml"))
    return {
        language: [_Rule(one["after"], re.compile(one["said"]), one["means"]) for one in rules]
        for language, rules in read.items()
    }
