"""Whose coming home is meant: "when I get home", "remind Ray … when he gets home". No plugin."""

import re

from plugins.api import Entity, MissingArgumentError, ToolContext, ToolError
from plugins.speech import say
from plugins.when_reader import found, words

PEOPLE = ("person", "device_tracker")
_SOMEBODY = frozenset({
    "he", "she", "they", "er", "sie", "il", "elle", "él", "ella", "他", "她", "它", "人",
})  # fmt: skip
"""Words for whoever was named before."""
_IT_IS = re.compile(
    r"^(?:it's|it is|i'm|i am|this is|ich bin|hier ist|das ist|je suis|c'est|soy|我是|是)\s*",
    re.IGNORECASE,
)
_TO = r"(?:,|:|，)?\s*(?:to |about |of |daran,? |dran,? |an |de |d'|que |要|去)?\s*"
"""What may stand between a person who is reminded and what they are reminded of."""


def person_of(context: ToolContext, who: str, named: str = "") -> Entity:
    """The person whose coming home is meant; without a name who speaks, or the only one there is.

    who: as it was said, or as it was answered
    named: the name of a person that was said elsewhere, for "he" and "she"

    Raises:
        MissingArgumentError: several could be meant.
        ToolError: nobody is known.
    """
    people = people_of(context)
    if not people:
        raise ToolError(say(context.language, "nobody_tracked"))
    said = _IT_IS.sub("", who.strip(" .!。！")).casefold()
    wanted = named if said in _SOMEBODY else said
    wanted = wanted or context.person.casefold()
    meant = [one for one in people if wanted in _names(one)]
    meant = meant or ([] if said and said not in _SOMEBODY else people)
    if len(meant) != 1:
        names = [one.name for one in people]
        raise MissingArgumentError(
            "who", say(context.language, "whose_arrival", names, count=False)
        )
    return meant[0]


def addressed(context: ToolContext, task: str) -> tuple[str, str]:
    """The name of the person with whom a task begins, in lower case, and the rest of it: "Ray to
    check the mailbox" → ("ray", "check the mailbox"); an empty name where none is there."""
    for person in people_of(context):
        for name in _names(person):
            edge = "" if context.language == "zh" else r"(?!\w)"
            if said := re.match(rf"{re.escape(name)}{edge}{_TO}(?=\S)", task, re.IGNORECASE):
                return name, task[said.end() :]
    return "", task


def mentioned(context: ToolContext, task: str) -> str:
    """The name of the one person of whom a task speaks, in lower case; empty where it is of none,
    or of several: "ask Ray about the car" is of Ray."""
    edge = "" if context.language == "zh" else r"\b"
    said = task.casefold()
    found = [
        next(names, "")
        for names in (
            (name for name in _names(one) if re.search(f"{edge}{re.escape(name)}{edge}", said))
            for one in people_of(context)
        )
    ]
    named = [name for name in found if name]
    return named[0] if len(named) == 1 else ""


def people_of(context: ToolContext) -> list[Entity]:
    """Those who may come home: persons, else their trackers."""
    entities = context.home.snapshot().entities
    for domain in PEOPLE:
        if people := [one for one in entities if one.domain == domain]:
            return people
    return []


def arrival_last(text: str, language: str) -> str:
    """``text`` with the coming home that it begins with behind the rest, where a sentence has its
    time: "when I get home, remind me to call Ann" is "remind me to call Ann when I get home"."""
    said = found(words(language)["arrival"], text, language)
    if said is None or said.start() > 0 or language == "zh":
        return text
    rest = text[said.end() :].strip(" ,")
    return f"{rest.rstrip(' .!')} {said[0].strip()}" if rest else text


def _names(person: Entity) -> list[str]:
    return [name.casefold() for name in (person.name, *person.aliases)]
