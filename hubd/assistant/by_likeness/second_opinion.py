"""Whether what rules understood is what people mean who say it so: where the two contradict each
other, nothing is done unasked.

Rules take "记时器还胜多少时间" for a note, since 记 begins one; of what people said like this, next
to nothing was a note and nearly all a question for the timers. On 2 560 sentences of strangers that
took no part in any fit, another tool was much likelier in 35 of 126 wrong actions and in 15 of 864
right ones; the tags of words were others in 23 of 35 wrong items and titles, and in 8 of 32 right
ones.
"""

import re
from collections.abc import Iterable, Mapping

import msgspec

from hubd.assistant.by_likeness.hearing import WORDED
from hubd.assistant.by_likeness.misheard_things import as_meant
from hubd.assistant.by_likeness.proposals import phrase
from hubd.assistant.by_likeness.wording import ARTICLES, LONGEST, SLOTS
from hubd.assistant.decision import Decision
from hubd.assistant.for_later.later import LATER
from hubd.assistant.misread import OF_WORDS
from hubd.assistant.understanding.bought import is_bought, without_amounts
from hubd.assistant.understanding.fill import TIMER
from hubd.assistant.understanding.likeness import ENCODED
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.tagger import Parts
from hubd.home.model import Snapshot
from plugins.lists import items_of

_ALIKE = (
    ("lists.remove", "lists.complete"),
    ("lights.set", "lights.change"),
    ("climate.set", "climate.change"),
    ("fans.set_speed", "fans.change"),
    ("media.set_volume", "media.change_volume"),
    ("home.set_position", "home.move", "home.open", "home.close"),
)
LIKELY = 0.5
"""From which on a tool contradicts no examples."""
TIMES = 2.0
"""How much likelier another tool is that does."""
PLAIN_WORDS = 1
"""Words of an item that is never left out: "butter" beside "something for the cat"."""
FREE = (
    WORDED
    | OF_WORDS
    | {
        LATER,
        "calendar.move",
        "calendar.remove",
        "reminders.cancel",
        "routines.define",
        "routines.run",
        "chance.pick",
        "briefing.schedule",
    }
)
"""Tools whose sentences have a place for anything at all."""
_WORKING = (
    "home.", "lights.", "climate.", "fans.", "media.", "vacuum.", "mower.", "humidifiers.",
    "announce.",
)  # fmt: skip
"""Tools that may be left for later."""
ALIKE = {tool: together for together in _ALIKE for tool in together} | {
    tool: (tool, "timers.start") for tool in ("timers.add", "timers.subtract")
}
"""Tools that people ask for in the same words, or that a number tells apart."""
_SAYS_SO = {
    "reminders.add": re.compile(
        r"(?:(?:er+m?|u+m+|u+h+|ä+h*m*|so|right|ok(?:ay)?|please|also|bitte)[, ]+)*"
        r"(?:reminder (?:every|at|on|in|to|tomorrow)\b|"
        r"(?:remind (?:me|us)|erinnere? (?:mich|uns)),?(?: (?:to|about|an|ans|daran|am|um)\b|"
        r" (?:(?:to)?morgen|tomorrow|tonight|heute)\b))(?!.*[?？])",
        re.IGNORECASE,
    ),
    "lists.add": re.compile(
        r"(?:(?:so|also|right|ok(?:ay)?|äh+m?|uh+|um+)[, ]+)*"
        r"(?:(?:auf )?(?:die|unsere|meine) (?:\w+liste|liste \w+),? |"
        r"(?:on )?(?:the|my|our) (?:[\w'-]+ ){1,2}list,? |"
        r"[\u4e00-\u9fff]{1,8}清单[上里]?面?[，,]?)(?!.*[?？])",
        re.IGNORECASE,
    ),
    "notes.add": re.compile(
        r"(?:(?:so|also|bitte|please|ok(?:ay)?)[, ]+)*"
        r"(?:(?:mache?|schreibe?) (?:dir |mir |mal |bitte )*(?:eine|'?ne) notiz\b|"
        r"(?:notiere?|merke?) (?:dir |mir |mal |bitte |doch )*[,:]? ?(?:dass\b|,|:)|"
        r"(?:make|take) a note\b|note(?: this| that)?(?: down)?[,:]|"
        r"(?:请|麻烦|帮我|给我|你)*记(?:一下|下来?|住|一记|着|个笔记)吧?[，,：:])(?!.*[?？])",
        re.IGNORECASE,
    ),
}
"""What a sentence for a tool begins with that is said of no other."""
_CLAUSES = re.compile(r"[,，;；、…—]|[.!?。！？] *\S")


def beyond_doubt(decision: Decision, text: str) -> bool:
    """Whether ``text`` is one clause, and a sentence of the grammar that names a list or a player
    or has no free text in it, or has it in a language whose chances take a vector: a plain command
    waits for no encoder. Of Home Assistant's own sentences in German, 10 in 3 586 would be taken
    for something else."""
    if _says_so(decision, text):
        return True
    if _CLAUSES.search(text):
        return False
    plainly = decision.tool not in FREE or decision.tool in OF_WORDS
    plainly = plainly or (decision.tool == TIMER and not decision.arguments.get("name"))
    plainly = plainly or decision.language in ENCODED
    return decision.tool == LATER or (decision.route == "grammar" and plainly)


def _says_so(decision: Decision, text: str) -> bool:
    """Whether ``text`` begins as is said for the tool of ``decision`` and for no other."""
    says_so = _SAYS_SO.get(decision.tool or "")
    return decision.route == "grammar" and says_so is not None and says_so.match(text) is not None


def contradicted(decision: Decision, text: str, chances: Mapping[str, float]) -> bool:
    """Whether another tool than that of ``decision`` is much likelier, and it is not beyond doubt.

    chances: tool → how likely it is; a tool that is none of these cannot be judged
    """
    tool = decision.tool or ""
    if beyond_doubt(decision, text):
        return False
    own = sum(chances.get(one, 0.0) for one in ALIKE.get(tool, (tool,)))
    if tool == LATER:
        own += sum(chance for one, chance in chances.items() if one.startswith(_WORKING))
    return tool in chances and own < LIKELY and max(chances.values()) > TIMES * own


def named_otherwise(decision: Decision, parts: Parts) -> Decision | None:
    """The decision with the things that its words are tagged as, where these are others than those
    that were understood: the fewer words of the two. ``None`` where they are the same."""
    call = decision.call
    if call is None or call.tool not in OF_WORDS or decision.route == "semantic":
        return None
    if _says_so(decision, parts.text):
        return None
    argument = SLOTS[call.tool].about
    given = call.arguments.get(argument, ())
    said = items_of([given] if isinstance(given, str) else given)
    if not _CLAUSES.search(parts.text) and all(len(one.split()) <= LONGEST for one in said):
        return None  # "put milk and two dozen eggs on the list" has nothing else in it
    whole = argument == "query"
    tagged = [parts.whole] if whole else [as_meant(one, decision.language) for one in parts.about]
    tagged = list(filter(None, dict.fromkeys(tagged)))
    if _words(said) == _words(tagged):
        return None
    if argument == "items":
        things = [without_amounts(_words([one]), decision.language) for one in said]
        if all(is_bought(" ".join(one), decision.language) for one in things):
            return None  # "flour, two packs of butter": each of them is known
        if set().union(*things) == without_amounts(_words(tagged), decision.language):
            return None  # "two packs of butter" are two packs, and no "two"
    plain_ones = [one for one in said if len(one.split()) <= PLAIN_WORDS]
    loses_one = argument == "items" and not _words(plain_ones) <= _words(tagged)
    if not tagged or loses_one or len(" ".join(tagged)) >= len(" ".join(said)):
        return decision
    named = tagged if argument == "items" else ", ".join(tagged)
    call = msgspec.structs.replace(call, arguments={**call.arguments, argument: named})
    return msgspec.structs.replace(decision, call=call, arguments=dict(call.arguments))


def asked_about(decision: Decision, text: str, home: Snapshot) -> Decision:
    """The decision as a question whether it is meant so. Where there are no words to ask it in,
    nothing was understood, or if there is but one clause, what stands there."""
    call = decision.call
    entities = [entity for entity in home.entities if entity.id in decision.entities]
    reason = f"{decision.reason}, but it is not like what people say for it"
    if call is None or phrase(call, entities, decision.language) is None:
        if not _CLAUSES.search(text):
            return decision
        return Decision(route="documents", reason=reason, language=decision.language)
    return msgspec.structs.replace(decision, asks="confirm", proposed=True, reason=reason)


def _words(things: Iterable[str]) -> set[str]:
    """The words of things, without articles and marks."""
    words = " ".join(plain(thing).replace("ß", "ss") for thing in things).split()
    return {word.strip(",.!?，。") for word in words} - ARTICLES - {""}
