"""A real cross-encoder, small, whose weights are set so that it does one thing.

It reads which share of the question's words is in the text. Nothing is trained: the first layer's
attention finds equal words, its feed-forward part keeps those of the question that stand alone, the
second layer averages them for [CLS].
"""

from collections.abc import Iterable
from pathlib import Path

WORD = 48
"""Numbers of a hidden state that tell the word; then its segment, and what is reckoned."""
SEGMENT, OPPOSITE, ALONE, UNMATCHED, SHARE = range(WORD, WORD + 5)
HIDDEN = 64


def word_matcher(folder: Path, words: Iterable[str]) -> Path:
    """Write the model for lower-case ``words`` into ``folder``; the better text scores higher."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(set(words))]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=128).save_pretrained(folder)
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=HIDDEN,
            num_hidden_layers=2,
            num_attention_heads=1,
            intermediate_size=1,
            hidden_act="relu",
            max_position_embeddings=128,
            num_labels=1,
        )
    ).eval()
    with torch.no_grad():
        for name, values in model.named_parameters():
            values.fill_(1.0 if "LayerNorm.weight" in name else 0.0)
        _set(model, torch.Generator().manual_seed(1))
    model.save_pretrained(folder)
    return folder


def _set(model, chance):
    import torch

    bert, half = model.bert, torch.tensor([1.0, -1.0]).repeat(WORD // 2)
    for vector in bert.embeddings.word_embeddings.weight:  # of one length, with the mean 0
        vector[:WORD] = half[torch.randperm(WORD, generator=chance)]
    segments = bert.embeddings.token_type_embeddings.weight
    segments[:, SEGMENT] = torch.tensor([4.0, -4.0])
    segments[:, OPPOSITE] = -segments[:, SEGMENT]

    equal, read = (layer.attention for layer in bert.encoder.layer)
    for part in (equal.self.query, equal.self.key):
        part.weight[range(WORD), range(WORD)] = 3.0
    equal.self.value.weight[ALONE, SEGMENT] = 1.0  # 0 where both segments have the word
    equal.output.dense.weight[ALONE, ALONE] = 1.0
    bert.encoder.layer[0].intermediate.dense.weight[0, ALONE] = 1.0  # above 0: the question's
    bert.encoder.layer[0].output.dense.weight[UNMATCHED, 0] = 1.0

    read.self.query.bias[SEGMENT] = 40.0
    read.self.key.weight[SEGMENT, SEGMENT] = 1.0  # the question alone is averaged
    read.self.value.weight[SHARE, UNMATCHED] = 1.0
    read.output.dense.weight[SHARE, SHARE] = 1.0
    bert.pooler.dense.weight[0, SHARE] = 0.5
    model.classifier.weight[0, 0] = -4.0
