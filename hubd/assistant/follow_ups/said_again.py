"""What goes on with an announcement: "tell them again", "say it again in five minutes", and "no
need, they're all here" of one that waits.

Decides and does nothing. How it is said is in said_again.yaml.
"""

import re
from datetime import datetime
from functools import partial

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import LATER, Memory
from hubd.assistant.follow_ups.set_for_a_time import continuing, said_when
from hubd.assistant.for_later.timed import parted
from hubd.assistant.understanding.announced import announced
from hubd.assistant.understanding.data_files import words_beside
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.reasons import BREAK
from plugins.api import ToolCall
from plugins.numbers import digits
from plugins.when import delays_in_minutes

_words = partial(words_beside, __file__)


def said_again(text: str, memory: Memory, now: datetime) -> Decision | None:
    """What ``text`` asks for of the announcement that was made last; ``None`` where it is not about
    that."""
    if (off := _called_off(text, memory)) is not None:
        return off
    last = memory.announced
    words = _words().get(last.language) if last else None
    if last is None or last.call is None or words is None or not memory.announced_last:
        return None
    said = re.sub(words["beside"], "", plain(text)).strip()
    if re.fullmatch(words["again"], said):
        return continuing(last, last.call)
    when, rest = _timed(said, last.language, now)
    if not rest or not re.fullmatch(words["at_a_time"], rest):
        return None
    command = words["tell"].format(last.call.arguments["message"])
    return continuing(last, ToolCall(tool=LATER, arguments={"command": command, "when": when}))


def _timed(said: str, language: str, now: datetime) -> tuple[str, str]:
    """When it shall be, and what is said besides; empty where no time is said."""
    when = said_when(said, language, now)
    if not when:
        said = digits(delays_in_minutes(said, language), language)
        when = parted(said, lexicon(language)).when.removesuffix("再")
    rest = re.sub(re.escape(when), " ", said, count=1) if when in said else ""
    return when, " ".join(rest.split()) if when else ""


def _called_off(text: str, memory: Memory) -> Decision | None:
    """That the announcement that was left for later last shall not be made."""
    last = memory.last
    words = _words().get(last.language) if last else None
    if last is None or last.tool != LATER or words is None or not memory.undo:
        return None
    if not announced(str(last.arguments.get("command", "")), last.language):
        return None
    known = lexicon(last.language)
    first, *beside = [plain(one) for one in BREAK.split(text) if plain(one)] or [""]
    first = re.sub(words["beside"], "", first)
    if not re.fullmatch(words["no_need"], first) or any(map(known.commands, beside)):
        return None
    return continuing(last, memory.undo[0])
