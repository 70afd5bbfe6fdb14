"""Reads rows for a fitted model: whole tables, or a single point and its values."""

from collections.abc import Mapping
from datetime import datetime

import numpy as np

from . import _check, _frames
from ._frames import Points
from ._outputs import read_outputs
from .errors import InputError


def read_places(gp, x, groups=None):
    """Points as for ``predict``, or a single point: a number, a time, or one number per input."""
    x, labels = gp._split_groups(x, groups)
    points = gp._read(_as_table(x, gp.n_features_in_))
    points.groups = gp._numbered(labels, points)
    return points


def read_rows(gp, X, Y, groups=None):
    """Points and values, NaN where missing. Without `Y`, `X` is a frame with both; `groups` are as for ``predict``."""
    names = gp.output_names_
    X, labels = gp._split_groups(X, groups)
    if Y is None:
        points, values = _frames.read_both(X, gp._points.names, names, gp._points.clocks, gp._notes, labels)
    else:
        points = gp._read(_as_table(X, gp.n_features_in_))
        points.labels = labels
        values = _read_values(Y, len(points), names)
    _check.same_rows(points, values)
    points.groups = gp._numbered(points.labels, points)
    return points, values


def longer(points, values, indexes, integer):
    """Points after rows were added: `values` of all rows, `indexes` of the added rows, and whether these are integers."""
    return Points(
        values, points.names, points.clocks, _joined(points.index, indexes), points.integer and integer
    )


def _joined(first, more):
    """The concatenated index; None unless all parts have one, and all or none hold times."""
    indexes = [first, *more]
    if any(index is None for index in indexes) or len({index.dtype.kind == "M" for index in indexes}) > 1:
        return None
    return first.append(more).set_names(first.names) if more else first


def _as_table(x, n_inputs):
    if isinstance(x, str):
        return [x]
    if isinstance(x, (datetime, np.datetime64)):
        if type(x).__module__.startswith("pandas"):
            import pandas

            return pandas.DatetimeIndex([x])
        return [x]
    if _is_vector(x):
        return np.reshape(x, (-1, 1) if n_inputs == 1 else (1, -1))
    if not _is_number(x):
        return x
    if n_inputs > 1:
        raise InputError(
            f"X is a single number, but the model has {n_inputs} inputs; give {n_inputs} numbers."
        )
    return np.reshape(x, (1, 1))


def _read_values(given, n_rows, names):
    """Values (n, D), given as for :func:`read_outputs`, as a vector for one row, as a number, or as a dict by output."""
    if isinstance(given, Mapping):
        values = np.full((n_rows, len(names)), np.nan)
        for name, column in given.items():
            if name not in names:
                raise InputError(
                    f"the model has no output {name!r}; its outputs are {', '.join(map(repr, names))}."
                )
            values[:, names.index(name)] = _check.column(column, name, n_rows)
        return _check.finite(values, "Y", names)
    if _is_number(given) and n_rows == 1:
        if len(names) > 1:
            raise InputError(
                f"Y is a single number, but the model has {len(names)} outputs; give one value per output, "
                "NaN where missing, or a dict by name."
            )
        given = np.reshape(given, (1, 1))
    elif _is_vector(given) and n_rows == 1 and len(given) == len(names):
        given = np.reshape(given, (1, -1))
    return _check.finite(read_outputs(given, names), "Y", names)


def _is_number(given):
    return isinstance(given, (int, float, np.number)) or (
        isinstance(given, np.ndarray) and given.ndim == 0 and given.dtype.kind in "fiu"
    )


def _is_vector(given):
    """Whether this is a vector of numbers or None."""
    if isinstance(given, np.ndarray):
        return given.ndim == 1 and given.dtype.kind in "fiuO" and all(map(_is_cell, given[:1]))
    return isinstance(given, (list, tuple)) and len(given) > 0 and all(map(_is_cell, given))


def _is_cell(given):
    return given is None or isinstance(given, (int, float, np.number))
