"""The page for plugin authors is true: its plugin is loaded, understood, and does as it says."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from hubd.assistant.route import Router
from hubd.events import NoticeBoard
from hubd.schedule import Schedule
from hubd.tool_context import Speaker
from hubd.tools import ArgumentsError, ToolBox, sentence_files
from plugins.api import ToolCall, ToolError

PAGE = Path(__file__).parents[2] / "docs/writing-a-plugin.md"


@pytest.fixture
async def plants(tmp_path):
    page = PAGE.read_text(encoding="utf-8")
    code, sentences = (
        re.search(rf"```{kind}\n(.*?)```", page, re.S)[1] for kind in ("python", "yaml")
    )
    (tmp_path / "plants.py").write_text(code)
    (tmp_path / "plants.en.yaml").write_text(sentences)
    spec = importlib.util.spec_from_file_location("plants_of_the_page", tmp_path / "plants.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module.plugin
    del sys.modules[spec.name]


@pytest.fixture
def box(plants, workshop):
    return ToolBox(
        [plants],
        database=workshop.database,
        schedule=Schedule(workshop.database),
        board=NoticeBoard(),
        clock=lambda: workshop.time,
    )


def test_its_sentences_are_understood(plants):
    router = Router(list(plants.tools.values()), sentence_files(plants))
    call = router.route("please water the ficus with two cups", language="en").call
    assert call == ToolCall(tool="plants.water", arguments={"plant": "ficus", "cups": 2})


async def test_its_tool_runs_and_refuses(box):
    async def water(**arguments):
        return await box.call(ToolCall(tool="plants.water", arguments=arguments), Speaker())

    assert (await water(plant="ficus", cups="3")).text == "ficus: 3 cups."
    with pytest.raises(ToolError, match="one cup"):
        await water(plant="cactus", cups=2)
    with pytest.raises(ArgumentsError, match="cups"):
        await water(plant="ficus", cups=9)


def test_its_schema_is_that_of_the_signature(plants):
    schema = plants.tools["plants.water"].parameters
    assert schema["required"] == ["plant"]
    assert schema["properties"]["cups"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 5,
        "default": 1,
    }


def test_the_entry_point_of_the_page_is_the_one_that_is_read():
    from hubd.tools import ENTRY_POINTS

    assert f'[project.entry-points."{ENTRY_POINTS}"]' in PAGE.read_text(encoding="utf-8")
