"""Questions that lean on the one before: "and when does it end?", "and the oven?", "how long?".

They are made to stand alone, so that documents are searched for what is meant. By rules, in
English, German and Chinese, with the words of ``query_rewriting.yaml``; a question that stands
alone, or that no rule fits, is left as it is.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import yaml

from rag.language import FUNCTION_WORDS
from rag.lexical import keys
from rag.question import COMMON, GENERIC

LOOKED_BACK = 4
"""Earlier questions that are looked at; each may lean on the one before it."""
LONGEST_PHRASE = 4
MOST_WORDS = 10
MOST_CONTENT = 2
"""Words of a question that may lean on the one before without saying so, and of these such as name
something."""
SHORT_CHINESE = 10

_FILE = Path(__file__).with_suffix(".yaml")
_WORD = re.compile(r"[\w'’-]+")
_HAN = re.compile("[\u4e00-\u9fff]")
_OWNER = re.compile(r"\b[A-Z][\w-]*['’]s\b")
_NAME = re.compile(r"\b[A-Z][a-z]{2,}\w*(?:['’]s)?(?: [A-Z][a-z]+)*")
_CODE = re.compile(r"\b[A-Za-z]{1,3}-?\d{1,4}\b", re.ASCII)
_CHINESE_ONLY = re.compile(r"^(?:那么?|那|还有|另外)?[，,\s]*(?P<new>[^，,？?呢]{1,20})呢[？?]?$")
_CHINESE_PRONOUN = re.compile(r"它们?|他们?|她们?|这个|那个(?=[是要有什多几怎在可能会何的])")
_CHINESE_TOPIC = re.compile(
    r"(?P<topic>[^，,？?]{2,12}?)(?=的|是|要|有|什么|多少|几|怎么|在|可以|能|会|何时|哪|为什么|多久)"
)
_CHINESE_ASKS = re.compile("什么|多少|几|怎么|哪|谁|为什么|多久|多大|多长|吗")
_CHINESE_BARE = re.compile(
    r"(?:一共|大概|总共|要|得|需要|花了?|付了?|用|到|从|打|给|在|该|是|每次)*"
    r"(?:多少钱?|多久|多长时间|什么时候|几点|几个|几次|几天|哪里|哪儿|哪天|谁|怎么办?|为什么|为啥)"
    r"(?:一次|开始|结束|回来|打电话|呢|啊|呀|了|的)*[？?。]?"
    r"|(?:电话|号码|地址|价格|费用|名字|时间|地点)+(?:是|在|要)?(?:多少|什么|哪里|哪儿|几点)(?:呢|啊)?[？?。]?"
)
"""A question that names nothing: 花了多少钱？"""

Leans = Literal["no", "maybe", "surely"]


class Asked(NamedTuple):
    """A question as it was said, and what it means after the one before."""

    said: str
    """Without the "and" that it began with; what names nothing ("how long?") as ``whole``."""
    whole: str
    """What stands alone: what it left to the conversation is put in."""
    leans: Leans
    """Whether it goes on with what was asked before: ``maybe`` where it is so short that it may."""


WHOLE = frozenset({"opening", "bare", "leading", "participle"})
"""What is no whole word, or several."""


class _Words(NamedTuple):
    """The words of a language, compiled; what they are is said in the file."""

    language: str
    owned: dict[str, str]
    opening: re.Pattern[str]
    asks: re.Pattern[str]
    bare: re.Pattern[str]
    leading: re.Pattern[str]
    verb: re.Pattern[str]
    behind: re.Pattern[str]
    contracted: re.Pattern[str]
    person: re.Pattern[str]
    possessive: re.Pattern[str]
    pronoun: re.Pattern[str]
    event: re.Pattern[str]
    nothing: re.Pattern[str]
    preposition: re.Pattern[str]
    determiner: re.Pattern[str]
    stop: re.Pattern[str]
    measure: re.Pattern[str]
    one: re.Pattern[str]
    condition: re.Pattern[str]
    who: re.Pattern[str]
    is_who: re.Pattern[str]
    why_not: re.Pattern[str]
    subject: re.Pattern[str]
    participle: re.Pattern[str]


def asked(text: str, earlier: Sequence[str], named: str = "") -> Asked:
    """What ``text`` asks after what was asked before.

    earlier: the questions before it, oldest first; each may lean on the one before
    named: a person of whom the last answer told
    """
    before = ""
    for said in earlier[-LOOKED_BACK:]:
        before = _after(said, before, "").whole if before else said
    return _after(text, before, named) if before else Asked(text, text, "no")


def questions_in(said: Sequence[str]) -> list[str]:
    """What of ``said`` is a question: of a conversation in which commands were given as well."""
    return [one for one in said if _is_question(one)]


def topic_of(question: str) -> str:
    """What a question is about: its last noun phrase, "" where it has none."""
    words = _words(_language(question))
    phrases = [question[start:end] for start, end in _phrases(question, words)]
    topic = (_whole(phrases, question, words) or [""])[-1]
    article = words.determiner.match(topic)
    begins_so = article is not None and not re.search("['’]", article[0])
    return topic[:1].lower() + topic[1:] if begins_so else topic


def gist(question: str) -> str:
    """The words of a question that say what it is about, in their order."""
    if _HAN.search(question):
        return question.rstrip("?？。！! ")
    language = _language(question)
    told = [word for word in _WORD.findall(question) if _content(word, language)]
    return " ".join(told)


def _after(text: str, before: str, named: str) -> Asked:
    text = text.strip()
    if _HAN.search(text):
        there = _HAN.search(before)
        return _chinese_after(text, before) if there else Asked(text, text, "no")
    words = _words(_language(text, before))
    opening = words.opening.match(text)
    rest = text[opening.end() :] if opening else text
    plain, count = rest.rstrip("?!. "), len(_WORD.findall(rest))
    content, asks = _content(rest, words.language), words.asks.search(rest)
    if words.bare.fullmatch(plain):
        whole = _asked_otherwise(plain, before, words)
        return Asked(whole, whole, "surely")
    if (other := _with_another_code(rest, before)) and len(content) == 1:
        return Asked(rest, other, "surely")
    asks_of_another = opening is not None or (rest.endswith("?") and count <= LONGEST_PHRASE)
    is_thing = content and not asks and not words.condition.match(rest)
    if asks_of_another and (is_thing or plain.casefold() in words.owned):
        return Asked(rest, _exchanged(plain, before, words), "surely")
    if len(content) <= MOST_CONTENT and (put := _pronoun_filled(rest, before, named, words)):
        return Asked(rest, put, "surely")
    if not content or (opening and len(content) == 1):
        return Asked(rest, _sentence(f"{plain}, {gist(before)}?"), "surely")
    if count <= MOST_WORDS and (opening or len(content) <= MOST_CONTENT):
        return Asked(rest, _sentence(rest) if opening else text, "maybe")
    return Asked(text, text, "no")


def _pronoun_filled(rest: str, before: str, named: str, words: _Words) -> str:
    """``rest`` with what its pronoun stands for; "" where it has none."""
    hollow = words.nothing.search(rest)
    found = next(
        (
            one
            for one in words.pronoun.finditer(rest)
            if hollow is None or not hollow.start() <= one.start() < hollow.end()
        ),
        None,
    ) or words.possessive.search(rest)
    if found is None:
        return ""
    # "That" is what was told of, where nothing was asked: the oven shows DEMO, and not the oven.
    is_told = words.asks.search(before) is None and words.event.fullmatch(found[0])
    topic = "" if is_told else topic_of(before)
    of_whom = words.who.match(before) is not None
    if of_whom or words.person.fullmatch(found[0]):
        topic = _person_in(before, words) or named or (topic if words.is_who.match(before) else "")
    if not topic:
        return _sentence(f"{rest.rstrip('?!. ')}, {gist(before)}?")
    if words.language != "en":
        return _sentence(f"{rest.rstrip('?!. ')}, {topic}?")
    owner = words.possessive.match(rest, found.start())
    put = topic if owner is None or re.search(r"['’]s?$", topic) else f"{topic}'s"
    end = owner.end() if owner else found.end()
    return _sentence(rest[: found.start()] + put + rest[end:])


def _person_in(question: str, words: _Words) -> str:
    """The person or animal that a question is about; "" where that is nobody by name."""
    for found in _NAME.finditer(question):
        if found.start() > 0 and not words.asks.fullmatch(found[0]):
            return re.sub(r"['’]s$", "", found[0])
    return ""


def _asked_otherwise(how: str, before: str, words: _Words) -> str:
    """The question before, asked for another thing: "until when", "how often", "why not"."""
    leading = words.leading.match(before)
    behind = before[leading.end() :].strip() if leading else before
    behind = re.sub(r"^['’]s\b", "is", behind)
    if leading and words.behind.match(behind):
        return _sentence(f"{how} {behind}")
    if words.verb.match(before):
        begun = f"{before[:1].lower()}{before[1:]}"
        without, subject = words.why_not.fullmatch(how), words.subject.match(begun)
        if without and subject:
            behind = begun[subject.end() :]
            return _sentence(f"{without['why']} {subject[0]} {without['no']}{behind}")
        return _sentence(f"{how} {begun}")
    return _sentence(f"{how}, {gist(words.measure.sub('', before))}?")


def _phrases(question: str, words: _Words) -> list[tuple[int, int]]:
    """Where its noun phrases are: a determiner with what follows, up to a verb or preposition;
    where there is none, what stands between such words."""
    found = []
    for match in words.determiner.finditer(question):
        if end := _phrase_end(question, match.end(), words):
            found.append((match.start(), end))
    alone = [one for one in found if not any(_is_within(one, other) for other in found)]
    if alone:
        return [_without_participle(question, *one, words) for one in alone]
    at, runs = 0, []
    while at < len(question) and (word := _WORD.search(question, at)):
        end = _phrase_end(question, word.start(), words)
        if end:
            runs.append((word.start(), end))
        at = max(end, word.end())
    return [_without_participle(question, *one, words) for one in runs]


def _without_participle(question: str, start: int, end: int, words: _Words) -> tuple[int, int]:
    """ "General rubbish" of "is general rubbish collected"."""
    last = question.rfind(" ", start, end)
    done = last > 0 and words.participle.fullmatch(question, last + 1, end)
    return (start, last) if done else (start, end)


def _phrase_end(question: str, start: int, words: _Words) -> int:
    """Where a phrase that begins at ``start`` ends; 0 where none begins."""
    end = stop = start
    for _ in range(LONGEST_PHRASE):
        word = _WORD.match(question, end)
        if word is None or words.stop.fullmatch(word[0]):
            break
        stop, end = word.end(), word.end()
        if question[end : end + 1] != " ":
            break
        end += 1
    return stop if stop > start else 0


def _is_within(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one != other and other[0] <= one[0] and one[1] <= other[1]


def _whole(phrases: Sequence[str], question: str, words: _Words) -> list[str]:
    """ "the rent" and "the flat" of "the rent of the flat" as one."""
    whole: list[str] = []
    for phrase in phrases:
        joined = f"{whole[-1]} of {phrase}" if whole else ""
        if joined and joined in question:
            whole[-1] = joined
        else:
            whole.append(phrase)
    return whole


def _exchanged(new: str, before: str, words: _Words) -> str:
    """``before`` asked of something else: the part that ``new`` stands for is replaced."""
    new = words.owned.get(new.casefold(), new)
    if preposition := words.preposition.match(new):
        return _with_another_place(new, preposition[0], before, words)
    owner = _OWNER.search(before)
    if owner and re.fullmatch(r"[A-Z][\w-]*(?:['’]s)?", new):
        whose = new if "'" in new or "’" in new else f"{new}'s"
        return _sentence(before[: owner.start()] + whose + before[owner.end() :])
    if not (phrases := _phrases(before, words)):
        return _sentence(f"{before.rstrip('?!. ')} {new}?")
    start, end = phrases[-1]
    old = before[start:end].split()
    if one := re.fullmatch(rf"(?:the )?(?P<kind>.+?) {words.one.pattern}", new):
        # "The quick one" of a programme is the quick programme.
        head = f" {old[-1]}" if len(old) > 2 and words.determiner.match(f"{old[0]} ") else ""
        new = f"the {one['kind']}{head}"
    return _sentence(before[:start] + new + before[end:])


def _with_another_code(rest: str, before: str) -> str:
    """``before`` with the code of ``rest`` in place of its own; "" where they have none."""
    old, new = _CODE.search(before), _CODE.search(rest)
    if old is None or new is None or old[0].casefold() == new[0].casefold():
        return ""
    return _sentence(before[: old.start()] + new[0] + before[old.end() :])


def _with_another_place(new: str, preposition: str, before: str, words: _Words) -> str:
    """``before`` with another "on the oven", "for us"."""
    article = rf"(?:{words.determiner.pattern})?"
    same = re.compile(rf"\b{preposition}\s+{article}[\w'’-]+", re.IGNORECASE)
    places = list(same.finditer(before)) or [
        found
        for found in re.finditer(rf"{words.preposition.pattern}\s+{article}[\w'’-]+", before)
        if (words.determiner.match(new[len(preposition) :].strip()) or words.contracted.match(new))
        and (words.determiner.search(found[0]) or words.contracted.match(found[0]))
    ]
    if not places:
        return _sentence(f"{before.rstrip('?!. ')} {new}?")
    last = places[-1]
    return _sentence(before[: last.start()] + new + before[last.end() :])


def _chinese_after(text: str, before: str) -> Asked:
    topic = _CHINESE_TOPIC.match(before)
    only = _CHINESE_ONLY.match(text)
    said = re.sub(r"^(?:那么?|还有|另外)[，,]?", "", text)
    if topic and only and not _CHINESE_ASKS.search(only["new"]):
        code = _CODE.search(before)
        if code and _CODE.fullmatch(only["new"]):
            other = before[: code.start()] + only["new"] + before[code.end() :]
            return Asked(only["new"], other, "surely")
        return Asked(only["new"], only["new"] + before[topic.end() :], "surely")
    pronoun = _CHINESE_PRONOUN.search(text)
    if topic and pronoun:
        put = re.sub(r"^(?:那么?|还有)[，,]?", "", text[: pronoun.start()])
        return Asked(said, put + topic["topic"] + text[pronoun.end() :], "surely")
    if len(said) <= SHORT_CHINESE and _CHINESE_ASKS.search(said):
        if _CHINESE_BARE.fullmatch(said):
            whole = f"{gist(before)}，{said}"
            return Asked(whole, whole, "surely")
        return Asked(said, text, "maybe")
    return Asked(text, text, "no")


def _is_question(text: str) -> bool:
    text = text.strip()
    words = _words(_language(text))
    opening = words.opening.match(text)
    asks = words.asks.match(text, opening.end() if opening else 0)
    return text.endswith(("?", "？")) or asks is not None


def _content(text: str, language: str = "en") -> frozenset[str]:
    """The words that name something."""
    if language == "en":
        return keys(text) - COMMON - GENERIC
    words, hollow = _words(language), FUNCTION_WORDS[language]
    told = (word for word in _WORD.findall(text) if word.casefold() not in hollow)
    return frozenset(word.casefold() for word in told if not words.stop.fullmatch(word))


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:]


def _language(*texts: str) -> str:
    """German where function words say so, else English."""
    said = [word.casefold() for text in texts for word in _WORD.findall(text)]
    counts = {tag: sum(word in FUNCTION_WORDS[tag] for word in said) for tag in ("en", "de")}
    return "de" if counts["de"] > counts["en"] else "en"


@cache
def _words(language: str) -> _Words:
    raw = yaml.safe_load(_FILE.read_text(encoding="utf-8"))[language]
    owned = raw.pop("owned")

    def compiled(name: str, pattern: str) -> re.Pattern[str]:
        behind = r"\s+" if name == "determiner" else ""
        front = "" if name in WHOLE else r"\b"
        end = "" if name in WHOLE else rf"\b{behind}"
        return re.compile(rf"{front}(?:{pattern}){end}", re.IGNORECASE)

    patterns = {name: compiled(name, pattern) for name, pattern in raw.items()}
    return _Words(language=language, owned=owned, **patterns)
