"""Model families: one file each, and the table of them."""

from types import ModuleType

from engine.architectures import llama
from engine.gguf import GGUFFile, ModelFormatError

ARCHITECTURES: dict[str, ModuleType] = {"llama": llama}
"""`general.architecture` → the module with `read_config`, `tensor_shapes`, `build_body` …"""


def architecture_of(gguf: GGUFFile) -> ModuleType:
    """The module for a model file; ModelFormatError names the known ones."""
    name = gguf.metadata.get("general.architecture")
    if not isinstance(name, str) or name not in ARCHITECTURES:
        known = ", ".join(sorted(ARCHITECTURES))
        raise ModelFormatError(f"general.architecture is {name!r}; known: {known}")
    return ARCHITECTURES[name]
