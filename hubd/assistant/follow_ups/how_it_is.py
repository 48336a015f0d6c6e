"""How the thing that was spoken of is: "is it still on?", „ist sie jetzt wirklich zu?“, 关好了吗.

What was asked about and not done was spoken of, too: "is it shut?" after a no to opening it. Only
tells, and does nothing.
"""

import re

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.set_for_a_time import continuing
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.whose import is_room_of
from hubd.home.model import Snapshot
from plugins.api import ToolCall

STATE, WARMTH, PLAYER = "home.state", "climate.temperature", "media_player"
ASKABLE = frozenset({
    "light", "switch", "cover", "valve", "lock", "fan", "media_player", "climate", "humidifier",
    "vacuum", "lawn_mower", "sensor", "binary_sensor", "person",
})  # fmt: skip
"""Domains of the things that have such a state."""
MOST = 6
"""Things whose states are told at once."""
_STATES = {
    "en": "on|off|open|closed|shut|running|locked|unlocked|playing|going|cleaning|hoovering|mowing|"
    "charging|moving|up|down|lit|finished|done|home|back|out|in|empty|full|at home",
    "de": "an|aus|auf|zu|offen|geschlossen|abgeschlossen|zugesperrt|abgesperrt|aufgesperrt|"
    "verriegelt|versperrt|eingeschaltet|ausgeschaltet|fertig|unterwegs|daheim|zu hause|zuhause|"
    "zurück|oben|unten|voll|leer|geladen|da",
    "fr": "allumée?s?|éteinte?s?|ouverte?s?|fermée?s?|verrouillée?s?|en marche|rentrée?s?",
    "es": "encendid[oa]s?|apagad[oa]s?|abiert[oa]s?|cerrad[oa]s?|en marcha|en casa",
}
_ASKED = {
    "en": re.compile(
        r"(?:(?:and|so|but|wait|hang on|okay) )*(?:is|are|isn't|aren't) "
        r"(?:(?:it|they|that|those|this|he|she|both(?: of (?:them|those))?|still|already|really|"
        rf"actually|definitely|properly|now|all|both) )+(?:{_STATES['en']})"
        r"(?: (?:right now|now|already|yet|then|properly|too|as well))*"
        r"|(?:(?:and|so) )*(?:did|has|have) (?:it|they|that|he|she) (?:really |actually |just )*"
        r"(?:close|open|lock|unlock|shut|turn on|turn off|start|stop|closed|opened|locked|unlocked|"
        r"(?:go|gone) (?:on|off|out|down|up)|come on|finish|finished|started|stopped|work(?:ed)?)"
        r"(?: (?:properly|now|yet|already|then|all right|ok(?:ay)?))*"
        r"|(?:(?:and|so) )*what(?:'s|'re| is| are) (?:it|he|she|they) (?:doing|up to)"
        r"(?: (?:right now|now|at the moment))?"
        r"|(?:(?:and|so) )*how(?:'s| is) (?:it|he|she) (?:doing|getting on|coming along)(?: now)?"
    ),
    "de": re.compile(
        r"(?:(?:und|aber|also|okay) )*"
        r"(?:(?:ist|sind) (?:(?:es|sie|er|das|die|der|den|beide|alle|denn|jetzt|noch|schon|gerade|"
        r"wirklich|eh|auch|richtig|immer|mittlerweile|inzwischen|nun|tatsächlich) )+"
        rf"(?:{_STATES['de']})"
        r"|(?:läuft|laufen|brennt|brennen|spielt|spielen|fährt|putzt|saugt|mäht|lädt|leuchtet|"
        r"leuchten)"
        r"(?: (?:es|sie|er|das|die|der|denn|jetzt|noch|schon|gerade|wirklich|immer|auch))+"
        r"|(?:hat(?:'s| das| es)?|ist das) (?:(?:denn|jetzt|alles|auch|wirklich) )*"
        r"(?:geklappt|funktioniert|hingehauen|durchgegangen)"
        r"|hat (?:(?:er|sie|es|denn|jetzt|schon) )+(?:angefangen|begonnen|losgelegt)"
        r"|was (?:macht|treibt) (?:er|sie|es|der|die|das)(?: denn| gerade| jetzt| da)*)"
    ),
    "zh": re.compile(
        "(?:它们?|他|她|那个|这个|现在|那|到底|都|门|真的|已经|是不是|还)*(?:是)?(?:"
        "(?:开|关|锁|放|亮|转|播|拉)着(?:的)?(?:吗|呢|没有?|么)"
        "|(?:开|关|锁|放|亮|拉)(?:好|上)?了(?:吗|没有?|么)"
        "|在(?:扫|打扫|放|播|播放|跑|转|洗|充电|运行|工作)(?:着)?(?:吗|呢|么)"
        "|(?:洗|扫|打扫|弄|烘|充|搞|办|设|调)(?:完|好)了(?:吗|没有?|么)|在(?:家|屋里)(?:吗|没有?)"
        "|(?:开始|出发|启动)(?:打?扫|工作|干活)?了?(?:吗|没有?|么)"
        "|(?:生效|成功|起作用)了?(?:吗|没有?)|在(?:干嘛|干什么|干啥|做什么)(?:呢|呀)?)"
    ),
    "fr": re.compile(
        r"(?:et )?(?:(?:est|sont)-(?:elles?|ils?)|(?:elles?|ils?|c'|ça) ?(?:est|sont))"
        rf" (?:(?:bien|encore|toujours|vraiment|maintenant|déjà) )*(?:{_STATES['fr']})"
    ),
    "es": re.compile(
        r"(?:y )?(?:está|están|sigue|siguen) (?:(?:bien|todavía|aún|de verdad|ahora|ya) )*"
        rf"(?:{_STATES['es']})(?: (?:ahora|todavía|ya))?"
    ),
}
_PLAYS = {
    "en": re.compile(
        r"(?:(?:and|so|oh|but) )*(?:what|which song|what song)(?:'s| is| has|'ve| have| was| are) "
        r"(?:he|she|it|they|that)(?: got)?(?: (?:listening to|playing|watching|hearing|on))?"
        r"(?: (?:anyway|there|now|in there|up there|then|at all|at the moment))*"
    ),
    "de": re.compile(
        r"(?:(?:und|aber|sag mal) )*(?:was|welches lied) (?:hört|spielt|läuft|schaut|guckt|hat)"
        r"(?: (?:er|sie|es|der|die|das|da|dort|denn|eigentlich|überhaupt|gerade|jetzt|drauf|"
        r"bei ihm|bei ihr))*(?: (?:an|laufen))?"
    ),
    "zh": re.compile(
        "(?:那|他|她|它|到底|现在|究竟|里面)*(?:在|正在)?(?:听|放|播|播放|看)的?(?:是|的是)?(?:什么|啥|哪首)"
        "(?:歌|曲子|节目|东西)?(?:啊|呀|呢)?"
    ),
}
"""What is heard: of the player that was spoken of, or of the one in their room who were."""
_AND_NOW = {
    "en": re.compile(r"(?:and|what about|how about) now"),
    "de": re.compile(r"und (?:jetzt|nun)"),
    "zh": re.compile("(?:那)?现在(?:呢|怎么样了?)"),
    "fr": re.compile("et maintenant"),
    "es": re.compile("y ahora"),
}
"""The same question once more."""
_HOW_WARM = {
    "en": re.compile(r"(?:and )?how (?:warm|hot|cold) is it (?:in )?there(?: right)?(?: now)?"),
    "de": re.compile(
        r"(?:und )?wie (?:warm|kalt|heiß) ist es (?:(?:denn|jetzt|gerade|dort|da|drin|drinnen) ?)*"
        r"(?:dort|da|drin|drinnen)(?: (?:jetzt|gerade))?"
    ),
    "zh": re.compile("(?:那边|那里|那屋|那儿)(?:现在)?(?:多少度|几度|冷不冷|热不热)"),
}


def how_it_is(text: str, memory: Memory, home: Snapshot) -> Decision | None:
    """The question for the state of what was spoken of; ``None`` where it is another."""
    told = memory.told
    if told is not None and told.call is not None and _asks_once_more(text, told):
        return _told_of(told, told.call)
    spoken = memory.about or memory.spoken_of or told
    if spoken is None or not 0 < len(spoken.entities) <= MOST:
        return None
    said, language = plain(text), spoken.language
    domains = {entity.partition(".")[0] for entity in spoken.entities}
    if _PLAYS.get(language, NEVER).fullmatch(said) and (heard := _heard(spoken, home)):
        call = ToolCall(tool=STATE, arguments={"entities": heard})
        return msgspec.structs.replace(continuing(spoken, call), entities=heard)
    entities = {"entities": list(spoken.entities)}
    if domains == {"climate"} and _HOW_WARM.get(language, NEVER).fullmatch(said):
        return _told_of(spoken, ToolCall(tool=WARMTH, arguments=entities))
    if domains <= ASKABLE and _ASKED.get(language, NEVER).fullmatch(said):
        return _told_of(spoken, ToolCall(tool=STATE, arguments=entities))
    return None


def _heard(spoken: Decision, home: Snapshot) -> list[str]:
    """The players that were spoken of, or the one in the room of the one of whom it was told."""
    things = [one for one in home.entities if one.id in spoken.entities]
    if all(one.domain == PLAYER for one in things):
        return [one.id for one in things]
    people = [one for one in things if one.domain == "person"]
    rooms = {
        area.id for area in home.areas for who in people if is_room_of(area, who, spoken.language)
    }
    there = [one.id for one in home.entities if one.domain == PLAYER and one.area in rooms]
    return there if len(there) == 1 and len(things) == 1 else []


def _asks_once_more(text: str, told: Decision) -> bool:
    again = _AND_NOW.get(told.language, NEVER)
    return told.tool == STATE and again.fullmatch(plain(text)) is not None


def _told_of(spoken: Decision, call: ToolCall) -> Decision:
    asked = msgspec.structs.replace(spoken, proposed=False, asks=None)
    return msgspec.structs.replace(continuing(asked, call), entities=spoken.entities)
