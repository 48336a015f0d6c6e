"""An answer comes again for the same question over the same text, and for nothing else."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.answers.answer_cache import AnswerCache, asked
from hubd.assistant.answers.ground import Grounded
from hubd.http.metrics import figures
from hubd.http.services import SERVICES
from hubd.settings import Config, Engine
from hubd.turn_events import Citation
from rag.types import Passage

QUOTE = Passage(
    document="lease.docx", page=1, start=4, end=30, text="Notice is six weeks.", score=0.9
)
LEASE = """# Notice

The tenants must give notice of six weeks, by letter to the agent.
"""


def said(text):
    citation = Citation(**msgspec.structs.asdict(QUOTE))
    return (Grounded(text=text, citation=citation),)


@pytest.mark.parametrize(
    "same", ["what is the notice", " What is  the NOTICE?? ", "What is the notice。"]
)
def test_the_same_words_are_the_same_question(same):
    assert asked("m", "What is the notice?", [QUOTE]) == asked("m", same, [QUOTE])


@pytest.mark.parametrize(
    "other",
    [
        asked("other", "What is the notice?", [QUOTE]),
        asked("m", "What is no notice?", [QUOTE]),
        asked("m", "What is the notice?", []),
        asked("m", "What is the notice?", [msgspec.structs.replace(QUOTE, text="Eight weeks.")]),
        asked("m", "What is the notice?", [msgspec.structs.replace(QUOTE, document="old.docx")]),
        asked("m", "What is the notice?", [QUOTE, msgspec.structs.replace(QUOTE, start=90)]),
    ],
)
def test_other_words_another_text_or_another_model_are_another_question(other):
    cache = AnswerCache(9)
    cache.put(asked("m", "What is the notice?", [QUOTE]), said("Six weeks."))
    assert cache.get(other) == ()
    assert (cache.hits, cache.misses) == (0, 1)


@given(st.integers(0, 4), st.lists(st.tuples(st.booleans(), st.integers(0, 6))))
def test_those_used_last_are_kept_and_no_more(size, calls):
    cache, known = AnswerCache(size), []
    for puts, number in calls:
        question = asked("m", f"question {number}", [QUOTE])
        if puts:
            cache.put(question, said(str(number)))
            known = [*(n for n in known if n != number), number][-size:] if size else []
        else:
            found = cache.get(question)
            assert bool(found) == (number in known)
            if found:
                assert found == said(str(number))
                known = [*(n for n in known if n != number), number]


@pytest.fixture
async def hub(open_hub, tmp_path, model_path):
    async with open_hub(
        tmp_path, Config(engine=Engine(model=str(model_path), threads=1))
    ) as client:
        yield client


async def test_a_question_that_comes_again_is_answered_without_the_model(hub):
    services = hub.app[SERVICES]
    lease = services.paths.data / "lease.md"

    async def ask(text, **more):
        return await (await hub.post("/hub/ask", json={"text": text, **more})).json()

    async def written(text):
        lease.write_text(text)
        await services.library.ingest([lease])

    await written(LEASE)
    question = "How much notice must the tenants give?"
    first = await ask(question)
    assert first["timings"]["prompt_tokens"] or first["prompt"], "the model was to be asked"
    again = await ask("how much notice must the tenants give")
    assert [again[key] for key in ("answer", "citations", "refused")] == [
        first[key] for key in ("answer", "citations", "refused")
    ]
    assert again["timings"]["completion_tokens"] is None
    assert services.assistant.answers.hits == 1
    told = {name: samples for name, _, _, samples in await figures(services)}
    assert ("", {"outcome": "hit"}, 1) in told["hubd_answer_cache_total"]

    going_on = await ask(question, conversation=first["conversation"])
    assert services.assistant.answers.hits == 1, "a conversation may make it another question"
    assert "six weeks" in going_on["answer"]
    assert (going_on["left_out"], len(going_on["prompt"])) == (0, 4)
    for left_out in (0, 2):
        last = await ask(question, conversation=first["conversation"])
        assert (last["left_out"], len(last["prompt"])) == (left_out, 6)

    await written(LEASE.replace("six", "eight"))
    changed = await ask(question)
    assert "eight weeks" in changed["answer"]
    assert services.assistant.answers.hits == 1

    assert (await hub.post("/hub/forget", json={"words": "notice"})).status == 200
    await ask(question)
    assert services.assistant.answers.hits == 1
