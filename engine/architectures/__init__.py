"""Model families: one file each, and the table of them."""

from engine.architectures import (
    bitnet,
    gemma,
    gemma2,
    gemma3,
    granite,
    granitemoe,
    llama,
    olmo2,
    opt,
    phi3,
    qwen2,
    qwen3,
    qwen3moe,
    smollm3,
    stablelm,
)
from engine.architectures.family import Family
from engine.gguf import GGUFFile, ModelFormatError

_MODULES = (
    bitnet,
    gemma,
    gemma2,
    gemma3,
    granite,
    granitemoe,
    llama,
    olmo2,
    opt,
    phi3,
    qwen2,
    qwen3,
    qwen3moe,
    smollm3,
    stablelm,
)
ARCHITECTURES: dict[str, Family] = {
    module.__name__.rpartition(".")[2]: module.FAMILY for module in _MODULES
} | bitnet.ALIASES
"""`general.architecture` → what is different from Llama."""


def architecture_of(gguf: GGUFFile) -> tuple[str, Family]:
    """Name and family of a model file; ModelFormatError names the known ones."""
    if gguf.metadata.get("general.type") == "adapter":
        raise ModelFormatError(
            "general.type is 'adapter': this is a LoRA adapter; load the model that it was made"
            " for, and name this file among its adapters"
        )
    name = gguf.metadata.get("general.architecture")
    if not isinstance(name, str) or name not in ARCHITECTURES:
        known = ", ".join(sorted(ARCHITECTURES))
        raise ModelFormatError(f"general.architecture is {name!r}; known: {known}")
    return name, ARCHITECTURES[name]
