"""This engine beside llama.cpp: the same files, the same threads, taking turns.

    python -m bench.compare_llamacpp --gemma GEMMA3.gguf [--threads 2] [--seconds 40] [--only NAME]

Each file is loaded by both engines, each in a process of its own, and they take turns: prefill of
512 tokens as one batch, then decoding behind them; the one whose turn it is not sleeps. Medians
of the quiet turns, those in which other programs took little of the cores. The memory limit is the
read bandwidth measured in the same turns over the bytes of weights that a token needs. SmolLM2's
files are measured behind long contexts as well (bench.long_contexts). Needs
`pip install --editable .[bench]`, built with CMAKE_ARGS=-DGGML_NATIVE=ON. Results go to
bench/results/.
"""

import argparse
import math
import statistics
import time
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import platformdirs

from bench.charts import Bar, Point, bars, roofline
from bench.long_contexts import LongRow, long_plot, long_table, measure_long
from bench.random_model import write as write_random_model
from bench.speed_worker import BATCH
from bench.turns import QUIET, Worker, quiet, take_turns
from engine.benchmarks._machine import this_machine
from engine.gguf import GGUFFile
from engine.quantize import quantize_file

HERE = Path(__file__).parent
SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"
DECODE = 32


class Goal(NamedTuple):
    """What is to be reached: ours over llama.cpp's, and decode over the memory limit."""

    prefill: float
    decode: float
    limit: float


GOALS = {
    "SmolLM2-135M Q8_0": Goal(3, 1.9, 0.80),
    "SmolLM2-135M Q4_1": Goal(5, 2.2, 0.65),
    "Gemma-3-270M Q4_K_M": Goal(2, 1.6, 0.75),
    "random 1B Q4_K_M": Goal(1.5, 1.3, 0.80),
    "random 1B Q8_0": Goal(1.5, 1.3, 0.80),
}
LONG = "SmolLM2-135M Q8_0", "SmolLM2-135M Q4_1"
"""Files that are measured behind long contexts too."""


class Row(msgspec.Struct):
    """What one file came to: medians, and the rounds behind them."""

    name: str
    file_bytes_per_token: int
    """Bytes of weights in the file that a token needs."""
    packed_bytes_per_token: int
    """The same in the layout that our kernels read."""
    weights: int
    """Weights that a token needs."""
    head_weights: int
    """Of these, the output head's: a prompt needs them once."""
    read_bytes_per_s: float
    peak_operations_per_s: float
    prefill: dict[str, float]
    """Engine → tokens/s."""
    decode: dict[str, float]
    turns: dict[str, list[dict[str, Any]]]
    """Engine → all its turns: seconds, and the share of the cores that others took."""
    about: dict[str, Any]

    def ratio(self, what: dict[str, float]) -> float:
        return what["hubd"] / what["llama.cpp"]

    def share(self, size: int) -> float:
        """Decode over the limit of a token that reads so many bytes."""
        return self.decode["hubd"] * size / self.read_bytes_per_s


def read_by_a_token(path: Path) -> tuple[int, int, int]:
    """Bytes and weights of the tensors that a token needs, and the weights of the head alone."""
    with GGUFFile(path) as file:
        untied = "output.weight" in file.tensors
        head = math.prod(file.tensors["output.weight" if untied else "token_embd.weight"].shape)
        read = [
            i for name, i in file.tensors.items() if not (untied and name == "token_embd.weight")
        ]
        return sum(i.size for i in read), sum(math.prod(i.shape) for i in read), head


def measure(name: str, path: Path, threads: int, seconds: float) -> Row:
    """Both engines on one file, in turns, for about so many seconds."""
    workers = [Worker(kind, path, threads) for kind in ("hubd", "llama.cpp")]
    for worker in workers:
        worker.turn(prefill=64, decode=4)  # the first touches of memory and code are nobody's speed
    turns = take_turns(workers, seconds, prefill=BATCH, decode=DECODE)
    for worker in workers:
        worker.close()
    about = {worker.kind: worker.about for worker in workers}
    counted = {kind: quiet(done) for kind, done in turns.items()}
    prefill = {
        kind: BATCH / statistics.median(turn["prefill"] for turn in done)
        for kind, done in counted.items()
    }
    decode = {
        kind: 1 / statistics.median(token for turn in done for token in turn["decode"])
        for kind, done in counted.items()
    }
    read, peak = (
        statistics.median(turn[limit] for turn in counted["hubd"]) for limit in ("read", "peak")
    )
    file_bytes, weights, head = read_by_a_token(path)
    return Row(
        name=name,
        file_bytes_per_token=file_bytes,
        packed_bytes_per_token=about["hubd"]["bytes_per_token"],
        weights=weights,
        head_weights=head,
        read_bytes_per_s=read,
        peak_operations_per_s=peak,
        prefill=prefill,
        decode=decode,
        turns=turns,
        about=about,
    )


def model_files(given: argparse.Namespace) -> dict[str, Path]:
    """The files of the table; those that can be made are made once."""
    made: Path = given.work
    made.mkdir(parents=True, exist_ok=True)
    small = given.smollm2
    wide = made / small.name.replace("Q4_1", "Q8_0")
    if not wide.exists():
        quantize_file(small, wide, "q8_0", lambda name, fraction: None, again=True)
    large = {to: made / f"random-1B-{to}.gguf" for to in ("q4_k_m", "q8_0")}
    for to, path in large.items():
        if not path.exists():
            write_random_model(path, to)
    files = {"SmolLM2-135M Q8_0": wide, "SmolLM2-135M Q4_1": small}
    if given.gemma is not None:
        files["Gemma-3-270M Q4_K_M"] = given.gemma
    return files | {"random 1B Q4_K_M": large["q4_k_m"], "random 1B Q8_0": large["q8_0"]}


def mark(value: float, goal: float) -> str:
    """A figure beside its goal; bold where it falls short."""
    return f"{value:.2f} (≥ {goal:g})" if value >= goal else f"**{value:.2f}** (≥ {goal:g})"


def markdown(rows: list[Row], machine: str, threads: int) -> str:
    """The table, with what it was measured on."""
    lines = [
        "# Against llama.cpp",
        "",
        f"{time.strftime('%Y-%m-%d')}, {machine}.",
        f"{threads} threads, prefill of {BATCH} tokens as one batch, {DECODE} tokens decoded behind"
        " them; engines take turns, medians of the quiet ones. Bold: short of the goal.",
        f"llama.cpp: llama-cpp-python {rows[0].about['llama.cpp']['version']},"
        f" {rows[0].about['llama.cpp']['system']}. Ours: {rows[0].about['hubd']['kernels']}.",
        "",
        "| file | turns, others' share of the cores | prefill, ours and llama.cpp's, tokens/s"
        " | ratio | decode, tokens/s | ratio | read bandwidth, GB/s"
        " | decode ÷ memory limit of the bytes read | of the file's bytes |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        goal = GOALS[row.name]
        counted = [turn for done in row.turns.values() for turn in quiet(done)]
        prefill, decode = (
            f"{speed['hubd']:.0f} · {speed['llama.cpp']:.0f}" for speed in (row.prefill, row.decode)
        )
        cells = [
            row.name,
            f"{len(counted)}, {max(turn['others'] for turn in counted):.0%}",
            prefill,
            mark(row.ratio(row.prefill), goal.prefill),
            decode,
            mark(row.ratio(row.decode), goal.decode),
            f"{row.read_bytes_per_s / 1e9:.1f}",
            mark(row.share(row.packed_bytes_per_token), goal.limit),
            f"{row.share(row.file_bytes_per_token):.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    disturbed = max(
        turn["others"] for row in rows for done in row.turns.values() for turn in quiet(done)
    )
    if disturbed > QUIET:
        lines += ["", f"Disturbed: other programs took up to {disturbed:.0%} of the cores."]
    return "\n".join(lines) + "\n"


def ratios(rows: list[Row]) -> str:
    """A plot of the three ratios of every file."""
    groups: dict[str, list[Bar]] = {"prefill ÷ llama.cpp": [], "decode ÷ llama.cpp": []}
    groups["decode ÷ memory limit"] = []
    for row in rows:
        share = row.share(row.packed_bytes_per_token)
        reached = row.ratio(row.prefill), row.ratio(row.decode), share
        for group, ratio, wanted in zip(groups.values(), reached, GOALS[row.name], strict=True):
            group.append(Bar(row.name, ratio, wanted))
    return bars("Ours against llama.cpp, and against the memory limit", groups)


def roof(rows: list[Row]) -> str:
    """Prefill and decode of both engines under what the machine can do."""
    points = []
    for row in rows:
        for kind, size in (("hubd", row.packed_bytes_per_token),
                           ("llama.cpp", row.file_bytes_per_token)):  # fmt: skip
            for tokens, speed in ((1, row.decode), (BATCH, row.prefill)):
                each = row.weights - row.head_weights + row.head_weights / tokens
                intensity, rate = 2 * each * tokens / size, 2 * each * speed[kind]
                points.append(Point(row.name, intensity, rate, hollow=kind != "hubd"))
    read, peak = (
        statistics.median(values)
        for values in zip(
            *((row.read_bytes_per_s, row.peak_operations_per_s) for row in rows), strict=True
        )
    )
    title = f"Decode (left) and prefill under {read / 1e9:.0f} GB/s and {peak / 1e9:.0f} GOP/s"
    return roofline(f"{title}; hollow: llama.cpp", read, peak, points)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    folder = platformdirs.user_data_path("hubd") / "models"
    parser.add_argument("--smollm2", type=Path, default=folder / SMOLLM2, help="the Q4_1 file")
    parser.add_argument("--gemma", type=Path, help="Gemma 3 270M, Q4_K_M; left out without it")
    parser.add_argument("--work", type=Path, default=platformdirs.user_cache_path("hubd") / "bench")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=40, help="for each file")
    parser.add_argument("--only", choices=GOALS, action="append", help="this file alone")
    given = parser.parse_args()
    machine = this_machine()
    rows: list[Row] = []
    long_rows: list[LongRow] = []
    for name, path in model_files(given).items():
        if given.only and name not in given.only:
            continue
        rows.append(measure(name, path, given.threads, given.seconds))
        print(markdown(rows[-1:], str(machine), given.threads).splitlines()[-1], flush=True)
        if name in LONG:
            long_rows.append(measure_long(name, path, given.threads, given.seconds))
            print(long_table(long_rows[-1:]).splitlines()[-1], flush=True)
    given.out.mkdir(parents=True, exist_ok=True)
    result = {"machine": machine, "threads": given.threads, "rows": rows, "long": long_rows}
    encoded = msgspec.json.format(msgspec.json.encode(result), indent=1)
    (given.out / "llamacpp.json").write_bytes(encoded)
    tables = [markdown(rows, str(machine), given.threads)]
    if long_rows:
        tables.append(long_table(long_rows))
        (given.out / "long_contexts.svg").write_text(long_plot(long_rows))
    (given.out / "llamacpp.md").write_text("\n".join(tables))
    (given.out / "llamacpp.svg").write_text(ratios(rows))
    (given.out / "roofline.svg").write_text(roof(rows))


if __name__ == "__main__":
    main()
