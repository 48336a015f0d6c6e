"""What goes on with a list, a note, a sum or a thing of the house: "clear it", "it's 34 now", "and
plus 12?", "carry on".

Only after something was done with one of these; decides and does nothing.
"""

import re
from datetime import UTC, datetime

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.follow import HEARD, both
from hubd.assistant.follow_ups.of_events import of_events
from hubd.assistant.follow_ups.of_lists import of_lists
from hubd.assistant.follow_ups.one_of_set import one_of
from hubd.assistant.follow_ups.set_for_a_time import continuing, of_what_is_set
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.reasons import BREAK
from plugins.api import ToolCall
from plugins.note_words import of_another, said_now
from plugins.numbers import chinese_digits, digits

TURNED_OFF = "home.turn_off"
NOTE, NOTED = "notes.change", "notes.add"
NOTES = frozenset({NOTED, "notes.recall", NOTE})
_WHERE = re.compile(
    r"(?:(?:and|so|right|okay|sorry|well|now|then|remind me|tell me)[, ]+)*"
    r"where(?:'s| is| was| are|'re) (?:it|that|this|they)(?: again| on| now| then| kept)*"
    r"|(?:(?:und|also|so|dann|gut|okay|sag mal)[, ]+)*wo (?:ist|war|sind|steht|stehen|liegt|liegen|"
    r"hängt|findet) (?:das|es|er|sie|der|die)(?: (?:denn|noch ?mal|jetzt|nun|also|dann|statt))*"
    r"|(?:[那所以么,]|再说一遍|再说一次)*(?:它|现在|到底|是|放)*"
    r"在(?:哪|哪儿|哪里)(?:开|办|举行|来着|呢|啊|了)*"
)
UNDOES_NOTE = frozenset({"notes.drop", "notes.put"})
_ALL_CANCELLED = re.compile(
    r"(?:cancel|delete|remove|clear) (?:them all|all(?: of)? (?:them|those)|them|everything)"
    r"|(?:lösch|streich)e? (?:sie )?alle(?: wieder)?|alle (?:wieder )?(?:löschen|weg)"
    r"|(?:把)?(?:全部|都|全|全都)(?:取消|删掉|删除)(?:掉|了)?(?:吧)?|(?:取消|删掉|删除)(?:全部|所有的?)(?:吧)?"
)
_ALL_OF = {
    "alarms": ToolCall(tool="alarms.cancel", arguments={"which": "all"}),
    "reminders": ToolCall(tool="reminders.cancel", arguments={"which": "all"}),
    "timers": ToolCall(tool="timers.cancel", arguments={"timer": "all"}),
}
"""The plugins of what is set for a time, and what ends all of it."""
ROUTINES = frozenset({"routines.run", "routines.define"})
_ROUTINE_FORGOTTEN = {
    "en": re.compile(
        r"(?:(?:and|then|okay|ok|right|well|so|oh|please|you can|now) )*"
        r"(?:forget|delete|remove|scrap|drop|get rid of) (?:the|that|this) routine"
        r"(?: again| then| please| now| after all)*"
    ),
    "de": re.compile(
        r"(?:(?:und|dann|okay|ok|gut|na gut|ach|bitte|also) )*"
        r"(?:vergiss|lösche?|streiche?|entferne?) (?:die|diese) routine"
        r"(?: mal| wieder| bitte| doch| ruhig| dann| jetzt)*"
    ),
    "zh": re.compile(
        "(?:那就?|算了)?(?:把)?(?:刚才)?(?:这个|那个|这条|那条)(?:例程|流程|口令)"
        "(?:给我)?(?:删掉|删除|删|忘掉|取消|不要)(?:了|吧)*"
        "|(?:那就?)?(?:删掉|忘掉|取消|删除)(?:这个|那个|这条|那条)(?:例程|流程|口令)(?:了|吧)*"
    ),
}
"""What forgets the routine that was spoken of."""
CALCULATE, CONVERT = "calculator.calculate", "units.convert"
_OF_ANOTHER = re.compile(
    r"(?=.*[^\d.,])(?:and|und|那|et|y)? ?(?:what about |how about |of |from |von |bei |de )*"
    r"(?P<number>\d+(?:[.,]\d+)?)(?: ?(?P<unit>[^\W\d的呢]+))?(?:的)?(?:呢)?"
)
_GOES_ON = {
    "en": re.compile(
        r"(?:and |then |now )*(?P<more>(?:plus|minus|times|multiplied by|divided by|less) .+)"
    ),
    "de": re.compile(
        r"(?:und |dann |das |jetzt |noch )*(?P<more>(?:plus|minus|mal|geteilt durch|durch) .+?)"
        r"(?: noch| dann)?"
    ),
    "zh": re.compile(r"(?:那|再|然后)*(?P<more>(?:加|减|乘|除)(?:上|去|以)?.+?)(?:呢)?"),
}
"""What a sum that was told goes on with."""
_MORE_OR_LESS = {
    "en": re.compile(
        r"(?:and |then |now )*(?:what )?(?:if (?:i|we|you) )?"
        r"(?:(?P<more>add)|(?:take (?:away|off)|subtract)) (?:another )?(?P<by>\S+)"
        r"(?: (?:to|from) (?:it|that))?"
    ),
    "de": re.compile(
        r"(?:und |dann )*wenn (?:ich|wir|man) (?:da |dazu |davon )*(?:noch )?(?P<by>\S+) "
        r"(?:(?P<more>(?:dazuzähl|dazutu|dazurechn|dazugeb|addier)\w+)|"
        r"(?:abzieh|wegnehm|subtrahier)\w+)"
    ),
}
"""What a sum is increased or lessened by, in a clause."""
_SIGNS = {"en": ("plus", "minus"), "de": ("plus", "minus")}
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_DOCK = r"(?:its|the|his|her) (?:dock|base|station|charger|charging station)"
_SO_EN = (
    r"(?:(?:so|ok(?:ay)?|right|alright|grand|good|fine|now|then|well|and|please|you can|"
    r"that's (?:enough|plenty|clean enough|grand)|that'll do|that will do|enough) )*"
)
_SO_DE = (
    r"(?:(?:so|okay|ok|gut|na gut|na|jetzt|dann|und|bitte|also|nun|genug|"
    r"(?:das |es )?(?:reicht|langt|genügt)(?: jetzt)?|lass gut sein) )*"
)
_HOME_DE = (
    r"(?:(?:nach hause|heim|zurück|wieder) ?)*"
    r"(?:(?:zur|zu der|an die|in die|auf die|in seine|zu seiner) "
    r"(?:lade|basis)?(?:station|basis))?(?<=ause|heim|rück|tion|asis)"
)
"""What is said before the robot goes on or is sent back, and where to."""
_HALT = re.compile(
    rf"{_SO_EN}(?:(?:wait|hang on|hold on|no|hey) )*(?:stop|pause|halt)"
    r"(?: (?:it|him|her|there|now|please))*"
    rf"|{_SO_DE}(?:(?:warte?|halt|moment|stopp?|hey|mal) )*(?:stopp?|pause|anhalten|"
    r"(?:halte?|stopp?e?)(?: (?:ihn|sie|es|mal|bitte|kurz|jetzt))*(?: an)?)(?: bitte| mal)*"
    r"|(?:等等|等一下|先|快|让它|叫它|把它|给我|,|，| )*"
    r"(?:停|停下来?|停住|暂停|别扫了?|别动)(?:一下|一会儿?)?(?:吧|了)*"
)
"""What halts the robot that was sent out."""
_GO_ON: tuple[tuple[re.Pattern[str], dict[str, str]], ...] = (
    (
        re.compile(
            r"(?:(?:please |ok(?:ay)?,? )?(?:carry on|go on|continue|resume|keep going|go ahead)"
            r"(?: (?:it|with (?:it|that)|cleaning|hoovering|vacuuming|playing))?)(?: please| now)?"
            r"|(?:bitte )?(?:mach |fahr |saug )?(?:weiter|fort)(?: damit)?(?: bitte)?|weitermachen"
            rf"|{_SO_EN}(?:(?:it|he|she)(?:'s| is)? (?:can|may|should|allowed to|free to) )?"
            r"(?:carry on|go on|keep going|start again|get going|off you go|resume)"
            r"(?: (?:cleaning|hoovering|vacuuming|mowing|with it|again|now|then|please))*"
            rf"|{_SO_DE}(?:mach(?:e|t)?|es geht|geht's|fahre?|sauge?|putze?) "
            r"(?:ruhig |bitte |mal )*weiter(?: (?:geht's|bitte|so|jetzt))*|weiter geht's"
            rf"|{_SO_DE}(?:er |sie |es )?(?:kann|darf|soll)(?: (?:er|sie|es))?"
            r"(?: (?:jetzt|dann|wieder|ruhig|gern|auch|bitte|mal))*"
            r" ?(?:weiter)?(?:machen|saugen|putzen|fahren|mähen|arbeiten|los|loslegen)"
            rf"|{_SO_DE}(?:er|sie|es) (?:kann|darf) (?:jetzt )?(?:wieder|weiter)"
            r"|(?:请|好了?|行了?|现在|那|它|他|她|你|让它|叫它|可以|能|又)*(?:继续|接着|再)"
            r"(?:扫|打扫|清扫|干|干活|工作|割|拖)?(?:了|吧|一下)*"
            r"|(?:remets|relance|reprends|continue)(?:[- ](?:la|le|ça))?"
            r"|p[oó]nl[oa] otra vez|vuelve a ponerl[oa]|(?:continúa|sigue|reanúdal[oa])"
        ),
        {
            "vacuum.stop": "vacuum.start",
            "vacuum.return_home": "vacuum.start",
            "mower.return_home": "mower.start",
            "media.pause": "media.play",
            "timers.pause": "timers.resume",
        },
    ),
    (re.compile("(?:请)?(?:继续|接着)(?:播放|播|放)(?:吧)?"), {"media.pause": "media.play"}),
    (
        re.compile(
            r"(?:(?:ok(?:ay)?|right|and|now|you can|please) )*(?:(?:turn|put|bring|have) )?"
            r"(?:the )?(?:sound|volume)(?: can)?(?: (?:come|go|be))? (?:back )?(?:on|back)"
            r"(?: again| now| please)*"
            r"|(?:(?:so|okay|gut|jetzt|und|du|bitte) )*(?:(?:kannst|darfst|mach)e? )?"
            r"(?:(?:den|der|wieder|jetzt) )*ton (?:(?:kann|darf|wieder|jetzt|ruhig|bitte) )*"
            r"(?:an|ein)(?:machen|schalten)?(?: bitte)?"
            r"|(?:现在|那|又|你)*(?:可以|能)?(?:再|重新)?(?:出声音?|放声音?|有声音?|开声音?)(?:了|吧)*"
            r"|(?:把)?声音(?:可以)?(?:再|重新)?(?:打?开|放出来|开回来|恢复)(?:了|吧|一下)*"
        ),
        {"media.mute": "media.unmute"},
    ),
    (
        re.compile(
            r"(?:(?:no|nah|not (?:this|that)(?: one)?|okay|ok|and),? )*"
            r"(?:(?:do|play|put on|try|give me|go|skip|on|move on|to) )*the next"
            r"(?: one| song| track| tune)?(?: (?:then|please|instead))*"
            r"|(?:(?:nein|nee|nicht (?:das|den|die)|(?:das|den|die) nicht|okay|und|bitte),? )*"
            r"(?:(?:mach|spiel|nimm|gib mir|lieber|bitte|mal|dann|zum|doch) )*"
            r"(?:das|den|die|zum|ein|einen)? ?nächste[ns]?(?: (?:lied|stück|song|titel))?"
            r"(?: (?:bitte|dann|mal|spielen|machen))*"
            r"|(?:(?:不|别)(?:要|是|听|放)?这(?:个|首)?|这(?:个|首)(?:不(?:要|好听|行|听)|算了)|不好听)了?[,，]?"
            r"(?:给我|那就?)?(?:换|放|来|听|播)?下一?(?:个|首)(?:吧)?"
        ),
        {"media_player": "media.next"},
    ),
    (
        re.compile(
            rf"{_SO_EN}(?:send|bring|get|put|call) (?:it|him|her)(?: back| home)*"
            rf"(?: (?:to|in|into|on) {_DOCK})?(?: (?:now|then|please|again))*"
            r"(?<=back|home|dock|base|tion|rger|.now|then|ease|gain)"
            rf"|{_SO_EN}(?:it|he|she) (?:can|should|may) (?:go|come|head)(?: back| home)+"
            rf"(?: to {_DOCK})?(?: (?:now|then|please))*"
            rf"|{_SO_EN}(?:(?:back|home|off)(?: home| back)?(?: to {_DOCK})?)"
            r"(?: with (?:it|him|her))?"
            r"(?<=ome|ock|ase|ion|ger| it|him|her)"
            rf"|{_SO_DE}(?:schick|hol|bring|lass|ruf)e?(?: (?:ihn|sie|es|bitte|mal|jetzt|wieder))+ "
            rf"{_HOME_DE}(?: ?(?:fahren|gehen|kommen|laden))?"
            r"|"
            rf"{_SO_DE}(?:er|sie|es) (?:soll|kann|darf)(?: (?:jetzt|dann|wieder|bitte|ruhig))* "
            rf"{_HOME_DE} ?(?:fahren|gehen|kommen|laden)?"
            rf"|{_SO_DE}(?:ab|zurück) (?:mit (?:ihm|ihr) )?{_HOME_DE}(?: mit (?:ihm|ihr))?"
            r"|(?:好了?|行了?|够了?|可以了?|差不多了?|那就?|现在|,|，| )*"
            r"(?:让|叫|把|喊)?(?:它|他|她)?"
            r"(?:可以|该)?(?:送|收)?(?:回去|回家|回充|充电|回座|回基站|回充电[座桩站])+(?:充电)?(?:了|吧)*"
        ),
        {"vacuum": "vacuum.return_home", "lawn_mower": "mower.return_home"},
    ),
    (_HALT, {"vacuum": "vacuum.stop"}),
    (
        re.compile(
            r"(?:and |so )?what are (?:they|those|these|both|the two|the both)"
            r"(?: (?:both|two|of (?:them|those)|set|turned|now))* (?:to|at)(?: now| right now)?"
            r"|(?:und )?(?:auf (?:was|wie ?viel)(?: grad| prozent)?|worauf) stehen "
            r"(?:(?:die|sie|jetzt|denn|nun|gerade) )*(?:beiden?|zwei|sie)"
            r"(?: (?:jetzt|denn|nun|gerade))*"
            r"|(?:那|它们?|他们|这|那)?(?:俩|两个|两台|两边)(?:现在|目前)?(?:都)?(?:现在)?"
            r"(?:是|设|调|开|定|到|在|的)*(?:多少|几)度?(?:了|呢|啊)*"
            r"|(?:and )?(?:what|how (?:high|warm))(?:'s| is) (?:(?:it|that|this) set(?: to| at)?"
            r"(?: in)?(?: there)?|the (?:heating|radiator|heater|thermostat|air ?con) set"
            r"(?: to| at)?(?: in| up| over)? there)"
            r"|(?:und )?(?:auf (?:wie ?viel|was)(?: grad)?|worauf|wie (?:hoch|warm)) (?:steht|ist) "
            r"(?:(?:sie|es|er)(?: jetzt| da| dort| dort)*|die (?:heizung|klimaanlage)(?: denn)? "
            r"(?:da|dort)(?: drin| oben| unten)?|(?:da|dort) die (?:heizung|klimaanlage))"
            r"(?: eingestellt| gestellt)?"
            r"|(?:那边|那里|那儿|那屋)?(?:的?(?:空调|暖气|地暖))?(?:现在)?(?:设|调|开)(?:的|到|在|了)?(?:是)?"
            r"(?:多少|几)度"
        ),
        {"climate": "climate.target", "humidifier": "climate.target"},
    ),
)
"""What is said of the thing that was spoken of last, and the tool for it: by the tool that was
called, else by the kind of thing."""


def continued(text: str, memory: Memory) -> Decision | None:
    """What ``text`` asks for after what was done last; ``None`` where it does not go on with it."""
    said, now, last = plain(text), datetime.now(UTC), memory.last
    if memory.told is not None and (more := _more_of(said, memory.told)) is not None:
        return more
    if (of_note := _is_now(text, memory) or _of_note(text, said, memory)) is not None:
        return of_note
    if (ended := all_of(said, memory)) is not None:
        return ended
    on_with = of_events(text, memory, now) or of_lists(text, memory) or one_of(said, memory, now)
    if on_with is not None:
        return on_with
    if last is None or last.call is None or last.tool is None:
        return None
    if (forgotten := _routine_forgotten(text, last)) is not None:
        return forgotten
    if (same := _of_the_same(said, both(text, memory) or memory.spoken_of or last)) is not None:
        return same
    return of_what_is_set(said, memory, last, now, asks=text.rstrip().endswith(("?", "？")))


def _is_now(text: str, memory: Memory) -> Decision | None:
    """What changes the note that was told or made last: "no, it's 34 now"."""
    for spoken in (memory.told, memory.last):
        call = spoken.call if spoken else None
        if spoken and call and call.tool in NOTES and (now := said_now(text, spoken.language)):
            kept = next((one for one in memory.undo if one.tool in UNDOES_NOTE), None)
            about = str(kept.arguments["note"] if kept else call.arguments.get("about", ""))
            return continuing(spoken, ToolCall(tool=NOTE, arguments={"about": about, "to": now}))
    return None


def _of_note(text: str, said: str, memory: Memory) -> Decision | None:
    """The same of somebody else ("and Tom's 42"), or where that is, after a note was made, told or
    changed."""
    last = memory.last
    if last and last.call and last.tool == NOTED:
        note = str(last.call.arguments.get("text", ""))
        if other := of_another(note, text, last.language):
            return continuing(last, ToolCall(tool=NOTED, arguments={"text": other}))
    spoken = memory.told or last
    if not (spoken and spoken.call and spoken.tool in NOTES and _WHERE.fullmatch(said)):
        return None
    given = spoken.call.arguments
    about = given.get("about") or given.get("text", "")
    return continuing(spoken, ToolCall(tool="notes.recall", arguments={"about": about}))


def _routine_forgotten(text: str, last: Decision) -> Decision | None:
    """The routine forgotten that was run or defined last; why may stand beside it."""
    form, known = _ROUTINE_FORGOTTEN.get(last.language), lexicon(last.language)
    if last.tool not in ROUTINES or form is None or text.rstrip().endswith(("?", "？")):
        return None
    clauses = [one for one in BREAK.split(text) if plain(one)]
    beside = [one for one in clauses if not form.fullmatch(plain(one))]
    name = last.call.arguments.get("name") if last.call else None
    if len(beside) == len(clauses) or any(map(known.commands, beside)) or not name:
        return None
    return continuing(last, ToolCall(tool="routines.forget", arguments={"name": name}))


def all_of(said: str, memory: Memory) -> Decision | None:
    """What ends all alarms, reminders or timers: those that were told of, else that were set."""
    for spoken in (memory.told, memory.last):
        plugin = (spoken.tool or "").partition(".")[0] if spoken else ""
        if spoken and plugin in _ALL_OF:
            return continuing(spoken, _ALL_OF[plugin]) if _ALL_CANCELLED.fullmatch(said) else None
    return None


def _more_of(said: str, told: Decision) -> Decision | None:
    """What goes on with a sum or a length that was told: "and of 120?"."""
    call = told.call
    if call is None:
        return None
    other = _OF_ANOTHER.fullmatch(_figures(said, told.language))
    if call.tool == CALCULATE and other and not other["unit"]:
        expression = str(call.arguments.get("expression", ""))
        changed = _with_number(expression, other["number"], told.language)
        return continuing(told, ToolCall(tool=CALCULATE, arguments={"expression": changed}))
    more_or_less = _MORE_OR_LESS.get(told.language, NEVER).fullmatch(said)
    number = more_or_less["by"] if more_or_less else ""
    if call.tool == CALCULATE and more_or_less and _NUMBER.fullmatch(digits(number, told.language)):
        given = {name for name, value in more_or_less.groupdict().items() if value}
        sign = _SIGNS[told.language][0 if "more" in given else 1]
        expression = f"({call.arguments.get('expression', '')}) {sign} {number}"
        return continuing(told, ToolCall(tool=CALCULATE, arguments={"expression": expression}))
    if call.tool == CALCULATE and (more := _GOES_ON.get(told.language, NEVER).fullmatch(said)):
        expression = f"({call.arguments.get('expression', '')}) {more['more']}"
        return continuing(told, ToolCall(tool=CALCULATE, arguments={"expression": expression}))
    if call.tool == CONVERT and other:
        before = str(call.arguments.get("quantity", ""))
        if other["unit"] and other["unit"] not in before.casefold():
            return None  # "and 20 people" are no kilometers
        quantity = _with_number(before, other["number"], told.language)
        arguments = {**call.arguments, "quantity": quantity}
        return continuing(told, ToolCall(tool=CONVERT, arguments=arguments))
    return None


_HUNDREDS = re.compile(r"\b(\d) hundred(?:(?: and)? (\d{1,2}))?\b")


def _figures(said: str, language: str) -> str:
    """``said`` with its numbers in digits, English hundreds as well: "three hundred and fifty"."""
    if language == "zh":
        return chinese_digits(said)
    return _HUNDREDS.sub(
        lambda two: f"{100 * int(two[1]) + int(two[2] or 0)}", digits(said, language)
    )


def _with_number(expression: str, number: str, language: str) -> str:
    """A sum of another number, which is its last: 84的百分之十五 has it in front."""
    told = expression if _NUMBER.search(expression) else _figures(plain(expression), language)
    found = list(_NUMBER.finditer(told))
    if not found:
        return number
    at = found[0 if "的百分之" in told else -1]
    return told[: at.start()] + number + told[at.end() :]


def _of_the_same(said: str, last: Decision) -> Decision | None:
    """What goes on with the vacuum, the player, the timer or the heating that was spoken of."""
    domains = {entity.partition(".")[0] for entity in last.entities}
    for pattern, tools in _GO_ON:
        if pattern.fullmatch(said):
            tool = tools.get(last.tool or "") or next(
                (tools[one] for one in domains if one in tools), None
            )
            if tool is None or len(domains) > 1:
                return None
            if tool in HEARD and last.tool == TURNED_OFF:
                return None  # "the next one" is of what still plays
            kept = {"entities": list(last.entities)} if last.entities else {}
            timer = last.call.arguments if last.call else {}
            call = ToolCall(tool=tool, arguments=kept or dict(timer))
            return msgspec.structs.replace(continuing(last, call), entities=last.entities)
    return None
