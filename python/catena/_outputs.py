"""Reads values of outputs for a fitted model."""

import numpy as np

from . import _frames
from .errors import InputError


def read_outputs(given, wanted):
    """Values of the outputs `wanted`, from an array in their order or from a frame with their names."""
    values, names = _frames.read_outputs(given)
    if values.shape[1] != len(wanted):
        raise InputError(f"Y has {values.shape[1]} outputs, but the model has {len(wanted)}.")
    return values if names is None or len(names) == 1 else in_order(values, names, wanted)


def in_order(values, names, wanted):
    """The columns in the order of the model's outputs."""
    missing = [name for name in wanted if name not in names]
    if missing:
        raise InputError(f"the frame has no column {missing[0]!r}, which is an output of the model.")
    return np.ascontiguousarray(values[:, [names.index(name) for name in wanted]])


def r2(truth, mean):
    """The coefficient of determination of one output, ignoring missing values."""
    known = ~np.isnan(truth)
    if known.sum() < 2:
        return float("nan")
    truth, mean = truth[known], mean[known]
    left, whole = ((truth - mean) ** 2).sum(), ((truth - truth.mean()) ** 2).sum()
    if whole == 0:
        return 1.0 if left == 0 else 0.0
    return 1 - left / whole
