"""Models that skip what is zero compute what they compute without, and read less."""

import gguf
import numpy as np
import pytest

from bench.families import CASES, random_model
from bench.gguf_files import write
from engine.model import Model
from engine.sparsity import neurons
from engine.sparsity.calibrated import Sparsity

DENSE = Sparsity(zeros=False)
SPARSE_FAMILIES = ["relu llama", "drelu llama", "opt", "bitnet-b1.58"]


@pytest.fixture
def load(tmp_path):
    """Loads a file, and closes what it has loaded."""
    loaded = []

    def load_(path, **options):
        loaded.append(Model.load(path, threads=2, cache_directory=tmp_path / "cache", **options))
        return loaded[-1]

    yield load_
    for one in loaded:
        one.close()


def decoded(model, tokens, prompt=3):
    """Logits of a prompt's last token and of those after it, one by one."""
    cache = model.new_cache()
    first = model.forward(tokens[:prompt], cache)
    return np.concatenate([first, *(model.forward(t[None], cache) for t in tokens[prompt:])])


TOKENS = np.random.default_rng(3).integers(0, 75, 24).astype(np.int32)


@pytest.mark.parametrize("name", SPARSE_FAMILIES)
@pytest.mark.parametrize("type_name", ["Q8_0", "Q4_1"])
def test_decoding_without_zeros_changes_no_bit(tmp_path, load, name, type_name):
    case = CASES[name]
    write(tmp_path / "m.gguf", case, random_model(case), type_name)
    sparse, dense = load(tmp_path / "m.gguf"), load(tmp_path / "m.gguf", sparsity=DENSE)
    assert dense.neurons is None
    np.testing.assert_array_equal(decoded(sparse, TOKENS), decoded(dense, TOKENS))
    for layer in sparse.neurons.activity():
        active = 0.25 if name == "drelu llama" else 0.5  # half of random numbers are positive
        assert abs(layer.columns - active) < 0.15
        assert layer.rows == 1.0 if name == "opt" else layer.columns <= layer.rows < 0.8
    sparse.neurons.set_break_even(0.0)
    np.testing.assert_array_equal(decoded(sparse, TOKENS), decoded(dense, TOKENS))


@pytest.mark.parametrize("name", ["relu llama", "opt"])
def test_records_that_are_asked_for_before_they_are_read_are_the_same(
    tmp_path, load, monkeypatch, name
):
    """As where memory is short; with a gate they are asked for with it, else before down."""
    write(tmp_path / "m.gguf", CASES[name], random_model(CASES[name]), "Q8_0")
    plain = decoded(load(tmp_path / "m.gguf"), TOKENS)
    monkeypatch.setattr(neurons, "stay", lambda *_: True)
    asking = load(tmp_path / "m.gguf")
    assert asking.neurons.locked
    np.testing.assert_array_equal(decoded(asking, TOKENS), plain)


def test_a_model_without_zeros_has_nothing_to_skip(tmp_path, load):
    case = CASES["llama"]
    write(tmp_path / "m.gguf", case, random_model(case), "Q8_0")
    assert load(tmp_path / "m.gguf").neurons is None
    case = CASES["relu llama"]
    write(tmp_path / "exact.gguf", case, random_model(case), "F32")
    assert load(tmp_path / "exact.gguf").neurons is None


def wide_model(path, activation):
    """One layer whose feed-forward matrices are long enough to be claimed in pieces."""
    random = np.random.default_rng(1)
    dim, ffn, vocabulary = 256, 20_480, 64
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(dim)
    writer.add_head_count(4)
    writer.add_feed_forward_length(ffn)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_string("llama.hidden_activation", activation)
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(dim, np.float32))
    shapes = {"token_embd": (vocabulary, dim)}
    shapes |= {f"blk.0.attn_{name}": (dim, dim) for name in ("q", "k", "v", "output")}
    shapes |= {"blk.0.ffn_gate": (ffn, dim), "blk.0.ffn_up": (ffn, dim)}
    for name, shape in (shapes | {"blk.0.ffn_down": (dim, ffn)}).items():
        values = random.normal(0, 1 / np.sqrt(shape[1]), shape).astype(np.float32)
        kind = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(f"{name}.weight", gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("activation", ["silu", "relu"])
def test_wide_layers_are_finished_before_they_are_activated(tmp_path, load, activation):
    """A product that threads claim in pieces is not over when a share's own blocks are."""
    wide_model(tmp_path / "m.gguf", activation)
    model = load(tmp_path / "m.gguf", sparsity=DENSE)
    together = model.forward(TOKENS[:16] % 64, model.new_cache(), want="all")
    for _ in range(20):
        alone = decoded(model, TOKENS[:16] % 64, prompt=1)
        np.testing.assert_array_equal(alone, together)
    if activation == "relu":
        sparse = load(tmp_path / "m.gguf")
        np.testing.assert_array_equal(decoded(sparse, TOKENS[:16] % 64, 1), together)
        sparse.neurons.set_break_even(0.0)  # what all is read for is claimed in pieces as well
        for _ in range(20):
            np.testing.assert_array_equal(decoded(sparse, TOKENS[:16] % 64, 1), together)
