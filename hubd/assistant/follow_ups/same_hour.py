"""A time that leaves its hour out, which is that of the time before it: "make that half past",
„mach halb draus“, 改成一刻.

Words alone: nothing is decided here. How it is said is in same_hour.yaml.
"""

import re
from datetime import time
from functools import partial

from hubd.assistant.understanding.data_files import words_beside
from hubd.assistant.understanding.plain import plain
from plugins.numbers import digits

_words = partial(words_beside, __file__)

HALF, QUARTER, HOUR = 30, 15, 60
"""Minutes."""


def in_that_hour(said: str, language: str, before: time | None) -> str:
    """The time that ``said`` is, in the hour of ``before``; empty where it says something else.

    "Quarter to" is before that hour if the time before was on it, else before the next one.
    """
    words = _words().get(language)
    found = re.fullmatch(words["said"], digits(plain(said), language)) if words else None
    if words is None or found is None or before is None:
        return ""
    given = found.groupdict()
    minutes = HALF if given["half"] else QUARTER if given["quarter"] else int(given["minutes"] or 0)
    hour = before.hour
    if re.fullmatch(words["to"], given["side"] or ""):
        hour, minutes = hour - (before.minute == 0), HOUR - minutes
    if not 0 < minutes < HOUR:
        return ""
    return str(words["form"]).format(hour=hour % 24, minutes=minutes)
