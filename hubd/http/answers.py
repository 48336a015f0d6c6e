"""Answers that outlive a connection: whoever lost the line, or looks in from another tab, goes on
reading where the line broke.

Each answer is a task that is owned here. Its events are kept for as long as somebody may come back
for them; an answer that nobody has read for a while is abandoned, as a turn is whose reader left.
"""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing

from hubd.errors import BusyError
from hubd.policy import OWNER

log = logging.getLogger(__name__)

ANSWERS_LIMIT = 32
EVENTS_LIMIT = 20_000
ALONE_S = 30.0
"""So long an answer goes on without a reader."""
KEPT_S = 60.0
"""So long an answer that is complete can still be read."""

STOPPED = {"code": "cancelled", "message": "The answer was stopped.", "hint": ""}

Events = AsyncGenerator[tuple[str, object], None]
Numbered = tuple[int, str, object]
"""An event's place in its answer, counted from 1, its name and its data."""


class Answer:
    """One answer in the making: its events so far, and who waits for the next."""

    def __init__(self, text: str, person: str = OWNER.name) -> None:
        self.person = person
        """Who asked, and may read the answer."""
        self.id = secrets.token_urlsafe(9)
        self.text = text
        """What was asked."""
        self.conversation = ""
        self.ended = False
        self.readers = 0
        self._events: list[Numbered] = []
        self._news = asyncio.Event()

    def add(self, event: str, data: object) -> None:
        """Keep an event and tell the readers."""
        self._events.append((len(self._events) + 1, event, data))
        self._tell()

    def end(self) -> None:
        """Nothing more will come."""
        self.ended = True
        self._tell()

    @property
    def full(self) -> bool:
        return len(self._events) >= EVENTS_LIMIT

    async def events(self, after: int = 0) -> AsyncGenerator[Numbered, None]:
        """The events after number ``after``, those to come too."""
        while True:
            news = self._news
            for number in range(after, len(self._events)):
                yield self._events[number]
                after = number + 1
            if after >= len(self._events):
                if self.ended:
                    return
                await news.wait()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class Answers:
    """The answers in the making, and those just made; at most ``ANSWERS_LIMIT``."""

    def __init__(self) -> None:
        self._answers: dict[str, Answer] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, answer: Answer, events: Events) -> None:
        """Let an answer be made from ``events``, which end by themselves.

        Raises:
            BusyError: too many are being made.
        """
        self._forget_oldest()
        if len(self._answers) >= ANSWERS_LIMIT:
            raise BusyError("Too many questions are being answered.", "Ask again in a moment.")
        self._answers[answer.id] = answer
        self._tasks[answer.id] = asyncio.create_task(self._make(answer, events))

    def find(self, answer_id: str) -> Answer | None:
        return self._answers.get(answer_id)

    def running(self) -> list[Answer]:
        """Those in the making, oldest first."""
        return [answer for answer in self._answers.values() if not answer.ended]

    async def follow(self, answer: Answer, after: int = 0) -> AsyncGenerator[Numbered, None]:
        """The events for one reader. When the last reader has gone, the answer's time runs out."""
        answer.readers += 1
        try:
            async with aclosing(answer.events(after)) as events:
                async for one in events:
                    yield one
        finally:
            answer.readers -= 1
            if not answer.readers:
                asyncio.get_running_loop().call_later(ALONE_S, self._leave, answer)

    def stop(self, answer: Answer) -> None:
        """End its work; whoever reads it sees it end."""
        if (task := self._tasks.get(answer.id)) is not None:
            task.cancel()

    async def close(self) -> None:
        """Stop all of them."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _make(self, answer: Answer, events: Events) -> None:
        try:
            async with aclosing(events):
                async for event, data in events:
                    if event == "start" and isinstance(data, dict):
                        answer.conversation = str(data.get("conversation", ""))
                    answer.add(event, data)
                    if answer.full:
                        log.warning("an answer has too many parts answer=%s", answer.id)
                        return
        except asyncio.CancelledError:
            answer.add("error", STOPPED)
            raise
        finally:
            answer.end()
            self._tasks.pop(answer.id, None)
            with contextlib.suppress(RuntimeError):  # the loop is closing
                asyncio.get_running_loop().call_later(KEPT_S, self._answers.pop, answer.id, None)

    def _leave(self, answer: Answer) -> None:
        if not answer.readers and not answer.ended:
            log.info("an answer was abandoned answer=%s", answer.id)
            self.stop(answer)

    def _forget_oldest(self) -> None:
        """Room for another, at the expense of those that are complete."""
        ended = [one for one in self._answers.values() if one.ended and not one.readers]
        for one in ended[: max(0, len(self._answers) - ANSWERS_LIMIT + 1)]:
            del self._answers[one.id]
