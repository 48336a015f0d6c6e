"""What the sieve leaves out could not match: with it as without it, hassil finds the same."""

import random
from pathlib import Path

import home_assistant_intents
import pytest
import yaml
from hassil import Intents, recognize_all

from hubd.assistant.evaluate import samples
from hubd.assistant.understanding.data_files import values
from hubd.assistant.understanding.grammar import LANGUAGES, SOMEWHERE, Grammar, keep_signs_apart
from hubd.assistant.understanding.names import Names
from hubd.assistant.understanding.sieve import Sieve
from hubd.home.file import read_description
from hubd.tools import find_plugins, sentence_files

DATA = Path(__file__).parents[3] / "data/assistant"
SAID = 40
"""Utterances of each file: without the sieve, all files take 15 ms for one."""


def intents_of(language):
    """Home Assistant's sentences, then each file of ours."""
    files = [path for one in find_plugins() for path in sentence_files(one)]
    ours = [path for path in files if path.suffixes[-2] == f".{language}"]
    shared = Intents.from_dict(home_assistant_intents.get_intents(LANGUAGES[language]))
    keep_signs_apart(shared)  # what hassil keeps of its ranges stays in the process
    return [shared, *(Intents.from_dict(values(path.read_text("utf-8"))) for path in ours)]


def found(text, intents, names, language):
    """Everything that hassil finds, in its order."""
    lists = {n: v for n, v in names.slot_lists.items() if n not in intents.slot_lists}
    results = recognize_all(
        text,
        intents,
        slot_lists=lists,
        intent_context={"area": SOMEWHERE},
        language=LANGUAGES[language],
    )
    return [
        (
            one.intent.name,
            one.intent_sentence.text if one.intent_sentence else None,
            {name: (entity.value, entity.text) for name, entity in one.entities.items()},
        )
        for one in results
    ]


def shuffled(text, chance):
    """The words, or characters, of what somebody said in another order."""
    parts = text.split() if " " in text else list(text)
    chance.shuffle(parts)
    return (" " if " " in text else "").join(parts)


@pytest.mark.parametrize(
    ("language", "sets"),
    [("en", ("held_out", "strangers45")), ("de", ("held_out", "strangers44")),
     ("zh", ("held_out", "strangers46"))],
)  # fmt: skip
def test_nothing_is_lost(language, sets):
    chance, all_intents = random.Random(7), intents_of(language)
    sieves = [Sieve(intents) for intents in all_intents]
    matched = left_out = 0
    for name in sets:
        data = yaml.safe_load((DATA / f"{name}.{language}.yaml").read_text("utf-8"))
        names = Names(read_description((DATA / data["home"]).read_text("utf-8")))
        said = [one.text for one in chance.sample(samples(data), SAID)]
        for text in [*said, *(shuffled(one, chance) for one in said[: SAID // 4])]:
            for sieve, intents in zip(sieves, all_intents, strict=True):
                some = sieve.sifted(text, names.values)
                expected = found(text, intents, names, language)
                assert (found(text, some, names, language) if some else []) == expected, text
                matched += bool(expected)
                left_out += some is None
    assert matched > SAID / 2
    assert left_out > SAID  # and most files need not be looked at


def sifted(sentences, text, rules=None, lists=None, **named):
    """The sentences that are left of some for ``text``."""
    intents = Intents.from_dict({
        "language": "en",
        "intents": {"x": {"data": [{"sentences": sentences}]}},
        "expansion_rules": rules or {},
        "lists": lists or {},
    })  # fmt: skip
    some = Sieve(intents).sifted(text, named)
    return (
        [s.text for i in some.intents.values() for d in i.data for s in d.sentences] if some else []
    )


def test_a_sentence_that_names_a_thing_comes_where_one_is_named():
    names = Names(read_description(
        "entities: [{id: light.x, name: Reading lamp, aliases: [Leselampe], state: 'off'}]"
    ))  # fmt: skip
    sentences = ["dim {name}", "dim [the {name}]", "dim (it|{name})", "dim <thing>"]
    rules = {"thing": "[the] {name}"}
    assert sifted(sentences, "dim the READING-lamp", rules, **names.values) == sentences
    assert sifted(sentences, "Leselampe: dim", rules, **names.values) == sentences
    assert sifted(sentences, "dim it", rules, **names.values) == sentences[1:3]
    assert sifted(sentences, "light it", rules, **names.values) == []


def test_a_list_of_the_file_comes_before_the_household_s_of_that_name():
    names = Names(read_description("entities: [{id: light.x, name: Lamp, state: 'off'}]"))
    anything = {"name": {"wildcard": True}}
    assert sifted(["start {name}"], "start the eggs", None, anything, **names.values)
    assert not sifted(["start {name}"], "start the eggs", None, None, **names.values)
    eggs = {"name": {"values": ["eggs"]}}
    assert sifted(["start {name}"], "start the eggs", None, eggs, **names.values)


def test_how_a_reading_is_chosen_depends_on_the_whole_file(tmp_path):
    """That with the least free text, where any tool of the file looks at what it is told."""
    file = tmp_path / "calls.en.yaml"
    file.write_text(
        """
        language: en
        intents:
          calls.make:
            data: [{sentences: ["call {who}", "call {who} until {end}"]}]
          calls.list:
            data: [{sentences: ["list {what}"]}]
        lists: {who: {wildcard: true}, end: {wildcard: true}, what: {wildcard: true}}
        """,
        encoding="utf-8",
    )
    names, fits = Names(read_description("{}")), {"calls.list": lambda told, language: True}
    match = Grammar("en", [file]).match("call the office until five", names, fits=fits)
    assert match.slots == {"who": "the office", "end": "five"}


def test_what_is_skipped_or_between_characters_parts_no_words():
    intents = Intents.from_dict({
        "language": "zh",
        "settings": {"ignore_whitespace": True},
        "skip_words": ["请"],
        "intents": {"x": {"data": [{"sentences": ["打开灯"]}]}},
    })  # fmt: skip
    for text in ("打开请灯", "打 开 灯", "打开 请灯"):
        some = Sieve(intents).sifted(text, {})
        assert some is not None
        assert [one.intent.name for one in recognize_all(text, some)] == ["x"]
