"""Wake-ups: on time, late but once, through faults and restarts. With the real scheduler."""

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from hubd import schedule as schedule_module
from hubd.schedule import ATTEMPTS, Schedule
from hubd.store import jobs


def soon(seconds=0.05):
    return datetime.now(UTC) + timedelta(seconds=seconds)


def ago(**parts):
    return datetime.now(UTC) - timedelta(**parts)


class Runs:
    """What was woken; fails the first ``failures`` times."""

    def __init__(self, failures=0):
        self.keys = []
        self.failures = failures
        self._news = asyncio.Event()

    async def __call__(self, plugin, key):
        self.keys.append(f"{plugin}/{key}")
        self._news.set()
        if len(self.keys) <= self.failures:
            raise RuntimeError("the plugin's fault")

    async def until(self, count):
        async with asyncio.timeout(5):
            while len(self.keys) < count:
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def started(database, runs):
    schedule = Schedule(database)
    await schedule.start(runs)
    try:
        yield schedule
    finally:
        await schedule.stop()


async def no_jobs(database):
    async with asyncio.timeout(5):
        while await jobs.pending(database):  # noqa: ASYNC110 - the row is what is waited for
            await asyncio.sleep(0.01)


async def test_a_job_runs_when_it_is_due_and_is_forgotten(database):
    runs = Runs()
    async with started(database, runs) as schedule:
        await schedule.run_at("timers", "a", soon())
        await runs.until(1)
        await no_jobs(database)
    assert runs.keys == ["timers/a"]


async def test_a_job_of_the_future_waits(database):
    runs = Runs()
    async with started(database, runs) as schedule:
        await schedule.run_at("timers", "a", soon(3600))
        await asyncio.sleep(0.1)
    assert runs.keys == []
    assert len(await jobs.pending(database)) == 1


async def test_what_became_due_while_the_box_was_off_runs_at_the_start_once(database):
    await jobs.put(database, "timers", "a", ago(days=3))
    runs = Runs()
    async with started(database, runs):
        await runs.until(1)
        await no_jobs(database)
    async with started(database, runs):
        await asyncio.sleep(0.1)
    assert runs.keys == ["timers/a"]


async def test_a_cancelled_job_does_not_run(database):
    runs = Runs()
    async with started(database, runs) as schedule:
        await schedule.run_at("timers", "a", soon(0.1))
        assert await schedule.cancel("timers", "a")
        assert not await schedule.cancel("timers", "a")
        await asyncio.sleep(0.2)
    assert runs.keys == []


async def test_a_job_that_is_set_again_runs_at_the_new_time_only(database):
    runs = Runs()
    async with started(database, runs) as schedule:
        await schedule.run_at("timers", "a", soon(3600))
        await schedule.run_at("timers", "a", soon())
        await runs.until(1)
        await asyncio.sleep(0.1)
    assert runs.keys == ["timers/a"]


async def test_a_job_may_set_itself_again_while_it_runs(database):
    times = []

    async def again(plugin, key):
        times.append(key)
        if len(times) < 3:
            await schedule.run_at(plugin, key, soon(0.01))

    async with started(database, again) as schedule:
        await schedule.run_at("p", "tick", soon(0.01))
        await asyncio.sleep(0.5)
    assert times == ["tick"] * 3
    assert await jobs.pending(database) == []


async def test_a_job_that_fails_is_tried_again(database, monkeypatch):
    monkeypatch.setattr(schedule_module, "RETRY", timedelta(seconds=0.01))
    runs = Runs(failures=1)
    async with started(database, runs) as schedule:
        await schedule.run_at("timers", "a", soon())
        await runs.until(2)
        await no_jobs(database)
    assert len(runs.keys) == 2


async def test_a_job_that_always_fails_is_given_up(database, monkeypatch):
    monkeypatch.setattr(schedule_module, "RETRY", timedelta(seconds=0.01))
    runs = Runs(failures=100)
    async with started(database, runs) as schedule:
        await schedule.run_at("timers", "a", soon())
        await runs.until(ATTEMPTS)
        await no_jobs(database)
    assert len(runs.keys) == ATTEMPTS


async def test_a_job_that_took_the_process_down_each_time_is_given_up(database):
    job = await jobs.put(database, "timers", "a", ago(hours=1))
    for _ in range(ATTEMPTS):
        await jobs.begin(database, job.id)
    runs = Runs()
    async with started(database, runs):
        await no_jobs(database)
    assert runs.keys == []


async def test_a_job_that_fails_while_the_daemon_stops_is_kept(database):
    begun = asyncio.Event()

    async def slow(plugin, key):
        begun.set()
        await asyncio.sleep(0.2)
        raise RuntimeError("the plugin's fault")

    async with started(database, slow) as schedule:
        await schedule.run_at("p", "a", soon(0.01))
        await begun.wait()
    assert [job.key for job in await jobs.pending(database)] == ["a"]


async def test_a_time_without_a_zone_is_refused(database):
    async with started(database, Runs()) as schedule:
        with pytest.raises(ValueError, match="zone"):
            await schedule.run_at("p", "a", datetime(2026, 1, 1))
