"""The real router with all plugins, in a household described by a file of tests/data/assistant."""

import asyncio
import contextlib
import functools
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import pytest

from engine.client import EngineClient
from engine.embed import TextEncoder
from engine.errors import EngineUnavailable
from hubd.assistant.by_likeness.semantic import Semantics
from hubd.assistant.commands import Commands
from hubd.assistant.dialogue import Dialogues
from hubd.assistant.route import Router
from hubd.assistant.tool_loop.agent import Agent, Ran, Wanted
from hubd.assistant.turn import Utterance
from hubd.assistant.understanding.names import Names
from hubd.events import NoticeBoard
from hubd.home.file import FileHome, read_description
from hubd.policy import OWNER
from hubd.schedule import Schedule
from hubd.store.database import Database
from hubd.store.plugin_storage import PluginStorage
from hubd.tool_context import Speaker
from hubd.tools import ToolBox, find_plugins, sentence_files
from plugins.api import ToolCall
from rag.embed import model_folder

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


@pytest.fixture(scope="session")
def embed():
    """``await embed(texts)``: the real encoder, in this process."""
    with TextEncoder.load(model_folder(), threads=1) as encoder:

        async def embedded(texts):
            return await asyncio.to_thread(encoder.embed, list(texts))

        yield embedded


@pytest.fixture(scope="session")
def model_socket(model_path, tmp_path_factory):
    """The Unix socket of a real engine with the default model."""
    folder = Path(tempfile.mkdtemp(prefix="hubd-"))  # pytest's own paths are too long for a socket
    command = [sys.executable, "-m", "engine.server", "--model", str(model_path)]
    options = ["--socket", str(folder / "s"), "--context-length", "4096", "--threads", "1"]
    process = subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL)
    yield folder / "s"
    process.terminate()
    process.wait(30)
    shutil.rmtree(folder)


@pytest.fixture
async def model(model_socket, monkeypatch):
    """A client of that engine, which is ready. Other tests may keep it waiting."""
    monkeypatch.setattr("hubd.assistant.tool_loop.agent.LIMIT_S", 240.0)
    async with EngineClient(socket=model_socket) as client, asyncio.timeout(240):
        while True:
            with contextlib.suppress(EngineUnavailable):
                if (await client.health()).status == "ready":
                    break
            await asyncio.sleep(0.1)
        yield client


@pytest.fixture(scope="session")
def classifiers():
    """Fitted by the first house that needs them; it may wait for that on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hubd.assistant.by_likeness.semantic.PATIENCE_S", 60.0)
        yield {}


@functools.cache
def described(path):
    """The household of a file, which thousands of tests ask for."""
    return read_description(path.read_text(encoding="utf-8"))


class House:
    """All plugins over a household of tests/data/assistant, and a conversation with it."""

    def __init__(
        self, database, home, embed, classifiers, model=None, settings=MappingProxyType({})
    ):
        self.time = datetime(2026, 3, 2, 12, tzinfo=UTC)
        self.home, self.database = home, database
        self.board = NoticeBoard()
        self.tools = ToolBox(
            find_plugins(),
            database=database,
            schedule=Schedule(database),
            board=self.board,
            clock=lambda: self.time,
            home=home,
            settings=settings,
        )
        self.router = Router(self.tools.tools(), self.tools.sentence_files(), home.snapshot)
        self.semantics = Semantics(embed, self.router, self.tools.tools(), classifiers)
        dialogues = Dialogues(lambda: self.time)
        self.commands = Commands(self.tools, self.router, dialogues, self.semantics)

        async def client():
            return model

        mentions = self.commands.decider.mentions
        agent = (client, self.tools, self.router, mentions, self.semantics.similar)
        self.agent = Agent(*agent) if model else None

    async def say(
        self,
        text,
        conversation="c",
        person=OWNER,
        area="living_room",
        language="en",
        provenance="person",
    ):
        """The reply, or ``None`` for a question to the documents; ``called`` is what was done.

        With a model, a command that no rule understands goes to it, as in a turn.
        """
        self.called = []
        known_area = Names.area(self.home.snapshot(), area)
        utterance = Utterance(
            text=text,
            conversation=conversation,
            language=language,
            area=known_area.id if known_area else "",
            person=person,
            provenance=provenance,
        )
        step = await self.commands.step(
            text, conversation, language=language, area=utterance.area, person=person
        )
        if step is None:
            kind, spoken = await self.commands.decider.kind(text, language)
            if self.agent is None or kind != "command":
                return None
            return await self._by_model(utterance, spoken)
        texts = []
        for one in (step, *step.then):
            outcome = await self._run(one, utterance, provenance) if one.call else one
            texts.append(outcome.text)
        return " ".join(texts)

    async def _by_model(self, utterance, language):
        async def run(decision):
            step = self.commands.step_of(
                decision, utterance.conversation, utterance.text, utterance.person
            )
            if step.call is None:
                return Ran(text=step.text, ok=False, asks=True)
            outcome = await self._run(step, utterance, "model")
            return Ran(text=outcome.text, ok=outcome.ok, asks=outcome.asks)

        wanted = Wanted(text=utterance.text, language=language, area=utterance.area)
        said = [ran.text async for ran in self.agent.carry_out(wanted, run)]
        return " ".join(said) or await self.commands.decider.declined(utterance.text, language)

    async def _run(self, step, utterance, provenance):
        speaker = Speaker(
            conversation=utterance.conversation,
            language=utterance.language,
            area=utterance.area,
            person=utterance.person,
            provenance=provenance,
        )
        outcome = await self.commands.run(step, utterance.text, utterance.conversation, speaker)
        self.called += [outcome.call.tool] if outcome.ok else []
        return outcome

    async def call(self, tool, person=OWNER, **arguments):
        """The reply of a tool, called as a page does it."""
        call = ToolCall(tool=tool, arguments=arguments)
        return (await self.tools.call(call, Speaker(person=person))).text

    def state(self, entity_id):
        return self.home.snapshot().entity(entity_id).state


@pytest.fixture
async def make_house(tmp_path, assistant_data, embed, classifiers):
    """``await make_house("home.de.yaml", model)``: one of the households."""
    database = await Database.open(tmp_path / "hubd.db")

    async def made(name="home.en.yaml", model=None, settings=MappingProxyType({})):
        storage = PluginStorage(database, "home description")
        home = FileHome(storage, described(assistant_data / name))
        return House(database, home, embed, classifiers, model, settings)

    yield made
    await database.close()


@pytest.fixture
async def house(make_house):
    return await make_house()
