"""A sentence-transformers folder, as the Hugging Face Hub has them → an encoder.

`config.json` (sizes), `model.safetensors`, `tokenizer.json`, `modules.json` and what it names:
pooling, and how many tokens of a text are seen. What would make the vectors other ones than
sentence-transformers' (another pooling, a projection) is refused.
"""

import hashlib
import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from tokenizers import Tokenizer

from engine.encoders.as_q8 import AsQ8
from engine.encoders.config import (
    EncoderConfig,
    EncoderFile,
    Pooling,
    Tokenize,
    check_config,
    check_tensors,
)
from engine.errors import ModelFormatError, TokenizerError
from engine.safetensors import SafetensorsFile

MAX_JSON_BYTES = 64 * 1024 * 1024
"""Of a file of settings or a tokenizer; that of a vocabulary of 250 000 has 17 MB."""

_WORDS = "embeddings.word_embeddings.weight"
_NAMES = {
    _WORDS: "token_embd.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.LayerNorm": "token_embd_norm",
}
_LAYER = re.compile(r"encoder\.layer\.(\d{1,4})\.(.+)\.(weight|bias)")
_LAYER_NAMES = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
_ROBERTA = ("roberta", "xlm-roberta")


class _Sizes(msgspec.Struct, frozen=True):
    """`config.json`."""

    model_type: str
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    vocab_size: int
    max_position_embeddings: int
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"
    position_embedding_type: str | None = "absolute"
    pad_token_id: int | None = 0


class _Module(msgspec.Struct, frozen=True):
    """One of `modules.json`."""

    type: str
    path: str = ""


class _Transformer(msgspec.Struct, frozen=True):
    """`sentence_bert_config.json`."""

    max_seq_length: int | None = None
    do_lower_case: bool = False


class _Texts(msgspec.Struct, frozen=True):
    """`tokenizer_config.json` and `config_sentence_transformers.json`, what matters of them."""

    model_max_length: float | None = None
    prompts: dict[str, str] = {}


Settings = TypeVar("Settings")


def open_folder(folder: Path) -> EncoderFile:
    """Raises ModelFormatError, TokenizerError or OSError."""
    sizes = _settings(folder / "config.json", _Sizes)
    if sizes is None:
        raise ModelFormatError(f"{folder}: config.json is missing")
    _check_kind(sizes)
    config, lower_case = _config(folder, sizes)
    check_config(config)
    file = SafetensorsFile(_weights_of(folder))
    try:
        tensors = AsQ8(file, _names(file))
        check_tensors(config, tensors.tensors)
        tokenize, vocabulary = _tokenizer(folder, config, lower_case)
        digest = hashlib.sha256(f"{file.content_hash()} {sizes}".encode())
        digest.update(vocabulary)
    except BaseException:
        file.close()
        raise
    name = folder.resolve().name
    return EncoderFile(name, config, tensors, digest.hexdigest(), tokenize, file.close)


def _check_kind(sizes: _Sizes) -> None:
    if sizes.model_type not in ("bert", *_ROBERTA):
        known = ", ".join(("bert", *_ROBERTA))
        raise ModelFormatError(f"config.json: model_type {sizes.model_type!r}; known: {known}")
    if sizes.hidden_act != "gelu":
        raise ModelFormatError(f"config.json: hidden_act {sizes.hidden_act!r}; known: gelu")
    if sizes.position_embedding_type not in (None, "absolute"):
        kind = sizes.position_embedding_type
        raise ModelFormatError(f"config.json: position_embedding_type {kind!r}; known: absolute")
    if sizes.num_attention_heads < 1 or not 0 <= (sizes.pad_token_id or 0) < 1 << 10:
        raise ModelFormatError("config.json: num_attention_heads or pad_token_id makes no sense")


def _config(folder: Path, sizes: _Sizes) -> tuple[EncoderConfig, bool]:
    """The sizes, and whether texts are put into lower case before the tokenizer sees them."""
    modules = _settings(folder / "modules.json", list[_Module])
    transformer_at, pooling_at = _module_folders(folder, modules)
    transformer = _settings(transformer_at / "sentence_bert_config.json", _Transformer)
    transformer = transformer or _Transformer()
    texts = _settings(folder / "config_sentence_transformers.json", _Texts) or _Texts()
    tokenizer = _settings(folder / "tokenizer_config.json", _Texts) or _Texts()
    first = (sizes.pad_token_id or 0) + 1 if sizes.model_type in _ROBERTA else 0
    most = sizes.max_position_embeddings - first
    if tokenizer.model_max_length is not None and tokenizer.model_max_length >= 1:
        most = int(min(most, tokenizer.model_max_length))
    config = EncoderConfig(
        layers=sizes.num_hidden_layers,
        dim=sizes.hidden_size,
        heads=sizes.num_attention_heads,
        ffn_dim=sizes.intermediate_size,
        vocabulary=sizes.vocab_size,
        positions=sizes.max_position_embeddings,
        max_tokens=transformer.max_seq_length or most,
        norm_epsilon=sizes.layer_norm_eps,
        pooling=_pooling(pooling_at),
        first_position=first,
        prompts=texts.prompts,
    )
    return config, transformer.do_lower_case


def _module_folders(folder: Path, modules: list[_Module] | None) -> tuple[Path, Path]:
    """Of the transformer and of the pooling; a bare BERT is pooled by its mean."""
    places = {"Transformer": folder, "Pooling": folder / "1_Pooling", "Normalize": folder}
    for module in modules or []:
        kind = module.type.rsplit(".", 1)[-1]
        if kind not in places:
            raise ModelFormatError(f"modules.json: {module.type!r} cannot run; known: {[*places]}")
        path = Path(module.path)
        if path.is_absolute() or ".." in path.parts:
            raise ModelFormatError(f"modules.json: path {module.path!r} leaves the folder")
        places[kind] = folder / path
    return places["Transformer"], places["Pooling"]


def _pooling(folder: Path) -> Pooling:
    """The mean where nothing is said, as sentence-transformers has it."""
    said = _settings(folder / "config.json", dict[str, Any]) or {}
    chosen = said.get("pooling_mode")
    if chosen is None:
        modes = [key for key, value in said.items() if key.startswith("pooling_mode_") and value]
        chosen = ", ".join(mode.removeprefix("pooling_mode_") for mode in modes) or "mean"
    match chosen:
        case "mean" | "mean_tokens":
            return "mean"
        case "cls" | "cls_token":
            return "cls"
        case _:
            raise ModelFormatError(f"pooling {chosen!r} cannot run; known: mean, cls")


def _weights_of(folder: Path) -> Path:
    path = folder / "model.safetensors"
    if path.is_file():
        return path
    if (folder / "model.safetensors.index.json").is_file():
        raise ModelFormatError(f"{folder}: weights split over several files cannot be read")
    raise ModelFormatError(
        f"{folder}: model.safetensors is missing (pytorch_model.bin can run code and is not read)"
    )


def _names(file: SafetensorsFile) -> dict[str, str]:
    """llama.cpp's name → the file's, of what belongs to the encoder.

    Raises ModelFormatError for an unknown tensor among those: it would compute something else.
    """
    start = next((n.removesuffix(_WORDS) for n in file.tensors if n.endswith(_WORDS)), None)
    if start is None:
        raise ModelFormatError(f"{file.path.name}: tensor {_WORDS!r} is missing")
    names = {}
    for own in file.tensors:
        name = own.removeprefix(start)
        known = own.startswith(start) and name.startswith(("embeddings.", "encoder."))
        if known and name != "embeddings.position_ids":
            names[_translated(name)] = own
    return names


def _translated(name: str) -> str:
    if name in _NAMES:
        return _NAMES[name]
    stem, _, kind = name.rpartition(".")
    if stem in _NAMES and kind in ("weight", "bias"):
        return f"{_NAMES[stem]}.{kind}"
    layer = _LAYER.fullmatch(name)
    if layer is None or layer[2] not in _LAYER_NAMES:
        raise ModelFormatError(f"tensor {name!r} is not one that this architecture has")
    return f"blk.{int(layer[1])}.{_LAYER_NAMES[layer[2]]}.{layer[3]}"


def _tokenizer(folder: Path, config: EncoderConfig, lower_case: bool) -> tuple[Tokenize, bytes]:
    """The tokenizer, and the bytes that it was made of."""
    raw = _read(folder / "tokenizer.json")
    if raw is None:
        raise TokenizerError(f"{folder}: tokenizer.json is missing")
    try:
        tokenizer = Tokenizer.from_buffer(raw)
        tokenizer.no_padding()
        tokenizer.enable_truncation(config.max_tokens)
    except Exception as error:  # the library raises bare Exceptions for whatever is wrong
        raise TokenizerError(f"tokenizer.json cannot be used: {error}") from error
    if tokenizer.get_vocab_size() > config.vocabulary:
        raise TokenizerError(
            f"tokenizer.json has {tokenizer.get_vocab_size()} tokens, the model {config.vocabulary}"
        )

    def tokenize(text: str) -> list[int]:
        valid = text.encode("utf-8", "replace").decode().strip()
        return list(tokenizer.encode(valid.lower() if lower_case else valid).ids)

    return tokenize, raw


def _read(path: Path) -> bytes | None:
    """A whole small file; None if it is not there."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_JSON_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if len(raw) > MAX_JSON_BYTES:
        raise ModelFormatError(f"{path.name} has more than {MAX_JSON_BYTES} bytes")
    return raw


def _settings(path: Path, kind: type[Settings]) -> Settings | None:
    """A JSON file as `kind`; None if it is not there."""
    raw = _read(path)
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ModelFormatError(f"{path.name}: {error}") from None
