"""How routines are defined, run and forgotten by names that people give. No plugin itself.

The sentence files know a few names; a comma, which they do not see, says where any other ends.
"""

import re
from typing import NamedTuple

from plugins.german_clauses import as_requests

_OPENING = re.compile(
    r"(?:[好那嗯]+[，,])?(?:以后|从现在起|从今以后|今后|往后)[，,]?(?=.*[说喊讲])|"
    r"(?:(?:let's see|so|right|ok(?:ay)?|well|now|hey|please|also|gut|pass auf|bitte|"
    r"ab (?:jetzt|sofort)|from now on|in future|immer(?= wenn))\b[, ]*)*",
    re.IGNORECASE,
)
"""What may stand before a definition and says nothing."""
_QUOTES = "\"'„“”‚‘’「」"
_DEFINED = {
    "en": (
        r"(?:when(?:ever)?|if) (?:i|we|anyone|anybody|someone) says?,? (?P<name>[^,:]{1,40}?)"
        r"(?: ?[,:] ?(?:then |please |do )?| then | please )(?P<commands>.+)",
        r"(?:please )?(?:make|create|add|set up|define|save) (?:a |me a |the )?(?:new )?routine "
        r"(?:called |named )?(?P<name>[^,:]{1,40}?)(?: ?[,:] ?| that | which | to | with )"
        r"(?P<commands>.+)",
    ),
    "de": (
        r"wenn (?:ich|wir|jemand) (?P<name>[^,:]{1,40}?) sag(?:e|en|t)?(?: ?[,:] ?| )(?:dann )?"
        r"(?P<commands>.+)",
        r"(?:erstell|mach|leg)e? (?:mir |uns |bitte )*eine (?:neue )?routine(?: an)?,? "
        r"(?:die|namens) "
        r"(?P<name>[^,:]{1,40}?)(?: an)?(?: heißt)?,? (?:und|die) (?P<clause>.+)",
        r"(?:erstell|mach|leg)e? (?:mir )?eine (?:neue )?routine (?:namens |mit (?:dem )?namen )?"
        r"(?P<name>[^,:]{1,40}?)(?: an)? ?[,:] ?(?P<commands>.+)",
    ),
    "zh": (
        r"(?:当|如果|每当|每次|只要|要是|等)*(?:我们?|谁|有人|大家)一?(?:说|喊|讲)(?![过的])[“\"]?"
        r"(?P<name>[^，,：:“”\"]{1,12}?)[”\"]?"
        r"(?:(?:的时候|时候|以后|之后|时(?=[，,：:就]))[，,：:]?[你您]?(?:就|请)?|"
        r"[，,：:][你您]?(?:就|请)|就)"
        r"(?:请|帮我|给我)*(?P<commands>.+)",
        r"(?:当|如果|每当)(?:我|我们)说(?P<name>[^，,：:]{1,12}?)[，,：:](?P<commands>.+)",
        r"(?:创建|新建|添加|建)(?:一个)?(?:例程|流程)(?:叫|名叫|叫做)?(?P<name>[^，,：:]{1,12}?)"
        r"[，,：:](?P<commands>.+)",
    ),
    "fr": (
        r"quand (?:je dis|on dit|nous disons) (?P<name>[^,:]{1,40}?) ?[,:] ?(?P<commands>.+)",
    ),
    "es": (
        r"cuando (?:diga|digamos|digo) (?P<name>[^,:]{1,40}?) ?[,:] ?(?P<commands>.+)",
    ),
}  # fmt: skip
_RUN = re.compile(
    r"(?:请|帮我)?(?:运行|执行|开始|启动|打开)(?P<said>.+?)(?:例程|流程)?(?:吧)?|"
    r"(?:(?:please |bitte )?(?:run|start|do|begin|launch|activate|execute|starte?|mache?|führe?|"
    r"aktiviere?|lance|exécute|ejecuta|inicia) )?(?:the |my |our |die |meine |la )?(?P<name>.+?)"
    r"(?: routine)?(?: please| bitte| aus| an| starten| ausführen)?"
)
_AROUND = {
    "en": (
        r"^(?:(?:so|right|well|ok(?:ay)?|alright|now|then|and|finally|really|it's|that's|time for)"
        r"\b[, ]*)*",
        r"(?:[, ]+(?:now|then|for real|really|please|at last|finally|time))+$",
    ),
    "de": (
        r"^(?:(?:so|jetzt|aber|wirklich|na|gut|dann|also|ok(?:ay)?|endlich|nun|und|ja|ach|"
        r"(?<=jetzt )ist|(?<=dann )ist)\b[, ]*)*",
        r"(?:[, ]+(?:jetzt|dann|aber|wirklich|endlich|bitte|mal|für heute))+$",
    ),
    "zh": (
        r"^(?:好[了啦吧]?|那就?|这下|现在|真的|可以|行了?|终于|[，, ])*",
        r"(?:了|吧|啦|啊|[，, ])+$",
    ),
}
"""What may be said before the name of a routine that is meant, and behind it."""
_FORGET = re.compile(
    r"(?:forget|delete|remove|lösche?|vergiss|entferne?|oublie|supprime|olvida|borra) "
    r"(?:the |my |our |die |meine |la )?(?:routine )?(?P<name>.+?)(?: routine)?|"
    r"(?:忘掉|删除|删掉)(?:例程|流程)?(?P<said>.+?)(?:例程|流程)?|"
    r"(?:i|we) (?:don't|do not|no longer) need (?:the |my |our )?(?:routine )?(?P<needless>.+?)"
    r"(?: routine)?(?: any ?more| now)?(?:,? (?:so |and )?(?:you can |please )?"
    r"(?:delete|forget|remove|scrap) it)?|"
    r"(?:get rid of|scrap|drop) (?:the |my |our )?(?P<scrapped>.+?)(?: routine)?|"
    r"(?:die |den )?(?:routine |befehl )?(?P<nutzlos>.+?) "
    r"(?:brauche?n?|brauch) (?:ich|wir) nicht mehr"
    r"(?:,? (?:bitte )?(?:lösche?|vergiss|streiche?) (?:sie|ihn|es|das)(?: bitte| wieder)*|"
    r",? (?:die|den|das) kannst du (?:löschen|vergessen|streichen))?|"
    r"把?(?P<off>.+?)(?:这个|那个|这条|那条|的)*(?:口令|暗号|口号|指令|例程|流程|快捷指令|命令)?"
    r"(?:给我)?(?:不要|不用|没用|用不着|取消|删掉|删除|删|忘掉|去掉)了?"
    r"(?:[，,]?(?:把它)?(?:给我)?(?:删掉|删除|删|忘掉|去掉|取消)了?)?(?:吧|啊|哈)*"
)
_GOOD_NIGHT = frozenset({"good night", "gute nacht", "晚安", "bonne nuit", "buenas noches"})
_DOES = re.compile(
    r"(^|, | and | then |; )(turns|switches|closes|opens|locks|starts|stops|sets|plays|dims|runs|"
    r"raises|lowers|pauses|puts|makes|mutes)\b"
)


_ASKED_WHEN = {
    "en": r"when (?:does|will|is|do|are) (?:the |my |our |all the )?(?P<thing>.+?) "
    r"(?:going to |set to |supposed to )*"
    r"(?:be |get |turn |switch |go |come |turned |switched |shut )*"
    r"(?:itself |back )*(?P<way>on|off|open|close|up|down)(?: again)?",
    "de": r"(?:um )?(?:wann|wie viel uhr) "
    r"(?:geht|gehen|schaltet|schalten|wird|werden|fährt|macht) (?:sich )?"
    r"(?:der |die |das |unser |mein )?(?P<thing>.+?) (?:sich |von selbst |wieder )*"
    r"(?P<way>an|aus|ein|auf|zu|hoch|runter)(?:geschaltet|gemacht|geschalten)?",
    "zh": r"(?:现在)?(?P<thing>.+?)(?:现在)?(?:会|是|要|该)?(?:什么时候|啥时候|几点|多久以?后)"
    r"(?:会|要|自己|自动|再)*(?P<way>关|开|停|打开|关掉|关上|拉开|拉上)(?:掉|上|了|的)*(?:呢|啊)?",
}
_WAYS = {
    "打开": "开",
    "关掉": "关",
    "关上": "关",
    "拉上": "关",
    "拉开": "开",
    "停": "关",
    "ein": "an",
}


class AskedWhen(NamedTuple):
    """A thing, and what is done with it: "the TV", "off"."""

    thing: str
    way: str

    def is_of(self, command: str) -> bool:
        """Whether a command does that."""
        said = command.casefold()
        way = _WAYS.get(self.way, self.way)
        does = way in said if re.match("[\u4e00-\u9fff]", way) else re.search(rf"\b{way}\b", said)
        return bool(does) and self.thing in said


def asked_when_done(question: str, language: str) -> AskedWhen | None:
    """What it is asked of when that is done; ``None`` where nothing of the kind is."""
    said = question.casefold().strip(" .?？。!！")
    found = re.fullmatch(_ASKED_WHEN.get(language, r"(?!)"), said)
    return AskedWhen(found["thing"].strip(), found["way"]) if found else None


class Defined(NamedTuple):
    name: str
    commands: str


def defined(text: str, language: str) -> Defined | None:
    """The name and the commands of a routine that ``text`` defines; ``None``: it defines none."""
    said = text.strip(" .!。！")
    said = said[_OPENING.match(said).end() :]  # type: ignore[union-attr]  # it matches nothing, too
    for pattern in _DEFINED.get(language, ()):
        if found := re.fullmatch(pattern, said, re.IGNORECASE):
            given = found.groupdict()
            name = found["name"].strip(f" {_QUOTES}")
            commands = (given.get("commands") or as_requests(given.get("clause") or "")).strip()
            if not commands:
                continue
            commands = _DOES.sub(_as_command, commands) if language == "en" else commands
            return Defined(name, commands) if name else None
    return None


def _as_command(said: re.Match[str]) -> str:
    """ "Turns off the TV" → "turn off the TV"."""
    verb = said[2]
    return said[1] + verb.removesuffix("es" if verb == "switches" else "s")


def run(text: str) -> str:
    """The name that ``text`` may be, with or without a word that says to run it."""
    return _named(_RUN, text)


def run_beside(text: str, language: str) -> list[str]:
    """The names that ``text`` may be without what is said around one, the longest first: „So, jetzt
    aber wirklich Feierabend“; none where it asks."""
    if text.rstrip().endswith(("?", "？")) or language not in _AROUND:
        return []
    before, behind = _AROUND[language]
    said = text.casefold().strip(f" .!。！,，{_QUOTES}")
    bare = re.sub(before, "", said)
    return [one for one in dict.fromkeys((said, bare, re.sub(behind, "", bare))) if one]


def forgotten(text: str) -> str:
    """The name that ``text`` asks to forget; empty where it does not."""
    return _named(_FORGET, text)


def _named(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.fullmatch(text.casefold().strip(f" .!。！,，{_QUOTES}"))
    name = next(filter(None, found.groups()), "") if found else ""
    return name.strip(f" {_QUOTES}")


def is_good_night(name: str) -> bool:
    """Whether a name is what is said before going to bed."""
    return key_of(name) in _GOOD_NIGHT


def key_of(name: str) -> str:
    """A routine's name as it is kept: whatever its capitals and spaces."""
    return " ".join(name.casefold().split())
