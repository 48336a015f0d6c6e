"""GGUF files of the models in bench/families.py, and of adapters, as llama.cpp's converters do.

The names of tensors come from the `gguf` package's own map. Vocabularies are of single bytes.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import gguf
import numpy as np

from bench.families import VOCABULARY, Case, Tensors

RANK, ALPHA = 4, 6.0
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
Pairs = dict[str, tuple[np.ndarray, np.ndarray]]


def vocabulary(kind: str) -> dict[str, Any]:
    """The tokenizer's metadata: of VOCABULARY tokens, most of them single bytes.

    kind: "SentencePiece", or the name of a pre-tokenizer of byte-level BPE.
    """
    if kind == "SentencePiece":
        words = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
        pieces = [*"▁th", "th", "▁th", *(chr(place) for place in range(0x4E00, 0x4E18))]
        types = [2, 3, 3, *[6] * 256, *[1] * len(pieces)]
        return {
            "tokenizer.ggml.model": "llama",
            "tokenizer.ggml.tokens": words + pieces,
            "tokenizer.ggml.scores": [-float(place) for place in range(VOCABULARY)],
            "tokenizer.ggml.token_type": types,
        }
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = 256 - len(shown)
    spelled = [*map(chr, shown), *(chr(256 + place) for place in range(hidden)), "th"]
    control = [f"<|{number}|>" for number in range(VOCABULARY - len(spelled))]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": kind,
        "tokenizer.ggml.tokens": spelled + control,
        "tokenizer.ggml.token_type": [1] * len(spelled) + [3] * len(control),
        "tokenizer.ggml.merges": ["t h"],
    }


def write(
    path: Any,
    case: Case,
    model: Any,
    type_name: str,
    tokenizer: str | None = None,
    raw: Mapping[str, np.ndarray] | None = None,
) -> None:
    """The model as the converter would write it.

    tokenizer: a kind of vocabulary(), or the file has none. raw: by the name in transformers, the
    bytes of a parameter's rows where they are made already.
    """
    c = model.config
    writer = gguf.GGUFWriter(path, case.architecture)
    if tokenizer:
        for key, value in vocabulary(tokenizer).items():
            (writer.add_string if isinstance(value, str) else writer.add_array)(key, value)
    else:
        writer.add_tokenizer_model("none")
        writer.add_vocab_size(c.vocab_size)
    writer.add_block_count(c.num_hidden_layers)
    writer.add_context_length(c.max_position_embeddings)
    writer.add_embedding_length(c.hidden_size)
    writer.add_head_count(c.num_attention_heads)
    writer.add_feed_forward_length(getattr(c, "ffn_dim", None) or c.intermediate_size)
    if hasattr(c, "num_key_value_heads"):
        writer.add_head_count_kv(c.num_key_value_heads)
    if hasattr(c, "rms_norm_eps"):
        writer.add_layer_norm_rms_eps(c.rms_norm_eps)
    else:
        writer.add_layer_norm_eps(getattr(c, "layer_norm_eps", 1e-5))
    for key, value in case.keys.items():
        kind = {str: "string", int: "uint32", float: "float32", bool: "bool"}[type(value)]
        getattr(writer, f"add_{kind}")(f"{case.architecture}.{key}", value)
    base = getattr(c, "rope_parameters", None) or {}
    if "rope_theta" in base:
        writer.add_rope_freq_base(base["rope_theta"])
    raw = raw or {}
    for source, parameter in parameters(model):
        for target, values in targets(case, model, source, raw.get(source, parameter.numpy())):
            add_tensor(writer, target, values, type_name, made=source in raw)
    for name, values in case.tensors.items():
        add_tensor(writer, name, values, "F32")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def parameters(model: Any) -> Iterator[tuple[str, Any]]:
    """What a file has of the model, by the name in transformers."""
    for source, parameter in model.state_dict().items():
        if not (model.config.tie_word_embeddings and source == "lm_head.weight"):
            yield source, parameter


def targets(case: Case, model: Any, source: str, values: np.ndarray) -> Tensors:
    """The tensors of a file that a parameter becomes; values may be the bytes of its rows."""
    numbers = {name: number for number, name in gguf.MODEL_ARCH_NAMES.items()}
    number = numbers.get(case.architecture.removesuffix("-b1.58"), numbers["llama"])
    names = gguf.get_tensor_name_map(number, model.config.num_hidden_layers)
    for name, part in case.change(source, values, model.config):
        yield names.get_name(name, try_suffixes=(".weight", ".bias")) or name, part


def is_exact(target: str, dimensions: int) -> bool:
    """Whether the converter leaves a tensor in F32: vectors, and what chooses the experts."""
    return dimensions == 1 or "ffn_gate_inp" in target


def add_tensor(
    writer: Any, target: str, values: np.ndarray, type_name: str, made: bool = False
) -> None:
    """made: whether the values are the bytes of the type already."""
    kind = gguf.GGMLQuantizationType["F32" if is_exact(target, values.ndim) else type_name]
    if not made:
        values = gguf.quants.quantize(np.ascontiguousarray(values, np.float32), kind)
    writer.add_tensor(target, np.ascontiguousarray(values), raw_dtype=kind)


def random_adapter(
    case: Case, model: Any, seed: int, names: tuple[str, ...] = PROJECTIONS
) -> tuple[Pairs, dict[str, np.ndarray]]:
    """A and B by the name in transformers, and the tensors of the adapter's file."""
    rng = np.random.default_rng(seed)
    pairs: Pairs = {}
    tensors: dict[str, np.ndarray] = {}
    for source, weight in model.state_dict().items():
        if not source.endswith(tuple(f"{name}.weight" for name in names)):
            continue
        outputs, inputs = weight.shape
        a = (rng.normal(size=(RANK, inputs)) / np.sqrt(inputs)).astype(np.float32)
        b = (0.5 * rng.normal(size=(outputs, RANK))).astype(np.float32)
        pairs[source] = a, b
        ((target, permuted),) = targets(case, model, source, b)
        if source.endswith("embed_tokens.weight"):  # the converter turns both around
            tensors |= {f"{target}.lora_a": b, f"{target}.lora_b": np.ascontiguousarray(a.T)}
        else:
            tensors |= {f"{target}.lora_a": a, f"{target}.lora_b": permuted}
    return pairs, tensors


def write_adapter(
    path: Any,
    tensors: dict[str, np.ndarray],
    alpha: float = ALPHA,
    architecture: str = "llama",
    **keys: str | None,
) -> Any:
    """A LoRA file as convert_lora_to_gguf writes it; gives its path.

    keys: metadata that replaces the converter's, with __ for dots; None leaves a key out.
    """
    writer = gguf.GGUFWriter(path, architecture)
    given: dict[str, str | None] = {"general.type": "adapter", "adapter.type": "lora"}
    given |= {key.replace("__", "."): value for key, value in keys.items()}
    for key, value in given.items():
        if value is not None:
            writer.add_string(key, value)
    writer.add_float32("adapter.lora.alpha", alpha)
    for name, values in tensors.items():
        writer.add_tensor(name, np.ascontiguousarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
