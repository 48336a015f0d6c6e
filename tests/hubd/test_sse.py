"""Streams: who leaves ends the work, who does not read is dropped, one task owns the source."""

import asyncio

import pytest
from aiohttp import ClientSession, web

from hubd.http import sse
from hubd.http.app import make_runner
from hubd.http.sse import frame, stream


class Source:
    """Frames without end, and whether the source was closed."""

    def __init__(self, size=10):
        self.closed = asyncio.Event()
        self.task = None
        self.sent = 0
        self._size = size

    async def frames(self):
        self.task = asyncio.current_task()
        try:
            while True:
                assert asyncio.current_task() is self.task
                yield frame("piece", {"text": "x" * self._size})
                self.sent += 1
                await asyncio.sleep(0)
        finally:
            self.closed.set()


@pytest.fixture
async def serve():
    """``serve(source)`` gives the port of the daemon's own kind of server that streams it."""
    runners = []

    async def started(source):
        async def answer(request):
            return await stream(request, source.frames())

        app = web.Application()
        app.add_routes([web.get("/", answer)])
        runners.append(runner := make_runner(app))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner.addresses[0][1]

    yield started
    for runner in runners:
        await runner.cleanup()


def url(port):
    return f"http://127.0.0.1:{port}/"


def test_a_frame_is_one_event_with_a_name():
    assert frame("token", {"text": "a\nb"}) == b'event: token\ndata: {"text":"a\\nb"}\n\n'


async def test_who_leaves_ends_the_source(serve):
    source = Source()
    async with ClientSession() as client, client.get(url(await serve(source))) as response:
        assert await response.content.readline() == b"event: piece\n"
    async with asyncio.timeout(5):
        await source.closed.wait()


async def test_who_does_not_read_holds_the_source_back_and_is_dropped(serve, monkeypatch):
    monkeypatch.setattr(sse, "WRITE_LIMIT_S", 0.2)
    source = Source(size=100_000)
    reader, writer = await asyncio.open_connection("127.0.0.1", await serve(source), limit=1024)
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    async with asyncio.timeout(10):
        await source.closed.wait()
    assert source.sent < 1000
    writer.close()
    assert reader


async def test_a_source_that_breaks_off_ends_the_stream(serve):
    class Broken(Source):
        async def frames(self):
            yield frame("piece", {})
            raise RuntimeError("a fault")

    async with ClientSession() as client, client.get(url(await serve(Broken()))) as response:
        assert await response.read() == frame("piece", {})
