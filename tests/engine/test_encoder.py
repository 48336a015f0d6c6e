"""Encoders against transformers and sentence-transformers: tiny random models, and the real one."""

import json
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
import transformers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordPiece

from engine.embed import TextEncoder
from engine.errors import EngineError
from engine.gguf import ModelFormatError
from rag.embed import model_folder

EVALUATION = Path(__file__).parents[3] / "shared" / "eval" / "xquad.en.json"
LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *(f"##{c}" for c in LETTERS), "."]
TEXTS = ["a", "hello there.", "the sea is wide and the ship is small. " * 3, "", "Zo\u00eb!"]


def tokenizer_of_letters() -> Tokenizer:
    pieces = {token: index for index, token in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(WordPiece(vocab=pieces, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def random_model(kind: str) -> transformers.PreTrainedModel:
    """A small BERT or XLM-RoBERTa whose weights are large enough to matter."""
    configs = {"bert": transformers.BertConfig, "xlm-roberta": transformers.XLMRobertaConfig}
    torch.manual_seed(7)
    config = configs[kind](
        vocab_size=len(VOCABULARY),
        hidden_size=96,
        num_hidden_layers=3,
        num_attention_heads=3,
        intermediate_size=160,
        max_position_embeddings=80,
        pad_token_id=0,
        initializer_range=0.15,
    )
    classes = {"bert": transformers.BertModel, "xlm-roberta": transformers.XLMRobertaModel}
    model = classes[kind](config).eval()
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter, std=0.2)
        elif "LayerNorm" in name:
            torch.nn.init.normal_(parameter, mean=1.0, std=0.2)
    return model


def write_folder(folder: Path, kind: str = "bert", pooling: str = "mean", **prompts: str) -> Path:
    """As sentence-transformers keeps a model on the Hub."""
    random_model(kind).save_pretrained(folder)
    tokenizer_of_letters().save(str(folder / "tokenizer.json"))
    types = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
    prefix = "sentence_transformers.models"
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"{prefix}.{name}"}
        for i, (name, path) in enumerate(types)
    ]
    (folder / "1_Pooling").mkdir()
    settings_of = {
        "modules.json": modules,
        "1_Pooling/config.json": {
            "word_embedding_dimension": 96,
            "pooling_mode_cls_token": pooling == "cls",
            "pooling_mode_mean_tokens": pooling == "mean",
        },
        "sentence_bert_config.json": {"max_seq_length": 64, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": prompts},
    }
    for name, value in settings_of.items():
        (folder / name).write_text(json.dumps(value))
    return folder


def exact_vectors(kind: str, pooling: str, texts: list[str], limit: int = 64) -> np.ndarray:
    """float32 (texts, dim) by transformers, each text alone."""
    model, tokenizer = random_model(kind), tokenizer_of_letters()
    tokenizer.enable_truncation(limit)
    vectors = []
    for text in texts:
        with torch.no_grad():
            states = model(torch.tensor([tokenizer.encode(text).ids])).last_hidden_state[0]
        vectors.append((states[0] if pooling == "cls" else states.mean(0)).numpy())
    return np.stack([vector / np.linalg.norm(vector) for vector in vectors])


def write_gguf(path: Path) -> Path:
    """As llama.cpp's converter writes the random BERT: names of the `gguf` package's own map."""
    model = random_model("bert")
    config = model.config
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_layer_norm_eps(config.layer_norm_eps)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_tokenizer_model("bert")
    writer.add_token_list([phantom(token) for token in VOCABULARY])
    writer.add_token_types([3] * 4 + [1] * (len(VOCABULARY) - 4))
    writer.add_unk_token_id(1)
    writer.add_bos_token_id(2)
    writer.add_sep_token_id(3)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, config.num_hidden_layers)
    for name, values in model.state_dict().items():
        if name.startswith(("embeddings.", "encoder.")) and name != "embeddings.position_ids":
            translated = names.get_name(name, try_suffixes=(".weight", ".bias"))
            writer.add_tensor(translated, values.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def phantom(token: str) -> str:
    """A token as the converter spells it: the beginnings of words are marked instead."""
    if token.startswith("["):
        return token
    return token[2:] if token.startswith("##") else "\u2581" + token


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


@pytest.mark.parametrize(
    ("kind", "pooling"), [("bert", "mean"), ("bert", "cls"), ("xlm-roberta", "mean")]
)
def test_random_models_from_folders(tmp_path, kind, pooling):
    folder = write_folder(tmp_path, kind, pooling)
    with TextEncoder.load(folder, threads=2) as encoder:
        vectors = encoder.embed(TEXTS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert cosines(vectors, exact_vectors(kind, pooling, TEXTS)).min() > 0.999


def test_a_random_model_from_gguf(tmp_path):
    with TextEncoder.load(write_gguf(tmp_path / "tiny.gguf"), threads=1) as encoder:
        assert encoder.name == "tiny"
        vectors = encoder.embed(TEXTS)
    assert cosines(vectors, exact_vectors("bert", "mean", TEXTS, limit=80)).min() > 0.999


def test_prompts_that_the_model_names(tmp_path):
    folder = write_folder(tmp_path, query="query ", document="passage ")
    with TextEncoder.load(folder, threads=1) as encoder:
        plain = encoder.embed(["query sea", "passage sea", "sea"])
        asked, told = encoder.embed(["sea"], "query"), encoder.embed(["sea"], "passage")
        assert len(encoder.tokens(["a" * 90], "query")[0]) == 64
    np.testing.assert_allclose(np.concatenate([asked, told]), plain[:2], atol=1e-6)
    assert not np.allclose(plain[2], plain[0], atol=1e-2)


def test_packed_weights_are_kept_and_mapped(tmp_path):
    folder, cache = write_folder(tmp_path / "model"), tmp_path / "cache"
    stages: list[str] = []
    with TextEncoder.load(folder, threads=1, cache_directory=cache) as encoder:
        first = encoder.embed(TEXTS)
    with TextEncoder.load(
        folder, threads=1, cache_directory=cache, progress=lambda stage, _: stages.append(stage)
    ) as encoder:
        np.testing.assert_array_equal(encoder.embed(TEXTS), first)
    assert len(list(cache.iterdir())) == 1
    assert "packing weights" not in stages


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("config.json", {"model_type": "t5"}, "model_type 't5'"),
        ("config.json", {"hidden_act": "relu"}, "hidden_act"),
        ("config.json", {"position_embedding_type": "relative_key"}, "relative_key"),
        ("config.json", {"num_attention_heads": 0}, "num_attention_heads"),
        ("config.json", {"num_attention_heads": 5}, "heads of a multiple of 16"),
        ("config.json", {"num_hidden_layers": 4}, "'blk.3"),
        ("config.json", {"num_hidden_layers": 2}, "'blk.2"),
        ("config.json", {"num_hidden_layers": 1 << 40}, "layers"),
        ("config.json", {"vocab_size": 7}, "token_embd"),
        ("config.json", {"layer_norm_eps": -1.0}, "epsilon"),
        ("config.json", {"hidden_size": "wide"}, "config.json"),
        ("sentence_bert_config.json", {"max_seq_length": 81}, "81 tokens"),
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "max_tokens"),
    ],
)
def test_settings_that_cannot_be_followed(tmp_path, file, change, said):
    folder = write_folder(tmp_path)
    path = folder / file
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ModelFormatError, match=said):
        TextEncoder.load(folder, threads=1)


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        ([{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}], "Dense"),
        ([{"type": "sentence_transformers.models.Pooling", "path": "../.."}], "leaves the folder"),
        ({"not": "a list"}, "modules.json"),
    ],
)
def test_modules_that_cannot_be_followed(tmp_path, modules, said):
    folder = write_folder(tmp_path)
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ModelFormatError, match=said):
        TextEncoder.load(folder, threads=1)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_files_that_are_missing(tmp_path, name):
    folder = write_folder(tmp_path)
    (folder / name).unlink()
    with pytest.raises(EngineError, match=name):
        TextEncoder.load(folder, threads=1)


@pytest.mark.parametrize(
    "name", ["embeddings.position_embeddings.weight", "encoder.layer.1.output.dense.weight"]
)
def test_weights_that_are_no_numbers_are_refused(tmp_path, name):
    folder = write_folder(tmp_path)
    tensors = load_file(folder / "model.safetensors")
    tensors[name][3, 5] = np.nan
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(ModelFormatError, match="not all finite numbers"):
        TextEncoder.load(folder, threads=1)


def test_texts_out_of_bounds_are_refused(tiny):
    encoder = tiny.encoder
    for texts in ([], [[]], [[2] * 65], [[2] * 64] * 5, [[len(VOCABULARY)]], [[-1]]):
        with pytest.raises(ValueError, match=r"tokens|token id"):
            encoder.encode(texts)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    with TextEncoder.load(write_folder(tmp_path_factory.mktemp("tiny")), threads=2) as encoder:
        yield encoder


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(st.integers(0, len(VOCABULARY) - 1), min_size=1, max_size=64),
        min_size=1,
        max_size=12,
    )
)
def test_a_vector_does_not_depend_on_the_texts_beside_it(tiny, texts):
    chosen = list(tiny.slices(texts))
    assert sorted(n for numbers in chosen for n in numbers) == list(range(len(texts)))
    for numbers in chosen:
        together = tiny.encoder.encode([texts[n] for n in numbers])
        alone = np.concatenate([tiny.encoder.encode([texts[n]]) for n in numbers])
        np.testing.assert_allclose(together, alone, atol=1e-5)


def test_minilm_agrees_with_sentence_transformers_on_500_texts(tmp_path):
    if not EVALUATION.is_file():
        pytest.skip(f"no {EVALUATION}: the texts of the comparison")
    paragraphs = [p for a in json.loads(EVALUATION.read_text())["data"] for p in a["paragraphs"]]
    questions = [q["question"] for p in paragraphs for q in p["qas"]]
    texts = [p["context"] for p in paragraphs[::4]] + questions[::2]
    texts = texts[:500]
    torch.set_num_threads(1)
    oracle = SentenceTransformer(str(model_folder()), device="cpu", local_files_only=True)
    exact = oracle.encode(texts, batch_size=32, normalize_embeddings=True)
    with TextEncoder.load(model_folder(), threads=2, cache_directory=tmp_path) as encoder:
        found = encoder.embed(texts)
    assert len(texts) == 500
    assert cosines(found, exact).min() > 0.999
