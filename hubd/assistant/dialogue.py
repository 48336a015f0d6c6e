"""What a conversation remembers between turns: what was done last, and what was asked back.

In memory only: a question back that a restart forgets is asked by nobody, and nothing happens.
"""

import re
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.plain import plain
from hubd.policy import Person
from plugins.api import ToolCall

CONVERSATIONS = 256
"""Conversations that are remembered; the one that was silent longest is forgotten first."""
ANSWER_WITHIN = timedelta(seconds=60)
REMEMBERED = timedelta(minutes=10)
"""So long "it" means what was done last."""

YES = {
    "en": r"(yes|yeah|yep|yup|sure|ok|okay|confirm|confirmed|do it|go ahead|go on|please do"
    r"|of course|absolutely|definitely)"
    r"( please| do it| do that| go ahead| go on| then| thanks| thank you| sure| i'm sure"
    r"| of course)*",
    "de": r"(ja|jawohl|klar|na klar|mach das|mach es|bestätigt|genau|gerne?|sicher|auf jeden fall)"
    r"( bitte| mach das| mach es| gerne?| klar| danke)*",
    "zh": r"(是|是的|好|好的|对|可以|确认|确定|行|嗯|当然|没问题)(的|吧|可以|好的)?",
    "fr": r"(oui|d'accord|confirme|vas-y|bien sûr)( s'il te plaît)?",
    "es": r"(sí|si|claro|de acuerdo|confirmo|adelante)( por favor)?",
}
NO = {
    "en": r"(no|nope|cancel|don't|do not|never mind|stop|leave it)( .*)?",
    "de": r"(nein|nee|abbrechen|lass es|nicht|stopp)( .*)?",
    "zh": r"(不|取消|算了|别).*",
    "fr": r"(non|annule|laisse|stop)( .*)?",
    "es": r"(no|cancela|déjalo)( .*)?",
}
AGAIN = re.compile(
    r"(?:sorry,? |pardon,? |please |(?:can|could|would) you (?:please )?)?"
    r"(?:repeat (?:that|it|yourself|the answer)|say (?:that|it) (?:again|once more)|say again|"
    r"come again)(?: please)?|(?:sorry,? |pardon,? )?what (?:did you|did you just) say|"
    r"(?:sorry,? )?i (?:didn't|did not) (?:catch|hear|get) (?:that|you)|pardon(?: me)?|"
    r"(?:bitte )?(?:wiederhol|wiederhole) (?:das|es)(?: bitte| noch ?mal)*|"
    r"(?:bitte )?sag(?:e)? (?:das|es) (?:bitte )?noch ?(?:ein)?mal(?: bitte)?|"
    r"was hast du (?:gerade |eben )?gesagt|wie bitte|noch ?(?:ein)?mal bitte|"
    r"(?:kannst|könntest) du das (?:bitte )?(?:wiederholen|noch ?(?:ein)?mal sagen)|"
    r"(?:请|麻烦)?(?:你)?(?:再说一遍|再说一次|重复一遍|重复一下)(?:吧|好吗)?|"
    r"(?:你)?(?:刚才|刚刚)?说(?:了)?什么|(?:我)?没听清(?:楚)?|"
    r"(?:peux-tu |pouvez-vous )?rép[èé]te[rz]?(?: ça| s'il te plaît)?|qu'as-tu dit|"
    r"rep[ií]te(?:lo)?(?: por favor)?|(?:puedes )?repetir(?:lo)?|qué has dicho",
    re.IGNORECASE,
)
UNDO = re.compile(
    r"(please )?(undo( that| it| this)?|take that back|rückgängig( machen)?|"
    r"mach das rückgängig|撤销|取消(它|掉|吧|了)?|annule ça|deshacer|deshaz eso)( please)?"
)


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """A question back, and what its answer completes."""

    asks: Literal["which", "confirm", "missing"]
    decision: Decision
    text: str
    """What was said first."""
    person: Person
    until: datetime
    argument: str = ""
    """What the tool asked for, where it did."""


class Memory(msgspec.Struct, kw_only=True):
    """What one conversation remembers."""

    last: Decision | None = None
    last_text: str = ""
    last_at: datetime | None = None
    before: Decision | None = None
    """What was done before the last."""
    undo: tuple[ToolCall, ...] = ()
    """What takes back the last utterance that did something, its last command first."""
    told: Decision | None = None
    """The question that a tool answered, if the last utterance was one."""
    told_at: datetime | None = None
    pending: Pending | None = None


class Dialogues:
    """The memories of all conversations, at most ``CONVERSATIONS``."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._memories: OrderedDict[str, Memory] = OrderedDict()

    def of(self, conversation: str) -> Memory:
        """What ``conversation`` remembers; what is too old is forgotten here."""
        memory = self._memories.setdefault(conversation, Memory())
        self._memories.move_to_end(conversation)
        while len(self._memories) > CONVERSATIONS:
            self._memories.popitem(last=False)
        now = self._clock()
        if memory.pending and now > memory.pending.until:
            memory.pending = None
        if memory.last_at and now - memory.last_at > REMEMBERED:
            memory.last, memory.before, memory.undo, memory.last_at = None, None, (), None
        if memory.told_at and now - memory.told_at > REMEMBERED:
            memory.told = memory.told_at = None
        return memory

    def ask(
        self,
        conversation: str,
        decision: Decision,
        text: str,
        person: Person,
        *,
        argument: str = "",
    ) -> None:
        """Remember what was asked back; the answer counts for a minute."""
        assert decision.asks is not None
        self.of(conversation).pending = Pending(
            asks=decision.asks,
            decision=decision,
            text=text,
            person=person,
            until=self._clock() + ANSWER_WITHIN,
            argument=argument,
        )

    def not_told(self, conversation: str, decision: Decision) -> None:
        """Remember a question that its tool could not answer: it may be asked of another day."""
        memory = self.of(conversation)
        memory.told, memory.told_at = decision, self._clock()

    def done(
        self,
        conversation: str,
        decision: Decision,
        text: str,
        undo: ToolCall | None,
        *,
        reads: bool = False,
        further: bool = False,
    ) -> None:
        """Remember what was done, so that "it" means something.

        reads: it only told something; then what was done before can still be taken back, and is
        still "it" unless things were spoken of
        further: it was another command of the same sentence
        """
        memory = self.of(conversation)
        memory.told, memory.told_at = (decision, self._clock()) if reads else (None, None)
        if not reads:
            taken_back = (undo,) if undo else ()
            memory.undo = (*taken_back, *memory.undo) if further else taken_back
        if not reads or decision.entities or memory.last is None:
            memory.before, memory.last = memory.last, decision
            memory.last_text, memory.last_at = text, self._clock()


def says_yes(text: str, language: str) -> bool:
    """In that language, or in English: so the page's buttons speak."""
    return _says(YES, text, language)


def says_no(text: str, language: str) -> bool:
    """As ``says_yes``."""
    return _says(NO, text, language)


def _says(words: dict[str, str], text: str, language: str) -> bool:
    said = plain(text)
    return any(re.fullmatch(words[tag], said) for tag in {language, "en"} & set(words))


def says_again(text: str) -> bool:
    """Whether the last answer shall be said once more."""
    return AGAIN.fullmatch(plain(text)) is not None


def says_undo(text: str) -> bool:
    return UNDO.fullmatch(plain(text)) is not None
