"""Makes the tables of docs/models.md: what runs, and how near it is to transformers.

    python -m bench.model_table        # 4 minutes on an idle machine

Every family is built with small random weights by transformers (bench/families.py) and written as
llama.cpp's converter does (bench/gguf_files.py). tests/engine/test_model_table.py holds the page to
the code.
"""

import argparse
import re
import tempfile
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch

from bench.families import CASES, CONTEXT, TOKENS, Case, fitted_model, random_model
from bench.gguf_files import is_exact, parameters, targets, vocabulary, write
from engine.formats import FORMATS
from engine.formats.packed import SUPER
from engine.gguf import TENSOR_TYPES, GGUFFile
from engine.model import Model
from engine.tokenizer import Tokenizer
from engine.tokenizers.pre_tokenizers import PRE_TOKENIZERS

VOCABULARIES = {
    "llama": ("llama-bpe", "SentencePiece"),
    "qwen2": ("qwen2",),
    "qwen3": ("qwen2",),
    "qwen3moe": ("qwen2",),
    "smollm3": ("smollm", "llama-bpe"),
    "gemma": ("SentencePiece",),
    "gemma2": ("SentencePiece",),
    "gemma3": ("SentencePiece",),
    "phi3": ("SentencePiece", "gpt-4o"),
    "granite": ("refact",),
    "granitemoe": ("refact",),
    "olmo2": ("dbrx",),
    "stablelm": ("stablelm2", "gpt-2"),
    "opt": ("gpt-2",),
    "bitnet": ("SentencePiece", "llama-bpe"),
    "bitnet-b1.58": ("llama-bpe",),
    "bitnet-25": ("llama-bpe",),
}
"""Architecture → the tokenizers of its files."""
gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType.Q8_1] = (32, 36)  # the package says 40
SAMPLE = "Grüße, 锅炉 E04! It's 21.5 °C\n\n  — 👍🏽 كيف حالك؟ def f(x):\treturn x**2  "
_HALVES = {
    "Q8_1": {0: 1.0},
    "Q2_K": {80: 1.0, 82: 1.5},
    "Q3_K": {108: 1.0},
    "Q5_K": {0: 1.0, 2: 15.5},
    "IQ4_NL": {0: 1.0},
    "IQ4_XS": {0: 1.0},
}
"""Formats that nobody here writes: where their blocks have scales in half floats, and how large.

The second of two is that of the minimum: it puts the middle of the range at zero.
"""


def ours(path: Path, tokens: np.ndarray = TOKENS) -> np.ndarray:
    """Our logits, one row a token."""
    model = Model.load(path, threads=2)
    try:
        return model.forward(tokens, model.new_cache(), want="all")
    finally:
        model.close()


def theirs(model: Any, tokens: np.ndarray = TOKENS) -> np.ndarray:
    """The logits of transformers, one row a token."""
    with torch.inference_mode():
        logits: np.ndarray = (
            model(torch.from_numpy(tokens[None].astype(np.int64))).logits[0].numpy()
        )
    return logits


def error_of(found: np.ndarray, expected: np.ndarray) -> float:
    """The relative error of a position's logits, the median over positions.

    Not of all at once: from the first token on that changes its expert, states are others.
    """
    errors = np.linalg.norm(found - expected, axis=1) / np.linalg.norm(expected, axis=1)
    return float(np.median(errors))


def same_best(found: np.ndarray, expected: np.ndarray) -> float:
    """The share of positions with the same best token."""
    return float((found.argmax(axis=1) == expected.argmax(axis=1)).mean())


def weight_bytes(name: str, values: np.ndarray) -> np.ndarray:
    """Rows of bytes in a format: of these values, or at random where nobody writes the format."""
    kind = gguf.GGMLQuantizationType[name]
    quantize = FORMATS[name].quantize
    rows = (*values.shape[:-1], -1)
    if name not in _HALVES and name != "Q8_K":
        if quantize is not None:
            return quantize(values.reshape(-1)).reshape(rows)
        return gguf.quants.quantize(values, kind).view(np.uint8)
    _, elements, size = next(entry for entry in TENSOR_TYPES.values() if entry[0] == name)
    rng = np.random.default_rng(values.size)
    blocks = rng.integers(0, 256, (values.size // elements, size), np.uint8)
    if name == "Q8_K":
        scales = rng.uniform(0.5, 1.5, len(blocks)).astype("<f4") * np.std(values) / 74
        blocks[:, :4] = scales.astype("<f4").view(np.uint8).reshape(-1, 4)
        return blocks.reshape(rows)
    scale = 0.01
    for _ in range(2):  # the second time with the scale that gives weights of the usual size
        steps = scale * rng.uniform(0.5, 1.5, len(blocks))
        for offset, factor in _HALVES[name].items():
            halves = (factor * steps).astype("<f2")
            blocks[:, offset : offset + 2] = halves.view(np.uint8).reshape(-1, 2)
        found = FORMATS[name].dequantize(blocks.reshape(-1), values.shape)
        scale *= np.std(values) / np.sqrt(np.mean(found**2))
    return blocks.reshape(rows)


def quantized(case: Case, model: Any, name: str) -> dict[str, np.ndarray]:
    """Round the model's matrices to a format, in place; their bytes by the name in transformers."""
    made: dict[str, np.ndarray] = {}
    with torch.no_grad():
        for source, parameter in parameters(model):
            values = parameter.numpy()
            if any(
                is_exact(target, values.ndim) for target, _ in targets(case, model, source, values)
            ):
                continue
            made[source] = weight_bytes(name, values)
            flat = np.ascontiguousarray(made[source]).view(np.uint8).reshape(-1)
            parameter.copy_(torch.from_numpy(FORMATS[name].dequantize(flat, values.shape)))
    return made


def added_error(name: str, type_name: str, tokenizer: str, folder: Path) -> float:
    """How far the engine is from transformers with the same, dequantized weights, on SAMPLE.

    name: of a case. The text is read with the file's own tokenizer.
    """
    case = CASES[name]
    model = random_model(case)
    made = quantized(case, model, type_name)
    write(folder / "m.gguf", case, model, type_name, tokenizer, made)
    with GGUFFile(folder / "m.gguf") as file:
        text = Tokenizer(file.metadata)
    tokens = np.array(text.encode(SAMPLE, add_special=False)[:CONTEXT], np.int32)
    return error_of(ours(folder / "m.gguf", tokens), theirs(model, tokens))


def kept_best(name: str, type_name: str, folder: Path) -> float:
    """The share of all positions whose best token is as before the weights were rounded."""
    case = CASES[name]
    model = fitted_model(case)
    write(folder / "m.gguf", case, model, type_name)
    return same_best(ours(folder / "m.gguf"), theirs(model))


def lost_error(type_name: str, folder: Path) -> float | None:
    """What a Qwen 2 loses by a format; None where nobody writes it."""
    if type_name in _HALVES or type_name == "Q8_K":
        return None
    case = CASES["qwen2"]
    model = random_model(case)
    expected = theirs(model)
    made = quantized(case, model, type_name)
    write(folder / "m.gguf", case, model, type_name, raw=made)
    return error_of(ours(folder / "m.gguf"), expected)


def family_rows(folder: Path) -> list[str]:
    """The table of families, formats and tokenizers."""
    rows = [
        f"| architecture | as in | tokenizer | Q8_0 keeps | {' | '.join(FORMATS)} |",
        "|---|---|---|---|" + "---|" * len(FORMATS),
    ]
    for name, case in CASES.items():
        for tokenizer in VOCABULARIES[case.architecture]:
            errors = [percent(added_error(name, kind, tokenizer, folder)) for kind in FORMATS]
            cells = [tokenizer, f"{kept_best(name, 'Q8_0', folder):.0%}", *errors]
            rows.append(f"| `{case.architecture}` | {name} | {' | '.join(cells)} |")
    return rows


def percent(error: float | None) -> str:
    """As the page shows it: of float32 only the size."""
    if error is None:
        return "–"
    return f"{error:.1%}" if error > 1e-4 else f"{error:.0e}"


def format_rows(folder: Path) -> list[str]:
    """The table of formats."""
    rows = ["| format | bits in the kernels | what is lost |", "|---|---|---|"]
    for name, format_ in FORMATS.items():
        rows.append(f"| {name} | {format_.bits % SUPER} | {percent(lost_error(name, folder))} |")
    return rows


def tokenizer_rows(folder: Path) -> list[str]:
    """The table of pre-tokenizers, each tried with a vocabulary of bytes."""
    rows = ["| `tokenizer.ggml.pre` | a text in six scripts comes back |", "|---|---|"]
    for name in ("SentencePiece", *sorted(PRE_TOKENIZERS)):
        tokenizer = Tokenizer(vocabulary(name))
        text = tokenizer.decode(tokenizer.encode(SAMPLE, add_special=False))
        rows.append(f"| `{name}` | {'yes' if text == SAMPLE else 'no'} |")
    return rows


TABLES = {"families": family_rows, "formats": format_rows, "tokenizers": tokenizer_rows}


def with_table(page: str, name: str, rows: list[str]) -> str:
    """The page with a table made anew, between its two marks."""
    made = "\n".join([f"<!-- {name} -->", "", *rows, "", "<!-- end -->"])
    page, count = re.subn(f"<!-- {name} -->.*?<!-- end -->", lambda _: made, page, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"the page has {count} tables of {name}; 1 is expected")
    return page


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--page", type=Path, default=Path("docs/models.md"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = {name: rows(Path(folder)) for name, rows in TABLES.items()}
    page = given.page.read_text()
    for name, table in made.items():
        page = with_table(page, name, table)
    given.page.write_text(page)


if __name__ == "__main__":
    main()
