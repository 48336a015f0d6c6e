"""A GGUF file of the architecture `bert`, as llama.cpp's converter writes it → an encoder."""

from pathlib import Path
from typing import Any

from engine.architectures.config import integer, number
from engine.encoders.as_q8 import AsQ8
from engine.encoders.config import (
    EncoderConfig,
    EncoderFile,
    Pooling,
    Tokenize,
    check_config,
    check_tensors,
)
from engine.gguf import GGUFFile, ModelFormatError
from engine.tokenizer import Tokenizer

_POOLINGS: dict[int, Pooling] = {1: "mean", 2: "cls"}
"""`bert.pooling_type` (llama.cpp, enum llama_pooling_type)."""


def open_gguf(path: Path) -> EncoderFile:
    """Raises ModelFormatError, TokenizerError or OSError."""
    gguf = GGUFFile(path)
    try:
        config = _config(gguf)
        check_config(config)
        tensors = AsQ8(gguf, {name: name for name in gguf.tensors})
        check_tensors(config, tensors.tensors)
        tokenize = _tokenizer(gguf.metadata, config)
        return EncoderFile(path.stem, config, tensors, gguf.content_hash(), tokenize, gguf.close)
    except ModelFormatError as error:
        gguf.close()
        raise ModelFormatError(f"{path.name}: {error}") from None
    except BaseException:
        gguf.close()
        raise


def _config(gguf: GGUFFile) -> EncoderConfig:
    meta = gguf.metadata
    if meta.get("general.architecture") != "bert":
        name = meta.get("general.architecture")
        raise ModelFormatError(f"general.architecture is {name!r}: not an encoder; known: bert")
    pooling = meta.get("bert.pooling_type", 1)
    if pooling not in _POOLINGS:
        raise ModelFormatError(f"bert.pooling_type {pooling!r} cannot run; known: {_POOLINGS}")
    positions = integer(meta, "bert.context_length")
    table = gguf.tensors.get("position_embd.weight")
    words = gguf.tensors.get("token_embd.weight")
    if words is None or len(words.shape) != 2:
        raise ModelFormatError("tensor 'token_embd.weight' is missing")
    return EncoderConfig(
        layers=integer(meta, "bert.block_count"),
        dim=integer(meta, "bert.embedding_length"),
        heads=integer(meta, "bert.attention.head_count"),
        ffn_dim=integer(meta, "bert.feed_forward_length"),
        vocabulary=words.shape[0],
        positions=table.shape[0] if table is not None and table.shape else positions,
        max_tokens=positions,
        norm_epsilon=number(meta, "bert.attention.layer_norm_epsilon"),
        pooling=_POOLINGS[pooling],
    )


def _tokenizer(metadata: dict[str, Any], config: EncoderConfig) -> Tokenize:
    tokenizer = Tokenizer(metadata)
    if tokenizer.vocabulary_size > config.vocabulary:
        raise ModelFormatError(
            f"{tokenizer.vocabulary_size} tokens in the vocabulary, {config.vocabulary} embeddings"
        )

    def tokenize(text: str) -> list[int]:
        ids = tokenizer.encode(text)
        return ids if len(ids) <= config.max_tokens else [*ids[: config.max_tokens - 1], ids[-1]]

    return tokenize
