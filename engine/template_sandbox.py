"""A chat template's own world: Jinja without a way out, and with bounds on time and memory.

A template comes with a downloaded file and may be hostile. Bounded are: the sizes of template and
output; running time, by a trace function, line by line; and memory, by an allowance for all that a
rendering produces. Whatever makes new data (operators, ``~``, filters, calls) is weighed before it
runs, for what it could produce at most, and after it, for what it did.
"""

import json
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from types import FrameType
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.errors import ChatTemplateError

MAX_TEMPLATE_CHARACTERS = 128 * 1024
MAX_OUTPUT_CHARACTERS = 1024 * 1024
"""Without the message contents, which are put in afterwards."""
MAX_RENDER_SECONDS = 2.0
MAX_PRODUCED_CHARACTERS = 16 * 1024 * 1024
"""By all operations of a rendering together; four bytes each at worst."""
MAX_DEPTH = 32

# Filters that only choose or count; a template may ask for the length of a long conversation at
# each of its messages.
_CHOOSING = frozenset(
    {
        *("length", "count", "first", "last", "default", "d", "int", "float", "abs"),
        *("select", "reject", "selectattr", "rejectattr", "map", "items", "attr"),
    }
)

_produced: ContextVar[list[int]] = ContextVar("produced")


def compile_template(source: str) -> jinja2.Template:
    """Raises ChatTemplateError for a template that is too long or broken."""
    if len(source) > MAX_TEMPLATE_CHARACTERS:
        raise ChatTemplateError(
            f"the chat template has {len(source)} characters;"
            f" at most {MAX_TEMPLATE_CHARACTERS} are allowed"
        )
    try:
        return _environment().from_string(source)
    except (
        jinja2.TemplateError,
        RecursionError,
        SyntaxError,
        MemoryError,
        ValueError,
        OverflowError,
    ) as error:
        raise ChatTemplateError(f"the chat template is broken: {error}") from error


def run(template: jinja2.Template, **variables: Any) -> str:
    """What the template writes. Raises ChatTemplateError when it fails or goes beyond bounds."""
    pieces: list[str] = []
    length = 0
    allowance = _produced.set([0])
    try:
        with _time_limit(MAX_RENDER_SECONDS):
            for piece in template.generate(**variables):
                length += len(piece)
                if length > MAX_OUTPUT_CHARACTERS:
                    raise ChatTemplateError(
                        f"the chat template writes over {MAX_OUTPUT_CHARACTERS} characters"
                    )
                pieces.append(piece)
    except ChatTemplateError:
        raise
    except Exception as error:  # whatever a template may do wrong
        raise ChatTemplateError(f"the chat template fails: {error}") from error
    finally:
        _produced.reset(allowance)
    return "".join(pieces)


class _CodeGenerator(CodeGenerator):
    """``a ~ b`` goes through the environment like the other operators."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802 - Jinja's name
        self.write("environment.concatenated((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")


class _Sandbox(ImmutableSandboxedEnvironment):
    """No attribute access outside the data, no mutation, nothing huge."""

    intercepted_binops = frozenset(["+", "*", "**", "%"])
    code_generator_class = _CodeGenerator

    def concat(self, parts: Iterable[str]) -> str:
        """What blocks, macros and calls have written, as one string."""
        written = list(parts)
        _check(sum(map(len, written)), "a block")
        return str(_made("".join(written)))

    def concatenated(self, parts: Sequence[Any]) -> str:
        """The parts as one string."""
        _check(sum(map(_weight, parts)), "~")
        return str(_made("".join(map(str, parts))))

    def call_binop(
        self, context: jinja2.runtime.Context, operator: str, left: Any, right: Any
    ) -> Any:
        size: float
        match operator:
            case "+":
                size = _count(left) + _count(right)  # lists share their parts
            case "**":
                size = _magnitude(left) ** _magnitude(right)
            case "%" if isinstance(left, str):
                size = _formatted(left, "%") + _weight(right)
            case "%":
                size = 0
            case _:
                size = _magnitude(left) * _magnitude(right)
        _check(size, operator)
        return _made(super().call_binop(context, operator, left, right))

    def call(
        self, context: jinja2.runtime.Context, called: Any, /, *args: Any, **kwargs: Any
    ) -> Any:
        # A method's own object counts: text.replace, text.join; the sandbox wraps text.format.
        method = getattr(called, "__wrapped__", called)
        subject = getattr(method, "__self__", None)
        if isinstance(subject, str):
            name = getattr(method, "__name__", "")
            _check(_at_most(subject, name, [*args, *kwargs.values()]), f".{name}()")
        return _made(super().call(context, called, *args, **kwargs))


def _bounded(name: str, filter_: Any) -> Any:
    """A filter that is weighed before and after."""

    def weighed(*args: Any, **kwargs: Any) -> Any:
        plain = [
            arg
            for arg in (*args, *kwargs.values())
            if not isinstance(arg, (jinja2.Environment, jinja2.runtime.Context))
            and not hasattr(arg, "autoescape")
        ]
        _check(_at_most(plain[0] if plain else "", name, plain[1:]), f"|{name}")
        return _made(filter_(*args, **kwargs))

    if hasattr(filter_, "jinja_pass_arg"):  # whether it wants the environment or the context
        weighed.jinja_pass_arg = filter_.jinja_pass_arg  # type: ignore[attr-defined]
    return weighed


def _at_most(subject: Any, name: str, args: Sequence[Any]) -> float:
    """A bound on the size of what a filter or method makes of its subject."""
    size = float(_weight(subject))
    if name in ("format", "format_map") and isinstance(subject, str):
        return _formatted(subject, "") + sum(map(_weight, args)) * (1 + subject.count("{"))
    if name == "replace" and len(args) >= 2 and all(isinstance(a, str) for a in args[:2]):
        return size + str(subject).count(args[0]) * len(args[1])
    if name == "join":
        parts = subject if not isinstance(subject, str) or not args else args[0]
        separator = args[0] if parts is subject and args else subject
        between = len(separator) if isinstance(separator, str) and parts is not separator else 0
        return size + _weight(parts) + _count(parts) * between
    widths = [abs(arg) for arg in args if isinstance(arg, int)]
    return size * (1 + max(widths, default=0)) if widths else size + sum(map(_weight, args))


def _formatted(form: str, sign: str) -> float:
    """What a format string's widths add up to; no end where an argument gives one."""
    if "*" in form if sign else re.search(r"\{[^{}]*\{", form):
        return float("inf")
    return len(form) + sum(float(width) for width in re.findall(r"[0-9]+", form))


def _count(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else 0


def _weight(value: Any) -> float:
    """Characters and elements in a value, as deep as it goes, shared parts each time."""
    left = MAX_PRODUCED_CHARACTERS
    pending: list[tuple[Any, int]] = [(value, 0)]
    total = 0
    while pending and total <= left:
        item, depth = pending.pop()
        total += 1
        if isinstance(item, str | bytes):
            total += len(item)
        elif isinstance(item, int) and not isinstance(item, bool):
            total += item.bit_length() // 3
        elif depth > MAX_DEPTH:
            return float("inf")
        elif isinstance(item, Mapping):
            pending.extend((part, depth + 1) for pair in item.items() for part in pair)
        elif isinstance(item, list | tuple | set | frozenset):
            pending.extend((part, depth + 1) for part in item)
    return total


def _magnitude(operand: Any) -> float:
    """A number's value, or how much data there is."""
    try:
        number = isinstance(operand, (int, float))
        return float(abs(operand)) if number else float(_weight(operand))
    except OverflowError:
        return float("inf")


def _check(size: float, operation: str) -> None:
    """Raises ChatTemplateError for an operation that could make something huge."""
    if not size <= MAX_OUTPUT_CHARACTERS:
        raise ChatTemplateError(f"the chat template uses {operation} on something too large")


def _made(value: Any) -> Any:
    """Count what an operation has made: of containers the places, since the parts were there.

    Raises ChatTemplateError when all of the rendering's operations together made too much.
    """
    spent = _produced.get()
    spent[0] += len(value) if hasattr(value, "__len__") else 1
    if spent[0] > MAX_PRODUCED_CHARACTERS:
        raise ChatTemplateError("the chat template takes too much memory")
    return value


def _finalized(value: Any) -> Any:
    """Before a value is written: a list may hold the same list a million times."""
    if not isinstance(value, str):
        _check(_weight(value), "{{ }}")
    return _made(value)


def _environment() -> _Sandbox:
    """As Hugging Face's apply_chat_template sets it up, so that templates mean the same."""
    environment = _Sandbox(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols], finalize=_finalized
    )
    environment.filters["tojson"] = _to_json
    for name, filter_ in list(environment.filters.items()):
        if name not in _CHOOSING:
            environment.filters[name] = _bounded(name, filter_)
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    for name in ("lipsum", "cycler", "joiner"):  # no template needs them
        del environment.globals[name]
    return environment


def _strftime_now(form: str) -> str:
    if re.search(r"[0-9]{3}", form):
        raise ChatTemplateError("the chat template asks for a date of an odd width")
    return datetime.now().astimezone().strftime(form)


def _to_json(value: Any, ensure_ascii: bool = False, indent: int | None = None) -> str:
    """Jinja's own filter escapes for HTML; templates mean JSON as Hugging Face writes it."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)


def _raise_exception(message: str) -> NoReturn:
    raise ChatTemplateError(f"the chat template refuses these messages: {message}")


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Stop Python code in the body that runs longer, loops without output included."""
    deadline = time.monotonic() + seconds

    def check(frame: FrameType, event: str, argument: Any) -> Any:
        if time.monotonic() > deadline:
            raise ChatTemplateError(f"the chat template runs longer than {seconds:g} s")
        # Line by line in the template itself; what it calls does not run for long.
        return check if frame.f_code.co_filename == "<template>" else None

    before = sys.gettrace()
    sys.settrace(check)
    try:
        yield
    finally:
        sys.settrace(before)
