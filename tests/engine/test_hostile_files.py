"""Bad model files: each is refused by a ModelFormatError that names the field and the offset."""

import struct
import time
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.gguf import GGUFFile, ModelFormatError

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
Q8_0 = 8
HUGE = [1 << 31, (1 << 32) - 1, 1 << 62, 1 << 63, (1 << 64) - 1]


def header(version=3, tensors=0, pairs=0):
    return b"GGUF" + struct.pack("<IQQ", version, tensors, pairs)


def string(text, length=None):
    raw = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw


def pair(key, kind, payload=b""):
    return string(key) + struct.pack("<I", kind) + payload


def array(kind, count, payload=b""):
    return struct.pack("<IQ", kind, count) + payload


def tensor(name="t", dimensions=(32,), kind=0, offset=0, rank=None):
    shape = struct.pack(f"<{len(dimensions)}Q", *dimensions)
    rank = struct.pack("<I", len(dimensions) if rank is None else rank)
    return string(name) + rank + shape + struct.pack("<IQ", kind, offset)


def with_pairs(*pairs):
    return header(pairs=len(pairs)) + b"".join(pairs) + b"\0" * 64


def with_tensors(*tensors, pairs=(), size=4096):
    head = header(3, len(tensors), len(pairs)) + b"".join(pairs) + b"".join(tensors)
    return head + b"\0" * (-len(head) % 32) + b"\0" * size


def alignment(kind, payload):
    return with_tensors(tensor(), pairs=[pair("general.alignment", kind, payload)])


GOOD = with_tensors(
    tensor("first", (32, 3)),
    tensor("second", (64,), Q8_0, 384),
    pairs=[
        pair("count", U32, struct.pack("<I", 7)),
        pair("flag", BOOL, b"\1"),
        pair("ratio", F64, struct.pack("<d", 0.5)),
        pair("greeting", STRING, string("grüß dich")),
        pair("words", ARRAY, array(STRING, 2, string("a") + string("bc"))),
        pair("numbers", ARRAY, array(I16, 3, b"\0" * 6)),
        pair("nested", ARRAY, array(ARRAY, 1, array(U8, 2, b"\1\2"))),
    ],
    size=384 + 68,
)

K = pair("k", ARRAY)
VALUE, ELEMENTS = r"value of 'k' at offset \d+: ", r"length of value of 'k' at offset \d+: "
BAD_FILES = {
    "empty": (b"", "the file is empty"),
    "one byte": (b"G", "magic at offset 0"),
    "an archive": (b"PK\x03\x04" + b"\0" * 100, "magic at offset 0"),
    "an older format": (b"ggjt" + b"\0" * 100, "magic at offset 0"),
    "only the magic": (b"GGUF", "version at offset 4: needs 4 bytes, the file has 0 left"),
    "version 0": (header(0), "version at offset 4: is 0"),
    "version 4": (header(4), "version at offset 4: is 4"),
    "version 2^32 - 1": (header(0xFFFFFFFF), "version at offset 4"),
    "big-endian": (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "version at offset 4: .*big-endian"),
    "big-endian, version 2": (b"GGUF" + struct.pack(">IQQ", 2, 0, 0), "big-endian"),
    "no tensor count": (header()[:12], "tensors count at offset 8: needs 8 bytes"),
    "no pair count": (header()[:20], "metadata pairs count at offset 16: needs 8 bytes"),
    **{f"{n} tensors": (header(tensors=n), f"{n} tensors at offset 16: needs") for n in HUGE},
    **{f"{n} pairs": (header(pairs=n), f"{n} metadata pairs at offset 24: needs") for n in HUGE},
    "100 001 tensors": (header(tensors=100_001) + b"\0" * 2_400_024, "at most 100000 are allowed"),
    "100 001 pairs": (header(pairs=100_001) + b"\0" * 900_009, "at most 100000 are allowed"),
    **{
        f"key of {n} bytes": (header(pairs=1) + string("k", n) + b"\0" * 64, "key 0 at offset 32: ")
        for n in HUGE
    },
    "key of 70 000 bytes": (
        with_pairs(pair("k" * 70_000, U8)),
        "key 0 at offset 32: .*at most 655",
    ),
    "key not UTF-8": (with_pairs(pair(b"\xff\xfe", U8)), "key 0 at offset 32: is not UTF-8"),
    "key twice": (with_pairs(pair("k", U8, b"\1"), pair("k", U8, b"\1")), "'k' is there twice"),
    "no second pair": (header(pairs=2) + pair("k", U8, b"\1"), "metadata pairs|key 1"),
    "no value type": (header(pairs=1) + string("k"), r"type of value of 'k' at offset 33"),
    "value of type 13": (with_pairs(pair("k", 13)), VALUE + "unknown value type 13"),
    "value of type 2^31": (with_pairs(pair("k", 1 << 31)), VALUE + "unknown value type"),
    "half a number": (header(pairs=1) + pair("k", U64, b"\0" * 7), VALUE + "needs 8 bytes"),
    **{
        f"text of {n} bytes": (with_pairs(pair("k", STRING, struct.pack("<Q", n))), VALUE + "needs")
        for n in HUGE
    },
    "text not UTF-8": (with_pairs(pair("k", STRING, string(b"\xc3\x28"))), VALUE + "is not UTF-8"),
    "text of surrogates": (with_pairs(pair("k", STRING, string(b"\xed\xa0\x80"))), "is not UTF-8"),
    **{f"{n} numbers": (with_pairs(K + array(U32, n)), VALUE + "needs") for n in HUGE},
    **{f"{n} bytes": (with_pairs(K + array(U8, n)), VALUE + "needs") for n in HUGE},
    **{f"{n} words": (with_pairs(K + array(STRING, n)), VALUE + "needs") for n in HUGE},
    **{f"{n} arrays": (with_pairs(K + array(ARRAY, n)), VALUE + "needs") for n in HUGE},
    "43 bytes and 2^63 elements": (
        (header(pairs=1) + pair("tok", ARRAY) + array(U8, 1 << 63))[:43],
        "type of value of 'tok'|length of value of 'tok'|element type of value of 'tok'",
    ),
    "no element type": (header(pairs=1) + K, r"element type of value of 'k' at offset 37"),
    "no array length": (header(pairs=1) + K + b"\4\0\0\0", ELEMENTS + "needs 8 bytes"),
    "array of type 99": (with_pairs(K + array(99, 1)), VALUE + "unknown element type 99"),
    "more elements than any model": (
        with_pairs(K + array(U8, 2_000_001, b"\0" * 2_000_001)),
        VALUE + "2000001 array elements up to here",
    ),
    "more elements in two arrays": (
        with_pairs(
            K + array(U8, 1_500_000, b"\0" * 1_500_000),
            pair("l", ARRAY, array(BOOL, 500_001, b"\0" * 500_001)),
        ),
        r"value of 'l' at offset \d+: 2000001 array elements",
    ),
    "empty words without end": (
        with_pairs(K + array(STRING, 2_000_001, b"\0" * 16_000_008)),
        VALUE + "2000001 array elements",
    ),
    "endless word": (
        with_pairs(K + array(STRING, 2, string("a") + string("b", 1 << 62))),
        r"k'\[1\]",
    ),
    "word of 2^64 - 1": (
        with_pairs(K + array(STRING, 1, string("", HUGE[-1]))),
        r"'k'\[0\] at offs",
    ),
    "word not UTF-8": (
        with_pairs(K + array(STRING, 1, string(b"\xff"))),
        r"k'\[0\] .*is not UTF-8",
    ),
    "50 arrays deep": (with_pairs(K + array(ARRAY, 1) * 50), "nested deeper than 3"),
    "nested array too long": (
        with_pairs(K + array(ARRAY, 1, array(U8, 1 << 31))),
        r"k'\[0\] at of",
    ),
    "tensor without name": (header(tensors=1) + b"\0" * 10, "1 tensors at offset 16: needs 24"),
    "tensor name without end": (
        with_tensors(string("t", 1 << 63) + b"\0" * 64),
        r"name of tensor 0 at offset 32: 9\d+ bytes, at most 65535",
    ),
    "tensor name not UTF-8": (with_tensors(tensor(b"\xff")), "name of tensor 0 at offset 32"),
    "no dimensions": (with_tensors(tensor(dimensions=())), r"tensor 't' at offset \d+: 0 dim"),
    "five dimensions": (with_tensors(tensor(dimensions=(32, 1, 1, 1, 1))), "5 dimensions"),
    "2^31 dimensions": (with_tensors(tensor(rank=1 << 31)), "2147483648 dimensions"),
    "dimension cut short": (
        header(tensors=1) + string("t") + struct.pack("<I", 3) + b"\1" * 20,
        r"dimension 2 of tensor 't' at offset 53: needs 8 bytes",
    ),
    "empty dimension": (with_tensors(tensor(dimensions=(32, 0))), "an empty dimension in"),
    "dimension of 2^63": (with_tensors(tensor(dimensions=(1 << 63,))), "the file ends at"),
    "overflowing product": (with_tensors(tensor(dimensions=(1 << 33, 1 << 33))), "file ends at"),
    "product of 2^64": (with_tensors(tensor(dimensions=(1 << 32, 1 << 32))), "the file ends at"),
    "product of 2^256": (with_tensors(tensor(dimensions=(1 << 63,) * 4)), "the file ends at"),
    "half a block": (with_tensors(tensor(dimensions=(48,), kind=Q8_0)), "a multiple of 32"),
    "part of 256": (with_tensors(tensor(dimensions=(128,), kind=12)), "a multiple of 256"),
    "tensor type 4000": (with_tensors(tensor(kind=4000)), "unknown tensor type 4000"),
    "tensor type 2^32 - 1": (with_tensors(tensor(kind=0xFFFFFFFF)), "unknown tensor type"),
    "withdrawn tensor type": (with_tensors(tensor(kind=31)), "type Q4_0_4_4 is not supported"),
    "tensor past the end": (with_tensors(tensor(offset=4096)), "128 bytes, but the file ends at"),
    "tensor over the end": (with_tensors(tensor(offset=4000)), "128 bytes, but the file ends at"),
    "offset near 2^63": (with_tensors(tensor(offset=1 << 63)), "but the file ends at"),
    "offset near 2^64": (with_tensors(tensor(offset=(1 << 64) - 32)), "but the file ends at"),
    "unaligned": (with_tensors(tensor(offset=8)), r"tensor 't' at offset 72: not aligned to 32"),
    "overlapping": (with_tensors(tensor("a"), tensor("b", offset=96)), "'b' at .*: overlaps"),
    "one in another": (with_tensors(tensor("a", (64,)), tensor("b", offset=32)), "overlaps"),
    "same place": (with_tensors(tensor("a"), tensor("b")), "'b' at offset .*: overlaps"),
    "same name": (with_tensors(tensor("a"), tensor("a", offset=128)), "'a' .* the same name"),
    "no data": (with_tensors(tensor(), size=0), "128 bytes, but the file ends at"),
    "alignment 33": (
        alignment(U32, struct.pack("<I", 33)),
        r"general.alignment at offset \d+ is 33",
    ),
    "alignment 0": (alignment(U32, struct.pack("<I", 0)), r"general.alignment at offset \d+ is 0"),
    "alignment -32": (
        alignment(I32, struct.pack("<i", -32)),
        r"general.alignment at offset \d+ is -32",
    ),
    "alignment 2^63": (
        alignment(U64, struct.pack("<Q", 1 << 63)),
        r"general.alignment at offset \d+ is 9",
    ),
    "alignment as text": (
        alignment(STRING, string("32")),
        r"general.alignment at offset \d+ is '32'",
    ),
    "alignment of NaN": (
        alignment(F32, b"\0\0\xc0\x7f"),
        r"general.alignment at offset \d+ is nan",
    ),
    "alignment of true": (alignment(BOOL, b"\1"), r"general.alignment at offset \d+ is True"),
    "part of nothing": (
        with_pairs(pair("split.count", U16, b"\3\0")),
        "must be named NAME-00001-of-00003.gguf",
    ),
    "65 535 parts": (
        with_pairs(pair("split.count", U16, b"\xff\xff")),
        r"split.count at offset \d+ is 65535",
    ),
    "parts as text": (
        with_pairs(pair("split.count", STRING, string("2"))),
        r"split.count at offset \d+ is '2'",
    ),
}


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("scratch") / "file.gguf"


def read(scratch, data):
    """Open, look at every tensor, close: what a bad file must not break."""
    scratch.write_bytes(data)
    with GGUFFile(scratch) as file:
        for name, info in file.tensors.items():
            assert file.tensor_bytes(name).size == info.size
        file.content_hash()
        return file.metadata, dict(file.tensors)


def refusal(scratch, data):
    """Why a file is refused; only its name if it is not."""
    try:
        read(scratch, data)
    except ModelFormatError as error:
        return str(error)
    return "file.gguf: "


def test_the_builder_makes_a_good_file(scratch):
    metadata, tensors = read(scratch, GOOD)
    assert metadata == {
        "count": 7,
        "flag": True,
        "ratio": 0.5,
        "greeting": "grüß dich",
        "words": ["a", "bc"],
        "numbers": [0, 0, 0],
        "nested": [[1, 2]],
    }
    assert tensors["first"].shape == (3, 32)
    assert tensors["second"].size == 68


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_by_field(scratch, name):
    data, message = BAD_FILES[name]
    start = time.perf_counter()
    with pytest.raises(ModelFormatError, match=rf"^file\.gguf: .*({message})"):
        read(scratch, data)
    assert time.perf_counter() - start < 1


def test_bad_files_take_little_memory(scratch):
    for data, _ in BAD_FILES.values():
        scratch.write_bytes(data)
        tracemalloc.start()
        with pytest.raises(ModelFormatError):
            GGUFFile(scratch)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100e6


def test_truncated_at_every_byte(scratch):
    for length in range(len(GOOD)):
        with pytest.raises(ModelFormatError, match=r"^file\.gguf: .+"):
            read(scratch, GOOD[:length])


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_mutated_files_raise_nothing_but_model_format_error(scratch, data):
    mutated = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(4, len(mutated) - 9))
        if data.draw(st.booleans()):
            mutated[position] = data.draw(st.integers(0, 255))
        else:
            extreme = data.draw(st.sampled_from([0, 1, 8, 9, *HUGE]))
            mutated[position : position + 8] = struct.pack("<Q", extreme)
    assert refusal(scratch, bytes(mutated)).startswith("file.gguf: ")


@settings(max_examples=200, deadline=None)
@given(tail=st.binary(max_size=300), tensors=st.integers(0, 9), pairs=st.integers(0, 9))
def test_random_bytes_after_a_header(scratch, tail, tensors, pairs):
    assert refusal(scratch, header(3, tensors, pairs) + tail).startswith("file.gguf: ")
