"""What a timer is for, where it is said of what is on the stove: "the eggs need six minutes", "nine
minutes, rigatoni", 十五分钟的计时，蒸鱼用的.
"""

import re
from typing import Any

import msgspec

from hubd.assistant.decision import Decision, is_open
from hubd.assistant.several import Part
from hubd.assistant.understanding.fill import TIMER
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import NEVER
from plugins.numbers import digits

MOST_NAMING = 3
"""Words of a timer's name."""
_CALLED = re.compile(
    r"^(?:called|named|call it|name it|for(?: the)?|namens|nenne? (?:ihn|den|es)|"
    r"für(?: den| die| das)?)\s|^(?:就?叫做?|名字叫)",
    re.IGNORECASE,
)
"""Before a name."""
_TIMER = re.compile(
    r"(?<=\w)-(?:timer|wecker)$|(?<=\w) (?:only|just|still|really|probably|nur|bloß|noch)$",
    re.IGNORECASE,
)
"""What a name does without."""
_JOINING = {"en": " and ", "de": " und "}
"""Between the words of a name that were taken for two commands."""
_NAMED = {
    "en": re.compile(
        r"^(?:right, |so, |okay, )?(?:the|these|those|my|our|this) "
        r"(?P<before>[a-z]+(?: (?!are\b|is\b|have\b|has\b)[a-z]+)?)"
        r"(?:(?:'s|'re) (?:just )?(?:in|on)|(?:'s|'ll|'ve)? (?:just )?"
        r"(?:needs?|wants?|takes?|have|has|must|should|gone?|will|are|is))\b|"
        r"\btimer,? for,? (?:(?:the|my|our),? )+(?P<named>(?!next|usual|same|other|rest)[a-z']+)\b|"
        r"\bfor,?(?: (?:uh|um|er|erm),?)? (?:(?:the|my|our|these|those),? )?"
        r"(?:(?:uh|um|er|erm),? )?(?:for )?(?:(?:the|my) )?"
        r"(?P<behind>[a-z']+(?: [a-z']+){0,2})[.!]?$|"
        r"\b(?:call|name|label) it,? (?:(?:uh|um|er),? )*(?:call it )?"
        r"(?P<called>[a-z']+(?: [a-z']+)?)[.!]?$|"
        r"^(?P<first>[a-z']+(?: [a-z']+)?), [\w-]+ (?:minutes?|hours?),? timer[.!]?$",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"^(?:[Dd]er|[Dd]ie|[Dd]as|[Mm]eine?|[Uu]nsere?) (?P<before>[A-ZÄÖÜ][\wäöüß-]+) "
        r"(?:brauch\w*|muss|müssen|soll|sollen|darf|dürfen|kommt|kommen|ist|sind|"
        r"kocht|kochen|backt|backen|köchel\w+|liegt|liegen|steht|stehen)\b|"
        r"\b(?:für|wegen)(?: den| die| das| dem| der)?,?(?: ähm?,?)? "
        r"(?P<behind>[A-ZÄÖÜ][\wäöüß-]+)[.!]?$|"
        r"\b(?:nenn|nenne|nennst) (?:ihn|den|es) (?P<called>[\wäöüß-]+)[.!]?$|"
        r"\bfür (?:den|die|das) (?P<first>[A-ZÄÖÜ][\wäöüß-]+) (?:[\wäöüß-]+ )?"
        r"(?:\w*[Ss]tunden?|Minuten?)\b"
    ),
    "zh": re.compile(
        "^(?:锅里|灶上|炉子上|炉上|火上|烤箱里)(?:正|还|在)*(?P<pot>(?:煮|蒸|烤|炖|焖|煲|熬)着?"
        "(?!了)[\u4e00-\u9fff]{1,4}?)[呢呐]?[，,]|"
        "^(?:我这|我的|这个?|锅里的)?(?P<before>[\u4e00-\u9fff]{1,4}?)(?:还?得|还?要|再|就|已经)*"
        "(?:煮|蒸|烤|炖|泡|敷|焖)|"
        "^(?P<told>[\u4e00-\u9fff]{1,4}?)(?:已经|刚刚?|都)*(?:下锅|进锅|入锅|上锅|上笼|下水|进烤箱|入烤箱|放进烤箱)了|"
        "[，,]\\s*(?:那个[，,])?(?P<behind>[\u4e00-\u9fff]{2,5}?)(?:用)?的(?:[，,](?:计时|倒计时))?[。！]?$|"
        "^(?:请|麻烦)?(?:你|您)?(?:帮我)?给(?P<first>[\u4e00-\u9fff]{1,5}?)(?:定|设|开|来|弄|计)(?:个|一个|上)?|"
        "^(?P<called>[\u4e00-\u9fff]{2,5}?)(?:[，,]\\s*(?:[^，,]{1,6}(?:分钟|小时|钟头)的?(?:倒计时|计时)|"
        "(?:倒计时|计时|定时)[^，,]{1,6}(?:分钟|小时|钟头))|"
        "(?:倒计时|计时)[，,]?\\s*[^，,]{1,6}(?:分钟|小时|钟头))[。！]?$|"
        "[，,](?:名字)?叫(?:做|它)?(?P<named>[\u4e00-\u9fff]{2,5})[。！]?$"
    ),
}
"""What a timer is for, before or behind its time."""
_GOING_ON = re.compile("(?<=[煮蒸烤炖焖煲熬])着")
"""What says that it is on the stove now, and is no part of a name."""
_NO_NAME = re.compile(
    r"\b(?:minutes?|hours?|seconds?|timer|alarm|it|this|that|me|us|now|oven|bath|Minuten?|Stunden?|"
    r"Wecker|Timer|Ofen|Uhr|Zeit)\b|[分秒点]钟?|小时|计时|定时|提醒|我|你",
    re.IGNORECASE,
)
"""What a timer is never for."""
POINTING = re.compile(
    r"(?:it|they|that|those|these|this|them|der|die|das|sie|es|er|ihn|den|diese[rs]?)(?!\w)|"
    r"[它这那](?:个|些|们)?",
    re.IGNORECASE,
)
"""What only points at what was named before."""
_NUMBER = re.compile(r"[\d., ]+")
_CALLS = re.compile(
    r"(?:(?:and|then|und|dann),? )*(?:(?:let|tell|give|call|shout|remind) me\b.{0,20}|"
    r"(?:sag|gib|sagst|gibst|ruf|meld)\w* (?:du )?(?:mir|mich|dich)\b.{0,24})|"
    r"(?:到时间|到点|到时候|时间到|好了)了?(?:就|再)?(?:喊|叫|提醒|告诉|通知)我?(?:一声|一下)?",
    re.IGNORECASE,
)
"""What a timer does anyway: "…, and let me know", „…, sag mir dann Bescheid“."""


def timer_named(decision: Decision, text: str) -> Decision:
    """The decision to start a timer with the name that is said of it, if it has none."""
    call = decision.call
    if call is None or call.tool != TIMER:
        return decision
    given = str(call.arguments.get("name") or "")
    if (name := given) and not POINTING.fullmatch(name):
        bare = _CALLED.sub("", _TIMER.sub("", name))
        return _with_name(decision, bare) if bare != name else decision
    if given:
        decision = _with_name(decision, "")
    found = _NAMED.get(decision.language, NEVER).search(text.strip())
    name = next(filter(None, found.groupdict().values()), "") if found else ""
    if not name or _NO_NAME.search(name) or lexicon(decision.language).commands(name):
        return decision
    if _NUMBER.fullmatch(digits(name.casefold(), decision.language)):
        return decision  # "set it for twelve"
    return _with_name(decision, _GOING_ON.sub("", name))


def with_timer_alone(parts: list[Part]) -> list[Part]:
    """The parts, or the timer alone where the rest says that it shall be heard."""
    timer, *rest = parts
    if not rest or timer.decision.tool != TIMER or not all(is_open(p.decision) for p in rest):
        return parts
    said = " ".join(part.text.strip(" .!。！") for part in rest)
    return [timer] if _CALLS.fullmatch(said) else parts


def with_timer_named(parts: list[Part]) -> list[Part]:
    """The parts, or the timer alone where what stands behind it is only its name: "nine minutes,
    rigatoni", "ten minutes, mac and cheese"."""
    timer, *rest = parts
    call = timer.decision.call
    if not rest or call is None or call.tool != TIMER or call.arguments.get("name"):
        return parts
    if not all(is_open(part.decision) for part in rest):
        return parts
    known = lexicon(timer.decision.language)
    name = _JOINING.get(known.language, "").join(part.text.strip(" .!。！") for part in rest)
    name = _CALLED.sub("", name)
    if len(name.split()) > MOST_NAMING or _NO_NAME.search(name):
        return parts
    if known.commands(name) or known.is_clause(name) or known.asks(name):
        return parts
    return [Part(text=f"{timer.text}, {name}", decision=_with_name(timer.decision, name))]


def with_what_is_on(parts: list[Part]) -> list[Part]:
    """The parts, or the timer alone where what stands before it only tells what it is for: "the
    potatoes are on, they need twenty minutes"."""
    *before, timer = parts
    if len(before) != 1 or timer.decision.tool != TIMER or not is_open(before[0].decision):
        return parts
    pointing = POINTING.match(timer.text)
    whole = f"{before[0].text}, {timer.text}"
    named = timer_named(_with_name(timer.decision, ""), whole)
    if pointing is None or named.call is None or not named.call.arguments.get("name"):
        return parts
    return [Part(text=whole, decision=named)]


def _with_name(decision: Decision, name: str) -> Decision:
    """The decision with that name; without one where it is empty."""

    def changed(arguments: dict[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in arguments.items() if key != "name"}
        return {**kept, "name": name} if name else kept

    arguments, call = changed(decision.arguments), decision.call
    if call is not None:
        call = msgspec.structs.replace(call, arguments=changed(call.arguments))
    return msgspec.structs.replace(decision, call=call, arguments=arguments)
