"""How far what was brightened, turned down or moved a bit goes on: "a bit more", "that's too much";
and dice, a coin or a number once more: "again".

After these alone; decides and does nothing. How it is said is in once_more.yaml.
"""

import re
from functools import partial

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.set_for_a_time import continuing
from hubd.assistant.understanding.compose import A_BIT
from hubd.assistant.understanding.data_files import words_beside
from hubd.assistant.understanding.plain import NEVER, plain
from plugins.api import ToolCall
from plugins.numbers import digits

_words = partial(words_beside, __file__)

SET_POSITION = "home.set_position"
CHANCE, DICE = "chance.", "chance.dice"
"""How the tools begin that throw or pick something anew each time."""
STEP = "step"
"""The argument of tools that change by a bit: up or down."""
_AS_MANY = {
    "both": 2, "a pair": 2, "beide": 2, "beiden": 2, "zweien": 2, "dreien": 3, "vieren": 4,
    "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6,
}  # fmt: skip
MOST_DICE = 20
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


def again(text: str, told: Decision | None) -> Decision | None:
    """The same throw or choice as was told last; ``None`` where ``text`` asks for none."""
    if told is None or told.call is None or not told.call.tool.startswith(CHANCE):
        return None
    if told.tool == DICE and (count := _so_many(text, told.language)):
        arguments = {**told.call.arguments, "count": count}
        return continuing(told, msgspec.structs.replace(told.call, arguments=arguments))
    if re.fullmatch(_words()[told.language]["again"], plain(text)) is None:
        return None
    return continuing(told, told.call)


def _so_many(text: str, language: str) -> int:
    """How many dice ``text`` asks for; 0 where it says nothing of them."""
    form = (
        _words()[language]
        .get("so_many", NEVER.pattern)
        .replace("{number}", r"\d{1,2}|[两二三四五六]")
    )
    found = re.fullmatch(form, digits(plain(text), language))
    if found is None:
        return 0
    count = _AS_MANY.get(found["count"]) or int(found["count"])
    return count if count <= MOST_DICE else 0


def moved_on(text: str, memory: Memory) -> Decision | None:
    """A step further the way in which a blind was moved to where it is, or back; ``None`` where
    ``text`` says neither, or it was not moved to a place."""
    last, words = memory.last, _words()
    if last is None or last.call is None or last.tool != SET_POSITION or not memory.undo:
        return None
    before = [one.get("current_position") for one in memory.undo[0].arguments.get("states", ())]
    now, said, of_language = last.call.arguments.get("position"), plain(text), words[last.language]
    if len(before) != 1 or not isinstance(before[0], int) or now is None or now == before[0]:
        return None
    way = "up" if now > before[0] else "down"
    if re.fullmatch(of_language["too_much"], said):
        way = _OTHER_WAY[way]
    elif re.fullmatch(of_language["more"], said) is None:
        return None
    arguments = {"entities": list(last.entities), STEP: way, "by": A_BIT}
    moved = continuing(last, ToolCall(tool="home.move", arguments=arguments))
    return msgspec.structs.replace(moved, entities=list(last.entities))
