"""What a token costs behind a long context, beside llama.cpp: part of bench.compare_llamacpp.

Behind 4 096 positions a token shall keep three quarters of the speed it has behind 64. What the
bytes allow is what would be kept if a token took as long as its weights, keys and values take to
be read, at any bandwidth. Keys and values are in each engine's default: bytes here, float16 there.
"""

import statistics
from pathlib import Path
from typing import Any

import msgspec

from bench.charts import Bar, bars
from bench.turns import Worker, quiet, take_turns

DEPTHS = (64, 512, 2000, 4096)
DECODE = 8
KEPT = 0.75


class LongRow(msgspec.Struct):
    """What one file came to behind each number of positions."""

    name: str
    packed_bytes_per_token: int
    bytes_per_position: float
    """Of keys and values that are read, ours."""
    read_bytes_per_s: float
    seconds: dict[str, dict[int, float]]
    """Engine → positions → median seconds of a token behind them."""
    turns: dict[str, list[dict[str, Any]]]

    def kept(self, engine: str) -> float:
        """Speed behind the longest context over that behind the shortest."""
        seconds = self.seconds[engine]
        return seconds[DEPTHS[0]] / seconds[DEPTHS[-1]]

    def bytes_allow(self) -> float:
        """The same if nothing but our bytes took time."""
        short, long = (
            self.packed_bytes_per_token + depth * self.bytes_per_position
            for depth in (DEPTHS[0], DEPTHS[-1])
        )
        return short / long


def measure_long(name: str, path: Path, threads: int, seconds: float) -> LongRow:
    """Both engines on one file, in turns; reading the contexts comes before and is not counted."""
    workers = [Worker(kind, path, threads) for kind in ("hubd", "llama.cpp")]
    order: dict[str, Any] = {"behind": DEPTHS, "decode": DECODE}
    for worker in workers:
        worker.turn(**order)
    turns = take_turns(workers, seconds, **order)
    for worker in workers:
        worker.close()
    about = next(worker.about for worker in workers if worker.kind == "hubd")
    medians = {
        kind: {
            depth: statistics.median(s for turn in quiet(done) for s in turn["behind"][str(depth)])
            for depth in DEPTHS
        }
        for kind, done in turns.items()
    }
    return LongRow(
        name=name,
        packed_bytes_per_token=about["bytes_per_token"],
        bytes_per_position=about["bytes_per_position"],
        read_bytes_per_s=statistics.median(turn["read"] for turn in quiet(turns["hubd"])),
        seconds=medians,
        turns=turns,
    )


def long_table(rows: list[LongRow]) -> str:
    """The table, in Markdown."""
    depths = ", ".join(f"{depth:,}".replace(",", " ") for depth in DEPTHS)
    lines = [
        "## Long contexts",
        "",
        f"One token behind so many positions, {DECODE} of each in a turn; engines take turns,"
        " medians of the quiet ones. Kept: speed behind the most over speed behind the fewest."
        f" Bold: short of the goal, {KEPT:g}.",
        "",
        f"| file | turns, others' share of the cores | ms a token behind {depths}: ours"
        " | llama.cpp's | ours kept | what the bytes allow | llama.cpp kept"
        " | ours ÷ llama.cpp behind the most | read bandwidth, GB/s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        counted = [turn for done in row.turns.values() for turn in quiet(done)]
        ours, theirs = row.seconds["hubd"], row.seconds["llama.cpp"]
        kept = row.kept("hubd")
        cells = [
            row.name,
            f"{len(counted)}, {max(turn['others'] for turn in counted):.0%}",
            " · ".join(f"{1000 * ours[depth]:.2f}" for depth in DEPTHS),
            " · ".join(f"{1000 * theirs[depth]:.2f}" for depth in DEPTHS),
            f"{kept:.2f}" if kept >= KEPT else f"**{kept:.2f}**",
            f"{row.bytes_allow():.2f}",
            f"{row.kept('llama.cpp'):.2f}",
            f"{theirs[DEPTHS[-1]] / ours[DEPTHS[-1]]:.2f}",
            f"{row.read_bytes_per_s / 1e9:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def long_plot(rows: list[LongRow]) -> str:
    """What is kept, beside what could be."""
    groups = {
        "ours": [Bar(row.name, row.kept("hubd"), KEPT) for row in rows],
        "what our bytes allow": [Bar(row.name, row.bytes_allow(), KEPT) for row in rows],
        "llama.cpp": [Bar(row.name, row.kept("llama.cpp"), KEPT) for row in rows],
    }
    return bars(f"Speed kept behind {DEPTHS[-1]} positions, of that behind {DEPTHS[0]}", groups)
