"""Which tensors a model of a family has, by llama.cpp's names, and their shapes."""

from collections.abc import Container

from engine.architectures.config import ModelConfig
from engine.architectures.family import Activation, Family
from engine.architectures.rope import FACTORS
from engine.gguf import GGUFFile, ModelFormatError

Shape = tuple[int, ...]


def tensor_shapes(config: ModelConfig, family: Family, present: Container[str]) -> dict[str, Shape]:
    """Name and shape of every tensor that the model must have.

    present: names in the file, of which the optional biases and an untied head are taken.
    """
    layer = _norms(config, family) | _attention(config, family) | _feed_forward(config, family)
    for name in family.biases:
        layer[f"{name}.bias"] = (layer[f"{name}.weight"][0],)
    for name in family.optional_biases:
        if f"blk.0.{name}.bias" in present:
            layer[f"{name}.bias"] = (layer[f"{name}.weight"][0],)
    shapes: dict[str, Shape] = {"token_embd.weight": (config.vocabulary, config.dim)}
    for index in range(config.layers):
        shapes |= {f"blk.{index}.{name}": shape for name, shape in layer.items()}
    shapes["output_norm.weight"] = (config.dim,)
    if family.layer_norm:
        shapes["output_norm.bias"] = (config.dim,)
    if family.learned_positions:
        shapes["position_embd.weight"] = (config.context_length, config.dim)
    if "output.weight" in present:
        shapes["output.weight"] = shapes["token_embd.weight"]
    return shapes


def _attention(c: ModelConfig, family: Family) -> dict[str, Shape]:
    q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
    output: dict[str, Shape] = {"attn_output.weight": (c.dim, q)}
    if family.fused:
        return output | {"attn_qkv.weight": (q + 2 * kv, c.dim)}
    return output | {
        "attn_q.weight": (q, c.dim),
        "attn_k.weight": (kv, c.dim),
        "attn_v.weight": (kv, c.dim),
    }


def _feed_forward(c: ModelConfig, family: Family) -> dict[str, Shape]:
    if c.experts:
        return {
            "ffn_gate_inp.weight": (c.experts, c.dim),
            "ffn_gate_exps.weight": (c.experts, c.ffn_dim, c.dim),
            "ffn_up_exps.weight": (c.experts, c.ffn_dim, c.dim),
            "ffn_down_exps.weight": (c.experts, c.dim, c.ffn_dim),
        }
    down: dict[str, Shape] = {"ffn_down.weight": (c.dim, c.ffn_dim)}
    if family.fused:
        return down | {"ffn_up.weight": (2 * c.ffn_dim, c.dim)}
    if family.activation == Activation.PLAIN_RELU:
        return down | {"ffn_up.weight": (c.ffn_dim, c.dim)}
    return down | {"ffn_gate.weight": (c.ffn_dim, c.dim), "ffn_up.weight": (c.ffn_dim, c.dim)}


def _norms(c: ModelConfig, family: Family) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    if family.norms_before:
        shapes |= {"attn_norm.weight": (c.dim,), "ffn_norm.weight": (c.dim,)}
        if family.layer_norm:
            shapes |= {"attn_norm.bias": (c.dim,), "ffn_norm.bias": (c.dim,)}
    if family.norms_after:
        shapes |= {"post_attention_norm.weight": (c.dim,), "post_ffw_norm.weight": (c.dim,)}
    if family.query_key_norm == "head":
        shapes |= {"attn_q_norm.weight": (c.head_dim,), "attn_k_norm.weight": (c.head_dim,)}
    if family.query_key_norm == "width":
        q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
        shapes |= {"attn_q_norm.weight": (q,), "attn_k_norm.weight": (kv,)}
    if family.sub_norms:
        attended = c.heads * c.head_dim
        shapes |= {"attn_sub_norm.weight": (attended,), "ffn_sub_norm.weight": (c.ffn_dim,)}
    return shapes


def check_tensors(gguf: GGUFFile, shapes: dict[str, tuple[int, ...]]) -> list[str]:
    """Names of the tensors to pack; ModelFormatError if one is missing, misshapen or unknown.

    A tensor that the program would not use means that the model computes something else.
    """
    _check_dialect(gguf)
    for name, shape in shapes.items():
        if name not in gguf.tensors:
            raise gguf.metadata.missing_tensor(name)
        found = gguf.tensors[name]
        if found.shape != shape:
            raise ModelFormatError(
                f"tensor {name!r} at offset {found.offset} has shape {found.shape};"
                f" {shape} is expected"
            )
    unknown = sorted(set(gguf.tensors) - set(shapes) - set(FACTORS))
    if unknown:
        offset = gguf.tensors[unknown[0]].offset
        raise ModelFormatError(
            f"tensor {unknown[0]!r} at offset {offset} is not one that this architecture has"
        )
    return list(shapes)


def _check_dialect(gguf: GGUFFile) -> None:
    """Refuse by name the files that hold a known model in a form of their own."""
    if "powerinfer.sparse_threshold" in gguf.metadata:
        raise ModelFormatError(
            "powerinfer.sparse_threshold is there: PowerInfer's own form, with matrices transposed"
            " and predictors; get the model as plain GGUF, and set activation to relu"
        )
    if "blk.0.ffn_gate.0.weight" in gguf.tensors:
        raise ModelFormatError(
            "tensor 'blk.0.ffn_gate.0.weight': experts one by one, as files before April 2024 have"
            " them; get a newer file of the model"
        )
