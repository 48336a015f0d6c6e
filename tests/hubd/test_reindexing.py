"""Another embedding model in place of the household's own: real models, over HTTP and commands.

The other one is the first three of MiniLM's six layers, as a folder for sentence-transformers.
"""

import asyncio
import json
from pathlib import Path

import pytest
import pytest_asyncio

from hubd.commands.reindex import left
from hubd.config import ConfigError, load_config
from hubd.http.services import SERVICES
from hubd.settings import Config, Rag
from rag.embed import model_folder

in_this_loop = pytest.mark.asyncio(loop_scope="module")

NOTES = {
    "bins.md": "The paper bin is collected every second Tuesday.",
    "boiler.md": "The boiler is in the cellar, behind the green door.",
    "cat.md": "The cat eats twice a day, and never fish.",
}
QUESTION = "When does somebody fetch the waste paper?"


@pytest.fixture(scope="module")
def three_layers(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "three-layers"
    folder.mkdir()
    for file in model_folder().iterdir():
        (folder / file.name).symlink_to(file)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").unlink()
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hub(open_hub, home, papers):
    async with open_hub(home, Config(rag=Rag(idle_unload=60))) as client:
        response = await client.post("/hub/documents", json={"paths": [str(papers)]})
        assert response.status == 200, await response.text()
        yield client


async def reindexed(hub, **body):
    """The events of the stream: names and data."""
    events = []
    async with hub.post("/hub/documents/reindex", json=body | {"stream": True}) as response:
        assert response.status == 200, await response.text()
        async for line in response.content:
            field, _, value = line.decode().strip().partition(": ")
            if field == "event":
                events.append([value])
            elif field == "data":
                events[-1].append(json.loads(value))
    return events


async def state(hub):
    return await (await hub.get("/hub/documents/reindex")).json()


async def first_document(hub):
    response = await hub.post("/hub/retrieve", json={"text": QUESTION})
    return (await response.json())[0]["document"]


@in_this_loop
async def test_a_folder_that_holds_no_model_changes_nothing(hub, tmp_path):
    (name, failed) = (await reindexed(hub, embedder=str(tmp_path)))[-1]
    assert (name, failed["message"]) == (
        "error",
        f"{tmp_path} holds no model of sentence-transformers (no modules.json)",
    )
    now = await state(hub)
    assert (now["state"], now["model"]) == ("failed", "all-MiniLM-L6-v2")
    assert await first_document(hub) == "bins.md"


@in_this_loop
async def test_another_model_takes_over_and_the_next_start_has_it(
    hub, three_layers, home, papers, open_hub
):
    events = await reindexed(hub, embedder=str(three_layers))
    assert [name for name, _ in events[:-1]] == ["progress"] * (len(events) - 1)
    name, done = events[-1]
    model = done["model"]
    assert name == "done"
    assert model.startswith("three-layers@")
    assert events[-2][1]["done"] == events[-2][1]["total"] == len(NOTES)
    assert await first_document(hub) == "bins.md"
    assert [name for name, _ in await reindexed(hub)] == ["done"]  # nothing is left to do
    services = hub.server.app[SERVICES]
    assert services.embedder.model == "all-MiniLM-L6-v2"  # commands go on with the household's own
    assert services.library.embedder.model == model
    back = await reindexed(hub, embedder="engine")
    assert back[-1][1]["model"] == "all-MiniLM-L6-v2"
    assert await first_document(hub) == "bins.md"


@in_this_loop
async def test_the_configuration_alone_is_enough_and_wins(open_hub, tmp_path, three_layers, papers):
    async with open_hub(tmp_path) as first:
        await first.post("/hub/documents", json={"paths": [str(papers)]})
    settings = Config(rag=Rag(embedder=str(three_layers)))
    async with open_hub(tmp_path, settings) as second:
        assert (await state(second))["model"] == "all-MiniLM-L6-v2"
        response = await second.post("/hub/documents/reindex", json={"embedder": "engine"})
        assert response.status == 400
        assert "hubd.toml says" in (await response.json())["error"]["message"]
        events = await reindexed(second)  # as the daemon does at its start
        assert events[-1][1]["model"].startswith("three-layers@")
    async with open_hub(tmp_path) as third:  # nothing is configured: what was chosen last
        assert (await state(third))["model"].startswith("three-layers@")
        assert await first_document(third) == "bins.md"


@in_this_loop
async def test_one_that_is_cut_off_goes_on_with_the_next_start(
    open_hub, tmp_path, three_layers, papers
):
    async with open_hub(tmp_path) as first:
        await first.post("/hub/documents", json={"paths": [str(papers)]})
        response = await first.post("/hub/documents/reindex", json={"embedder": str(three_layers)})
        assert (await response.json())["state"] == "running"
        library = first.server.app[
            next(k for k in first.server.app if "services" in str(k))
        ].library
        async with asyncio.timeout(60):
            while len(await library.embedders()) < 2:  # noqa: ASYNC110 - the database tells nobody
                await asyncio.sleep(0.02)
    async with open_hub(tmp_path) as second:
        assert (await state(second))["model"] == "all-MiniLM-L6-v2"
        assert (await reindexed(second))[-1][1]["model"].startswith("three-layers@")


def test_what_the_configuration_may_say(tmp_path):
    file = tmp_path / "hubd.toml"
    file.write_text('[rag]\nembedder = "some-model"\n')
    with pytest.raises(ConfigError, match="the folder of a model"):
        load_config(file, {})


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (4, "less than a minute left"),
        (150, "about 2 min left"),
        (5000, "about 83 min left"),
        (9000, "about 2.5 h left"),
    ],
)
def test_an_estimate_is_no_more_exact_than_it_is(seconds, said):
    assert left(seconds) == said
