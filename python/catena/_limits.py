"""Which missing values `impute` leaves empty: those in long gaps and those that are too uncertain."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ._horizon import length
from .errors import InputError


def left_empty(missing, std, rows, names, max_gap=None, max_std=None):
    """Mask of the missing cells that stay empty."""
    empty = np.zeros_like(missing)
    if max_gap is not None:
        if len(rows.names) != 1:
            raise InputError(
                f"max_gap counts along one input, but the model has {len(rows.names)}; use max_std."
            )
        longest = length(max_gap, rows.clocks[0], "max_gap")
        if not longest > 0:
            raise InputError(f"max_gap={max_gap!r} is not positive; give a positive length.")
        numbers = np.zeros(len(rows), dtype=int) if rows.groups is None else np.asarray(rows.group_numbers)
        order = np.argsort(numbers, kind="stable")
        for own in np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1):
            empty[own] |= in_long_gaps(missing[own], rows.values[own, 0], longest)
    if max_std is not None:
        empty |= missing & (std > largest_deviations(max_std, names))
    return empty


def in_long_gaps(missing, places, longest):
    """Mask of missing cells in gaps whose observed neighbors are farther apart than `longest`.

    At an end of the table the length counts from the only neighbor to the last missing cell. An output without values is one
    gap.
    """
    order = np.argsort(places, kind="stable")
    ordered, mask = places[order], np.zeros_like(missing)
    for output in range(missing.shape[1]):
        holes = missing[order, output]
        observed = np.flatnonzero(~holes)
        if observed.size == 0:
            mask[:, output] = True
            continue
        before = np.searchsorted(observed, np.arange(len(order)), side="right") - 1
        has_before, has_after = before >= 0, before + 1 < observed.size
        start = np.where(has_before, ordered[observed[np.maximum(before, 0)]], ordered[0])
        after = observed[np.minimum(before + 1, observed.size - 1)]
        end = np.where(has_after, ordered[after], ordered[-1])
        mask[order, output] = holes & (end - start > longest)
    return mask


def largest_deviations(max_std, names):
    """The largest standard deviation of every output, from a number, a sequence or a mapping by name."""
    if isinstance(max_std, Mapping):
        unknown = [name for name in max_std if name not in names]
        if unknown:
            raise InputError(
                f"max_std names {unknown[0]!r}, which is not an output; the outputs are {names}."
            )
        limits = [max_std.get(name, np.inf) for name in names]
    else:
        limits = max_std
    try:
        limits = np.broadcast_to(np.asarray(limits, dtype=float), (len(names),))
    except (TypeError, ValueError):
        raise InputError(
            f"max_std={max_std!r} must be a number, one per output, or a dict by output name."
        ) from None
    if not np.all(limits > 0):
        raise InputError(f"max_std={max_std!r} is not positive; give positive numbers.")
    return limits
