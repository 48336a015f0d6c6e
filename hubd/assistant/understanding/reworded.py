"""What an utterance comes to that is not understood as it stands, though it says it clearly.

It corrects itself (repairs.py), it names a thing first and takes it up again ("den Ventilator, den
mach auf 80 Prozent"), it says what is not meant, or somebody thinks aloud in the middle of it.
Each comes to a sentence without that, which is then decided on like any other. Knows no tools.
"""

import itertools
import re
from collections.abc import Sequence

from hubd.assistant.understanding.asides import without_meanwhile
from hubd.assistant.understanding.fluent import fluent
from hubd.assistant.understanding.idle import idleness
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.otherwise import said_otherwise
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.repairs import COMMA, kind_of, repairs, without_denied
from hubd.assistant.understanding.words import Phrases, pieces_of

_NOT_BUT = {
    "en": re.compile(
        r"\b(?:don't|do not) \w+(?: (?:off|on|up|down|out))? "
        r"(?P<thing>it|them|that|(?:the|my|our|his|her) [\w' ]+?)(?: (?:off|on|up|down|out))?"
        r"(?:,? but|[,;.]| no)* (?:just|only|instead|rather)[, ]+"
        r"(?P<verb>(?!leave\b|keep\b|let\b)\w+) (?:it|them|that)\b"
    )
}
"""One verb that is denied, and another one for the same: "don't cancel it, just pause it"."""
_OF_BOTH = {
    "de": re.compile(
        r"(?P<verb>(?:bitte )?(?:mach|schalt|stell|dreh|fahr|zieh)e?(?: bitte| mal)*) "
        r"(?P<one>.+?) und (?P<other>.+?) "
        r"(?P<way>an|aus|ein|ab|auf|zu|hoch|runter|herunter|rauf)(?: bitte)?",
        re.IGNORECASE,
    )
}
"""A verb that is said in two parts, with two things between them."""
_OF_TWO_WORDS = re.compile(
    r"\b(?P<noun>\w+)(?P<way>(?: (?:on|off|up|down))?) (?:in|on|at|by) (?:the|my|our) "
    r"(?P<where>\w+)\b"
)
MOST_REWORDED = 3
"""Of the sentences that one which corrects itself may come to, those that may be said otherwise."""
MOST_WORDS_ASIDE = 5
"""Of what is said in the middle of a sentence; in Chinese twice as many characters."""
_SURELY, _SHORTEST_THOUGHT = 0.92, 3
"""How likely thinking aloud is no part of a sentence, and its characters at least."""
_TAKEN_UP = {
    "en": re.compile(r"\b(?:it|them|that one|those)\b"),
    "de": re.compile(r"^(?:der|die|das|den|dem|ihn|sie|es)\b"),
    "zh": re.compile(r"^(?:让|把|给)?[它他她](?:们)?"),
}
"""What stands for a thing that was named before."""
_THAT_IS = re.compile(
    r"^(?:i mean|that is|you know|ich mein\w*|also|und zwar|就是说?|我是说|那个)[, ，]*",
    re.IGNORECASE,
)
"""Before what names a thing closer."""
_ASKED = {
    "de": re.compile(r"^((?:ist|sind|läuft|laufen|brennt|brennen|steht|stehen) )"
                     r"(?:der|die|das|er|sie|es)\b"),
}  # fmt: skip
"""How a question takes it up."""
_ASIDE = {
    "en": re.compile(r"^(?:let me|what|where|how|who|you know|you see|i mean|i think|i guess|hang|"
                     r"hold|wait|oh|well|come on|now|like|right|yeah|yes|okay|ok|so|actually)\b"),
    "de": re.compile(r"^(?:weißt|weisst|wie|was|wo|wart|warte|moment|lass|sag|sagen|glaub|mein|"
                     r"dings|komm|na|ach|mal sehen|schau|ja|also|gell|gelt|halt|so|tja|nun)\b"),
    "zh": re.compile(r"^(?:那个|这个|就是|什么|怎么|叫|我想|我看|等|让我|哪|唉|哎|诶|对|好|是)"),
}  # fmt: skip
"""How thinking aloud begins; any other unknown word may be the verb."""


def rewordings(text: str, known: Lexicon, phrases: Phrases) -> list[str]:
    """The sentences that ``text`` may come to; each says less than it, and nothing else."""
    if known.corrected(text):
        made = repairs(text, known, phrases)
        parted = [[one for one in COMMA.split(said) if known.stripped(one)] for said in made]
        taken_up = [_taken_up(parts, known, phrases) for parts in parted if len(parts) > 1]
        further = (one for said in made[:MOST_REWORDED] for one in rewordings(said, known, phrases))
        return list(dict.fromkeys([*made, *filter(None, taken_up), *further]))
    if otherwise := said_otherwise(text, known.language):
        return [otherwise, *rewordings(otherwise, known, phrases)]
    if named := _with_whole_name(text, known, phrases):
        return [named]
    if both := _of_both(text, known, phrases):
        return [both]
    if instead := _done_instead(text, known):
        return [instead, *rewordings(instead, known, phrases)]
    if (now := without_meanwhile(text, known.language)) != text:
        return [now, *rewordings(now, known, phrases)]
    segments = [one for one in COMMA.split(text.strip(" .!。！")) if known.stripped(one)]
    if len(segments) < 2:
        return []
    found: list[str] = []
    if rest := without_denied(segments, known, phrases):
        found.append(_between(known).join(rest))
    if joined := _taken_up(segments, known, phrases):
        found.append(joined)
    kept = _but_for_asides(segments, known, phrases)
    if len(kept) < len(segments):
        joined = _taken_up([segments[at] for at in kept], known, phrases)
        found.append(joined or _left(segments, kept, known))
    return found


def _left(segments: Sequence[str], kept: Sequence[int], known: Lexicon) -> str:
    """The segments that are kept; a comma stays between those that follow each other: "milk, bread
    and, what else, cheese" are three items."""
    if not known.spaces:
        return "".join(segments[at] for at in kept)
    text = segments[kept[0]]
    for before, at in itertools.pairwise(kept):
        text += (", " if at == before + 1 else " ") + segments[at]
    return text


def _with_whole_name(text: str, known: Lexicon, phrases: Phrases) -> str:
    """``text`` with the name of a thing of which only the noun is said, and the rest of it as where
    it is: "the sprinkler off in the greenhouse"; empty where there is no such thing."""
    said = text.casefold()
    found = _OF_TWO_WORDS.search(said) if known.language == "en" else None
    if found is None or not any(
        tag.kind == "entity" for tag in phrases.get(f"{found['where']} {found['noun']}", ())
    ):
        return ""
    whole = f"{found['where']} {found['noun']}{found['way']}"
    return said[: found.start()] + whole + said[found.end() :]


def _of_both(text: str, known: Lexicon, phrases: Phrases) -> str:
    """ "Mach die Küche und den Fernseher aus" as two commands; empty where it is not of two things
    that are named and nothing else."""
    pattern = _OF_BOTH.get(known.language)
    found = pattern.fullmatch(text.strip(" .!")) if pattern else None
    if found is None:
        return ""
    for thing in (found["one"], found["other"]):
        kinds = {kind_of(piece) for piece in pieces_of(known.stripped(thing), known, phrases)}
        if not kinds <= {"thing", "room", "ignore"} or kinds <= {"ignore"}:
            return ""
    verb, way = found["verb"], found["way"]
    return f"{verb} {found['one']} {way} und {verb} {found['other']} {way}"


def _done_instead(text: str, known: Lexicon) -> str:
    """What shall be done, where it is said what shall not be; empty where neither is."""
    pattern = _NOT_BUT.get(known.language)
    said = fluent(text, known.language).casefold().replace("’", "'")
    if pattern is None or pattern.search(said) is None:
        return ""
    return pattern.sub(r"\g<verb> \g<thing>", said, count=1)


def _taken_up(segments: Sequence[str], known: Lexicon, phrases: Phrases) -> str:
    """ "The island lights, set them to fifty" as "set the island lights to fifty"."""
    pronoun = _TAKEN_UP.get(known.language)
    segments = _named_closer(segments, known, phrases)
    thing, rest = known.stripped(segments[0]), [plain(one) for one in segments[1:]]
    kinds = {kind_of(piece) for piece in pieces_of(thing, known, phrases)}
    named = "thing" in kinds and "unknown" not in kinds
    if pronoun is None or "action" in kinds or not (named or known.subjects(thing)):
        return ""
    for at, segment in enumerate(rest):
        bare = known.stripped(segment) if known.spaces else segment
        asked = _ASKED.get(known.language)
        if asked and asked.search(bare):
            return _between(known).join([*rest[:at], asked.sub(rf"\1{thing}", bare)])
        if pronoun.search(bare):
            whole = _between(known).join([*rest[:at], bare, *rest[at + 1 :]])
            if known.language == "en":
                return pronoun.sub(thing, whole, count=1)
            return _between(known).join(
                [thing, pronoun.sub("", bare, count=1).strip(), *rest[at + 1 :]]
            )
    return ""


def _named_closer(segments: Sequence[str], known: Lexicon, phrases: Phrases) -> Sequence[str]:
    """The segments, the second in the place of the first where it names the same closer: "the
    curtains, the bedroom curtains, open them", 窗帘，就是主卧那个窗帘，给它拉开."""
    if len(segments) <= 2:
        return segments
    closer = _THAT_IS.sub("", segments[1])
    said, meant = (pieces_of(known.stripped(one), known, phrases) for one in (segments[0], closer))
    kinds = {kind_of(piece) for piece in meant}
    things = {piece.text for piece in said if kind_of(piece) == "thing"}
    same = things and all(piece.text in closer.casefold() for piece in said if piece.tags)
    placed = "room" in kinds or "thing" in kinds
    if not same or not placed or not kinds <= {"thing", "room", "ignore"}:
        return segments
    return [closer, *segments[2:]]


def _but_for_asides(segments: Sequence[str], known: Lexicon, phrases: Phrases) -> list[int]:
    """Which segments are left without those in the middle that speak of nothing."""
    return [
        at
        for at, segment in enumerate(segments)
        if at in (0, len(segments) - 1) or not _is_aside(segment, known, phrases)
    ]


def _is_aside(segment: str, known: Lexicon, phrases: Phrases) -> bool:
    said, begins = plain(segment), _ASIDE.get(known.language)
    aloud = len(said) >= _SHORTEST_THOUGHT and idleness(segment, known) >= _SURELY
    if begins is None or not (aloud or begins.search(said)):
        return False
    length = len(said.split()) if known.spaces else len(said) / 2
    if length > MOST_WORDS_ASIDE or known.negates(said) or known.asks(said) or known.keeps(said):
        return False
    kinds = {kind_of(piece) for piece in pieces_of(known.stripped(segment), known, phrases)}
    return kinds <= {"ignore", "unknown"} and not known.times(said) and not known.subjects(said)


def _between(known: Lexicon) -> str:
    return " " if known.spaces else ""
