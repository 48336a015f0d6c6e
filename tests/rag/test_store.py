import numpy as np
import pytest

from rag.db import connect
from rag.embed import DIMENSION
from rag.language import fts_query
from rag.store import NewChunk, Record, Store
from rag.vectors import Embedded


@pytest.fixture
def connection(tmp_path):
    connection = connect(tmp_path / "hub.db")
    yield connection
    connection.close()


@pytest.fixture
def store(connection) -> Store:
    return Store(connection)


def unit(*parts: tuple[int, float]) -> np.ndarray:
    vector = np.zeros(DIMENSION, np.float32)
    for axis, value in parts:
        vector[axis] = value
    return vector / np.linalg.norm(vector)


def put(store: Store, name: str, texts: list[str], *, paged=True, path=None, heading="") -> Record:
    """A document with one chunk a page; the vector of chunk ``i`` lies along axis ``i``."""
    record = Record(
        name=name,
        path=path or f"/papers/{name}",
        type="pdf",
        bytes=10,
        stamp="10:1:1",
        sha256="ab",
        made_by="test",
        ingested_at="2026-01-01T00:00:00+00:00",
        paged=paged,
    )
    chunks = [
        NewChunk(number, 0, len(text), text, heading, Embedded(unit((number - 1, 1.0)), b""))
        for number, text in enumerate(texts, start=1)
    ]
    store.replace(record, texts, chunks)
    return record


def found(store: Store, question: str) -> list[str]:
    ids = [chunk for chunk, _ in store.search_text(fts_query(question), 10)]
    chunks = store.chunks(ids)
    return [chunks[chunk].text for chunk in ids]


def test_text_is_found_by_stem_heading_name_and_chinese(store):
    put(store, "oven-manual.pdf", ["The filters are blocked", "Über die Tür"], heading="Cleaning")
    put(store, "notes.pdf", ["锅炉压力低于零点八巴"])
    assert found(store, "blocking a filter") == ["The filters are blocked"]
    assert found(store, "uber")[0] == "Über die Tür"
    assert len(found(store, "oven")) == len(found(store, "cleaned")) == 2
    assert found(store, "压力是多少") == ["锅炉压力低于零点八巴"]
    assert found(store, "dishwasher") == []
    assert store.search_text("", 5) == []


def test_scores_are_higher_for_better_and_best_first(store):
    put(store, "a.pdf", ["pump", "pump and many other words about the garden and the house", "x"])
    ids_and_scores = store.search_text('"pump"', 5)
    assert [score for _, score in ids_and_scores] == sorted(
        (score for _, score in ids_and_scores), reverse=True
    )
    assert store.chunks([ids_and_scores[0][0]])[ids_and_scores[0][0]].text == "pump"
    assert len(store.search_text('"pump"', 1)) == 1


def test_vectors_are_found_by_cosine(store):
    put(store, "a.pdf", ["zero", "one", "two"])
    hits = store.search_vector(unit((1, 0.8), (2, 0.6)), 2)
    chunks = store.chunks([chunk for chunk, _ in hits])
    assert [chunks[chunk].text for chunk, _ in hits] == ["one", "two"]
    assert [score for _, score in hits] == pytest.approx([0.8, 0.6], abs=3e-3)
    assert len(store.search_vector(unit((0, 1.0)), 1_000_000)) == 3
    assert store.vectors([hits[0][0]])[hits[0][0]] == pytest.approx(unit((1, 1.0)))


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_an_unusable_vector_is_refused_and_nothing_is_stored(store, bad):
    record = put(store, "a.pdf", ["before"])
    vector = np.full(DIMENSION, bad, np.float32)
    with pytest.raises(ValueError, match="not a usable vector"):
        store.replace(record, ["after"], [NewChunk(1, 0, 5, "after", "", Embedded(vector, b""))])
    assert found(store, "before") == ["before"]
    with pytest.raises(ValueError, match="not a usable vector"):
        store.search_vector(vector, 5)


def test_chunks_know_their_page_only_where_there_are_pages(store):
    put(store, "a.pdf", ["words of a"])
    put(store, "b.md", ["words of b"], paged=False)
    ids = [chunk for chunk, _ in store.search_text('"words"', 5)]
    pages = {chunk.document: chunk.page for chunk in store.chunks(ids).values()}
    assert pages == {"a.pdf": 1, "b.md": None}
    assert store.chunks([999]) == {}


def test_replacing_leaves_nothing_of_the_old_in_any_index(store, connection):
    record = put(store, "a.pdf", ["old words", "more old words"])
    put(store, "a.pdf", ["new words"])
    assert found(store, "old") == []
    assert len(store.search_vector(unit((0, 1.0)), 10)) == 1
    assert store.chunk_count() == 1
    assert store.page("a.pdf", 1) == ("new words", 1)
    assert store.page("a.pdf", 2) is None
    assert store.remove("a.pdf")
    assert not store.remove("a.pdf")
    assert store.record(record.path) is None
    for table in ("documents", "pages", "chunks", "chunk_text", "vectors"):
        assert connection.execute(f"SELECT count(*) FROM {table}").get == 0


def test_a_name_moves_with_its_document(store):
    put(store, "a.pdf", ["first"], path="/uploads/1")
    put(store, "a.pdf", ["second"], path="/uploads/2")
    assert [record.path for record in store.records()] == ["/uploads/2"]


def test_records_come_back_as_they_were(store):
    record = put(store, "b.pdf", ["x", "y"])
    put(store, "a.pdf", ["z"])
    assert store.record(record.path) == store.record_named("b.pdf") == record
    assert [(e.record.name, e.pages, e.chunks) for e in store.listings()] == [
        ("a.pdf", 1, 1),
        ("b.pdf", 2, 2),
    ]
    store.touch(record.path, "10:2:2", 7)
    again = store.record(record.path)
    assert (again.stamp, again.device) == ("10:2:2", 7)


def test_the_full_text_index_can_be_made_again(store, connection):
    put(store, "a.pdf", ["the pump", "the valve"], heading="Boiler")
    text = store.search_text('"boiler" OR "pump"', 5)
    connection.execute("INSERT INTO chunk_text (chunk_text) VALUES ('delete-all')")
    assert store.search_text('"pump"', 5) == []
    store.rebuild()
    store.rebuild()
    assert store.search_text('"boiler" OR "pump"', 5) == text


def test_a_store_is_opened_again(tmp_path):
    for _ in range(2):
        connection = connect(tmp_path / "other.db")
        put(Store(connection), "a.pdf", ["words"])
        connection.close()
    connection = connect(tmp_path / "other.db")
    assert found(Store(connection), "word") == ["words"]
    connection.close()
