"""Whether the grammar took an utterance for something that it is not: a question for the beginning
of a free text, a bare name for a command, something that shall stay as it is for a wish."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from hubd.assistant.decision import Decision
from hubd.assistant.for_later.timed import lacks_when
from hubd.assistant.understanding.announced import tells_when, waits
from hubd.assistant.understanding.appointments import is_none
from hubd.assistant.understanding.asides import without_meanwhile
from hubd.assistant.understanding.compose import UNCLEAR, VALUED, is_awning
from hubd.assistant.understanding.grammar import Match
from hubd.assistant.understanding.lexicon import Lexicon, lexicon
from hubd.assistant.understanding.mentions import Mentions
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.readings import ALARM, free_words, wonders
from hubd.assistant.understanding.requested import imperative
from hubd.assistant.understanding.titles import is_played
from hubd.assistant.understanding.words import Phrases
from hubd.home.model import Entity, Snapshot
from plugins.api import Tool
from plugins.calendar_words import names_one
from plugins.note_words import words_of
from plugins.numbers import digits
from plugins.when import parse
from plugins.whereabouts import PEOPLE, is_place

PRONOUN = re.compile(r"\bone\W*$", re.IGNORECASE)
UNIT = re.compile(
    r"percent|%|degree|minute|hour|second|timer|step|volume|bright|dim|colou?r|kelvin|"
    r"prozent|hell|dunkel|dimm|farb|百分|亮|暗|色",
    re.IGNORECASE,
)
ARTICLE = re.compile(r"\b(?:eine?[nmrs]?|une?|una)\b(?! (?:grad|prozent|°))", re.IGNORECASE)
"""What is "a" as well as "one"."""
SOUND = re.compile(
    r"laut|leis|\bton\b|musik|lied|radio|fernseh|\btv\b|box\b|player|volume|loud|quiet|sound|"
    r"music|song|speaker|telly|turn (?:it|that)|声|音|响|吵",
    re.IGNORECASE,
)
"""What speaks of how loud something is: "up" alone may be a blind's."""
SEARCH, VOLUME = "media.search", "media.change_volume"
STATE, TIMERS = "home.state", "timers.list"
STARTS = "timers.start"
LATER, REMINDER, ANNOUNCE = "routines.later", "reminders.add", "announce.say"
ELSEWHERE = re.compile(r"\b(?:on|in|at|auf|im|am|dans|sur|en)\b(?: [^\s]+){1,4}$")
PURPOSE = re.compile(
    r"[,，]\s*(?:免得|不然|省得|好让|我|"
    r"(?:dann|damit|weil|sonst|denn|because|cause|otherwise|so(?: that)?|then)\b(?= \w+ \w))",
    re.IGNORECASE,
)
"""What is no part of a title any more, but what it is good for: "…, dann schläft er besser"."""
NO_TITLE = re.compile(
    r"(?:bitte |doch |mal |noch )*(?:weiter\w*|lauter|leiser|los|ab|an|etwas|nochmal|noch mal)|"
    r"(?:(?:den|die|das|the|my|our) )?(?:geschirrspüler|(?:spül|wasch|kaffee)maschine|trockner|"
    r"(?:back|mikrowellen)?ofen|herd|mikrowelle|(?:saug|mäh)roboter|staubsauger|rasenmäher|"
    r"dishwasher|(?:washing|coffee) machine|washer|dryer|oven|cooker|hob|microwave|kettle|"
    r"vacuum|hoover|mower|heating|boiler)|(?:洗碗|洗衣|烘干|咖啡|扫地)机|烤箱|微波炉|"
    r"[上下前]一?(?:.歌?|[首曲]歌?|个)|(?:刚才|刚刚|[这那])[首个支段曲]?.{0,2}|.{0,2}[什哪谁].*|"
    r"[你您我他她]们?的?(?:[说讲唱弹]|解释|意见|想法|声音|话).*|听.*|完了?|[吧了]",
    re.IGNORECASE,
)
"""What is asked to go on or to start, and is nothing that is played: "Geschirrspüler starten"."""
TOLD = re.compile(
    r"\b(?:können|kann|sehen|sieht) (?:uns|mich|hier|man)\b|"
    r"\b(?!(?:ich|wir|du|wer|was)\b)\w+ (?:möchte|will|soll|darf) \w",
    re.IGNORECASE,
)
"""What is told, and no title."""
VALUE = re.compile(r"\d+(?:[.,]\d+)? ?(?:percent|prozent|%|degrees?|grad|kelvin|开尔文|百分)")
"""What no title has, but a wish that was taken for one."""
FIRST_WHERE = re.compile(r"^(?:on|in|at|auf|über|im|am)(?: [^\s]+){1,3}")
SET_TO = frozenset(tool for tool, _, _ in VALUED.values())
"""Tools that bring something to a value."""
LONGEST_TITLE = 8
"""Words of what somebody wants to hear, and that is named like something of the house."""
RINGING = frozenset(
    {"alarm", "timer", "reminder", "wecker", "erinnerung", *"闹钟计时器提醒", "für"}
)
"""Words for what rings and is no event; the last is what is left of „für morgen“."""
COVER_TOOLS = frozenset({"home.open", "home.close"})
_NOT_PLAYED = {
    "fr": re.compile(
        r"\b(?:minuteur|alarme|réveil|rappel|liste|chauffage|marche|degrés?|pour cent)\b",
        re.IGNORECASE,
    ),
    "es": re.compile(
        r"\b(?:temporizador|alarma|recordatorio|lista|calefacción|marcha|grados?|por ciento)\b",
        re.IGNORECASE,
    ),
}
"""What is put or launched in other ways than music is, where one verb says all of it."""
OF_WORDS = frozenset({SEARCH, "lists.add", "lists.remove", "lists.complete"})
"""Tools to which a title or an item is told: never a whole sentence."""
SWITCHES_ON = frozenset({"home.turn_on", "media.play"})
OF_ONE = frozenset({"lists.remove", "lists.complete", "timers.start"})
LISTED = OF_WORDS - {SEARCH}
THE_LIST = re.compile(r"\blist\b|liste\b|zettel\b|清单|单子", re.IGNORECASE)
ADDS, CREATES = "lists.add", "lists.create"
LIST_FIRST = re.compile(
    r"(?:(?:the|my|our) )?\w+ list (?!(?:add|put|we|want|needs?)\b)", re.IGNORECASE
)
"""A list that is named and not paused after, as by whom puts something on it."""
BOUGHT = re.compile(
    r"\b(?:list|buy|pick up|get)\b|"
    r"liste\b|zettel\b|\b(?:kauf|besorg|mitbring)|einkauf|清单|单子|买",
    re.IGNORECASE,
)
"""What says that something of the house is an item all the same."""
NO_PURCHASE = re.compile("买[家主卖方单账断通]")
"""What begins as buying does in Chinese: 买家 is who buys."""
STANDS_FOR = re.compile(
    r"(?:it|them|that|those|they|this|these|den|die|das|der|es|sie|ihn|刚才|刚刚|它们?|[这那]?个|我们?|[了吧呢啊呀嘛的]+)",
    re.IGNORECASE,
)
"""What stands for an item that was said elsewhere: "the honey, I've got that now"."""
TAKEN_UP = re.compile(
    r"\b(?:take|put|cross|tick|stick|add) (?:that|it|them|those)\b"
    r"|[，,](?:那?就|请|帮我)*把?(?:它们?|这个|那个|这些|那些)(?:也|都)*$",
    re.IGNORECASE,
)
"""What is no item any more, but what shall be done with it."""
UNLISTED = re.compile(
    r"(?:the |my |our |die |den |der |das |unsere? |meine? )?"
    r"(?:time|luck|energy|patience|ideas?|breath|money|options|words|signal|space|room|power|battery|"
    r"zeit|glück|energie|geduld|ideen?|geld|kraft|lust|strom|batterie|akku|platz|empfang|nerven|worte|"
    r"快|都|也|又|全|已经|早就|时间|耐心|力气|运气|办法|主意|钱|电|人|个人|信号|地方|空间)",
    re.IGNORECASE,
)
"""What runs out and is bought nowhere: "we're out of time"."""
TAKES_OFF = re.compile(
    r"(?:(?:please|can you|could you|and|bitte|du kannst) )*"
    r"(?:(?:tick|cross|check|strike|scratch|knock|take) (?:\w+ ){0,4}?(?:off?|from)\b|"
    r"(?:untick|remove|delete|clear|empty) |(?:lösche?|entferne?|hake?|streiche?) )|"
    r".*(?:[勾划删去拿]掉|打[个]?勾)",
    re.IGNORECASE,
)
"""What begins as taking something off a list does, and is no item of one."""
ASKS_WHY = re.compile(
    r"怎么|为什么|为啥|干嘛|\b(?:why|how come|warum|wieso|weshalb)\b", re.IGNORECASE
)
"""What asks, and is no item: 牙膏怎么又用完了."""
NO_NOTE = re.compile(
    r"(?:一下|下来|住|着|好|得|上)[吧啊哈了]?|(?:of )?(?:that|it|this)|das|es|(?:das )?bitte",
    re.IGNORECASE,
)
"""What is a part of 记一下, or stands for what was said before, and is nothing to be noted."""
OF_TWO = re.compile(
    r"\b(?:and|und) (?:the|an?|my|our|one|der|die|das|den|einen?|meinen?)\b|"
    r"(?:和|跟|以及|还有)[一那这]?个?$",
    re.IGNORECASE,
)
"""What is no name of a timer, but something else before it."""
AND = re.compile(r"\b(?:und|and)\b|然后|接着|并且|同时", re.IGNORECASE)
"""Between two commands, or two things."""
NOT_MEANT = re.compile(r"(?:not|nicht|kein\w*) \w|不是", re.IGNORECASE)
"""What is said of a thing that shall stay on a list."""
TWO_CLOCKS = re.compile("点.*[，,].*点")
AND_MORE = re.compile(
    r"(?:^|\s)(?:and|und)\s+(?!not\b|nicht\b|keine)\w+ \w|[,，]?(?:然后|再|并且|还有)\w{2}",
    re.IGNORECASE,
)
"""What comes behind the time of an alarm and is a command of its own."""
ANOTHER = re.compile("[叫喊](?:我|我们|醒)|起床|提醒")
"""What is no part of a time, but a command before it."""
OF_ONE_THAT_IS = re.compile("取消|[关删停改调挪移没]|推迟|提前|不|别")
"""What is said of an alarm that there is, or is none: 取消七点的闹钟, 不要取消闹钟 set none."""
CLOCK = re.compile("[0-9一二三四五六七八九十两]点(?!心|菜|餐|儿)")
MAY = re.compile(
    r"(?:müssten?|sollten?|könnten?|würden?|dürften?|muss|müssen|soll|sollen|kann|können|could|"
    r"should|would|needs?|has|must)\b|[的着]|还是",
    re.IGNORECASE,
)
"""What no event's name begins with, but a wish about one."""
COMMA = re.compile("[,，]")
NO_ITEM = re.compile(r"(?:and |und )?(?:what(?:'s| is| are)?|which|was(?: ist| steht)?|welche)$")
"""What asks for a list, and is nothing on it."""
OF_EVENTS = frozenset({"calendar.move", "calendar.remove"})
NO_LIST_NAME = re.compile(r"(?:und|and|dann|then|damit)\b|[一个张份新的]+$", re.IGNORECASE)
"""How something else begins that shall be done, and is no name."""
WONDERED_AT = re.compile("怎么|咋|为什么|为啥|是不是|谁")
"""What is no part of an item: 沐浴露怎么又用完了 wonders at it."""
NO_NAME = re.compile(
    r"\b(?:it|but|about to|needs?|is|are|stelle?|mache?|turn|set|change)\b|\b(?:timer|alarm)'s\b",
    re.IGNORECASE,
)
"""What no timer is called, but is said of one."""
CLAUSE = re.compile(r"[,，]\s*(?:(?:and|und|et|y)\s|然后|还有)?")


class House(NamedTuple):
    """What is known of the household."""

    snapshot: Snapshot
    phrases: Phrases
    mentions: Callable[[str, str], Mentions]
    """What a text in a language speaks of."""


def is_misread(
    match: Match, decision: Decision, tool: Tool, text: str, language: str, home: House
) -> bool:
    """Whether the grammar took a question for the beginning of a free text ("did I set a timer"
    is no timer of that name), "the office one" for the number, "guest room 19" for a
    brightness, "Markise aus" for closing it, or something that shall stay as it is."""
    known = lexicon(language)
    if tool.risk != "read" and _is_bare(match, decision, text, language, home):
        return True
    devices = "entities" in tool.parameters.get("properties", {})
    no_number = PRONOUN.search(text) or (devices and ARTICLE.search(text))
    if 1 in match.slots.values() and no_number and not UNIT.search(text):
        return True
    if tool.name == VOLUME and not match.slots.get("name") and not SOUND.search(text):
        return True  # "in Fenjas Zimmer bitte hoch"
    said = known.fixed(known.stripped(text))
    if match.here and devices and _is_elsewhere_named(match, said, home):
        return True
    if devices and tool.risk != "read" and (known.keeps(said) or known.keeps(text)):
        return True
    if tool.name == STATE and _is_of_no_place(match, decision, text, home):
        return True  # "is Ann allergic to nuts"
    if tool.name == ADDS and NO_ITEM.match(plain(str(match.slots.get("items", "")))):
        return True  # "and what's on the shopping list"
    if tool.name in OF_EVENTS and not names_one(str(match.slots.get("event", ""))):
        return True  # "move this appointment"
    if tool.name == CREATES and NO_LIST_NAME.match(str(match.slots.get("list_name", ""))):
        return True  # "leg eine Liste an und setz Milch drauf"
    if tool.name == ADDS and TAKES_OFF.match(plain(str(match.slots.get("items", "")))):
        return True  # "tick of the eggs on the shop in list"
    if tool.name == ADDS and WONDERED_AT.search(str(match.slots.get("items", ""))):
        return True
    name = str(match.slots.get("name", ""))
    if tool.name == STARTS and (
        NO_NAME.search(name) or (AND.search(text) and known.commands(name))
    ):
        return True  # "the timer's about to go off but it needs another two minutes"
    if tool.name == TIMERS and _is_of_the_house(str(match.slots.get("name", "")), home):
        return True  # 洗衣机好了没
    if tool.name == LATER and (
        _is_at_another_time(match, text, language)
        or tells_when(text, language)
        or _joins_another(match, known)
    ):
        return True  # "announce that dinner's in ten minutes" is said now
    if tool.name == ANNOUNCE and waits(str(match.slots.get("message", "")), language):
        return True  # "tell everyone in ten minutes that supper is ready"
    query = str(match.slots.get("search_query") or match.slots.get("query", ""))
    if len(query.split()) > LONGEST_TITLE and home.mentions(query, language).names:
        return True  # "schick den Rasenmäher zurück, die Kinder möchten auf dem Rasen spielen"
    if tool.name == SEARCH and language in _NOT_PLAYED and _is_put_on(query, language, home):
        return True  # "mets un minuteur de dix minutes", "pon en marcha la aspiradora"
    if tool.name == SEARCH and (TOLD.search(query) or VALUE.search(digits(plain(query), language))):
        return (
            True  # "die Nachbarn können uns auf den Teller schauen", "die Lampe auf 40 Prozent …"
        )
    if match.intent == SEARCH and language == "en" and match.free:
        if not is_played(query, plain(text)) or home.mentions(query, language).names:
            return True  # "put your shoes on", "let's have Movie Night"
        said = query  # "can I hear some Nina Simone" asks nothing
    tired = known.negates(query) and not known.commands(known.stripped(text))
    meanwhile = without_meanwhile(query, language) != query  # "jazz while we cook"
    reason = meanwhile or PURPOSE.search(query) or NO_TITLE.fullmatch(query)
    if tool.name == SEARCH and (tired or reason or _is_elsewhere(query, language, home)):
        return True  # "das Lied kann ich nicht mehr hören"; but "play Don't Stop Me Now"
    if tool.risk != "read" and devices and wonders(text, language):
        return True
    if tool.name == ADDS and NO_PURCHASE.search(text) and not THE_LIST.search(text):
        return True
    if tool.name == ADDS and LIST_FIRST.match(text):
        return True  # "shopping list please"; but "shopping list: milk"
    if tool.name == "notes.add" and NO_NOTE.fullmatch(str(match.slots.get("text", ""))):
        return True
    items = [str(match.slots.get(slot, "")) for slot in ("item", "items")]
    if tool.name in LISTED and any(THE_LIST.search(item) for item in items):
        return True  # 买菜清单家豆腐: the list is no item of itself
    if tool.name in LISTED and any(
        STANDS_FOR.fullmatch(item) or TAKEN_UP.search(item) for item in items
    ):
        return True
    joined = [one for item in items if AND.search(item) for one in AND.split(item)]
    if tool.name in LISTED and any(map(ASKS_WHY.search, items)):
        return True
    if tool.name in LISTED and any(map(NOT_MEANT.match, items)):
        return True  # "lösch die Milch, nicht die Hafermilch, von der Liste"
    if tool.name in LISTED and any(_commands_here(one, language, home) for one in joined):
        return True  # "mach das Licht an und streich die Butter von der Liste"
    if tool.name in (SEARCH, "timers.start") and _goes_on(free_text(match), language, home):
        return True  # "play jazz and turn the volume to 30", "add milk to the list and set a timer"
    if tool.name in OF_ONE and any(item and not known.stripped(item) for item in items):
        return True  # "den kannste abhaken"
    lacking = tool.name == ADDS and not BOUGHT.search(text)
    if lacking and any(_is_here(one, home) or UNLISTED.fullmatch(one) for one in items):
        return True  # "das Licht ist aus", "we're out of time"
    named = str(match.slots.get("name") or match.slots.get("timer") or "")
    if tool.name.startswith("timers.") and (OF_TWO.search(named) or COMMA.search(named)):
        return True  # "set an alarm for 7 and a timer for 10 minutes", „die sind gut, kannst den“
    if tool.name == "calendar.next" and is_none(str(match.slots.get("event", "")), language):
        return True  # 日历上今天是几号
    if tool.name.startswith("calendar.") and _rings(match, language):
        return True  # "move tomorrow's alarm to seven" is no event
    if tool.name == REMINDER and _has_a_clock_in_it(match, language):
        return True  # 提醒我晚尚九点吃药
    if tool.name == "calendar.add" and MAY.match(str(match.slots.get("title", ""))):
        return True  # "im Kalender müsste der Zahnarzt auf Donnerstag rücken"
    if tool.name == REMINDER and ANOTHER.search(str(match.slots.get("when", ""))):
        return True  # 七点叫我起床，八点提醒我打电话
    *before, _ = COMMA.split(str(match.slots.get("when", "")))
    if tool.name in (REMINDER, ALARM) and any(_is_worked(one, language, home) for one in before):
        return True  # 空调调到二十六度，七点提醒我吃药
    if tool.name == REMINDER and _is_called_by_another(match, text, language):
        return True
    if tool.name == ALARM and OF_ONE_THAT_IS.search(str(match.slots.get("when", ""))):
        return True
    if tool.name == ALARM and TWO_CLOCKS.search(str(match.slots.get("when", ""))):
        return True  # 明早得赶七点的高铁，六点一定得起来
    if tool.name == ALARM and AND_MORE.search(str(match.slots.get("when", ""))):
        return True  # "wake me at seven and remind me at eight to call mum"
    if tool.name in OF_ONE and any(_is_cut(one, text) for one in free_words(match)):
        return True  # "I got the bread, so tick it off the list"
    clauses = [known.stripped(clause) for clause in CLAUSE.split(free_text(match))]
    if tool.name in LISTED and any(map(known.inquires_first, clauses)):
        return True  # "turn on the lamp, and what's on the list"
    if tool.name in COVER_TOOLS and is_awning(_entities(decision, home.snapshot)):
        return known.actions_in(said) <= UNCLEAR
    if tool.name in SET_TO and known.is_difference(
        digits(plain(said), language), known.actions_in(said)
    ):
        return True  # "increase the light by 20 percent" is not to 20
    if tool.name == "lights.set" and not UNIT.search(text) and match.slots.get("area"):
        spoken = home.mentions(text, language)
        return bool(spoken.numbers) and not spoken.nouns and not spoken.names
    asked = known.stripped(imperative(text, language) or text)
    asked = said if tool.name == SEARCH else asked
    return match.free and tool.risk != "read" and known.inquires_first(asked)


def _commands_here(text: str, language: str, home: House) -> bool:
    """Whether ``text`` is a command about something of the house."""
    said = home.mentions(text, language)
    named = said.names or said.nouns
    return bool(named) and lexicon(language).commands(lexicon(language).stripped(text))


def _is_worked(text: str, language: str, home: House) -> bool:
    """Whether ``text`` says what something of the house shall do."""
    said = home.mentions(text, language)
    return bool((said.names or said.nouns) and (said.actions or said.numbers))


def _goes_on(text: str, language: str, home: House) -> bool:
    """Whether a title or a name goes on into another command."""
    known = lexicon(language)
    for piece in AND.split(text)[1:]:
        said = home.mentions(piece, language)
        begun = known.commands(known.stripped(piece))
        if begun and (said.actions or said.names or said.nouns or said.numbers or said.is_bare):
            return True
    return False


def _has_a_clock_in_it(match: Match, language: str) -> bool:
    """Whether what somebody shall be reminded of says a time that is none, and nothing else does:
    that was misheard."""
    what = str(match.slots.get("what", ""))
    if match.slots.get("when") or not CLOCK.search(what):
        return False
    told = parse(what, language, datetime.now(UTC))
    return not (told.at or told.on or told.delay or told.repeat)


def _rings(match: Match, language: str) -> bool:
    """Whether the event that is named is an alarm, a timer or a reminder and nothing else: "the
    alarm service" is one."""
    event = parse(str(match.slots.get("event", "")), language, datetime.now(UTC)).rest
    return bool(words := words_of(event)) and words <= RINGING


def _is_called_by_another(match: Match, text: str, language: str) -> bool:
    """Whether it is told who calls, and not when: 妈妈叫我去吃饭."""
    when = str(match.slots.get("when", ""))
    if language != "zh" or not when or "提醒" in text:
        return False
    return not parse(when, language, datetime.now(UTC)).said


def _joins_another(match: Match, known: Lexicon) -> bool:
    """Whether what is to be done later holds a question or a command of its own: "turn off the
    radio in ten minutes, and is the door locked?"."""
    said = str(match.slots.get("conversation_command") or match.slots.get("command", ""))
    return any(
        known.inquires_first(known.stripped(part))
        for part in re.split(r",? (?:and|und) ", said)[1:]
    )


def _is_of_the_house(name: str, home: House) -> bool:
    """Whether a timer's name is that of a thing: how that is, is asked."""
    known = (n for e in home.snapshot.entities for n in (e.name, *e.aliases))
    return bool(name) and plain(name) in map(plain, known)


def _is_of_no_place(match: Match, decision: Decision, text: str, home: House) -> bool:
    """Whether what is asked of people is not where they are."""
    people = _entities(decision, home.snapshot)
    state = str(match.slots.get("state", ""))
    if people and COMMA.search(state):
        return True  # 外婆在打瞌睡，请把音乐关小
    asks_who = str(match.slots.get("domain")) in PEOPLE  # "who is the president", of nobody here
    if not state or not (people or asks_who) or any(one.domain not in PEOPLE for one in people):
        return False
    known = {one.state for one in home.snapshot.entities if one.domain in PEOPLE}
    zones = {one.name for one in home.snapshot.entities if one.domain == "zone"}
    before, found, _ = plain(text).rpartition(plain(state))
    return bool(found) and not is_place(state, before, known | zones)


_LASTS = re.compile(r"\b(?:minutes?|hours?|minuten?|stunden?)\b|分钟|小时|钟头", re.IGNORECASE)
"""What says how long."""


def _is_at_another_time(match: Match, text: str, language: str) -> bool:
    """Whether the time is not when it shall be done, but stands in why it shall: "turn it down,
    I've got a call in five minutes"; or another is said behind it: "in ten minutes, well, a quarter
    of an hour, turn it off"."""
    command, known = str(match.slots.get("conversation_command", "")), lexicon(language)
    clauses, said = CLAUSE.split(command), known.stripped(command)
    time_ends_it = not plain(text).endswith(plain(command))
    of_a_reason = time_ends_it and len(clauses) > 1 and known.remarks(clauses[-1])
    ends_message = time_ends_it and lacks_when(command)
    return (
        of_a_reason
        or ends_message
        or (not known.commands(said) and _LASTS.search(said) is not None)
    )


def _is_bare(match: Match, decision: Decision, text: str, language: str, home: House) -> bool:
    """Whether nothing is said but the name of a thing that may be on or off, or a number:
    "landing light", "zwanzig"."""
    if tuple(match.slots) == ("name",) and decision.tool in SWITCHES_ON:
        asked = lexicon(language).stripped(text) != plain(text)  # "fairy lights please"
        return not asked and home.mentions(text, language).is_bare
    return len(match.slots) == 1 and digits(plain(text), language).isdigit()


def _is_cut(words: str, text: str) -> bool:
    """Whether a comma is between the words where they are said: hassil leaves it out. What is
    joined by "and" is whole."""
    said = plain(text)
    if any(plain(COMMA.sub(joint, words)) in said for joint in (" und ", " and ")):
        return False
    return bool(COMMA.search(words)) or plain(words) not in said


def _is_here(item: str, home: House) -> bool:
    """Whether ``item`` is called as a thing of the house is, or as a kind of thing."""
    return any(tag.kind in ("entity", "noun") for tag in home.phrases.get(plain(item), ()))


def _is_elsewhere_named(match: Match, text: str, home: House) -> bool:
    """Whether "in our room" is a room of that name, and not the one where it was said."""
    rooms = {plain(name) for area in home.snapshot.areas for name in called(area)}
    named = [p for p in home.phrases if p in rooms and " " in p and p in plain(text)]
    return bool(named) and "area" not in match.slots and "name" not in match.slots


def _is_elsewhere(query: str, language: str, home: House) -> bool:
    """Whether what shall be searched for ends with where it shall be played, on no player here, or
    begins with it: "jazz on the bedroom speaker", "something in the dining room" are no titles."""
    for place in (ELSEWHERE, FIRST_WHERE):
        if at := place.search(plain(query)):
            spoken = home.mentions(at[0], language)
            a_place = spoken.areas or spoken.names or spoken.rooms_not_here
            if a_place or "media_player" in spoken.nouns:
                return True
    return False


def _entities(decision: Decision, snapshot: Snapshot) -> list[Entity]:
    wanted = set(decision.entities)
    return [entity for entity in snapshot.entities if entity.id in wanted]


def free_text(match: Match) -> str:
    """The texts that were understood, as one."""
    return " ".join(free_words(match))


def _is_put_on(query: str, language: str, home: House) -> bool:
    """Whether it is a timer, or a kind of thing that plays nothing."""
    nouns = home.mentions(query, language).nouns - {"media_player"}
    return bool(nouns) or _NOT_PLAYED[language].search(query) is not None
