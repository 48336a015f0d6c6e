"""One item of a list in the place of another: "swap the eggs for tofu", „statt Eiern lieber Tofu“,
鸡蛋不要了，换成豆腐, „streich die Butter und schreib Margarine drauf“.

Only of a list that is named, or of which something was said or done before. Decides and does
nothing.
"""

import re

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.listed import ADD, OF_A_LIST, list_call, listed
from hubd.assistant.route import Router
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import as_said, plain

_BOTH = re.compile(r",? (?:and|und)(?: then| dann)? |[，,；](?:再|然后)?", re.IGNORECASE)
_LIST = {
    "en": r"(?: on (?:the|my|our) (?:shopping )?list)?",
    "de": r"(?: auf der (?:einkaufs)?liste)?",
    "zh": r"(?:购物)?(?:清单|单子)[上里](?:的|把)?",
}
_THE = {
    "en": r"(?:the |some |my |our )?",
    "de": r"(?:der |die |das |den |dem )?",
}
_EXCHANGED = {
    "en": (
        r"(?:please )?(?:swap|replace|exchange|switch|change) {the}(?P<old>.+?){list}"
        r" (?:for|with|to|by) {the}(?P<new>.+?){list}(?: instead)?(?: please)?",
        r"(?:(?:get|put|add|make (?:it|that)|i want|we want|take) )?{the}(?P<new>.+?){list}"
        r" instead of {the}(?P<old>.+?){list}(?: please)?",
        r"(?:(?:scratch|forget|drop|skip|lose|no more|not) {the}(?P<old>.+?)"
        r"|(?:we|i) don't (?:need|want) {the}(?P<other>.+?)(?: any ?more)?){list}[ ,]+"
        r"(?:and |but |rather )?(?:get |put |add |make (?:it|that) )?{the}(?P<new>.+?){list}"
        r" instead",
    ),
    "de": (
        r"(?:ersetz|tausch|wechsel)e? (?:bitte )?{the}(?P<old>.+?){list} (?:durch|gegen|mit) {the}"
        r"(?P<new>.+?){list}(?: aus)?",
        r"(?:an)?statt {the}(?P<old>.+?){list}[ ,]+(?:lieber |bitte |doch )*{the}(?P<new>.+?)"
        r"{list}",
        r"(?:doch )?lieber {the}(?P<new>.+?) (?:an)?statt {the}(?P<old>.+?){list}",
        r"{the}(?P<old>.+?) (?:brauchen wir|brauche? ich) (?:doch |jetzt )?nicht(?: mehr)?"
        r"[ ,]+(?:dafür|stattdessen|sondern)(?: lieber| aber| bitte)? {the}(?P<new>.+)",
    ),
    "zh": (
        r"(?:{list})?把?(?P<old>[^,，]+?)(?:(?:不要|不买|不用买|不需要|去掉|删掉|划掉|删)了?[,，]*"
        r"(?:那就|就|给我|帮我|咱们?|我们)*(?:换成|换|改成|改买|改要|买|要|加上|加)"
        r"|(?:换成|换作|改成|改为))(?P<new>[^,，]+?)(?:吧|好了|就行|得了)?",
        r"(?:不要|不买|别买)(?P<old>[^,，]+?)了?[,，]+(?:那就|就)?(?:换成|改成|改买|要|买)"
        r"(?P<new>[^,，]+?)(?:吧|好了)?",
        r"用(?P<new>[^,，]+?)(?:代替|换掉|替换|换)(?:{list})?(?P<old>[^,，]+?)(?:吧|好了)?",
    ),
}  # fmt: skip
"""What stays away and what is wanted; ``{list}`` and ``{the}`` are the words of above."""
_NAMES_LIST = {
    "en": r"\blist\b",
    "de": r"liste\b|zettel\b",
    "zh": "清单|单子",
}


def exchanged(
    router: Router, text: str, language: str, memory: Memory
) -> list[tuple[str, Decision]]:
    """The removal of one item and the adding of another, each with the words for it; empty where
    it is not both."""
    last = memory.last
    if last is not None and last.call is not None and last.tool in OF_A_LIST:
        found = [(one, listed(router, one, last)) for one in _BOTH.split(text.strip(" .!。！"))]
        known = [(one, decision) for one, decision in found if decision]
        both = len(found) == len(known) == 2
        if both and {decision.tool for _, decision in known} == {"lists.remove", ADD}:
            return known
    return [(text, one) for one in _in_its_place(router, text, language, memory)]


def _in_its_place(router: Router, text: str, language: str, memory: Memory) -> list[Decision]:
    """Of "swap the eggs for tofu", whose parts are no commands alone."""
    spoken = memory.told or memory.last
    of_list = spoken is not None and spoken.tool in OF_A_LIST and spoken.language == language
    last = spoken if spoken and of_list else Decision(route="words", tool=ADD, language=language)
    said = plain(text)
    if not (of_list or re.search(_NAMES_LIST.get(language, "(?!)"), said)):
        return []
    words = {"list": _LIST.get(language, ""), "the": _THE.get(language, "")}
    for pattern in _EXCHANGED.get(language, ()):
        if (found := re.fullmatch(pattern.format(**words), said)) is None:
            continue
        given = found.groupdict()
        old, new = (
            as_said(text, one) for one in (given["old"] or given.get("other", ""), given["new"])
        )
        which = last.call.arguments if last.call else {}
        name = {key: value for key, value in which.items() if key == "list_name"}
        known = lexicon(language)
        off = list_call(router, last, "lists.remove", {"item": old, **name}, old, known)
        on = list_call(router, last, ADD, {"items": [new], **name}, new, known)
        return [off, on] if off and on else []
    return []
