"""Engines that take turns, each in a process of its own, and the turns that count."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LEAST_TURNS = 3
QUIET = 0.05
"""The share of the cores that others may take in a turn that counts."""


def busy_seconds() -> float:
    """Of all cores since the machine started, for whomever (proc_stat(5))."""
    user, nice, system, _, _, irq, soft_irq, steal = map(
        int, Path("/proc/stat").read_text().split()[1:9]
    )
    return (user + nice + system + irq + soft_irq + steal) / os.sysconf("SC_CLK_TCK")


class Worker:
    """An engine in its process."""

    def __init__(self, kind: str, path: Path, threads: int) -> None:
        self.kind = kind
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.speed_worker", kind, path, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.about = self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.kind} has ended; see above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def own_seconds(self) -> float:
        """CPU time that its threads have had (proc_pid_stat(5))."""
        stat = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")

    def turn(self, **order: Any) -> dict[str, Any]:
        """What the order asks for; with the share of the cores that others took meanwhile."""
        assert self._process.stdin is not None
        began, busy, own = time.perf_counter(), busy_seconds(), self.own_seconds()
        print(json.dumps(order), file=self._process.stdin, flush=True)
        answer = self._answer()
        foreign = busy_seconds() - busy - (self.own_seconds() - own)
        whole = (time.perf_counter() - began) * (os.cpu_count() or 1)
        return {**answer, "others": max(foreign, 0.0) / whole}

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


def quiet(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The turns that count: the undisturbed ones, or the three that were disturbed least."""
    ordered = sorted(turns, key=lambda turn: float(turn["others"]))
    return [t for n, t in enumerate(ordered) if n < LEAST_TURNS or t["others"] <= QUIET]


def take_turns(workers: list[Worker], seconds: float, **order: Any) -> dict[str, list[Any]]:
    """Engine → its turns, each first in half of the rounds, for about so many seconds."""
    turns: dict[str, list[Any]] = {worker.kind: [] for worker in workers}
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(turns[workers[0].kind]) < LEAST_TURNS:
        workers.reverse()
        for worker in workers:
            turns[worker.kind].append(worker.turn(**order))
            time.sleep(0.05)  # threads that spin after their work have gone to sleep by now
    return turns
