"""What numba lacks: arrays at an address, atomics, raw bit casts, calls by address.

Each intrinsic is a few LLVM instructions. Nothing here knows what a model is.
"""

import platform
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

I32 = ir.IntType(32)
I64 = ir.IntType(64)


@intrinsic
def pointer(typing_context: Any, address: Any) -> Any:
    """The void pointer at an integer address."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), emit


@njit(inline="always")
def floats(address: int, shape: Any) -> Any:
    """The float32 array of `shape` at `address`."""
    return carray(pointer(address), shape, np.float32)


@njit(inline="always")
def doubles(address: int, shape: Any) -> Any:
    """The float64 array of `shape` at `address`."""
    return carray(pointer(address), shape, np.float64)


@njit(inline="always")
def integers(address: int, shape: Any) -> Any:
    """The int32 array of `shape` at `address`."""
    return carray(pointer(address), shape, np.int32)


@njit(inline="always")
def addresses(address: int, shape: Any) -> Any:
    """The int64 array of `shape` at `address`."""
    return carray(pointer(address), shape, np.int64)


@njit(inline="always")
def signed_bytes(address: int, shape: Any) -> Any:
    """The int8 array of `shape` at `address`."""
    return carray(pointer(address), shape, np.int8)


@njit(inline="always")
def unsigned_bytes(address: int, shape: Any) -> Any:
    """The uint8 array of `shape` at `address`."""
    return carray(pointer(address), shape, np.uint8)


@njit(inline="always")
def halves(address: int, shape: Any) -> Any:
    """The float16 array of `shape` at `address`, as uint16: numba has no float16 arrays."""
    return carray(pointer(address), shape, np.uint16)


@intrinsic(prefer_literal=True)
def local_bytes(typing_context: Any, size: Any) -> Any:
    """Address of `size` bytes, a literal or a global, of this call's own; not cleared."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        with builder.goto_entry_block():
            room = builder.alloca(ir.ArrayType(ir.IntType(8), size.literal_value))
            room.align = 64
        return builder.ptrtoint(room, I64)

    return types.int64(size), emit


@intrinsic
def address_of(typing_context: Any, array: Any) -> Any:
    """The integer address of a pointer."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ptrtoint(arguments[0], I64)

    return types.int64(array), emit


@intrinsic
def bits_to_float(typing_context: Any, bits: Any) -> Any:
    """The float32 whose IEEE 754 bits are the given int32."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), emit


@intrinsic
def float_to_bits(typing_context: Any, value: Any) -> Any:
    """The IEEE 754 bits of a float32, as int32."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], I32)

    return types.int32(types.float32), emit


@intrinsic
def atomic_add(typing_context: Any, address: Any, value: Any) -> Any:
    """Add to the int64 at `address` in one indivisible step; gives what was there before."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target = builder.inttoptr(arguments[0], I64.as_pointer())
        return builder.atomic_rmw("add", target, arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), emit


@intrinsic
def atomic_load(typing_context: Any, address: Any) -> Any:
    """The int64 at `address`, and with it everything its writer wrote before."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = builder.inttoptr(arguments[0], I64.as_pointer())
        return builder.load_atomic(source, "seq_cst", 8, typ=I64)

    return types.int64(types.int64), emit


@intrinsic
def atomic_store(typing_context: Any, address: Any, value: Any) -> Any:
    """Put an int64 at `address`; who sees it sees everything written before."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target = builder.inttoptr(arguments[0], I64.as_pointer())
        builder.store_atomic(arguments[1], target, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


@intrinsic
def atomic_swap_if(typing_context: Any, address: Any, expected: Any, value: Any) -> Any:
    """Put an int64 at `address` if `expected` is what lies there; gives whether it was."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target = builder.inttoptr(arguments[0], I64.as_pointer())
        pair = builder.cmpxchg(target, arguments[1], arguments[2], "seq_cst", "seq_cst")
        return builder.extract_value(pair, 1)

    return types.boolean(types.int64, types.int64, types.int64), emit


@intrinsic
def pause(typing_context: Any) -> Any:
    """Tell the CPU that this thread spins: about 20 ns on Zen 4, less power, room for a sibling."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        machine = platform.machine()
        if machine == "x86_64":
            kind = ir.FunctionType(ir.VoidType(), [])
            name = "llvm.x86.sse2.pause"
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        elif machine == "aarch64":
            kind = ir.FunctionType(ir.VoidType(), [I32])
            name = "llvm.aarch64.hint"
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [I32(1)])
        return context.get_dummy_value()

    return types.void(), emit


@intrinsic
def _prefetch_line(typing_context: Any, address: Any) -> Any:
    """Ask for the cache line at `address`, to be read later."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], cgutils.voidptr_t)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, I32, I32, I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, I32(0), I32(2), I32(1)])
        return context.get_dummy_value()

    return types.void(types.int64), emit


@njit(inline="always")
def prefetch(address: int, count: int) -> None:
    """Ask for `count` bytes from `address` on, a multiple of 64, to be read soon."""
    for line in range(address, address + count, 64):
        _prefetch_line(line)


@intrinsic
def call_operation(
    typing_context: Any, function: Any, operands: Any, step: Any, thread: Any, threads: Any
) -> Any:
    """Call the compiled operation at address `function` (see kernels.program)."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = I64.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [array, array, I64, I64])
        callee = builder.inttoptr(arguments[0], kind.as_pointer())
        pointers = [builder.inttoptr(argument, array) for argument in arguments[1:3]]
        builder.call(callee, [*pointers, *arguments[3:]])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), emit
