"""Chunks embedded as wholes and by sentence."""

import numpy as np

from rag.embed import BATCH
from rag.embed_chunks import MOST_SENTENCES, SENTENCES_AT_ONCE, Text, embed_chunks
from rag.vectors import signs_of


class Recording:
    """Another embedder, and what it was asked for."""

    def __init__(self, embedder):
        self.model, self.dimension = embedder.model, embedder.dimension
        self.requests = []
        self._embedder = embedder

    async def embed(self, texts):
        self.requests.append(list(texts))
        return await self._embedder.embed(texts)


async def test_a_chunk_and_its_sentences(embedder):
    recording = Recording(embedder)
    text = "The pump is blue. The boiler stands in the cellar.\n\n- The valve is on the left"
    (made,) = await embed_chunks(recording, [Text("boiler-manual.txt", "Heating > Pump", text)])
    whole, sentences = recording.requests
    assert whole == [f"boiler manual > Heating > Pump\n{text}"]
    assert sentences == [
        "Pump: The pump is blue.",
        "Pump: The boiler stands in the cellar.",
        "Pump: - The valve is on the left",
    ]
    vectors = await embedder.embed(sentences)
    assert made.sentences == signs_of(vectors)
    assert np.array_equal(made.vector, (await embedder.embed(whole))[0])


async def test_a_chunk_of_one_sentence_is_that_sentence(embedder):
    recording = Recording(embedder)
    (made,) = await embed_chunks(recording, [Text("a.txt", "Pump", "The pump is blue.")])
    assert len(recording.requests) == 1
    assert made.sentences == b""


async def test_what_no_english_question_is_likened_to_has_no_sentences(embedder):
    recording = Recording(embedder)
    (made,) = await embed_chunks(recording, [Text("a.txt", "", "水泵是蓝色的。锅炉在地下室。")])
    assert len(recording.requests) == 1
    assert made.sentences == b""


async def test_a_question_waits_for_no_long_request(embedder):
    recording = Recording(embedder)
    rows = "\n".join(f"- The number {n} is the room of a guest" for n in range(40))
    made = await embed_chunks(recording, [Text("a.txt", "", rows)] * (BATCH + 1))
    assert {len(one.sentences) for one in made} == {MOST_SENTENCES * embedder.dimension // 8}
    sizes = [len(request) for request in recording.requests]
    assert sizes[:2] == [BATCH, 1]
    assert max(sizes[2:]) <= SENTENCES_AT_ONCE


async def test_nothing_is_nothing(embedder):
    assert await embed_chunks(embedder, []) == []
