"""Every YAML block of docs/home-assistant.md, run by a real Home Assistant."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

PAGE = Path(__file__).parents[3] / "docs" / "home-assistant.md"
LIGHT = "[engine]\npreload = false\n[rag]\npreload = false\n"
BLOCK = re.compile(r"^```yaml\n# (automations|rest_commands)\.yaml\n(.*?)^```", re.M | re.S)


def blocks(kind):
    return [text for name, text in BLOCK.findall(PAGE.read_text()) if name == kind]


def test_every_block_says_which_file_it_is_for():
    assert len(re.findall(r"^```yaml", PAGE.read_text(), re.M)) == len(
        BLOCK.findall(PAGE.read_text())
    )


@pytest.fixture(scope="module")
def connected(make_home_assistant, start, tmp_path_factory):
    """The page followed step by step: a hub and a Home Assistant with all its blocks."""
    home = tmp_path_factory.mktemp("hub")
    line = re.search(r'`\[home\] (timer_webhook = "[^"]+")`', PAGE.read_text())[1]
    report = re.search(r"^```toml\n# hubd.toml\n(.*?)^```", PAGE.read_text(), re.M | re.S)[1]
    (home / "hubd.toml").write_text(f"{LIGHT}[home]\n{line}\n{report}")
    hub = start(home)
    made = hub.command("webhook", "add", "from-home", "--action", "ask").stdout
    told = dict(line.split(":", 1) for line in made.splitlines() if ":" in line)
    (rest,) = blocks("rest_commands")
    rest = rest.replace("http://127.0.0.1:8400/api/webhook/ID", told["address"].strip())
    process = make_home_assistant(
        "".join(blocks("automations")), rest.replace("SECRET", told["secret"].strip())
    )
    process.start()
    subprocess.run(
        [sys.executable, "-m", "hubd", "home", "connect", process.url],
        env=hub.environment,
        input=process.token + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return hub, process


def test_all_automations_are_taken_over(connected):
    _, process = connected
    found = {e["attributes"].get("friendly_name") for e in process.entities()}
    for block in blocks("automations"):
        assert yaml.safe_load(block)[0]["alias"] in found


def test_a_timer_that_rings(connected):
    hub, process = connected
    process.service("light.turn_off", entity_id="light.kitchen_lights")
    process.service("switch.turn_off", entity_id="switch.decorative_lights")
    process.service("counter.reset", entity_id="counter.hub_calls")
    hub.command("ask", "set a timer for 1 second")
    process.wait_for("light.kitchen_lights", "on", 30)
    process.wait_for("switch.decorative_lights", "on", 30)
    process.wait_for("counter.hub_calls", "1", 30)
    hub.command("ask", "stop")


def shown(hub, act):
    """The message that ``act`` makes the pages of the hub show."""
    with hub.client() as client, client.stream("GET", "/hub/events") as events:
        act()
        data = (line.removeprefix("data: ") for line in events.iter_lines() if "data: " in line)
        return json.loads(next(line for line in data if "home_assistant" in line))


def test_the_report_counts_what_home_assistant_counts(connected):
    hub, process = connected
    lights = [e for e in process.entities() if e["entity_id"].startswith("light.")]
    lit = sum(light["state"] == "on" for light in lights)
    told = hub.command("ask", "tell me the lights report").stdout
    assert told.startswith(f"{lit} lights are on.")


def test_the_garage_door(connected):
    hub, process = connected
    told = shown(hub, lambda: process.service("cover.open_cover", entity_id="cover.garage_door"))
    assert (told["title"], told["message"]) == ("Garage", "The garage door is open.")
    assert not told["speak"]


def test_an_automation_that_asks(connected):
    hub, process = connected
    told = shown(hub, lambda: process.service("light.toggle", entity_id="light.bed_light"))
    assert told["message"] == "The hub says: No timer is running."


def test_a_notification_that_becomes_a_reminder(connected):
    hub, process = connected
    for state in ("on", "off"):
        process.service(f"switch.turn_{state}", entity_id="switch.ac")
    deadline = time.monotonic() + 15
    while "Take the washing out" not in (told := hub.command("ask", "list reminders").stdout):
        assert time.monotonic() < deadline, told


def test_a_notification_that_is_read_aloud(connected):
    hub, process = connected
    flag = "input_boolean.hub_flag"
    told = shown(hub, lambda: process.service("input_boolean.turn_on", entity_id=flag))
    assert (told["message"], told["speak"]) == ("Somebody is at the door.", True)
