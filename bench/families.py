"""Tiny random models of every family, for comparing logits with those of transformers.

What llama.cpp's converter does to single tensors, and which keys it writes, is repeated here;
bench/gguf_files.py writes the files.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import transformers

CONTEXT, VOCABULARY = 64, 288
TOKENS = np.random.default_rng(3).integers(0, VOCABULARY, 64).astype(np.int32)
SIZES = {
    "hidden_size": 256,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 16,
    "num_key_value_heads": 2,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": CONTEXT,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
FIT_RATE, FIT_STEPS, LEAD = 2e-3, 200, 0.25
Tensors = Iterable[tuple[str, np.ndarray]]


def unchanged(name: str, values: np.ndarray, config: Any) -> Tensors:
    yield name, values


def interleaved(name: str, values: np.ndarray, config: Any) -> Tensors:
    """Llama's order: what is rotated together lies together."""
    heads = {"q": config.num_attention_heads, "k": config.num_key_value_heads}
    which = name.removesuffix(".weight")[-6:]
    if which in ("q_proj", "k_proj"):
        split = values.reshape(heads[which[0]], 2, -1, values.shape[1])
        values = split.swapaxes(1, 2).reshape(values.shape)
    yield name, values


def norms_plus_one(name: str, values: np.ndarray, config: Any) -> Tensors:
    """Gemma's norms multiply with 1 + weight."""
    yield name, values + 1 if name.endswith("norm.weight") else values


@dataclass(frozen=True)
class Case:
    """A family: how transformers builds it, and what the converter writes."""

    config: str
    sizes: dict[str, Any] = field(default_factory=dict)
    architecture: str = "llama"
    change: Callable[[str, np.ndarray, Any], Tensors] = unchanged
    keys: dict[str, Any] = field(default_factory=dict)
    """Metadata besides the sizes, by key without the architecture."""
    tensors: dict[str, np.ndarray] = field(default_factory=dict)
    prepare: Callable[[Any], None] = lambda model: None
    """What the family has that transformers has not."""


def rope(**parameters: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_theta": 10_000.0, **parameters}}


HEADS_OF_32 = {"attention.key_length": 32, "attention.value_length": 32}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
YARN_KEYS = {
    "rope.scaling.type": "yarn",
    "rope.scaling.factor": 4.0,
    "rope.scaling.original_context_length": 16,
}
GRANITE_SCALES = {"embedding_scale": 3.0, "residual_scale": 0.3, "logit_scale": 4.0}
SOFT_CAPS = {"attn_logit_softcapping": 5.0, "final_logit_softcapping": 3.0}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}


def llama3_factors(pairs: int) -> np.ndarray:
    """The converter's rope_freqs for LLAMA3: slow pairs are slowed down, fast ones kept."""
    wavelengths = 2 * np.pi * 10_000.0 ** (np.arange(pairs) / pairs)
    smooth = np.clip((32 / wavelengths - 1) / (4 - 1), 0, 1)
    return (1 / ((1 - smooth) / 8 + smooth)).astype(np.float32)


SHORT_FACTORS = np.linspace(1, 1.5, 8).astype(np.float32)
LONG_FACTORS = np.linspace(1, 4, 8).astype(np.float32)


def sub_norm_names(name: str, values: np.ndarray, config: Any) -> Tensors:
    """The package's map knows BitNet's sub-norms by the names of its first release."""
    name = name.replace("attn_sub_norm", "inner_attn_ln").replace("ffn_sub_norm", "ffn_layernorm")
    yield name, values


def stacked_experts(name: str, values: np.ndarray, config: Any) -> Tensors:
    """transformers has gate and up in one; the names of the router are the first release's."""
    name = name.replace("block_sparse_moe", "mlp").replace("mlp.router.", "mlp.gate.")
    name = name.replace("mlp.gate.", "block_sparse_moe.gate.")
    if name.endswith("experts.gate_up_proj"):
        gate, up = np.split(values, 2, axis=1)
        yield name.replace("gate_up_proj", "gate_proj.weight"), gate
        yield name.replace("gate_up_proj", "up_proj.weight"), up
    elif name.endswith("experts.down_proj"):
        yield f"{name}.weight", values
    elif config.model_type in ("mixtral", "granitemoe"):
        yield from interleaved(name, values, config)
    else:
        yield name, values


def opt_names(name: str, values: np.ndarray, config: Any) -> Tensors:
    """OPT is not in the package's map; the first two rows of the positions are for padding."""
    parts = {
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.out_proj": "attn_output",
        "self_attn_layer_norm": "attn_norm",
        "final_layer_norm": "ffn_norm",
        "fc1": "ffn_up",
        "fc2": "ffn_down",
    }
    stem, _, ending = name.removeprefix("model.decoder.").rpartition(".")
    if stem.startswith("layers."):
        _, index, part = stem.split(".", 2)
        yield f"blk.{index}.{parts[part]}.{ending}", values
        return
    whole = {
        "embed_tokens": "token_embd",
        "embed_positions": "position_embd",
        "final_layer_norm": "output_norm",
    }
    yield f"{whole[stem]}.{ending}", values[2:] if stem == "embed_positions" else values


def double_relu(model: Any) -> None:
    """TurboSparse: relu(gate) · relu(up)."""
    for layer in model.model.layers:
        layer.mlp.up_proj = torch.nn.Sequential(layer.mlp.up_proj, torch.nn.ReLU())


def without_zero(name: str, values: np.ndarray, config: Any) -> Tensors:
    """As interleaved, for matrices that double_relu has put one deeper."""
    yield from interleaved(name.replace("up_proj.0.", "up_proj."), values, config)


CASES = {
    "llama": Case("LlamaConfig", {"tie_word_embeddings": True}, change=interleaved),
    "llama 3": Case(
        "LlamaConfig",
        rope(**LLAMA3) | {"head_dim": 32},
        change=interleaved,
        keys=HEADS_OF_32 | {"rope.dimension_count": 32},
        tensors={"rope_freqs.weight": llama3_factors(16)},
    ),
    "linear scaling": Case(
        "LlamaConfig",
        rope(rope_type="linear", factor=4.0),
        change=interleaved,
        keys={"rope.scaling.type": "linear", "rope.scaling.factor": 4.0},
    ),
    "yarn": Case(
        "LlamaConfig",
        rope(**YARN) | {"head_dim": 32},
        change=interleaved,
        keys=HEADS_OF_32 | YARN_KEYS,
    ),
    "mistral": Case("MistralConfig", {"sliding_window": None}, change=interleaved),
    "qwen2": Case("Qwen2Config", {"tie_word_embeddings": True}, "qwen2"),
    "qwen3": Case(
        "Qwen3Config",
        {"head_dim": 48},
        "qwen3",
        keys={"attention.key_length": 48, "attention.value_length": 48},
    ),
    "smollm3": Case("SmolLM3Config", {"num_hidden_layers": 5}, "smollm3", interleaved),
    "granite": Case(
        "GraniteConfig",
        {
            "embedding_multiplier": 3.0,
            "residual_multiplier": 0.3,
            "attention_multiplier": 0.2,
            "logits_scaling": 4.0,
        },
        "granite",
        interleaved,
        keys=GRANITE_SCALES | {"attention.scale": 0.2},
    ),
    "granitemoe": Case(
        "GraniteMoeConfig",
        {
            "embedding_multiplier": 3.0,
            "residual_multiplier": 0.3,
            "attention_multiplier": 0.2,
            "logits_scaling": 4.0,
            "num_local_experts": 5,
            "num_experts_per_tok": 2,
        },
        "granitemoe",
        stacked_experts,
        keys=GRANITE_SCALES | {"attention.scale": 0.2, "expert_count": 5, "expert_used_count": 2},
    ),
    "olmo2": Case("Olmo2Config", {}, "olmo2"),
    "olmo3": Case(
        "Olmo3Config",
        {
            "num_hidden_layers": 5,
            "sliding_window": 9,
            "rope_parameters": {
                "full_attention": YARN | {"rope_theta": 5e5},
                "sliding_attention": {"rope_type": "default", "rope_theta": 5e5},
            },
        },
        "olmo2",
        keys={"attention.sliding_window": 9, "rope.freq_base": 5e5} | YARN_KEYS,
    ),
    "phi3": Case(
        "Phi3Config",
        rope(partial_rotary_factor=0.5) | {"sliding_window": 9},
        "phi3",
        keys={"rope.dimension_count": 8, "attention.sliding_window": 9},
    ),
    "phi3 longrope": Case(
        "Phi3Config",
        rope(
            rope_type="longrope",
            short_factor=SHORT_FACTORS.tolist(),
            long_factor=LONG_FACTORS.tolist(),
            original_max_position_embeddings=32,
        )
        | {"original_max_position_embeddings": 32},
        "phi3",
        keys={
            "rope.dimension_count": 16,
            "rope.scaling.original_context_length": 32,
            "rope.scaling.attn_factor": math.sqrt(1 + math.log(2) / math.log(32)),
        },
        tensors={
            "rope_factors_short.weight": SHORT_FACTORS,
            "rope_factors_long.weight": LONG_FACTORS,
        },
    ),
    "stablelm": Case(
        "StableLmConfig",
        rope(partial_rotary_factor=0.25) | {"use_qkv_bias": True},
        "stablelm",
        keys={"rope.dimension_count": 4, "use_parallel_residual": True},
    ),
    "gemma": Case(
        "GemmaConfig",
        {"head_dim": 32},
        "gemma",
        norms_plus_one,
        keys=HEADS_OF_32,
    ),
    "gemma2": Case(
        "Gemma2Config",
        {
            "num_hidden_layers": 3,
            "head_dim": 32,
            "query_pre_attn_scalar": 32,
            "sliding_window": 9,
        }
        | SOFT_CAPS,
        "gemma2",
        norms_plus_one,
        keys=HEADS_OF_32 | SOFT_CAPS | {"attention.sliding_window": 9},
    ),
    "gemma3": Case(
        "Gemma3TextConfig",
        {
            "num_hidden_layers": 7,
            "head_dim": 32,
            "query_pre_attn_scalar": 32,
            "sliding_window": 9,
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
            },
        },
        "gemma3",
        norms_plus_one,
        keys=HEADS_OF_32
        | {
            "attention.sliding_window": 9,
            "rope.freq_base": 1e6,
            "rope.scaling.type": "linear",
            "rope.scaling.factor": 8.0,
        },
    ),
    "bitnet": Case(
        "BitNetConfig",
        {"hidden_act": "relu2", "tie_word_embeddings": True},
        "bitnet",
        sub_norm_names,
        keys={"hidden_activation": "relu2"},
    ),
    "bitnet-b1.58": Case(
        "BitNetConfig",
        {"hidden_act": "relu2", "tie_word_embeddings": True},
        "bitnet-b1.58",
        sub_norm_names,
    ),
    "opt": Case(
        "OPTConfig",
        {"ffn_dim": 256, "word_embed_proj_dim": 256, "num_key_value_heads": 16}
        | {"tie_word_embeddings": True},
        "opt",
        opt_names,
    ),
    "mixtral": Case(
        "MixtralConfig",
        {"num_local_experts": 5, "sliding_window": None},
        change=stacked_experts,
        keys={"expert_count": 5, "expert_used_count": 2},
    ),
    "qwen3moe": Case(
        "Qwen3MoeConfig",
        {
            "head_dim": 32,
            "num_experts": 6,
            "num_experts_per_tok": 3,
            "moe_intermediate_size": 256,
            "norm_topk_prob": True,
        },
        "qwen3moe",
        stacked_experts,
        keys=HEADS_OF_32
        | {
            "expert_count": 6,
            "expert_used_count": 3,
            "expert_feed_forward_length": 256,
        },
    ),
    "relu llama": Case(
        "LlamaConfig",
        {"hidden_act": "relu"},
        change=interleaved,
        keys={"hidden_activation": "relu"},
    ),
    "drelu llama": Case(
        "LlamaConfig",
        {"hidden_act": "relu"},
        change=without_zero,
        keys={"hidden_activation": "drelu"},
        prepare=double_relu,
    ),
}


def random_model(case: Case) -> Any:
    """The family in transformers: no weight is left at a value that hides a mistake."""
    torch.manual_seed(7)
    config = getattr(transformers, case.config)(**SIZES | case.sizes)
    models: Any = transformers.AutoModelForCausalLM
    model = models.from_config(config, attn_implementation="eager", dtype=torch.float32)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.add_(0.3 * torch.randn_like(parameter))
            else:
                parameter.copy_(torch.randn_like(parameter) / math.sqrt(parameter.shape[-1]))
    case.prepare(model)
    return model.eval()


def fitted_model(case: Case) -> Any:
    """The family with an opinion, as trained models have one: TOKENS' next one, everywhere.

    It is fitted until each of them leads by LEAD of the logits' standard deviation, which is six
    times what rounding to 8 bits moves: the best token of a random model is mostly a near tie.
    """
    model = random_model(case)
    tokens = torch.from_numpy(TOKENS.astype(np.int64))
    following = tokens.roll(-1)
    optimizer = torch.optim.Adam(model.parameters(), FIT_RATE)
    for _ in range(FIT_STEPS):
        logits = model(tokens[None]).logits[0]
        right = logits.gather(1, following[:, None])[:, 0]
        others = logits.scatter(1, following[:, None], -torch.inf).amax(dim=1)
        if (right - others).min() > LEAD * logits.std():
            return model
        loss = torch.nn.functional.cross_entropy(logits, following)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    raise ValueError(f"{case.config} is not sure after {FIT_STEPS} steps")
