"""Model families: one file each in families/, and the table of them."""

import importlib
import pkgutil

from engine.architectures import families
from engine.architectures.family import Family
from engine.gguf import GGUFFile, ModelFormatError


def families_by_name() -> dict[str, Family]:
    """`general.architecture` → what is different from Llama, of every file in families/."""
    found: dict[str, Family] = {}
    for file in pkgutil.iter_modules(families.__path__):
        module = importlib.import_module(f"{families.__name__}.{file.name}")
        found[file.name] = module.FAMILY
        found |= getattr(module, "ALIASES", {})
    return found


ARCHITECTURES = families_by_name()


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
        named = gguf.metadata.named("general.architecture")
        raise ModelFormatError(f"{named} is {name!r}; known: {known}")
    return name, ARCHITECTURES[name]
