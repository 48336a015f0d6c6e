"""What is locked in memory: enough, not too much, and nothing where all fits."""

import ctypes
import mmap
from pathlib import Path

import numpy as np
import pytest

from engine.sparsity import residence
from engine.sparsity.residence import Room, memory_room, stay

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
        (
            "0::/x\n",
            {"x/memory.max": f"{900 * 1024}\n", "x/memory.high": f"{500 * 1024}\n"},
            400,
        ),
    ],
)
def test_what_is_available(tmp_path, cgroup, limits, expected):
    room = memory_room(machine(tmp_path, cgroup, limits))
    assert room is not None
    assert room.available == expected * 1024
    assert room.lockable <= 0.9 * room.available


def test_of_a_limit_more_may_be_locked_than_of_what_others_want_too(tmp_path):
    own = {"hubd.service/memory.max": f"{600 * 1024}\n"}
    limited = machine(tmp_path / "limited", "0::/hubd.service\n", own)
    assert memory_room(limited) == Room(500 * 1024, 450 * 1024)
    shared = machine(tmp_path / "shared", "0::/\n", {})
    assert memory_room(shared) == Room(1000 * 1024, 700 * 1024)


def test_where_proc_shows_processes_alone_the_memory_nodes_tell(tmp_path, monkeypatch):
    monkeypatch.setattr(residence, "_free", lambda: (100 + 200) * 1024)
    root = machine(tmp_path, "0::/\n", {})
    (root / "proc/meminfo").unlink()
    assert memory_room(root) is None
    for node, free in ((0, 90), (1, 190)):  # less than there is: it is not asked of them
        file = root / f"sys/devices/system/node/node{node}/meminfo"
        file.parent.mkdir(parents=True)
        counts = {"MemFree": free, "Active": 9999, "Active(file)": 30, "Inactive(file)": 20}
        lines = (f"Node {node} {name}:     {value} kB" for name, value in counts.items())
        file.write_text("\n".join(lines))
    room = memory_room(root)
    assert room is not None
    assert room.available == (100 + 200 + 4 * 25) * 1024


def test_this_machine_s_nodes_tell_about_what_its_meminfo_does(tmp_path):
    nodes = Path("/sys/devices/system/node")
    if not list(nodes.glob("node*/meminfo")):
        pytest.skip("no memory nodes in /sys")
    (tmp_path / "sys/devices/system").mkdir(parents=True)
    (tmp_path / "sys/devices/system/node").symlink_to(nodes)
    available = memory_room()
    assert available is not None
    assert residence._spare(tmp_path) == pytest.approx(residence._spare(Path("/")), rel=0.5)


def test_where_nobody_tells(tmp_path):
    assert memory_room(tmp_path) is None
    (machine(tmp_path, "0::/\n", {}) / "proc/meminfo").write_text("")
    assert memory_room(tmp_path) is None


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
    ("room", "megabytes"),
    [
        (None, None),
        (Room(4 * MB, 2 * MB), None),
        (Room(2 * MB - 1, 1 * MB), 1.0),
        (Room(1 * MB, MB - 1), 0.75),
    ],
)
def test_what_every_token_reads_is_locked_as_far_as_it_fits(monkeypatch, pieces, room, megabytes):
    """And nothing where all of the weights fit, or where nobody tells how much there is."""
    always, sometimes = pieces
    quarters = np.split(always, 4)
    monkeypatch.setattr(residence, "memory_room", lambda: room)
    before = kilobytes_locked()
    assert stay(quarters, [sometimes], 2 * MB) is (megabytes is not None)
    assert kilobytes_locked() - before == 1024 * (megabytes or 0)


def test_what_cannot_be_locked_is_let_go(monkeypatch, pieces):
    """At an address that is not mapped, mlock fails as it does beyond RLIMIT_MEMLOCK."""
    always, sometimes = pieces
    monkeypatch.setattr(residence, "memory_room", lambda: Room(2 * MB - 1, 2 * MB - 1))
    nowhere = np.frombuffer((ctypes.c_uint8 * 8192).from_address(4096), np.uint8)
    before = kilobytes_locked()
    assert not stay([always, nowhere], [sometimes], 2 * MB)
    assert kilobytes_locked() == before
