"""Durable wake-ups for plugins: APScheduler holds the clock, our table holds the truth.

A job is a row. It runs when it is due, or at the next start when the box was off, and its row is
deleted once the plugin's function has returned. So a crash between the two runs it again: the
function is called *at least* once, and makes its effect happen once by writing what it did before
it shows it (see ``plugins/timers.py``). An attempt is counted before it begins, so that a job that
takes the process down with it does so ``ATTEMPTS`` times at most.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.date import DateTrigger

from hubd.store import jobs
from hubd.store.database import Database
from hubd.store.jobs import Job

log = logging.getLogger(__name__)

ATTEMPTS = 3
RETRY = timedelta(seconds=30)
TIME_LIMIT_S = 60.0
STOP_LIMIT_S = 2.0
LOOK_AGAIN_S = 15
"""The event loop's clock stands still while the machine sleeps and knows nothing of a corrected
wall clock, so the scheduler looks at the time this often; a job is never later than that."""

JobRunner = Callable[[str, str], Awaitable[None]]
"""``run(plugin, key)`` calls the plugin's job function."""


class Schedule:
    """The running clock: ``start`` once plugins are loaded, ``stop`` before the database closes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._run_job: JobRunner | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._looking: asyncio.Task[None] | None = None

    async def start(self, run_job: JobRunner) -> None:
        """Begin to run jobs: those that are overdue now, late but once."""
        self._run_job = run_job
        self._scheduler.start()
        self._looking = asyncio.create_task(self._look_again(), name="schedule")
        for job in await jobs.pending(self._database):
            self._set(job, job.due)

    async def stop(self) -> None:
        """Give jobs that run a moment to finish; the others stay in the table."""
        if self._looking is not None:
            self._looking.cancel()
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=STOP_LIMIT_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def run_at(self, plugin: str, key: str, when: datetime) -> None:
        """Keep a wake-up, in place of the one with the same key. ``when`` is aware."""
        if when.tzinfo is None:
            raise ValueError("a job's time must say its zone")
        self._set(await jobs.put(self._database, plugin, key, when), when)

    async def cancel(self, plugin: str, key: str) -> bool:
        """Forget a wake-up; whether there was one."""
        if self._scheduler.get_job(_name(plugin, key)):
            self._scheduler.remove_job(_name(plugin, key))
        return await jobs.delete(self._database, plugin, key)

    async def _look_again(self) -> None:
        """By the loop's own clock: a job of the scheduler would wait for a wall clock that was set
        back to come to where it was."""
        while True:
            await asyncio.sleep(LOOK_AGAIN_S)
            self._scheduler.wakeup()

    def _set(self, job: Job, when: datetime) -> None:
        self._scheduler.add_job(
            self._wake,
            DateTrigger(when, timezone=UTC),
            args=[job.id],
            id=_name(job.plugin, job.key),
            replace_existing=True,
            misfire_grace_time=None,
        )

    async def _wake(self, job: int) -> None:
        """Begin, and let APScheduler go: it cancels what it runs at shutdown, and it would drop a
        wake-up that the running job sets for its own key."""
        task = asyncio.create_task(self._carry_out(job))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _carry_out(self, number: int) -> None:
        job = await jobs.begin(self._database, number)
        if job is None or self._run_job is None:
            return
        if job.attempts > ATTEMPTS:
            log.error("job given up plugin=%s: it ended the process each time", job.plugin)
            await jobs.finish(self._database, job.id)
            return
        try:
            async with asyncio.timeout(TIME_LIMIT_S):
                await self._run_job(job.plugin, job.key)
        except Exception:  # a plugin's fault must not end the scheduler
            log.exception("job failed plugin=%s attempt=%d", job.plugin, job.attempts)
            if job.attempts < ATTEMPTS:
                if self._scheduler.running:
                    self._set(job, datetime.now(UTC) + RETRY)
                return
        await jobs.finish(self._database, job.id)


class PluginJobs:
    """The ``Jobs`` protocol of ``plugins.api`` for one plugin."""

    def __init__(self, schedule: Schedule, plugin: str) -> None:
        self._schedule = schedule
        self._plugin = plugin

    async def run_at(self, key: str, when: datetime) -> None:
        await self._schedule.run_at(self._plugin, key, when)

    async def cancel(self, key: str) -> bool:
        return await self._schedule.cancel(self._plugin, key)


def _name(plugin: str, key: str) -> str:
    return f"{plugin}/{key}"
