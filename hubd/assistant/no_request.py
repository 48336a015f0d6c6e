"""What is no request that could be carried out: what the hub cannot do, what is said to others in
the room, thanks and chatter, and a yes to nothing. It is answered in a few words, and nothing is
done.
"""

from collections.abc import Awaitable, Callable, Sequence

from hubd.assistant.decision import Decision, lacks
from hubd.assistant.follow_ups.follow import CANCELS
from hubd.assistant.questions import ask
from hubd.assistant.replies import begins_with_no, besides_no, says_yes
from hubd.assistant.several import Part
from hubd.assistant.understanding.beyond import beyond
from hubd.assistant.understanding.chatter import chatter
from hubd.assistant.understanding.grammar import MAXIMUM_UTTERANCE
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.people import PERSON, asks_whether_there, family_words, people
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.reasons import BREAK
from hubd.assistant.understanding.to_others import said_to_others, without_call
from hubd.home.model import Snapshot
from plugins.speech import say

REPLIES = {"hello": "hello", "thanks": "welcome", "bye": "bye", "noted": "all_right"}
"""What is said to chatter of each kind."""
IN_SO_MANY_WORDS = frozenset({"grammar"})
STATE, TIMERS = "home.state", "timers.list"
MISTAKEN = frozenset({STATE, TIMERS})
"""Tools that what cannot be done is taken for: "phone Ann and ask where she is"."""

Decide = Callable[[str], Awaitable[Decision]]


async def answered_alone(
    text: str, whole: Decision, snapshot: Snapshot, by_rules: Decide
) -> str | None:
    """What is said to ``text``, which is no request; ``None`` where it may be one.

    whole: what the rules decided on all of it
    by_rules: decides on a part of it
    """
    if len(text) > MAXIMUM_UTTERANCE or whole.declined not in ("", "declined"):
        return None
    language = whole.language
    here = people(snapshot, language)
    may_be_mistaken = whole.tool in MISTAKEN and whole.route not in IN_SO_MANY_WORDS
    if (lacks(whole) or may_be_mistaken) and (cannot := beyond(text, language, here)):
        return cannot
    if not (lacks(whole) or whole.declined or only_of_people(whole, text)):
        return None
    if (kind := chatter(text, language)) is not None:
        return say(language, REPLIES[kind])
    if says_yes(text, language):
        return ask(language, "nothing_asked")
    if begins_with_no(text, language) and besides_no(text, language) == "":
        return say(language, "all_right")
    if _calls_a_thing(text, snapshot):
        return None
    if said_to_others(text, language, here) and not await _asks_the_hub(
        text, language, here, by_rules
    ):
        return ask(language, "not_for_me")
    return None


def without_chatter(parts: Sequence[Part], snapshot: Snapshot) -> list[Part]:
    """The parts of a sentence without those that only thank or call somebody: "…, love"."""
    kept = [one for one in parts if not (lacks(one.decision) and _says_nothing(one, snapshot))]
    return kept or list(parts)


def _says_nothing(part: Part, snapshot: Snapshot) -> bool:
    language = part.decision.language
    calls = {*people(snapshot, language), *family_words(language, "fondly")}
    return plain(part.text) in calls or chatter(part.text, language) is not None


def _calls_a_thing(text: str, snapshot: Snapshot) -> bool:
    """Whether something of the house is called by its name: "Dusty, stop that"."""
    things = (entity for entity in snapshot.entities if entity.domain != PERSON)
    names = (plain(name) for thing in things for name in called(thing))
    return any(name and plain(text).startswith(name) for name in names)


def tells_of_people(decision: Decision, text: str) -> bool:
    """Whether it would only be told where somebody is, which is not asked: "Mum says it's cold"."""
    of_people = {one.partition(".")[0] for one in decision.entities} == {PERSON}
    guessed = decision.tool == STATE and decision.route not in IN_SO_MANY_WORDS
    return guessed and of_people and not asks_whether_there(text, decision.language)


def only_of_people(decision: Decision, text: str) -> bool:
    """Whether only the state of a person would be told, who is named and not asked about."""
    of_people = {one.partition(".")[0] for one in decision.entities} == {PERSON}
    asks = text.rstrip().endswith(("?", "？")) or lexicon(decision.language).inquires(text)
    return decision.tool == STATE and of_people and not asks


async def _asks_the_hub(text: str, language: str, here: list[str], by_rules: Decide) -> bool:
    """Whether something in it is a command of the hub all the same: "Ann, turn the lamp off"."""
    known, rest = lexicon(language), without_call(text, language, here)
    clauses = [rest, *BREAK.split(rest)] if BREAK.search(rest) else [rest]
    for clause in filter(None, clauses):
        if said_to_others(clause, language, here):
            continue
        alone = await by_rules(clause)
        acts = alone.call is not None and alone.asks != "missing" and alone.tool not in CANCELS
        commands = known.commands(known.stripped(clause), whole=False) or not known.spaces
        if acts and commands:
            return True
    return False
