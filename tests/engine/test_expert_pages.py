"""Of a mixture of experts, only the pages of chosen experts are touched."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.families import CASES, random_model
from bench.gguf_files import write


@pytest.fixture(scope="module")
def mixture(tmp_path_factory):
    path = tmp_path_factory.mktemp("mixture") / "m.gguf"
    write(path, CASES["mixtral"], random_model(CASES["mixtral"]), "Q8_0")
    return path


def decode(path, *arguments):
    return subprocess.run(
        [sys.executable, str(Path(__file__).with_name("expert_pages.py")), str(path), *arguments],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("token", ["3", "40"])
def test_a_token_reads_no_page_of_an_expert_that_is_not_chosen(mixture, token):
    """They may not be read at all, which would end the process."""
    done = decode(mixture, token)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["same"]
    assert told["pages"] > 0
    used = CASES["mixtral"].keys["expert_used_count"]
    assert all(len(set(experts)) == used and min(experts) >= 0 for experts in told["chosen"])


def test_a_page_of_a_chosen_expert_is_read(mixture):
    assert decode(mixture, "3", "and a chosen one").returncode < 0
