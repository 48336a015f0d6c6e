"""What is said after an answer from the documents, before it is taken for anything else: where it
is from, what shall be done with it, and a question that goes on with it."""

import re
from collections.abc import Callable
from datetime import datetime

from hubd.assistant.answered import OF_ANSWER
from hubd.assistant.answers.about_answers import (
    asks_about_answer,
    asks_for_page,
    nowhere,
    where_from,
)
from hubd.assistant.answers.acts_on_answers import act_on, ask_for, list_wish
from hubd.assistant.answers.answers_given import Talk
from hubd.assistant.answers.lists_from_answers import items_told
from hubd.assistant.answers.query_rewriting import questions_in
from hubd.assistant.commands import Commands
from hubd.assistant.decision import Decision
from hubd.assistant.follow_ups.follow import names_more
from hubd.assistant.step import Step
from hubd.policy import Person
from hubd.turn_events import Citation
from plugins.api import ToolCall
from rag.library import Library
from rag.types import Visible

LIST, TIMERS = "lists.add", "timers.list"
_ADDRESSED = re.compile(r"\b(?:you|du|please|bitte)\b|你|请")
"""What is asked of the hub itself, to do it."""
_NAMED = re.compile(r"\b(?:timers?|alarms?|countdown|wecker|left|remaining)\b|计时|闹钟|还剩", re.I)
"""What is said of these things themselves."""


def told_from(text: str, language: str | None, talk: Talk) -> tuple[str, list[Citation]] | None:
    """Where the last answer is from, with its passages; ``None`` where that is not asked. What was
    not answered from documents is in none of them."""
    given = talk.spoken_of
    tag = asks_about_answer(text, language, surely=given is None)
    if not tag:
        return None
    if given is None or not given.quotes:
        return nowhere(tag), []
    return where_from(given.quotes, tag, page=asks_for_page(text))


class AfterAnswers:
    """Decides what is done with an answer."""

    def __init__(self, commands: Commands, library: Library, clock: Callable[[], datetime]) -> None:
        self._commands, self._library, self._clock = commands, library, clock

    async def step(
        self,
        text: str,
        talk: Talk,
        conversation: str,
        *,
        language: str | None,
        person: Person,
        visible: Visible,
    ) -> Step | None:
        """What is done with the answer that was spoken of, or asked back; ``None``: nothing is."""
        if (wish := list_wish(text, language)) is not None:
            if talk.spoken_of is None and not wish.ingredients:
                return None
            if talk.spoken_of is None and not wish.dish:
                return _said(ask_for("which_dish", wish.language), wish.language)
            items = await items_told(self._library, wish, talk.spoken_of, visible)
            if not items:
                key = "no_ingredients" if wish.ingredients else "what_items"
                return _said(ask_for(key, wish.language), wish.language)
            named = {"list_name": wish.list_name} if wish.list_name else {}
            return _step(LIST, {"items": items, **named}, wish.language)
        act = act_on(text, talk, language, self._clock())
        if act is None:
            return None
        if act.text and act.argument:
            return self._commands.asking_back(
                act.decision, act.text, conversation, act.said, person, act.argument
            )
        if act.text:
            return Step(decision=act.decision, text=act.text)
        return Step(decision=act.decision, call=act.decision.call, said_alone=act.said)


def may_go_on(step: Step, text: str, talk: Talk, *, reads: bool) -> bool:
    """Whether ``text`` may ask the document that was just read from, though it was taken for
    something else: "how long?" for the timers, "can we freeze it?" for the player.

    reads: whether the tool only tells something
    """
    decision = step.decision
    if talk.spoken_of is None or step.then or decision.reason == OF_ANSWER or names_more(decision):
        return False
    if reads:
        timers = decision.tool == TIMERS and not decision.arguments
        guessed = timers or (decision.route == "semantic" and not decision.entities)
        return guessed and _NAMED.search(text.casefold()) is None
    return bool(questions_in([text])) and _ADDRESSED.search(text.casefold()) is None


def _step(tool: str, arguments: dict[str, object], language: str) -> Step:
    call = ToolCall(tool=tool, arguments=arguments)
    decision = Decision(
        route="words",
        tool=tool,
        arguments=arguments,
        score=0.9,
        reason=OF_ANSWER,
        call=call,
        language=language,
    )
    return Step(decision=decision, call=call)


def _said(text: str, language: str) -> Step:
    decision = Decision(route="words", reason=OF_ANSWER, language=language)
    return Step(decision=decision, text=text)
