"""Whether answers stay as good when the time moves from the front of a foreign prompt to its end.

    .venv/bin/python -m bench.foreign_answers [--recorded FOLDER] [--model F] [--show] [--json]

Asks thirty questions under the two system messages that Home Assistant 2025.4 sent, each at another
time of the day: once as they were sent, once with what hubd moves (see hubd/http/volatile.py).
Greedy. An answer is right if it says what the question's pattern looks for; the patterns were
written before any answer was seen. `--show` prints every pair of answers.
"""

import argparse
import json
import math
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from engine.answers import messages_of
from engine.engine import Engine
from engine.protocol import ChatMessage, ChatRequest
from engine.sampling_params import SamplingParams
from hubd.config import load_config
from hubd.engine_child import model_path
from hubd.http.volatile import PromptMemory
from hubd.paths import find_paths

RECORDED = Path(__file__).resolve().parents[2] / "shared" / "ha" / "recorded"
FILE = "ha-2025.4.4-ollama.jsonl"
MOST_TOKENS = 64
PARAMS = SamplingParams(temperature=0.0, max_tokens=MOST_TOKENS)
_TIME, _DATE = re.compile(r"\d\d:\d\d:\d\d"), re.compile(r"\d{4}-\d\d-\d\d")

SHORT_PROMPT = (
    ("What is the capital of France?", r"\bparis\b"),
    ("What is the capital of Italy?", r"\brome\b"),
    ("How many days has a week?", r"\b(7|seven)\b"),
    ("How many minutes are in an hour?", r"\b(60|sixty)\b"),
    ("Which planet do we live on?", r"\bearth\b"),
    ("What colour is the sky on a clear day?", r"\bblue\b"),
    ("At how many degrees Celsius does water boil?", r"\b100\b"),
    ("Who wrote Romeo and Juliet?", r"\bshakespeare\b"),
    ("What is two plus three?", r"\b(5|five)\b"),
    ("Which is larger, the sun or the moon?", r"\bsun\b"),
    ("What time is it?", r"{hour}:{minute}"),
    ("Tell me the current time please.", r"{hour}:{minute}"),
    ("What is today's date?", r"{year}-{month}-{day}|november {day}|{day}(st|nd|rd|th)? (of )?nov"),
    ("Which year is it?", r"\b{year}\b"),
    ("Which month is it?", r"\bnov|\b{year}-{month}"),
)
LONG_PROMPT = (
    ("What is the capital of Germany?", r"\bberlin\b"),
    ("How many months has a year?", r"\b(12|twelve)\b"),
    ("What is the freezing point of water in Celsius?", r"\b(0|zero)\b"),
    ("What do bees make?", r"\bhoney\b"),
    ("Which ocean is the largest?", r"\bpacific\b"),
    ("Do I have a garage door?", r"\byes\b|you (do )?have|garage door"),
    ("Is there a fan in the living room?", r"\byes\b|living room fan"),
    ("Which lights are in the kitchen?", r"kitchen lights"),
    ("Do I have a light at the bed?", r"\byes\b|bed light"),
    ("Name one of my vacuums.", r"floor"),
    ("Which windows do I have?", r"(kitchen|hall|living room) window"),
    ("Is there a heat pump in this home?", r"\byes\b|heat ?pump"),
    ("What time is it?", r"{hour}:{minute}"),
    ("What is today's date?", r"{year}-{month}-{day}|november {day}|{day}(st|nd|rd|th)? (of )?nov"),
    ("Which year is it?", r"\b{year}\b"),
)


class Asked(NamedTuple):
    """A question, and its answers with the time in front and moved."""

    question: str
    unmoved: str
    moved: str
    right_unmoved: bool
    right_moved: bool
    lines_moved: int


def prompts(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The bodies of a request without tools and of one with tools."""
    file = folder / FILE
    if not file.is_file():
        raise SystemExit(f"no recorded requests at {file}")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    bodies = [row["body"] for row in rows if row["path"] == "/api/chat"]
    without = next(body for body in bodies if not body.get("tools"))
    return without, next(body for body in bodies if body.get("tools"))


def answer(engine: Engine, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
    """What the model says, greedily."""
    chat = [msgspec.convert(message, ChatMessage) for message in messages]
    prompt = engine.encode_chat(messages_of(ChatRequest(messages=chat)), tools)
    return "".join(piece.text for piece in engine.generate(prompt, PARAMS)).strip()


def ask(engine: Engine, body: dict[str, Any], questions: Any, began: datetime) -> list[Asked]:
    """Every question of a prompt, both ways."""
    memory, asked = PromptMemory(), []
    for number, (question, pattern) in enumerate(questions):
        now = began + timedelta(minutes=67 * number, seconds=11 * number)
        system = _TIME.sub(f"{now:%H:%M:%S}", body["messages"][0]["content"])
        system = _DATE.sub(f"{now:%Y-%m-%d}", system)
        messages = [
            {"role": "system", "content": system},
            {"role": "user", "content": question},
        ]
        tools = body.get("tools") or []
        changed = memory.rearrange("bench", messages, tools=bool(tools), now=now)
        said = answer(engine, messages, tools), answer(engine, changed.messages, tools)
        clock = {"year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M"}
        values = {name: f"{now:{form}}" for name, form in clock.items()}
        right, right_moved = (_right(pattern.format(**values), text) for text in said)
        asked.append(Asked(question, *said, right, right_moved, changed.moved))
    return asked


def _right(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def chance(better: int, worse: int) -> float:
    """How likely a difference of verdicts at least this large is if moving changes nothing: the
    sign test, two-sided (McNemar's exact test)."""
    changed = better + worse
    tail = sum(math.comb(changed, k) for k in range(min(better, worse) + 1))
    return min(1.0, 2.0 * tail / float(2**changed))


def summary(asked: list[Asked]) -> dict[str, float]:
    """The figures."""
    better = sum(one.right_moved and not one.right_unmoved for one in asked)
    worse = sum(one.right_unmoved and not one.right_moved for one in asked)
    return {
        "questions": len(asked),
        "with_a_line_moved": sum(one.lines_moved > 0 for one in asked),
        "right_unmoved": sum(one.right_unmoved for one in asked),
        "right_moved": sum(one.right_moved for one in asked),
        "same_word_for_word": sum(one.unmoved == one.moved for one in asked),
        "better": better,
        "worse": worse,
        "chance_of_that_difference": round(chance(better, worse), 3),
    }


def main() -> None:
    """The command line."""
    paths = find_paths()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--recorded", type=Path, default=RECORDED)
    parser.add_argument("--model", type=Path, help="a GGUF file, default the hub's")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cache-directory", type=Path)
    parser.add_argument("--show", action="store_true", help="every pair of answers")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    model = given.model or model_path(load_config(paths.config_file).engine, paths)
    began = datetime(2026, 11, 21, 0, 4, 17, tzinfo=UTC)
    options = {"threads": given.threads, "cache_directory": given.cache_directory}
    with Engine.load(model, context_length=4096, kv_format="auto", **options) as engine:
        short, long = prompts(given.recorded)
        asked = ask(engine, short, SHORT_PROMPT, began) + ask(engine, long, LONG_PROMPT, began)
    if given.show:
        for one in asked:
            marks = "".join("+" if right else "-" for right in (one.right_unmoved, one.right_moved))
            print(f"{marks} {one.question}\n   {one.unmoved!r}\n   {one.moved!r}")
    found = summary(asked)
    if given.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:26} {value:g}" for name, value in found.items()))


if __name__ == "__main__":
    main()
