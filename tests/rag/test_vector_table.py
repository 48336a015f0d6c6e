"""Vectors of several models in one file, other processes, and files of older versions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.db import connect, migrate
from rag.schema import MIGRATIONS
from rag.store import NewChunk, Record, Store
from rag.vectors import Embedded, likeness, signs_of


def made(vector, sentences=b""):
    return Embedded(np.array(vector, np.float32), sentences)


def put(store: Store, name: str, vector: list[float], sentences: bytes = b"") -> None:
    record = Record(
        name=name, path=f"/p/{name}", type="txt", bytes=1, stamp="", sha256="", made_by="",
        ingested_at="", collection="private" if name == "secret" else "",
    )  # fmt: skip
    store.replace(record, [name], [NewChunk(1, 0, 1, name, "", made(vector, sentences))])


def found(store: Store, vector: list[float], visible: frozenset[str] | None = None) -> list[str]:
    hits = store.search_vector(np.array(vector, np.float32), 5, visible)
    chunks = store.chunks([number for number, _ in hits])
    return [chunks[number].document for number, _ in hits]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "hub.db"


def test_a_model_of_any_dimension_beside_another(path):
    connection = connect(path)
    first = Store(connection, "first", 3)
    put(first, "a", [1, 0, 0])
    put(first, "b", [0, 1, 0])
    second = Store(connection, "second", 70)
    missing = second.without_vector(second.table, 5)
    assert [chunk.document for chunk in missing] == ["a", "b"]
    assert not second.switch(second.table)
    second.add_vectors(second.table, [missing[0].id], [made(np.eye(70)[0])])
    assert found(second, [1.0] + [0.0] * 69) == []  # half of them would be no fair search
    assert found(first, [0.1, 1, 0]) == ["b", "a"]
    assert not second.switch(second.table)
    second.add_vectors(second.table, [missing[1].id], [made(np.eye(70)[1])])
    assert second.switch(second.table)
    assert found(second, [0.0, 1.0] + [0.0] * 68) == ["b", "a"]
    while second.table.sweep(1):
        pass
    assert [row.model for row in second.embedders()] == ["second"]
    assert Store(connection, "second", 70).table.missing(5) == []
    assert len(Store(connection, "first", 3).table.missing(5)) == 2
    with pytest.raises(ValueError, match="made vectors of 70 numbers"):
        Store(connection, "second", 71)


def test_what_is_being_made_of_one_model_is_kept_until_another_is_wanted(path):
    store = Store(connect(path), "serving", 2)
    put(store, "a", [1, 0])
    coming = store.coming("coming", 2, "/models/coming")
    store.add_vectors(coming, [1], [made([1, 0])])
    assert not store.table.sweep(9)
    assert Store(connect(path), "serving", 2).coming("coming", 2, "").missing(1) == []
    assert store.embedders()[1].source == "/models/coming"
    assert store.coming("a third", 2, "").missing(1) == [1]
    while store.table.sweep(9):
        pass
    assert [row.model for row in store.embedders()] == ["serving", "a third"]
    assert found(store, [1, 0]) == ["a"]


def test_chunks_without_a_vector_are_found_from_any_of_them_on(path):
    store = Store(connect(path), "m", 2)
    for name in "abcd":
        put(store, name, [1, 0])
    table = store.coming("n", 2, "")
    store.add_vectors(table, [2], [made([1, 0])])
    assert table.missing_count() == 3
    assert table.missing(2) == [1, 3]
    assert table.missing(2, after=1) == [3, 4]
    assert table.missing(9, after=4) == []


def test_what_another_process_stores_is_found(path):
    mine, theirs = Store(connect(path), "m", 2), Store(connect(path), "m", 2)
    put(mine, "a", [1, 0])
    assert found(theirs, [1, 0]) == ["a"]
    put(mine, "b", [1, 0.1])
    assert set(found(theirs, [1, 0])) == {"a", "b"}
    mine.remove("a")
    assert found(theirs, [1, 0]) == ["b"]


def test_the_search_is_limited_to_what_may_be_seen(path):
    store = Store(connect(path), "m", 2)
    put(store, "secret", [1, 0])
    put(store, "open", [0, 1])
    assert found(store, [1, 0], frozenset({""})) == ["open"]
    assert found(store, [1, 0], frozenset({"private", ""})) == ["secret", "open"]
    assert found(store, [1, 0], frozenset()) == []


def test_an_undone_change_is_forgotten_in_memory_too(path):
    store = Store(connect(path), "m", 2)
    put(store, "a", [1, 0])
    assert found(store, [1, 0]) == ["a"]
    with pytest.raises(ValueError, match="not a usable vector"):
        put(store, "a", [0, 0])
    assert found(store, [1, 0]) == ["a"]


def test_a_file_of_version_3_is_taken_over(path):
    connection = connect(path)
    migrate(connection, "rag", MIGRATIONS[:3])
    connection.execute(
        "INSERT INTO documents (name, path, type, reason, bytes, stamp, sha256, made_by, paged, "
        "ingested_at) VALUES ('a.txt', '/a', 'txt', '', 1, '', '', "
        "'reader 2, all-MiniLM-L6-v2', 0, '')"
    )
    connection.execute("INSERT INTO pages (document_id, number, text) VALUES (1, 1, '锅炉 boiler')")
    vector = np.random.default_rng(1).standard_normal(384).astype("<f4")
    vector /= np.linalg.norm(vector)
    connection.execute(
        "INSERT INTO chunks (document_id, page, start, end, heading, text, embedding) "
        "VALUES (1, 1, 0, 9, '', '锅炉 boiler', ?)",
        (vector.tobytes(),),
    )
    connection.execute(
        "INSERT INTO chunk_vectors (rowid, embedding) VALUES (1, ?)", (vector.tobytes(),)
    )
    connection.close()
    store = Store(connect(path))
    assert store.page("a.txt", 1) == ("锅炉 boiler", 1)
    ((number, cosine),) = store.search_vector(vector, 5)
    assert (number, cosine > 0.9999) == (1, True)
    assert store.table.serving
    record = store.record("/a")
    assert record
    assert record.made_by == "reader 2"
    assert path.with_name(f"hub.db.before-rag-{len(MIGRATIONS)}").is_file()


def test_a_library_without_sentences_goes_on_answering_while_they_are_made(path):
    connection = connect(path)
    store = Store(connection, "m", 16)
    for number, name in enumerate("abc"):
        put(store, name, np.eye(16)[number])
    connection.execute("UPDATE vectors SET sentences = NULL WHERE chunk_id < 3")
    connection.execute("UPDATE embedders SET with_sentences = 0")
    table = store.table
    assert (table.serving, table.complete) == (True, False)
    assert found(store, np.eye(16)[1])[0] == "b"
    assert store.nearest_sentences(np.eye(16, dtype=np.float32)[0], [1, 2, 3]) == {}
    for chunk in store.without_vector(table, 9):
        vector = np.eye(16)[chunk.id - 1]
        store.add_vectors(table, [chunk.id], [made(vector, signs_of(vector[None]))])
    assert found(store, np.eye(16)[1])[0] == "b"
    assert store.switch(table)
    assert table.complete
    assert len(store.search_vector(np.ones(16, np.float32), 9)) == 3  # none of them twice


@given(st.integers(0, 1000), st.sampled_from([8, 70, 384]))
@settings(max_examples=20, deadline=None)
def test_the_nearest_of_each_chunks_sentences_is_told(tmp_path_factory, seed, dimension):
    chance = np.random.default_rng(seed)
    sentences = [chance.standard_normal((n, dimension)).astype(np.float32) for n in (3, 0, 1)]
    store = Store(connect(tmp_path_factory.mktemp("hub") / "hub.db"), "m", dimension)
    for name, of_one in zip("abc", sentences, strict=True):
        put(store, name, np.ones(dimension), signs_of(of_one))
    asked = chance.standard_normal(dimension).astype(np.float32)
    near = store.nearest_sentences(asked, [1, 2, 3, 99])
    unit = asked / np.linalg.norm(asked)
    assert near == pytest.approx(
        {n: likeness(signs_of(sentences[n - 1]), unit).max() for n in (1, 3)}, abs=1e-6
    )
