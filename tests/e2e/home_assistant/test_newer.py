"""Home Assistant 2025.4.4 with its own integrations: the hub as device, as agent, as a service."""

import asyncio
import json

import aiohttp
import pytest

from hubd.home.connection import connected as opened
from hubd.home.link import Link

pytestmark = pytest.mark.newer_home_assistant

AUTOMATIONS = """
- alias: a timer of the hub rang (event)
  mode: queued
  triggers:
    - trigger: event
      event_type: hubd_timer_finished
  actions:
    - action: input_text.set_value
      target: {entity_id: input_text.hub_answer}
      data: {value: "{{ trigger.event.data.name }}"}
- alias: a timer of the hub rang (webhook)
  mode: queued
  triggers:
    - trigger: webhook
      webhook_id: timer-of-the-hub
      allowed_methods: [POST]
      local_only: true
  actions:
    - action: input_boolean.turn_on
      target: {entity_id: input_boolean.timer_rang}
"""


@pytest.fixture(scope="module")
def wyoming_port(free_port):
    return free_port()


@pytest.fixture(scope="module")
def both(make_newer_home_assistant, start, connect, tmp_path_factory, wyoming_port):
    """A hub and a Home Assistant that know each other."""
    home = tmp_path_factory.mktemp("hub")
    (home / "hubd.toml").write_text(
        "[engine]\npreload = false\n[rag]\npreload = false\n"
        '[home]\ntimer_webhook = "timer-of-the-hub"\n'
        f'[wyoming]\nport = {wyoming_port}\nrole = "member"\n'
    )
    hub = start(home)
    process = make_newer_home_assistant(AUTOMATIONS, more="assist_pipeline:\n")
    process.start()
    connect(hub, process)
    return hub, process


def add(process, integration, *answers):
    """Set an integration up as a person does in its forms; the entry's id."""
    flows = "/api/config/config_entries/flow"
    step = process.request("POST", flows, {"handler": integration})
    for answer in answers:
        step = process.request("POST", f"{flows}/{step['flow_id']}", answer)
    assert step["type"] == "create_entry", step
    return step["result"]["entry_id"]


def allow_control(process, entry):
    """Tick "Control Home Assistant" in an integration's options."""
    flows = "/api/config/config_entries/options/flow"
    step = process.request("POST", flows, {"handler": entry})
    given = {"llm_hass_api": "assist"}
    step = process.request("POST", f"{flows}/{step['flow_id']}", given)
    assert step["type"] == "create_entry", step


def agents(process):
    return {
        entity["entity_id"]
        for entity in process.entities()
        if entity["entity_id"].startswith("conversation.")
    }


def say(process, agent, text, conversation=None):
    """What an agent answers, as Home Assistant tells it."""
    body = {"text": text, "agent_id": agent, "language": "en"}
    if conversation:
        body["conversation_id"] = conversation
    return process.request("POST", "/api/conversation/process", body, timeout=120)


def speech(told):
    return told["response"]["speech"]["plain"]["speech"]


@pytest.fixture(scope="module")
def ollama_agent(both):
    """The hub added through Home Assistant's own Ollama integration, allowed to control."""
    hub, process = both
    before = agents(process)
    entry = add(process, "ollama", {"url": f"{hub.url}/token/{hub.token}"}, {"model": "household"})
    allow_control(process, entry)
    (agent,) = agents(process) - before
    return agent


@pytest.fixture(scope="module")
def wyoming_agent(both, wyoming_port):
    """The hub added through Home Assistant's own Wyoming integration."""
    _, process = both
    before = agents(process)
    add(process, "wyoming", {"host": "127.0.0.1", "port": wyoming_port})
    (agent,) = agents(process) - before
    return agent


def test_it_is_connected(both):
    hub, _ = both
    told = hub.command("home", "status").stdout
    assert "Home Assistant 2025.4.4" in told
    assert "✓ home         Home Assistant 2025.4.4" in hub.command("doctor", check=False).stdout


def test_the_hub_is_a_device_with_sensors_that_follow(both, eventually):
    hub, process = both
    eventually(lambda: any("hubd_last_answer" in e["entity_id"] for e in process.entities()))
    assert "SmolLM2" in process.state("sensor.hubd_model")
    hub.command("ask", "set a timer for 20 minutes")
    eventually(lambda: process.state("sensor.hubd_next_timer") not in ("unknown", "unavailable"))
    hub.command("ask", "cancel the timer")
    process.wait_for("sensor.hubd_next_timer", "unknown")


def test_a_light_is_switched_and_read_back(both):
    hub, process = both
    process.service("light.turn_off", entity_id="light.kitchen_lights")
    with hub.client() as client:
        done = client.post("/hub/ask", json={"text": "turn on the kitchen lights"}).json()
    assert [action["ok"] for action in done["actions"]] == [True]
    assert process.state("light.kitchen_lights") == "on"


def test_what_somebody_hides_is_not_touched(both, eventually):
    """This version does not list what is hidden; its registry's entries tell it."""
    hub, process = both

    def expose(shown):
        asyncio.run(
            _command(
                process,
                "homeassistant/expose_entity",
                assistants=["conversation"],
                entity_ids=["light.bed_light"],
                should_expose=shown,
            )
        )

    def seen():
        with hub.client() as client:
            entities = client.get("/hub/home").json()["entities"]
            return "light.bed_light" in {entity["id"] for entity in entities}

    eventually(seen)
    expose(False)
    try:
        eventually(lambda: not seen(), 15, "it is hidden")
        process.service("light.turn_off", entity_id="light.bed_light")
        hub.command("ask", "turn on the bed light")
        assert process.state("light.bed_light") == "off"
    finally:
        expose(True)
    eventually(seen, 15)


async def _command(process, kind, **fields):
    """A command of the owner over a WebSocket."""
    async with aiohttp.ClientSession() as session:
        link = Link(url=process.url, token=process.token)
        async with opened(session, link) as connection:
            return await connection.command(kind, **fields)


def test_a_notification_reaches_the_pages(both, eventually):
    hub, process = both
    eventually(lambda: "mobile_app_hubd" in str(process.request("GET", "/api/services")))
    with hub.client() as client, client.stream("GET", "/hub/events") as events:
        process.service("notify.mobile_app_hubd", title="Washer", message="It is done.")
        data = (line.removeprefix("data: ") for line in events.iter_lines() if "data: " in line)
        shown = json.loads(next(line for line in data if "Washer" in line))
    assert (shown["title"], shown["message"]) == ("Washer", "It is done.")


def test_a_timer_that_rings_runs_automations(both):
    hub, process = both
    hub.command("ask", "set a pasta timer for 1 second")
    process.wait_for("input_text.hub_answer", "pasta")
    process.wait_for("input_boolean.timer_rang", "on")
    hub.command("ask", "stop")


# The hub as Home Assistant's conversation agent, through the Ollama integration


def test_the_agent_switches_a_light_with_the_tools_of_home_assistant(both, ollama_agent):
    _, process = both
    process.service("light.turn_off", entity_id="light.bed_light")
    told = say(process, ollama_agent, "turn on the bed light")
    assert told["response"]["response_type"] == "action_done", told
    assert process.state("light.bed_light") == "on"
    assert speech(told)


def test_the_agent_is_the_hub(both, ollama_agent):
    _, process = both
    assert "No timer is running" in speech(say(process, ollama_agent, "list timers"))


def test_the_agent_asks_before_it_opens_the_garage(both, ollama_agent):
    _, process = both
    process.service("cover.close_cover", entity_id="cover.garage_door")
    process.wait_for("cover.garage_door", "closed", 30)
    told = say(process, ollama_agent, "open the garage door")
    assert process.state("cover.garage_door") == "closed"
    assert "?" in speech(told)
    say(process, ollama_agent, "yes", told["conversation_id"])
    process.wait_for("cover.garage_door", "open", 30)


def test_the_plain_model_answers_too(both, model_path):
    hub, process = both
    before = agents(process)
    add(
        process,
        "ollama",
        {"url": f"{hub.url}/token/{hub.token}"},
        {"model": f"raw:{model_path.stem}"},
    )
    (agent,) = agents(process) - before
    told = say(process, agent, "Say hello.")
    assert told["response"]["response_type"] == "action_done", told
    assert speech(told)


def test_a_pipeline_of_assist_runs_through_the_agent(both, ollama_agent):
    _, process = both
    process.service("light.turn_on", entity_id="light.ceiling_lights")
    events = asyncio.run(_run_pipeline(process, ollama_agent, "turn off the ceiling lights"))
    kinds = [event["type"] for event in events]
    assert kinds[0] == "run-start"
    assert kinds[-1] == "run-end"
    (end,) = [event["data"] for event in events if event["type"] == "intent-end"]
    assert speech(end["intent_output"])
    assert process.state("light.ceiling_lights") == "off"


async def _run_pipeline(process, agent, text):
    """The events of a run of a pipeline that is made for the agent."""
    async with aiohttp.ClientSession() as session:
        link = Link(url=process.url, token=process.token)
        async with opened(session, link) as connection:
            made = await connection.command(
                "assist_pipeline/pipeline/create",
                name="Through the hub",
                language="en",
                conversation_engine=agent,
                conversation_language="en",
                stt_engine=None,
                stt_language=None,
                tts_engine=None,
                tts_language=None,
                tts_voice=None,
                wake_word_entity=None,
                wake_word_id=None,
            )
            events, ended = [], asyncio.Event()

            def heard(event):
                events.append(event)
                if event["type"] in ("run-end", "error"):
                    ended.set()

            await connection.subscribe(
                heard,
                "assist_pipeline/run",
                start_stage="intent",
                end_stage="intent",
                input={"text": text},
                pipeline=made["id"],
            )
            async with asyncio.timeout(30):
                await ended.wait()
    return events


# The hub as a service of Home Assistant's Wyoming integration


def test_what_is_said_to_wyoming_is_done(both, wyoming_agent):
    _, process = both
    process.service("light.turn_off", entity_id="light.kitchen_lights")
    told = say(process, wyoming_agent, "turn on the kitchen lights")
    assert told["response"]["response_type"] == "action_done", told
    assert process.state("light.kitchen_lights") == "on"
    assert "No timer is running" in speech(say(process, wyoming_agent, "list timers"))


def test_a_door_stays_closed_since_this_version_names_no_conversation(both, wyoming_agent):
    _, process = both
    process.service("cover.close_cover", entity_id="cover.garage_door")
    process.wait_for("cover.garage_door", "closed", 30)
    asked = say(process, wyoming_agent, "open the garage door")
    assert "Shall I open" in speech(asked)
    say(process, wyoming_agent, "yes", asked["conversation_id"])
    assert process.state("cover.garage_door") == "closed"


def test_what_wyoming_does_not_know_is_an_error_with_words(both, wyoming_agent):
    _, process = both
    told = say(process, wyoming_agent, "Who won the match last night?")
    assert told["response"]["response_type"] == "error"
    assert told["response"]["data"]["code"] == "failed_to_handle"
    assert "documents" in speech(told)


def test_a_pipeline_runs_through_wyoming(both, wyoming_agent):
    _, process = both
    process.service("light.turn_on", entity_id="light.ceiling_lights")
    events = asyncio.run(_run_pipeline(process, wyoming_agent, "turn off the ceiling lights"))
    assert events[-1]["type"] == "run-end"
    assert process.state("light.ceiling_lights") == "off"
