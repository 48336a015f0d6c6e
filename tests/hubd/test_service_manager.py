"""The daemon under a service manager: readiness, watchdog, sockets handed over, reload."""

import asyncio
import json
import os
import signal
import socket
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from hubd.service_manager import feed_watchdog, inherited_sockets, notify, watchdog_limit


class Manager:
    """The service manager's end of the notification socket."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.socket.settimeout(20)

    def heard(self):
        return self.socket.recv(4096).decode().splitlines()

    def heard_until(self, state):
        heard = []
        while state not in heard:
            heard += self.heard()
        return heard


@pytest.fixture
def manager(tmp_path, environment):
    manager = Manager(tmp_path / "notify")
    environment["NOTIFY_SOCKET"] = str(manager.path)
    yield manager
    manager.socket.close()


def until(condition, within_s=20):
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def address(process):
    return process.log.read_text().split("hubd is ready: ")[-1].splitlines()[0]


def healthy(process):
    with urllib.request.urlopen(address(process) + "/healthz", timeout=10) as reply:
        return json.load(reply) == {"status": "ok"}


def test_it_says_that_it_is_ready_and_that_it_stops(manager, served):
    with served() as process:
        assert "READY=1" in manager.heard()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert "STOPPING=1" in manager.heard_until("STOPPING=1")


def test_without_a_service_manager_nothing_is_said():
    assert notify("READY=1", environment={}) is False


def test_a_service_manager_that_is_gone_is_no_fault(tmp_path):
    assert notify("READY=1", environment={"NOTIFY_SOCKET": str(tmp_path / "gone")}) is False


def test_an_abstract_socket_is_one_too():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        name = f"hubd-test-{os.getpid()}"
        manager.bind("\0" + name)
        assert notify("READY=1", "STATUS=x", environment={"NOTIFY_SOCKET": "@" + name})
        assert manager.recv(100) == b"READY=1\nSTATUS=x"


def test_the_watchdog_is_meant_for_the_process_that_it_names():
    assert watchdog_limit({"WATCHDOG_USEC": "3000000"}) == 3.0
    assert watchdog_limit({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": str(os.getpid())}) == 3.0
    assert watchdog_limit({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"}) is None
    assert watchdog_limit({}) is None


def test_a_running_daemon_feeds_the_watchdog(manager, environment, served):
    environment["WATCHDOG_USEC"] = "600000"
    with served():
        manager.heard_until("WATCHDOG=1")
        manager.heard_until("WATCHDOG=1")


async def test_the_watchdog_starves_when_the_database_does_not_answer(tmp_path, monkeypatch):
    manager = Manager(tmp_path / "notify")
    manager.socket.settimeout(0.5)
    monkeypatch.setenv("NOTIFY_SOCKET", str(manager.path))
    stuck = asyncio.Event()
    task = asyncio.create_task(feed_watchdog(0.15, stuck.wait))
    with pytest.raises(TimeoutError):
        await asyncio.to_thread(manager.heard)
    stuck.set()
    assert await asyncio.to_thread(manager.heard) == ["WATCHDOG=1"]
    task.cancel()
    manager.socket.close()


def test_sockets_meant_for_another_process_are_left_alone():
    assert inherited_sockets({"LISTEN_PID": "1", "LISTEN_FDS": "1"}) == []
    assert inherited_sockets({}) == []


HAND_OVER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.executable, [sys.executable, "-m", "hubd", *sys.argv[2:]])
"""


def test_it_answers_on_the_socket_that_systemd_opened(environment, served):
    """And a connection made while it restarts is answered by the next one."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        os.set_inheritable(door.fileno(), True)
        command = (sys.executable, "-c", HAND_OVER, str(door.fileno()))
        with served(command=command) as process:
            assert address(process) == f"http://127.0.0.1:{port}"
            assert healthy(process)
        early = socket.create_connection(("127.0.0.1", port))
        early.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        with served(command=command):
            early.settimeout(20)
            assert early.recv(4096).startswith(b"HTTP/1.1 200")
        early.close()


def test_a_reload_reads_the_configuration_and_keeps_the_address(environment, hubd, served):
    file = Path(environment["HUBD_HOME"]) / "hubd.toml"
    with served() as process:
        before = address(process)
        file.write_text('[assistant]\nhousehold = "the mill"\n[http]\ntoken = "long secret word"\n')
        process.send_signal(signal.SIGHUP)
        until(lambda: process.log.read_text().count("hubd is ready") == 2)
        assert address(process) == before
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(before + "/hub/status", timeout=10)
        assert refused.value.code == 401
        assert hubd("status").returncode == 0
        assert process.poll() is None


def test_a_wrong_configuration_is_told_and_the_old_one_stays(environment, served, manager):
    file = Path(environment["HUBD_HOME"]) / "hubd.toml"
    with served() as process:
        file.write_text("[http]\nport = true\n")
        process.send_signal(signal.SIGHUP)
        until(lambda: "the old configuration stays" in process.log.read_text())
        assert "[http] port" in process.log.read_text()
        assert any(
            "Not reloaded" in state
            for state in manager.heard_until("STATUS=Ready.") + manager.heard()
        )
        assert healthy(process)
        assert process.log.read_text().count("hubd is ready") == 1
