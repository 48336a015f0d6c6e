"""docs/models.md: covers what the code has, and its figures are those of bench/model_table.py."""

import re
from pathlib import Path

import pytest

from bench.families import CASES
from bench.model_table import TABLES, VOCABULARIES, added_error, lost_error
from engine.architectures import ARCHITECTURES
from engine.formats import FORMATS
from engine.tokenizers.pre_tokenizers import PRE_TOKENIZERS

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
FILES = [
    (name, tokenizer)
    for name, case in CASES.items()
    for tokenizer in VOCABULARIES[case.architecture]
]


def rows(name):
    """The cells of a table, row by row, its heads first."""
    table = re.search(f"<!-- {name} -->(.*?)<!-- end -->", PAGE, re.DOTALL)[1]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def share(cell):
    return float(cell.removesuffix("%")) / 100


def test_every_family_format_and_tokenizer_is_there():
    heads, _, *families = rows("families")
    assert heads[4:] == list(FORMATS)
    assert [(row[1], row[2]) for row in families] == FILES
    covered = {row[0].strip("`") for row in families}
    assert covered == set(ARCHITECTURES) - {"bitnet-25"}, "which is bitnet-b1.58 by another name"
    assert ARCHITECTURES["bitnet-25"] is ARCHITECTURES["bitnet-b1.58"]
    assert [row[0] for row in rows("formats")[2:]] == list(FORMATS)
    tokenizers = [row[0].strip("`") for row in rows("tokenizers")[2:]]
    assert tokenizers == ["SentencePiece", *sorted(PRE_TOKENIZERS)]
    assert set(TABLES) == {"families", "formats", "tokenizers"}


def test_the_figures_are_within_what_is_promised():
    for row in rows("families")[2:]:
        assert row[3] == "100%", row
        assert float(row[4]) < 1e-4, row
        assert max(map(share, row[5:])) < 0.05, row
    assert all(row[1] == "yes" for row in rows("tokenizers")[2:])


@pytest.mark.parametrize("place", range(len(FILES)))
def test_a_cell_of_every_row_is_measured(tmp_path, place):
    """Another format in every row, so that all of them are in it; F32 is in test_families."""
    name, tokenizer = FILES[place]
    kind = list(FORMATS)[1:][place % (len(FORMATS) - 1)]
    row = rows("families")[2 + place]
    found = added_error(name, kind, tokenizer, tmp_path)
    assert found < 0.05
    assert found == pytest.approx(share(row[4 + list(FORMATS).index(kind)]), rel=0.3)


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_format_loses_is_measured(tmp_path, name):
    (row,) = [row for row in rows("formats")[2:] if row[0] == name]
    lost = lost_error(name, tmp_path)
    assert (lost is None) == (row[2] == "–")
    if lost is not None and name != "F32":  # the last bits of float32 are the CPU's
        assert lost == pytest.approx(share(row[2]), rel=0.3)
