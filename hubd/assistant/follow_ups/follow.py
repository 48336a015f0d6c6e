"""Utterances that only make sense after another: "and the bedroom?", "turn it off again", "40%"."""

import re

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.how_it_is import ASKABLE, STATE
from hubd.assistant.follow_ups.of_its_kind import like, the_whole_way
from hubd.assistant.matched import CLEANS_ROOM
from hubd.assistant.route import Router
from hubd.assistant.several import NEVER_MIND
from hubd.assistant.understanding import words
from hubd.assistant.understanding.clitics import apart
from hubd.assistant.understanding.compose import (
    DOWNWARD,
    FULL,
    NOUN_DOMAINS,
    SIMPLE,
    STEPPED,
    STEPS,
    VALUED,
    WARMTH,
    changed_by,
    in_mode,
    kelvin_of,
    largest,
    set_to_multiple,
    value_of,
)
from hubd.assistant.understanding.intents import SWITCHED
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.multiples import FACTORS
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.robots import ROBOT
from hubd.assistant.understanding.targets import Targets, find
from hubd.home.model import Snapshot
from plugins.api import ToolCall
from plugins.degrees import unit_of

OPENINGS = re.compile(
    r"^(?:and|what about|how about|same (?:for|in)|also|now|und|und was ist mit|auch|et|et aussi|y|"
    r"y también|you (?:can|could|may)|那么|那|还有|(?:现在)?可以)\s*"
    r"(?:(?:in|im|for|for the|dans|en|in the|in der)\s)?\s*"
)
_BEGUN = re.compile(r"^(?:(?:right|ok(?:ay)?|then|na gut|gut|schön|dann|halt|eben) )+(?=\w)")
"""What is said before anything, and says nothing."""
_ONLY = re.compile(r"^(?:(?:nur|bloß|but|just|only) )+|^(?:只|就)(?:要)?")
_IS = re.compile(r"^(?:is|are|ist|sind) (?=\S+(?: \S+){0,2}\??$)")
"""What asks the same of something else: "is Callum home?", "is Joe?"."""
_MAY_BE = re.compile(
    r"(?:(?:it|that|they|this|he|she) )?(?:can|may) (?:all )?(?:go |be |come )?"
    r"(?P<en>on|off|up|down)"
    r"|(?:(?:das|es|die|der|sie|er) )?(?:kann|darf|können|dürfen)(?:'s| es| das| die| sie| er)?"
    r"(?: (?:wieder|ruhig|alle|mal|dann|schon))* (?P<de>an|aus|auf|zu|hoch|runter)"
    r"(?:gehen|gemacht werden|geschaltet werden)?"
)
"""What may be done now: "it can go off now", „jetzt kann's aus“."""
_ON_AT = re.compile(
    r"(?:(?:h+m+|no|oh|well|actually|nee|nein|ach|doch|oder|na) )*"
    r"(?:(?:have|put|turn|switch|leave|mach|lass|schalt)e? (?:(?:it|that|them|es|sie|ihn|das) )?)?"
    r"(?:(?:back|wieder|doch) )*(?:on|an)(?: again| after all| then| doch| wieder)*"
    r" (?:(?:but|and|aber|und|dafür) )?(?:(?:only|just|nur|bloß) )?(?:(?:at|to|auf|mit|bei) )?"
    r"(?P<percent>\S+(?: and a half)? ?(?:percent|per cent|prozent|%))"
    r"|(?:嗯|不|算了|还是)*(?:再|重新|继续)?(?:打开|开着|留着)[吧了]*(?:但是?|不过|只|就)*"
    r"(?:要|用|开|调|亮度)?(?:到|成)?(?P<bai>百分之[^，, ]{1,4}?)(?:就行|就好)?吧?"
)
"""What shall be on after all, but at so much: "have it on, but only at ten percent"."""
_AIR = re.compile(
    r"^(?:把)?风(?:力|速|量)?(?!扇)|^(?:the )?(?:air|breeze|wind)(?= )|^(?:den )?wind(?= )"
)
"""What a fan makes, and so the fan that was spoken of."""
_LITTLE = re.compile(r"^(?:noch |nur |just )*(?:bisschen|bissl|bisserl|bit|touch|tad) (?=\w+$)")
_AT_ONCE = re.compile(
    r"(?<!\w)(?:jetzt gleich|gleich jetzt|jetzt|sofort|ach|right now|straight away)(?!\w)"
)
ENDINGS = re.compile(
    r"\s*(?:too|as well|again|please|still|then|now|(?:in |up |down |over )?there|"
    r"behind (?:me|us|him|her|them)|"
    r"than (?:that|this|now)|straight ?away|right (?:away|now)|at once|immediately|sofort|jetzt|"
    r"auch|aussi|también|呢|也)$"
)
ALSO = re.compile(
    r"^(?:(?:and|und) )?(?P<a>.+?) (?:too|as well|also|auch(?: noch)?)$"
    r"|^(?:还有)?(?P<b>.+?)也(?:是|一样)$"
)
"""What is done with something else as well: "the lights too"."""
BOTH = re.compile(
    r"(?<!\w)(?:both(?: of them| (?:the )?(?:lights|lamps))?|beide (?:lichter|lampen)|"
    r"beides?|alle beide|(?:tous |toutes )?les deux|l[oa]s dos|"
    r"(?:those|these|the) two(?: of them)?(?! \w+s\b)|"
    r"(?:die|den) beiden(?= (?:jetzt|denn|wieder|bitte|auch|noch|an|aus|auf|zu)\b|\W*$))(?!\w)"
    r"|两[个盏](?:灯)?都?|俩都|[它他她这]俩|都"
)
_OF_A_TIME = re.compile(
    r"\bhalb (?:\d|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)|\bhalf past\b"
    r"|\b(?:it|he|she|that) (?:comes|goes|starts|begins|ends)\b"
    r"|\b(?:er|sie|es|das) (?:kommt|beginnt|läuft|fängt|startet)\b"
)
"""What tells a time, and is no value: "it comes on at nine", „halb acht“."""
OF_ITS_KIND = re.compile(
    r"(?:and )?(?:turn |switch )?(?:on |off |up |down )?the one (?:in|on|at) the .+?"
    r" (?:too|as well)"
    r"|(?:and )?the .+? one(?: on| off| up| down)? (?:too|as well)"
    r"|and (?:the one|the other one) (?:(?:in|on|at|by) .+?|upstairs|downstairs|outside)"
    r"(?: too| as well| all the way| fully| completely)*"
    r"|(?:und )?(?:mach |schalt(?:e)? )?(?:das|den|die|der) (?:im|in der|in) .+? auch(?: \w+)?"
    r"|(?:und|jetzt|dann) (?:noch )?(?:das|den|die) (?:(?:im|in der|in|bei|von|vom) .+?|oben|unten)"
    r"(?: auch| noch| ganz| komplett| bitte)*"
    r"|(?:in|bei) (?!einer|\d).+?(?: bitte)? wieder (?:an|aus|auf|zu)"
    r"|(?:nur|bloß) (?:im|in|in der|bei) .+? (?:mach|schalt|lass)e?(?:'s| es| das| sie| die)?"
    r"(?: bitte)? wieder (?:an|aus|auf|zu)"
    r"|(?:mach|schalt)e?(?:'s| es| das| sie| die)? (?:nur |bloß )?(?:im|in|in der|bei) .+?"
    r" (?:bitte )?wieder (?:an|aus|auf|zu)"
    r"|(?:(?:just|only|but) )*(?:turn|put|switch) (?:the one |it |just )*(?:in |on )?the .+?"
    r"(?: one)? back (?:on|off)"
    r"|(?:只|就)?(?:把|要)?.{1,6}的(?:那个|灯)?(?:再|重新)(?:给我|帮我)?(?:打?开|关)(?:了|上|吧)*"
    r"|(?:那|把)?.{1,8}的(?:也|还是)(?:都|给我|帮我)?.{1,4}(?:了|吧)*"
    r"|(?:那|把)?.{1,6}那个(?:也|再|给我|帮我)+.{1,3}(?:了|吧)*"
)
_THERE = re.compile("^那[边里儿屋](?:的|现在)?(?=[调设开关拉升降打变改])")
"""Where what was spoken of is: 那边调到二十五."""
_ELSEWHERE = re.compile(
    r"(?:and |then |but |now )*"
    r"(?:(?:in|at) (?!\d|an? |the (?:morning|afternoon|evening)).+?|upstairs|downstairs|outside) "
    r"(?:put|turn|pull|open|close|shut|switch|draw) (?:it|them)(?: .+)?"
    r"|(?:und |dann |jetzt |aber |nur )*"
    r"(?:(?:in|im|bei) (?!einer|einem|\d).+?|oben|unten|draussen) "
    r"(?:mach|schalt|fahr|zieh|dreh|öffn|schliess)e?(?:'s| es| sie| ihn| das| die| den) .+"
)
"""What is done elsewhere with a thing of the same kind: "and in Ann's room put it right down"."""
_HOW_FAR = frozenset({"ganz", "voll", "full", "fully", "completely", "all the way", "maximal"})
"""What says how far alone, and not which way."""
_PLACED = re.compile(r"^(?:(?:und|and) )?(?:in|im|bei|beim|at) ")
_SAME = re.compile(
    r"(?:(?:and|now|then|please|just) )*(?:(?:can|could) you )?(?:do |make it )?(?:exactly )?"
    r"(?:the )?same(?: thing| again)? (?:for|with|to|in|on|at|over in|up in) (?P<en>.+?)"
    r"(?: too| as well| please)*"
    r"|(?:(?:and|now|then|please) )*(?:(?:set|put|turn|make|bring) )?(?P<to>the .+?)(?: (?:to|at))?"
    r" the same(?: (?:temperature|brightness|level|volume|height))?(?: too| as well| please)*"
    r"|(?:(?:und|jetzt|dann|bitte|nun) )*(?:(?:stell|mach|dreh|setz|schalt|fahr)e? )?(?:bitte )?"
    r"(?P<auf>(?:im|in|bei|beim|den|die|das)\b.+?)(?: bitte| auch)* auf (?:dasselbe|das gleiche|"
    r"das selbe|(?:denselben|den gleichen|dieselbe|die gleiche)"
    r" (?:wert|stufe|temperatur|helligkeit|lautstärke|höhe))(?: bitte| stellen| machen)*"
    r"|(?:(?:und|jetzt|dann|bitte|nun) )*(?:mach(?:e|st du)?(?:'s)? )?(?:bitte )?"
    r"(?:das (?:gleiche|selbe)|dasselbe|genauso|ebenso)(?: bitte| noch| auch| mal)* "
    r"(?:mit |für )?(?P<de>(?:im|in|bei|beim|dem|der|den|die|das|oben|unten)\b.*?)"
    r"(?: auch| bitte| machen)*"
    r"|(?:(?:und|jetzt|dann|bitte|nun) )*(?:mach(?:e|'s)? (?:es |das )?)?"
    r"(?P<after>(?:im|in|bei|beim|dem|der|den|die|das|oben|unten)\b.+?)(?: bitte| auch)* "
    r"(?:genauso|ebenso|dasselbe|das gleiche|das selbe)(?: machen| bitte)*"
    r"|(?:那|然后|还有|把)*(?P<zh>.{1,8}?)(?:的|那个|那边)*(?:也|都)+(?:要|给我|帮我)?"
    r"(?:这样|一样|同样|这么|照样)(?:弄|做|调|开|关|处理|来)?(?:一下)?(?:吧|就行|就好|好了)*"
    r"|(?:那|然后|还有|把)*(?P<so>.{1,8}?)(?:的|那个|那边)*(?:(?:也|都)+是(?:这样|一样|同样)?|"
    r"(?:也|都|给我|帮我)*(?:调|设|弄|改|换|开|关|拉|放)[成到为得](?:跟它|和它)?(?:一样|同样|这样))"
    r"的?(?:亮|亮度|温度|音量|颜色|高)?(?:吧|就行|就好|好了)*"
)
"""What shall be just so elsewhere: "do the same in the bedroom", 书房的也一样."""
_OF_ONE = re.compile(r"\b(?:the|that) (?:\w+ )?one\b|\b(?:den|das) (?!\w+n auch)|那[个盏]")
"""What says that it is one thing."""
PRONOUNS = re.compile(
    r"(?<!\w)(?:it|them|that|those|this|es|sie|ihn|le|la|les|lo|las|los)(?!\w)|它们?|这个|那个"
)
IT = re.compile(r"(?<!\w)(?:it|that|this|es|sie|ihn|die|das|den)(?!\w)|它(?!们)|这个|那个")
"""What may be one thing of several that were spoken of."""
CANCELLED = re.compile(
    r"(?:cancel|stop|delete|remove|forget|clear|dismiss|scrap) (?:it|that|this|that one|them)"
    r"|(?:brich|breche) (?:ihn|sie|es|das|den|die) (?:wieder |bitte )?ab"
    r"|(?:lösch|lösche|stopp|stoppe|beende|entferne) (?:ihn|sie|es|das|den|die)(?: wieder)?"
    r"|(?:ihn|sie|es|das|den) (?:bitte )?(?:abbrechen|löschen|stoppen)"
    r"|(?:cancel|delete|remove) (?:this|that) (?:reminder|alarm|timer)"
    r"|(?:lösche?|streiche?) diese[nrs]? (?:erinnerung|wecker|timer)(?: wieder)?"
    r"|(?:取消|删除|删掉)(?:掉)?[这那]个(?:提醒|闹钟|计时器)(?:吧)?|把[这那]个(?:提醒|闹钟|计时器)(?:取消|删掉|删除)(?:了|掉|吧)*"
    r"|(?:取消|删除|删掉|停掉)(?:它|这个|那个|掉)?(?:了|吧)?|把?它(?:取消|删掉|删除|停掉)(?:了|掉)?"
    r"|annule(?:[- ](?:le|la|les|ça|cela|tout ça))?"
    r"|(?:supprime|arrête|enlève|efface)(?:[- ](?:le|la)| ça)"
    r"|(?:annule|supprime|efface|enlève) (?:ce|cet|cette) (?:rappel|réveil|alarme|minuteur)(?:-là)?"
    r"|(?:cancela|anula)(?: (?:eso|esto))?|(?:cancéla|bórra|quíta|anúla|elimína)l[oae]"
    r"|(?:cancela|borra|anula|quita|elimina) es[ea] (?:recordatorio|alarma|temporizador)"
)
"""What was said of a timer, an alarm or a reminder, and of nothing else."""
_NOT_SO = re.compile(
    r"^(?:no,? )?not [^,]{1,20}, (?:but )?|^(?:nein,? )?nicht [^,]{1,20}, (?:sondern )?"
    r"|^(?:不对[，,])?不是[^，,]{1,8}[，,](?:是|要|我要)?",
    re.IGNORECASE,
)
"""What is not meant, where what is meant follows: 不是暂停，取消掉."""
_BARE_CANCEL = re.compile(r"annule|cancela|anula")
"""Cancels what was set last, and nothing that was only told of."""
CANCELS = frozenset({"timers.cancel", NEVER_MIND})
"""What these words mean where nothing was spoken of before."""
PUT_DOWN = frozenset({"lists.add", "calendar.add", "notes.add"})
"""What leaves nothing but words, so that it is taken back unasked."""
HEARD = frozenset({"media.next", "media.previous", "media.pause", "media.change_volume"})
KEPT_BY_TIME = frozenset({"timers", "alarms", "reminders"})
SET_LIGHT, CLIMATE, FULLY = "lights.set", "climate", "full"
LESSENING = DOWNWARD | {"off", "out", "stop"}
"""Actions that "full" does not make more of."""
SWITCHING = frozenset({"home.turn_on", "home.turn_off"})
WHICH = frozenset({"timer", "which"})
"""Arguments that name one of these."""


_IS_SO = re.compile("着吧")
_FOR_A_MOMENT = re.compile(r"\bkurz\b|\bfor a (?:moment|minute|second|sec|bit)\b")


def also(text: str) -> str:
    """What ``text`` adds to what was done last, without a verb; empty where it adds nothing."""
    found = ALSO.match(plain(text))
    return next(filter(None, found.groups()), "") if found else ""


def names_more(decision: Decision) -> bool:
    """Whether a decision rests on the name of a thing or a place: then it continues nothing."""
    return decision.tool is not None and bool({"name", "area", "floor"} & set(decision.arguments))


def is_of_its_kind(text: str) -> bool:
    """Whether ``text`` leaves out what kind of thing it is of, which was said before:
    卧室的也关了."""
    said = plain(text)
    return any(form.fullmatch(said) for form in (OF_ITS_KIND, _ELSEWHERE, _SAME))


def both(text: str, memory: Memory) -> Decision | None:
    """What was done last and before it, as one, where ``text`` speaks of two things and the last
    was one; else ``None``."""
    last, before = memory.last, memory.before
    if last is None or before is None or not BOTH.search(text.casefold()):
        return None
    if len(last.entities) != 1 or len(before.entities) != 1 or last.entities == before.entities:
        return None
    return msgspec.structs.replace(last, entities=[*before.entities, *last.entities])


def says_cancelled(text: str, memory: Memory) -> bool:
    """Whether ``text`` cancels what was spoken of last, and does not say what that is."""
    language = memory.last.language if memory.last else "en"
    if _FOR_A_MOMENT.search(plain(text)):
        return False  # „stopp ihn kurz“ lets it go on afterwards
    text = _NOT_SO.sub("", text, count=1)
    return any(map(CANCELLED.fullmatch, (plain(text), lexicon(language).stripped(text))))


def takes_back(decision: Decision, memory: Memory) -> bool:
    """Whether "never mind" takes back what was put on a list, in a calendar or down just before."""
    last = memory.last.tool if memory.last else None
    return decision.tool == NEVER_MIND and last in PUT_DOWN and bool(memory.undo)


def cancelled(text: str, memory: Memory) -> Decision | None:
    """The cancelling of the timer, alarm or reminder that was spoken of last; else ``None``."""
    last = memory.last
    if last is None or not says_cancelled(text, memory):
        return None
    made = _made(memory)
    sets = made is not None and made.tool.endswith(".cancel")
    if _BARE_CANCEL.fullmatch(plain(text)) and (not sets or only_told_of(text, memory)):
        return None
    return ended(memory)


def only_told_of(text: str, memory: Memory) -> bool:
    """Whether ``text`` cancels nothing by itself, since what is set for a time was told of last."""
    set_last = memory.last is not None and _plugin(memory.last.tool or "") in KEPT_BY_TIME
    bare = _BARE_CANCEL.fullmatch(plain(text)) is not None
    return bare and set_last and memory.told is not None


def ended(memory: Memory) -> Decision | None:
    """The cancelling of the timer, alarm or reminder that was spoken of last; else ``None``."""
    last, made = memory.last, _made(memory)
    plugin = _plugin(made.tool if made else last.tool or "") if last else ""
    if last is None or plugin not in KEPT_BY_TIME:
        return None
    which = {name: v for name, v in (made.arguments if made else {}).items() if name in WHICH}
    tool = f"{plugin}.cancel"
    return Decision(
        route="words",
        tool=tool,
        score=0.85,
        reason=f"it continues {last.tool}",
        call=ToolCall(tool=tool, arguments=which),
        language=last.language,
    )


def _made(memory: Memory) -> ToolCall | None:
    """What takes back the timer, alarm or reminder that was set or changed last."""
    return next((call for call in memory.undo if _plugin(call.tool) in KEPT_BY_TIME), None)


def _plugin(tool: str) -> str:
    return tool.partition(".")[0]


def asks_if_so(text: str) -> bool:
    """Whether something is said to be so, and asked for: 还亮着吧."""
    return _IS_SO.search(text) is not None


def follow(
    router: Router, text: str, last: Decision, snapshot: Snapshot, *, at_once: bool = False
) -> Decision | None:
    """What ``text`` asks for after ``last``; ``None`` where it does not continue it.

    at_once: both are parts of one sentence: "turn off the lights and the TV" is of both kinds
    """
    if last.tool is None or last.call is None or not last.entities:
        return None
    known = lexicon(last.language)
    text = _THERE.sub("", text)
    on_at = _ON_AT.fullmatch(re.sub("[, ]+", " " if known.spaces else "", plain(text)))
    if on_at is None and asks_if_so(text):
        return None
    begun = _BEGUN.sub("", apart(known.fixed(known.stripped(text)), last.language))
    if (same := _SAME.fullmatch(plain(text))) is not None:
        begun = next(filter(None, same.groups()))
    if _ELSEWHERE.fullmatch(plain(text)) is not None:
        begun = _PLACED.sub("", begun)  # so that „bei Mila“ is nobody else
    begun = _IS.sub("", begun) if last.tool == STATE else begun
    begun = _ONLY.sub("", begun) if is_of_its_kind(text) else begun
    begun = " ".join(_AT_ONCE.sub(" ", begun).split()) if known.spaces else begun
    said = _LITTLE.sub("", ENDINGS.sub("", OPENINGS.sub("", begun)))
    may = _MAY_BE.fullmatch(ENDINGS.sub("", begun))
    if may and not text.rstrip().endswith("?"):
        said = may["en"] or may["de"]
    said = " ".join(PRONOUNS.sub(" ", BOTH.sub(" ", said)).split())
    domains = {entity_id.partition(".")[0] for entity_id in last.entities}
    if domains == {ROBOT} and known.says_here(text):
        return None  # where that is, is not told by what was done
    said = _AIR.sub("", said) if domains == {"fan"} else said
    if on_at:
        said = on_at["percent"] or on_at["bai"]
    asks = known.wonders(said) if is_of_its_kind(text) else known.asks(said)
    if not said or known.negates(said) or asks or _OF_A_TIME.search(plain(text)):
        return None
    reading = words.read(said, known, router.phrases(last.language))
    if reading is None or reading.everything:
        return None
    if last.tool == CLEANS_ROOM and (elsewhere := _in_another_room(router, reading, last)):
        return elsewhere
    if reading.names or reading.areas or reading.floors:
        of_its_kind = is_of_its_kind(text)
        slots = words.slots_of(reading)
        kinds = {NOUN_DOMAINS.get(noun, noun.partition(".")[0]) for noun in reading.nouns}
        found = find(snapshot, slots, () if reading.names else kinds or domains)
        if of_its_kind:
            found = like(last, found, snapshot, of_one=_OF_ONE.search(plain(text)) is not None)
        action = _verb(reading)
        if of_its_kind and action == FULLY:
            action = the_whole_way(last, found)
        tools = {SIMPLE.get((action, one)) for one in domains}
        again = not reading.actions or tools == {last.tool}
        turned = of_its_kind and len(tools) == 1 and None not in tools
        if reading.numbers or not (again or turned) or router.names_apart(text, last.language):
            return None
        alike = set(SWITCHED) if at_once and last.tool in SWITCHING else domains
        if last.tool == STATE and not reading.actions and not found.unclear:
            alike = alike | ASKABLE  # "is the door locked?", "and the garage?"
        if not found.entities or not {e.domain for e in found.entities} <= alike:
            return None
        if at_once and set(found.ids) <= set(last.entities):
            return None  # "the radio, and the kitchen too", which is where it is
        if not again:
            return _again(router, last, str(tools.pop()), {}, found, slots)
        kept = last.call.arguments
        if last.tool == STATE and {one.domain for one in found.entities} != domains:
            kept = {}  # what is open or shut is not locked
        return _again(router, last, last.tool, kept, found, slots)
    if said in _HOW_FAR:
        return None  # „ganz gut“, "completely" is neither way
    of_its_color = domains == {"light"} and reading.nouns == {"color_temperature"}
    if reading.nouns and not of_its_color:
        return None
    found = Targets(tuple(e for e in snapshot.entities if e.id in set(last.entities)))
    action = _verb(reading)
    if len(domains) != 1:
        tools = {SIMPLE.get((action, one)) for one in domains}
        tool = tools.pop() if len(tools) == 1 and not reading.numbers else None
        return _again(router, last, tool, {}, found, {}) if tool else None
    domain = next(iter(domains))
    heard = SIMPLE.get((action, domain), STEPPED.get(domain, ""))
    if last.tool == "home.turn_off" and heard in HEARD:
        return None  # "next song", "louder" is of what still plays
    if reading.colors and domain == "light":
        if reading.numbers or reading.actions & set(FACTORS):
            return None  # "blue, and half as bright" are two wishes
        colored: dict[str, object] = {"color": reading.colors[0]}
        return _again(router, last, SET_LIGHT, colored, found, colored)
    if of_its_color or "kelvin" in reading.units:
        kelvin = kelvin_of(reading) if domain == "light" else None
        if kelvin is not None:
            white: dict[str, object] = {"kelvin": kelvin}
            return _again(router, last, SET_LIGHT, white, found, white)
    if action in WARMTH and domain == "light" and not reading.numbers:
        whiter: dict[str, object] = {"color": WARMTH[action]}
        return _again(router, last, SET_LIGHT, whiter, found, whiter)
    if of_its_color or "kelvin" in reading.units:
        return None
    if reading.modes:
        mode = in_mode(reading, action, unit_of(snapshot.entities)) if domain == CLIMATE else None
        return _again(router, last, mode[0], mode[1], found, mode[1]) if mode else None
    if "degrees" in reading.units and domain != "climate":
        return None
    if action in FACTORS:
        if reading.numbers or (multiple := set_to_multiple(action, found.entities)) is None:
            return None
        tool, arguments, running = multiple
        return _again(router, last, tool, arguments, Targets(running), arguments)
    if reading.difference and (reading.numbers or "half" in reading.actions):
        changed = changed_by(domain, reading.actions, reading.numbers)
        return _again(router, last, changed[0], changed[1], found, changed[1]) if changed else None
    if domain == "cover" and known.a_bit(text) and (tool_name := SIMPLE.get((action, domain))):
        once_more = _again(router, last, tool_name, {}, found, {})
        return router.by_a_bit(once_more, text) if once_more else None
    if reading.numbers and {STEPS[one][0] for one in reading.actions & STEPS.keys()} - {domain}:
        return None  # "heat up to 90" is of no lamp
    fully = FULLY in reading.actions and not reading.actions & LESSENING
    if domain in VALUED and (reading.numbers or (fully and VALUED[domain][0] in FULL)):
        tool, argument, _ = VALUED[domain]
        number = value_of(reading, domain)
        return (
            _again(router, last, tool, {argument: number}, found, {argument: number})
            if number is not None and 0 <= number <= largest(domain, unit_of(snapshot.entities))
            else None
        )
    domain_of_step, step = STEPS.get(action, (domain, action))
    if step in ("up", "down") and domain_of_step == domain and domain in STEPPED:
        return _again(router, last, STEPPED[domain], {"step": step}, found, {"step": step})
    tool_name = SIMPLE.get((action, domain))
    return _again(router, last, tool_name, {}, found, {}) if tool_name else None


def _verb(reading: words.Reading) -> str:
    """What is to be done; how far alone where that is all that is said."""
    verbs = reading.actions - {FULLY, "half"}
    return next(iter(verbs or reading.actions), "")


def _in_another_room(router: Router, reading: words.Reading, last: Decision) -> Decision | None:
    """The same robot in the one room that is named and nothing else; ``None`` where more is."""
    named = reading.names or reading.floors or reading.nouns or reading.actions or reading.numbers
    if named or len(reading.areas) != 1 or last.call is None:
        return None
    arguments = {**last.call.arguments, "area": reading.areas[0]}
    found = Targets(tuple(e for e in router.snapshot().entities if e.id in last.entities))
    return _again(router, last, CLEANS_ROOM, arguments, found, arguments)


def _again(
    router: Router,
    last: Decision,
    tool: str,
    arguments: dict[str, object],
    found: Targets,
    slots: dict[str, object],
) -> Decision | None:
    if not router.knows(tool) or not found.entities:
        return None
    decision = Decision(
        route="words",
        tool=tool,
        entities=found.ids,
        arguments=slots,
        score=0.85,
        reason=f"it continues {last.tool}",
        call=ToolCall(tool=tool, arguments={**arguments, "entities": found.ids}),
        language=last.language,
    )
    return router.asking(decision, found)
