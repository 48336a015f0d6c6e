"""The section around a hit: its neighbours under the same heading, within bounds."""

from hypothesis import given
from hypothesis import strategies as st

from rag.chunk import count_tokens
from rag.section import Placed, around
from rag.types import Passage

PAGE = "aa bb. cc dd. ee ff. gg hh. ii jj."
CHUNKS = [Placed(at, at + 6, "Bins") for at in (0, 7, 14, 21, 28)]


def hit(chunk: Placed) -> Passage:
    return Passage(
        document="d", page=1, start=chunk.start, end=chunk.end, text=PAGE[chunk.start : chunk.end],
        score=0.5, heading=chunk.heading,
    )  # fmt: skip


def test_neighbours_are_taken_in_turn_until_there_is_no_room():
    three = count_tokens(PAGE[0:6])
    assert around(hit(CHUNKS[2]), PAGE, CHUNKS, room=three).text == "ee ff."
    assert around(hit(CHUNKS[2]), PAGE, CHUNKS, room=2 * three).text == "ee ff. gg hh."
    assert around(hit(CHUNKS[2]), PAGE, CHUNKS, room=3 * three).text == "cc dd. ee ff. gg hh."
    assert around(hit(CHUNKS[4]), PAGE, CHUNKS, room=3 * three).text == "ee ff. gg hh. ii jj."


def test_another_heading_ends_the_section():
    chunks = [*CHUNKS[:2], *(one._replace(heading="Boiler") for one in CHUNKS[2:])]
    assert around(hit(chunks[1]), PAGE, chunks).text == "aa bb. cc dd."
    assert around(hit(chunks[2]), PAGE, chunks).text == "ee ff. gg hh. ii jj."


def test_a_passage_of_a_page_that_changed_stays_as_it_is():
    old = hit(Placed(3, 9, "Bins"))
    assert around(old, PAGE, CHUNKS) is old


@given(
    st.lists(
        st.tuples(st.text("ab. ", min_size=1, max_size=30), st.sampled_from("xy")), max_size=8
    ),
    st.data(),
)
def test_offsets_always_fit_the_text_and_the_bound_holds(pieces, data):
    chunks, page = [], ""
    for text, heading in pieces:
        chunks.append(Placed(len(page), len(page) + len(text), heading))
        page += f"{text}\n"
    if not chunks:
        return
    chunk = data.draw(st.sampled_from(chunks))
    room = data.draw(st.integers(0, 40))
    passage = Passage(
        document="d", page=None, start=chunk.start, end=chunk.end,
        text=page[chunk.start : chunk.end], score=1.0, heading=chunk.heading,
    )  # fmt: skip
    section = around(passage, page, chunks, room)
    assert section.start <= passage.start <= passage.end <= section.end
    assert page[section.start : section.end] == section.text
    inside = [one for one in chunks if section.start <= one.start < section.end]
    assert {one.heading for one in inside} <= {chunk.heading}
    tokens = sum(count_tokens(page[one.start : one.end]) for one in inside)
    assert tokens <= max(room, count_tokens(passage.text))


async def test_the_answer_beside_the_hit_is_read(library, folder):
    filler = "Nothing of that is in this sentence, which only takes room. " * 14
    (folder / "boiler.md").write_text(
        f"# Boiler\n\nError E24 lights up when the boiler has gone out. {filler}\n\n{filler}\n\n"
        "Press the red knob for 5 seconds.\n\n# Oven\n\nPress nothing for 9 seconds.\n"
    )
    await library.ingest([folder])
    passages = await library.retrieve("How many seconds do I press when error E24 lights up?", 1)
    (passage,) = passages.passages
    assert "red knob" not in passage.text
    evidence = await library.evidence("How many seconds is the red knob pressed?", [passage])
    assert "5 seconds" in evidence.quotes[0].text
    page = await library.page("boiler.md")
    quote = evidence.quotes[0]
    assert page.text[quote.start : quote.end] == quote.text
    assert all("nothing for 9" not in one.text for one in evidence.quotes)
