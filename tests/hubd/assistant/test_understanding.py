"""How much is understood: our paraphrases by style, and Home Assistant's corpus if it is there."""

import json
from pathlib import Path

import msgspec
import pytest
import yaml

from hubd.assistant.evaluate import corpus_home, corpus_verdict, counted, judged, samples
from hubd.assistant.route import Router
from hubd.home.model import Snapshot
from hubd.tools import find_plugins, sentence_files

EVAL = Path(__file__).parents[4] / "shared/eval"
SENTENCES_A_LANGUAGE = 60


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_paraphrases_are_understood_and_nothing_does_the_opposite(
    real_router, assistant_data, language
):
    data = yaml.safe_load((assistant_data / f"paraphrases.{language}.yaml").read_text("utf-8"))
    router = real_router(data["home"])
    outcomes = [
        judged(s, router.route(s.text, language=data["language"], area=data["area"]))
        for s in samples(data)
    ]
    counts = counted(outcomes)
    assert counts["opposite"] == 0
    assert counts["wrong"] + counts["worded"] <= 0.02 * len(outcomes)
    assert counts["right"] >= 0.94 * len(outcomes)


@pytest.mark.parametrize("language", ["en", "de", "zh-CN"])
def test_a_part_of_the_corpus_is_understood_exactly(language):
    file = EVAL / f"intents_{language}.jsonl"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    fixtures = json.loads((EVAL / f"fixtures_{language}.json").read_bytes())
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    rows = rows[:: max(1, len(rows) // SENTENCES_A_LANGUAGE)]
    plugins = find_plugins()
    tools = [tool for plugin in plugins for tool in plugin.tools.values()]
    files = [path for plugin in plugins for path in sentence_files(plugin)]
    home = Snapshot()
    router = Router(tools, files, lambda: home)
    verdicts = []
    for version, row in enumerate(rows, start=1):
        home = msgspec.structs.replace(corpus_home(fixtures[row["fixture"]]), version=version)
        area = row["context"].get("area", "")
        area = "" if area == "__context_area__" else area
        decision = router.route(row["sentence"], language=language, area=area)
        verdicts.append(corpus_verdict(row, decision))
    assert sum(verdict.intent for verdict in verdicts) >= 0.99 * len(verdicts)
    assert sum(verdict.exact for verdict in verdicts) >= 0.97 * len(verdicts)
