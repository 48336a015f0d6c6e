"""The hub as a device in a real Home Assistant: sensors, events, notifications, automations."""

import json
import signal
import subprocess
import sys
import time

import pytest
from playwright.sync_api import expect

AUTOMATIONS = """
- alias: a timer of the hub rang (event)
  mode: queued
  trigger:
    - platform: event
      event_type: hubd_timer_finished
  action:
    - service: input_text.set_value
      target: {entity_id: input_text.hub_answer}
      data: {value: "{{ trigger.event.data.name }}"}
    - service: counter.increment
      target: {entity_id: counter.hub_calls}
- alias: a timer of the hub rang (webhook)
  mode: queued
  trigger:
    - platform: webhook
      webhook_id: timer-of-the-hub
      allowed_methods: [POST]
      local_only: true
  action:
    - service: input_boolean.turn_on
      target: {entity_id: input_boolean.timer_rang}
- alias: the hub asks for the flag
  mode: queued
  trigger:
    - platform: webhook
      webhook_id: flag-by-the-hub
      allowed_methods: [POST]
      local_only: true
  action:
    - service: input_boolean.turn_on
      target: {entity_id: input_boolean.hub_flag}
- alias: the bed light asks the hub
  mode: queued
  trigger:
    - platform: state
      entity_id: light.bed_light
  action:
    - service: rest_command.ask_hub
      data: {text: "list timers"}
      response_variable: told
    - service: input_text.set_value
      target: {entity_id: input_text.hub_answer}
      data: {value: "{{ told.content.answer }} ({{ told.status }})"}
"""

REPORTS = """
[home.reports]
flag = "The flag is {{ states('input_boolean.hub_flag') }}, twenty-one twice is {{ 21 * 2 }}."
broken = "{{ 1 / 0 }}"
"""

REST_COMMANDS = """
ask_hub:
  url: "ADDRESS"
  method: post
  content_type: application/json
  headers: {authorization: "Bearer SECRET"}
  payload: '{{ {"text": text} | tojson }}'
"""


@pytest.fixture(scope="module")
def connected(make_home_assistant, start, tmp_path_factory):
    """A hub and a Home Assistant that know each other."""
    home = tmp_path_factory.mktemp("hub")
    (home / "hubd.toml").write_text(
        "[engine]\npreload = false\n[rag]\npreload = false\n"
        '[home]\neverything = true\ntimer_webhook = "timer-of-the-hub"\n' + REPORTS
    )
    hub = start(home)
    made = hub.command("webhook", "add", "from-home", "--action", "ask").stdout
    lines = dict(line.split(":", 1) for line in made.splitlines() if ":" in line)
    rest = REST_COMMANDS.replace("ADDRESS", lines["address"].strip())
    process = make_home_assistant(AUTOMATIONS, rest.replace("SECRET", lines["secret"].strip()))
    process.start()
    done = subprocess.run(
        [sys.executable, "-m", "hubd", "home", "connect", process.url],
        env=hub.environment,
        input=process.token + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return hub, process


def eventually(holds, within_s=15.0, what="it"):
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {within_s} s: {what}")
        time.sleep(0.05)


def states(process):
    return {entity["entity_id"]: entity for entity in process.entities()}


def test_the_hub_appears_with_its_sensors(connected):
    _, process = connected
    eventually(lambda: "sensor.hubd_last_answer" in states(process), what="sensors")
    found = states(process)
    assert "SmolLM2" in found["sensor.hubd_model"]["state"]
    assert int(found["sensor.hubd_memory"]["state"]) > 20
    assert found["sensor.hubd_next_timer"]["state"] == "unknown"


def test_sensors_follow_the_hub(connected):
    hub, process = connected
    assert "timer" in hub.command("ask", "set a timer for 20 minutes").stdout.lower()
    eventually(
        lambda: states(process)["sensor.hubd_next_timer"]["state"] not in ("unknown", "unavailable")
    )
    eventually(lambda: "20 minutes" in states(process)["sensor.hubd_last_answer"]["state"])
    hub.command("ask", "cancel the timer")
    process.wait_for("sensor.hubd_next_timer", "unknown")


def test_a_notification_reaches_every_open_page(connected):
    hub, process = connected
    with hub.client() as client, client.stream("GET", "/hub/events") as events:
        process.service("notify.mobile_app_hubd", title="Washer", message="It is done.")
        for line in events.iter_lines():
            if line.startswith("data: ") and "Washer" in line:
                shown = json.loads(line.removeprefix("data: "))
                break
    assert shown == {
        "title": "Washer",
        "message": "It is done.",
        "speak": False,
        "source": "home_assistant",
    }


def test_a_reminder_that_cannot_be_made_is_told_in_its_log(connected):
    _, process = connected
    data = {"remind": "whenever"}
    process.service("notify.mobile_app_hubd", message="Water the plants", data=data)
    eventually(lambda: "No reminder was made" in process.log(), what="its log")


@pytest.mark.browser
def test_a_notification_is_drawn_on_the_page_and_read_aloud(connected, open_page):
    hub, process = connected
    page = open_page(hub.page())
    # No voice is installed where tests run: what would be said is kept instead.
    page.evaluate(
        """() => {
            globalThis.said = [];
            speechSynthesis.getVoices = () => [{ localService: true, lang: "en-GB" }];
            globalThis.SpeechSynthesisUtterance = class extends EventTarget {
                constructor(text) { super(); this.text = text; }
            };
            speechSynthesis.speak = (words) => said.push(words.text);
        }"""
    )
    process.service("notify.mobile_app_hubd", title="Washer", message="It is done.")
    expect(page.get_by_text("Washer: It is done.")).to_be_visible()
    assert page.evaluate("said") == []
    process.service("notify.mobile_app_hubd", message="Come to the door.", data={"speak": True})
    expect(page.get_by_text("Come to the door.")).to_be_visible()
    assert page.evaluate("said") == ["Come to the door."]


def test_a_notification_without_the_secret_is_refused(connected):
    hub, _ = connected
    with hub.client() as client:
        body = {"message": "Open the door", "push_token": "guessed"}
        response = client.post("/api/home-assistant/notify", json=body)
    assert response.status_code == 401


def test_a_timer_that_rings_runs_automations(connected):
    hub, process = connected
    calls = int(process.state("counter.hub_calls"))
    hub.command("ask", "set a pasta timer for 1 second")
    process.wait_for("input_text.hub_answer", "pasta")
    process.wait_for("input_boolean.timer_rang", "on")
    assert int(process.state("counter.hub_calls")) == calls + 1
    hub.command("ask", "stop")


def test_an_automation_asks_the_hub_and_uses_its_answer(connected):
    _, process = connected
    process.service("light.toggle", entity_id="light.bed_light")
    process.wait_for("input_text.hub_answer", "No timer is running. (200)")


def test_a_webhook_trigger_is_called_and_confirmed_by_a_state(connected):
    hub, process = connected
    process.service("input_boolean.turn_off", entity_id="input_boolean.hub_flag")
    with hub.client() as client:

        def call(**arguments):
            reply = client.post("/hub/tools/automations.trigger", json=arguments)
            assert reply.status_code == 200, reply.text
            return reply.json()

        right = {"webhook_id": "flag-by-the-hub", "entity": "input_boolean.hub_flag"}
        told = call(**right, state="on")
        assert told["text"] == "Done: Hub flag is on."
        assert call(webhook_id="flag-by-the-hub")["text"] == "Sent, not confirmed."
        told = call(webhook_id="nobody", entity="input_boolean.hub_flag", state="off")
        assert told["data"] == {"confirmed": False}


def test_a_routine_calls_a_webhook_and_tells_a_report(connected):
    hub, process = connected
    process.service("input_boolean.turn_off", entity_id="input_boolean.hub_flag")
    steps = (
        "call webhook flag-by-the-hub until input_boolean.hub_flag is on then tell the flag report"
    )
    hub.command("ask", f"when I say raise the flag do {steps}")
    told = hub.command("ask", "run the routine raise the flag").stdout
    assert "Done: Hub flag is on." in told
    assert "The flag is on, twenty-one twice is 42." in told
    hub.command("ask", "forget the routine raise the flag")


def test_a_report_that_is_wrong_or_not_there_is_told_so(connected):
    hub, _ = connected
    assert "cannot make the report" in hub.command("ask", "tell me the broken report").stdout
    with hub.client() as client:
        reply = client.post("/hub/tools/automations.report", json={"name": "none"})
    assert reply.status_code == 409, reply.text
    assert "broken, flag" in reply.text


def test_what_happened_meanwhile_is_told_once_and_in_order(connected):
    hub, process = connected
    calls = int(process.state("counter.hub_calls"))
    process.stop()
    for name in ("first", "second"):
        hub.command("ask", f"set a {name} timer for 1 second")
        time.sleep(1.5)
    hub.command("ask", "stop")
    process.start()
    calls_then = 0 if process.state("counter.hub_calls") == "0" else calls
    eventually(lambda: int(process.state("counter.hub_calls")) >= calls_then + 2, 20)
    assert process.state("input_text.hub_answer") == "second"
    time.sleep(3)
    assert int(process.state("counter.hub_calls")) == calls_then + 2


def test_a_hub_that_was_deleted_there_registers_again(connected):
    _, process = connected
    entries = process.request("GET", "/api/config/config_entries/entry")
    for entry in entries:
        if entry["domain"] == "mobile_app":
            process.request("DELETE", f"/api/config/config_entries/entry/{entry['entry_id']}")
    assert "sensor.hubd_model" not in states(process)
    eventually(lambda: "sensor.hubd_model" in states(process), 30, "registered again")
    process.stop(signal.SIGKILL)  # a crash: what it had not saved is lost
    process.start()
    eventually(lambda: "sensor.hubd_model" in states(process), 30, "there after a crash")


def test_no_secret_is_in_the_log(connected):
    hub, process = connected
    assert process.token not in hub.log()
    kept = json.loads((hub.home / "data" / "home-assistant.json").read_text())
    assert kept["registration"]["push_token"] not in hub.log()
    assert kept["registration"]["webhook_id"] not in hub.log()
