"""The words of commands in one language: what to leave out, what they mean, what forbids acting.

A lexicon is a YAML file. ``drop``: politeness and filler words, removed before anything is matched;
``fillers``: the same as patterns; ``frames``: patterns of what a polite sentence begins or ends
with, of which a group stays; ``closings``: the same of what ends one with a pause before it.
``negation``, ``asking``, ``past``, and the patterns ``keeping`` (things shall stay as they are, or
all but one are meant): the utterance is then no command, whatever else it says. ``elsewhere``, the
same for places that are not of the house. ``subject``: a pattern of what a sentence says something
about, which is no complaint of a device unless it is one of ``complained_of``. ``particular``: a
pattern of what is called so, and is nothing else where nothing is. ``rooms``: a pattern of rooms
that not every house has. ``forbidding``: patterns for a "not" of what shall be, not of what is.
``requests``: where one of these is said, ``request_endings`` make no question of it. ``corrected``,
patterns over what was said: what stands before is taken back. ``fixes``: what speech recognition
mishears; ``respell``: the same as patterns, for what only the words beside it give away. ``times``,
``by`` and ``to``, patterns over digits: when or how long something shall be; a number is how much
more or less; it is what shall be reached. ``ignore``: words without a meaning of their own.
``actions``, ``nouns``, ``units``, ``colors``, ``modes`` (of heating and cooling): meaning → words.
``combine``: two actions that together mean a third. ``hints``: words that speak of a domain without
naming a thing of it. ``implies``: phrases that stand for a tool's verb, or for a direction of it
(``lights.change:down``). ``common``: words that say nothing against any meaning. ``subjects``: the
words of a plugin whose tools touch no entity. ``stand_ins``: domain or device class → the word for
its things in the examples. ``imperatives`` and ``inquiries``: how a command, and a question,
begins. ``phrase$`` only counts at the end, ``^phrase`` at the beginning; "left ~open" has up to
five words (Chinese: eight characters) at the tilde. ``workings``: patterns of a question how
something works, which is one for the documents. ``remarks``: how a part of a sentence begins that
says why. ``stated``: tool → pattern of the state that it brings about; said after ``told`` it is so
already, unless ``wished`` is said too. ``broken_off``: how one ends that is not finished.
``clauses``: what makes a sentence of words that would be an item of a list or a title. ``a_bit``: a
pattern of a move that is not all the way. ``slightly``: one of less than a step. ``lacking``: a
pattern of what is used up, which denies nothing: "keinen Kaffee mehr". ``joints``: words that join
two things. ``room_kinds``: what the only room of its kind is called besides. ``links``: what stands
between the two parts of a name, and ``owned_by`` between a thing and its owner.
``compounds``: what is heard as two words and is one, though no command needs it.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.denied import verb_denied
from hubd.assistant.understanding.fluent import owned_up, said_once
from hubd.assistant.understanding.frames import without_frames
from hubd.assistant.understanding.plain import pattern_of, plain
from hubd.assistant.understanding.sounds import sound

FOLDER = Path(__file__).parent / "lexicon"
Kind = Literal[
    "entity", "area", "floor", "action", "noun", "unit", "color", "mode", "here", "all", "ignore"
]
NAMED = frozenset({"floor", "area", "entity"})
"""The kinds of what has a name in the household."""

_GAPS = re.compile(r"(?P<of_a_name>(?<=[a-zà-ÿ])[\s,]+(?=[a-zà-ÿ\d]))|[\s,]+")
"""Between characters, where a language writes none; a name from another has its own."""
_NUMERAL = re.compile("[零一二两三四五六七八九十百点半]")
_WHERE = r"\b(?:(?:in|at|on|from|of) (?:the|my|our)|im|in (?:der|meiner)|am|auf dem|vom) (?:\w+ )?"
_ROOM = "(?:屋里?|房里|那屋|那边|那儿|[室厅层楼院廊库]|[生手衣帽浴]间)"
STEP_ACTIONS = frozenset({"up", "down", "brighter", "warmer", "cooler", "louder", "quieter"})
"""Verbs beside which a number is a difference unless it says "to"."""


class Tag(NamedTuple):
    """What a phrase means."""

    kind: Kind
    value: str


_NOT_THAT = re.compile(
    r"^not (?:them|that|those|it|this|these|him|her)(?: \w+)?(?:[,;.…]+ *(?:but )?| but )|"
    r"^nicht (?:die|das|den|der|es|sie)(?: da)?(?:[,;.…]+ *(?:sondern )?| sondern )|"
    r"^(?:不是|不要)(?:这|那|它)(?:个|些|盏|们)?[，,]+|"
    r"[, ]+(?:is what )?i mean(?:t)?[.!]?$|[, ]+mein(?:t)?e ich[.!]?$"
)
"""What says no more behind a "no" than that it was not that."""


class Lexicon:
    """One language's words, compiled. Get it with ``lexicon``."""

    def __init__(self, language: str, data: dict[str, Any]) -> None:
        self.language = language
        self.spaces = data["spaces"] == "true"
        pattern = partial(pattern_of, spaces=self.spaces)
        self.combine: dict[frozenset[str], str] = {
            frozenset(pair.split("+")): action for pair, action in data.get("combine", {}).items()
        }
        self.phrases = {phrase: tag for tag, phrases in _tags(data) for phrase in phrases}
        said = [data["drop"], data["negation"], data["asking"], list(self.phrases)]
        self._stand_ins: dict[str, str] = data.get("stand_ins", {})
        said.append(data.get("heard", []))
        self.words = frozenset(word for part in said for phrase in part for word in phrase.split())
        self._verbs = {
            phrase.rstrip("$"): tag.value
            for phrase, tag in self.phrases.items()
            if tag.kind == "action"
        }
        self._verb = pattern(list(self._verbs))
        self._color = pattern([p for p, tag in self.phrases.items() if tag.kind == "color"])
        said_last = [phrase for phrase, tag in self.phrases.items() if tag.kind == "action"]
        self._verb_in_place = pattern(said_last)
        self.compounds = frozenset(map(plain, data.get("compounds", ())))
        self.common = frozenset(plain(word) for word in data.get("common", ()))
        self._drop = pattern(data["drop"])
        self.frames = [re.compile(pattern) for pattern in data.get("frames", ())]
        closings = [re.compile(pattern) for pattern in data.get("closings", ())]
        self.framing = [*self.frames, *closings]
        self._fixes = {plain(wrong): plain(right) for wrong, right in data.get("fixes", {}).items()}
        self._fix = pattern(list(self._fixes)) if self._fixes else None
        self._hints = self._patterns(data.get("hints", {}))
        self._implied = self._patterns(data.get("implies", {}))
        self._subjects = self._patterns(data.get("subjects", {}))
        self._imperative = pattern([f"^{p}" for p in data.get("imperatives", ())])
        self._inquiry = pattern([f"^{p}" for p in data.get("inquiries", ())])
        self._respell = [(re.compile(a), b) for a, b in data.get("respell", {}).items()]
        self._misheard = [(re.compile(a), b) for a, b in data.get("misheard", {}).items()]
        self._fillers = [re.compile(pattern) for pattern in data.get("fillers", ())]
        self._keeping = [re.compile(pattern) for pattern in data.get("keeping", ())]
        self._elsewhere = [re.compile(pattern) for pattern in data.get("elsewhere", ())]
        self._subject = re.compile(data.get("subject", "(?!)"))
        self._particular = re.compile(data.get("particular", "(?!)"))
        self._rooms = re.compile(data.get("rooms", "(?!)"))
        self.complained_of = frozenset(plain(word) for word in data.get("complained_of", ()))
        self._corrected = [re.compile(pattern) for pattern in data.get("corrected", ())]
        self._remarks = [re.compile(pattern) for pattern in data.get("remarks", ())]
        self._broken_off = [re.compile(pattern) for pattern in data.get("broken_off", ())]
        self._clauses = [re.compile(pattern) for pattern in data.get("clauses", ())]
        self._workings = [re.compile(pattern) for pattern in data.get("workings", ())]
        self._times = [re.compile(pattern) for pattern in data.get("times", ())]
        self._by = [re.compile(pattern) for pattern in data.get("by", ())]
        self._to = [re.compile(pattern) for pattern in data.get("to", ())]
        self._request = pattern(data.get("requests", []))
        self._question = pattern(data.get("request_endings", []))
        heard = [p for words in data.get("subjects", {}).values() for p in words]
        heard += [phrase for phrase, tag in self.phrases.items() if tag.kind == "noun"]
        self._by_sound = {} if self.spaces else {sound(p, language): p for p in heard if len(p) > 1}
        self._by_sound.pop("", None)
        self._negation = pattern(data["negation"])
        self._forbidding = [re.compile(pattern) for pattern in data.get("forbidding", ())]
        self._asking = pattern([*data["asking"], *data["past"]])
        self._here = pattern(data["here"])
        self._a_bit = re.compile(data.get("a_bit", "(?!)"))
        self._slightly = re.compile(data.get("slightly", "(?!)"))
        self._lacking = re.compile(data.get("lacking", "(?!)"))
        self.room_kinds: Sequence[str] = data.get("room_kinds", ())
        self.joints = frozenset(map(plain, data.get("joints", ())))
        self.links: Sequence[str] = data.get("links", ())
        self.owned_by: Sequence[str] = data.get("owned_by", ())
        self._wished = re.compile(data.get("wished", "(?!)"))
        self._stated = {
            tool: re.compile(f"(?:{data.get('told', '')})(?:{state})")
            for tool, state in data.get("stated", {}).items()
        }

    def stand_in(self, domain: str, device_class: object = None) -> str:
        """The word that stands for the things of a domain in the examples."""
        other = self._stand_ins.get(domain) or self._stand_ins.get("switch", domain)
        return self._stand_ins.get(str(device_class), other)

    @lru_cache(maxsize=1024)  # noqa: B019 (one lexicon a language, kept as long as the process)
    def stripped(self, text: str) -> str:
        """``text`` without politeness and filler words."""
        said = plain(text)
        if self._request.search(said):  # 能把灯打开吗 is no question
            said = self._question.sub(" ", said)
        said = self._drop.sub(" ", without_frames(said, self.frames))
        for pattern in self._fillers:
            said = pattern.sub(" ", said)
        said = " ".join(said.split()) if self.spaces else _GAPS.sub(_gap_left, said)
        return said_once(said, self.language, spaces=self.spaces)

    @lru_cache(maxsize=1024)  # noqa: B019
    def fixed(self, text: str) -> str:
        """``text`` with what speech recognition mishears put right."""
        if self._fix is not None:
            text = self._fix.sub(lambda match: self._fixes[match[0]], text)
        for pattern, meant in self._respell:
            text = pattern.sub(meant, text)
        return text if self.spaces else self._heard(text)

    def misheard(self, text: str) -> str:
        """``text`` (plain), which is not understood, with words as other words that sound alike."""
        for pattern, meant in self._misheard:
            text = pattern.sub(meant, text)
        return text

    def means_nothing(self, text: str) -> bool:
        """Whether ``text`` is neither verb, thing nor number by itself."""
        tag = self.phrases.get(text)
        return (tag is None or tag.kind == "ignore") and not _NUMERAL.search(text)

    def _heard(self, text: str) -> str:
        """``text`` with the words that sound like those of a plugin or a kind of thing as these: in
        Chinese one character in the place of another of the same sound."""
        at = 0
        while at < len(text):
            for length in (4, 3, 2):
                window = text[at : at + length]
                if len(window) < length or window in self.phrases or _NUMERAL.search(window):
                    continue
                if self._verb.search(window):
                    continue  # 灯关了 is no 灯光
                if meant := self._by_sound.get(sound(window, self.language)):
                    text = text[:at] + meant + text[at + length :]
                    at += length - 1
                    break
            at += 1
        return text

    def is_noun(self, text: str) -> bool:
        """Whether ``text`` is a kind of thing, whatever in this house is called so."""
        tag = self.phrases.get(plain(text))
        return tag is not None and tag.kind == "noun"

    def is_here(self, text: str) -> bool:
        """Whether ``text`` says that it is about the room where it is said."""
        return self._here.search(plain(text)) is not None

    def alike(self, noun: str) -> list[str]:
        """The words for the kind of thing that ``noun`` is; none where it is no such word. What
        plays is of many kinds: a radio is no television."""
        tag = self.phrases.get(noun)
        if tag is None or tag.kind != "noun":
            return []
        if tag.value == "media_player":
            return [noun]
        return [phrase for phrase, other in self.phrases.items() if other == tag]

    def a_bit(self, text: str) -> bool:
        """Whether ``text`` says that a blind shall be moved by a bit, and not all the way."""
        return self._a_bit.search(plain(text)) is not None

    def slightly(self, text: str) -> bool:
        """Whether ``text`` says that light, or a fan, shall change by less than a step."""
        return self._slightly.search(plain(text)) is not None

    def says_here(self, text: str) -> bool:
        """Whether ``text`` speaks of where it is said: "how humid is it in here"."""
        said = f" {plain(text)} "
        phrases = (phrase for phrase, tag in self.phrases.items() if tag.kind == "here")
        return any((f" {one} " if self.spaces else one) in said for one in phrases)

    def without_lacking(self, text: str) -> str:
        """``text`` without what it says is used up."""
        return self._lacking.sub(" ", plain(text))

    def negates(self, text: str) -> bool:
        """Whether something shall *not* be done."""
        return self._negation.search(plain(text)) is not None

    def forbids(self, text: str) -> bool:
        """Whether a "not" in ``text`` is of what shall be, and not of what is: "don't", "needn't",
        "not too dark"; but "I can't see a thing" complains."""
        said = plain(text)
        return any(pattern.search(said) for pattern in self._forbidding) or self.commands(said)

    def stated(self, text: str) -> set[str]:
        """The tools that would do what ``text`` tells is so already: "the front door's locked"."""
        said = plain(text)
        if self._wished.search(said):
            return set()
        return {tool for tool, state in self._stated.items() if state.search(said)}

    def without_stated(self, text: str) -> str:
        """``text`` (plain) without what it tells is so already: "the gate is shut"."""
        for tool in self.stated(text):
            text = self._stated[tool].sub(" ", text)
        return " ".join(text.split())

    def actions_in(self, text: str, in_place: bool = False) -> set[str]:
        """The actions whose words are in ``text`` (plain).

        in_place: only where they stand as verbs do: "zu hell" closes nothing
        """
        pattern = self._verb_in_place if in_place else self._verb
        found = {self._verbs[match[0]] for match in pattern.finditer(text)}
        return found | {self.combine[pair] for pair in self.combine if pair <= found}

    def asks(self, text: str) -> bool:
        """Whether it asks how or why, tells of the past, sets a condition, or wants nothing
        changed: it is no command."""
        return self.wonders(text) or self.keeps(text)

    def wonders(self, text: str) -> bool:
        """Whether it asks how or why, tells of the past or sets a condition."""
        return self._asking.search(plain(text)) is not None

    def is_difference(self, text: str, actions: Collection[str]) -> bool:
        """Whether the number in ``text`` (plain, in digits) is by how much something shall change:
        "down by 10", "10 percent brighter", and "up 10", but not "up to 10".

        actions: the verbs of the text
        """
        if any(pattern.search(text) for pattern in self._by):
            return True
        if not any(character.isdigit() for character in text):
            return False
        steps = STEP_ACTIONS if self.spaces else STEP_ACTIONS | {"dimmer"}  # "dim it 30%" is to 30
        return not steps.isdisjoint(actions) and not any(p.search(text) for p in self._to)

    def corrected(self, text: str) -> tuple[str, str] | None:
        """What was said first and what was said instead, where ``text`` corrects itself: "turn on
        the lamp, no wait, the radio"."""
        folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
        folded = owned_up(folded, self.language)
        for pattern in self._corrected:
            if (found := pattern.search(folded)) and self.stripped(folded[: found.start()]):
                meant = _NOT_THAT.sub("", folded[found.end() :].strip(" ,"))
                return folded[: found.start()].strip(" ,"), meant.strip(" ,，")
        return verb_denied(folded, self.language, lambda verb: bool(self.actions_in(verb)))

    def color_word(self, color: str) -> str:
        """What a color is called in this language; ``color`` itself where it has no word."""
        tag = Tag("color", color)
        return next((said for said, other in self.phrases.items() if other == tag), color)

    def colors_in(self, text: str) -> list[re.Match[str]]:
        """Where ``text`` names colors."""
        return list(self._color.finditer(text))

    def remarks(self, text: str) -> bool:
        """Whether ``text`` begins as a remark does, that says why: "it's so dark"."""
        said = self.stripped(text)
        begins = any(p.search(one) for p in self._remarks for one in (said, plain(text)))
        return begins and not self.commands(said)

    def places(self, text: str, words: Collection[str]) -> bool:
        """Whether one of ``words`` says where: "in the dungeon"."""
        if not self.spaces:
            return any(re.search(rf"{re.escape(word)}[的下]?{_ROOM}", text) for word in words)
        return any(re.search(rf"{_WHERE}{re.escape(word)}(?!\w)", text) for word in words)

    def is_clause(self, text: str) -> bool:
        """Whether ``text`` holds a sentence, or half of one: no item and no title."""
        said = plain(text)
        return any(pattern.search(said) for pattern in self._clauses)

    def breaks_off(self, text: str) -> bool:
        """Whether ``text`` ends in the middle of something: "carry on with the"."""
        said = plain(text)
        return any(pattern.search(said) for pattern in self._broken_off)

    def times(self, text: str) -> bool:
        """Whether ``text`` (plain, in digits) says when or for how long something shall be: "at 8
        pm" is no brightness."""
        return any(pattern.search(text) for pattern in self._times)

    def keeps(self, text: str) -> bool:
        """Whether something shall stay as it is, or is not of this house."""
        return self.stays(text) or self.is_elsewhere(text)

    def stays(self, text: str) -> bool:
        """Whether something shall stay as it is."""
        said = plain(text)
        return any(pattern.search(said) for pattern in self._keeping)

    def is_elsewhere(self, text: str) -> bool:
        """Whether ``text`` speaks of a place that is no part of the house, or of what no device
        changes: "in the car", "the neighbours' garage"."""
        said = plain(text)
        return any(pattern.search(said) for pattern in self._elsewhere)

    def complains_of(self, text: str, words: Collection[str]) -> bool:
        """Whether it is one of ``words`` that ``text`` (plain) says something about: "the soup is
        too hot" is no complaint of the heating. Who feels it and what is swept may be one."""
        found = self._subject.search(text)
        if found is None:
            return False
        return found[1] in words and found[1] not in self.common | self.complained_of

    def names_another(self, text: str) -> bool:
        """Whether ``text`` (plain, without known names) speaks of one particular thing: "the back
        door" is not the front door because there is no other."""
        return self._particular.search(text) is not None

    def rooms(self, text: str) -> list[str]:
        """The rooms that ``text`` (plain) speaks of, of those that not every house has."""
        return [found[0] for found in self._rooms.finditer(text)]

    def hinted(self, text: str) -> set[str]:
        """The domains that words of ``text`` speak of, without naming a thing of them."""
        return _found(self._hints, text)

    def implied(self, text: str) -> set[str]:
        """The tools whose verb a phrase of ``text`` stands for; of more and less what is said
        first: "so loud that I can't hear myself" is not too quiet."""
        said = plain(text)
        places = {name: pattern.search(said) for name, pattern in self._implied.items()}
        at = {name: (found.start(), -found.end()) for name, found in places.items() if found}
        return {name for name in at if at[name] <= at.get(turned(name), at[name])}

    def without_implied(self, text: str) -> str:
        """``text`` without the phrases that stand for a tool's verb, such as "don't need the"; what
        stands within one stays: "hear ~barely" says nothing of "the old radio"."""
        said = plain(text)
        for pattern in self._implied.values():
            said = pattern.sub(lambda found: f" {' '.join(filter(None, found.groups()))} ", said)
        return " ".join(said.split())

    def subjects(self, text: str) -> set[str]:
        """The plugins of whose things ``text`` speaks: timers, lists, alarms."""
        return _found(self._subjects, text)

    def beyond_subjects(self, unknown: Sequence[str]) -> set[str]:
        """Those of the unknown words that are no timer, list or alarm; where there are no spaces,
        the characters of these that are not so common that they tell nothing."""
        if self.spaces:
            return {word for word in unknown if not self.subjects(word)}
        rest = "".join(unknown)
        for pattern in self._subjects.values():
            rest = pattern.sub("", rest)
        return set(rest) - self.common

    def knows_subject(self, plugin: str) -> bool:
        """Whether there are words for what that plugin is about."""
        return plugin in self._subjects

    def commands(self, text: str, *, whole: bool = True) -> bool:
        """Whether ``text`` (stripped of politeness) begins as a command does.

        whole: and is no question further on, and wants something changed
        """
        said = plain(text)
        begins = self._imperative.search(said) is not None
        return begins and not (whole and self.inquires(said))

    def inquires_first(self, text: str) -> bool:
        """Whether ``text`` begins as a question does."""
        return self._inquiry.search(plain(text)) is not None

    def inquires(self, text: str) -> bool:
        """Whether ``text`` asks for information, in whatever form."""
        said = plain(text)
        return self._inquiry.search(said) is not None or self.asks(said)

    def asks_how_it_works(self, text: str) -> bool:
        """Whether ``text`` asks what something does, needs or is for, at any time: "what happens
        when the alarm goes off" is no question for the alarms that are set."""
        said = plain(text)
        return any(pattern.search(said) for pattern in self._workings)

    def _patterns(self, groups: dict[str, list[str]]) -> dict[str, re.Pattern[str]]:
        return {name: pattern_of(phrases, spaces=self.spaces) for name, phrases in groups.items()}


def turned(name: str) -> str:
    """The tool with the other direction, if it has one: up for down."""
    tool, _, step = name.partition(":")
    return f"{tool}:{ {'up': 'down', 'down': 'up'}.get(step, step) }"


def _found(patterns: dict[str, re.Pattern[str]], text: str) -> set[str]:
    said = plain(text)
    return {name for name, pattern in patterns.items() if pattern.search(said)}


def _gap_left(found: re.Match[str]) -> str:
    return " " if found["of_a_name"] else ""


@cache
def lexicon(language: str) -> Lexicon:
    """The lexicon of ``en``, ``zh``, ``de``, ``fr`` or ``es``."""
    return Lexicon(language, texts_in(FOLDER / f"{language}.yaml"))


def _tags(data: dict[str, Any]) -> list[tuple[Tag, list[str]]]:
    tags = [(Tag("ignore", ""), _plain_all(data["ignore"]))]
    tags += [(Tag("unit", unit), _plain_all(words)) for unit, words in data["units"].items()]
    tags += [(Tag("noun", noun), _plain_all(words)) for noun, words in data["nouns"].items()]
    tags += [(Tag("color", color), [plain(word)]) for word, color in data["colors"].items()]
    tags += [
        (Tag("mode", mode), _plain_all(words)) for mode, words in data.get("modes", {}).items()
    ]
    tags += [
        (Tag("action", action), _plain_all(words)) for action, words in data["actions"].items()
    ]
    tags += [(Tag("here", ""), _plain_all(data["here"])), (Tag("all", ""), _plain_all(data["all"]))]
    return tags


def _plain_all(phrases: list[str]) -> list[str]:
    return [plain(phrase) for phrase in phrases]
