"""A wish for later of what was worked last, said whole: "it can come on again at seven", „morgen um
neun soll er wieder aufgehen“, "and down to nineteen at eleven", and what shall be done at the time
of a reminder, an alarm or another command that was set before: "switch the lamp off then too".

Words alone: what comes out is decided on like any command. How it is said is in later_of_it.yaml.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from hubd.assistant.decision import Decision
from hubd.assistant.follow_ups.set_for_a_time import LATER
from hubd.assistant.for_later.timed import A_LITTLE, Parted, parted, without_and
from hubd.assistant.understanding.data_files import words_beside
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Entity
from plugins.spoken import DAYS
from plugins.when import When, parse

_words = partial(words_beside, __file__)

MOST_THINGS = 3
"""That are told by their names."""
SET_FOR_A_TIME = LATER | {"reminders.add", "reminders.change", "alarms.set", "alarms.change"}
_TIMES = ("to", "when", "what")
"""Arguments that say a time."""
STATE = "home.state"
RUN = frozenset({"vacuum", "lawn_mower"})
"""What runs about by itself."""
A_DAY = timedelta(days=1)


def of_it_later(text: str, last: Decision | None, things: Sequence[Entity]) -> str:
    """``text`` as a command that names ``things``, which were worked last; as it stands where it
    says no time, or nothing of them. Of what was left for later it stays "it"."""
    waits = last is not None and last.tool in LATER
    if last is None or last.language not in _words():
        return text
    if not (waits or 0 < len(things) <= MOST_THINGS):
        return text
    said = parted(text, lexicon(last.language))
    if said.when == A_LITTLE:
        return text
    if not (said.when or said.every):
        return _room_done(said.command, last.language, () if waits else things) or text
    worked = last.tool != STATE
    command = _command(said.command, last.language, () if waits else things, valued=worked)
    return _whole(said, command, last.language) if command else text


def _command(said: str, language: str, things: Sequence[Entity], *, valued: bool) -> str:
    """What is wished of things, as a command; empty where nothing is.

    valued: whether a number may be what they shall be set to
    """
    words = _words()[language]
    if room := _room_done(said, language, things):
        return room
    said = _plainly(said, language)
    names = words["and"].join(one.name for one in things) or words["it"]
    kinds = {one.domain for one in things}
    runs = words["runs"].items() if kinds and kinds <= RUN else ()
    for wish, told in (*words["wishes"].items(), *runs):
        if found := re.fullmatch(wish, said):
            return found.expand(told).replace("{things}", names)
    found = re.fullmatch(words["value"], said)
    worded = words["set"].get(kinds.pop()) if len(kinds) == 1 else None
    if found is None or worded is None or not valued:
        return ""
    return str(worded).format(things=names, number=found["number"])


def _plainly(said: str, language: str) -> str:
    """``said`` without the words that say nothing of what is wished."""
    said = " ".join(re.sub(_words()[language]["beside"], " ", said).split())
    return said if lexicon(language).spaces else said.replace(" ", "")


def _room_done(said: str, language: str, things: Sequence[Entity]) -> str:
    """The room that a vacuum shall do, as a command, where it was the one that was worked."""
    if {one.domain for one in things} != {"vacuum"}:
        return ""
    said = _plainly(said, language)
    found = ((re.fullmatch(wish, said), told) for wish, told in _words()[language]["rooms"].items())
    return next((match.expand(told) for match, told in found if match), "")


def _whole(said: Parted, command: str, language: str) -> str:
    if not lexicon(language).spaces:
        return f"{said.every}{said.when}{command}"
    return " ".join(f"{command} {said.every} {said.when}".split())


def says_that_time(text: str, last: Decision | None) -> bool:
    """Whether ``text`` is of the time of what was set last: "then too"."""
    words = _words().get(last.language) if last else None
    if last is None or words is None or last.tool not in SET_FOR_A_TIME:
        return False
    return re.search(words["that_time"], plain(text)) is not None


def at_that_time(text: str, last: Decision, now: datetime) -> str:
    """``text`` with the time of what was set last in the place of "then too"; empty where that time
    cannot be said in a few words."""
    language = last.language
    words, when = _words()[language], _time_of(last, now)
    if when is None:
        return ""
    whole = re.sub(
        words["that_time"], " ", without_and(text).rstrip(" .!。！"), flags=re.IGNORECASE
    )
    told = _told(when, language, now)
    if not told:
        return ""
    if not lexicon(language).spaces:
        return told + re.sub(r"\s", "", whole)
    return " ".join(f"{whole} {told}".split())


def _time_of(last: Decision, now: datetime) -> When | None:
    given = last.arguments | (last.call.arguments if last.call else {})
    if waits := {k: float(given[k]) for k in ("hours", "minutes", "seconds") if given.get(k)}:
        return When(delay=timedelta(**waits))
    said = f"{given.get('every') or ''} {next((given[k] for k in _TIMES if given.get(k)), '')}"
    when = parse(said, last.language, now, awake=str(last.tool).startswith("reminders."))
    return when if when.at or when.delay else None


def _told(when: When, language: str, now: datetime) -> str:
    """A time of day, with its day or its days; how long it is until then."""
    words, known = _words()[language], lexicon(language)
    if when.delay is not None:
        minutes = max(1, round(when.delay.total_seconds() / 60))
        units = {"en": f"in {minutes} minutes", "de": f"in {minutes} Minuten"}
        return units.get(language, f"{minutes}分钟后")
    if when.at is None or when.cycle.every > 1 or when.cycle.month_day or when.cycle.nth:
        return ""
    day = ""
    if when.repeat:
        joint = "、" if language == "zh" else ", "
        day = words["every"].format(joint.join(DAYS[language][one] for one in when.repeat))
    elif when.on is not None and when.on != now.date():
        if when.on - now.date() != A_DAY:
            return ""
        day = words["tomorrow"]
    told = words["at"].format(f"{when.at:%H:%M}")
    return f"{day} {told}".strip() if known.spaces else f"{day}{told}"
