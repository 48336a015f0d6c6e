"""The embedding process: a sentence-transformers model, one thread, no network.

A process of its own because importing sentence-transformers takes 4 s and 416 MiB; it goes away
when idle. Requests are msgpack lists of texts; replies are the float32 vectors, row after row.
Run as ``python -m rag.embed_worker [FOLDER]``; without a folder it is all-MiniLM-L6-v2.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np

from rag.embed import model_folder
from rag.worker import serve

BATCH = 1
"""Texts a forward pass: 30 chunks/s in 572 MiB; in batches of 8, 22 in 652 MiB (padding)."""


def prepare() -> Callable[[bytes], bytes]:
    """Load the model; returns the handler of requests."""
    os.environ |= {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else model_folder()

    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    torch.set_num_threads(1)
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    model.eval()

    def handle(message: bytes) -> bytes:
        texts = msgspec.msgpack.decode(message, type=list[str])
        vectors = model.encode(
            texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return np.ascontiguousarray(vectors, dtype="<f4").tobytes()

    handle(msgspec.msgpack.encode(["warm"]))
    return handle


if __name__ == "__main__":
    serve(prepare)
