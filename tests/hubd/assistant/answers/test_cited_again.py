"""A follow-up question is asked of the documents that were cited before all others."""

import pytest

from hubd.assistant.answers.cited_again import answered_there
from hubd.assistant.answers.query_rewriting import asked
from hubd.http.services import SERVICES
from rag.types import Passage

PAPERS = {
    "bread.md": "# Bread\n\nBake the bread at 220 °C for 45 minutes.\n",
    "pool.md": "# Pool\n\nThe pool is heated to 26 °C. Swim for 20 minutes at most.\n",
}


@pytest.fixture
async def library(open_hub, tmp_path):
    papers = tmp_path / "papers"
    papers.mkdir()
    for name, text in PAPERS.items():
        (papers / name).write_text(text)
    async with open_hub(tmp_path / "home") as client:
        library = client.app[SERVICES].library
        await library.ingest([papers])
        yield library


def cited(document):
    return [Passage(document=document, page=None, start=0, end=9, text="", score=0.9)]


async def test_it_is_answered_from_the_document_that_was_cited(library):
    for document, minutes in (("bread.md", "45"), ("pool.md", "20")):
        topic = document.removesuffix(".md")
        follow_up = asked("and how long?", [f"How hot is the {topic}?"])
        found = await answered_there(library, follow_up, cited(document), 5, None)
        assert found is not None
        assert minutes in found[1].quotes[0].text


async def test_what_stands_alone_or_is_not_answered_there_is_not(library):
    alone = asked("How long is the pool open in the winter holidays?", ["How hot is the bread?"])
    assert await answered_there(library, alone, cited("bread.md"), 5, None) is None
    not_told = asked("and who sells it?", ["How hot is the bread?"])
    assert await answered_there(library, not_told, cited("bread.md"), 5, None) is None
    follow_up = asked("and how long?", ["How hot is the bread?"])
    assert await answered_there(library, follow_up, [], 5, None) is None
    nobody = frozenset[str]()
    assert await answered_there(library, follow_up, cited("bread.md"), 5, nobody) is None
