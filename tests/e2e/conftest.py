"""A real daemon with a home of its own, the real model, and the sample household read in."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import platformdirs
import pytest

ROOT = Path(__file__).resolve().parents[2]
HOUSEHOLD = ROOT / "samples" / "household"
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
READY_WITHIN_S = 240
"""The first start on a machine compiles the kernels."""


@dataclass
class Hub:
    """A running daemon, as its user sees it."""

    home: Path
    url: str
    environment: dict[str, str]
    process: subprocess.Popen[bytes]

    def command(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run ``hubd ARGUMENTS`` against this daemon."""
        return subprocess.run(
            [sys.executable, "-m", "hubd", *arguments],
            env=self.environment, cwd=ROOT, check=check, capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    def client(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, timeout=120)


def start_hub(home: Path, model: Path, *arguments: str) -> Hub:
    """Start ``hubd serve`` in ``home`` and wait until it is ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "HUBD_HOME": str(home),
        "HUBD_PORT": str(port),
        "HUBD_ENGINE_MODEL": str(model),
        # Compiled kernels are shared by the tests, as by the restarts of one daemon.
        "NUMBA_CACHE_DIR": str(platformdirs.user_cache_path("hubd") / "numba"),
    }
    with (home / "serve.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "hubd", "serve", *arguments],
            env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    hub = Hub(home, f"http://127.0.0.1:{port}", environment, process)
    deadline = time.monotonic() + READY_WITHIN_S
    while b"hubd is ready" not in (home / "serve.log").read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            stop_hub(hub)
            pytest.fail("hubd did not become ready:\n" + (home / "serve.log").read_text()[-4000:])
        time.sleep(0.1)
    return hub


def stop_hub(hub: Hub) -> int:
    """End the daemon as a service manager would; returns its exit status."""
    if hub.process.poll() is None:
        hub.process.send_signal(signal.SIGTERM)
    try:
        return hub.process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        hub.process.kill()
        pytest.fail("hubd did not end within 20 seconds of SIGTERM")


@pytest.fixture(scope="session")
def model() -> Path:
    """The default model's file, where ``hubd model pull`` puts it."""
    named = os.environ.get("HUBD_TEST_MODEL")
    home = os.environ.get("HUBD_HOME")
    folder = Path(home) / "models" if home else platformdirs.user_data_path("hubd") / "models"
    path = Path(named) if named else folder / MODEL
    if not path.is_file():
        pytest.skip("the default model is not here: run `hubd model pull`")
    return path


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Iterator[Hub]:
    """A daemon that has read the sample household."""
    hub = start_hub(tmp_path_factory.mktemp("hub"), model, "--ingest", str(HOUSEHOLD))
    yield hub
    stop_hub(hub)
