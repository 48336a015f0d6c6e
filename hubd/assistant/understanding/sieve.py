"""The sentences of a grammar that an utterance may be at all, found by what they must have in them.

hassil goes through all sentences of a file for each utterance and leaves out those whose literal
text is not in it. There are some 1 600 in English and 2 500 in German, and a request that is not
understood is asked about in five forms: with that the grammar was 41 to 54 % of the time of
deciding. Here an index has the sentences of each text, and those that name a thing, a room or
another value of a list come only where one is named. What is left out could not match, as hassil's
own filter has it.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from hassil import Intents
from hassil.expression import (
    Alternative,
    Expression,
    Group,
    ListReference,
    RuleReference,
    Sentence,
)
from hassil.intents import Intent, IntentData, SlotList, TextSlotList
from hassil.util import CJK_WHITESPACE, normalize_for_matching, remove_skip_words_tracked

Clauses = frozenset[frozenset[str]]
"""What a text must have in it: of each set at least one."""
Values = Sequence[Clauses]
"""The same of each value of a list."""
DEEPEST = 24
"""Rules within rules that are looked into, as hassil does."""


class Sieve:
    """The sentences of one intents file, by what an utterance must have in it to be one of them.

    All sentences are parsed here: hassil would do it at the first utterance.
    """

    def __init__(self, intents: Intents) -> None:
        self.intents = intents
        self.intent_names = frozenset(intents.intents)
        self._blocks: list[tuple[str, IntentData]] = []
        self._sentences: list[tuple[int, Sentence, frozenset[str]]] = []
        """Number of the block, sentence, the lists of which it has a value."""
        self._by_text: dict[str, list[int]] = {}
        self._always: list[int] = []
        self._values = values_of(intents.slot_lists)
        for intent in intents.intents.values():
            for data in intent.data:
                self._add(intent.name, data)

    def _add(self, intent: str, data: IntentData) -> None:
        self._blocks.append((intent, data))
        rules = {**self.intents.expansion_rules, **data.expansion_rules}
        for sentence in data.sentences:
            number = len(self._sentences)
            lists = _lists(sentence.expression, rules) - set(data.slot_lists)
            self._sentences.append((len(self._blocks) - 1, sentence, lists))
            clauses = sentence.get_required_clauses(rules)
            if not clauses:
                self._always.append(number)
            for text in min(clauses, key=_commonness, default=()):
                self._by_text.setdefault(text, []).append(number)

    def sifted(self, text: str, named: Mapping[str, Values]) -> Intents | None:
        """The same file with those sentences alone that ``text`` may be; ``None``: it is none.

        named: what the household's lists have, which count where the file has none of that name
        """
        within = _searched(
            text, tuple(self.intents.skip_words), self.intents.settings.ignore_whitespace
        )
        said: dict[str, bool] = {}

        def is_said(name: str) -> bool:
            if name not in said:
                of = self._values if name in self.intents.slot_lists else named
                said[name] = name not in of or any(_has(within, one) for one in of[name])
            return said[name]

        numbers = {n for one, of in self._by_text.items() if one in within for n in of}
        blocks: dict[int, list[Sentence]] = {}
        for number in sorted(numbers.union(self._always)):
            block, sentence, lists = self._sentences[number]
            clauses = sentence.required_clauses or frozenset()
            if _has(within, clauses) and all(map(is_said, lists)):
                blocks.setdefault(block, []).append(sentence)
        return self._with(blocks) if blocks else None

    def _with(self, blocks: Mapping[int, list[Sentence]]) -> Intents:
        intents: dict[str, Intent] = {}
        for number, sentences in blocks.items():
            name, data = self._blocks[number]
            some = copy.copy(data)
            some.__dict__["sentences"] = sentences  # which it would parse from its texts
            intents.setdefault(name, Intent(name)).data.append(some)
        whole = self.intents
        return Intents(
            language=whole.language,
            intents=intents,
            slot_lists=whole.slot_lists,
            expansion_rules=whole.expansion_rules,
            skip_words=whole.skip_words,
            settings=whole.settings,
        )


def values_of(lists: Mapping[str, SlotList]) -> dict[str, Values]:
    """What the values of lists of texts must have in them, by the name of the list."""
    return {name: tuple(_of_values(one)) for name, one in lists.items()
            if isinstance(one, TextSlotList)}  # fmt: skip


def _of_values(one: TextSlotList) -> Iterator[Clauses]:
    for value in one.values:
        yield Sentence(expression=value.text_in).get_required_clauses({})


def _has(within: str, clauses: Clauses) -> bool:
    return all(any(one in within for one in clause) for clause in clauses)


def _commonness(clause: Iterable[str]) -> float:
    """About how likely a text has one of them somewhere: the rarest clause is looked for first."""
    return sum(0.5 ** len(text) for text in clause)


def _lists(expression: Expression, rules: Mapping[str, Sentence], depth: int = 0) -> frozenset[str]:
    """The lists of which each text that matches has a value."""
    if depth > DEEPEST:
        return frozenset()
    if isinstance(expression, ListReference):
        return frozenset({expression.list_name})
    if isinstance(expression, RuleReference):
        rule = rules.get(expression.rule_name)
        return _lists(rule.expression, rules, depth + 1) if rule else frozenset()
    if not isinstance(expression, Group):
        return frozenset()
    of_items = [_lists(item, rules, depth + 1) for item in expression.items]
    if not isinstance(expression, Alternative):
        return frozenset().union(*of_items)
    if expression.is_optional or not of_items:
        return frozenset()
    return frozenset.intersection(*of_items)


@lru_cache(maxsize=64)
def _searched(text: str, skip_words: tuple[str, ...], ignore_whitespace: bool) -> str:
    """``text`` in the forms that hassil compares sentences with, one a line."""
    tracked = normalize_for_matching(text.strip())
    forms = [tracked.text.casefold()]
    if skip_words:
        remove_skip_words_tracked(tracked, skip_words, ignore_whitespace)
        forms.append(tracked.text.casefold())
    if ignore_whitespace:
        forms.append(CJK_WHITESPACE.sub("", "\n".join(forms)))
    return "\n".join(forms)
