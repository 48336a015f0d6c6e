"""A complaint of the air or the light in a room, and the wish that follows from it: the wish alone
is meant, and it is of that room. "It's stuffy in the living room, have the fan going" leaves the
heating as it is.
"""

import re
from collections.abc import Collection

from hubd.assistant.decision import Decision
from hubd.assistant.several import AIR, Part
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.mentions import Mentions
from hubd.home.model import Snapshot

LIGHTS = frozenset({"light"})
_HELP = {AIR: AIR | {"cover", "humidifier"}, LIGHTS: LIGHTS | {"cover", "switch"}}
"""What is worked because of what: the air, or the light."""
_COMPLAINED = frozenset({"climate.change", "lights.change", "home.turn_on", "home.turn_off"})
"""What a complaint alone comes to."""
_HOW_IT_IS = frozenset({"warmer", "cooler", "brighter", "dimmer"})
"""What a complaint says as well: "too warm"."""
_SO = re.compile(r"\W*(?:and|so|und|also|drum|darum|deshalb|那|所以|就)?\W*", re.IGNORECASE)
"""What may stand between the complaint and the wish; another wish may not."""


def complains(said: Mentions, known: Lexicon) -> bool:
    """Whether nothing is said but how the air or the light is, and where."""
    if said.names or said.nouns or said.numbers:
        return False
    told = {tool.partition(".")[0] for tool in said.implied} & {"climate", "lights", "home"}
    if told:
        return said.actions <= _HOW_IT_IS
    return bool(said.hints) and not said.actions and known.remarks(said.text)


def of_that_room(said: Mentions) -> bool:
    """Whether a wish says what, and neither which one nor where."""
    return bool(said.nouns) and not (said.names or said.areas or said.floors or said.everything)


def helps_there(decision: Decision) -> bool:
    """Whether it works what may help against the air or the light."""
    return bool(kinds := _kinds(decision)) and any(kinds <= help_ for help_ in _HELP.values())


def without_complaints(
    parts: list[Part], complaints: Collection[str], text: str, home: Snapshot
) -> list[Part]:
    """The parts without a complaint right before the wish that follows from it.

    complaints: the texts of those that only complain
    """
    return [
        part
        for at, part in enumerate(parts)
        if not (
            part.text in complaints
            and at + 1 < len(parts)
            and _follows(part, parts[at + 1], text)
            and _is_of_it(part.decision, parts[at + 1].decision, home)
        )
    ]


def _follows(complaint: Part, wish: Part, text: str) -> bool:
    _, _, behind = text.partition(complaint.text)
    between, found, _ = behind.partition(wish.text)
    return bool(found) and _SO.fullmatch(between) is not None


def _is_of_it(complaint: Decision, wish: Decision, home: Snapshot) -> bool:
    """Whether the wish is of the same air or light, in the same room."""
    if complaint.tool not in _COMPLAINED or not _kinds(wish):
        return False
    of_it = any(_kinds(complaint) <= kind and _kinds(wish) <= _HELP[kind] for kind in _HELP)
    rooms = [
        {entity.area for entity in home.entities if entity.id in decision.entities} - {None, ""}
        for decision in (complaint, wish)
    ]
    return of_it and (not rooms[1] or bool(rooms[0] & rooms[1]))


def _kinds(decision: Decision) -> set[str]:
    """The domains of what it works."""
    domain = decision.arguments.get("domain")
    said = {str(domain)} if domain else set()
    return {entity.partition(".")[0] for entity in decision.entities} or said
