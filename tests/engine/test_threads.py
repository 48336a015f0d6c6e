"""The threads that compute: barriers, signals, the end."""

import signal
import time

import numpy as np
import pytest

from engine.kernels import dispatch
from engine.kernels.intrinsics import integers as signed_words
from engine.kernels.program import BARRIER_IF_MANY, ROWS, STEP_SLOTS, Program
from engine.threads import ThreadPool


def add_up(operands, step, part, parts):
    """Operation: target[part] = 1 + the sum of what all shares wrote last time, modulo 1000."""
    source, target = signed_words(operands[0], parts), signed_words(operands[1], parts)
    total = 1
    for i in range(parts):
        total += source[i]
    target[part] = (total + part) % 1000


def double(operands, step, part, parts):
    """Operation: doubles what the same share wrote last."""
    words = signed_words(operands[0], parts)
    words[part] = 2 * words[part] % 1000


def test_threads_meet_at_every_barrier():
    """4 threads on fewer cores, 2500 operations, each reading what all wrote just before."""
    pool, program = ThreadPool(4), Program()
    words = np.zeros((2, 4), np.int32)
    expected = words[0].copy()
    for index in range(500):
        source, target = words[index % 2], words[1 - index % 2]
        program.add(add_up, source.ctypes.data, target.ctypes.data)
    table = program.table(dispatch.compile_operation)
    for _ in range(5):
        pool.run(table, np.zeros(STEP_SLOTS, np.int64))
        for _ in range(500):
            expected = (1 + expected.sum() + np.arange(4)) % 1000
        np.testing.assert_array_equal(words[0], expected)
    pool.close()


@pytest.mark.parametrize("rows", [1, 2])
def test_a_section_needs_no_barrier_within_a_share(rows):
    """The second operation follows the first in the same share; with many rows behind a barrier."""
    pool, program = ThreadPool(3), Program()
    words = np.zeros((2, 3), np.int32)
    expected = words[0].copy()
    for index in range(200):
        source, target = words[index % 2], words[1 - index % 2]
        program.add(add_up, source.ctypes.data, target.ctypes.data, barrier=BARRIER_IF_MANY)
        program.add(double, target.ctypes.data)
        expected = 2 * ((1 + expected.sum() + np.arange(3)) % 1000) % 1000
    step = np.zeros(STEP_SLOTS, np.int64)
    step[ROWS] = rows
    pool.run(program.table(dispatch.compile_operation), step)
    np.testing.assert_array_equal(words[0], expected)
    pool.close()


def test_workers_that_sleep_do_not_hold_up_a_step():
    """The order of the day is over before they wake: the leader does all shares."""
    pool, program = ThreadPool(8), Program()
    words = np.zeros((2, 8), np.int32)
    program.add(add_up, words[0].ctypes.data, words[1].ctypes.data)
    table = program.table(dispatch.compile_operation)
    for _ in range(50):
        time.sleep(0.003)  # until they sleep
        words[1] = 0
        pool.run(table, np.zeros(STEP_SLOTS, np.int64))
        assert words[1].tolist() == list(range(1, 9))
    pool.close()


@pytest.mark.parametrize("threads", [1, 3])
def test_the_caller_does_something_else_while_the_others_begin(threads):
    """What it raises is told once the step is over: nobody writes into its arrays any more."""
    pool, program = ThreadPool(threads), Program()
    words = np.zeros((2, threads), np.int32)
    program.add(add_up, words[0].ctypes.data, words[1].ctypes.data)
    table, step = program.table(dispatch.compile_operation), np.zeros(STEP_SLOTS, np.int64)
    moments = []

    def meanwhile():
        time.sleep(0.05)
        moments.append(words[1].tolist())

    def fail():
        raise KeyError("meanwhile")

    pool.run(table, step, meanwhile)
    done = list(range(1, threads + 1))
    assert words[1].tolist() == done
    assert moments == [done if threads > 1 else [0]]  # three threads' shares are done by the others
    words[1] = 0
    with pytest.raises(KeyError, match="meanwhile"):
        pool.run(table, step, fail)
    assert words[1].tolist() == done
    pool.close()


def test_a_signal_does_not_end_a_sleeping_worker():
    pool, program = ThreadPool(2), Program()
    words = np.zeros((2, 2), np.int32)
    program.add(add_up, words[0].ctypes.data, words[1].ctypes.data)
    table = program.table(dispatch.compile_operation)
    (worker,) = pool.workers
    taken = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: taken.append(number))
    pool.run(table, np.zeros(STEP_SLOTS, np.int64))
    time.sleep(0.05)  # until it sleeps again
    signal.pthread_kill(worker.ident, signal.SIGUSR1)
    deadline = time.monotonic() + 30
    while not taken:  # a worker that gets no core takes it late, and would die of the old handler
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert worker.is_alive()
    pool.run(table, np.zeros(STEP_SLOTS, np.int64))
    signal.signal(signal.SIGUSR1, before)
    assert words[1].tolist() == [1, 2]
    pool.close()


def test_a_closed_pool_says_so():
    pool = ThreadPool(2)
    pool.close()
    pool.close()
    with pytest.raises(dispatch.EngineError, match="closed"):
        pool.run(np.zeros((0, 16), np.int64), np.zeros(STEP_SLOTS, np.int64))
