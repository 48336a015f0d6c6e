"""Makes the tables of docs/models.md: what runs, and how near it is to transformers.

    python bench/model_table.py

Every family is built with small random weights by transformers and written as llama.cpp's converter
does (bench/families.py). tests/engine/test_model_table.py holds the page to the code.
"""

import argparse
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import gguf
import numpy as np
import torch

from bench.families import CASES, TOKENS, Case, byte_tokens, random_model, write
from engine.architectures import ARCHITECTURES
from engine.formats import FORMATS
from engine.gguf import TENSOR_TYPES
from engine.model import Model
from engine.tokenizer import Tokenizer
from engine.tokenizers.pre_tokenizers import PRE_TOKENIZERS

IN_FAMILIES = ("Q8_0", "Q5_1", "Q4_0")
"""Formats that every family is measured with, besides F32."""
VOCABULARIES = {
    "llama": "`llama-bpe`, SentencePiece",
    "qwen2": "`qwen2`",
    "qwen3": "`qwen2`",
    "qwen3moe": "`qwen2`",
    "smollm3": "`smollm`, `llama-bpe`",
    "gemma": "SentencePiece",
    "gemma2": "SentencePiece",
    "gemma3": "SentencePiece",
    "phi3": "SentencePiece, `gpt-4o`",
    "granite": "`refact`",
    "granitemoe": "`refact`",
    "olmo2": "`dbrx`",
    "stablelm": "`stablelm2`, `gpt-2`",
    "opt": "`gpt-2`",
    "bitnet": "SentencePiece, `llama-bpe`",
    "bitnet-b1.58": "`llama-bpe`",
    "bitnet-25": "`llama-bpe`",
}
"""Architecture → the tokenizers of its files."""
gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType.Q8_1] = (32, 36)  # the package says 40
SAMPLE = "Grüße, 锅炉 E04! It's 21.5 °C\n\n  — 👍🏽 كيف حالك؟ def f(x):\treturn x**2  "
WIDE = {"hidden_size": 256, "intermediate_size": 256, "num_attention_heads": 4}
_HALVES = {
    "Q8_1": (0, 2),
    "Q2_K": (80, 82),
    "Q3_K": (108,),
    "Q5_K": (0, 2),
    "IQ4_NL": (0,),
    "IQ4_XS": (0,),
}
"""Formats that nobody here writes, and where their blocks have half floats."""


class Result(NamedTuple):
    """How near our logits are."""

    error: float
    median: float
    same: float | None
    """Share of sure positions with the same best token."""


def ours(path: Path) -> np.ndarray:
    """Our logits of TOKENS."""
    model = Model.load(path, threads=2)
    try:
        return model.forward(TOKENS, model.new_cache(), want="all")
    finally:
        model.close()


def theirs(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Logits of transformers, and the positions that rounding should not change."""
    options = {"output_router_logits": True} if hasattr(model.config, "num_experts_per_tok") else {}
    with torch.inference_mode():
        result = model(torch.from_numpy(TOKENS[None].astype(np.int64)), **options)
    logits = result.logits[0].numpy()
    best = np.sort(logits, axis=1)
    routers = getattr(result, "router_logits", None) or ()
    sure = best[:, -1] - best[:, -2] > (0.3 if routers else 0.15) * np.std(logits)
    for layer in routers:
        ranked = np.sort(layer.numpy(), axis=1)
        last = ranked.shape[1] - model.config.num_experts_per_tok
        sure &= ranked[:, last] - ranked[:, last - 1] > 0.15 * np.std(ranked)
    return logits, sure


def compared(found: np.ndarray, expected: np.ndarray, sure: np.ndarray) -> Result:
    """The figures of one file."""
    errors = np.linalg.norm(found - expected, axis=1) / np.linalg.norm(expected, axis=1)
    whole = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    same = (found.argmax(axis=1) == expected.argmax(axis=1))[sure]
    return Result(
        float(whole), float(np.median(errors)), float(same.mean()) if sure.any() else None
    )


def measure_family(case: Case, folder: Path, formats: tuple[str, ...]) -> list[Result]:
    """One result a format."""
    model = random_model(case)
    expected, sure = theirs(model)
    results = []
    for name in formats:
        write(folder / "m.gguf", case, model, name)
        results.append(compared(ours(folder / "m.gguf"), expected, sure))
    return results


def family_rows(folder: Path) -> list[str]:
    """The table of families."""
    heads = [f"{name}: error, best token" for name in IN_FAMILIES]
    rows = [
        f"| architecture | as in | F32: error | {' | '.join(heads)} | tokenizers of its files |",
        "|---|---|---|" + "---|" * len(heads) + "---|",
    ]
    for name, case in CASES.items():
        exact, *others = measure_family(case, folder, ("F32", *IN_FAMILIES))
        cells = [
            f"{result.median:.3f}, " + ("–" if result.same is None else f"{result.same:.0%}")
            for result in others
        ]
        rows.append(
            f"| `{case.architecture}` | {name} | {exact.error:.1e} | {' | '.join(cells)}"
            f" | {VOCABULARIES[case.architecture]} |"
        )
    same = [name for name in ARCHITECTURES if name not in {c.architecture for c in CASES.values()}]
    rows += [
        f"| `{name}` | the same as `bitnet-b1.58` | | | | | {VOCABULARIES[name]} |" for name in same
    ]
    return rows


def weight_bytes(name: str, values: np.ndarray) -> np.ndarray:
    """Rows of bytes in a format: of these values, or at random where nobody writes the format."""
    kind = gguf.GGMLQuantizationType[name]
    quantize = FORMATS[name].quantize
    if name not in _HALVES and name != "Q8_K":
        if quantize is not None:
            return quantize(values.reshape(-1)).reshape(len(values), -1)
        return gguf.quants.quantize(values, kind).view(np.uint8)
    _, elements, size = next(entry for entry in TENSOR_TYPES.values() if entry[0] == name)
    rng = np.random.default_rng(values.size)
    blocks = rng.integers(0, 256, (values.size // elements, size), np.uint8)
    if name == "Q8_K":
        scales = rng.uniform(0.5, 1.5, len(blocks)).astype("<f4") * np.std(values) / 74
        blocks[:, :4] = scales.astype("<f4").view(np.uint8).reshape(-1, 4)
        return blocks.reshape(len(values), -1)
    scale = 0.01
    for _ in range(2):  # the second time with the scale that gives weights of the usual size
        for offset in _HALVES[name]:
            halves = (scale * rng.uniform(0.5, 1.5, len(blocks))).astype("<f2")
            blocks[:, offset : offset + 2] = halves.view(np.uint8).reshape(-1, 2)
        found = FORMATS[name].dequantize(blocks.reshape(-1), values.shape)
        scale *= np.std(values) / np.sqrt(np.mean(found**2))
    return blocks.reshape(len(values), -1)


def measure_format(name: str, folder: Path) -> tuple[Result, Result | None]:
    """A Qwen 2 with rows of 256: what the engine adds to the format, what the format loses."""
    case = Case("Qwen2Config", WIDE | {"tie_word_embeddings": True}, "qwen2")
    model = random_model(case)
    exact, exact_sure = theirs(model)
    raw: dict[int, np.ndarray] = {}
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 2:
                data = weight_bytes(name, parameter.numpy())
                flat = np.ascontiguousarray(data).view(np.uint8).reshape(-1)
                values = FORMATS[name].dequantize(flat, tuple(parameter.shape))
                parameter.copy_(torch.from_numpy(values))
                raw[parameter.data_ptr()] = data
    write(folder / "m.gguf", case, model, name, raw=raw)
    expected, sure = theirs(model)
    found = ours(folder / "m.gguf")
    lost = None if name in _HALVES or name == "Q8_K" else compared(found, exact, exact_sure)
    return compared(found, expected, sure), lost


def format_rows(folder: Path) -> list[str]:
    """The table of formats."""
    rows = [
        "| format | bits in the kernels | the engine adds: error, best token"
        " | with what the format loses: error, best token |",
        "|---|---|---|---|",
    ]
    for name, format_ in FORMATS.items():
        cells = [
            "–" if r is None else f"{r.median:.1e}, {'–' if r.same is None else f'{r.same:.0%}'}"
            for r in measure_format(name, folder)
        ]
        rows.append(f"| {name} | {format_.bits} | {' | '.join(cells)} |")
    return rows


def tokenizer_rows(folder: Path) -> list[str]:
    """The table of pre-tokenizers, each tried with a vocabulary of bytes."""
    rows = ["| `tokenizer.ggml.pre` | a text in six scripts comes back |", "|---|---|"]
    for name in sorted(PRE_TOKENIZERS):
        tokenizer = Tokenizer(
            {
                "tokenizer.ggml.model": "gpt2",
                "tokenizer.ggml.pre": name,
                "tokenizer.ggml.tokens": byte_tokens(),
                "tokenizer.ggml.merges": ["t h"],
            }
        )
        text = tokenizer.decode(tokenizer.encode(SAMPLE, add_special=False))
        rows.append(f"| `{name}` | {'yes' if text == SAMPLE else 'no'} |")
    return rows


TABLES = {"families": family_rows, "formats": format_rows, "tokenizers": tokenizer_rows}


def with_tables(page: str) -> str:
    """The page with its tables made anew, each between its two marks."""
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in TABLES.items():
            made = "\n".join([f"<!-- {name} -->", "", *rows(Path(folder)), "", "<!-- end -->"])
            pattern = re.compile(f"<!-- {name} -->.*?<!-- end -->", re.DOTALL)
            page, count = pattern.subn(lambda _, made=made: made, page)
            if count != 1:
                raise SystemExit(f"the page has {count} tables of {name}; 1 is expected")
    return page


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--page", type=Path, default=Path("docs/models.md"))
    given = parser.parse_args()
    given.page.write_text(with_tables(given.page.read_text()))


if __name__ == "__main__":
    main()
