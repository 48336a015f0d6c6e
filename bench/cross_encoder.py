"""Train a cross-encoder that `engine.cross_encoder` runs, and write it.

It is a LoRA (Hu et al. 2021) of all-MiniLM-L6-v2, which the hub has anyway, and a vector that makes
a score of the first token's state. For a question and some texts it learns which one is right, or
that none is: the loss is the cross-entropy of a softmax over their scores and a zero.
"""

import math
import random
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it
from transformers import AutoModel

from engine.cross_encoder import BIAS, WEIGHT
from engine.gguf_writer import NewTensor, pair, write_gguf
from rag.embed import model_folder

RANK = 16
ALPHA = 32.0
SHARPNESS = 20.0
"""The score of a vector of length 1 is so many times its product with the head's."""
QUESTIONS = 8
"""Of a step."""
PAIRS = 24
"""Computed at once, those of like length."""
LEARNING_RATE = 5e-4
WARM_UP = 100
AVERAGED = 2
"""The last epochs of which the mean is kept: better than either, and less a matter of chance."""
LORA_NAMES = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
}
"""The matrices that change, by llama.cpp's names."""


class Lora(nn.Module):
    """A matrix that stays, and a small change of it that is learnt."""

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.randn(RANK, base.in_features) / math.sqrt(base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, RANK))

    def forward(self, x: Tensor) -> Tensor:
        changed: Tensor = self.base(x) + F.linear(F.linear(x, self.a), self.b) * (ALPHA / RANK)
        return changed


class Reader(nn.Module):
    """The encoder with its changes and the head."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(
            folder,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            attn_implementation="eager",  # on a CPU the other one takes twice as long backwards
        )
        for parameter in self.encoder.parameters():
            parameter.requires_grad = False
        self.changes: dict[str, Lora] = {}
        for number, layer in enumerate(self.encoder.encoder.layer):
            for path, name in LORA_NAMES.items():
                where, _, last = path.rpartition(".")
                parent = layer.get_submodule(where)
                change = Lora(getattr(parent, last))
                setattr(parent, last, change)
                self.changes[f"blk.{number}.{name}.weight"] = change
        width = self.encoder.config.hidden_size
        self.weight = nn.Parameter(torch.randn(width) * 0.1 / math.sqrt(width))
        self.bias = nn.Parameter(torch.tensor([-1.0]))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Scores (pairs,) of token ids (pairs, tokens)."""
        first = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]
        scores: Tensor = SHARPNESS * F.normalize(first.float(), dim=-1) @ self.weight + self.bias
        return scores


class Scorer:
    """Texts → scores, in batches of like length."""

    def __init__(self, max_tokens: int, bfloat16: bool) -> None:
        """max_tokens: of a question with a text, of which the end is left out."""
        folder = model_folder()
        self.reader, self.bfloat16 = Reader(folder), bfloat16
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_tokens, strategy="only_second")

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Tensor:
        """(pairs,) of questions with texts."""
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(list(pairs))]
        order = sorted(range(len(pairs)), key=lambda i: len(tokens[i]))
        found: dict[int, Tensor] = {}
        for start in range(0, len(order), PAIRS):
            chosen = order[start : start + PAIRS]
            longest = max(len(tokens[i]) for i in chosen)
            ids = torch.zeros(len(chosen), longest, dtype=torch.long)
            for row, i in enumerate(chosen):
                ids[row, : len(tokens[i])] = torch.tensor(tokens[i])
            with torch.autocast("cpu", torch.bfloat16, enabled=self.bfloat16):
                scores = self.reader(ids, (ids != 0).long())
            found |= dict(zip(chosen, scores, strict=True))
        return torch.stack([found[i] for i in range(len(pairs))])


class Group(NamedTuple):
    """A question with texts, of which the first is right or none."""

    question: str
    texts: list[str]
    answered: bool


Item = TypeVar("Item")


def loss_of(scorer: Scorer, groups: Sequence[Group]) -> Tensor:
    """Mean cross-entropy over the groups; a score of 0 stands for "none of them"."""
    scores = scorer.scores([(group.question, text) for group in groups for text in group.texts])
    losses, start = [], 0
    for group in groups:
        end = start + len(group.texts)
        logits = torch.cat([scores.new_zeros(1), scores[start:end]])
        losses.append(-F.log_softmax(logits, 0)[int(group.answered)])
        start = end
    return torch.stack(losses).mean()


def train(
    scorer: Scorer, items: list[Item], drawn: Callable[[Item], Group], epochs: int, out: Path
) -> None:
    """AdamW, a linear warm-up and a linear end; what there is after each epoch is written.

    drawn: the texts of an item for this time.
    """
    learnt = [p for p in scorer.reader.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learnt, lr=LEARNING_RATE, weight_decay=0.01)
    steps, step, began, total = epochs * (len(items) // QUESTIONS), 0, time.monotonic(), 0.0
    states: list[dict[str, Tensor]] = []
    for _ in range(epochs):
        random.shuffle(items)
        for start in range(0, len(items) - QUESTIONS + 1, QUESTIONS):
            rate = LEARNING_RATE * min(1.0, step / WARM_UP) * max(0.02, 1 - step / steps)
            for group in optimizer.param_groups:
                group["lr"] = rate
            loss = loss_of(scorer, [drawn(item) for item in items[start : start + QUESTIONS]])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learnt, 1.0)
            optimizer.step()
            step, total = step + 1, total + loss.item()
            if step % 100 == 0:
                gone = time.monotonic() - began
                print(f"step {step} of {steps}, loss {total / 100:.3f}, {gone:.0f} s", flush=True)
                total = 0.0
        states = [*states, state_of(scorer.reader)][-AVERAGED:]
        write(mean_of(states), out)


def state_of(reader: Reader) -> dict[str, Tensor]:
    """What was learnt, by the names that it has in the file."""
    learnt = {WEIGHT: SHARPNESS * reader.weight, BIAS: reader.bias}
    for name, change in reader.changes.items():
        learnt |= {f"{name}.lora_a": change.a, f"{name}.lora_b": change.b}
    return {name: values.detach().clone() for name, values in learnt.items()}


def mean_of(states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The weights in the middle of some states (Izmailov et al. 2018, arXiv:1803.05407).

    The mean of products B · A is the product of all B and all A side by side, of a higher rank.
    """
    found = {}
    for name in states[0]:
        values = [state[name] for state in states]
        if name.endswith(".lora_a"):
            found[name] = torch.cat(values, 0)
        elif name.endswith(".lora_b"):
            found[name] = torch.cat(values, 1) / len(states)
        else:
            found[name] = torch.stack(values).mean(0)
    return found


def write(state: dict[str, Tensor], path: Path) -> None:
    """As an adapter for llama.cpp, with the head besides."""
    tensors: list[NewTensor] = []
    data: list[Iterable[bytes]] = []
    rank = RANK
    for name, values in state.items():
        low = ".lora_" in name
        rank = values.shape[0] if name.endswith(".lora_a") else rank
        tensors.append(NewTensor(name, tuple(values.shape), "F16" if low else "F32"))
        kind = torch.float16 if low else torch.float32
        data.append([values.to(kind).contiguous().numpy().tobytes()])
    told = {"general.type": "adapter", "general.architecture": "bert", "adapter.type": "lora"}
    metadata = [pair(key, value) for key, value in told.items()]
    alpha = pair("adapter.lora.alpha", ALPHA / RANK * rank)
    with path.open("wb") as file:
        write_gguf(file, [*metadata, alpha], tensors, data)
