"""Wide layers, whose products threads claim in pieces: a token alone is what it is among others."""

import gguf
import numpy as np

from engine.model import Model

TOKENS = np.random.default_rng(3).integers(0, 64, 16).astype(np.int32)


def wide_model(path):
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


def test_wide_layers_are_finished_before_they_are_activated(tmp_path):
    wide_model(tmp_path / "m.gguf")
    model = Model.load(tmp_path / "m.gguf", threads=2)
    together = model.forward(TOKENS, model.new_cache(), want="all")
    for _ in range(20):
        cache = model.new_cache()
        alone = [model.forward(token[None], cache) for token in TOKENS]
        np.testing.assert_array_equal(np.concatenate(alone), together)
    model.close()
