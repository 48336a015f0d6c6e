"""Files in the cache are damaged: they are made again, and the answers are as before."""

from tests.faults.conftest import STORY, raw_model


def test_cache_files_that_were_spoiled_are_made_again(start, tmp_path_factory):
    """A byte of each file in the cache is turned over while the hub is off, as a bad disk does."""
    home = tmp_path_factory.mktemp("spoiled")
    hub = start(home)
    right = told(hub)
    hub.stop()
    spoiled = [path for path in sorted((home / "cache").rglob("*")) if path.is_file()]
    assert any(path.suffix == ".packed" for path in spoiled)
    for path in spoiled:
        data = bytearray(path.read_bytes())
        if data:
            data[len(data) // 2] ^= 0xFF
            path.write_bytes(data)
    hub = start(home)
    assert told(hub) == right
    with hub.client() as client:
        assert client.get("/readyz").status_code == 200
    hub.stop()


def told(hub):
    """The likeliest words of the bare model, as they are when nothing is wrong."""
    with hub.client() as client:
        body = STORY | {"model": raw_model(client), "temperature": 0, "max_tokens": 24}
        reply = client.post("/v1/chat/completions", json=body)
        assert reply.status_code == 200, reply.text
        return reply.json()["choices"][0]["message"]["content"]
