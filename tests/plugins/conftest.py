"""Plugins on the real toolbox and database, over a small household, with a clock to move."""

import re
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from hubd.assistant.route import Router
from hubd.events import NoticeBoard
from hubd.home.file import FileHome
from hubd.schedule import Schedule
from hubd.store import jobs
from hubd.store.database import Database
from hubd.store.plugin_storage import PluginStorage
from hubd.tool_context import Speaker
from hubd.tools import ToolBox, find_plugins, sentence_files
from plugins.api import ToolCall, ToolResult

HOME = """
areas: [Kitchen, Bedroom]
entities:
  - {id: light.ceiling, name: Ceiling, area: Kitchen, state: off}
  - {id: light.counter, name: Counter, area: Kitchen, state: on, attributes: {brightness: 51}}
  - {id: cover.blind, name: Blind, area: Kitchen, state: open, attributes: {current_position: 100}}
  - {id: cover.garage, name: Garage Door, state: closed, attributes: {device_class: garage}}
  - {id: lock.front, name: Front Door, state: locked}
  - {id: fan.fan, name: Fan, area: Bedroom, state: off}
  - {id: climate.heater, name: Heater, area: Bedroom, state: heat,
     attributes: {temperature: 20, current_temperature: 19.5}}
  - {id: humidifier.damp, name: Humidifier, area: Bedroom, state: on, attributes: {humidity: 45}}
  - {id: media_player.radio, name: Radio, area: Kitchen, state: playing,
     attributes: {volume_level: 0.4}}
  - {id: vacuum.robbie, name: Robbie, area: Kitchen, state: docked}
  - {id: lawn_mower.clippy, name: Clippy, state: docked}
  - {id: scene.movie, name: Movie, state: unknown}
  - {id: person.ann, name: Ann, state: home}
  - {id: person.bob, name: Bob, state: not_home}
  - {id: weather.home, name: Home, state: rainy, attributes: {temperature: 8}}
"""


class Workshop:
    """All plugins; what the pages heard; jobs that run when the test lets time pass."""

    def __init__(self, database: Database, home: FileHome, board: NoticeBoard) -> None:
        self.time = datetime(2026, 3, 27, 12, tzinfo=ZoneInfo("Europe/Berlin"))  # a Friday
        self.home = home
        self.database = database
        self.board = board
        self.settings: dict[str, dict[str, object]] = {}
        self.tools = ToolBox(
            find_plugins(),
            database=database,
            schedule=Schedule(database),
            board=board,
            clock=lambda: self.time,
            home=home,
            settings=self.settings,
        )

    async def __call__(
        self, tool: str, language: str = "en", confirmed: bool = False, **arguments: object
    ) -> ToolResult:
        speaker = Speaker(language=language, confirmed=confirmed)
        return await self.tools.call(ToolCall(tool=tool, arguments=arguments), speaker)

    async def move(self, person: str, state: str) -> None:
        """Let somebody leave or come home."""
        line = f"name: {person}, state: "
        moved = re.sub(rf"{line}\w+", f"{line}{state}", HOME)
        await self.home.load(moved)

    async def undo(self, result: ToolResult) -> ToolResult:
        assert result.undo is not None
        return await self.tools.call(result.undo, Speaker(confirmed=True))

    def entity(self, entity_id: str):
        return self.home.snapshot().entity(entity_id)

    async def pass_time(self, **parts: float) -> None:
        """Let time pass, and every job run that became due, in its order and at its time."""
        until = self.time + timedelta(**parts)
        while True:
            due = [job for job in await jobs.pending(self.database) if job.due <= until]
            if not due:
                break
            job = min(due, key=lambda job: job.due)
            self.time = max(self.time, job.due.astimezone(self.time.tzinfo))
            job = await jobs.begin(self.database, job.id)
            await self.tools.run_job(job.plugin, job.key)
            await jobs.finish(self.database, job.id)
        self.time = until


@pytest.fixture
async def workshop(tmp_path) -> AsyncIterator[Workshop]:
    database = await Database.open(tmp_path / "hubd.db")
    home = await FileHome.open(PluginStorage(database, "home description"))
    await home.load(HOME)
    yield Workshop(database, home, NoticeBoard())
    await database.close()


@pytest.fixture(scope="session")
def understood():
    """``understood(text, language)``: the tool and arguments that all plugins make of it."""
    found = find_plugins()
    tools = [tool for plugin in found for tool in plugin.tools.values()]
    router = Router(tools, [path for plugin in found for path in sentence_files(plugin)])

    def understand(text: str, language: str = "en") -> tuple[str, dict[str, object]] | None:
        call = router.route(text, language=language).call
        return (call.tool, call.arguments) if call else None

    return understand
