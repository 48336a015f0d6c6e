"""The ways in which what is said goes on with what was done, told or asked before, one after the
other. Decides and does nothing.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.by_fraction import by_fraction
from hubd.assistant.follow_ups.by_more import by_more
from hubd.assistant.follow_ups.continued import continued
from hubd.assistant.follow_ups.follow import cancelled
from hubd.assistant.follow_ups.how_it_is import how_it_is
from hubd.assistant.follow_ups.once_more import again, moved_on, once_more
from hubd.assistant.follow_ups.other_days import of_another_day
from hubd.assistant.follow_ups.other_places import of_another_place
from hubd.assistant.follow_ups.other_rooms import in_another_room
from hubd.assistant.follow_ups.played_elsewhere import played_elsewhere, stopped_here
from hubd.assistant.follow_ups.rescheduled import rescheduled
from hubd.assistant.follow_ups.said_again import said_again
from hubd.assistant.follow_ups.that_day import of_that_day, put_down_then
from hubd.assistant.follow_ups.the_other import of_the_other
from hubd.home.model import Snapshot

MUSIC = "media."
Way = Callable[[], Decision | None]


def goes_on(
    text: str, memory: Memory, home: Snapshot, now: datetime, area: str = ""
) -> Decision | None:
    """What ``text``, said in a room, asks for in going on with what was before; ``None`` where it
    does not."""
    found = (way() for way in _ways(text, memory, home, now, area))
    return next((one for one in found if one is not None), None)


def _ways(text: str, memory: Memory, home: Snapshot, now: datetime, area: str) -> Iterator[Way]:
    last, told = memory.last, memory.told
    yield lambda: said_again(text, memory, now)
    yield lambda: of_another_day(text, told)
    yield lambda: of_that_day(text, memory)
    yield lambda: put_down_then(text, memory, home, now)
    yield lambda: of_another_place(text, told, home)
    yield lambda: again(text, told)
    yield lambda: rescheduled(text, memory, now)
    if last is not None:
        yield lambda: once_more(text, last)
        yield lambda: moved_on(text, memory)
        yield lambda: by_more(text, memory)
        yield lambda: by_fraction(text, last, home)
        yield lambda: of_the_other(text, last, home)
        yield lambda: in_another_room(text, last, home)
    played = memory.played
    if last is not None and played is not None and (last.tool or "").startswith(MUSIC):
        yield lambda: played_elsewhere(text, played, home)
        yield lambda: stopped_here(text, played, home, area)
    yield lambda: cancelled(text, memory)
    yield lambda: how_it_is(text, memory, home)
    yield lambda: continued(text, memory)
