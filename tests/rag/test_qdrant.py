"""Vectors searched by Qdrant, by its client's local mode: what memory finds, who may see it."""

import numpy as np
import pytest

from rag.db import connect
from rag.errors import IndexAwayError
from rag.library import Library
from rag.qdrant import QdrantIndex
from rag.store import NewChunk, Record, Store
from rag.vectors import Embedded

qdrant_client = pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")

DIMENSION = 24


class Client(qdrant_client.QdrantClient):
    """The local mode, which can be away and counts its searches."""

    def __init__(self):
        super().__init__(":memory:")
        self.away = False
        self.searches = []

    def query_points(self, *args, **kwargs):
        self.reach()
        self.searches.append(kwargs["query_filter"])
        return super().query_points(*args, **kwargs)

    def upsert(self, *args, **kwargs):
        self.reach()
        return super().upsert(*args, **kwargs)

    def delete(self, *args, **kwargs):
        self.reach()
        return super().delete(*args, **kwargs)

    def retrieve(self, *args, **kwargs):
        self.reach()
        return super().retrieve(*args, **kwargs)

    def collection_exists(self, *args, **kwargs):
        self.reach()
        return super().collection_exists(*args, **kwargs)

    def reach(self):
        if self.away:
            raise ConnectionError("connection refused")


@pytest.fixture
def client():
    made = Client()
    yield made
    made.close()


@pytest.fixture
def make_elsewhere(client):
    return lambda model, dimension: QdrantIndex(client, model, dimension)


@pytest.fixture
def store(tmp_path, make_elsewhere):
    return Store(connect(tmp_path / "hub.db"), "m", DIMENSION, make_elsewhere)


def unit(chance):
    vector = chance.standard_normal(DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


def put(store, name, vectors, collection=""):
    record = Record(
        name=name, path=f"/p/{name}", type="txt", bytes=1, stamp="", sha256=name, made_by="",
        ingested_at="", collection=collection,
    )  # fmt: skip
    chunks = [NewChunk(1, 0, 1, f"{name} {i}", "", Embedded(v, b"")) for i, v in enumerate(vectors)]
    store.replace(record, [name], chunks)


def complete(store):
    while not store.table.catch_up():
        pass


def count(client):
    return client.count("hubd-m").count


def test_it_finds_what_memory_finds(store, client, tmp_path):
    chance = np.random.default_rng(1)
    for number in range(30):
        put(store, f"d{number}", [unit(chance) for _ in range(10)], "even" if number % 2 else "odd")
    memory = Store(connect(tmp_path / "hub.db"), "m", DIMENSION)
    complete(store)
    assert count(client) == 300
    for visible in (None, frozenset({"even"}), frozenset({"odd", "even"}), frozenset()):
        for _ in range(10):
            question = unit(chance)
            assert store.search_vector(question, 8, visible) == memory.search_vector(
                question, 8, visible
            )
    assert len(client.searches) == 40
    assert store.table._signs is None


def test_who_may_see_what_is_part_of_the_query(store, client):
    chance = np.random.default_rng(2)
    question = unit(chance)
    put(store, "secret", [question], "parents")
    put(store, "open", [unit(chance)])
    complete(store)
    (found,) = store.search_vector(question, 1, frozenset({""}))
    assert store.chunks([found[0]])[found[0]].document == "open"
    (condition,) = client.searches[-1].must
    assert (condition.key, condition.match.any) == ("document", [2])


def test_changes_are_told_at_once(store, client):
    chance = np.random.default_rng(3)
    first, second = unit(chance), unit(chance)
    complete(store)
    put(store, "a", [first, unit(chance)])
    assert count(client) == 2
    put(store, "a", [second])
    assert count(client) == 1
    assert store.search_vector(second, 1)[0][1] > 0.999
    store.remove("a")
    assert count(client) == 0
    assert store.search_vector(second, 1) == []


def test_while_it_is_away_memory_is_searched_and_it_catches_up(store, client):
    chance = np.random.default_rng(4)
    vectors = [unit(chance) for _ in range(4)]
    put(store, "a", vectors[:2])
    complete(store)
    client.away = True
    put(store, "b", [vectors[2]])
    store.remove("a")
    put(store, "c", [vectors[3]])  # its number may be one that was given before
    assert not store.table.elsewhere.reachable()
    assert store.search_vector(vectors[3], 1)[0][1] > 0.999
    with pytest.raises(IndexAwayError, match="connection refused"):
        store.table.catch_up()
    client.away = False
    complete(store)
    assert count(client) == 2
    before = len(client.searches)
    assert [round(score, 3) for _, score in store.search_vector(vectors[2], 1)] == [1.0]
    assert [round(score, 3) for _, score in store.search_vector(vectors[3], 1)] == [1.0]
    assert len(client.searches) == before + 2


def test_a_point_that_is_out_of_date_shows_nobody_anything(store, client):
    """A chunk of a private document has the number that Qdrant still files under an open one."""
    chance = np.random.default_rng(5)
    question = unit(chance)
    put(store, "open", [unit(chance), question])
    complete(store)
    client.away = True
    store.remove("open")
    put(store, "new", [unit(chance)])
    put(store, "secret", [question], "parents")
    client.away = False
    store.table.elsewhere.complete = True  # as if nobody had noticed
    seen = store.search_vector(question, 5, frozenset({""}))
    assert {store.chunks([number])[number].document for number, _ in seen} == {"new"}


def test_a_number_that_is_given_again_gets_its_new_vector(store, client):
    chance = np.random.default_rng(7)
    old, new = unit(chance), unit(chance)
    put(store, "a", [old])
    complete(store)
    client.away = True
    store.remove("a")
    put(store, "b", [new])
    client.away = False
    complete(store)
    (point,) = client.retrieve("hubd-m", [1], with_vectors=True)
    assert np.array(point.vector) @ new > 0.999


def test_a_lost_copy_is_made_again(store, client):
    chance = np.random.default_rng(6)
    put(store, "a", [unit(chance) for _ in range(5)])
    complete(store)
    client.delete_collection("hubd-m")
    assert len(store.search_vector(unit(chance), 3)) == 3
    assert not store.table.elsewhere.complete
    complete(store)
    assert count(client) == 5


async def test_a_library_hands_over_and_goes_on_after_another_model(
    tmp_path, embedder, folder, client, make_elsewhere
):
    for number in range(5):
        (folder / f"{number}.txt").write_text(f"words about subject{number}")
    library = await Library.open(
        tmp_path / "hub.db",
        embedder=embedder,
        uploads=tmp_path / "uploads",
        make_elsewhere=make_elsewhere,
    )
    await library.ingest([folder])
    assert await library.hand_over()
    passages = (await library.retrieve("what about subject3")).passages
    assert passages[0].document == "3.txt"
    assert len(client.searches) == 1
    other = type(embedder)()
    other.model = "other"
    await library.reindex(other)
    assert not client.collection_exists("hubd-hash")
    client.away = True
    assert not await library.hand_over()
    client.away = False
    assert await library.hand_over()
    assert client.count("hubd-other").count == 5
    await library.close()
