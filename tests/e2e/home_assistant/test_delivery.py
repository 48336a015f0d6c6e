"""Lines between the hub and Home Assistant that break in the middle of a delivery."""

import asyncio
import re
import threading
import time

import pytest

AUTOMATIONS = """
- alias: every answer that comes
  mode: queued
  max: 100
  trigger:
    - platform: event
      event_type: hubd_answer
  action:
    - service: counter.increment
      target: {entity_id: counter.hub_calls}
    - service: input_text.set_value
      target: {entity_id: input_text.hub_answer}
      data:
        value: "{{ states('input_text.hub_answer') }} {{ trigger.event.data.question }}"
- alias: every answer once
  mode: queued
  max: 100
  trigger:
    - platform: event
      event_type: hubd_answer
  condition:
    - condition: template
      value_template: "{{ trigger.event.data.id != states('input_text.last_of_the_hub') }}"
  action:
    - service: input_text.set_value
      target: {entity_id: input_text.last_of_the_hub}
      data: {value: "{{ trigger.event.data.id }}"}
    - service: counter.increment
      target: {entity_id: counter.different}
"""


class BreakingLine:
    """A line to Home Assistant. ``breaks`` deliveries of events are carried there, their answers
    are not carried back; with ``wholly`` every other connection ends in that moment too."""

    def __init__(self, port):
        self.there = port
        self.port = 0
        self.breaks = 0
        self.broken = 0
        self.wholly = False
        self._open = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(5)

    def _run(self):
        asyncio.set_event_loop(self._loop)

        async def listen():
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
            self.port = server.sockets[0].getsockname()[1]
            self._ready.set()

        self._loop.create_task(listen())
        self._loop.run_forever()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    async def _serve(self, reader, writer):
        there, back = await asyncio.open_connection("127.0.0.1", self.there)
        self._open.add(writer)
        answers = asyncio.create_task(self._carry(there, writer))
        try:
            while data := await reader.read(65536):
                delivery = b'"fire_event"' in data and self.breaks > 0
                if delivery:
                    answers.cancel()
                back.write(data)
                if delivery:
                    self.breaks -= 1
                    self.broken += 1
                    await there.read(65536)  # Home Assistant has done it
                    if self.wholly:
                        for other in list(self._open):
                            other.transport.abort()
                    break
        except OSError:
            pass
        finally:
            self._open.discard(writer)
            answers.cancel()
            writer.transport.abort()
            back.close()

    async def _carry(self, there, writer):
        while data := await there.read(65536):
            writer.write(data)
        writer.close()


@pytest.fixture(scope="module")
def connected(make_home_assistant, start, connect, tmp_path_factory):
    """A hub whose line to Home Assistant can be broken."""
    home = tmp_path_factory.mktemp("hub")
    (home / "hubd.toml").write_text("[engine]\npreload = false\n[rag]\npreload = false\n")
    hub = start(home)
    process = make_home_assistant(AUTOMATIONS)
    process.start()
    line = BreakingLine(process.port)
    connect(hub, process, f"http://127.0.0.1:{line.port}")
    yield hub, process, line
    line.close()


def ask(hub, minutes):
    with hub.client() as client:
        done = client.post("/hub/ask", json={"text": f"set a timer for {minutes} minutes"})
    assert done.status_code == 200, done.text


def told(process):
    """The minutes of the timers in the order in which Home Assistant was told of them."""
    return [int(one) for one in re.findall(r"for (\d+) minutes", process.state(ANSWERS))]


ANSWERS = "input_text.hub_answer"


def clear(process):
    process.service("counter.reset", entity_id=["counter.hub_calls", "counter.different"])
    process.service("input_text.set_value", entity_id=ANSWERS, value="told:")


def test_an_answer_that_gets_lost_on_the_way_brings_nothing_twice(connected, eventually):
    hub, process, line = connected
    clear(process)
    line.breaks, line.broken = 2, 0
    for minutes in (11, 12, 13, 14):
        ask(hub, minutes)
    eventually(lambda: told(process)[-1:] == [14], 30, "the last was told")
    assert line.broken == 2
    time.sleep(5)  # time for what might come again
    assert told(process) == [11, 12, 13, 14]
    assert process.state("counter.hub_calls") == "4"


def test_a_line_that_is_cut_wholly_keeps_the_order_and_the_id(connected, eventually):
    hub, process, line = connected
    clear(process)
    line.breaks, line.broken, line.wholly = 2, 0, True
    for minutes in (21, 22, 23, 24):
        ask(hub, minutes)
    eventually(lambda: told(process)[-1:] == [24], 60, "the last was told")
    time.sleep(5)
    order = told(process)
    assert line.broken == 2
    assert sorted(order) == order, "what comes twice comes twice in a row"
    assert set(order) == {21, 22, 23, 24}
    assert process.state("counter.different") == "4"
