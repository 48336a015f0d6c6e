"""What was understood and may still be no part of it: "marmalade really ought to be" as an item.

An item of a list is a thing; where it holds a verb or a pronoun, a clause was taken for it, or a
word was misheard. Of 292 items that people put on lists (the blind sets of docs/understanding.md)
none does. Such a one is asked about, and put on the list after a "yes".
"""

import re

import msgspec

from hubd.assistant.by_likeness.proposals import phrase
from hubd.assistant.decision import Decision
from hubd.assistant.understanding.plain import plain
from plugins.lists import items_of

ADD, PLAY = "lists.add", "media.search"
_NOT_SAID = re.compile(
    r"(?:it|that|this|the same|das|es|dasselbe|das gleiche|这个|那个|它)"
    r"(?: (?:too|as well|also|again|auch|noch ?mal))*"
)
"""What names no music."""
_CLAUSE = {
    "en": re.compile(
        r"\b(?:i|we|he|she|they|it|you|is|isn't|are|was|were|be|have|has|had|do|does|don't|ought|"
        r"should|needs?|will|would|could|because|if|there|there's|please|list|actually|really|"
        r"wait|\w+'(?:ve|re|m|ll))\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(?:ich|wir|er|es|man|mir|uns|ist|sind|war|haben|hat|habe|muss|müssen|müssten?|"
        r"sollten?|brauch\w*|wäre|wird|werden|kann|könnten?|weil|wenn|dass|ob|bitte|nämlich|"
        r"nicht|^mehr$|leer|kauf(?:en|e|t)?|setz(?:en|e|t)?|schreib\w*|liste|also|ähm?)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        "[我你您他她它]|[吧了吗呢]$|(?<![拖火])把|里的|[一几两]天|不是|应该|需要|记得|清单|没有|已经|快没|快要|得买|要买|^[再买就]"
    ),
}
"""Words that say something about a thing, by language."""


def doubted(decision: Decision) -> Decision:
    """The decision, or a question whether it is meant so, where an item may be a clause; what is to
    be played and only called "that" is not played."""
    pattern, call = _CLAUSE.get(decision.language), decision.call
    if call and call.tool == PLAY and _NOT_SAID.fullmatch(plain(str(call.arguments.get("query")))):
        reason = "what shall be played is not said"
        return Decision(
            route="words", reason=reason, language=decision.language, declined="declined"
        )
    if pattern is None or call is None or call.tool != ADD or decision.asks is not None:
        return decision
    items = items_of(call.arguments.get("items", ()))
    if not any(map(pattern.search, items)) or phrase(call, (), decision.language) is None:
        return decision
    reason = f"{decision.reason}, but an item may be a clause".removeprefix(", ")
    return msgspec.structs.replace(decision, asks="confirm", proposed=True, reason=reason)
