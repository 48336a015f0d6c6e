"""The sizes of an encoder, and which tensors it has, by llama.cpp's names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from engine.encoders.as_q8 import AsQ8
from engine.errors import ModelFormatError
from engine.formats.packed import BLOCK, LANES
from engine.gguf_header import TensorInfo

Pooling = Literal["mean", "cls"]
Tokenize = Callable[[str], list[int]]
"""A text → its ids, special ones included, at most `max_tokens`. Safe to call from several threads.
"""

MAX_LAYERS = 256
MAX_SIZE = 1 << 16
MAX_POSITIONS = 8192
TABLES = ("position_embd.weight", "token_types.weight")
"""Added to the embeddings as float32, once for all texts; everything else is packed."""


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """Sizes and constants of an encoder."""

    layers: int
    dim: int
    heads: int
    ffn_dim: int
    vocabulary: int
    positions: int
    """Rows of the table of positions."""
    max_tokens: int
    """Tokens of a text that are seen, special ones included."""
    norm_epsilon: float
    pooling: Pooling
    first_position: int = 0
    """The position of a text's first token: RoBERTa leaves out those up to its padding's id."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """What a "query" or a "passage" begins with, where the model was trained so."""

    @property
    def head_dim(self) -> int:
        return self.dim // self.heads


class EncoderFile(NamedTuple):
    """An encoder's files, opened and understood."""

    name: str
    config: EncoderConfig
    tensors: AsQ8
    """By llama.cpp's names."""
    content_hash: str
    tokenize: Tokenize
    close: Callable[[], None]


def tensor_shapes(c: EncoderConfig) -> dict[str, tuple[int, ...]]:
    """Name and shape of every tensor to be packed."""
    layer: dict[str, tuple[int, ...]] = {}
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        layer |= {f"{name}.weight": (c.dim, c.dim), f"{name}.bias": (c.dim,)}
    layer |= {"ffn_up.weight": (c.ffn_dim, c.dim), "ffn_up.bias": (c.ffn_dim,)}
    layer |= {"ffn_down.weight": (c.dim, c.ffn_dim), "ffn_down.bias": (c.dim,)}
    for name in ("attn_output_norm", "layer_output_norm"):
        layer |= {f"{name}.weight": (c.dim,), f"{name}.bias": (c.dim,)}
    shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (c.vocabulary, c.dim)}
    shapes |= {"token_embd_norm.weight": (c.dim,), "token_embd_norm.bias": (c.dim,)}
    for index in range(c.layers):
        shapes |= {f"blk.{index}.{name}": shape for name, shape in layer.items()}
    return shapes


def check_config(c: EncoderConfig) -> None:
    """Raises ModelFormatError for sizes that do not go together or that no kernel can take."""
    sizes = {"layers": (c.layers, MAX_LAYERS), "heads": (c.heads, MAX_SIZE)}
    sizes |= {"width": (c.dim, MAX_SIZE), "feed-forward width": (c.ffn_dim, MAX_SIZE)}
    sizes |= {"vocabulary": (c.vocabulary, 1 << 24), "positions": (c.positions, MAX_POSITIONS)}
    for what, (size, most) in sizes.items():
        if not 0 < size <= most:
            raise ModelFormatError(f"the encoder's {what} is {size}; 1 to {most} is possible")
    if c.dim % c.heads or c.head_dim % LANES:
        raise ModelFormatError(
            f"a width of {c.dim} with {c.heads} heads: heads of a multiple of {LANES} are needed"
        )
    if c.dim % BLOCK or c.ffn_dim % BLOCK:
        raise ModelFormatError(f"widths {c.dim} and {c.ffn_dim}: multiples of {BLOCK} are needed")
    if not 3 <= c.max_tokens <= c.positions - c.first_position:
        most = c.positions - c.first_position
        raise ModelFormatError(f"texts of {c.max_tokens} tokens; 3 to {most} are possible")
    if not 0 < c.norm_epsilon < 1:
        raise ModelFormatError(f"the norm's epsilon is {c.norm_epsilon}; 0 to 1 is expected")


def check_tensors(c: EncoderConfig, tensors: Mapping[str, TensorInfo]) -> None:
    """Raises ModelFormatError if a tensor is missing, misshapen, or none that the program uses."""
    shapes = tensor_shapes(c)
    for name, shape in (shapes | {"position_embd.weight": (c.positions, c.dim)}).items():
        if name not in tensors:
            raise ModelFormatError(f"tensor {name!r} is missing")
        if tensors[name].shape != shape:
            found = tensors[name].shape
            raise ModelFormatError(f"tensor {name!r} has shape {found}; {shape} is expected")
    types = tensors.get("token_types.weight")
    if types is not None and (len(types.shape) != 2 or types.shape[0] < 1):
        raise ModelFormatError(f"tensor 'token_types.weight' has shape {types.shape}")
    if types is not None and types.shape[1] != c.dim:
        raise ModelFormatError(f"tensor 'token_types.weight' has rows of {types.shape[1]}")
    unknown = sorted(set(tensors) - set(shapes) - set(TABLES))
    if unknown:
        raise ModelFormatError(f"tensor {unknown[0]!r} is not one that this architecture has")


def prompt_of(prompts: Mapping[str, str], kind: str) -> str:
    """What a text of this kind begins with; nothing where the model names nothing for it."""
    names: Sequence[str] = ("query",) if kind == "query" else ("passage", "document")
    return next((prompts[name] for name in names if name in prompts), "")
