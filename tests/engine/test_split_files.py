"""Models in several files, as llama.cpp and the `gguf` package split them."""

import re
import struct

import gguf
import numpy as np
import pytest

from engine.gguf import GGUFFile, ModelFormatError

TENSORS = {f"t{i}": np.arange(32 * (i + 1), dtype=np.float32) + i for i in range(5)}


@pytest.fixture
def folder(tmp_path):
    """Five tensors in three files."""
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama", split_max_tensors=2)
    writer.add_string("greeting", "hello")
    for name, values in TENSORS.items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tmp_path


def part(folder, number, count=3):
    return folder / f"m-{number:05}-of-{count:05}.gguf"


def refused(folder, message, number=1):
    path = part(folder, number)
    with pytest.raises(ModelFormatError, match=rf"^{re.escape(path.name)}: .*{message}"):
        GGUFFile(path)


def edit(path, key, format_, value):
    """Change a number of the metadata where it stands."""
    data = path.read_bytes()
    position = data.index(key.encode()) + len(key) + 4
    raw = struct.pack(format_, value)
    path.write_bytes(data[:position] + raw + data[position + len(raw) :])


def test_all_parts_are_one_model(folder):
    with GGUFFile(part(folder, 1)) as file:
        assert file.metadata["greeting"] == "hello"
        assert sorted(file.tensors) == sorted(TENSORS)
        assert {info.part for info in file.tensors.values()} == {0, 1, 2}
        for name, values in TENSORS.items():
            np.testing.assert_array_equal(file.tensor_bytes(name).view(np.float32), values)


def test_the_content_hash_is_of_all_parts(folder):
    def content_hash():
        with GGUFFile(part(folder, 1)) as file:
            return file.content_hash()

    before = content_hash()
    last = part(folder, 3)
    last.write_bytes(last.read_bytes()[:-1] + b"\x01")
    assert content_hash() != before


def test_a_missing_part(folder):
    part(folder, 2).unlink()
    refused(folder, "its part m-00002-of-00003.gguf is missing")


def test_another_part_than_the_first(folder):
    refused(folder, "not the first part: open m-00001-of-00003.gguf", number=2)


def test_a_part_that_was_renamed(folder):
    part(folder, 1).rename(folder / "model.gguf")
    with pytest.raises(ModelFormatError, match="must be named NAME-00001-of-00003"):
        GGUFFile(folder / "model.gguf")


def test_parts_in_the_wrong_order(folder):
    part(folder, 2).rename(folder / "x")
    part(folder, 3).rename(part(folder, 2))
    (folder / "x").rename(part(folder, 3))
    refused(folder, r"m-00002-of-00003\.gguf: split\.no at offset \d+ is 2; 1 is expected")


def test_a_part_of_another_split(folder):
    edit(part(folder, 3), "split.count", "<H", 4)
    refused(folder, r"m-00003-of-00003\.gguf: split\.count at offset \d+ is 4; 3 is expected")


def test_a_wrong_number_of_tensors(folder):
    edit(part(folder, 1), "split.tensors.count", "<i", 6)
    refused(folder, r"split\.tensors\.count at offset \d+ is 6, but the parts have 5")


def test_a_tensor_in_two_parts(folder):
    second = part(folder, 2)
    second.write_bytes(second.read_bytes().replace(b"t2", b"t1"))
    refused(folder, r"m-00002-of-00003\.gguf: tensor 't1' is there twice")


def test_a_damaged_part_is_named_with_its_offset(folder):
    part(folder, 2).write_bytes(b"GGUF\x03\0\0\0" + b"\xff" * 16)
    refused(folder, r"m-00002-of-00003\.gguf: \d+ tensors at offset 16")
