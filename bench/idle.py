"""What the hub takes when nobody asks: a share of a core, wake-ups, memory; and how fast it starts.

    .venv/bin/python -m bench.idle [--seconds 60] [--model] [--json]

Starts a daemon of its own in a temporary home, without a language model unless `--model`. The
figures are of the hub's process alone, from /proc (Linux): time on the CPU, switches that its
threads made of themselves (each is a wake-up), resident and private memory.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.load import daemon, private_mb

SETTLE_S = 15.0
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """Seconds of user and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def switches(pid: int) -> dict[str, int]:
    """How often each thread went to sleep of itself, by its id and name."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        lines = (task / "status").read_text().splitlines()
        fields = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        found[f"{task.name} {fields['Name']}"] = int(fields["voluntary_ctxt_switches"])
    return found


def resident_mb(pid: int) -> float:
    """Resident memory of a process."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Rss:")) / 1024


async def measure(seconds: float, *, model: bool) -> dict[str, Any]:
    """The figures of one run."""
    if not model:
        os.environ |= {"HUBD_ENGINE_PRELOAD": "false", "HUBD_RAG_PRELOAD": "false"}
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as home:
        async with daemon(Path(home), tokens=0) as running:
            ready_s = running.ready_at - began
            pid = running.pid
            await asyncio.sleep(SETTLE_S)
            before, worked = switches(pid), cpu_s(pid)
            await asyncio.sleep(seconds)
            after, worked = switches(pid), cpu_s(pid) - worked
            made = {name: after[name] - before.get(name, 0) for name in after}
            return {
                "seconds": seconds,
                "with_a_model": model,
                "ready_after_s": round(ready_s, 2),
                "percent_of_a_core": round(100 * worked / seconds, 3),
                "wake_ups_a_second": round(sum(made.values()) / seconds, 2),
                "by_thread": {name: count for name, count in made.items() if count},
                "resident_mb": round(resident_mb(pid), 1),
                "private_mb": round(private_mb(pid), 1),
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--model", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    result = asyncio.run(measure(arguments.seconds, model=arguments.model))
    if arguments.json:
        print(json.dumps(result))
    else:
        print("\n".join(f"{name:20} {value}" for name, value in result.items()))


if __name__ == "__main__":
    main()
