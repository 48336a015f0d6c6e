import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.chunk import TARGET_TOKENS, chunks_of, count_tokens
from rag.loaders.markdown import blocks as markdown_blocks
from rag.loaders.page import Block, LoadedDocument, PageContent
from rag.loaders.text import blocks as text_blocks

LINES = st.sampled_from(
    [
        *("# Boiler", "## Codes", "Heading\n=======", "- an item", "  - an inner item", "1. first"),
        *("| a | b |\n|---|---|\n| c | d |", "```\n# not a heading\n```", "", "   ", "> a quote"),
        *("A sentence. Another one! A third?", "word " * 300, "锅炉压力低于零点八巴时停机。" * 30),
        *("x" * 3000, "---\ntitle: a\n---", "<b>html</b>", "\t code", "\x0b", "\u2028", "\u3000"),
    ]
)
SOURCES = st.one_of(st.text(), st.lists(LINES).map("\n".join), st.lists(LINES).map("\n\n".join))


def document(*pages: PageContent) -> LoadedDocument:
    return LoadedDocument("md", list(pages))


def chunks(text: str):
    return list(chunks_of(document(PageContent(text, markdown_blocks(text)))))


@given(st.lists(SOURCES, min_size=1, max_size=3), st.sampled_from([markdown_blocks, text_blocks]))
def test_chunks_cover_all_text_once_and_in_order(sources, blocks):
    pages = [PageContent(text, blocks(text)) for text in sources]
    found = list(chunks_of(document(*pages)))
    assert [c.page for c in found] == sorted(c.page for c in found)
    for number, page in enumerate(pages, start=1):
        position = 0
        for chunk in (c for c in found if c.page == number):
            assert page.text[chunk.start : chunk.end] == chunk.text
            assert chunk.text == chunk.text.strip() != ""
            assert chunk.start >= position
            assert not page.text[position : chunk.start].strip()
            assert count_tokens(chunk.text) <= TARGET_TOKENS
            position = chunk.end
        assert not page.text[position:].strip()


@given(
    st.text(max_size=60),
    st.lists(
        st.tuples(
            st.sampled_from(["heading", "paragraph", "item", "row"]),
            st.integers(-5, 70),
            st.integers(-5, 70),
            st.integers(0, 6),
        )
    ),
)
def test_a_loader_with_wrong_blocks_loses_no_text(text, blocks):
    page = PageContent(text, [Block(*block, "title") for block in blocks])
    covered = "".join(c.text for c in chunks_of(document(page)))
    assert "".join(covered.split()) == "".join(text.split())


def test_headings_make_the_path_and_begin_chunks():
    found = chunks(
        "intro\n\n# House\n\n## Boiler\n\nIt hums.\n\n## Oven\n\nIt bakes.\n\n# Car\n\nRed."
    )
    assert [(c.heading, c.text) for c in found] == [
        ("", "intro"),
        ("House > Boiler", "# House\n\n## Boiler\n\nIt hums."),
        ("House > Oven", "## Oven\n\nIt bakes."),
        ("Car", "# Car\n\nRed."),
    ]


def test_the_heading_path_goes_on_to_the_next_page_and_chunks_do_not():
    first = PageContent("Errors", [Block("heading", 0, 6, 1, "Errors")])
    second = PageContent("F22 low pressure")
    found = list(chunks_of(document(first, second)))
    assert [(c.page, c.heading, c.text) for c in found] == [
        (1, "Errors", "Errors"),
        (2, "Errors", "F22 low pressure"),
    ]


def test_items_and_rows_stay_whole():
    rows = [f"| E{n:02} | {'some words about it ' * 8}|" for n in range(30)]
    text = "| code | meaning |\n|---|---|\n" + "\n".join(rows)
    found = chunks(text)
    assert len(found) > 3
    for row in rows:
        assert sum(row in chunk.text for chunk in found) == 1


def test_a_long_paragraph_is_cut_between_sentences():
    sentence = "The valve behind the left panel must be opened by hand before the pump starts."
    found = chunks(" ".join([sentence] * 40))
    assert len(found) > 2
    assert all(c.text.startswith("The valve") and c.text.endswith("starts.") for c in found)
    sizes = [count_tokens(c.text) for c in found]
    assert max(sizes) <= TARGET_TOKENS
    assert min(sizes) >= max(sizes) / 2, "chunks of a section are about equal"


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("锅炉压力", 4), ("F22, at once.", 5), ("dishwasher", 2)]
)
def test_tokens_are_counted_about_as_the_encoder_does(text, tokens):
    assert count_tokens(text) == tokens
