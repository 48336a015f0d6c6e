"""Questions that papers answer go to the documents, not to the states of things."""

import pytest

QUESTIONS = [
    ("en", "when does the car insurance run out?"),
    ("en", "when is Biscuit's next worm tablet due?"),
    ("en", "when did we buy the washing machine?"),
    ("en", "what temperature is the hot water set to?"),
    ("en", "is the washing machine still under warranty?"),
    ("en", "is the washing machine allowed on at night?"),
    ("en", "how long have I got to get out after the alarm is armed?"),
    ("de", "Ist die Waschmaschine noch in der Garantie?"),
    ("zh", "洗衣机是什么时候买的？"),
    ("zh", "洗衣机还在保修期内吗？"),
]


@pytest.mark.parametrize(("language", "question"), QUESTIONS)
async def test_they_are_left_to_the_documents(make_house, language, question):
    house = await make_house(f"home45.{language}.yaml")
    assert await house.say(question, language=language, area="") is None
    assert house.called == []


@pytest.mark.parametrize(
    ("question", "tool"),
    [
        ("is the washing machine running?", "home.state"),
        ("and what's on the shopping list", "lists.show"),
        ("what is the kitchen radiator set to?", "climate.target"),
    ],
)
async def test_states_are_still_told(make_house, question, tool):
    house = await make_house("home45.en.yaml")
    await house.say(question, area="")
    assert house.called == [tool]
