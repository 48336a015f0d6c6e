"""LLVM vector code in short: what the kernels that write their own instructions share.

A vector has 16 lanes, whatever the registers are; LLVM splits it where they are narrower.
"""

from typing import Any, NamedTuple

from llvmlite import ir
from numba.core import cgutils

from engine.formats.packed import LANES

I8, I32, I64, FLOAT = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType()
BYTES = ir.VectorType(I8, 4 * LANES)
INTEGERS = ir.VectorType(I32, LANES)
FLOATS = ir.VectorType(FLOAT, LANES)
HALVES = ir.VectorType(ir.HalfType(), LANES)
LARGEST_HALF = 0x477FE000
"""65504 as float32 bits."""


def call(
    builder: Any, name: str, result: Any, arguments: list[Any], flags: tuple[str, ...] = ()
) -> Any:
    """Call the LLVM intrinsic `name`, whose result has the type `result`."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, arguments, fastmath=flags)


def load(builder: Any, address: Any, offset: int, kind: Any, align: int = 1) -> Any:
    """Load a value of LLVM type `kind` from an integer address plus a constant offset."""
    source = builder.inttoptr(builder.add(address, I64(offset)), kind.as_pointer())
    return builder.load(source, align=align, typ=kind)


def store(builder: Any, address: Any, value: Any) -> None:
    """Store a value at an integer address that is a multiple of 4."""
    builder.store(value, builder.inttoptr(address, value.type.as_pointer()), align=4)


def broadcast(builder: Any, scalar: Any, lanes: int = LANES) -> Any:
    """A vector of lanes that all hold `scalar`."""
    kind = ir.VectorType(scalar.type, lanes)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), scalar, I32(0))
    mask = ir.Constant(ir.VectorType(I32, lanes), [0] * lanes)
    return builder.shuffle_vector(first, first, mask)


def part(builder: Any, vector: Any, first: int, count: int) -> Any:
    """`count` lanes of a vector, from lane `first` on."""
    mask = ir.Constant(ir.VectorType(I32, count), list(range(first, first + count)))
    return builder.shuffle_vector(vector, vector, mask)


def joined(builder: Any, first: Any, second: Any) -> Any:
    """The lanes of two vectors, one behind the other."""
    count = 2 * first.type.count
    mask = ir.Constant(ir.VectorType(I32, count), list(range(count)))
    return builder.shuffle_vector(first, second, mask)


def fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """a · b + c with one rounding, for vectors of floats."""
    return call(builder, "llvm.fma.v16f32", FLOATS, [a, b, c])


def ask_for(builder: Any, address: Any) -> None:
    """Prefetch the cache line at an integer address, to be read soon."""
    place = builder.inttoptr(address, cgutils.voidptr_t)
    kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, I32, I32, I32])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(function, [place, I32(0), I32(2), I32(1)])


def _interleaved(builder: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """a0 b0 a1 b1 …: the first half and the second one."""
    count = a.type.count
    order = [i // 2 + i % 2 * count for i in range(2 * count)]
    kind = ir.VectorType(I32, count)
    masks = (ir.Constant(kind, order[:count]), ir.Constant(kind, order[count:]))
    return builder.shuffle_vector(a, b, masks[0]), builder.shuffle_vector(a, b, masks[1])


def transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """16 vectors of 16 int32, transposed: four perfect shuffles."""
    for _ in range(4):
        pairs = [_interleaved(builder, rows[i], rows[i + 8]) for i in range(8)]
        rows = [vector for pair in pairs for vector in pair]
    return rows


def half_bits(builder: Any, vector: Any) -> Any:
    """16 floats → their float16 bits as `kernels.arithmetic.float_to_half`, without what some CPUs
    lack."""

    def every(value: int) -> Any:
        return ir.Constant(INTEGERS, [value] * LANES)

    bits = builder.bitcast(vector, INTEGERS)
    sign = builder.and_(builder.lshr(bits, every(16)), every(0x8000))
    magnitude = builder.and_(bits, every(0x7FFFFFFF))
    small = builder.icmp_signed("<", magnitude, every(LARGEST_HALF))
    magnitude = builder.select(small, magnitude, every(LARGEST_HALF))
    shifted = builder.fadd(builder.bitcast(magnitude, FLOATS), ir.Constant(FLOATS, [0.5] * LANES))
    subnormal = builder.sub(builder.bitcast(shifted, INTEGERS), every(0x3F000000))
    odd = builder.and_(builder.lshr(magnitude, every(13)), every(1))
    rounded = builder.add(builder.add(magnitude, every(0xFFF)), odd)
    normal = builder.sub(builder.lshr(rounded, every(13)), every(112 << 10))
    tiny = builder.icmp_signed("<", magnitude, every(0x38800000))
    half = builder.or_(builder.select(tiny, subnormal, normal), sign)
    return builder.trunc(half, ir.VectorType(ir.IntType(16), LANES))


def keep_order(builder: Any) -> None:
    """Have LLVM move no load, store or prefetch across this place."""
    builder.asm(ir.FunctionType(ir.VoidType(), []), "", "~{memory}", [], True)


class Register(NamedTuple):
    """A vector register, where there are too few of them for the weights of a block."""

    size: int
    """Bytes."""
    constraint: str
    """What inline assembly calls it."""


YMM, NEON = Register(32, "x"), Register(16, "w")


def in_turn(builder: Any, vectors: list[Any], register: Register) -> list[Any]:
    """The vectors of integers, all of them computed before what follows: an empty instruction takes
    and gives each register, and LLVM keeps the order of these. One vector has none."""
    return vectors if len(vectors) == 1 else [_held(builder, v, register) for v in vectors]


def _held(builder: Any, vector: Any, register: Register) -> Any:
    count = vector.type.count
    if count * vector.type.element.width == 8 * register.size:
        kind = ir.FunctionType(vector.type, [vector.type])
        return builder.asm(kind, "", f"={register.constraint},0", [vector], True)
    halves = [part(builder, vector, first, count // 2) for first in (0, count // 2)]
    return joined(builder, *(_held(builder, half, register) for half in halves))
