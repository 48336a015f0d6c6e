"""What is killed or restarted: a clear word to the person, the next question works, all is kept."""

import json
import os
import signal
import time

QUESTION = {
    "text": "If we want to move out, how much notice do we have to give?",
    "stream": True,
}
"""Answered by a sentence, so that the language model is asked; a table row is quoted without it."""


def events(response):
    """The (event, data) pairs of a stream of server-sent events, as they come."""
    name = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def gone(process: int, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_an_engine_killed_in_mid_answer_is_a_clear_error_and_the_next_question_works(hub):
    engine = hub.engine()
    with hub.client() as client:
        with client.stream("POST", "/hub/ask", json=QUESTION) as response:
            stream = events(response)
            assert [next(stream)[0], next(stream)[0]] == ["start", "passages"]
            os.kill(engine, signal.SIGSTOP)  # so that the answer cannot be complete before the kill
            time.sleep(1)  # until the engine has been asked; before that, the next one would answer
            os.kill(engine, signal.SIGKILL)
            name, data = list(stream)[-1]
        assert name == "error"
        assert data["code"] == "engine_down"
        assert "language model" in data["message"]
        assert data["hint"]
        reply = client.post("/hub/ask", json={"text": QUESTION["text"]}).json()
        assert reply["citations"], reply
    assert hub.engine() != engine


def test_a_raw_stream_that_loses_its_engine_ends_with_an_error(hub):
    with hub.client() as client:
        raw = client.get("/v1/models").json()["data"][1]["id"]
        body = {
            "model": raw,
            "messages": [{"role": "user", "content": "Tell a long story."}],
            "max_tokens": 2000,
            "stream": True,
        }
        with client.stream("POST", "/v1/chat/completions", json=body) as response:
            lines = response.iter_lines()
            next(lines)
            os.kill(hub.engine(), signal.SIGKILL)
            said = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    assert "[DONE]" not in said
    assert "error" in json.loads(said[-1])


def test_a_killed_hub_leaves_no_orphan_and_keeps_timers_and_documents(hub, start):
    with hub.client() as client:
        for text in ("set a pasta timer for 2 seconds", "set a bread timer for 2 hours"):
            reply = client.post("/hub/ask", json={"text": text}).json()
            assert reply["actions"][0]["tool"] == "timers.start", reply
    engine = hub.engine()
    hub.process.kill()
    hub.process.wait(10)
    assert gone(engine, within_s=10), "the engine outlived the hub"
    time.sleep(2)
    again = start(hub.home)
    with again.client() as client:
        timers = client.post("/hub/tools/timers.list", json={}).json()["data"]["timers"]
        left = client.post("/hub/ask", json={"text": "how long is left on the bread timer?"}).json()
        documents = client.get("/hub/documents").json()
    states = {timer["name"]: timer["state"] for timer in timers}
    assert states == {"bread": "running", "pasta": "ringing"}
    assert "1 hour" in left["answer"]
    assert len(documents) == 18
    assert again.stop() == 0


def test_an_answer_under_way_when_the_hub_stops_gets_time_and_then_a_clear_end(hub, start):
    """One that takes longer than the ten seconds, of an engine that is well."""
    hub.stop()
    again = start(hub.home)
    with again.client() as client:
        raw = next(
            m["id"] for m in client.get("/v1/models").json()["data"] if m["id"] != "household"
        )
        body = {
            "model": raw,
            "messages": [{"role": "user", "content": "Tell a long story."}],
            "max_tokens": 8000,
            "ignore_eos": True,
            "stream": True,
        }
        with client.stream("POST", "/v1/chat/completions", json=body) as response:
            lines = response.iter_lines()
            next(lines)
            again.process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            said = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    assert 9 < time.monotonic() - began < 20
    assert "[DONE]" not in said
    assert "error" in json.loads(said[-1])
    assert again.process.wait(10) == 0


def test_a_speaker_that_is_not_there_is_named_by_the_doctor(tmp_path, start):
    (tmp_path / "hubd.toml").write_text('[announce]\nspeakers = ["assist_satellite.attic"]\n')
    hub = start(tmp_path, HUBD_ENGINE_PRELOAD="false", HUBD_RAG_PRELOAD="false")
    found = hub.command("doctor", check=False).stdout
    assert "✗ speakers     [announce]: the hub sees no assist_satellite.attic" in found
    assert "Expose them to Assist" in found
