"""More time for the timer that was spoken of last: "give them another five".

Decides and does nothing. How it is said is in of_a_timer.yaml.
"""

import re
from functools import partial

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.of_set import timer_spoken_of
from hubd.assistant.follow_ups.set_for_a_time import continuing
from hubd.assistant.understanding.data_files import words_beside
from hubd.assistant.understanding.plain import plain
from plugins.api import ToolCall
from plugins.lengths import length_of
from plugins.numbers import digits

_words = partial(words_beside, __file__)

MINUTE = 60
"""Seconds."""
_MORE_OF_IT = re.compile(r"\b(\w+) more (minutes?|hours?|seconds?)\b")
"""What more there is of a while, inside of it: "five more minutes"."""


def of_a_timer(text: str, memory: Memory) -> Decision | None:
    """What ``text`` asks for of the timer that was spoken of last; ``None`` where it does not."""
    spoken_of = memory.told or memory.last
    words = _words().get(spoken_of.language) if spoken_of else None
    if spoken_of is None or words is None or text.rstrip().endswith(("?", "？")):
        return None
    said = plain(text)
    about_timers = (spoken_of.tool or "").startswith("timers.")
    timer = timer_spoken_of(memory) if about_timers else ""
    counted = _MORE_OF_IT.sub(r"\1 \2 more", said)
    for pattern in words["more"] if timer else ():
        found = re.fullmatch(pattern, counted)
        if found and (by := _length(found["length"], spoken_of.language)):
            return continuing(
                spoken_of, ToolCall(tool="timers.add", arguments={**by, "timer": timer})
            )
    return None


def _length(said: str, language: str) -> dict[str, int]:
    """How long, as arguments: of a number alone minutes; empty where it is something else."""
    if (length := length_of(said, language)) is not None:
        seconds = round(length.total_seconds())
        return {"minutes": seconds // MINUTE} if seconds % MINUTE == 0 else {"seconds": seconds}
    number = digits(said, language)
    return {"minutes": int(number)} if number.isdigit() and int(number) else {}
