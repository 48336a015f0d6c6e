"""What is locked in memory: enough, not too much, and nothing where all fits."""

import ctypes
import mmap
from pathlib import Path

import numpy as np
import pytest

from engine.sparsity import residence
from engine.sparsity.residence import available_memory, stay

MB = 1 << 20


def machine(root, cgroup, limits, spare=1000):
    """/proc and /sys of a machine; limits: file under /sys/fs/cgroup → its text."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 9999 kB\nMemAvailable: {spare} kB\n")
    (root / "proc/self/status").write_text("Name:\tpython\n\nRssAnon:\t     100 kB\n")
    (root / "proc/self/cgroup").write_text(cgroup)
    for name, text in limits.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("cgroup", "limits", "expected"),
    [
        ("0::/\n", {}, 1000),
        ("0::/hubd.service\n", {"hubd.service/memory.max": "max\n"}, 1000),
        ("0::/hubd.service\n", {"hubd.service/memory.max": f"{600 * 1024}\n"}, 500),
        ("0::/a/b\n", {"a/b/memory.max": "max\n", "a/memory.max": f"{300 * 1024}\n"}, 200),
        ("5:memory:/x\n0::/\n", {"memory/x/memory.limit_in_bytes": f"{400 * 1024}\n"}, 300),
        ("5:memory:/x\n", {"memory/x/memory.limit_in_bytes": "9223372036854771712\n"}, 1000),
        ("7:cpu:/x\n", {"x/memory.max": "1024\n"}, 1000),
    ],
)
def test_what_is_available(tmp_path, cgroup, limits, expected):
    assert available_memory(machine(tmp_path, cgroup, limits)) == expected * 1024


def test_where_nobody_tells(tmp_path):
    assert available_memory(tmp_path) is None
    (machine(tmp_path, "0::/\n", {}) / "proc/meminfo").write_text("")
    assert available_memory(tmp_path) is None


@pytest.fixture
def pieces(tmp_path):
    """Two pieces of a mapped file, of 1 MB each."""
    path = tmp_path / "file"
    path.write_bytes(bytes(2 * MB))
    with path.open("rb") as file:
        space = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    data = np.frombuffer(space, np.uint8)
    return data[:MB], data[MB:]


def kilobytes_locked():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmLck:")))


@pytest.mark.parametrize(
    ("room", "megabytes"), [(None, None), (4 * MB, None), (1.9 * MB, 1.0), (0.9 * MB, 0.75)]
)
def test_what_every_token_reads_is_locked_as_far_as_it_fits(monkeypatch, pieces, room, megabytes):
    """And nothing where all of the weights fit, or where nobody tells how much there is."""
    always, sometimes = pieces
    quarters = np.split(always, 4)
    monkeypatch.setattr(residence, "available_memory", lambda: room)
    before = kilobytes_locked()
    assert stay(quarters, [sometimes], 2 * MB) is (megabytes is not None)
    assert kilobytes_locked() - before == 1024 * (megabytes or 0)


def test_what_cannot_be_locked_is_let_go(monkeypatch, pieces):
    """At an address that is not mapped, mlock fails as it does beyond RLIMIT_MEMLOCK."""
    always, sometimes = pieces
    monkeypatch.setattr(residence, "available_memory", lambda: 1.9 * MB)
    nowhere = np.frombuffer((ctypes.c_uint8 * 8192).from_address(4096), np.uint8)
    before = kilobytes_locked()
    assert not stay([always, nowhere], [sometimes], 2 * MB)
    assert kilobytes_locked() == before
