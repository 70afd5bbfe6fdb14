"""Scores that ignore missing values: cells whose true value is NaN do not count.

>>> import numpy as np
>>> from catena import metrics
>>> truth = np.array([[1.0, 10.0], [2.0, np.nan]])
>>> mean = np.array([[1.5, 10.0], [2.0, 11.0]])
>>> round(float(metrics.rmse(truth, mean)), 4)
0.2887
>>> metrics.rmse(truth, mean, by_output=True).round(4)
array([0.3536, 0.    ])
>>> float(metrics.coverage(truth, mean, std=np.ones((2, 2))))
1.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _catena
from .errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    #: One score, or one per output.
    Score = np.float64 | NDArray[np.float64]

__all__ = ["coverage", "crps", "log_score", "rmse"]


def rmse(truth: ArrayLike, mean: ArrayLike, *, by_output: bool = False) -> Score:
    """Root mean squared error over the cells with a true value.

    Parameters
    ----------
    truth, mean : array-like of shape (n, D) or (n,)
        True values, NaN where missing, and predictions.
    by_output : bool
        Return one score per output instead of one over all cells.
    """
    known, predicted = _aligned(truth, mean)
    return np.sqrt(_average((known - predicted) ** 2, by_output))


def log_score(truth: ArrayLike, mean: ArrayLike, std: ArrayLike, *, by_output: bool = False) -> Score:
    """Mean log density under normal distributions, in nats per cell; larger is better."""
    return _of_cells(truth, mean, std, 0.95, by_output, 0)


def crps(truth: ArrayLike, mean: ArrayLike, std: ArrayLike, *, by_output: bool = False) -> Score:
    """Mean continuous ranked probability score, in units of the outputs; smaller is better."""
    return _of_cells(truth, mean, std, 0.95, by_output, 1)


def coverage(
    truth: ArrayLike, mean: ArrayLike, std: ArrayLike, level: float = 0.95, *, by_output: bool = False
) -> Score:
    """Fraction of true values inside central intervals of probability ``level``; ideally ``level``."""
    if not 0 < level < 1:
        raise InputError(f"level={level!r} is not a probability; give a number between 0 and 1.")
    return _of_cells(truth, mean, std, level, by_output, 2)


def _of_cells(truth, mean, std, level, by_output, which):
    truth, mean, std = _aligned(truth, mean, std)
    known = ~np.isnan(truth)
    if not np.all(std[known] > 0):
        raise InputError("std must be positive wherever the true value is known.")
    scores = np.full(truth.shape, np.nan)
    scores[known] = _catena.cell_scores(truth[known], mean[known], std[known], level)[which]
    return _average(scores, by_output)


def _aligned(truth, *others):
    arrays = [np.asarray(array, dtype=np.float64) for array in (truth, *others)]
    if any(array.shape != arrays[0].shape for array in arrays):
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise InputError(f"truth and predictions have different shapes: {shapes}.")
    if np.isnan(arrays[0]).all():
        raise InputError("all true values are NaN, so there is nothing to score.")
    return arrays


def _average(scores, by_output):
    known = ~np.isnan(scores)
    axis = 0 if by_output else None
    counts = known.sum(axis=axis)
    with np.errstate(invalid="ignore"):
        return np.where(known, scores, 0.0).sum(axis=axis) / counts
