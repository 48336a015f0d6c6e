"""How things are, in words, and whether they are as it was asked. Shared by plugins; no plugin
itself."""

from collections.abc import Sequence
from datetime import datetime

from plugins.api import Entity, ToolContext
from plugins.articles import with_articles
from plugins.speech import capital, joined, moment, number, say, state_word
from plugins.whereabouts import PEOPLE, is_at

NAMED = 8
"""So many things are told by their names."""
FEW = 4
"""So many things are told as well that are not as it was asked."""
ADJECTIVES = frozenset({
    "on", "off", "open", "closed", "locked", "unlocked", "home", "not_home", "docked", "paused",
})  # fmt: skip
"""States that are said behind "is" in every language."""
NOTICED = frozenset({"on", "open", "unlocked", "home"})
"""States that are told rather than the contrary ones."""
OPENINGS = frozenset({"window", "door", "garage_door", "opening"})
"""What sensors call on and off that people call open and closed."""
UNKNOWN = frozenset({"unknown", "unavailable"})
"""The states of what does not tell how it is, in Home Assistant's words."""
PERCENT, OF_LIGHT = "percent", 2.55
MEASURED = {
    "temperature": ("current_temperature", "temperature", 1.0),
    "humidity": ("current_humidity", "humid", 1.0),
    "battery": ("battery_level", PERCENT, 1.0),
    "illuminance": ("brightness", PERCENT, OF_LIGHT),
    "volume": ("volume_level", PERCENT, 0.01),
    "position": ("current_position", PERCENT, 1.0),
    "speed": ("percentage", PERCENT, 1.0),
}
"""What may be asked of a thing that is no sensor → the attribute that tells it, how it is said, and
what one of that is there."""
TOLD_WHERE_OFF = frozenset({"temperature", "humidity", "battery", "position"})
"""What a thing tells that is off, or closed."""
_OF = {
    "en": "{0} of {1} {2}", "de": "{0} von {1} {2}", "zh": "{1}个里{0}个{2}",
    "fr": "{0} sur {1} {2}", "es": "{0} de {1} {2}",
}  # fmt: skip

_CLAUSES, _STOP = {"zh": "，"}, {"zh": "。"}


def answer(context: ToolContext, things: Sequence[Entity], state: str) -> str:
    """Whether things are as it was asked. Where some are and some are not, both are told, or how
    many are, so that it is true whether any or all of them were meant."""
    language = context.language
    if values := _values(context, things, state):
        return values
    if all(_does_not_tell(one, state) for one in things):
        return how(context, things)
    alike = [one for one in things if _is_in(one, state, language)]
    others = [one for one in things if one not in alike]
    if not others:
        names = [one.name for one in alike]
        word = told(context, alike[0]) if len(alike) == 1 else _word(alike[0], language, names)
        said = _sentence(language, "yes_is", alike)
        return said or say(language, "yes", [_names(context, alike)], word)
    if not alike and len(things) == 1:
        said = _sentence(language, "no_is", things)
        return said or say(language, "no", [things[0].name], told(context, things[0]))
    if not alike:
        untold = _by_state(context, [one for one in things if one.state in UNKNOWN])
        return f"{say(language, 'none_in_state')} {untold}".strip()
    if said := _both_ways(language, alike, others) or _the_others(language, alike, others):
        return said
    word = _word(alike[0], language, [one.name for one in alike])
    count = _OF.get(language, _OF["en"]).format(len(alike), len(things), word)
    text = say(language, "state", [count], _names(context, alike))
    if state == "on" and len(things) > FEW and len({one.domain for one in things}) > 1:
        others = [one for one in others if one.state != "off"]  # who asks what is on wants no more
    if len(others) <= max(len(alike), FEW):
        text = f"{text} {_by_state(context, others)}".strip()
    return text


def measured(entity: Entity, quantity: str) -> float | None:
    """How much there is of that (a key of ``MEASURED``), where a thing tells it."""
    attribute, _, one = MEASURED.get(quantity, ("", "", 1.0))
    value = entity.attributes.get(attribute)
    runs = entity.state not in ("off", "idle", "standby") or quantity in TOLD_WHERE_OFF
    if not isinstance(value, int | float) or entity.state in UNKNOWN or not runs:
        return None
    return float(value) / one


def _values(context: ToolContext, things: Sequence[Entity], quantity: str) -> str:
    """How much there is of that, one thing after the other; empty where one does not tell."""
    values = [measured(one, quantity) for one in things[:NAMED]]
    if not values or None in values:
        return ""
    key = MEASURED[quantity][1]
    return " ".join(
        say(context.language, key, [one.name], round(value, 1))
        for one, value in zip(things[:NAMED], values, strict=True)
        if value is not None
    )


def _sentence(language: str, key: str, things: Sequence[Entity]) -> str:
    """``Yes, the front door is locked.``; empty where their state is no adjective, or they are too
    many to be said so."""
    words = {_word(one, language) for one in things}
    plain = all(one.state in ADJECTIVES or _is_sensed(one) for one in things)
    if len(words) != 1 or len(things) > FEW or not plain or any(map(_played, things)):
        return ""
    names = [one.name for one in things]
    plural = True if len(names) > 1 else None
    word = _word(things[0], language, names)
    return say(language, key, [with_articles(names, language)], word, plural=plural)


def _both_ways(language: str, alike: Sequence[Entity], others: Sequence[Entity]) -> str:
    """``The window is open, the garage door is closed.``; empty where that cannot be said so, or
    they are too many."""
    groups = [alike, *_alike(others, language).values()]
    clauses = [_sentence(language, "is_so", group) for group in groups]
    return _whole(clauses, language) if len(alike) + len(others) <= FEW else ""


def _the_others(language: str, alike: Sequence[Entity], others: Sequence[Entity]) -> str:
    """``The lamp and the radio are on, the other 9 are off.``: those are named that are on, open or
    unlocked, where they are few, else the others; empty where all are too many."""
    if any(one.state in UNKNOWN for one in (*alike, *others)):
        return ""
    first, second = sorted((alike, others), key=lambda some: some[0].state not in NOTICED)
    for few, many in ((first, second), (second, first)):
        clause = _sentence(language, "is_so", few)
        are_alike = len(many) > 1 == len(_alike(many, language))
        if clause and are_alike and not any(map(_played, many)):
            word = _word(many[0], language, [one.name for one in many])
            rest = say(language, "the_others", [word], value=len(many))
            return _whole([clause, rest], language)
    return ""


def _whole(clauses: Sequence[str], language: str) -> str:
    """Clauses as a sentence; empty where one is."""
    if not all(clauses):
        return ""
    said = _CLAUSES.get(language, ", ").join(clauses)
    return f"{capital(said)}{_STOP.get(language, '.')}"


def _alike(things: Sequence[Entity], language: str) -> dict[str, list[Entity]]:
    """Word for how they are → things that are so."""
    words: dict[str, list[Entity]] = {}
    for one in things:
        words.setdefault(_word(one, language), []).append(one)
    return words


def _is_sensed(entity: Entity) -> bool:
    return entity.domain == "binary_sensor" and entity.attributes.get("device_class") in OPENINGS


def how(context: ToolContext, things: Sequence[Entity]) -> str:
    """``The front door is locked.``, ``Thermostat: heating.``"""
    language = context.language
    return " ".join(
        _whole([_sentence(language, "is_so", [one])], language)
        or say(language, "state", [one.name], told(context, one))
        for one in things[:NAMED]
    )


def told(context: ToolContext, entity: Entity) -> str:
    """How a thing is, in words: ``open``, ``19.5 °C``, ``playing: Nocturne, Chopin``."""
    language = context.language
    unit = entity.attributes.get("unit_of_measurement")
    if entity.state not in UNKNOWN and unit:
        return f"{_figure(entity.state, language)} {unit}"
    if entity.attributes.get("device_class") == "timestamp":
        return _moment(context, entity.state)
    word, played = _word(entity, language, [entity.name]), _played(entity)
    return f"{word}: {played}" if played else word


def _word(entity: Entity, language: str, names: Sequence[str] = ()) -> str:
    """``open``, ``wet``: how a thing is, by what it senses; names: as `state_word`."""
    device_class = str(entity.attributes.get("device_class", ""))
    return state_word(entity.state, language, device_class, names)


def _figure(state: str, language: str) -> str:
    """A measured value as it is said; as it is where it is none."""
    try:
        return number(float(state), language)
    except ValueError:
        return state


def _moment(context: ToolContext, state: str) -> str:
    """``today 14:32``, of a sensor whose state is a time."""
    try:
        then = datetime.fromisoformat(state).astimezone(context.now.tzinfo)
    except ValueError:
        return state_word(state, context.language)
    return moment(then, context.now, context.language)


def _does_not_tell(entity: Entity, state: str) -> bool:
    """Whether neither yes nor no follows from how a thing is."""
    in_doubt = entity.domain in PEOPLE and is_at(entity, state) is None
    return in_doubt or (entity.state in UNKNOWN and state not in UNKNOWN)


def _is_in(entity: Entity, state: str, language: str) -> bool:
    """A sensor's "on" is called open, wet or detected by what it senses."""
    if entity.domain in PEOPLE:
        return is_at(entity, state) is True
    called = {entity.state, *(_word(entity, one) for one in ("en", language))}
    spoken = entity.attributes.get("spoken")
    return state.casefold() in {word.casefold() for word in called} or spoken == state


def _names(context: ToolContext, things: Sequence[Entity]) -> str:
    names = [one.name for one in things]
    if len(names) <= NAMED:
        return joined(context.language, names)
    more = say(context.language, "and_more", value=len(names) - NAMED)
    return f"{', '.join(names[:NAMED])} {more}"


def _by_state(context: ToolContext, things: Sequence[Entity]) -> str:
    """``Unlocked: Back Door. Unavailable: Side Door.``"""
    texts = []
    for alike in _alike(things, context.language).values():
        word = _word(alike[0], context.language, [one.name for one in alike])
        label = capital(word)
        texts.append(say(context.language, "state", [label], _names(context, alike)))
    return " ".join(texts)


def _played(entity: Entity) -> str:
    """Title and artist of what a player plays, or has paused; empty where it does not say."""
    if entity.state not in ("playing", "paused"):
        return ""
    said = (entity.attributes.get(key) for key in ("media_title", "media_artist"))
    return ", ".join(str(one) for one in said if one)
