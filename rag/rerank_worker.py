"""The reranking process: a cross-encoder of sentence-transformers on the CPU, no network.

A process of its own because importing sentence-transformers takes 4 s and 400 MB; it goes away when
idle. Run as ``python -m rag.rerank_worker FOLDER THREADS``.
"""

import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from rag.rerank_requests import ScoreReply, ScoreRequest
from rag.worker import serve

LONGEST = 512
"""Tokens of a question with its text, of models that take more: a chunk has about 256."""
BATCH = 4
"""Pairs a forward pass: memory stays small, and little is padded."""
MEMORY_BYTES = 1_500 * 1024 * 1024
"""Of data besides the weights: the libraries take a third of it."""
COPIES = 3
"""Of the weights that loading may hold: as stored, as numbers of 32 bits, in the model."""


def set_limits(folder: Path) -> None:
    """Bounds of this process for the rest of its life: memory, and no core file."""
    weights = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    most = MEMORY_BYTES + COPIES * weights
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def prepare() -> Callable[[bytes], bytes]:
    """Load the model; returns the handler of requests."""
    folder, threads = Path(sys.argv[1]), int(sys.argv[2])
    set_limits(folder)
    os.environ |= {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": str(threads),
    }

    import torch
    from sentence_transformers import CrossEncoder
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    torch.set_num_threads(threads)
    model = CrossEncoder(str(folder), device="cpu", local_files_only=True)
    model.max_length = min(model.max_length or LONGEST, LONGEST)
    if model.num_labels != 1:
        raise SystemExit(f"the model gives {model.num_labels} numbers a text; a reranker gives one")

    def handle(message: bytes) -> bytes:
        request = msgspec.msgpack.decode(message, type=ScoreRequest)
        pairs = [(request.question, text) for text in request.texts]
        scores = model.predict(pairs, batch_size=BATCH, show_progress_bar=False) if pairs else []
        return msgspec.msgpack.encode(ScoreReply(scores=[float(score) for score in scores]))

    handle(msgspec.msgpack.encode(ScoreRequest(question="warm", texts=["up"])))
    return handle


if __name__ == "__main__":
    serve(prepare)
