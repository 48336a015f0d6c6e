"""All that a plugin author reads: a plugin is one module with tools, each a typed async function.

    from plugins.api import Plugin, ToolContext, ToolResult

    plugin = Plugin("coffee", sentences="coffee.{language}.yaml")

    @plugin.tool(risk="act")
    async def brew(context: ToolContext, cups: int = 1) -> ToolResult:
        '''Brew coffee.

        cups: how many cups, 1 to 6
        '''
        ...

The tool's JSON schema comes from the signature, its description from the docstring. Sentences in
the file beside the module map utterances to tools without a language model. A tool reaches the
house only through its context.
"""

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol, get_type_hints

import msgspec

Risk = Literal["read", "act", "dangerous"]
"""``dangerous``: a person must confirm it first (locks, garage, alarm, deleting)."""


class ToolError(Exception):
    """The tool could not do it; the message is said to the person as it is."""


class MissingArgumentError(ToolError):
    """Something has to be known first: the message asks the person for it."""

    def __init__(self, argument: str, question: str) -> None:
        super().__init__(question)
        self.argument = argument


class OfferedError(ToolError):
    """Another call may be meant: the message asks the person whether it is."""

    def __init__(self, call: "ToolCall", question: str) -> None:
        super().__init__(question)
        self.call = call


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool's name and arguments: what routing, undo and the HTTP endpoint exchange."""

    tool: str
    """``plugin.tool``, for instance ``timers.start``."""
    arguments: dict[str, Any] = {}


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool did."""

    text: str
    """For the person: what was done or found, in one or two sentences of plain speech."""
    data: dict[str, Any] = {}
    """The same for programs and the page; JSON types only."""
    undo: ToolCall | None = None


class ArgumentGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments that several tools share: a parameter of such a type stands for its fields."""


class Location(NamedTuple):
    """A place on earth, in degrees; north and east are positive."""

    latitude: float
    longitude: float


class Floor(msgspec.Struct, frozen=True, kw_only=True):
    """A storey of the household."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()


class Area(msgspec.Struct, frozen=True, kw_only=True):
    """A room, or a part of the garden."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    floor: str | None = None
    """The floor's id."""


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """A thing of the household with a state; the words are Home Assistant's."""

    id: str
    """``domain.object_id``, for instance ``light.kitchen``."""
    name: str
    aliases: tuple[str, ...] = ()
    area: str | None = None
    """The area's id."""
    state: str = "unknown"
    attributes: dict[str, Any] = {}

    @property
    def domain(self) -> str:
        return self.id.partition(".")[0]


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The household at one moment: only what the assistant may see and touch."""

    floors: tuple[Floor, ...] = ()
    areas: tuple[Area, ...] = ()
    entities: tuple[Entity, ...] = ()
    version: int = 0
    """Grows when a floor, area or entity comes, goes, moves or is renamed; not with states. What is
    compiled from names is compiled once a version."""
    as_of: datetime | None = None
    """When the household was heard from last, where it cannot be reached; ``None`` while it can."""

    def entity(self, entity_id: str) -> Entity | None:
        """The entity of that id."""
        return next((entity for entity in self.entities if entity.id == entity_id), None)


class ServiceResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a service did, read back from the household after the call, never assumed."""

    before: tuple[Entity, ...] = ()
    """The entities that were called, as they were."""
    after: tuple[Entity, ...] = ()
    """The same entities, in the same order, as they are now."""
    failed: dict[str, str] = {}
    """Entity id → why it did not reach the state that was asked for."""
    response: dict[str, Any] = {}
    """What a service answers, such as a weather forecast; empty for most."""


class HomeError(ToolError):
    """The household cannot be reached, or does not know the service or the entity."""


class StillBusyError(HomeError):
    """A device takes longer than is waited for; Home Assistant itself is well."""


class NoAnswerError(HomeError):
    """This household has no services that answer: it is described in a file."""


class Home(Protocol):
    """The household: seen without waiting, changed by services."""

    def snapshot(self) -> Snapshot:
        """The household as it is now, from memory."""

    async def call(
        self, service: str, entities: Sequence[str], data: Mapping[str, Any] = {}
    ) -> ServiceResult:
        """Call ``service`` (``light.turn_on``) on entity ids, and read their states back.

        Raises:
            HomeError: nothing was done; the message is for the person.
        """

    def location(self) -> Location | None:
        """Where the house stands; ``None`` where nobody knows."""

    async def ask(
        self, service: str, entity: str, data: Mapping[str, Any] = {}
    ) -> Mapping[str, Any]:
        """Call a service for what it answers (``weather.get_forecasts``): what it says of
        ``entity``.

        Raises:
            NoAnswerError: this household has no services that answer.
            HomeError: it does not answer, or there is no such thing.
        """


class Storage(Protocol):
    """A plugin's own durable documents: JSON objects by key, written before the call returns."""

    async def get(self, key: str) -> dict[str, Any] | None: ...
    async def put(self, key: str, value: dict[str, Any]) -> None: ...
    async def delete(self, key: str) -> bool: ...
    async def all(self) -> dict[str, dict[str, Any]]: ...

    def alone(self) -> AbstractAsyncContextManager[object]:
        """While it is held, no other holder of this plugin runs: for what is read, changed and put
        back. Not to be held while something slow is waited for, nor twice in one call.
        """


class Jobs(Protocol):
    """Durable wake-ups. A job whose time passed while the box was off runs late, but once."""

    async def run_at(self, key: str, when: datetime) -> None:
        """Wake this plugin's ``@plugin.job`` function with ``key`` at ``when`` (aware).

        A job of the same key is replaced.
        """

    async def cancel(self, key: str) -> bool: ...


class ToolContext(Protocol):
    """What a tool may see of the hub."""

    @property
    def now(self) -> datetime:
        """The time, aware, in the household's zone. Tools never ask the clock themselves."""

    @property
    def storage(self) -> Storage: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def settings(self) -> Mapping[str, Any]:
        """The section of the configuration with the plugin's name; empty where there is none."""

    @property
    def conversation(self) -> str: ...
    @property
    def person(self) -> str:
        """The name of the person who asks."""

    @property
    def permissions(self) -> dict[str, Any]:
        """What the person may, as JSON: to be kept beside what they set up for later, and given to
        ``carry_out``, so that it does no more than they may."""

    @property
    def language(self) -> str:
        """The language to answer in: ``en``, ``zh``, ``de``, ``fr`` or ``es``."""

    @property
    def area(self) -> str:
        """The id of the area that the person speaks in, or an empty string."""

    @property
    def home(self) -> Home: ...

    async def carry_out(
        self,
        utterance: str,
        language: str = "",
        area: str = "",
        within: Mapping[str, Any] | None = None,
    ) -> str:
        """Do what an utterance asks for, as if the person said it again; returns the reply.

        Language and area id are those of this call unless they are given. ``within``: the
        ``permissions`` of who set it up; what they may not is not done, whoever runs it now.

        What needs a confirmation is not done: nobody is there to give it.
        """

    async def call(self, call: ToolCall, language: str = "", area: str = "") -> ToolResult:
        """Call another tool, as the person for whom this one runs.

        Raises:
            ToolError: it could not do it, or may not be called so.
        """

    def emit(self, event: str, data: dict[str, Any]) -> int:
        """Show an event on every open chat page, as ``event`` with ``data`` (JSON types); returns
        how many are open."""


ToolFunction = Callable[..., Awaitable[ToolResult]]
RiskRule = Callable[[Snapshot, Mapping[str, Any]], Risk]
"""The risk of a call whose danger lies in its arguments: a curtain opens, a garage door asks."""
FitsRule = Callable[[Mapping[str, Any], str], bool]
"""Whether a tool can make something of arguments that a sentence took from free text, in a language
(``en``). Where it cannot, the sentence is passed over: "what is {expression}" is a sum or none. It
is asked on another thread and looks at nothing but its arguments."""
AnswerFunction = Callable[["ToolContext", str], Awaitable[ToolCall | None]]
"""Which call of a reading tool of the plugin answers a question that no sentence explains;
``None``: the plugin knows nothing of it, and the documents are asked."""
MeaningFunction = Callable[["ToolContext", str], Awaitable[ToolCall | None]]
"""Which call of the plugin's own an utterance means by a name that somebody gave, as routines have
one. It is asked first, for every utterance: nothing but what was named so may be taken for it."""
JobFunction = Callable[[ToolContext, str], Awaitable[None]]
StartFunction = Callable[[ToolContext], Awaitable[None]]
EventFunction = Callable[[ToolContext, str, Mapping[str, Any]], Awaitable[None]]
"""Is told of what a plugin emitted: the event and its data."""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A function the assistant can call."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema of the arguments object."""
    risk: Risk
    """The least risk that a call of it has."""
    risk_rule: RiskRule | None = None
    fits: FitsRule | None = None
    timeout_s: float
    function: ToolFunction
    arguments: type[msgspec.Struct]
    """The validated form of the arguments, built from the signature."""

    def risk_of(self, snapshot: Snapshot, arguments: Mapping[str, Any]) -> Risk:
        """The risk of this call, in the household as it is."""
        return self.risk_rule(snapshot, arguments) if self.risk_rule else self.risk


class Plugin:
    """A named set of tools, optional sentence files, and what else the hub calls: at most one
    function each for jobs, events, the start, questions, and for names that people give."""

    def __init__(self, name: str, *, sentences: str | None = None, keeps_with: str = "") -> None:
        """keeps_with: another plugin, whose storage and wake-ups are this one's too."""
        self.name = name
        self.sentences = sentences
        self.keeps_with = keeps_with or name
        self.tools: dict[str, Tool] = {}
        self.on_job: JobFunction | None = None
        self.on_start: StartFunction | None = None
        self.on_question: AnswerFunction | None = None
        self.on_utterance: MeaningFunction | None = None
        self.on_event: EventFunction | None = None
        self.events: tuple[str, ...] = ()
        """Those that ``on_event`` is told of."""

    def tool(
        self,
        *,
        risk: Risk,
        risk_rule: RiskRule | None = None,
        fits: FitsRule | None = None,
        timeout_s: float = 10.0,
    ) -> Callable[[ToolFunction], ToolFunction]:
        """Register an async ``f(context, ...) -> ToolResult`` as ``<plugin>.<function>``.

        ``list_`` is registered as ``list``, so that a module need not hide a builtin. ``risk_rule``
        looks at the arguments of a call; ``risk`` is then what most calls have. ``fits`` decides
        whether a sentence with free text means this tool at all.
        """

        def register(function: ToolFunction) -> ToolFunction:
            name = f"{self.name}.{function.__name__.rstrip('_')}"
            arguments = _arguments_struct(name, function)
            self.tools[name] = Tool(
                name=name,
                description=inspect.getdoc(function) or "",
                parameters=_inline_schema(arguments),
                risk=risk,
                risk_rule=risk_rule,
                fits=fits,
                timeout_s=timeout_s,
                function=_regrouped(function),
                arguments=arguments,
            )
            return function

        return register

    def job(self, function: JobFunction) -> JobFunction:
        """Register the function that ``context.jobs.run_at`` wakes."""
        self.on_job = function
        return function

    def answers(self, function: AnswerFunction) -> AnswerFunction:
        """Register a function that looks at questions which no sentence explains."""
        self.on_question = function
        return function

    def understands(self, function: MeaningFunction) -> MeaningFunction:
        """Register a function that knows utterances by names that people gave.

        Raises:
            ValueError: there is one already.
        """
        if self.on_utterance is not None:
            raise ValueError(f"{self.name} has two functions that know utterances")
        self.on_utterance = function
        return function

    def hears(self, *events: str) -> Callable[[EventFunction], EventFunction]:
        """Register a function that is told of these events, whichever plugin emits them."""

        def register(function: EventFunction) -> EventFunction:
            self.on_event, self.events = function, events
            return function

        return register

    def start(self, function: StartFunction) -> StartFunction:
        """Register a function that runs once when the hub has started."""
        self.on_start = function
        return function


def _arguments_struct(name: str, function: ToolFunction) -> type[msgspec.Struct]:
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        hint = hints[parameter.name]
        if _is_group(hint):
            kinds = get_type_hints(hint, include_extras=True)
            fields += [(f.name, kinds[f.name], f.default) for f in msgspec.structs.fields(hint)]
        elif parameter.default is parameter.empty:
            fields.append((parameter.name, hint))
        else:
            fields.append((parameter.name, hint, parameter.default))
    struct_name = name.title().replace(".", "").replace("_", "") + "Arguments"
    return msgspec.defstruct(struct_name, fields, kw_only=True, forbid_unknown_fields=True)


def _regrouped(function: ToolFunction) -> ToolFunction:
    """The function, called with single arguments where it wants groups of them."""
    hints = get_type_hints(function)
    groups = {name: hint for name, hint in hints.items() if name != "return" and _is_group(hint)}
    if not groups:
        return function

    @functools.wraps(function)
    async def called(context: "ToolContext", **arguments: Any) -> ToolResult:
        for name, group in groups.items():
            fields = group.__struct_fields__
            arguments[name] = group(**{field: arguments.pop(field) for field in fields})
        return await function(context, **arguments)

    return called


def _is_group(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, ArgumentGroup)


def _inline_schema(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    schema = msgspec.json.schema(arguments)
    return dict(schema["$defs"][arguments.__name__])
