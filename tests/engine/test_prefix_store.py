"""Blocks on disk: found by their tokens alone, never believed, never in the way."""

import importlib.util
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import prefix_store
from engine.prefix_files import MAGIC
from engine.prefix_store import ABANDONED_S, PrefixStore, StoreError, evict

WRITER = Path(__file__).with_name("prefix_writer.py")
_spec = importlib.util.spec_from_file_location("prefix_writer", WRITER)
writer = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(writer)
open_store, payload, save, load = writer.open_store, writer.payload, writer.save, writer.load
BLOCK_TOKENS, BLOCK_BYTES = writer.BLOCK_TOKENS, writer.BLOCK_BYTES

TOKENS = list(range(3 * BLOCK_TOKENS + 1))
FILE_BYTES = len(MAGIC) + 32 + 32 + 4 * BLOCK_TOKENS + 4 + BLOCK_BYTES
FIELDS = {"magic": 0, "name": 16, "parent": 48, "tokens": 80, "checksum": 96, "payload": 100}


@pytest.fixture(autouse=True)
def _every_use_counts(monkeypatch):
    monkeypatch.setattr(prefix_store, "USED_AGAIN_S", 0.0)


@pytest.fixture
def store(tmp_path):
    opened = open_store(tmp_path / "prefixes")
    yield opened
    opened.close(5)


def files(store):
    """The files in the order of their blocks, for a store that has seen one prompt."""
    found = store._directory.glob("*.kv")
    return sorted(found, key=lambda path: int(path.name.split(".")[1]))


def saved(store, tokens=TOKENS):
    save(store, tokens)
    assert store.flush(20)
    return files(store)


def test_whole_blocks_come_back_as_they_were(store):
    assert store.wanted(TOKENS) == [0, 1, 2]
    saved(store)
    assert load(store, TOKENS) == 3
    assert load(store, TOKENS, first=2) == 1
    assert load(store, TOKENS, first=3) == 0
    assert load(store, [*TOKENS[:-2], 99, 99]) == 2
    assert load(store, [99, *TOKENS[1:]]) == 0
    assert store.wanted([*TOKENS[:5], 99, *TOKENS[6:]]) == [1, 2]
    assert store.stats.written == 3


def test_another_process_finds_what_this_one_kept(store):
    saved(store)
    other = open_store(store._directory)
    assert load(other, TOKENS) == 3
    other.close(5)


def test_files_are_for_their_owner_alone(store):
    for path in saved(store):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert path.stat().st_size == FILE_BYTES
    assert stat.S_IMODE(store._directory.stat().st_mode) == 0o700


def test_a_directory_open_to_others_is_refused(tmp_path):
    tmp_path.chmod(0o755)
    with pytest.raises(StoreError, match="chmod 700"):
        open_store(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        open_store(tmp_path / "file")


def test_a_block_is_never_written_twice(store):
    first = [path.stat().st_ino for path in saved(store)]
    assert [path.stat().st_ino for path in saved(store)] == first
    assert store.stats.written == 3


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("at", ["first byte", "last byte"])
def test_a_flipped_bit_in_any_field_is_noticed(store, field, at):
    ends = dict(zip(FIELDS, [*list(FIELDS.values())[1:], FILE_BYTES], strict=True))
    check_flipped(store, FIELDS[field] if at == "first byte" else ends[field] - 1, 0)


@settings(max_examples=60)
@given(offset=st.integers(0, FILE_BYTES - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_anywhere_is_noticed(tmp_path_factory, offset, bit):
    opened = open_store(tmp_path_factory.mktemp("flip") / "prefixes")
    check_flipped(opened, offset, bit)
    opened.close(5)


def check_flipped(store, offset, bit):
    path = saved(store)[1]
    content = bytearray(path.read_bytes())
    content[offset] ^= 1 << bit
    path.write_bytes(content)
    assert load(store, TOKENS) == 1, "what comes before it is good"
    assert not path.exists()
    assert store.stats.dropped == 1
    saved(store)
    assert load(store, TOKENS) == 3, "computed again, it is kept again"


@pytest.mark.parametrize("size", [0, *(at + n for at in FIELDS.values() for n in (0, 1))])
def test_a_file_cut_short_is_dropped(store, size):
    path = saved(store)[0]
    os.truncate(path, size)
    assert load(store, TOKENS) == 0
    assert not path.exists()


def test_a_file_that_is_too_long_is_dropped(store):
    path = saved(store)[2]
    with path.open("ab") as file:
        file.write(b"x")
    assert load(store, TOKENS) == 2
    assert not path.exists()


def test_a_sound_file_under_another_name_is_dropped(store):
    first, second, _ = saved(store)
    second.write_bytes(first.read_bytes())
    assert load(store, TOKENS) == 1
    assert not second.exists()


@pytest.mark.parametrize("kind", ["directory", "link", "pipe", "unreadable link"])
def test_what_is_no_file_is_not_read(store, tmp_path, kind):
    path = saved(store)[0]
    content = path.read_bytes()
    path.unlink()
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        target = tmp_path / "elsewhere"
        path.symlink_to(target)
        if kind == "link":
            target.write_bytes(content)
    assert load(store, TOKENS) == 0
    saved(store)
    assert load(store, TOKENS) in (0, 3)


def test_models_do_not_see_each_others_blocks(store):
    saved(store)
    other = open_store(store._directory, model="another model")
    assert load(other, TOKENS) == 0
    save(other, TOKENS)
    assert other.flush(20)
    assert len(files(other)) == 6
    assert load(store, TOKENS) == load(other, TOKENS) == 3
    assert other.stats.dropped == store.stats.dropped == 0
    other.close(5)


def test_another_size_of_block_is_another_model(store):
    saved(store)
    other = PrefixStore(
        store._directory, "model", block_tokens=BLOCK_TOKENS, block_bytes=8, budget=10**6
    )
    assert list(other.load(TOKENS)) == []
    other.close(5)


def test_the_oldest_prompt_goes_first_and_its_last_block_before_the_others(tmp_path):
    store = open_store(tmp_path / "prefixes", budget=5 * FILE_BYTES)
    one, other = [[n, *TOKENS[1:]] for n in (1, 2)]
    save(store, one)
    assert store.flush(20)
    save(store, other)
    assert store.flush(20)
    assert (load(store, one), load(store, other)) == (2, 3)
    assert load(store, one) == 2
    save(store, [3, *TOKENS[1:5]])
    assert store.flush(20)
    assert (load(store, one), load(store, other)) == (2, 2)
    store.close(5)


def test_a_beginning_outlives_its_ends_also_when_all_are_young(tmp_path, monkeypatch):
    monkeypatch.setattr(prefix_store, "USED_AGAIN_S", 600.0)
    store = open_store(tmp_path / "prefixes", budget=4 * FILE_BYTES)
    for last in range(8):
        saved(store, [*TOKENS[:BLOCK_TOKENS], *[last] * BLOCK_TOKENS])
        assert load(store, TOKENS) == 1
    store.close(5)


def test_a_prompt_in_use_keeps_its_beginning(tmp_path):
    store = open_store(tmp_path / "prefixes", budget=4 * FILE_BYTES)
    save(store, TOKENS)
    for last in range(20):
        save(store, [last, *TOKENS[1:5]])
        store.save(TOKENS, {})
        assert store.flush(20)
    assert load(store, TOKENS) == 3
    store.close(5)


@pytest.mark.parametrize("budget", [0, 1, FILE_BYTES, 2 * FILE_BYTES + 1])
def test_the_budget_is_never_exceeded(tmp_path, budget):
    store = open_store(tmp_path / "prefixes", budget=budget)
    for last in range(4):
        save(store, [last, *TOKENS])
        assert store.flush(20)
        assert sum(path.stat().st_size for path in files(store)) <= budget
    assert load(store, [3, *TOKENS]) == budget // FILE_BYTES
    store.close(5)


def test_strangers_files_stay_and_remains_of_the_dead_go(store):
    directory = store._directory
    stranger, fresh, old = (directory / name for name in ("README", "new.part", "old.part"))
    for path in (stranger, fresh, old, directory / "odd.name.kv"):
        path.write_bytes(b"x" * 100)
    long_ago = time.time() - ABANDONED_S - 1
    for path in (stranger, old):
        os.utime(path, (long_ago, long_ago))
    evict(directory, 0)
    assert {path.name for path in directory.iterdir()} == {"README", "new.part", "odd.name.kv"}


def test_the_prompts_used_last_come_first_and_whole(store):
    one, other = TOKENS, [*TOKENS[:BLOCK_TOKENS], *range(90, 99)]
    saved(store, one)
    saved(store, other)
    assert load(store, one) == 3
    whole = [one[: 3 * BLOCK_TOKENS], other[: 3 * BLOCK_TOKENS]]
    assert list(store.recent(99)) == whole
    assert list(store.recent(5)) == whole, "what they share counts once"
    assert list(store.recent(4)) == [whole[0], whole[1][: 2 * BLOCK_TOKENS]]
    assert list(store.recent(2)) == [one[: 2 * BLOCK_TOKENS]]
    first = files(store)[0]
    first.unlink()
    assert list(store.recent(99)) == [], "without its beginning a prompt is of no use"


@settings(max_examples=40)
@given(offset=st.integers(0, FIELDS["checksum"] - 1), bit=st.integers(0, 7))
def test_a_damaged_header_gives_no_prompt(tmp_path_factory, offset, bit):
    opened = open_store(tmp_path_factory.mktemp("header") / "prefixes")
    path = saved(opened)[1]
    content = bytearray(path.read_bytes())
    content[offset] ^= 1 << bit
    path.write_bytes(content)
    assert list(opened.recent(99)) == [TOKENS[:BLOCK_TOKENS]]
    opened.close(5)


def test_use_is_marked_now_and_then(store, monkeypatch):
    monkeypatch.setattr(prefix_store, "USED_AGAIN_S", 600.0)
    paths = saved(store)
    for age, marked in ((300, False), (900, True)):
        then = time.time() - age
        for path in paths:
            os.utime(path, (then, then))
        assert load(store, TOKENS) == 3
        assert all((path.stat().st_mtime > then + 1) is marked for path in paths)


def test_the_queue_is_bounded(store, monkeypatch):
    monkeypatch.setattr(prefix_store, "QUEUE_BYTES", 2 * FILE_BYTES)
    assert store.wanted(TOKENS) == [0, 1]
    assert len(saved(store)) == 2
    assert load(store, TOKENS) == 2


def test_a_store_that_was_closed_takes_nothing_more(store):
    assert store.close(20)
    save(store, TOKENS)
    assert store.flush(0)
    assert files(store) == []


def test_a_directory_that_went_away_harms_nobody(store):
    saved(store)
    for path in files(store):
        path.unlink()
    store._directory.rmdir()
    assert load(store, TOKENS) == 0
    save(store, TOKENS)
    assert store.flush(20)
    assert store.stats.failed == 3
    save(store, TOKENS)
    assert store.stats.failed == 3, "nothing is tried for a while"


@settings(max_examples=25)
@given(st.data())
def test_random_traffic_over_restarts_gives_back_what_was_saved(tmp_path_factory, data):
    directory = tmp_path_factory.mktemp("traffic") / "prefixes"
    budget = data.draw(st.integers(1, 8)) * FILE_BYTES
    store = open_store(directory, budget=budget)
    tokens = st.lists(st.integers(0, 1), max_size=4 * BLOCK_TOKENS)
    for _ in range(data.draw(st.integers(1, 12))):
        action = data.draw(st.sampled_from(["save", "load", "restart", "damage"]))
        if action == "save":
            save(store, data.draw(tokens))
        elif action == "load":
            prompt = data.draw(tokens)
            load(store, prompt, data.draw(st.integers(0, 4)))
        elif action == "restart":
            store.close(20)
            store = open_store(directory, budget=budget)
        else:
            store.flush(20)
            for path in sorted(directory.glob("*.kv"))[:1]:
                left = max(path.stat().st_size - 1, 0)  # a file never grows by damage
                os.truncate(path, data.draw(st.integers(0, left)))
    store.flush(20)
    assert sum(path.stat().st_size for path in directory.iterdir()) <= budget
    store.close(20)


def start_writer(directory, seed, *before):
    """Run the writer; `before`: a command that runs it in another setting."""
    return subprocess.Popen(
        [*before, sys.executable, WRITER, directory, str(seed)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=WRITER.parents[2],
        env=os.environ | {"PYTHONPATH": str(WRITER.parents[2])},
    )


def every_prompt():
    for number in range(2**12):
        yield [0, 1, 2, 3, *(number >> bit & 1 for bit in range(12))]


def test_killed_in_the_middle_of_a_write_nothing_false_is_left(tmp_path):
    directory = tmp_path / "prefixes"
    chosen = random.Random(7)
    for seed in range(6):
        process = start_writer(directory, seed)
        process.stdout.readline()
        time.sleep(chosen.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        assert process.wait(20) == -signal.SIGKILL
        assert process.communicate()[1] == ""
    store = open_store(directory)
    assert sum(load(store, prompt) for prompt in every_prompt()) > 0
    assert store.stats.dropped == 0, "files appear whole or not at all"
    store.close(5)


def test_two_processes_on_one_directory_never_see_a_false_block(tmp_path):
    directory = tmp_path / "prefixes"
    processes = [start_writer(directory, seed) for seed in (1, 2)]
    found = [sum(int(p.stdout.readline()) for _ in range(60)) for p in processes]
    for process in processes:
        process.kill()
        assert process.communicate()[1] == ""
    assert all(found)


def in_vain(process):
    """A writer's rounds in which nothing could be kept."""
    assert [process.stdout.readline() for _ in range(30)] == ["0\n"] * 30
    process.kill()
    return process.communicate()[1]


def test_a_file_that_may_not_grow_harms_nobody(tmp_path):
    limit = ("prlimit", f"--fsize={FILE_BYTES // 2}")
    if shutil.which(limit[0]) is None:
        pytest.skip("prlimit is not installed")
    said = in_vain(start_writer(tmp_path / "prefixes", 1, *limit))
    assert "nothing is kept on disk for 60 s" in said
    assert list((tmp_path / "prefixes").iterdir()) == []


def test_a_full_disk_harms_nobody(tmp_path):
    """A file system in memory, mounted for the writer alone, that has no room for one block."""
    mount = f'mount -t tmpfs -o size={FILE_BYTES // 2} none "$0" && exec "$@"'
    own = ("unshare", "--map-root-user", "--mount", "sh", "-c", mount, tmp_path)
    if shutil.which(own[0]) is None or subprocess.run([*own, "true"], check=False).returncode:
        pytest.skip("no mount is allowed here")
    said = in_vain(start_writer(tmp_path / "prefixes", 1, *own))
    assert "No space left on device" in said


def test_payloads_follow_from_all_tokens():
    """Of the helper: otherwise the tests above would not notice a block that was mixed up."""
    assert payload([0] * 8, 1) != payload([1, *[0] * 7], 1)
    assert payload([0] * 8, 0) != payload([0] * 8, 1)
