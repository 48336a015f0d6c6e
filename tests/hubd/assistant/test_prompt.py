"""What never changes comes first, byte for byte; what changes comes last."""

from hypothesis import given
from hypothesis import strategies as st

from engine.protocol import ChatMessage
from hubd.assistant import prompt
from rag.types import Evidence, Passage


def evidence(*texts):
    quotes = [
        Passage(document="d.md", page=None, start=100 * n, end=100 * n + len(t), text=t, score=0.5)
        for n, t in enumerate(texts)
    ]
    return Evidence(quotes=quotes, answerable=0.9)


@given(st.text(), st.text(), st.text(), st.text())
def test_two_questions_share_the_static_part(question, other_question, note, other_note):
    one = prompt.build(question, evidence(note))
    other = prompt.build(other_question, evidence(other_note))
    assert one[0] == other[0] == ChatMessage(role="system", content=prompt.SYSTEM)


def test_notes_stand_in_document_order_whatever_their_rank():
    found = evidence("First on the page.", "Second on the page.")
    reversed_rank = Evidence(quotes=found.quotes[::-1], answerable=0.9)
    assert prompt.build("Why?", found) == prompt.build("Why?", reversed_rank)


def test_the_conversation_stands_between_and_is_bounded():
    history = [ChatMessage(role="user", content=str(n)) for n in range(10)]
    messages = prompt.build("Why?", evidence("Because."), history)
    assert [message.content for message in messages[1:-1]] == ["6", "7", "8", "9"]
    assert messages[-1].content.endswith("Question: Why?")
