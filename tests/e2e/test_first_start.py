"""What somebody meets who has just started the hub: a home to try, or a word about having none."""

from pathlib import Path

SAMPLE_HOME = Path(__file__).parents[2] / "samples/home.yaml"
LIGHT = {"HUBD_ENGINE_PRELOAD": "false", "HUBD_RAG_PRELOAD": "false"}
NO_DEVICES = "I know of no devices in this home yet"


def state(hub, entity):
    with hub.client() as client:
        entities = client.get("/hub/home").raise_for_status().json()["entities"]
    return next(one["state"] for one in entities if one["id"] == entity)


def test_the_sample_home_is_there_to_try_and_keeps_its_states(start, tmp_path):
    hub = start(tmp_path, "--home", str(SAMPLE_HOME), **LIGHT)
    assert "home: 29 devices in 9 rooms" in hub.log()
    assert hub.command("ask", "turn on the kitchen light").stdout.startswith("Kitchen Light is on")
    assert state(hub, "light.kitchen") == "on"
    told = hub.command("ask", "--language", "de", "Ist die Garage Door zu?").stdout
    assert "geschlossen" in told
    hub.stop()
    hub = start(tmp_path, "--home", str(SAMPLE_HOME), **LIGHT)
    assert state(hub, "light.kitchen") == "on"  # the home that is known is not described again


def test_without_devices_a_command_says_so_and_how_to_get_some(start, tmp_path):
    (tmp_path / "broken.yaml").write_text("entities: [{name: 1")
    hub = start(tmp_path, "--home", str(tmp_path / "broken.yaml"), **LIGHT)
    assert "The home is not described" in hub.log()
    for said in ("turn on the kitchen light", "unlock the front door"):
        assert NO_DEVICES in hub.command("ask", said).stdout
    assert "no devices" not in hub.command("ask", "set a timer for nine minutes").stdout
