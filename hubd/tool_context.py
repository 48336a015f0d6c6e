"""Who asks for a tool, and what it gets to work with: ``plugins.api.ToolContext`` for one call."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from hubd.events import NoticeBoard
from hubd.policy import OWNER, Person, Provenance, on_behalf
from plugins.api import (
    Home,
    HomeError,
    Jobs,
    Location,
    NoAnswerError,
    ServiceResult,
    Snapshot,
    Storage,
    ToolCall,
    ToolResult,
)

Clock = Callable[[], datetime]
"""The time, aware, in the household's zone."""


class Speaker(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks for a tool: where, in which language and conversation."""

    conversation: str = ""
    language: str = "en"
    area: str = ""
    """The id of the area of the asking device."""
    person: Person = OWNER
    provenance: Provenance = "person"
    confirmed: bool = False
    """Whether this very call was confirmed by that person."""


NOBODY = Speaker()
CarryOut = Callable[[str, Speaker], Awaitable[str]]
CallTool = Callable[[ToolCall, Speaker], Awaitable[ToolResult]]


class NoHome:
    """``plugins.api.Home`` of a hub that knows no household: nothing is there."""

    def snapshot(self) -> Snapshot:
        return Snapshot()

    async def call(
        self, service: str, entities: Sequence[str], data: Mapping[str, Any] = {}
    ) -> ServiceResult:
        raise HomeError("No household is described: `hubd home load FILE`.")

    def location(self) -> Location | None:
        return None

    async def ask(
        self, service: str, entity: str, data: Mapping[str, Any] = {}
    ) -> Mapping[str, Any]:
        raise NoAnswerError("No household is described: `hubd home load FILE`.")


class Context:
    """``plugins.api.ToolContext`` for one call."""

    def __init__(
        self,
        *,
        clock: Clock,
        storage: Storage,
        jobs: Jobs,
        board: NoticeBoard,
        home: Home,
        speaker: Speaker,
        carry_out: CarryOut,
        call: CallTool,
        settings: Mapping[str, Any],
        is_known: Callable[[str], bool],
    ) -> None:
        self._clock = clock
        self._storage = storage
        self._jobs = jobs
        self._board = board
        self._home = home
        self._speaker = speaker
        self._carry_out = carry_out
        self._call = call
        self._settings = settings
        self._is_known = is_known

    @property
    def now(self) -> datetime:
        return self._clock()

    @property
    def storage(self) -> Storage:
        return self._storage

    @property
    def jobs(self) -> Jobs:
        return self._jobs

    @property
    def settings(self) -> Mapping[str, Any]:
        return self._settings

    @property
    def conversation(self) -> str:
        return self._speaker.conversation

    @property
    def person(self) -> str:
        return self._speaker.person.name

    @property
    def permissions(self) -> dict[str, Any]:
        return dict(msgspec.to_builtins(self._speaker.person))

    @property
    def language(self) -> str:
        return self._speaker.language

    @property
    def area(self) -> str:
        return self._speaker.area

    @property
    def home(self) -> Home:
        return self._home

    async def carry_out(
        self,
        utterance: str,
        language: str = "",
        area: str = "",
        within: Mapping[str, Any] | None = None,
    ) -> str:
        speaker = self._as(language, area)
        if within is not None:
            author = msgspec.convert(dict(within), Person)
            if not self._is_known(author.name):
                return f"“{utterance}”: {author.name} is not of this household any more."
            by_clock = speaker.provenance == "schedule"
            person = author if by_clock else on_behalf(speaker.person, author)
            speaker = msgspec.structs.replace(speaker, person=person)
        return await self._carry_out(utterance, speaker)

    async def call(self, call: ToolCall, language: str = "", area: str = "") -> ToolResult:
        return await self._call(call, self._as(language, area))

    def _as(self, language: str, area: str) -> Speaker:
        """Who speaks, in another language or place; a confirmation was for one call alone."""
        said = self._speaker
        return msgspec.structs.replace(
            said, language=language or said.language, area=area or said.area, confirmed=False
        )

    def emit(self, event: str, data: dict[str, Any]) -> int:
        self._board.publish(event, data)
        return self._board.listeners
