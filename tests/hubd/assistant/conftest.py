"""The real router with all plugins, in a household described by a file of tests/data/assistant."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from hubd.assistant.commands import Commands
from hubd.assistant.dialogue import Dialogues
from hubd.assistant.route import Router
from hubd.events import NoticeBoard
from hubd.home.file import FileHome, read_description
from hubd.policy import OWNER
from hubd.schedule import Schedule
from hubd.store.database import Database
from hubd.store.plugin_storage import PluginStorage
from hubd.tools import Speaker, ToolBox, find_plugins, sentence_files

DATA = Path(__file__).parents[2] / "data/assistant"


@pytest.fixture(scope="session")
def assistant_data() -> Path:
    return DATA


@pytest.fixture(scope="session")
def real_router():
    """``real_router("home.en.yaml")``: all tools and sentences over that household."""
    plugins = find_plugins()
    tools = [tool for plugin in plugins for tool in plugin.tools.values()]
    files = [path for plugin in plugins for path in sentence_files(plugin)]

    def made(name: str) -> Router:
        snapshot = read_description((DATA / name).read_text(encoding="utf-8"))
        return Router(tools, files, lambda: snapshot)

    return made


class House:
    """All plugins over a household of tests/data/assistant, and a conversation with it."""

    def __init__(self, database, home):
        self.time = datetime(2026, 3, 2, 12, tzinfo=UTC)
        self.home = home
        self.tools = ToolBox(
            find_plugins(),
            database=database,
            schedule=Schedule(database),
            board=NoticeBoard(),
            clock=lambda: self.time,
            home=home,
        )
        router = Router(self.tools.tools(), self.tools.sentence_files(), home.snapshot)
        self.commands = Commands(self.tools, router, Dialogues(lambda: self.time))

    async def say(
        self,
        text,
        conversation="c",
        person=OWNER,
        area="living_room",
        language="en",
        provenance="person",
    ):
        """The reply, or ``None`` for a question to the documents; ``called`` is what was done."""
        self.called = []
        step = await self.commands.step(
            text, conversation, language=language, area=area, person=person
        )
        if step is None:
            return None
        if step.call is None:
            return step.text
        speaker = Speaker(
            conversation=conversation,
            language=language,
            area=area,
            person=person,
            provenance=provenance,
        )
        outcome = await self.commands.run(step, text, conversation, speaker)
        self.called = [outcome.call.tool] if outcome.ok else []
        return outcome.text

    def state(self, entity_id):
        return self.home.snapshot().entity(entity_id).state


@pytest.fixture
async def house(tmp_path, assistant_data):
    database = await Database.open(tmp_path / "hubd.db")
    home = await FileHome.open(PluginStorage(database, "home description"))
    await home.load((assistant_data / "home.en.yaml").read_text(encoding="utf-8"))
    yield House(database, home)
    await database.close()
