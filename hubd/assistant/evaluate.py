"""How well utterances are understood: against Home Assistant's corpus, and by style of speaking.

What it reads is described in the files themselves: the corpus gives intent and slots and the
fixture it is said in, ours give tool, entities and arguments.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.matched import TARGET, TEMPERATURE, asks_what_is_set
from hubd.assistant.that_clauses import CLAUSES
from hubd.assistant.understanding import intents
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import plain
from hubd.home.file import read_description
from hubd.home.model import Snapshot
from plugins.event_words import read
from plugins.german_clauses import main_clause, task
from plugins.lists import items_of, split
from plugins.reminders import task_in
from plugins.running_timers import clean_name
from plugins.when import parse

Outcome = Literal["right", "proposed", "asks", "none", "worded", "wrong", "opposite"]

OPPOSITES = {
    ("home.turn_on", "home.turn_off"),
    ("home.open", "home.close"),
    ("home.lock", "home.unlock"),
    ("media.mute", "media.unmute"),
    ("media.pause", "media.play"),
    ("vacuum.start", "vacuum.return_home"),
    ("timers.start", "timers.cancel"),
    ("timers.pause", "timers.resume"),
    ("lists.add", "lists.remove"),
    ("alarms.set", "alarms.cancel"),
}


_ARTICLE = re.compile(r"^(?:the|der|die|das|den)\s+|[《》“”]", re.IGNORECASE)
"""What is no part of an item that stands on a list, and does not matter to a search."""
SECONDS = {"hours": 3600, "minutes": 60, "seconds": 1}


TEXTS = frozenset(
    {"name", "what", "message", "text", "title", "query", "items", "item", "list_name", "event"}
)
"""Arguments in a person's own words."""


class Sample(NamedTuple):
    """An utterance of ours, with what must happen."""

    style: str
    text: str
    tool: str | None
    entities: frozenset[str]
    arguments: Mapping[str, Any]


def samples(data: Mapping[str, Any]) -> list[Sample]:
    """The samples of a paraphrase file (parsed YAML): every list in it is a style."""
    return [
        Sample(style, row[0], row[1], frozenset((row[2] or "").split()), dict(*row[3:4]))
        for style, rows in data.items()
        if isinstance(rows, list)
        for row in rows
    ]


def judged(sample: Sample, decision: Decision) -> Outcome:
    """What would happen to the person who said it.

    ``asks`` is a question back with nothing done, ``proposed`` one whether to do the right thing,
    of which it was not sure; asking for the confirmation of the right thing is right. ``worded`` is
    the right act with other words in a text of the person's ("the reminder to by stamps"),
    ``wrong`` another act, other things, another number or time. A tool that only reads, and is not
    the right one or tells something else, counts as not understood.
    """
    if decision.proposed:
        meant_so = judged(sample, msgspec.structs.replace(decision, proposed=False)) == "right"
        return "proposed" if meant_so else "asks"
    tool = decision.tool
    if decision.declined == "dropped" and sample.tool == "help.never_mind":
        return "right"
    if decision.asks in ("which", "missing") or tool is None:
        return (
            "right"
            if sample.tool is None and tool is None
            else ("asks" if tool is not None else "none")
        )
    if sample.tool is None:
        return "right" if _only_reads(tool) else "wrong"
    entities = frozenset(decision.entities)
    if tool != sample.tool:
        if (
            entities
            and entities == sample.entities
            and _only_reads(tool)
            and _only_reads(sample.tool)
        ):
            return "right"  # another way to tell the state of the same things
        pair = {(tool, sample.tool), (sample.tool, tool)}
        if pair & OPPOSITES:
            return "opposite"
        return "none" if _only_reads(tool) else "wrong"
    arguments = meant(tool, decision.call.arguments if decision.call else {}, decision.language)
    wanted = _labelled(sample, decision.language)
    if tool.startswith(("timers.", "reminders.", "routines.")) and SECONDS.keys() & wanted.keys():
        arguments, wanted = _in_seconds(arguments), _in_seconds(wanted)
    step = arguments.get("step")
    if step and sample.arguments.get("step") and step != sample.arguments["step"]:
        return "opposite"
    if entities != sample.entities:
        return "wrong" if not _only_reads(tool) else "none"
    other = {name: v for name, v in wanted.items() if not _same(arguments.get(name), v)}
    if not other:
        return "right"
    if _only_reads(tool):
        return "none"
    worded = all(_is_worded(name, arguments.get(name), value) for name, value in other.items())
    return "worded" if worded else "wrong"


def judged_parts(sample: Sample, decisions: Sequence[Decision]) -> Outcome:
    """The same of an utterance that may be several commands: all that is done counts.

    Right is what one of them does rightly where the others do nothing, or what they do together.
    """
    acting = [one for one in decisions if one.tool is not None and not _only_reads(one.tool)]
    if len(acting) > 1 and len({one.tool for one in acting}) == 1:
        entities = [entity for one in acting for entity in one.entities]
        return judged(sample, msgspec.structs.replace(acting[0], entities=entities))
    found = [judged(sample, one) for one in decisions]
    for worst in ("opposite", "wrong", "worded"):
        if worst in found:
            return worst
    return max(found, key=("none", "asks", "proposed", "right").index)


def meant(tool: str, arguments: Mapping[str, Any], language: str) -> dict[str, Any]:
    """The arguments as the tool will take them apart: items one by one, a time as a time."""
    said = dict(arguments)
    if tool == "lists.add":
        said["items"] = items_of(said.get("items", ()))
    if tool in ("lists.remove", "lists.complete"):
        item = " ".join(split(str(said.get("item", ""))))
        said["item"] = _ARTICLE.sub("", item)
    if tool == "timers.start" and said.get("name"):
        said["name"] = clean_name(str(said["name"]))
    if tool == "media.search":
        said["query"] = _ARTICLE.sub("", str(said.get("query", "")))
    if tool == "routines.later":
        when = parse(str(said.get("when", "")), language, datetime.now(UTC))
        said |= {"seconds": when.delay.total_seconds()} if when.delay else {}
    if tool in ("alarms.set", "reminders.add"):
        text = said.get("when") or said.get("what") or ""
        when = parse(text, language, datetime.now(UTC), awake=tool == "reminders.add")
        if when.delay is not None:
            said["seconds"] = when.delay.total_seconds()
        said["time"] = when.at.isoformat("minutes") if when.at else None
        what = task_in(when) if tool == "reminders.add" and not said.get("when") else when.rest
        said["what"] = _task(what or str(said.get("what") or ""), language)
    if (clause := CLAUSES.get(tool)) and tool != "reminders.add" and language == "de":
        said[clause] = main_clause(str(said.get(clause, "")))
    if tool == "calendar.add":
        event = f"{said.get('title', '')} {said.get('when', '')}"
        said["title"] = read(event, language, datetime.now(UTC)).title
    if tool in ("alarms.change", "reminders.change"):
        moment = parse(str(said.get("to", "")), language, datetime.now(UTC)).at
        said["time"] = moment.isoformat("minutes") if moment else None
    return said


def _labelled(sample: Sample, language: str) -> dict[str, Any]:
    """What a sample says must be said, in the tools' own terms: a color by its English name, the
    item that is taken from a list by itself."""
    wanted = dict(sample.arguments)
    if color := wanted.get("color"):
        tag = lexicon(language).phrases.get(plain(str(color)))
        wanted["color"] = tag.value if tag and tag.kind == "color" else color
    if sample.tool in ("lists.remove", "lists.complete") and "items" in wanted:
        wanted["item"] = " ".join(wanted.pop("items"))
    if what := wanted.get("what"):
        wanted["what"] = _task(str(what), language)
    if (clause := CLAUSES.get(sample.tool or "")) and clause in wanted and language == "de":
        that = f"dass {wanted[clause]}"
        kept = _task(that, language) if clause == "what" else main_clause(that)
        wanted[clause] = [wanted[clause], kept]
    if query := wanted.get("query"):
        wanted["query"] = _ARTICLE.sub("", str(query))
    return wanted


def _task(what: str, language: str) -> str:
    """What is kept of what somebody is reminded of, without its article."""
    return _ARTICLE.sub("", task(what) if language == "de" else what)


def _in_seconds(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A quarter of an hour, 15 minutes, 900 seconds: the same."""
    lasting = sum(arguments.get(unit, 0) * seconds for unit, seconds in SECONDS.items())
    return {key: v for key, v in arguments.items() if key not in SECONDS} | {"lasting": lasting}


def corpus_home(fixture: Mapping[str, Any]) -> Snapshot:
    """The household of a fixture of the corpus."""
    return read_description(msgspec.json.encode(fixture).decode())


class Verdict(NamedTuple):
    """Whether a sentence of the corpus was understood."""

    intent: bool
    exact: bool


def corpus_verdict(row: Mapping[str, Any], decision: Decision) -> Verdict:
    """The intent's tool, and every slot with its value, none besides."""
    tools = tools_of(str(row["intent"]), row["slots"])
    if tools == {TEMPERATURE} and asks_what_is_set(str(row["sentence"])):
        tools = {TARGET}  # which has no intent of its own there
    intent = decision.tool in tools
    said, wanted, also = decision.arguments, row["slots"], row["slots_any_of"]
    exact = all(_same(said.get(name), value) for name, value in wanted.items()) and all(
        name in wanted or value in also.get(name, ()) for name, value in said.items()
    )
    return Verdict(intent, intent and exact)


def tools_of(intent: str, slots: Mapping[str, Any]) -> set[str]:
    """The tools that may answer an intent."""
    if intent in intents.TURN:
        vacuum = {"vacuum.start"} if intent == "HassTurnOn" else {"vacuum.return_home"}
        return {tool for tool in intents.TURN[intent] if tool} | vacuum
    rule = intents.rule_of(intent, slots=slots)
    return {rule.tool} if rule else set()


def _is_worded(name: str, said: Any, wanted: Any) -> bool:
    """Whether a text, or as many items as are wanted, are only said in other words."""
    as_many = not isinstance(said, list) or len(said) == len(wanted)
    return name in TEXTS and bool(said) and as_many


def counted(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How often each outcome came."""
    counts = dict.fromkeys(get_args(Outcome), 0)
    for outcome in outcomes:
        counts[outcome] += 1
    return counts


READING = frozenset({"clock", "help", "weather", "calculator", "units", "dates"})
"""Plugins that only tell something."""


def _only_reads(tool: str) -> bool:
    if tool in ("home.state", "climate.temperature") or tool.partition(".")[0] in READING:
        return True
    return tool.endswith((".list", ".show", ".recall", ".find"))


def _same(said: Any, wanted: Any) -> bool:
    """Equal but for case; one of several ways to write it; one item or a list of it."""
    if isinstance(wanted, list) and not isinstance(said, list):
        return any(_same(said, one) for one in wanted)
    if isinstance(said, list) and isinstance(wanted, list):
        return len(said) == len(wanted) and all(map(_same, said, wanted))
    if isinstance(said, str) or isinstance(wanted, str):
        return str(said).strip().casefold() == str(wanted).strip().casefold()
    return bool(said == wanted)
