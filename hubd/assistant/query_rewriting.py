"""Questions that lean on the one before: "and when does it end?", "what about the dishwasher?".

They are made to stand alone, so that documents are searched for what is meant. By rules, in English
and Chinese; a question that stands alone, or that no rule fits, is left as it is.
"""

import re
from collections.abc import Sequence

from rag.lexical import keys
from rag.question import COMMON, GENERIC

LOOKED_BACK = 4
"""Earlier questions that are looked at; each may lean on the one before it."""

_WORD = re.compile(r"[\w'’-]+")
_OPENING = re.compile(
    r"(?:(?:and|but|or|so|then|also|ok|okay)\b[,\s]+)?(?:(?:what|how) about|what of|same for)\s+"
    r"|(?:and|but|or|so|then|also)\b[,\s]+",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?P<possessive>its|their|his|her(?= \w))\b|\b(?:it|they|them|he|him|she|her)\b"
    r"|\b(?:this|that|those|these)(?=\s*\??$|\s+(?:is|are|was|were|does|do|end|cost|mean|last)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|may"
    r"|must|should|shall|will|would|has|have|had)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"(?:on|in|of|for|at|to|from|with|by|after|before|during)\b", re.I)
_OWNER = re.compile(r"\b[A-Z][\w-]*['’]s\b")
_PHRASE = re.compile(
    r"\b(?:the|our|my|your|his|her|their|an?|this|that|[A-Z][\w-]*['’]s)\s+", re.IGNORECASE
)
_STOP = re.compile(
    r"(?:is|are|was|were|be|do|does|did|can|could|may|must|should|shall|will|would|has|have|had|on"
    r"|in|of|for|at|to|from|with|by|after|before|during|and|or|if|when|we|i|you|he|she|it|they|not"
    r"|go|goes|get|gets|cost|costs|last|lasts|take|takes|mean|means|end|ends|need|needs|expire"
    r"|expires|allowed|due|there|per|a|the|say|says|tell|tells|about|anything|work|works|cover"
    r"|covers|charge|charges|open|opens|close|closes|start|starts|begin|begins|come|comes)$",
    re.IGNORECASE,
)
"""Words that end a noun phrase."""
LONGEST_PHRASE = 4

_CHINESE_ONLY = re.compile(r"^(?:那么?|那|还有)?[，,\s]*(?P<new>[^，,？?呢]{1,20})呢[？?]?$")
_CHINESE_PRONOUN = re.compile(r"它们?|他们?|她们?|这个|那个(?=[是要有什多几怎在可能会何的])")
_CHINESE_TOPIC = re.compile(
    r"(?P<topic>[^，,？?]{2,12}?)(?=的|是|要|有|什么|多少|几|怎么|在|可以|能|会|何时|哪|为什么|多久)"
)


def standalone(text: str, earlier: Sequence[str]) -> str:
    """``text`` with what it leaves to the conversation put in.

    earlier: what the person said before, oldest first; commands among it are passed over.
    """
    questions = [said for said in earlier if _is_question(said)][-LOOKED_BACK:]
    before = ""
    for said in questions:
        before = _completed(said, before) if before else said
    return _completed(text, before) if before else text


def _completed(text: str, before: str) -> str:
    text = text.strip()
    if re.search("[\u4e00-\u9fff]", text):
        return _completed_chinese(text, before)
    opening = _OPENING.match(text)
    rest = text[opening.end() :] if opening else text
    topic = topic_of(before)
    if opening and not _ASKS.search(rest):
        return _exchanged(rest.rstrip("?!. "), before)
    if len(_content(rest)) > 1 or not topic:
        return text
    pronoun = _PRONOUN.search(rest)
    if pronoun:
        owner = topic if re.search(r"['’]s?$", topic) else f"{topic}'s"
        put = owner if pronoun["possessive"] else topic
        return _sentence(rest[: pronoun.start()] + put + rest[pronoun.end() :])
    if opening or not _content(rest):
        return _sentence(f"{rest.rstrip('?!. ')} for {topic}?")
    return text


def topic_of(question: str) -> str:
    """What a question is about: its last noun phrase, "" where it has none."""
    return (_whole(_phrases(question), question) or [""])[-1]


def _phrases(question: str) -> list[str]:
    """Noun phrases: an article or owner with what follows, up to a verb or preposition."""
    found = []
    for match in _PHRASE.finditer(question):
        end, count = match.end(), 0
        while count < LONGEST_PHRASE and (word := _WORD.match(question, end)):
            if _STOP.match(word[0]):
                break
            count, stop = count + 1, word.end()
            end = stop + 1 if question[stop : stop + 1] == " " else stop
            if end == stop:
                break
        if count:
            found.append(question[match.start() : end].strip())
    return [one for one in found if not any(one != other and one in other for other in found)]


def _whole(phrases: Sequence[str], question: str) -> list[str]:
    """ "the rent" and "the flat" of "the rent of the flat" as one."""
    whole: list[str] = []
    for phrase in phrases:
        joined = f"{whole[-1]} of {phrase}" if whole else ""
        if joined and joined in question:
            whole[-1] = joined
        else:
            whole.append(phrase)
    return whole


def _exchanged(new: str, before: str) -> str:
    """``before`` asked of something else: the part that ``new`` stands for is replaced."""
    preposition = _PREPOSITION.match(new)
    if preposition:
        same = re.compile(rf"\b{preposition[0]}\s+(?:the |our |my |a )?[\w'’-]+", re.IGNORECASE)
        if matches := list(same.finditer(before)):
            last = matches[-1]
            return _sentence(before[: last.start()] + new + before[last.end() :])
        return _sentence(f"{before.rstrip('?!. ')} {new}?")
    owner = _OWNER.search(before)
    if owner and re.fullmatch(r"[A-Z][\w-]*(?:['’]s)?", new):
        whose = new if "'" in new or "’" in new else f"{new}'s"
        return _sentence(before[: owner.start()] + whose + before[owner.end() :])
    if phrases := _phrases(before):
        at = before.rindex(phrases[-1])
        return _sentence(before[:at] + new + before[at + len(phrases[-1]) :])
    return _sentence(f"{before.rstrip('?!. ')} {new}?")


def _completed_chinese(text: str, before: str) -> str:
    topic = _CHINESE_TOPIC.match(before)
    if topic is None:
        return text
    only = _CHINESE_ONLY.match(text)
    if only and not re.search("什么|多少|几|怎么|哪|谁|为什么", only["new"]):
        return only["new"] + before[topic.end() :]
    pronoun = _CHINESE_PRONOUN.search(text)
    if pronoun:
        said = re.sub(r"^(?:那么?|还有)[，,]?", "", text[: pronoun.start()])
        return said + topic["topic"] + text[pronoun.end() :]
    return text


def _is_question(text: str) -> bool:
    asks = re.match(rf"(?:{_OPENING.pattern})?(?:{_ASKS.pattern})", text.strip(), re.IGNORECASE)
    return text.rstrip().endswith(("?", "？")) or asks is not None


def _content(text: str) -> frozenset[str]:
    return keys(text) - COMMON - GENERIC


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:]
