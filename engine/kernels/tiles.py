"""What every matrix product needs to know of the tiles of a packed matrix."""

from numba import njit

from engine.formats.packed import BLOCK, LANES, tile_bytes
from engine.kernels.intrinsics import floats
from engine.kernels.program import share

size_of_tile = njit(tile_bytes)
"""`formats.packed.tile_bytes` for compiled code."""
BLOCK_TILES = BLOCK // LANES
"""Tiles whose outputs are a block of the next product's inputs."""


@njit
def share_tiles(tiles: int, part: int, parts: int) -> tuple[int, int]:
    """The [first, last) of a matrix's tiles that are share `part`, in whole blocks of outputs.

    What takes the outputs as its inputs, block by block, has the same in the same share.
    """
    first, last = share((tiles + BLOCK_TILES - 1) // BLOCK_TILES, part, parts)
    return first * BLOCK_TILES, min(last * BLOCK_TILES, tiles)


@njit
def add_bias(bias: int, y: int, stride: int, rows: int, tile: int, tiles: int) -> None:
    """y[row] += bias for the outputs of some tiles; nothing if there is no bias (0).

    Addresses of bias[0] and y[0, 0], both float32; floats from a row of y to the next.
    """
    if bias != 0:
        values = floats(bias + 4 * LANES * tile, LANES * tiles)
        for row in range(rows):
            out = floats(y + 4 * (row * stride + LANES * tile), LANES * tiles)
            for i in range(LANES * tiles):
                out[i] += values[i]
