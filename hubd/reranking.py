"""The cross-encoder that ``[rag] reranker`` names, in a process of its own."""

from pathlib import Path

from hubd.settings import Config
from rag.worker_reranker import WorkerReranker


def reranker_of(config: Config) -> WorkerReranker | None:
    """Not started yet, to be closed by the caller; None where the configuration names none."""
    if not config.rag.reranker:
        return None
    return WorkerReranker(
        folder_of(config.rag.reranker),
        threads=config.engine.threads,
        idle_seconds=config.rag.idle_unload or float("inf"),
    )


def folder_of(name: str) -> Path:
    """The folder that ``[rag] reranker`` means."""
    return Path(name).expanduser().absolute()
