"""What is about words and times: the marked examples, and the weights that are fitted to them."""

import pytest

from hubd.assistant.by_likeness.wording import SLOTS
from hubd.assistant.for_later.later import LATER
from hubd.assistant.understanding.likeness import intents_of
from hubd.assistant.understanding.worded import (
    digest_of,
    examples_of,
    model_of,
    parts_in,
    tools_of,
    worded_tools,
)

LANGUAGES = ["en", "de", "zh"]
LEAST = 30


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_weights_are_fitted_to_the_examples_as_they_are(language):
    """Else `python -m bench.fit_worded` has to be run."""
    model = model_of(language)
    assert bytes(model.fitted.made_of) == digest_of(language)
    assert model.tools == tools_of(language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_tool_has_examples_and_is_known(language):
    counts = dict.fromkeys(SLOTS, 0)
    for example in examples_of(language):
        counts[example.tool] = counts.get(example.tool, 0) + 1
    assert min(counts.values()) >= LEAST
    others = {tool for tool in worded_tools(language) if not tool.startswith("none")}
    assert others == {*SLOTS, LATER}
    assert not others & {intent.tool for intent in intents_of(language)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_it_is_about_is_marked_where_the_tool_needs_it(language):
    needed = [one for one in examples_of(language) if one.tool in SLOTS and SLOTS[one.tool].about]
    marked = [one for one in needed if any(one.tags)]
    assert len(marked) >= 0.8 * len(needed)


def test_a_language_without_examples_has_no_model():
    assert model_of("fr") is None
    assert parts_in("ajoute du lait", "lists.add", "fr").about == ()


@pytest.mark.parametrize(
    ("language", "text", "tool", "about", "when"),
    [
        ("en", "pop quinoa and dishcloths on the list, love", "lists.add",
         ("quinoa", "dishcloths"), ()),
        ("de", "Wir brauchen noch Quinoa und Spüllappen vom Markt", "lists.add",
         ("Quinoa", "Spüllappen"), ()),
        ("zh", "把藜麦和抹布加到购物清单里", "lists.add", ("藜麦", "抹布"), ()),
        ("en", "how many grams is seven ounces", "units.convert", ("seven ounces",), ("grams",)),
    ],
)  # fmt: skip
def test_parts_are_found_of_words_that_no_example_has(language, text, tool, about, when):
    found = parts_in(text, tool, language)
    assert (found.about, found.when) == (about, when)
