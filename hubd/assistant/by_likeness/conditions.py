"""What has to hold before the likeliest intent of an utterance counts.

The words have to leave its call possible, it has to be sure enough, and nothing that is unknown may
change what it means. Looks at what was said and at the household; decides nothing itself.
"""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from hubd.assistant.follow_ups.follow import PRONOUNS
from hubd.assistant.supported import has_verb, verb_is_known
from hubd.assistant.understanding.compose import STEPPED, UNCLEAR, is_awning
from hubd.assistant.understanding.fill import TIMER, Filled
from hubd.assistant.understanding.lexicon import Lexicon, lexicon, turned
from hubd.assistant.understanding.likeness import Guess, Intent, opposed, vocabulary
from hubd.assistant.understanding.mentions import Mentions, named_entities
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.polarity import OPPOSITE, contradiction, undoes
from hubd.assistant.understanding.targets import ALREADY
from hubd.home.model import Snapshot
from plugins.api import ToolCall

ACCEPTED = 0.5
"""The confidence from which an intent counts whose things are named; docs/assistant.md has the
curve that it was chosen from."""
ACCEPTED_UNSPOKEN = 0.75
"""The same where no known verb is said, or only the asking device's room tells what is meant."""
MOST_STRANGE = 2
"""Words that neither the household, the lexicon nor the intent's examples know, in an utterance
that names its things; one more where the intent is sure. In a question that names nothing none, and
one where it is sure and speaks of what the tool is about: "which day is the museum trip" is like
"which day is it"."""
NAMELESS = frozenset({"alarms", "reminders"})
"""What a word that nobody knows is no name of: "when is the alarm serviced" is no question for the
alarms that are set, but "how long is left on the egg timer" may be one."""
RUNS = ("home.activate", "climate.")
"""Tools that have scenes, programs and modes."""
SWITCHING = frozenset({"on", "off", "open", "close", "lock", "unlock", "toggle", "stop"})
SWITCHED = frozenset(
    {"light", "switch", "fan", "media_player", "climate", "humidifier", "input_boolean", "vacuum"}
)
MOVED = frozenset({"cover", "valve", "lock"})
"""Domains of what is switched, and of what is opened."""
OPENS = frozenset({"home.open", "home.close"})
ACTIVATE = "home.activate"
_TELLS_OF_IT = re.compile(
    r"^(?:i|we|they|he|she|you|everyone|the kids)(?: just| really| all)* (?:\w{2,}ed|had|saw|did) "
    r"|^(?:ich|wir|sie|er|alle) (?:hatten?|habe?n?|fanden?|mochten?) |^.{0,4}(?:用了|看了|挺|很好)"
)
"""What says that a scene was on, or how it was: "they loved movie night"."""
TURN_ON = "home.turn_on"
PAUSE = "media.pause"
CLIMATE = "climate.change"
KEEPING = frozenset({"timers", "alarms", "reminders", "lists"})
"""The plugins of what the hub keeps itself, which is no thing of the house."""
KEPT = tuple(f"{plugin}." for plugin in sorted(KEEPING))
"""How the names of their tools begin."""
OF_DAYS = frozenset({"briefing.tell", "calendar.agenda"})
"""Tools that tell of a day: what shall be done is no question for them."""
TOLD_SO = frozenset({"media.play", "media.pause", "mower.start", "vacuum.start"})
"""Tools of what people say is so where they wish the opposite: "the music is still playing"."""
NEEDS_A_THING = frozenset({"home.turn_off", "home.open"})
"""Tools that a phrase asks for only where a thing, a room or a kind of thing is spoken of."""
CHARACTERS_A_WORD = 2
USUAL = 2
"""Examples of a tool that have a word which is usual for it: with one, words that nobody knew were
so for that reason alone."""
SURE = 0.9
MOST_TOLD = 1
"""Unknown words in a sentence that tells something and says no verb of a command, or that gives a
timer's duration."""
LONG = 5
"""Words beside the names in a sentence where an unknown one is hardly the verb."""
LIKELY = 0.7
"""How likely an intent is then at least."""
MOST_ASIDE = 0.3
"""How many of these words are unknown then."""
MOST_OPPOSED = 0.25
"""How likely the opposite may be, as a part of the likeliest."""


class Candidate(NamedTuple):
    """An intent, the call that it is here, and how likely it is among those that are left."""

    guess: Guess
    filled: Filled
    confidence: float


def agrees(filled: Filled, said: Mentions, snapshot: Snapshot, language: str) -> bool:
    """Whether the words leave a call possible that does something."""
    # "The kettle for 5 minutes" is no timer, and "the lamp at 8 pm" no brightness.
    works = bool(filled.targets.entities)
    if said.times and (works or (said.names and said.actions & SWITCHING)):
        return False
    named = named_entities(said, snapshot)
    if any(entity.domain == "person" for entity in named):
        return False  # "Tom said he would lock the door"
    if works and not filled.named and not is_implied_by(filled.call, said):
        return False  # "I'm off out": of nothing that could be worked
    kinds = {entity.domain for entity in filled.targets.entities}
    somewhere = said.names or said.areas or said.floors or said.domains
    if filled.call.tool in NEEDS_A_THING and not (somewhere or said.hints & kinds):
        return False  # "nobody's listening to me" turns off no lights
    spelled = said.spelled(said.names)
    if filled.call.tool == ACTIVATE and not (spelled or (said.names and said.actions)):
        return False  # a room is no scene, and "my phone in the" sounds like a movie night
    if filled.call.tool == ACTIVATE and _TELLS_OF_IT.search(plain(said.text)):
        return False
    others = {entity.domain for entity in named} - kinds
    if filled.call.tool == ACTIVATE and others and said.actions & SWITCHING:
        return False  # 电热毯打开奶奶要睡觉了: why it shall be on is no scene
    if not works and said.names and said.actions & SWITCHING:
        return False  # "the lamp off at 8 every day" is no alarm
    switched = said.actions & {"on", "off"} and not (said.names or said.areas)
    if switched and filled.call.tool in STEPPED.values():
        return False  # "sauna on" is no complaint of the heat
    of_a_thing = said.names or said.nouns
    if filled.call.tool.startswith("timers.") and of_a_thing and "timers" not in said.subjects:
        return False  # "the sauna for ten minutes"
    if times_a_thing(filled.call.tool, said):
        return False
    if filled.call.tool.startswith("timers.") and said.subjects & NAMELESS:
        return False  # "remind me in half an hour, no, make it forty minutes"
    if filled.call.tool == "alarms.set" and "alarms" not in said.subjects:
        return False  # "I woke up at five", "my meeting is at eight"
    if works and said.subjects & KEEPING and not (said.names or said.areas or said.domains):
        return False  # "the timer I stopped, let it carry on" plays no music
    if not works and not filled.named and not filled.call.arguments:
        return False  # "tomorrow" cancels no alarm
    if "run" in said.actions and works and not filled.call.tool.startswith(RUNS):
        return False  # "start the cast-off scene", which is none of here, sets nothing else off
    if _is_so_already(filled, said):
        return False  # "the lamp is too dark": it wants to be brighter
    if _says_nothing(said, lexicon(language)) and not (said.numbers or said.colors):
        return False  # "the lights" alone: on or off? "the timer": what of it?
    if is_awning(filled.targets.entities) and said.actions <= UNCLEAR:
        return False
    return _says_so(filled.call, said, lexicon(language))


def acceptable(
    guesses: Sequence[Guess],
    found: Candidate,
    said: Mentions,
    language: str,
    *,
    reads: bool,
) -> bool:
    """Whether the likeliest intent is sure enough, and nothing speaks against it.

    reads: whether its tool only tells something
    """
    guess, filled, confidence = found
    known = lexicon(language)
    if guess.intent.tool in OF_DAYS and said.actions:
        return False  # "could you cancel tomorrow's alarm? I've got the day off"
    spoken = filled.named and has_verb(filled.call.tool, said, filled.call.arguments)
    if confidence < (ACCEPTED if spoken else ACCEPTED_UNSPOKEN):
        return False
    if confidence < SURE and _is_misspelled_room(said):
        return False  # the dining room is no living room
    another = not said.names and known.names_another(said.unnamed)
    if filled.targets.entities and (said.rooms_not_here or another):
        return False
    unknown = {word.removesuffix("'s") for word in said.unknown}
    usual = vocabulary(guess.intent.tool, language, examples=USUAL)
    strange = unknown - usual - known.common
    kinds = {entity.domain for entity in filled.targets.entities}
    played = guess.intent.tool == TURN_ON and kinds == {"media_player"} and bool(strange)
    if played and not known.commands(said.text):
        return False  # "The Frank and Walters, on the kitchen radio" is what shall be played
    verb = verb_is_known(guess.intent.tool, said, guess.intent.arguments.get("step"))
    # "We're fumbling for our shoes in the hall" tells something: no unknown verb commands.
    tells = known.remarks(said.text) and confidence >= SURE and len(strange) <= MOST_TOLD
    aside = not (verb or reads) and _is_aside(guess, said, strange, known)
    if (strange or said.guessed) and not (reads or verb or tells or aside):
        return False
    works = bool(filled.targets.entities) and known.spaces
    asks = works and not (reads or verb or tells or is_implied(guess.intent, said))
    if asks and strange.intersection(said.unnamed.split()[:1]):
        return False  # "hang the lanterns higher"
    far = unknown if filled.targets.entities else strange  # "at ten in the morning" is no place
    far = far - known.complained_of  # "crumbs on the floor"
    implied = is_implied(guess.intent, said)
    names = [name for name in said.names if implied or not known.is_noun(name)]
    if not (reads or names or said.areas) and known.places(_without_floors(said), far):
        return False  # "the lights in the dungeon" are none of here, nor is a caravan's heating
    allowed = _strange_allowed(said, language, confidence, reads)
    if implied and not reads:
        if not said.names and known.complains_of(said.text, unknown):
            return False
        # A phrase says what is wrong, and the rest why: but not "in the dungeon".
        strange &= _words_of(known.without_implied(said.text), known)
        allowed = max(2 * allowed, 1)
        if not said.names and known.places(said.text, strange):
            return False
    if len(strange) > allowed and not aside:
        return False
    if reads or implied:
        return True
    against = sum(g.confidence for g in guesses if opposed(g.intent, guess.intent))
    return against <= MOST_OPPOSED * guess.confidence


def names_another(found: Candidate, said: Mentions, snapshot: Snapshot) -> bool:
    """Whether something is named that would not be worked, while others would be: the dehumidifier
    in the cellar is no cellar light. Not where it complains: the extractor, and the smoke."""
    if is_implied(found.guess.intent, said):
        return False
    worked = {entity.name for entity in found.filled.targets.entities}
    kinds = SWITCHED | MOVED
    named = {e.name for e in named_entities(said, snapshot) if e.domain in kinds}
    return not worked.issuperset(named.intersection(said.spelled(said.names)))


def sounds_like_others(said: Mentions, snapshot: Snapshot) -> bool:
    """Whether two names only sound so ("open the sit in room curtains, its day light" opens no
    skylight), or one does of a word that something else is called by: the cooker is no hoover where
    there is a cooker hood."""
    guessed = {name for name in said.names if name not in said.spelled(said.names)}
    if not guessed:
        return False
    others = [e for e in snapshot.entities if not guessed & {e.name, *e.aliases}]
    words = {word for e in others for word in plain(e.name).split() if " " in plain(e.name)}
    own = {word for name in guessed for word in plain(name).split()}  # one of two shutters
    heard = set(said.text.split()) - set(said.unnamed.split()) - own
    return len(guessed) > 1 or bool(words & heard)


def times_a_thing(tool: str, said: Mentions) -> bool:
    """Whether a timer would be begun for something that is worked, and may not be there: "the
    microwave on for two minutes"."""
    return tool == TIMER and bool(said.actions & SWITCHING) and not said.subjects


def is_in_its_room(found: Filled, said: Mentions, snapshot: Snapshot, known: Lexicon) -> bool:
    """Whether a verb is said of what is called by its room and a word that nobody knows, where more
    than one thing may be meant: "turn off the kitchen lied" is not all that is there."""
    if not known.spaces or said.names or said.domains or said.hints:
        return False
    strange = set(said.unknown) - known.common
    if not any(f" {plain(area)} {word}" in said.text for area in said.areas for word in strange):
        return False
    kinds = MOVED if found.call.tool in OPENS else SWITCHED
    rooms = {entity.area for entity in found.targets.entities}
    there = [one for one in snapshot.entities if one.area in rooms and one.domain in kinds]
    return bool(said.actions & SWITCHING) and len(there) > 1


def inquires(said: Mentions, known: Lexicon) -> bool:
    """Whether it is a question. "Dusty has done enough" is none, though "has" begins what is left
    of it."""
    return known.inquires(said.text) and known.inquires(known.without_implied(said.text))


def is_implied(intent: Intent, said: Mentions) -> bool:
    return is_implied_by(ToolCall(tool=intent.tool, arguments=dict(intent.arguments)), said)


def is_implied_by(call: ToolCall, said: Mentions) -> bool:
    return call.tool in said.implied or f"{call.tool}:{call.arguments.get('step')}" in said.implied


def _without_floors(said: Mentions) -> str:
    """The text with a mark in the place of each floor: "im Keller brennt" is no strange place."""
    text = said.text
    for floor in said.floors:
        text = text.replace(plain(floor), "-")
    return text


def _words_of(text: str, known: Lexicon) -> set[str]:
    return {word.removesuffix("'s") for word in (text.split() if known.spaces else text)}


def _is_aside(guess: Guess, said: Mentions, strange: Collection[str], known: Lexicon) -> bool:
    """Whether the unknown words are hardly the verb: a few in a long sentence that speaks of
    something and does not begin with one, or one beside a timer's duration, "set a dimer for eight
    minutes"."""
    a_word = 1 if known.spaces else CHARACTERS_A_WORD
    if guess.intent.tool == TIMER:
        return guess.confidence >= SURE and len(strange) <= MOST_TOLD * a_word
    words = said.unnamed.split() if known.spaces else said.unnamed
    if len(words) < LONG * a_word or (known.spaces and words[0] in strange) or said.numbers:
        return False  # "twenty tree degrees" are not 20
    speaks_of = said.names or said.areas or said.floors or said.subjects
    few = len(strange) <= MOST_ASIDE * len(words)
    return bool(speaks_of) and few and guess.confidence >= LIKELY


def _is_misspelled_room(said: Mentions) -> bool:
    """Whether nothing but a room tells what is meant, and its name is said otherwise."""
    return bool(said.areas) and not said.names and not said.spelled(said.areas)


def _is_so_already(filled: Filled, said: Mentions) -> bool:
    """Whether nobody says what shall be done, and it would only make things what they are: "the
    awning is still in" does not wish it in. What is off becomes no warmer."""
    tells = filled.call.tool == PAUSE  # 音箱停在半道儿上了 tells, with the verb of pausing
    if (said.actions and not tells) or not filled.targets.entities:
        return False
    states = {entity.state for entity in filled.targets.entities}
    if filled.call.tool == CLIMATE:
        return states == {"off"}
    if filled.call.tool == TURN_ON:
        return filled.named and not states & {"off", "unknown", "unavailable"}
    named = filled.named if filled.call.tool in TOLD_SO else bool(said.names)
    return named and states == {ALREADY.get(filled.call.tool)}


def _strange_allowed(said: Mentions, language: str, confidence: float, reads: bool) -> int:
    """How many unknown words may be in an utterance."""
    if reads:
        sure = bool(said.subjects - NAMELESS) and confidence >= SURE
        words = MOST_STRANGE if said.names else int(sure)
    else:
        words = MOST_STRANGE if said.names else 1 if said.areas else 0
        # Never where only a kind of thing is named: "the lights in the dungeon" are not those here.
        words += int(bool(said.names or said.areas or said.subjects) and confidence >= SURE)
    return words if lexicon(language).spaces else CHARACTERS_A_WORD * words


def _says_nothing(said: Mentions, known: Lexicon) -> bool:
    others = known.beyond_subjects(said.unknown) - known.common
    return not (said.actions or said.implied or said.hints or others)


def opposes(call: ToolCall, said: Mentions, known: Lexicon) -> bool:
    """Whether the words say the opposite of a call, or that it is so already."""
    if contradiction(call.tool, said.unnamed, call.arguments, known, stated=True):
        return True
    if call.tool in known.stated(said.text):
        return True  # "Nan's on the step and the front door's locked" locks nothing
    if any(undoes(call.tool, tool.partition(":")[0]) for tool in said.implied):
        return True  # "has done enough" starts no vacuum
    if turned(f"{call.tool}:{call.arguments.get('step')}") in said.implied:
        return True  # "so loud that I can't hear myself" is not turned up
    # "on off"
    return bool(said.actions & OPPOSITE.get(call.tool, set())) and call.tool not in said.implied


def _says_so(call: ToolCall, said: Mentions, known: Lexicon) -> bool:
    """Whether the words allow to act: it is no question, no name alone, the verb that is said is
    the tool's and no other, and "it" is not something of another conversation."""
    if said.is_bare or inquires(said, known):
        return False
    if opposes(call, said, known):
        return False
    if said.actions and not has_verb(call.tool, said, call.arguments):
        return False  # "turn on the sauna" makes nothing cooler
    points_back = said.actions & SWITCHING and PRONOUNS.search(said.text)
    return bool(said.names) or not points_back
