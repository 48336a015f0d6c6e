import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rag.errors import WorkerError
from rag.worker import Worker

ECHO = """
    import os, sys, time
    from rag.worker import serve

    def handle(message):
        print("stray output")
        os.system("echo from a grandchild")
        if message == b"environment":
            return ",".join(sorted(os.environ)).encode()
        if message == b"crash":
            raise ValueError("no good")
        if message.startswith(b"sleep"):
            time.sleep(float(message[5:]))
        return message[::-1]

    if __name__ == "__main__":
        serve(lambda: handle)
"""


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.fixture
async def echo(tmp_path, monkeypatch):
    """Makes workers that reverse what they are sent; closes them."""
    (tmp_path / "echo_worker.py").write_text(textwrap.dedent(ECHO))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    made = []

    def make(**options) -> Worker:
        made.append(Worker("echo_worker", **options))
        return made[-1]

    yield make
    for worker in made:
        await worker.close()


async def test_requests_are_answered_whatever_the_child_prints(echo):
    worker = echo()
    assert worker.state == "stopped"
    replies = await asyncio.gather(
        *(worker.request(b"%d0" % n, time_limit=10) for n in range(1, 9))
    )
    assert replies == [b"0%d" % n for n in range(1, 9)]
    assert worker.state == "ready"
    large = os.urandom(3_000_000)
    assert await worker.request(large, time_limit=10) == large[::-1]


async def test_a_crash_is_told_with_the_last_line_and_the_next_request_works(echo):
    worker = echo()
    with pytest.raises(WorkerError, match="ValueError: no good"):
        await worker.request(b"crash", time_limit=10)
    assert worker.state == "stopped"
    assert await worker.request(b"ab", time_limit=10) == b"ba"


async def test_a_killed_child_is_told(echo):
    worker = echo()
    await worker.start()
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerError, match="SIGKILL"):
        await worker.request(b"sleep0.5", time_limit=10)


async def test_a_child_that_is_stuck_is_killed(echo):
    worker = echo()
    await worker.start()
    pid = worker.pid
    with pytest.raises(WorkerError, match=r"no answer within 0\.2 s"):
        await worker.request(b"sleep60", time_limit=0.2)
    assert not is_alive(pid)


async def test_a_cancelled_caller_does_not_put_the_stream_out_of_step(echo):
    worker = echo()
    await worker.start()
    pid = worker.pid
    slow = asyncio.create_task(worker.request(b"sleep0.3", time_limit=10))
    await asyncio.sleep(0.1)
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    assert await worker.request(b"ab", time_limit=10) == b"ba"
    assert worker.pid == pid


async def test_an_idle_child_goes_away_and_comes_back(echo):
    worker = echo(idle_seconds=0.1)
    await worker.start()
    pid = worker.pid
    async with asyncio.timeout(10):
        while worker.state != "stopped" or is_alive(pid):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert await worker.request(b"ab", time_limit=10) == b"ba"


async def test_closing_ends_the_request_in_hand(echo):
    worker = echo()
    await worker.start()
    pid = worker.pid
    slow = asyncio.create_task(worker.request(b"sleep60", time_limit=100))
    await asyncio.sleep(0.1)
    await worker.close()
    with pytest.raises(WorkerError, match="closed"):
        await slow
    assert not is_alive(pid)
    with pytest.raises(WorkerError, match="closed"):
        await worker.request(b"ab", time_limit=1)


async def test_the_child_is_not_told_secrets_of_the_environment(echo, monkeypatch):
    monkeypatch.setenv("HUBD_TOKEN", "secret")
    names = (await echo().request(b"environment", time_limit=10)).decode().split(",")
    assert "PYTHONPATH" in names
    assert "HUBD_TOKEN" not in names


async def test_a_module_that_does_not_start_is_told(tmp_path):
    worker = Worker("rag.no_such_worker")
    with pytest.raises(WorkerError, match="no_such_worker"):
        await worker.start()


def test_the_child_does_not_outlive_its_parent(tmp_path):
    (tmp_path / "echo_worker.py").write_text(textwrap.dedent(ECHO))
    parent = """
        import asyncio, os, sys
        from rag.worker import Worker

        async def main():
            worker = Worker("echo_worker")
            await worker.start()
            print(worker.pid, flush=True)
            os._exit(1)

        asyncio.run(main())
    """
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    finished = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(parent)],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        timeout=30,
        check=False,
    )
    child = Path(f"/proc/{int(finished.stdout)}")
    for _ in range(200):
        if not child.exists() or "Z" in (child / "stat").read_text().split()[2]:
            return
        os.sched_yield()
        signal.sigtimedwait([], 0.05)
    pytest.fail("the child still runs")
