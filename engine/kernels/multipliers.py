"""The code of `kernels.simd` as functions that numba calls: of tiles with columns, and of rows."""

from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.extending import intrinsic

from engine.formats.packed import SUPER, SUPER_BITS
from engine.kernels.columns import COLUMNS
from engine.kernels.simd import Dot, emit_row, emit_tile
from engine.kernels.tiles import size_of_tile


def _compiled(emit_code: Callable[[Any, list[Any]], None]) -> Callable[..., None]:
    """An intrinsic of seven int64: what `emit_code(builder, arguments)` writes."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit_code(builder, list(arguments))
        return context.get_dummy_value()

    @intrinsic
    def multiply(
        typing_context: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any
    ) -> Any:
        return types.void(*[types.int64] * 7), emit

    result: Callable[..., None] = multiply
    return result


def _tile(bits: int, columns: int, dot: Dot) -> Callable[..., None]:
    return _compiled(lambda builder, given: emit_tile(builder, bits, columns, COLUMNS, dot, given))


def _row(bits: int, dot: Dot) -> Callable[..., None]:
    return _compiled(lambda builder, given: emit_row(builder, bits, dot, given))


def tile_multiplier(dot: Dot) -> Callable[..., None]:
    """A compiled `engine.kernels.portable.multiply_tile` for an instruction set."""
    q4, q5, q6, q8 = (_by_columns(bits, dot) for bits in (4, 5, 6, 8))
    k4, k5, k6 = (_by_columns(bits, dot) for bits in SUPER_BITS)

    @njit
    def multiply_tile(
        bits: int, tile: int, blocks: int, x: int, y: int, stride: int, valid: int, add: int
    ) -> None:
        if bits == 4:
            q4(tile, blocks, x, y, stride, valid, add)
        elif bits == 5:
            q5(tile, blocks, x, y, stride, valid, add)
        elif bits == 6:
            q6(tile, blocks, x, y, stride, valid, add)
        elif bits == SUPER + 4:
            k4(tile, blocks, x, y, stride, valid, add)
        elif bits == SUPER + 5:
            k5(tile, blocks, x, y, stride, valid, add)
        elif bits == SUPER + 6:
            k6(tile, blocks, x, y, stride, valid, add)
        else:
            q8(tile, blocks, x, y, stride, valid, add)

    result: Callable[..., None] = multiply_tile
    return result


def _by_columns(bits: int, dot: Dot) -> Callable[..., None]:
    """The smallest tile that has room for the columns."""
    one, two, four, eight = (_tile(bits, columns, dot) for columns in (1, 2, 4, 8))

    @njit
    def multiply(tile: int, blocks: int, x: int, y: int, stride: int, valid: int, add: int) -> None:
        if valid > 4:
            eight(tile, blocks, x, y, stride, valid, add)
        elif valid > 2:
            four(tile, blocks, x, y, stride, valid, add)
        elif valid > 1:
            two(tile, blocks, x, y, stride, valid, add)
        else:
            one(tile, blocks, x, y, stride, valid, add)

    result: Callable[..., None] = multiply
    return result


def row_multiplier(dot: Dot) -> Callable[..., None]:
    """A compiled `engine.kernels.portable.multiply_row` for an instruction set."""
    q4, q5, q6, q8 = (_row(bits, dot) for bits in (4, 5, 6, 8))
    k4, k5, k6 = (_row(bits, dot) for bits in SUPER_BITS)

    @njit
    def multiply_row(
        bits: int, weights: int, tiles: int, blocks: int, x: int, y: int, add: int
    ) -> None:
        size = size_of_tile(bits, blocks)
        if bits == 4:
            q4(weights, tiles, size, blocks, x, y, add)
        elif bits == 5:
            q5(weights, tiles, size, blocks, x, y, add)
        elif bits == 6:
            q6(weights, tiles, size, blocks, x, y, add)
        elif bits == SUPER + 4:
            k4(weights, tiles, size, blocks, x, y, add)
        elif bits == SUPER + 5:
            k5(weights, tiles, size, blocks, x, y, add)
        elif bits == SUPER + 6:
            k6(weights, tiles, size, blocks, x, y, add)
        else:
            q8(weights, tiles, size, blocks, x, y, add)

    result: Callable[..., None] = multiply_row
    return result
