"""A whole turn through the application: a command that no rule knows, with the real model."""

import asyncio

import pytest

from hubd.assistant.questions import ask
from hubd.http.services import SERVICES
from hubd.settings import Config, Engine
from rag.evidence import verdict


@pytest.fixture
async def hub(open_hub, tmp_path, model_path, assistant_data, monkeypatch):
    monkeypatch.setattr("hubd.assistant.tool_loop.agent.LIMIT_S", 240.0)
    config = Config(engine=Engine(model=str(model_path), threads=1))
    async with open_hub(tmp_path, config) as client:
        home = (assistant_data / "home.en.yaml").read_text(encoding="utf-8")
        await client.app[SERVICES].described.load(home)
        yield client


async def test_a_command_no_rule_knows_is_done_or_declined_and_never_read_from_a_document(hub):
    oven = "Make the oven dark: make it dark with the light key of the oven, then it is dark."
    manual = hub.app[SERVICES].paths.data / "oven.md"
    manual.write_text(oven)
    await hub.app[SERVICES].library.ingest([manual])

    async def asked(text):
        body = {"text": text, "area": "living_room"}
        return await (await hub.post("/hub/ask", json=body)).json()

    declined = await asked("make me a sandwich")
    assert declined["actions"] == []
    assert "no hands" in declined["answer"]
    dark = await asked("make it dark")
    assert dark["citations"] == []
    assert "oven" not in dark["answer"]
    done = await asked("make the desk lamp go dark")
    assert [a["arguments"] for a in done["actions"]] == [{"entities": ["light.desk_lamp"]}]
    states = {e.id: e.state for e in hub.app[SERVICES].household.snapshot().entities}
    assert states["light.desk_lamp"] == "off"


async def test_an_answer_is_said_again_with_its_source(open_hub, tmp_path):
    async with open_hub(tmp_path, Config()) as client:
        page = client.app[SERVICES].paths.data / "boiler.md"
        page.write_text("# Boiler\n\nThe boiler is serviced every year in May by Ravi.\n")
        await client.app[SERVICES].library.ingest([page])

        async def asked(text, conversation="kitchen"):
            body = {"text": text, "conversation": conversation}
            return await (await client.post("/hub/ask", json=body)).json()

        assert (await asked("say that again"))["answer"] == ask("en", "nothing_said")
        first = await asked("When is the boiler serviced?")
        again = await asked("Sorry, what did you say?")
        assert again["answer"] == first["answer"]
        assert again["citations"] == first["citations"] != []
        assert (await asked("repeat that", "hall"))["answer"] == ask("en", "nothing_said")


async def test_a_refusal_quotes_what_comes_closest_and_nothing_where_nothing_does(
    open_hub, tmp_path
):
    papers = tmp_path / "papers"
    papers.mkdir()
    page = "# Boiler\n\nIf it needs topping up every month there is a leak; call Ravi.\n"
    (papers / "boiler.md").write_text(page)
    async with open_hub(tmp_path / "home") as client:
        library = client.app[SERVICES].library
        await library.ingest([papers])
        verdicts = []
        for question in (
            "Who is called when there is a leak in the boiler?",
            "Who drains the boiler?",
            "What colour is the neighbour's car?",
        ):
            found = await library.evidence(question, (await library.retrieve(question)).passages)
            verdicts.append(verdict(found))
            done = await (await client.post("/hub/ask", json={"text": question})).json()
            assert done["refused"] == (verdicts[-1] != "answers")
            cited = [done["answer"][c["answer_start"] : c["answer_end"]] for c in done["citations"]]
            quote = "“If it needs topping up every month there is a leak; call Ravi.”"
            if verdicts[-1] == "close":
                assert cited == [quote]
                assert done["answer"] == f"{ask('en', 'closest', said='boiler.md')} {quote}"
            if verdicts[-1] == "nothing":
                assert (cited, done["answer"]) == ([], ask("en", "not_told"))
        assert verdicts == ["answers", "close", "nothing"]


async def test_while_documents_are_being_read_a_refusal_says_so(open_hub, tmp_path):
    papers = tmp_path / "papers"
    papers.mkdir()
    for name in ("boiler", "lease"):
        (papers / f"{name}.md").write_text(f"# The {name}\n\nThe {name} is old.\n")
    async with open_hub(tmp_path / "home") as client:
        library = client.app[SERVICES].library
        go_on = asyncio.Event()
        reading = asyncio.create_task(library.ingest([papers], wait_until_idle=go_on.wait))
        while not library.coming():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)

        async def asked():
            body = {"text": "What colour is the neighbour's car?"}
            return (await (await client.post("/hub/ask", json=body)).json())["answer"]

        assert await asked() == ask("en", "not_told") + ask("en", "being_read", said="2")
        go_on.set()
        await reading
        assert await asked() == ask("en", "not_told")


async def test_a_question_that_leans_on_the_one_before_is_answered(open_hub, tmp_path):
    papers = tmp_path / "papers"
    papers.mkdir()
    for name, day in (("lease", "31 March 2029"), ("gym", "4 May 2027")):
        page = f"# The {name}\n\nThe {name} costs 90 pounds. The {name} ends on {day}.\n"
        (papers / f"{name}.md").write_text(page)
    async with open_hub(tmp_path / "home") as client:
        await client.app[SERVICES].library.ingest([papers])

        async def asked(text, conversation):
            body = {"text": text, "conversation": conversation}
            return (await (await client.post("/hub/ask", json=body)).json())["answer"]

        assert "90 pounds" in await asked("How much does the lease cost?", "one")
        assert "31 March 2029" in await asked("and when does it end?", "one")
        assert "4 May 2027" in await asked("What about the gym?", "one")
        neither = await asked("and when does it end?", "two")
        assert ("31 March 2029" in neither) == ("4 May 2027" in neither)
