"""docs/models.md: covers what the code has, and its figures are those of bench/model_table.py."""

import re
from pathlib import Path

import pytest

from bench.families import CASES
from bench.model_table import TABLES, measure_family, measure_format
from engine.architectures import ARCHITECTURES
from engine.formats import FORMATS
from engine.tokenizers.pre_tokenizers import PRE_TOKENIZERS

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text()


def rows(name):
    """The cells of a table, row by row, without its heads."""
    table = re.search(f"<!-- {name} -->(.*?)<!-- end -->", PAGE, re.DOTALL)[1]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_family_format_and_tokenizer_is_there():
    assert {row[0].strip("`") for row in rows("families")} == set(ARCHITECTURES)
    assert [row[1] for row in rows("families") if row[2]] == list(CASES)
    assert [row[0] for row in rows("formats")] == list(FORMATS)
    assert [row[0].strip("`") for row in rows("tokenizers")] == sorted(PRE_TOKENIZERS)
    assert set(TABLES) == {"families", "formats", "tokenizers"}


def test_the_figures_are_within_what_is_promised():
    for row in rows("families"):
        if row[2]:
            assert float(row[2]) < 1e-4, row
            assert float(row[3].split(", ")[1].rstrip("%")) > 99, row
    assert all(row[1] == "yes" for row in rows("tokenizers"))


@pytest.mark.parametrize("name", ["llama", "gemma3"])
def test_a_row_of_the_families_is_measured(tmp_path, name):
    (row,) = [row for row in rows("families") if row[1] == name]
    exact, eight = measure_family(CASES[name], tmp_path, ("F32", "Q8_0"))
    assert exact.error < 1e-4
    assert eight.median == pytest.approx(float(row[3].split(",")[0]), abs=0.005)


@pytest.mark.parametrize("name", FORMATS)
def test_a_qwen2_with_weights_of_any_format_is_computed_right(tmp_path, name):
    """Beside transformers with the same, dequantized weights; and as the page says."""
    (row,) = [row for row in rows("formats") if row[0] == name]
    added, lost = measure_format(name, tmp_path)
    assert added.median < (1e-4 if name == "F32" else 0.03)
    assert added.same is None or added.same > 0.99
    if name != "F32":  # the last bits of float32 are the CPU's
        assert added.median == pytest.approx(float(row[2].split(",")[0]), rel=0.3)
    assert (lost is None) == (row[3] == "–")
    if lost is not None and name != "F32":
        assert lost.median == pytest.approx(float(row[3].split(",")[0]), rel=0.3)
