"""Only some documents are searched, and of these only what may be seen."""

import pytest


@pytest.fixture
async def papers(library, folder):
    """Three documents that all tell of a lock, one of them in a collection of its own."""
    for name in ("shed", "gate", "safe"):
        text = f"# The {name}\n\nThe code of the {name} is told by Ann. The lock is old.\n"
        (folder / f"{name}.md").write_text(text)
    await library.ingest([folder])
    hidden = folder.parent / "hidden"
    hidden.mkdir()
    (hidden / "vault.md").write_text("# The vault\n\nThe code of the vault. The lock is new.\n")
    await library.ingest([hidden], collection="parents")
    return library


async def test_only_documents_of_these_names_are_found(papers):
    everywhere = await papers.retrieve("Is the lock old?", 9)
    assert len({passage.document for passage in everywhere.passages}) == 4
    there = await papers.retrieve("Is the lock old?", 9, within={"gate.md"})
    assert {passage.document for passage in there.passages} == {"gate.md"}
    assert (await papers.retrieve("Is the lock old?", 9, within=set())).passages == []


async def test_what_may_not_be_seen_is_not_found_there_either(papers):
    seen = await papers.retrieve("lock", 9, visible=frozenset({""}), within={"vault.md", "safe.md"})
    assert {passage.document for passage in seen.passages} == {"safe.md"}
    all_of_it = await papers.retrieve("lock", 9, within={"vault.md"})
    assert {passage.document for passage in all_of_it.passages} == {"vault.md"}


async def test_without_a_shared_word_the_vectors_propose_it(papers):
    found = await papers.retrieve("whatever", 9, within={"safe.md"})
    assert {passage.document for passage in found.passages} == {"safe.md"}
