"""Which thing of the home a question asks the state of: "how hot has the kiln got", "did I leave the
coop door open", 大门锁好没有.

One thing has to be named, or one room and what is measured there, and every other word has to be one
of asking or of a state. So questions for the family's documents stay these: how something is done,
what it means, what it may or should, what was once. What comes out is only ever told.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from hubd.assistant.understanding.lexicon import Lexicon, plain
from hubd.assistant.understanding.mentions import Mentions, named_entities, places
from hubd.assistant.understanding.names import called
from hubd.home.model import Entity, Snapshot

RUN = frozenset({"scene", "script", "button", "input_button", "automation", "weather"})
"""Domains of what has no state that anybody asks for."""
OBSERVED = frozenset({"person", "device_tracker", "binary_sensor", "sensor", "lock", "cover"})
"""Domains of what has no manual: a word more may be unknown in a question about one."""
MOST_UNKNOWN = 1
"""Words, or twice as many Chinese characters."""
MEASURING = {
    "temperature": frozenset({"climate", "water_heater"}),
    "humidity": frozenset({"humidifier"}),
    "illuminance": frozenset({"light"}),
    "battery": frozenset({"vacuum", "lawn_mower"}),
    "volume": frozenset({"media_player"}),
    "position": frozenset({"cover", "valve"}),
    "speed": frozenset({"fan"}),
}
"""Device class of the sensors that measure something → the domains whose things tell it as well."""


class _Forms(NamedTuple):
    """How a language asks for a state."""

    quantities: dict[str, re.Pattern[str]]
    """What is measured → how it is asked for."""
    asks: re.Pattern[str]
    """What makes a question, or a doubt, about a state."""
    state: re.Pattern[str]
    """The states."""
    otherwise: re.Pattern[str]
    """What makes a question for the documents."""
    idle: re.Pattern[str]
    """Other words of such questions."""
    measures: re.Pattern[str]
    """What a sensor is called beside the thing that it measures."""


FORMS = {
    "en": _Forms(
        quantities={
            "temperature": re.compile(r"\bhow (?:hot|warm|cold|cool|chilly)\b|\btemperature\b"),
            "humidity": re.compile(r"\bhow (?:humid|damp|moist|dry)\b|\bhumidity\b"),
            "illuminance": re.compile(r"\bhow (?:bright|dim|dark)\b"),
            "battery": re.compile(r"\bhow (?:full|charged|empty)\b|\bbattery\b"),
            "volume": re.compile(r"\bhow loud\b"),
            "position": re.compile(r"\bhow far\b"),
            "speed": re.compile(r"\bhow fast\b"),
        },
        asks=re.compile(
            r"^(?:is|are|has|have|did|does|am|what's|what is|how|any|anything|anybody|anyone|owt)\b|"
            r"\b(?:wonder|not sure|no idea|don't know|(?:can't|cannot|don't) remember|check|see|look|"
            r"know|tell me) (?:\w+ )?(?:if|whether|how|what|did)\b|^(?:did|have) (?:i|we)\b"
        ),
        state=re.compile(
            r"\b(?:open|opened|shut|closed|locked|unlocked|lock|close|on|off|running|going|home|in|"
            r"back|out|playing|paused|charging|charged|docked|full|empty|up|down|lit|finished|done|"
            r"doing|standing|left|leave|moving|mowing|cleaning)\b"
        ),
        otherwise=re.compile(
            r"\b(?:why|when|where|who|which|mean|means|should|must|may|can|could|shall|would|allowed|"
            r"supposed|how (?:do|does|to|long|often|much|many|old|come)|was|were|ever|usually|"
            r"normally|max\w*|min\w*|safe|need|needs|than|if)\b(?<!see if)(?<!know if)(?<!sure if)"
            r"(?<!wonder if)(?<!check if)(?<!remember if)(?<!tell me if)(?<!look if)"
        ),
        idle=re.compile(
            r"\b(?:how|hot|warm|cold|cool|chilly|humid|damp|moist|dry|bright|loud|fast|far|full|owt|"
            r"anything|outside|currently|at|the|moment|wonder|sure|idea|know|remember|check|see|look|"
            r"if|whether|not|no|post|mail|gone|come|become|properly|really|getting|temperature|humidity|"
            r"reading|say|says|show|shows|tell|sure|left|leave|forget|forgot|now|yet|still)\b"
        ),
        measures=re.compile(r"\b(?:temperature|thermometer|humidity|hygrometer|sensor|level|battery|"
                            r"meter|gauge|probe)\b"),
    ),
    "de": _Forms(
        quantities={
            "temperature": re.compile(r"\bwie (?:heiß|warm|kalt|kühl)\b|\btemperatur\b|\bwie viel grad\b"),
            "humidity": re.compile(r"\bwie (?:feucht|trocken)\b|feuchtigkeit\b|feuchte\b"),
            "illuminance": re.compile(r"\bwie (?:hell|dunkel)\b"),
            "battery": re.compile(r"\bwie (?:voll|leer)\b|\bakku\b|\bbatterie\b"),
            "volume": re.compile(r"\bwie laut\b"),
            "position": re.compile(r"\bwie weit\b"),
            "speed": re.compile(r"\bwie schnell\b"),
        },
        asks=re.compile(
            r"^(?:ist|sind|hat|hab|habe|haben|steht|stehen|läuft|laufen|brennt|brennen|is|wie|ob|"
            r"liegt|schläft|geht)\b|\b(?:ob|wie)\b"
        ),
        state=re.compile(
            r"\b(?:offen|auf|zu|geschlossen|abgeschlossen|abgesperrt|zugesperrt|verriegelt|versperrt|"
            r"zugemacht|aufgemacht|an|aus|ausgemacht|ausgeschaltet|angemacht|eingeschaltet|läuft|"
            r"laufen|brennt|brennen|daheim|zuhause|da|zurück|zu hause|fort|weg|drin|drinnen|voll|leer|"
            r"oben|unten|fertig|geladen|gelassen|drauf|draußen|unterwegs)\b"
        ),
        otherwise=re.compile(
            r"^(?!ist\b|hast\b)\w+st\b|\b(?:warum|wieso|weshalb|wann|wo|wer|welch\w*|bedeutet|heißt das|soll\w*|muss\w*|müss\w*|"
            r"darf\w*|dürf\w*|kann\w*|könn\w*|wie (?:lange|oft|viel(?! grad)|alt|geht|macht|mache|kann)|"
            r"war|waren|wurde\w*|normal\w*|maximal|höchstens|mindestens|wenn|falls|als)\b"
        ),
        idle=re.compile(
            r"\b(?:wie|heiß|warm|kalt|kühl|feucht|trocken|hell|laut|schnell|weit|denn|eigentlich|schon|"
            r"noch|gerade|wohl|es|weiß|nachschauen|nachsehen|schau\w*|guck\w*|sag\w*|zufällig|keine|"
            r"ahnung|nicht|sicher|vergessen|hab|habe|haben|steht|temperatur|grad|feuchtigkeit|"
            r"feuchte|post|gekommen|wieder|jetzt|momentan|aktuell|richtig)\b"
        ),
        measures=re.compile(r"(?:temperatur|thermometer|luftfeuchte|luftfeuchtigkeit|feuchte|sensor|"
                            r"fühler|akku|messer)\b"),
    ),
    "zh": _Forms(
        quantities={
            "temperature": re.compile("(?:好多|多少|几|有多)(?:度|热|冷|烫|凉)|温度|多热|多冷"),
            "humidity": re.compile("(?:好|有)?多(?:湿|潮|干)|湿度|百分之几"),
            "illuminance": re.compile("多亮|多暗"),
            "battery": re.compile("电量|(?:好多|多少|几格)电"),
            "volume": re.compile("多大声|音量"),
        },
        asks=re.compile("吗$|没有?$|没得$|不$|是不是|有没有|多少|好多|几度|多[热冷湿潮干亮]|如何|咋样$|怎么?样$"),
        state=re.compile("开|关|锁|亮|回来|回家|到家|在家|在屋|回屋|屋头|走了|出门|跑|转|运行|工作|完|好|满|空|东西|停"),
        otherwise=re.compile("为什么|为啥|咋个|怎么(?!样)|什么时候|好久|多久|哪|谁|应该|该|可以|能不能|要不要|"
                             "如果|要是|最高|最低|意思|会不会|多少钱|好多钱"),
        idle=re.compile("不晓得|晓不晓得|不知道|知不知道|晓得|知道|看一下|看下|看看|帮我|现在|还|已经|到底|是不是|"
                        "有没有|多少|好多|没有|没得|没|吗|了|着|起|里|头|面|上|的|度|有|是|好|几|热|冷|潮|湿|温|多|"
                        "开|关|锁|回|来|家|在|东|西|不|烧|烫|升|到|冰|凉|今天|这会儿|忘|记|忘记"),
        measures=re.compile("温度计?|湿度计?|传感器|电量|感应器"),
    ),
}  # fmt: skip


def asked_state(
    text: str, said: Mentions, snapshot: Snapshot, known: Lexicon
) -> Sequence[Entity]:
    """The one thing that ``text`` asks about; empty where it asks for something else."""
    forms = FORMS.get(known.language)
    if forms is None or said.everything or said.colors or said.numbers or said.times:
        return ()
    spoken = plain(text)
    stripped = known.stripped(text)
    if forms.otherwise.search(stripped) or known.commands(stripped) or known.is_elsewhere(text):
        return ()
    said_so = forms.asks.search(stripped) or forms.asks.search(spoken)
    if not (said_so or text.rstrip().endswith(("?", "？"))):
        return ()
    named = [one for one in named_entities(said, snapshot) if one.domain not in RUN]
    quantity = next((q for q, form in forms.quantities.items() if form.search(stripped)), "")
    found: Sequence[Entity] = ()
    if quantity:
        found = _measured(quantity, spoken, said, named, snapshot, forms)
    elif forms.state.search(stripped) or _holds(named):
        found = named
    if len(found) != 1:
        return ()
    unknown = forms.idle.sub("", " ".join(said.unknown) if known.spaces else "".join(said.unknown))
    names = " ".join(plain(name) for name in called(found[0]))
    rest = [w for w in (unknown.split() if known.spaces else unknown) if w not in known.common]
    rest = [w for w in rest if w not in names and not forms.state.search(w)]
    most = MOST_UNKNOWN * (1 if known.spaces else 2) if found[0].domain in OBSERVED else 0
    return found if len(rest) <= most else ()


def _measured(
    quantity: str,
    spoken: str,
    said: Mentions,
    named: Sequence[Entity],
    snapshot: Snapshot,
    forms: _Forms,
) -> Sequence[Entity]:
    """What measures ``quantity`` of the thing, or in the room, that is named."""
    sensors = [e for e in snapshot.entities if e.attributes.get("device_class") == quantity]
    domains = MEASURING[quantity]
    for fitting in (
        [e for e in named if e in sensors],
        [e for e in sensors if any(_is_of(name, spoken, forms) for name in called(e))],
        [e for e in named if e.domain in domains],
    ):
        if fitting:
            return fitting
    if named:
        return ()
    rooms = places(said, snapshot)
    there = [e for e in sensors if e.area in rooms]
    return there or [e for e in snapshot.entities if e.area in rooms and e.domain in domains]


def _holds(named: Sequence[Entity]) -> bool:
    """Whether something is named that tells what is in it: "anything in the letterbox?"."""
    return [e.domain for e in named] == ["binary_sensor"]


def _is_of(name: str, spoken: str, forms: _Forms) -> bool:
    """Whether the thing that a sensor of that name measures is spoken of."""
    core = forms.measures.sub("", plain(name)).strip()
    if len(core) < 2 or core == plain(name):
        return False
    return re.search(rf"(?<![a-zäöüß]){re.escape(core)}(?:'s|s)?(?![a-zäöüß])", spoken) is not None
