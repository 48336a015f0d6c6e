"""Train a small Llama with ReLU in place of SiLU and its SiLU twin, and write both as GGUF files.

    python -m bench.train_relu_model OUT_FOLDER [--models relu silu opt] [--steps 1200] [--seed 0]
        [--dim 128] [--layers 4] [--ffn 512] [--vocabulary 1536] [--bfloat16] [--text FILE …]

Random weights are not sparse as trained ones are; this makes trained ones, where there is nothing
but a CPU and the packages that hubd needs. The text is English prose out of Python's own
documentation and the docstrings of PyTorch and NumPy, each paragraph once, or the files of --text.
A twentieth of it is held out: perplexity and the natural share of zeros are measured there.
The models see the same batches; `opt` is a third one, without a gate, after OPT (Zhang et al.
2022). NAME.json in the folder tells what came of it. A run that was ended goes on from its last
checkpoint when it is started again with the same options.
"""

import argparse
import ast
import hashlib
import json
import math
import pydoc_data.topics
import re
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import tokenizers
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

HEAD_DIM, QUERIES_PER_KEY = 32, 3
ROPE_BASE = 10_000.0
EPSILON = 1e-5
END = "<|end|>"
HELD_OUT = 20
"""Every so manieth paragraph is for measuring."""


def docstrings(folder: Path) -> Iterator[str]:
    """Of every module, class and function under a folder, in the order of file names."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for path in sorted(folder.rglob("*.py")):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):  # made so on purpose, for tests
            continue
        for node in ast.walk(tree):
            if isinstance(node, documented):
                yield ast.get_docstring(node) or ""


def package_texts() -> Iterator[str]:
    """Python's documentation and the docstrings of what is installed anyway."""
    topics: dict[str, str] = pydoc_data.topics.topics
    yield from topics.values()
    for package in ("numpy", "torch"):
        yield from docstrings(Path(sysconfig.get_path("purelib")) / package)


def prose(texts: Iterator[str]) -> list[str]:
    """The paragraphs that are sentences: no code, no tables, none twice."""
    found: dict[str, None] = {}
    for text in texts:
        for paragraph in re.split(r"\n\s*\n", text):
            line = " ".join(paragraph.split())
            letters = sum(character.isalpha() or character == " " for character in line)
            if len(line) > 60 and letters > 0.88 * len(line) and ">>>" not in line:
                found[line] = None
    return list(found)


def split(paragraphs: list[str]) -> tuple[list[str], list[str]]:
    """To train with, and held out, by a hash: the same whatever else is in the text."""
    held = [int(hashlib.sha256(p.encode()).hexdigest(), 16) % HELD_OUT == 0 for p in paragraphs]
    pairs = list(zip(paragraphs, held, strict=True))
    return [p for p, out in pairs if not out], [p for p, out in pairs if out]


def train_tokenizer(texts: list[str], vocabulary: int) -> tokenizers.Tokenizer:
    """Byte-level BPE, as GPT-2 has it."""
    tokenizer = tokenizers.ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(texts, vocab_size=vocabulary, special_tokens=[END])
    trained: tokenizers.Tokenizer = tokenizer._tokenizer
    return trained


def encoded(tokenizer: tokenizers.Tokenizer, texts: list[str]) -> Tensor:
    """int64 (n,): the paragraphs one after the other, each with an end."""
    end = tokenizer.token_to_id(END)
    ids = [one for item in tokenizer.encode_batch(texts) for one in (*item.ids, end)]
    return torch.tensor(ids)


class Layer(nn.Module):
    """Attention and a gated feed-forward block, as Llama has them."""

    def __init__(self, dim: int, ffn: int, relu: bool) -> None:
        super().__init__()
        self.heads, self.relu = dim // HEAD_DIM, relu
        self.kv_heads = self.heads // QUERIES_PER_KEY
        kv = self.kv_heads * HEAD_DIM
        self.attn_norm, self.ffn_norm = (nn.RMSNorm(dim, EPSILON) for _ in range(2))
        self.attn_q, self.attn_output = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.attn_k, self.attn_v = (nn.Linear(dim, kv, bias=False) for _ in range(2))
        self.ffn_gate, self.ffn_up = (nn.Linear(dim, ffn, bias=False) for _ in range(2))
        self.ffn_down = nn.Linear(ffn, dim, bias=False)
        self.zeros = 0.0

    def forward(self, x: Tensor, angles: Tensor) -> Tensor:
        """x (sequences, positions, dim); angles (positions, head_dim / 2)."""
        batch, length, dim = x.shape
        h = self.attn_norm(x)
        q = rotate(self.attn_q(h).view(batch, length, self.heads, HEAD_DIM), angles)
        k = rotate(self.attn_k(h).view(batch, length, self.kv_heads, HEAD_DIM), angles)
        v = self.attn_v(h).view(batch, length, self.kv_heads, HEAD_DIM)
        q, k, v = (one.transpose(1, 2) for one in (q, k, v))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.attn_output(attended.transpose(1, 2).reshape(batch, length, dim))
        h = self.ffn_norm(x)
        gate = self.ffn_gate(h)
        gate = F.relu(gate) if self.relu else F.silu(gate)
        if not self.training:
            self.zeros = float((gate == 0).float().mean())
        return x + self.ffn_down(gate * self.ffn_up(h))


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Rotary positions of neighbours, 2i with 2i + 1; x (sequences, positions, heads, head_dim)."""
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


class Llama(nn.Module):
    """Tokens → logits; the embedding is the head as well."""

    def __init__(self, vocabulary: int, dim: int, layers: int, ffn: int, relu: bool) -> None:
        super().__init__()
        self.token_embd = nn.Embedding(vocabulary, dim)
        self.blk = nn.ModuleList(Layer(dim, ffn, relu) for _ in range(layers))
        self.output_norm = nn.RMSNorm(dim, EPSILON)
        initialize(self, layers)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens int64 (sequences, positions) → float32 (sequences, positions, vocabulary)."""
        steps = torch.arange(HEAD_DIM // 2) * (2 / HEAD_DIM)
        angles = torch.outer(torch.arange(tokens.shape[1]), ROPE_BASE**-steps)
        x = self.token_embd(tokens)
        for layer in self.blk:
            x = layer(x, angles)
        return F.linear(self.output_norm(x), self.token_embd.weight)


class OptLayer(nn.Module):
    """Attention and a feed-forward block of two matrices with ReLU between, as OPT has them."""

    def __init__(self, dim: int, ffn: int) -> None:
        super().__init__()
        self.heads = dim // HEAD_DIM
        self.attn_norm, self.ffn_norm = (nn.LayerNorm(dim, EPSILON) for _ in range(2))
        self.attn_q, self.attn_k, self.attn_v = (nn.Linear(dim, dim) for _ in range(3))
        self.attn_output = nn.Linear(dim, dim)
        self.ffn_up, self.ffn_down = nn.Linear(dim, ffn), nn.Linear(ffn, dim)
        self.zeros = 0.0

    def forward(self, x: Tensor) -> Tensor:
        """x (sequences, positions, dim)."""
        batch, length, dim = x.shape
        h = self.attn_norm(x)
        q, k, v = (
            one(h).view(batch, length, self.heads, HEAD_DIM).transpose(1, 2)
            for one in (self.attn_q, self.attn_k, self.attn_v)
        )
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn_output(attended.transpose(1, 2).reshape(batch, length, dim))
        active = F.relu(self.ffn_up(self.ffn_norm(x)))
        if not self.training:
            self.zeros = float((active == 0).float().mean())
        return x + self.ffn_down(active)


class Opt(nn.Module):
    """Tokens → logits, positions learned; the embedding is the head as well."""

    def __init__(self, vocabulary: int, dim: int, layers: int, ffn: int, positions: int) -> None:
        super().__init__()
        self.token_embd = nn.Embedding(vocabulary, dim)
        self.position_embd = nn.Embedding(positions, dim)
        self.blk = nn.ModuleList(OptLayer(dim, ffn) for _ in range(layers))
        self.output_norm = nn.LayerNorm(dim, EPSILON)
        initialize(self, layers)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens int64 (sequences, positions) → float32 (sequences, positions, vocabulary)."""
        x = self.token_embd(tokens) + self.position_embd(torch.arange(tokens.shape[1]))
        for layer in self.blk:
            x = layer(x)
        return F.linear(self.output_norm(x), self.token_embd.weight)


def initialize(model: nn.Module, layers: int) -> None:
    """Normal matrices, those into the residual stream smaller (Radford et al. 2019)."""
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2:
            into_stream = name.endswith(("attn_output.weight", "ffn_down.weight"))
            nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * layers if into_stream else 1))
        elif name.endswith(".bias"):
            nn.init.zeros_(parameter)


Model = Llama | Opt


def loss_of(model: Model, windows: Tensor) -> Tensor:
    """Mean cross-entropy of every token but the first; windows int64 (sequences, positions)."""
    logits = model(windows[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())


def optimizer_of(model: Model, rate: float) -> torch.optim.AdamW:
    """Matrices decay, norms do not."""
    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95))


def train(model: Model, ids: Tensor, given: argparse.Namespace, checkpoint: Path) -> float:
    """AdamW, warmed up and then let down along a cosine; gives the seconds up to the last step."""
    random = torch.Generator().manual_seed(given.seed)
    optimizer = optimizer_of(model, given.rate)
    warm = max(1, given.steps // 20)
    first, seconds = restore(checkpoint, model, optimizer, random)
    start = time.perf_counter() - seconds
    for step in range(first, given.steps):
        done = max(0, step - warm) / max(1, given.steps - warm)
        factor = min(1.0, (step + 1) / warm) * (0.05 + 0.95 * (1 + math.cos(math.pi * done)) / 2)
        for group in optimizer.param_groups:
            group["lr"] = given.rate * factor
        starts = torch.randint(ids.numel() - given.window - 1, (given.batch,), generator=random)
        windows = torch.stack([ids[s : s + given.window + 1] for s in starts])
        with torch.autocast("cpu", torch.bfloat16, enabled=given.bfloat16):
            loss = loss_of(model, windows)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 49 or step == given.steps - 1:
            seconds = time.perf_counter() - start
            print(f"step {step + 1}: {loss.item():.3f} {seconds:.0f} s", flush=True)
            keep(checkpoint, model, optimizer, random, (step + 1, seconds))
    return seconds


def keep(
    path: Path,
    model: Model,
    optimizer: torch.optim.Optimizer,
    random: torch.Generator,
    progress: tuple[int, float],
) -> None:
    """Write all that training goes on from; progress: steps done, and seconds that they took."""
    states = [model.state_dict(), optimizer.state_dict(), random.get_state()]
    torch.save([*states, *progress], path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)


def restore(
    path: Path, model: Model, optimizer: torch.optim.Optimizer, random: torch.Generator
) -> tuple[int, float]:
    """Take up a checkpoint, if there is one; gives the steps done and their seconds."""
    if not path.exists():
        return 0, 0.0
    weights, moments, state, steps, seconds = torch.load(path)
    model.load_state_dict(weights)
    optimizer.load_state_dict(moments)
    random.set_state(state)
    return int(steps), float(seconds)


@torch.no_grad()
def judge(model: Model, ids: Tensor, window: int) -> dict[str, Any]:
    """Perplexity on the held-out text, and each layer's share of gates that are exactly zero."""
    model.eval()
    windows = ids[: ids.numel() // (window + 1) * (window + 1)].view(-1, window + 1)
    losses, zeros = [], []
    for piece in windows.split(16):
        losses += [loss_of(model, piece).item()] * len(piece)
        zeros += [[layer.zeros for layer in model.blk]] * len(piece)
    shares = [round(share, 4) for share in np.mean(zeros, axis=0).tolist()]
    return {
        "perplexity": math.exp(sum(losses) / len(losses)),
        "zeros": shares,
        "zeros_mean": float(np.mean(shares)),
    }


def write(path: Path, model: Model, tokenizer: tokenizers.Tokenizer, activation: str) -> None:
    """The model as a GGUF file of float32 weights."""
    dim, ffn = model.token_embd.embedding_dim, model.blk[0].ffn_up.out_features
    writer = gguf.GGUFWriter(path, "opt" if isinstance(model, Opt) else "llama")
    writer.add_name(f"{activation} twin")
    writer.add_block_count(len(model.blk))
    writer.add_embedding_length(dim)
    writer.add_feed_forward_length(ffn)
    writer.add_head_count(model.blk[0].heads)
    if isinstance(model, Opt):
        writer.add_context_length(model.position_embd.num_embeddings)
        writer.add_layer_norm_eps(EPSILON)
    else:
        writer.add_context_length(2048)
        writer.add_head_count_kv(model.blk[0].kv_heads)
        writer.add_rope_dimension_count(HEAD_DIM)
        writer.add_rope_freq_base(ROPE_BASE)
        writer.add_layer_norm_rms_eps(EPSILON)
        writer.add_string("llama.hidden_activation", activation)
    described = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(described["vocab"], key=described["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token == END else 1 for token in tokens])
    writer.add_token_merges([" ".join(merge) for merge in described["merges"]])
    end = tokenizer.token_to_id(END)
    assert end is not None, "the tokenizer was trained with it"
    writer.add_eos_token_id(end)
    for name, values in model.state_dict().items():
        writer.add_tensor(name, np.ascontiguousarray(values.numpy(), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--models", nargs="+", choices=["relu", "silu", "opt"], default=["relu", "silu"]
    )
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--ffn", type=int, default=512)
    parser.add_argument("--vocabulary", type=int, default=1536)
    parser.add_argument("--batch", type=int, default=16, help="sequences a step")
    parser.add_argument("--window", type=int, default=128, help="tokens of a sequence")
    parser.add_argument("--rate", type=float, default=3e-3, help="highest learning rate")
    parser.add_argument("--bfloat16", action="store_true", help="faster where the CPU has it")
    parser.add_argument("--text", type=Path, nargs="*", help="UTF-8 files to learn from")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    texts = (path.read_text(encoding="utf-8") for path in given.text or [])
    learned, held = split(prose(texts if given.text else package_texts()))
    tokenizer = train_tokenizer(learned, given.vocabulary)
    ids, held_ids = encoded(tokenizer, learned), encoded(tokenizer, held)
    (given.folder / "held-out.txt").write_text("\n\n".join(held), encoding="utf-8")
    print(f"{ids.numel()} tokens to learn from, {held_ids.numel()} held out", flush=True)
    for name in given.models:
        torch.manual_seed(given.seed)
        sizes = (given.vocabulary, given.dim, given.layers, given.ffn)
        model = Opt(*sizes, given.window) if name == "opt" else Llama(*sizes, relu=name == "relu")
        seconds = train(model, ids, given, given.folder / f"{name}.checkpoint")
        result = judge(model, held_ids, given.window)
        result = {"seconds": round(seconds), **result}
        write(given.folder / f"{name}.gguf", model, tokenizer, name)
        print(f"{name}: {result}", flush=True)
        (given.folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
