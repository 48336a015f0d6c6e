"""What a command waits for that nothing here can watch: "turn off the lamp when I'm asleep", „mach
das Licht an, falls jemand klingelt“, 有人来的时候打开灯; and what limits it: "but not all the way".

Times, the sun and somebody's coming home are understood before. How it is said is in awaited.yaml.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.reasons import has_purpose

SHORTEST = 3
"""Words of a clause that stands before its command."""


_ASKS = {
    "en": re.compile(
        r"(?:and |so )?when(?:'s\b|'d\b"
        r"| (?:does|do|did|is|are|was|were|will|would|can|could|should|must|has|have|had)\b)"
    ),
    "zh": re.compile("(?:.*?)(?:什么时候|啥时候|何时|几时)"),
    "fr": re.compile(r"quand (?:est|sont|a|ont|ai|as|faut|dois|doit|sera|finit|commence)\b"),
}
"""What asks when, and waits for nothing: "when does the contract run out"."""


_QUESTION = {
    "en": re.compile(r"\b(?:how (?:much|many|long|often|do)|what|who|whom|where|which|why)\b"),
    "de": re.compile(r"\b(?:wie (?:viele?|lange|oft)|was|wer|wen|wo|welche\w*|warum)\b"),
    "zh": re.compile("多少|多久|什么|谁|哪|怎么"),
}
"""A question with its condition: "if we move out, how much notice do we have to give"."""


class _Forms(NamedTuple):
    """What awaited.yaml says of a language."""

    trailing: re.Pattern[str]
    leading: re.Pattern[str]
    led: re.Pattern[str]
    limits: re.Pattern[str]


def awaited(text: str, known: Lexicon) -> str:
    """The clause for which the command that ``text`` is shall wait; empty where it is none, or
    waits for nothing."""
    forms = _forms().get(known.language)
    said = plain(text)
    question = _QUESTION.get(known.language, NEVER).search(said)
    if forms is None or question or _ASKS.get(known.language, NEVER).match(said):
        return ""
    if (behind := forms.trailing.fullmatch(said)) and _commands(behind["command"], known):
        return "" if has_purpose(behind["command"], known) else behind["clause"]
    if (led := forms.led.fullmatch(said)) and _commands(led["command"], known):
        return led["clause"]
    if forms.leading.match(said) is None:
        return ""
    words = said.split()
    for at in range(SHORTEST, len(words)):
        if _commands(" ".join(words[at:]), known):
            return " ".join(words[:at]).strip(" ,")
    return ""


def is_limited(text: str, language: str) -> bool:
    """Whether only a part of what is commanded is meant: "but not all the way"."""
    forms = _forms().get(language)
    return forms is not None and forms.limits.search(plain(text)) is not None


def _commands(text: str, known: Lexicon) -> bool:
    return known.commands(known.stripped(text.strip(" ,，")), whole=False)


@cache
def _forms() -> dict[str, _Forms]:
    read = texts_in(Path(__file__).with_suffix(".yaml"))
    found = {}
    for language, forms in read.items():
        clause = rf"{forms['begins']} (?!{forms['polite']})"
        led = forms.get("led")
        found[language] = _Forms(
            re.compile(rf"(?P<command>.+?),? (?P<clause>{clause}.+)"),
            re.compile(clause),
            re.compile(rf"(?!.{{0,3}}{forms['polite']}){led}") if led else NEVER,
            re.compile(forms["limits"]),
        )
    return found
