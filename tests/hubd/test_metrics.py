"""``/metrics`` as Prometheus reads it, and ``/readyz``."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from engine.protocol import Health, LayerActivity, SchedulerCounts
from hubd.http.counts import Requests
from hubd.http.metrics import CONTENT_TYPE, family, of_engine
from hubd.http.services import SERVICES


@pytest.fixture
async def hub(open_hub, tmp_path):
    async with open_hub(tmp_path) as client:
        yield client


def read(text):
    """Samples by name and labels, as Prometheus' own parser reads them."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for found in text_string_to_metric_families(text)
        for sample in found.samples
    }


async def scrape(hub):
    access = hub.server.app[SERVICES].access
    _, secret = await access.add_token(name="prometheus", person="owner", scopes=("metrics",))
    response = await hub.get("/metrics", headers={"Authorization": f"Bearer {secret}"})
    assert response.status == 200
    assert response.headers["Content-Type"] == CONTENT_TYPE
    return read(await response.text())


async def test_prometheus_reads_the_figures(hub):
    await hub.post("/hub/ask", json={"text": "list timers"})
    await hub.get("/hub/documents/page?document=secret-plans.md")
    found = await scrape(hub)
    assert found["hubd_requests_total", (("route", "/hub/ask"), ("status", "200"))] == 1
    assert found["hubd_request_seconds_count", (("route", "/hub/ask"),)] == 1
    assert found["hubd_requests_running", ()] == 1
    assert found["hubd_engine_state", (("state", "off"),)] == 1
    assert found["hubd_engine_state", (("state", "ready"),)] == 0
    assert found["hubd_resident_bytes", (("process", "hub"),)] > 10**7
    assert 0 <= found["hubd_event_loop_lag_seconds", ()] < 1
    assert "secret-plans" not in str(found)


async def test_figures_are_for_those_who_may_read_them(hub):
    assert (await hub.get("/metrics")).status == 403


def test_the_engine_tells_what_its_neurons_do():
    health = Health(status="ready", neurons=[LayerActivity(0.2, 0.1), LayerActivity(0.4, 0.3)])
    found = read("\n".join(line for f in of_engine(health) for line in family(*f)) + "\n")
    name = "hubd_engine_active_neurons_ratio"
    assert found[name, (("layer", "0"), ("part", "rows"))] == 0.2
    assert found[name, (("layer", "1"), ("part", "columns"))] == 0.3


def test_the_engine_tells_each_of_its_counts():
    health = Health(
        status="ready", active=2, waiting=1,
        counts=SchedulerCounts(prompt_tokens=7, queue_wait_s=1.5, kv_blocks=64),
    )  # fmt: skip
    found = read("\n".join(line for f in of_engine(health) for line in family(*f)) + "\n")
    assert found["hubd_engine_prompt_tokens_total", ()] == 7
    assert found["hubd_engine_queue_wait_seconds_total", ()] == 1.5
    assert found["hubd_engine_kv_blocks", ()] == 64
    assert found["hubd_engine_requests_waiting", ()] == 1
    assert len(found) == 2 + len(SchedulerCounts.__struct_fields__)


def test_a_histogram_adds_up():
    requests = Requests()
    for seconds in (0.001, 0.005, 0.3, 100.0):
        requests.count("/x", 200, seconds)
    found = {
        labels["le"]: value for suffix, labels, value in requests.histogram() if "le" in labels
    }
    assert found["0.005"] == 2
    assert found["0.25"] == 2
    assert found["0.5"] == 3
    assert found["+Inf"] == 4


def test_a_label_may_hold_anything():
    lines = "\n".join(family("x", "gauge", "x", [("", {"l": 'a"b\\c\nd'}, 1)])) + "\n"
    assert read(lines) == {("x", (("l", 'a"b\\c\nd'),)): 1}
