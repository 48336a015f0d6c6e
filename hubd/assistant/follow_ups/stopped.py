"""The stop of a blind that was sent on its way last: "stop, that's far enough", „halt, so ist gut“,
停，这样就行. Decides and does nothing."""

import re

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.understanding.plain import plain
from plugins.api import ToolCall

SCORE = 0.85
MOVING = frozenset({"home.open", "home.close", "home.set_position", "home.move", "home.stop"})
_STOP = r"(?:(?:ok(?:ay)?[ ,]+)?(?:stopp?|halt|停)(?: mal)?)"
_SO = (
    r"so (?:ist|is)(?: es)? gut|weit genug|so weit|so (?:passt|reicht) (?:es|das)|far enough|"
    r"(?:这样|到这儿?|就这样)(?:就)?(?:可以|行|好)了?"
)
"""What is said of how far it is, without a stop."""
_ENOUGH = (
    rf"{_SO}|(?:das )?(?:reicht|passt)(?: so)?|(?:so|das) ist (?:genug|perfekt|richtig)|"
    r"that's (?:good|enough|fine|far enough|it)|(?:right )?there|like that|可以了|行了"
)
_STOPPED = re.compile(rf"{_STOP}[ ,，!.]*(?:{_ENOUGH})(?: so)?|{_SO}")
_AND_THEN = re.compile(
    r"(?<=\w)[.,;!，。！]+\s*(?:(?:und|and)(?: dann| then)? )?(?=\w)| (?:und|and) ", re.IGNORECASE
)


def stopped(text: str, memory: Memory, *, moves: bool) -> Decision | None:
    """The stop of the blind that was sent on its way last; ``None`` where ``text`` asks for none.

    moves: whether it still moves, so that a bare "stop" is said of it
    """
    last, said = memory.last, plain(text)
    if last is None or last.tool not in MOVING:
        return None
    if not (_STOPPED.fullmatch(said) or (moves and re.fullmatch(_STOP, said))):
        return None
    call = ToolCall(tool="home.stop", arguments={"entities": list(last.entities)})
    return msgspec.structs.replace(
        last,
        route="words",
        tool=call.tool,
        arguments={},
        score=SCORE,
        asks=None,
        reason=f"it ends {last.tool}",
        call=call,
    )


def halves(text: str) -> tuple[str, str] | None:
    """The stop and what is said behind it: "stop, that's good. And open it at seven"; ``None``
    where nothing is."""
    for joint in _AND_THEN.finditer(text):
        if _STOPPED.fullmatch(plain(text[: joint.start()])):
            return text[: joint.start()], text[joint.end() :]
    return None
