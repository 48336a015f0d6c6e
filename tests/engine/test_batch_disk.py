"""What a batch gives to the disk: a little of each step, and never the time of those who wait."""

import pytest

from engine.batch import COPY_SECONDS, MIN_SLICE_TOKENS, MOST_POSTPONED, SHARED_SLICE_SECONDS


class SlowDisk:
    """Has more of every prompt, and takes all the time that it is given."""

    def __init__(self):
        self.restore_s, self.restored_tokens = 0.0, 0
        self.waiting, self.copy_s = False, 0.0

    def restore(self, tokens, seconds):
        self.restore_s += seconds
        return True

    def keep(self, tokens):
        """Nothing is written."""

    def copy_some(self, seconds):
        self.copy_s += seconds


def test_copying_for_the_disk_has_a_little_of_each_step_and_less_beside_a_prompt(home):
    traffic, disk = home.batch(200), SlowDisk()
    traffic.submit(5, tokens=60)
    traffic.step()
    traffic.batch._kept, disk.waiting = disk, True
    for number in range(1, 4):
        traffic.step()
        assert disk.copy_s == pytest.approx(number * COPY_SECONDS)
    disk.restore = lambda tokens, seconds: False
    traffic.submit(300, tokens=2)
    traffic.submit(200, 1, tokens=2)
    copied = []
    while not traffic.outcomes[2]:
        traffic.batch._cost.learn(400.0, 1.0)
        before = disk.copy_s
        traffic.step()
        copied.append(disk.copy_s > before)
    assert len(copied) >= 10
    assert sum(copied) <= len(copied) // MOST_POSTPONED
    while traffic.batch.waiting or not all(ticket.decoding for ticket in traffic.batch.active):
        traffic.step()
    before = disk.copy_s
    traffic.step()
    assert disk.copy_s == pytest.approx(before + COPY_SECONDS), "at once when nobody waits"
    traffic.batch._kept = None
    traffic.run()
    traffic.check()


def test_all_that_wait_for_a_slow_disk_share_the_time_of_a_slice(home):
    traffic, disk = home.batch(200), SlowDisk()
    traffic.submit(5, tokens=10)
    traffic.step()
    traffic.batch._kept = disk
    for _ in range(3):
        traffic.submit(100)
    for number in range(1, 6):
        before = len(traffic.outcomes[0])
        traffic.step()
        assert disk.restore_s == pytest.approx(number * SHARED_SLICE_SECONDS)
        assert len(traffic.outcomes[0]) > before
    traffic.batch._kept = None
    traffic.run()
    traffic.check()


def test_a_slice_is_shorter_by_what_the_disk_took(home):
    traffic = home.batch(200)
    traffic.batch._cost.learn(400.0, 1.0)
    traffic.submit(300, tokens=2)
    traffic.submit(5, tokens=2, priority=1)
    traffic.step()
    traffic.batch._cost.learn(400.0, 1.0)
    assert MIN_SLICE_TOKENS < len(traffic.batch._plan(busy=True)[0][1][0].tokens) <= 32
    traffic.batch._disk_s = SHARED_SLICE_SECONDS
    plan = traffic.batch._plan(busy=True)
    assert sum(len(part.tokens) for _, parts in plan for part in parts) == MIN_SLICE_TOKENS
    traffic.run()
    traffic.check()
