"""The GGUF reader: right about good files, and nothing but ModelFormatError about bad ones."""

import struct
import time

import gguf
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.gguf import GGUFFile, ModelFormatError

TENSOR = np.arange(96, dtype=np.float32).reshape(3, 32)


def write_sample(path):
    """A small file with every kind of value, made by the `gguf` package."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint32("count", 7)
    writer.add_int64("negative", -(1 << 40))
    writer.add_float32("ratio", 0.5)
    writer.add_bool("flag", True)
    writer.add_string("greeting", "grüß dich")
    writer.add_array("words", ["a", "", "ĠĠ", "długie słowo"])
    writer.add_array("numbers", [1, -2, 3])
    writer.add_array("ratios", [0.25, 4.0])
    writer.add_tensor("first", TENSOR)
    quantized = gguf.quants.quantize(TENSOR, gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("second", quantized, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return write_sample(tmp_path_factory.mktemp("gguf") / "sample.gguf")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("scratch") / "file.gguf"


def read(scratch, data):
    """Open, look at every tensor, close: what a mutated file must not break."""
    scratch.write_bytes(data)
    with GGUFFile(scratch) as file:
        for name, info in file.tensors.items():
            assert file.tensor_bytes(name).size == info.size
            int(file.tensor_bytes(name).sum())
        file.content_hash()
        return file.metadata, dict(file.tensors)


def refusal(scratch, data):
    """Why a file is refused; only its name if it is not."""
    try:
        read(scratch, data)
    except ModelFormatError as error:
        return str(error)
    return "file.gguf: "


def header(version=3, tensors=0, pairs=0):
    return b"GGUF" + struct.pack("<IQQ", version, tensors, pairs)


def string(text):
    raw = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(raw)) + raw


def tensor(name="t", dimensions=(32,), kind=0, offset=0):
    shape = struct.pack(f"<{len(dimensions)}Q", *dimensions)
    return (
        string(name) + struct.pack("<I", len(dimensions)) + shape + struct.pack("<IQ", kind, offset)
    )


def file_of(*tensors, pairs=b"", count=0, data=b"\0" * 4096):
    head = header(3, len(tensors), count) + pairs + b"".join(tensors)
    return head + b"\0" * (-len(head) % 32) + data


def test_reads_what_the_gguf_package_wrote(sample, scratch):
    metadata, tensors = read(scratch, sample)
    assert metadata == {
        "general.architecture": "llama",
        "count": 7,
        "negative": -(1 << 40),
        "ratio": 0.5,
        "flag": True,
        "greeting": "grüß dich",
        "words": ["a", "", "ĠĠ", "długie słowo"],
        "numbers": [1, -2, 3],
        "ratios": [0.25, 4.0],
    }
    assert metadata["flag"] is True
    assert tensors["first"].shape == (3, 32)
    assert tensors["second"].type_name == "Q8_0"
    with GGUFFile(scratch) as file:
        np.testing.assert_array_equal(file.tensor_bytes("first").view(np.float32), TENSOR.ravel())


def test_versions_1_and_2(scratch):
    """Version 1 has 32-bit counts and lengths."""

    def short(text):
        return struct.pack("<I", len(text)) + text.encode()

    words = short("words") + struct.pack("<III", 9, 8, 2) + short("a") + short("bc")
    one = b"GGUF" + struct.pack("<III", 1, 1, 1) + words
    one += short("t") + struct.pack("<IIIQ", 1, 8, 0, 0)
    one += b"\0" * (-len(one) % 32) + np.arange(8, dtype=np.float32).tobytes()
    metadata, tensors = read(scratch, one)
    assert metadata == {"words": ["a", "bc"]}
    assert tensors["t"].shape == (8,)
    assert read(scratch, file_of(tensor()).replace(b"GGUF\x03", b"GGUF\x02"))[1]["t"].size == 128


def test_views_are_not_copies(sample, scratch):
    scratch.write_bytes(sample)
    with GGUFFile(scratch) as file:
        view = file.tensor_bytes("first")
        assert not view.flags.owndata
        assert not view.flags.writeable
        del view


def test_content_hash_follows_the_content_alone(sample, tmp_path):
    def hash_of(name, data):
        (tmp_path / name).write_bytes(data)
        with GGUFFile(tmp_path / name) as file:
            return file.content_hash()

    assert hash_of("a", sample) == hash_of("b", sample)
    assert hash_of("c", sample[:-1] + b"\x55") != hash_of("a", sample)
    assert hash_of("d", sample + b"\0") != hash_of("a", sample)


KEY = string("k")
HUGE = struct.pack("<Q", 1 << 62)
BAD_FILES = {
    "empty": (b"", "empty"),
    "not a GGUF file": (b"PK\x03\x04" + b"\0" * 100, "magic"),
    "version 4": (header(4), "version"),
    "big-endian": (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "version"),
    "too many tensors": (header(tensors=1 << 60), "tensors"),
    "too many pairs": (header(pairs=1 << 60), "pairs"),
    "endless key": (header(pairs=1) + HUGE + b"\0" * 64, "key 0"),
    "long key": (header(pairs=1) + string("k" * 70_000) + b"\0" * 64, "at most 65535"),
    "key not UTF-8": (header(pairs=1) + string(b"\xff\xfe") + b"\0" * 64, "UTF-8"),
    "endless string": (header(pairs=1) + KEY + struct.pack("<I", 8) + HUGE, "value of 'k'"),
    "unknown value type": (header(pairs=1) + KEY + struct.pack("<I", 77) + b"\0" * 64, "77"),
    "endless array": (header(pairs=1) + KEY + struct.pack("<II", 9, 4) + HUGE, "value of 'k'"),
    "endless words": (header(pairs=1) + KEY + struct.pack("<II", 9, 8) + HUGE, "value of 'k'"),
    "word past the end": (
        header(pairs=1) + KEY + struct.pack("<IIQ", 9, 8, 2) + string("a") + HUGE,
        r"'k'\[1\]",
    ),
    "deep arrays": (
        header(pairs=1) + KEY + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 50 + b"\0" * 99,
        "nested deeper than 3",
    ),
    "array of unknown type": (
        header(pairs=1) + KEY + struct.pack("<IIQ", 9, 99, 1) + b"\0" * 64,
        "element type 99",
    ),
    "key twice": (
        header(pairs=2) + (KEY + struct.pack("<IB", 0, 1)) * 2 + b"\0" * 64,
        "'k' is there twice",
    ),
    "no dimensions": (file_of(tensor(dimensions=())), "0 dimensions"),
    "five dimensions": (file_of(tensor(dimensions=(32, 1, 1, 1, 1))), "5 dimensions"),
    "empty dimension": (file_of(tensor(dimensions=(32, 0))), "empty dimension"),
    "overflowing product": (file_of(tensor(dimensions=(1 << 33, 1 << 33))), "file ends"),
    "half a block": (file_of(tensor(dimensions=(48,), kind=8)), "multiple of 32"),
    "unknown tensor type": (file_of(tensor(kind=4000)), "unknown tensor type 4000"),
    "past the end": (file_of(tensor(offset=4096)), "file ends"),
    "offset near 2^64": (file_of(tensor(offset=(1 << 64) - 32)), "file ends"),
    "unaligned": (file_of(tensor(offset=8)), "not aligned to 32"),
    "overlapping": (file_of(tensor("a"), tensor("b", offset=96)), "overlaps"),
    "same name": (file_of(tensor("a"), tensor("a", offset=128)), "same name"),
    "alignment": (
        file_of(tensor(), pairs=string("general.alignment") + struct.pack("<II", 4, 33), count=1),
        "general.alignment is 33",
    ),
    "alignment of zero": (
        file_of(tensor(), pairs=string("general.alignment") + struct.pack("<II", 4, 0), count=1),
        "general.alignment is 0",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_by_field(scratch, name):
    data, message = BAD_FILES[name]
    with pytest.raises(ModelFormatError, match=message):
        read(scratch, data)


def test_errors_name_the_file_and_the_offset(scratch):
    with pytest.raises(ModelFormatError, match=r"^file\.gguf: version at offset 8: is 4"):
        read(scratch, header(4))


def test_truncated_at_every_byte_of_the_header(sample, scratch):
    """Wherever the file is cut, the reader says so."""
    last = read(scratch, sample)[1]["second"]
    for length in range(last.offset + last.size):  # what follows is padding
        with pytest.raises(ModelFormatError):
            read(scratch, sample[:length])


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_mutated_files_raise_nothing_but_model_format_error(sample, scratch, data):
    mutated = bytearray(sample)
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(4, len(mutated) - 9))
        if data.draw(st.booleans()):
            mutated[position] = data.draw(st.integers(0, 255))
        else:
            extremes = [0, 1, 8, 9, 1 << 31, (1 << 32) - 1, 1 << 62, (1 << 64) - 1]
            mutated[position : position + 8] = struct.pack(
                "<Q", data.draw(st.sampled_from(extremes))
            )
    assert refusal(scratch, bytes(mutated)).startswith("file.gguf: ")


@settings(max_examples=200, deadline=None)
@given(tail=st.binary(max_size=300), tensors=st.integers(0, 9), pairs=st.integers(0, 9))
def test_random_bytes_after_a_header(scratch, tail, tensors, pairs):
    assert refusal(scratch, header(3, tensors, pairs) + tail).startswith("file.gguf: ")


def test_a_vocabulary_of_49152_words_is_read_quickly(model_path):
    start = time.perf_counter()
    with GGUFFile(model_path) as file:
        elapsed = time.perf_counter() - start
        assert len(file.metadata["tokenizer.ggml.tokens"]) == 49152
    assert elapsed < 0.3, "0.07 s on an idle core"
