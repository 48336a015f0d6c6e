"""The reader of safetensors files: against the official library, and against hostile headers."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from engine.gguf import ModelFormatError
from engine.safetensors import SafetensorsFile

TENSORS = {
    "a.weight": np.arange(12, dtype=np.float32).reshape(3, 4),
    "half": np.linspace(-1, 1, 6, dtype=np.float16),
    "ids": np.arange(5, dtype=np.int64),
    "scalar": np.array(2.5, np.float32),
    "empty": np.zeros((0, 3), np.float32),
}


@pytest.fixture
def path(tmp_path):
    save_file(TENSORS, tmp_path / "m.safetensors", metadata={"format": "pt"})
    return tmp_path / "m.safetensors"


def test_reads_what_the_official_library_writes(path):
    with SafetensorsFile(path) as file:
        assert set(file.tensors) == set(TENSORS)
        for name, values in TENSORS.items():
            assert file.tensors[name].shape == values.shape
            assert file.tensor_bytes(name).tobytes() == values.tobytes()
        assert file.tensor_bytes("a.weight", 4, 8).tobytes() == values_of("a.weight")[4:12]
        with pytest.raises(ValueError, match="of a tensor of 48"):
            file.tensor_bytes("a.weight", 44, 8)


def values_of(name):
    return TENSORS[name].tobytes()


def test_the_hash_is_the_contents(path, tmp_path):
    other = tmp_path / "other.safetensors"
    other.write_bytes(path.read_bytes())
    with SafetensorsFile(path) as one, SafetensorsFile(other) as two:
        assert one.content_hash() == two.content_hash()
    save_file(TENSORS | {"half": TENSORS["half"] + 1}, other)
    with SafetensorsFile(path) as one, SafetensorsFile(other) as two:
        assert one.content_hash() != two.content_hash()


def test_a_file_cut_short_after_it_was_opened(path):
    with SafetensorsFile(path) as file:
        path.write_bytes(path.read_bytes()[:-4])
        last = max(file.tensors.values(), key=lambda info: info.offset + info.size)
        with pytest.raises(ModelFormatError, match="cut short"):
            file.tensor_bytes(last.name)


def write(folder: Path, header: object, data: bytes = b"", length: int | None = None) -> Path:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(raw) if length is None else length
    path = folder / "hostile.safetensors"
    path.write_bytes(size.to_bytes(8, "little") + raw + data)
    return path


def tensor(shape, first, last, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [first, last]}


@pytest.mark.parametrize(
    ("header", "data", "said"),
    [
        ([], b"", "not a JSON object"),
        (b"{", b"", "2 to 1"),
        (b'{"a"', b"1234", "not JSON"),
        (b'{"a":"\xff"}', b"", "not JSON"),
        (b"[" * 100_000, b"", "not JSON"),
        ({"a": 1}, b"", "'a'"),
        ({"a": {"dtype": "F32"}}, b"", "missing required field"),
        ({"a": tensor([1], 0, 4, "Q9")}, b"1234", "unknown type"),
        ({"a": tensor([-1], 0, 4)}, b"1234", "impossible shape"),
        ({"a": tensor([1 << 60], 0, 4)}, b"1234", "impossible shape"),
        ({"a": tensor([1] * 9, 0, 4)}, b"1234", "impossible shape"),
        ({"a": tensor([1 << 40, 1 << 40], 0, 4)}, b"1234", "it has"),
        ({"a": tensor([1], -4, 0)}, b"1234", "lies at"),
        ({"a": tensor([1], 4, 0)}, b"1234", "lies at"),
        ({"a": tensor([2], 0, 4)}, b"1234", "lies at"),
        ({"a": tensor([1], 4, 8)}, b"12345678", "hole"),
        ({"a": tensor([1], 0, 4), "b": tensor([2], 0, 8)}, b"12345678", "overlap"),
        ({"a": tensor([1], 0, 4)}, b"12345678", "the file's data 8"),
        ({"a": tensor([2], 0, 8)}, b"1234", "the file's data 4"),
        ({"a": tensor([1.5], 0, 4)}, b"1234", "'a'"),
        ({"a": tensor([1], 0, 1 << 70)}, b"1234", "'a'"),
    ],
)
def test_headers_that_do_not_add_up(tmp_path, header, data, said):
    with pytest.raises(ModelFormatError, match=said):
        SafetensorsFile(write(tmp_path, header, data))


@pytest.mark.parametrize("length", [0, 1, 100, 1 << 40, (1 << 64) - 1])
def test_header_sizes_that_do_not_fit(tmp_path, length):
    with pytest.raises(ModelFormatError, match="the header has"):
        SafetensorsFile(write(tmp_path, {}, b"", length))


def test_an_empty_file(tmp_path):
    (tmp_path / "m").write_bytes(b"")
    with pytest.raises(ModelFormatError, match="0 bytes"):
        SafetensorsFile(tmp_path / "m")


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_file_is_read_or_refused(path, tmp_path, data):
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    raw = raw[: data.draw(st.integers(0, len(raw)))]
    damaged = tmp_path / "damaged"
    damaged.write_bytes(raw)
    try:
        with SafetensorsFile(damaged) as file:
            for name, info in file.tensors.items():
                assert file.tensor_bytes(name).size == info.size
    except ModelFormatError:
        pass
