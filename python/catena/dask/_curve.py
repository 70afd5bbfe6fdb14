"""Positions of points of two or three inputs on a Hilbert curve."""

import numpy as np

#: Bits per input; the keys of three inputs still fit a double.
BITS = {2: 26, 3: 17}


def keys(points, low, high):
    """The position of each point on the curve through the box from `low` to `high`, in [0, 1)."""
    dim = points.shape[1]
    bits = BITS[dim]
    width = np.where(np.asarray(high) > np.asarray(low), np.asarray(high) - np.asarray(low), 1.0)
    cells = np.clip((points - low) / width * 2**bits, 0, 2**bits - 1).astype(np.uint64)
    axes = [cells[:, at].copy() for at in range(dim)]
    # From axes to the transposed index: undo excess work from the highest bit down, then Gray-encode.
    bit = np.uint64(1) << np.uint64(bits - 1)
    one = np.uint64(1)
    while bit > one:
        lower = bit - one
        for axis in range(dim):
            is_set = (axes[axis] & bit) != 0
            exchange = np.where(is_set, np.uint64(0), (axes[0] ^ axes[axis]) & lower)
            axes[0] = np.where(is_set, axes[0] ^ lower, axes[0] ^ exchange)
            if axis > 0:
                axes[axis] ^= exchange
        bit >>= one
    for axis in range(1, dim):
        axes[axis] ^= axes[axis - 1]
    turn = np.zeros(len(points), np.uint64)
    bit = np.uint64(1) << np.uint64(bits - 1)
    while bit > one:
        turn = np.where((axes[dim - 1] & bit) != 0, turn ^ (bit - one), turn)
        bit >>= one
    for axis in range(dim):
        axes[axis] ^= turn
    # Interleave the bits of the axes, the first axis first.
    place = np.zeros(len(points), np.uint64)
    for at in range(bits - 1, -1, -1):
        for axis in range(dim):
            place = (place << one) | ((axes[axis] >> np.uint64(at)) & one)
    return place.astype(np.float64) / 2.0 ** (bits * dim)
