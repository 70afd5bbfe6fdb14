"""The exact median of distributed numbers, in a few rounds of a few kilobytes per partition."""

import numpy as np

#: Numbers that a partition sends per round.
SKETCH = 1024


def sketch(numbers, low, high):
    """The count below `low`, the count in [low, high], and either all distinct values in it with their ranks (True), or some
    order statistics with the ranks of their last copies (False)."""
    below = int((numbers < low).sum())
    inside = np.sort(numbers[(numbers >= low) & (numbers <= high)])
    values, counts = np.unique(inside, return_counts=True)
    if len(values) <= SKETCH:
        return below, len(inside), True, values, np.cumsum(counts)
    picked = np.unique(np.linspace(0, len(values) - 1, SKETCH).round().astype(int))
    return below, len(inside), False, values[picked], np.cumsum(counts)[picked]


def middle(ask):
    """Element ``n // 2`` of all positive numbers in ascending order; None if there are none.

    ``ask(low, high)`` returns the sketch of every partition.
    """
    low, high = 0.0, np.inf
    while True:
        parts = ask(low, high)
        if low == 0.0:
            total = sum(count for _, count, *_ in parts)
            if total == 0:
                return None
            wanted = total // 2
        below = sum(part[0] for part in parts)
        candidates = np.unique(np.concatenate([part[3] for part in parts]))
        # Lower and upper bounds of the number of elements at most as large as each candidate.
        least = np.full(len(candidates), below)
        most = np.full(len(candidates), below)
        exact = True
        for _, count, complete, values, ranks in parts:
            if count == 0:
                continue
            exact &= complete
            at = np.searchsorted(values, candidates, side="right")
            least += np.where(at > 0, ranks[np.maximum(at - 1, 0)], 0)
            if complete:
                most += np.where(at > 0, ranks[np.maximum(at - 1, 0)], 0)
            else:
                # Between two statistics the rank is below that of the next one.
                known = (at > 0) & (values[np.maximum(at - 1, 0)] == candidates)
                next_rank = np.where(at < len(values), ranks[np.minimum(at, len(ranks) - 1)] - 1, count)
                most += np.where(known, ranks[np.maximum(at - 1, 0)], next_rank)
        # The result is the first number with more than `wanted` elements at most as large.
        upper = candidates[np.argmax(least > wanted)]
        if exact:
            return float(upper)
        before = most <= wanted
        low = max(low, candidates[before].max()) if before.any() else max(low, candidates[0])
        if low == high == upper:
            return float(upper)
        high = upper
