"""The last look before acting: does the verb say the opposite, or say not to?"""

import re
from collections.abc import Mapping
from typing import Any

from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.plain import NEVER, plain

SAME = {
    "home.turn_on": {"on", "open", "start"},
    "home.turn_off": {"off", "close", "stop", "out"},
    "home.open": {"open", "on", "up", "raise", "out"},
    "home.close": {"close", "off", "down", "lower", "in"},
    "home.lock": {"lock", "close"},
    "home.unlock": {"unlock", "open"},
    "media.mute": {"mute", "off"},
    "media.unmute": {"unmute", "on"},
    "vacuum.start": {"start", "on"},
    "vacuum.return_home": {"home", "stop"},
    "alarms.cancel": {"off", "stop", "close"},
}
OPPOSITE = {
    "home.turn_on": {"off", "close", "out"},
    "home.turn_off": {"on", "open"},
    "home.open": {"close", "off", "down", "lock", "lower", "in"},
    "home.close": {"open", "on", "up", "raise", "out"},
    "home.lock": {"unlock", "open", "off"},
    "home.unlock": {"lock", "close", "on"},
    "media.mute": {"unmute"},
    "media.unmute": {"mute"},
    "vacuum.start": {"home", "stop"},
    "vacuum.clean_area": {"home", "stop"},
    "vacuum.return_home": {"start"},
    "alarms.cancel": {"on"},
}
"""Tool → the verbs that it does, and those whose opposite it does."""


LOCKS = frozenset({"home.lock", "home.unlock"})
"""开大门的锁 opens, though 锁 is to lock as well."""
OPPOSED = frozenset(
    map(
        frozenset,
        (
            ("home.turn_on", "home.turn_off"),
            ("home.open", "home.close"),
            ("home.lock", "home.unlock"),
            ("media.pause", "media.play"),
            ("media.mute", "media.unmute"),
            ("vacuum.start", "vacuum.return_home"),
            ("timers.start", "timers.cancel"),
            ("timers.pause", "timers.resume"),
            ("alarms.set", "alarms.cancel"),
        ),
    )
)
"""Tools of which one undoes the other."""


_ON_HALFWAY = {
    "de": re.compile(
        r"\b(?:(?:an|ein)(?=,? und\b|,)|an(?! (?:de[rmn]|die|das|eine?[rmn]?|mein\w*|unser\w*)\b))"
        r"(?=.* (?:aus|ab)\b)"
    )
}
"""What is switched on, in front of what is switched off: „Lampe an und Radio aus“. Without an
article behind it „an“ is no preposition."""


def on_and_off(text: str, language: str) -> bool:
    """Whether something is switched on in ``text``, as it was said, and then something off."""
    return _ON_HALFWAY.get(language, NEVER).search(text.casefold()) is not None


def undoes(one: str, other: str) -> bool:
    """Whether two tools do opposite things."""
    return frozenset({one, other}) in OPPOSED


def contradiction(
    tool: str, text: str, slots: Mapping[str, Any], words: Lexicon, *, stated: bool = False
) -> str:
    """Why ``tool`` must not follow from ``text``; an empty string where nothing speaks against it.

    What was understood as a message, an item or a name may say anything.

    stated: a "not" in it is of what is, and not of what shall be: "I can't see a thing"
    """
    said = plain(text)
    for value in slots.values():
        if isinstance(value, str):
            said = said.replace(plain(value), " ")
    implied, step = words.implied(said), slots.get("step")
    other = {"up": "down", "down": "up"}.get(str(step))
    if other and f"{tool}:{other}" in implied:
        return f"it complains of the opposite of {tool} {step}"
    if tool in implied or f"{tool}:{step}" in implied:
        said = words.without_implied(said)  # "it needn't be on" says to turn it off
    if not stated and words.negates(said):
        return "it says not to do it"
    verbs = words.actions_in(words.without_stated(said) if stated else said)
    if tool in LOCKS and "lock" in verbs and verbs & {"open", "on"} and "close" not in verbs:
        return "it says to lock and to open"
    against = verbs & OPPOSITE.get(tool, set())
    if against and not verbs & SAME.get(tool, set()):
        return f"it says {' and '.join(sorted(against))}, which is the opposite of {tool}"
    return ""
