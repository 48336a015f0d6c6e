"""What an utterance comes to where it was misheard: the same rules decide on what it may have been.

Two ways: words next to each other as one name that they sound like (``garbled``), and the
likeliest sentence that sounds so (``noisy_channel``).
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from functools import partial

from hubd.assistant.decision import Decision
from hubd.assistant.for_later.timed import says_when_again
from hubd.assistant.misread import OF_WORDS
from hubd.assistant.route import Router
from hubd.assistant.several import Part
from hubd.assistant.understanding.lexicon import NAMED, Lexicon, lexicon
from hubd.assistant.understanding.noisy_channel import Channel, Said, channel_of, likeliest
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.rooms import rooms_not_here
from plugins.numbers import digits

WORDED = frozenset(
    {"media.search", "lists.add", "notes.add", "reminders.add", "announce.say", "calendar.add"}
)
"""Tools whose free text may be anything."""
FREE = WORDED | OF_WORDS | {"routines.later"}
"""Tools that are told free text."""
ANYTHING = frozenset({"notes.add", "announce.say"})
"""Tools that make something of whatever follows their verb."""
STATE, UNMUTE = "home.state", "media.unmute"
CLAUSES = re.compile("[,，;；]")
_ONLY = re.compile(r"\b(?:only|just|nur|bloß|except|außer)\b|只|除了", re.IGNORECASE)
PRONOUNCED = frozenset({"en", "de", "zh"})
"""The languages of which it is known what sounds like what."""
Rules = Callable[[str, str | None, str], Awaitable[Decision]]
"""Text, language, area → what the rules decide."""


class Hearing:
    """Tries other readings of what was heard, and does nothing; what sounds how is kept."""

    def __init__(self, router: Router, routing: asyncio.Lock, by_rules: Rules) -> None:
        """routing: who asks the router holds it, which keeps what it compiled."""
        self._router, self._routing, self._by_rules = router, routing, by_rules
        self._channels: dict[str, tuple[int, Channel]] = {}

    async def sounds_like(
        self, text: str, language: str, area: str, *, exactly: bool
    ) -> Part | None:
        """The one command with a name of the household in it that ``text`` sounds like."""
        async with self._routing:
            heard_as = partial(self._router.heard_as, exactly=exactly)
            others = await asyncio.to_thread(heard_as, text, language)
        for other in others:
            if says_when_again(text, language) and not says_when_again(other, language):
                continue  # "every minute" is no "Night Light"
            found = await self._by_rules(other, language, area)
            if found.tool == UNMUTE and not exactly:
                continue  # "turn on the saw na" is no sound: a short word, and like many
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
            return await asyncio.to_thread(self._heard_otherwise, text, language)

    def _heard_otherwise(self, text: str, language: str) -> list[Said]:
        """What is likelier to be said here than ``text`` and sounds like it, likeliest first."""
        known = lexicon(language)
        if language not in PRONOUNCED or known.corrected(text) or CLAUSES.search(text):
            return []  # clauses are understood one by one, or not
        if rooms_not_here(text, known, self._router.phrases(language)) or known.keeps(text):
            return []  # it was heard rightly, and is of another house or shall stay so
        if known.asks_how_it_works(text) or _is_of_known_words(text, known):
            return []
        said = likeliest(text, self._channel(language))
        return [one for one in said if _loses_nothing(text, one.text, known)]

    def _channel(self, language: str) -> Channel:
        """That of the household as it is."""
        version = self._router.snapshot().version
        kept = self._channels.get(language)
        if kept is None or kept[0] != version:
            phrases = self._router.phrases(language)
            named = (p for p, tags in phrases.items() if any(tag.kind in NAMED for tag in tags))
            names = [name for name in named if "$" not in name]
            words = self._router.vocabulary(language).words
            kept = self._channels[language] = version, channel_of(language, names, words)
        return kept[1]


def _is_clear(decision: Decision) -> bool:
    return decision.tool is not None and decision.asks in (None, "confirm")


def _tells_what_was_heard(decision: Decision, text: str) -> bool:
    """Whether all that a call is told in free text was heard so: a title may be any words."""
    told = [str(value) for name, value in decision.arguments.items() if name != "entities"]
    heard = plain(text)
    return all(plain(one) in heard for one in told)


def _is_of_known_words(text: str, known: Lexicon) -> bool:
    """Whether every word is one of commands: "off on off" was heard rightly."""
    return known.spaces and known.words >= set(plain(text).split())


def _loses_nothing(text: str, meant: str, known: Lexicon) -> bool:
    """Whether hearing ``meant`` instead neither loses nor finds a "not" or an "only", and loses no
    time, and no question or past."""
    if bool(_ONLY.search(text)) != bool(_ONLY.search(meant)):
        return False  # "but only the worktop one" is not "all but the one over the worktop"
    timed, still = (bool(known.times(digits(plain(t), known.language))) for t in (text, meant))
    if says_when_again(text, known.language) and not says_when_again(meant, known.language):
        return False
    asked, so = known.wonders(text), known.wonders(meant)
    return known.negates(text) == known.negates(meant) and still >= timed and so >= asked
