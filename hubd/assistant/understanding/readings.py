"""The forms of an utterance that the grammar is tried on, and which reading is the better."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from hubd.assistant.understanding.grammar import Match, as_matched
from hubd.assistant.understanding.indirect_questions import direct
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.requested import imperative
from plugins.api import ToolCall
from plugins.numbers import digits
from plugins.when import When, parse

KEPT = frozenset({"message", "text", "what"})
"""Slots whose words are those that were said."""
VERBATIM = ("message", "text", "title", "what")
"""Slots whose words are kept or said as they are."""
POLITE = frozenset({
    "please", "thanks", "thank", "you", "ok", "okay", "um", "uh", "er", "erm", "hmm", "bitte",
    "danke", "ähm", "äh", "öhm", "hm", "that", "dass", "also", "als", "notiz", "麻烦", "劳驾",
    "拜托", "麻烦你", "麻烦您",
})  # fmt: skip
"""Words that may be lost of them."""
"""Slots that are told on as they were said: "晚饭好了" is more than "晚饭"."""

EVENT = "calendar.add"
TIMED = frozenset({"alarms.set", "reminders.add"})
"""Tools that need a time, told in words."""
ALARM, TIMER = "alarms.set", "timers.start"
AT_SOMETHING = re.compile(
    r"\bat (?!(?:the|my|our|home|work|school|once|least|night|noon)\b)\w+ "
    r"(?:(?:this|in the) (?:morning|afternoon|evening)|tonight|tomorrow)\b"
    r"|\bum (?!(?:die|den|das|der|dem|ein\w*)\b)\w+ "
    r"(?:heute|morgen|abends|morgens|früh|nachmittags)\b",
    re.IGNORECASE,
)
"""A word where a time is said: "at ate this evening"."""
PAUSE = re.compile(r", |，|(?<=[\u4e00-\u9fff]),(?=[\u4e00-\u9fff])")
CLOCK = re.compile(r"\b(?:uhr|o'clock|[ap]\.?m)\b|点钟|[一二三四五六七八九十\d]点", re.IGNORECASE)

_HEADED = re.compile(r"^(?P<list>(?:购物|买菜|采购|待办)(?:清单|单子?))\s*[：:]\s*(?=.)")
"""A list that is named like a heading: 购物清单：土豆、青椒."""
_UNSTRESSED = re.compile(r"\b(?:eh|halt|doch|wohl) ")
"""What a question has as well: „Garagentor eh zu?“."""
_SURELY = re.compile(
    "^(?!.*[把将帮请]).{0,6}(?:门|闸)(?:都|应该|已经|早就|是)*[锁关](?:好|上)?了的?吧$"
)
"""What is believed of a door, and asked for: 大门锁了吧; 把大门锁了吧 is to be done."""
_OPENING = re.compile(
    "^请问(?=.)|^(?:请|麻烦|劳驾|拜托)?(?:你|您)?(?:帮我|帮忙|给我)?(?=[把将在跟给对往向用].)|"
    "^(?:麻烦|劳驾|拜托)(?:你|您)?[，,]?(?=通知|提醒|[每今明后下上半早晚中周\\d一二两三四五六七八九十])"
)
"""Politeness by itself: what is stripped loses the pauses between items as well."""


def forms(text: str, language: str) -> Iterator[tuple[str, bool]]:
    """The utterance as it was said, and without what says nothing; ``True`` beside a form that may
    be answered but not acted on."""
    known = lexicon(language)
    yield text, False
    seen = {as_matched(text)}
    first, *rest = PAUSE.split(text, maxsplit=1)
    if rest and not known.stripped(first):  # "Wart, schreib Mehl auf die Liste"
        seen.add(as_matched(rest[0]))
        yield rest[0], False
    if (listed := _HEADED.sub(r"\g<list>加", text)) != text:
        seen.add(as_matched(listed))
        yield listed, False
    asked_for = _OPENING.sub("", text)
    if asked_for and as_matched(asked_for) not in seen:
        seen.add(as_matched(asked_for))
        yield asked_for, False
    stripped = known.stripped(text)
    fixed = known.fixed(stripped)
    asked = known.wonders(fixed) or known.stays(fixed)  # of a place elsewhere a text may be
    for form in (stripped, fixed):
        if form and (matched := as_matched(form)) not in seen:
            seen.add(matched)
            yield form, asked
    commands = imperative(text, language)
    for form in (commands, known.fixed(known.stripped(commands))):
        if form and (matched := as_matched(form)) not in seen:
            seen.add(matched)
            yield form, asked
    if (question := direct(fixed, language)) and as_matched(question) not in seen:
        yield question, True


def asks_nothing(text: str, language: str) -> bool:
    """Whether nothing makes a question of ``text``: "all lights off upstairs" may be a command."""
    known = lexicon(language)
    said = known.fixed(known.stripped(text))
    return "?" not in text and "？" not in text and not known.inquires(said)


def wonders(text: str, language: str) -> bool:
    """Whether a question mark alone makes a question of ``text``: "gate shut?", but not "could you
    shut the gate?"; or it only sounds so."""
    known, said = lexicon(language), plain(text)
    if language == "zh" and _SURELY.search(said):
        return True
    if not text.rstrip().endswith(("?", "？")):
        return False
    return known.stripped(text) in (said, _UNSTRESSED.sub("", said)) and not known.commands(said)


def put_right(match: Match, before: Match | None, fixed: bool, language: str) -> bool:
    """Whether a reading is that of the same words with what was misheard put right, and the better
    for it: a time is another then. The words of a note stay those that were said."""
    if not fixed or before is None or before.intent != match.intent:
        return False
    if match.intent in TIMED and _time_in(match, language) == _time_in(before, language):
        return False
    shorter = len(free_words(match)) < len(free_words(before))
    return shorter or (match.intent in TIMED and len(free_words(match)) == len(free_words(before)))


def rewrites(match: Match, before: Match) -> bool:
    """Whether a reading of what was put right only has other words of a text that is kept or told
    on: what is "on the table" is not "at the table"."""
    same = match.intent == before.intent and len(free_words(match)) == len(free_words(before))
    return same and not KEPT.isdisjoint(match.slots)


def _time_in(match: Match, language: str) -> When:
    """The time that its free texts say."""
    said = str(match.slots.get("when") or match.slots.get("what") or "")
    return parse(said, language, datetime(2026, 1, 1, tzinfo=UTC))._replace(rest="")


def untimely(match: Match, language: str) -> bool:
    """Whether what was taken for the time of an alarm or a reminder is none, where one is said
    elsewhere: "uh remind me, at nine, …"; or whether a timer without a length is called by one."""
    if match.intent == TIMER and match.missing:
        name = digits(plain(str(match.slots.get("name", ""))), language)
        return any(character.isdigit() for character in name)
    when = match.slots.get("when")
    if not isinstance(when, str) or match.missing:
        return False
    told = parse(when, language, datetime.now(UTC))
    if match.intent == EVENT or told.said or _is_day(told):
        return False  # an event may take the whole day, and the hour of another is asked for
    what = digits(plain(f"{match.slots.get('what', '')} {when}"), language)
    return lexicon(language).times(what)


def at_no_time(call: ToolCall | None, language: str) -> bool:
    """Whether it shall be at a time that nobody understands: "wake me at ate",
    or at one of which a number is left over."""
    if call is None or call.tool not in TIMED:
        return False
    said = str(call.arguments.get("when") or call.arguments.get("what") or "")
    when = parse(said, language, datetime.now(UTC))
    tells_when = bool(call.arguments.get("when")) or CLOCK.search(said) is not None
    tells_when = tells_when or AT_SOMETHING.search(said) is not None
    if call.tool == ALARM and when.said and not when.whole:
        return True
    return tells_when and not when.said and not _is_day(when) and when.arrival is None


def _is_day(when: When) -> bool:
    """Whether it says on which days and nothing else: the tool asks at what time."""
    return bool(when.on or when.repeat) and not when.rest.strip(" ,.!?，。")


def free_words(match: Match) -> list[str]:
    """The words of the texts that were understood, names among them."""
    return [word for v in match.slots.values() if isinstance(v, str) for word in v.split()]


def _lost(before: object, after: object) -> set[str]:
    """The words of a free text that another reading of it has not."""
    return set(re.findall(r"\w+", str(before or "").casefold())) - set(
        re.findall(r"\w+", str(after or "").casefold())
    )


def politer(match: Match, before: Match) -> bool:
    """Whether a reading is the same one without a "please" that its text ended or, in Chinese,
    began with; "Please Please Me" is a title."""
    if match.intent != before.intent or match.slots.keys() != before.slots.keys():
        return False
    pairs = [(str(match.slots[k]), str(before.slots[k])) for k in match.slots]
    pairs = [(now.casefold(), said.casefold()) for now, said in pairs if now != said]
    return bool(pairs) and all(_only_politer(now, said) for now, said in pairs)


def _only_politer(now: str, said: str) -> bool:
    if said.startswith(now):
        more = said[len(now) :]
    elif said.endswith(now) and not now.isascii():
        more = said[: -len(now)]
    else:
        return False
    return set(re.findall(r"\w+", more)) <= POLITE


def thinks_aloud(whole: Match, match: Match, language: str) -> bool:
    """Whether a reading is ``match`` but for what somebody said to themselves: "bananas and, what
    was it, porridge oats"."""
    known, said = lexicon(language), " ".join(free_words(whole))
    return known.is_clause(said) and known.stripped(said) == plain(" ".join(free_words(match)))


def worn(match: Match, before: Match) -> bool:
    """Whether a reading for the same tool lost words from within its free text."""
    if any(_lost(before.slots.get(slot), match.slots.get(slot)) - POLITE for slot in VERBATIM):
        return True
    texts = (value for value in before.slots.values() if isinstance(value, str))
    whole = "\n".join(texts).casefold()
    return any(isinstance(v, str) and v.casefold() not in whole for v in match.slots.values())
