"""The command line without a daemon: quick, plain, and never a traceback."""

import os
import socket
import statistics
import subprocess
import sys
import time

import numpy as np
import pytest

from engine.gguf import GGUFFile
from engine.gguf_writer import NewTensor, pair, write_gguf
from engine.quantize import FILE_TYPES

COMMANDS_FOR_THE_DAEMON = [
    ["ask", "hello"],
    ["ask", "--json", "hello"],
    ["retrieve", "hello"],
    ["ingest", "."],
    ["documents"],
    ["documents", "remove", "x"],
    ["timers"],
    ["status"],
    ["chat"],
]


@pytest.fixture
def hubd(tmp_path):
    mine = {name: text for name, text in os.environ.items() if not name.startswith("HUBD_")}

    def run(*arguments, **environment):
        return subprocess.run(
            [sys.executable, "-m", "hubd", *arguments],
            env=mine | {"HUBD_HOME": str(tmp_path)} | environment,
            capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    return run


@pytest.mark.parametrize("arguments", COMMANDS_FOR_THE_DAEMON, ids=" ".join)
def test_without_a_daemon_every_command_says_how_to_start_it(hubd, arguments):
    result = hubd(*arguments)
    assert result.returncode == 2
    assert result.stderr == "hubd is not running: start it with `hubd serve`\n"
    assert result.stdout == ""


def test_help_is_quick_and_imports_nothing_heavy(hubd):
    times = []
    for _ in range(3):
        began = time.perf_counter()
        assert "ingest" in hubd("--help").stdout
        times.append(time.perf_counter() - began)
    assert statistics.median(times) < 1.5  # 0.2 s on an idle machine
    heavy = ["aiohttp", "msgspec", "rich", "apscheduler", "hassil", "numpy"]
    code = f"import sys, hubd.cli; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_a_mistake_in_the_configuration_is_one_line(hubd, tmp_path):
    (tmp_path / "hubd.toml").write_text("[http]\nprt = 1\n")
    result = hubd("serve")
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "did you mean 'port'" in result.stderr


def test_wrong_usage_is_explained(hubd):
    result = hubd("ask")
    assert result.returncode == 2
    assert "Missing argument" in result.stderr
    assert hubd("nosuch").returncode == 2


def test_no_models_yet(hubd):
    assert "hubd model pull" in hubd("model", "list").stdout


def test_models_are_listed_and_the_one_in_use_is_marked(hubd, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "a.gguf").write_bytes(b"x" * 2_000_000)
    (tmp_path / "models" / "b.gguf").write_bytes(b"x")
    lines = hubd("model", "list", HUBD_ENGINE_MODEL="a.gguf").stdout.splitlines()
    assert lines == ["* a.gguf  2 MB", "  b.gguf  0 MB"]


def test_a_reference_that_is_none_is_explained(hubd):
    result = hubd("model", "pull", "somewhere/else")
    assert result.returncode == 1
    assert "hf:OWNER/REPO/FILE.gguf" in result.stderr


def test_offline_a_hub_reference_says_so(hubd):
    result = hubd("model", "pull", "hf:owner/repo/file.gguf", HF_HUB_OFFLINE="1")
    assert result.returncode == 1
    assert "HF_HUB_OFFLINE" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_model_is_calibrated_by_the_engine(hubd, tmp_path):
    result = hubd("model", "calibrate", str(tmp_path / "no.gguf"))
    assert result.returncode == 1
    assert "no.gguf" in result.stderr
    assert result.stderr.count("\n") == 1
    result = hubd("model", "calibrate", "no.gguf", "--target-sparsity", "1.5")
    assert "1.5 is not in the range" in result.stderr


def test_a_model_is_quantized_by_the_engine(hubd, tmp_path):
    weights = np.random.default_rng(0).normal(size=(8, 64)).astype(np.float32)
    tensor = NewTensor("blk.0.attn_q.weight", (8, 64), "F32")
    with (tmp_path / "in.gguf").open("wb") as file:
        write_gguf(file, [pair("general.architecture", "llama")], [tensor], [[weights.tobytes()]])
    source, target = str(tmp_path / "in.gguf"), str(tmp_path / "out.gguf")
    result = hubd("model", "quantize", source, target, "--to", "q8_0")
    assert (result.returncode, result.stderr) == (0, "")
    with GGUFFile(target) as made:
        assert made.tensors[tensor.name].type_name == "Q8_0"
    assert "|".join(sorted(FILE_TYPES)) in hubd("model", "quantize", "--help").stdout
    result = hubd("model", "quantize", target, source, "--to", "q4_0")
    assert result.returncode == 1
    assert result.stderr.startswith("out.gguf is quantized already")
    assert result.stderr.count("\n") == 1


def test_doctor_names_what_is_wrong_and_what_to_do(hubd, tmp_path):
    (tmp_path / "hubd.toml").write_text("[log]\nlevel = 'loud'\n")
    result = hubd("doctor")
    assert result.returncode == 1
    assert "✗ config" in result.stdout
    assert "✗ model" in result.stdout
    assert "→ Fetch the default one with `hubd model pull`." in result.stdout
    assert "✓ database" in result.stdout
    assert "problems found" in result.stdout


def test_doctor_sees_a_damaged_database(hubd, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "hubd.db").write_bytes(b"no database at all" * 500)
    result = hubd("doctor")
    assert "✗ database" in result.stdout


def test_doctor_looks_at_the_embedders_folder(hubd, tmp_path):
    folder = tmp_path / "multilingual"
    (tmp_path / "hubd.toml").write_text(f"[rag]\nembedder = '{folder}'\n")
    assert f"✗ embedder     {folder} is no folder" in hubd("doctor").stdout
    folder.mkdir()
    assert f"✗ embedder     {folder} holds no model" in hubd("doctor").stdout
    (folder / "modules.json").write_text("[]")
    assert f"✓ embedder     {folder}" in hubd("doctor").stdout


def test_doctor_looks_at_the_rerankers_folder(hubd, tmp_path):
    assert "✓ reranker     none" in hubd("doctor").stdout
    folder = tmp_path / "cross-encoder"
    (tmp_path / "hubd.toml").write_text(f"[rag]\nreranker = '{folder}'\n")
    assert f"✗ reranker     {folder} holds no model" in hubd("doctor").stdout
    folder.mkdir()
    (folder / "config.json").write_text('{"architectures": ["BertModel"]}')
    assert "BertModel, which is no cross-encoder" in hubd("doctor").stdout
    (folder / "config.json").write_text('{"architectures": ["BertForSequenceClassification"]}')
    assert f"✓ reranker     {folder}" in hubd("doctor").stdout


def test_doctor_says_that_qdrant_does_not_answer(hubd, tmp_path):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    url = f"http://someone:secret@127.0.0.1:{port}"
    (tmp_path / "hubd.toml").write_text(f"[rag]\nurl = '{url}'\n")
    result = hubd("doctor")
    assert f"✗ vectors      Qdrant at 127.0.0.1 port {port} does not answer" in result.stdout
    assert "secret" not in result.stdout + result.stderr


def test_what_is_measured_before_the_first_start_has_a_place(hubd, tmp_path):
    assert hubd("bench", "cache", "--help").returncode == 0
    assert (tmp_path / "cache").is_dir()


def test_every_measurement_of_the_engine_is_a_command(hubd):
    assert "How fast the engine is" in hubd("bench", "--help").stdout
    assert "--threads" in hubd("bench", "engine", "--help").stdout
    result = hubd("bench", "engine", "none.gguf")
    assert result.returncode == 1
    assert "models/none.gguf" in result.stderr  # a bare name is one in the model folder
    assert hubd("bench", "nosuch").returncode == 2
