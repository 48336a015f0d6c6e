"""Kernels compiled by a child: found by this process, once, and without it all the same."""

import os
import subprocess
import sys

import pytest

from engine.kernels import compiling
from engine.kernels.elementwise import keep_rows

LOAD = """
import sys
from engine.kernels import compiling, dispatch
from engine.kernels.elementwise import keep_rows
told = []
compiling.fill_cache([keep_rows], told.append)
if "again" in sys.argv:
    compiling.subprocess.Popen = None  # nothing is to be started
    compiling.fill_cache([keep_rows], told.append)
dispatch.compile_operation(keep_rows)
print(len(told), dispatch._compiled(keep_rows, dispatch.choose_path()).cache_hits)
"""


def run(tmp_path, *arguments, **environment):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **environment}
    command = [sys.executable, "-c", LOAD, *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=120
    )


def test_the_child_compiles_and_this_process_loads(tmp_path):
    assert run(tmp_path, "again").stdout == "3 1\n"  # keep_rows and what the threads run
    assert run(tmp_path).stdout == "0 1\n"


def test_a_child_that_fails_is_told_and_costs_only_time(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(compiling.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling.sys, "executable", "/bin/false")
    compiling.fill_cache([keep_rows], lambda fraction: None)
    assert "has ended with 1" in caplog.text
    monkeypatch.setattr(compiling.sys, "executable", str(tmp_path / "none"))
    compiling.fill_cache([keep_rows], lambda fraction: None)
    assert "no process" in caplog.text


def test_without_a_cache_nothing_is_started(monkeypatch):
    monkeypatch.setattr(compiling.config, "CACHE_DIR", "")
    monkeypatch.setattr(compiling.subprocess, "Popen", pytest.fail)
    compiling.fill_cache([keep_rows], pytest.fail)


def test_another_source_is_another_mark(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling.config, "CACHE_DIR", str(tmp_path))
    before = compiling._mark(keep_rows)
    compiling._circumstances.cache_clear()
    monkeypatch.setattr(compiling, "source_hash", lambda: "changed")
    assert compiling._mark(keep_rows) != before
    compiling._circumstances.cache_clear()
