"""The same words in several documents are shown once, with all their names."""

from rag.duplicates import merged
from rag.types import Passage


def passage(document: str, text: str, score: float = 0.5) -> Passage:
    return Passage(document=document, page=None, start=0, end=len(text), text=text, score=score)


def test_each_text_is_kept_once_where_it_was_best():
    found = merged(
        [
            passage("a.md", "Bins on\nTuesday.", 0.9),
            passage("b.md", "Glass on Friday.", 0.8),
            passage("c.md", "Bins  on Tuesday. ", 0.7),
            passage("d.md", "Bins on Tuesday.", 0.6),
        ]
    )
    assert [(one.document, one.also_in, one.score) for one in found] == [
        ("a.md", ["c.md", "d.md"], 0.9),
        ("b.md", [], 0.8),
    ]


def test_a_document_that_says_it_twice_does_not_name_itself():
    found = merged(
        [passage("a.md", "Twice."), passage("a.md", "Twice."), passage("b.md", "Twice.")]
    )
    assert [(one.document, one.also_in) for one in found] == [("a.md", ["b.md"])]


async def test_two_files_with_the_same_text_leave_room_for_others(library, folder):
    text = "The paper bin is collected every second Tuesday."
    (folder / "bins.md").write_text(text)
    (folder / "copy-of-bins.txt").write_text(f"{text}\n")
    (folder / "glass.md").write_text("The glass bin is collected on Fridays.")
    await library.ingest([folder])
    passages = (await library.retrieve("When is the paper bin collected?", 2)).passages
    assert {passages[0].document, *passages[0].also_in} == {"bins.md", "copy-of-bins.txt"}
    assert passages[1].document == "glass.md"
    evidence = await library.evidence("When is the paper bin collected?", passages)
    assert evidence.quotes[0].also_in == passages[0].also_in


async def test_a_copy_that_one_may_not_see_is_not_named(library, folder, tmp_path):
    private = tmp_path / "private"
    private.mkdir()
    for place in (folder, private):
        (place / f"of-{place.name}.md").write_text("The bin is collected on Tuesday.")
    await library.ingest([folder], collection="")
    await library.ingest([private], collection="parents")
    seen = await library.retrieve("When is the bin collected?", visible=frozenset({""}))
    assert [(one.document, one.also_in) for one in seen.passages] == [("of-papers.md", [])]
    everything = await library.retrieve("When is the bin collected?")
    assert len(everything.passages) == 1
    assert len(everything.passages[0].also_in) == 1
