"""Plugins found, and their tools run: arguments validated, time limited, faults contained.

A plugin is a module in ``plugins/`` with a ``plugin`` object, or an entry point of the group
``hubd.plugins``. What a tool does is not known here.
"""

import asyncio
import contextlib
import functools
import importlib
import importlib.metadata
import logging
import pkgutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

import plugins
from hubd.containment import contained, end_what_is_left
from hubd.events import NoticeBoard
from hubd.policy import Person, Provenance, decide
from hubd.schedule import PluginJobs, Schedule
from hubd.store.audit import Outcome
from hubd.store.database import Database
from hubd.store.plugin_storage import PluginStorage
from hubd.tool_context import NOBODY, CarryOut, Clock, Context, NoHome, Speaker
from plugins.api import (
    AnswerFunction,
    Home,
    Plugin,
    Tool,
    ToolCall,
    ToolError,
    ToolResult,
)

log = logging.getLogger(__name__)

ENTRY_POINTS = "hubd.plugins"
STOP_LIMIT_S = 2.0
START_LIMIT_S = 10.0
ANSWER_LIMIT_S = 1.0
HEAR_LIMIT_S = 60.0
Note = Callable[[ToolCall, Person, Provenance, Outcome, str], None]


async def _not_yet(utterance: str, speaker: Speaker) -> str:
    raise ToolError("Commands cannot be carried out yet.")


class UnknownToolError(ToolError):
    """No tool of that name."""


class ArgumentsError(ToolError):
    """The arguments do not fit the tool; the message names the argument."""


class NotPermittedError(ToolError):
    """The person, or what speaks for them, may not have this done."""


class NotConfirmedError(ToolError):
    """A person has to confirm the call first."""


class ToolBox:
    """The tools of all plugins."""

    def __init__(
        self,
        plugins: list[Plugin],
        *,
        database: Database,
        schedule: Schedule,
        board: NoticeBoard,
        clock: Clock,
        home: Home | None = None,
        settings: Mapping[str, Mapping[str, Any]] = {},
    ) -> None:
        """``settings``: plugin → its section of the configuration."""
        self.plugins = plugins
        self._settings = settings
        self.home: Home = home or NoHome()
        self.note: Note = lambda *_: None
        """Hears of every call that does something, and of those that were refused."""
        self.is_known: Callable[[str], bool] = lambda _: True
        """Whether somebody of that name belongs to the household still."""
        self._carry_out: CarryOut = _not_yet
        self._database = database
        self._schedule = schedule
        self._board = board
        self._clock = clock
        self._running: set[asyncio.Task[ToolResult]] = set()
        self._working: dict[str, tuple[set[asyncio.Task[Any]], int]] = {}
        """Plugin → the tasks that there were before it began, and how many of its functions run."""
        self._tools = {tool.name: tool for plugin in plugins for tool in plugin.tools.values()}

    def put(self, plugin: Plugin) -> None:
        """Have a plugin, in place of the one of that name: what came later is taken up, and what is
        gone is called no more."""
        self.plugins[:] = [*(p for p in self.plugins if p.name != plugin.name), plugin]
        self._tools = {tool.name: tool for p in self.plugins for tool in p.tools.values()}

    def tools(self) -> list[Tool]:
        """All tools, by name."""
        return [self._tools[name] for name in sorted(self._tools)]

    def only_reads(self, name: str) -> bool:
        """Whether a tool changes nothing."""
        tool = self._tools.get(name)
        return tool is not None and tool.risk == "read"

    def set_carry_out(self, carry_out: CarryOut) -> None:
        """What tools call to have an utterance carried out: the assistant, which is made later."""
        self._carry_out = carry_out

    def sentence_files(self) -> list[Path]:
        """The sentence files of the plugins that have one."""
        return [path for plugin in self.plugins for path in sentence_files(plugin)]

    async def call(self, call: ToolCall, speaker: Speaker = NOBODY) -> ToolResult:
        """Run a tool, as ``_call``, and have it noted."""
        tool = self._tools.get(call.tool)
        outcome: Outcome = "failed"
        text = ""
        try:
            result = await self._call(call, speaker)
            outcome, text = "done", result.text
        except NotPermittedError as error:
            outcome, text = "denied", str(error)
            raise
        except NotConfirmedError as error:
            outcome, text = "unconfirmed", str(error)
            raise
        except ToolError as error:
            text = str(error)
            raise
        else:
            return result
        finally:
            if tool is not None and tool.risk != "read":
                self.note(call, speaker.person, speaker.provenance, outcome, text)

    async def _call(self, call: ToolCall, speaker: Speaker) -> ToolResult:
        """Run a tool. It runs to its end, or time limit, even if the caller is cancelled meanwhile:
        half a tool is worse than one nobody waits for.

        Raises:
            UnknownToolError: there is no such tool.
            ArgumentsError: an argument is missing, unknown or of the wrong kind.
            NotPermittedError: the person may not.
            NotConfirmedError: it is dangerous and not confirmed.
            ToolError: the tool could not do it, failed, or ran past its time limit.
            StorageError: the disk failed.
        """
        tool = self._tools.get(call.tool)
        if tool is None:
            known = ", ".join(sorted(self._tools)) or "none"
            raise UnknownToolError(f"there is no tool {call.tool}; known: {known}")
        self._permit(tool, call.arguments, speaker)
        arguments = _validated(tool, call.arguments)
        plugin = tool.name.split(".")[0]
        task = asyncio.create_task(self._run(plugin, tool, speaker, arguments))
        self._running.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    async def _run(
        self, plugin: str, tool: Tool, speaker: Speaker, arguments: dict[str, Any]
    ) -> ToolResult:
        async with self._tidied(plugin):
            return await contained(tool, self._context(plugin, speaker), arguments)

    @contextlib.asynccontextmanager
    async def _tidied(self, plugin: str) -> AsyncIterator[None]:
        """The time in which a plugin works. Tasks that it leaves behind are ended at its end."""
        before, working = self._working.get(plugin, (asyncio.all_tasks(), 0))
        self._working[plugin] = before, working + 1
        try:
            yield
        finally:
            before, working = self._working.pop(plugin)
            if working > 1:
                self._working[plugin] = before, working - 1
            else:
                end_what_is_left(next((p for p in self.plugins if p.name == plugin), None), before)

    def refusal(self, call: ToolCall, speaker: Speaker) -> str:
        """Why the speaker may not have this done, whether confirmed or not; empty where they may,
        or where the call is wrong in another way.
        """
        tool = self._tools.get(call.tool)
        if tool is None:
            return ""
        try:
            self._permit(tool, call.arguments, msgspec.structs.replace(speaker, confirmed=True))
        except NotPermittedError as error:
            return str(error)
        except ToolError:
            return ""
        return ""

    def _permit(self, tool: Tool, arguments: Mapping[str, Any], speaker: Speaker) -> None:
        """Ask the policy. Raises ``NotPermittedError``, or ``NotConfirmedError``."""
        snapshot = self.home.snapshot()
        try:
            risk = tool.risk_of(snapshot, arguments)
        except (ValueError, TypeError, msgspec.ValidationError) as error:
            raise ArgumentsError(f"{tool.name}: {error}") from error
        wanted = set(_entity_ids(arguments))
        areas = frozenset(e.area or "" for e in snapshot.entities if e.id in wanted)
        decided = decide(risk, speaker.provenance, speaker.person, tool.name, areas)
        if decided.verdict == "deny":
            raise NotPermittedError(decided.reason)
        if decided.verdict == "confirm" and not speaker.confirmed:
            raise NotConfirmedError(decided.reason)

    async def meant(self, text: str, speaker: Speaker = NOBODY) -> ToolCall | None:
        """The call that an utterance means by a name that somebody gave; ``None``: it is none."""
        for plugin in self.plugins:
            call = await self._ask(plugin, plugin.on_utterance, text, speaker)
            if call is not None and call.tool in plugin.tools:
                return call
        return None

    async def answer(self, question: str, speaker: Speaker = NOBODY) -> ToolCall | None:
        """The call of a reading tool that answers a question, of the first plugin that has one."""
        for plugin in self.plugins:
            call = await self._ask(plugin, plugin.on_question, question, speaker)
            tool = plugin.tools.get(call.tool) if call else None
            if tool is not None and tool.risk == "read":
                return call
        return None

    async def _ask(
        self, plugin: Plugin, function: AnswerFunction | None, text: str, speaker: Speaker
    ) -> ToolCall | None:
        if function is None:
            return None
        try:
            async with asyncio.timeout(ANSWER_LIMIT_S), self._tidied(plugin.name):
                return await function(self._context(plugin.name, speaker), text)
        except Exception:  # whatever a plugin does, the text goes on to the others
            log.exception("plugin cannot tell what a text means: %s", plugin.name)
            return None

    async def tell(self, event: str, data: Mapping[str, Any]) -> None:
        """Tell the plugins that hear an event of it."""
        for plugin in self.plugins:
            if plugin.on_event is None or event not in plugin.events:
                continue
            try:
                async with asyncio.timeout(HEAR_LIMIT_S), self._tidied(plugin.name):
                    context = self._context(plugin.name, Speaker(provenance="schedule"))
                    await plugin.on_event(context, event, data)
            except Exception:  # the others hear it all the same
                log.exception("plugin does not take what it hears: %s", plugin.name)

    async def start(self) -> None:
        """Run the start function of every plugin that has one, beside each other."""
        await asyncio.gather(*(self._start(p) for p in self.plugins if p.on_start))

    async def _start(self, plugin: Plugin) -> None:
        assert plugin.on_start is not None
        try:
            async with asyncio.timeout(START_LIMIT_S), self._tidied(plugin.name):
                await plugin.on_start(self._context(plugin.name, Speaker(provenance="schedule")))
        except Exception:  # the others start all the same
            log.exception("plugin did not start: %s", plugin.name)

    async def close(self) -> None:
        """Give tools that run a moment to finish."""
        if self._running:
            await asyncio.wait(self._running, timeout=STOP_LIMIT_S)

    def _forget(self, task: asyncio.Task[ToolResult]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # its caller may have left; then nobody else takes notice of it

    async def run_job(self, plugin: str, key: str) -> None:
        """Call the plugin's job function: what ``Schedule.start`` is given."""
        found = next((p for p in self.plugins if p.name == plugin), None)
        if found is None or found.on_job is None:
            raise LookupError(f"no plugin {plugin!r} with a job function is installed")
        async with self._tidied(plugin):
            await found.on_job(self._context(plugin, Speaker(provenance="schedule")), key)

    def _context(self, plugin: str, speaker: Speaker) -> Context:
        keeper = next((p.keeps_with for p in self.plugins if p.name == plugin), plugin)
        return Context(
            clock=self._clock,
            storage=PluginStorage(self._database, keeper),
            jobs=PluginJobs(self._schedule, keeper),
            board=self._board,
            home=self.home,
            speaker=speaker,
            carry_out=self._carry_out,
            call=self.call,
            settings=self._settings.get(plugin, {}),
            is_known=self.is_known,
        )


def _entity_ids(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The entities that a call names, wherever its arguments name them."""
    for entity_id in arguments.get("entities") or ():
        yield str(entity_id)
    for state in arguments.get("states") or ():
        if isinstance(state, dict):
            yield str(state.get("id", ""))


def find_plugins() -> list[Plugin]:
    """Every plugin that loads; one that does not is logged and left out."""
    found: dict[str, Plugin] = {}
    for origin, load in _candidates():
        try:
            plugin = load()
        except Exception:  # a broken plugin must not keep the daemon from starting
            log.exception("plugin not loaded: %s", origin)
            continue
        if isinstance(plugin, Plugin) and plugin.name not in found:
            found[plugin.name] = plugin
    return list(found.values())


def sentence_files(plugin: Plugin) -> list[Path]:
    """The plugin's sentence files, beside the module that defines its tools, one a language."""
    if plugin.sentences is None or not plugin.tools:
        return []
    function = next(iter(plugin.tools.values())).function
    folder = Path(str(importlib.import_module(function.__module__).__file__)).parent
    return sorted(folder.glob(plugin.sentences.replace("{language}", "*")))


def _candidates() -> Iterator[tuple[str, Callable[[], object]]]:
    for module in pkgutil.iter_modules(plugins.__path__):
        if module.name != "api":
            name = f"plugins.{module.name}"
            yield name, functools.partial(_of_module, name)
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        yield entry.value, entry.load


def _of_module(name: str) -> object:
    return getattr(importlib.import_module(name), "plugin", None)


def _validated(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        converted = msgspec.convert(arguments, tool.arguments, strict=False)
    except msgspec.ValidationError as error:
        raise ArgumentsError(f"{tool.name}: {error}") from error
    return {name: getattr(converted, name) for name in tool.arguments.__struct_fields__}
