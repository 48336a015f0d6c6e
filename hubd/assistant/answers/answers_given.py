"""What was answered from the documents in a conversation, for whatever is said of that answer."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from hubd.assistant.answers.about_answers import asks_about_answer
from hubd.assistant.answers.query_rewriting import LOOKED_BACK, asked, questions_in
from hubd.turn_events import Citation, Done

REMEMBERED = 12
"""Turns of a conversation that are looked at."""
BETWEEN = 2
"""Turns behind an answer after which "that" is still what it said, if they are about it."""
_MADE = ("reminders.", "calendar.", "lists.", "timers.", "notes.", "alarms.", "help.")
"""Plugins that keep what an answer told, or are thanked for it."""
_PERSON = re.compile(
    r"(?:(?:Dr|Mr|Mrs|Ms|Miss|Herr|Frau)\.? )?[A-Z][a-z][\w'’-]+(?: [A-Z][a-z][\w'’-]+)+"
)


class Given(NamedTuple):
    """An answer from the documents."""

    question: str
    """Standing alone."""
    answer: str
    citations: tuple[Citation, ...]
    refused: bool

    @property
    def quotes(self) -> list[Citation]:
        """What it rests on, each once, that of its first words first."""
        found: dict[tuple[str, int | None, int], Citation] = {}
        for one in self.citations:
            found.setdefault((one.document, one.page, one.start), one)
        return list(found.values())

    @property
    def person(self) -> str:
        """Somebody of whom it tells; empty where it names nobody."""
        named = (_PERSON.search(quote.text) for quote in self.quotes)
        return next((found[0] for found in named if found), "")


class Talk(NamedTuple):
    """What of a conversation was about documents."""

    questions: tuple[str, ...] = ()
    """As they were said, oldest first."""
    given: tuple[Given, ...] = ()
    """The answers to these, oldest first."""
    spoken_of: Given | None = None
    """The answer that "that" means now; ``None`` where something else was spoken of since."""
    is_last: bool = False
    """Whether that answer, or what was said about it, was the last thing that was said."""


def talk_of(turns: Sequence[tuple[str, Done]]) -> Talk:
    """What of these turns, oldest first, was about documents."""
    questions: list[str] = []
    given: list[Given] = []
    behind, about = 0, True
    for said, done in turns:
        if done.actions or done.asks or not (done.citations or done.refused):
            behind += 1
            about = about and all(one.tool.startswith(_MADE) for one in done.actions)
            questions += questions_in([said])
            continue
        if asks_about_answer(said) and given:
            behind = 0
            continue
        if not done.citations and not questions_in([said]):
            behind, about = behind + 1, False
            continue
        whole = asked(said, questions, given[-1].person if given else "").whole
        questions.append(said)
        given.append(Given(whole, done.answer, tuple(done.citations), done.refused))
        behind, about = 0, True
    spoken_of = given[-1] if given and about and behind <= BETWEEN else None
    return Talk(
        tuple(questions[-LOOKED_BACK:]), tuple(given), spoken_of, bool(given) and not behind
    )


def talk_in(said: Sequence[str]) -> Talk:
    """The same of a conversation of which only what the person said is known."""
    return Talk(tuple(questions_in(said)[-LOOKED_BACK:]))
