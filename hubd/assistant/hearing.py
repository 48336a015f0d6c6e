"""What an utterance comes to where it was misheard: the same rules decide on what it may have been.

Two ways: words next to each other as one name that they sound like (``garbled``), and the
likeliest sentence that sounds so (``noisy_channel``).
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from hubd.assistant.decision import Decision
from hubd.assistant.route import Router
from hubd.assistant.several import Part
from hubd.assistant.understanding.noisy_channel import Said
from hubd.assistant.understanding.plain import plain

WORDED = frozenset(
    {"media.search", "lists.add", "notes.add", "reminders.add", "announce.say", "calendar.add"}
)
"""Tools whose free text may be anything."""
TITLED = frozenset({"media.search", "lists.add", "lists.remove", "lists.complete"})
"""Tools whose free text would take in the reason that is given beside it."""
FREE = WORDED | TITLED | {"routines.later"}
"""Tools that are told free text."""
ANYTHING = frozenset({"notes.add", "announce.say"})
"""Tools that make something of whatever follows their verb."""
STATE = "home.state"
Rules = Callable[[str, str | None, str], Awaitable[Decision]]
"""Text, language, area → what the rules decide."""


class Hearing:
    """Tries other readings of what was heard. Nothing is remembered and nothing is done here."""

    def __init__(self, router: Router, routing: asyncio.Lock, by_rules: Rules) -> None:
        """routing: who asks the router holds it, which keeps what it compiled."""
        self._router, self._routing, self._by_rules = router, routing, by_rules

    async def sounds_like(
        self, text: str, language: str, area: str, *, exactly: bool
    ) -> Part | None:
        """The one command with a name of the household in it that ``text`` sounds like."""
        async with self._routing:
            heard_as = partial(self._router.heard_as, exactly=exactly)
            others = await asyncio.to_thread(heard_as, text, language)
        for other in others:
            found = await self._by_rules(other, language, area)
            worded = found.tool in WORDED and ("," in text or "，" in text)
            if _is_clear(found) and not worded:
                return Part(text=other, decision=found)
        return None

    async def likelier(self, text: str, language: str, area: str) -> Part | None:
        """The one command that ``text`` is likelier to have been than what was heard."""
        for other in await self._likelier_said(text, language):
            found = await self._by_rules(other.text, language, area)
            if not _is_clear(found) or (found.tool == STATE and other.strange):
                continue  # "is the fence tall enough" is no question for the telly
            if found.tool in ANYTHING:
                continue  # "night stan lamp to 20" is no note
            if found.tool not in FREE or _tells_what_was_heard(found, text):
                return Part(text=other.text, decision=found)
        return None

    async def _likelier_said(self, text: str, language: str) -> list[Said]:
        async with self._routing:
            return await asyncio.to_thread(self._router.likelier, text, language)


def _is_clear(decision: Decision) -> bool:
    return decision.tool is not None and decision.asks in (None, "confirm")


def _tells_what_was_heard(decision: Decision, text: str) -> bool:
    """Whether all that a call is told in free text was heard so: a title may be any words."""
    told = [str(value) for name, value in decision.arguments.items() if name != "entities"]
    heard = plain(text)
    return all(plain(one) in heard for one in told)
