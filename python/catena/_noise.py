"""Known noise of every cell: standard deviations in columns of the frame, or as an array."""

from collections.abc import Mapping

import numpy as np

from . import _check, _frames
from .errors import InputError


def split(table, noise_columns):
    """The table without its columns of noise, a function that reads the variances of the outputs, and the names of "
    "the columns."""
    if noise_columns is None:
        return table, lambda names, shape: None, []
    named = isinstance(noise_columns, (str, Mapping)) or (
        isinstance(noise_columns, (list, tuple)) and all(isinstance(name, str) for name in noise_columns)
    )
    if not named:
        return table, lambda names, shape: _variances(noise_columns, names, shape), []
    if not hasattr(table, "columns"):
        raise InputError(
            "noise_columns names columns, but X is no frame; give an array of standard deviations, one per cell."
        )
    given = [noise_columns] if isinstance(noise_columns, str) else noise_columns
    columns = list(given.values() if isinstance(given, Mapping) else given)
    own = [str(name) for name in _names(table)]
    missing = [name for name in columns if name not in own]
    if missing:
        raise InputError(
            f"noise_columns names {missing[0]!r}, which is not a column of the frame; its columns are "
            f"{', '.join(map(repr, own))}."
        )
    deviations = {name: np.asarray(table[name], dtype=np.float64) for name in columns}
    without = table.drop(columns=columns) if hasattr(table, "iloc") else table.drop(columns)

    def read(names, shape):
        if isinstance(given, Mapping):
            if set(given) != set(names):
                raise InputError(
                    f"noise_columns has the outputs {', '.join(map(repr, given))}, but the outputs are "
                    f"{', '.join(map(repr, names))}."
                )
            ordered = [given[name] for name in names]
        else:
            ordered = columns
        if len(ordered) != len(names):
            raise InputError(
                f"noise_columns has {len(ordered)} columns, but there are {len(names)} outputs; give one each, or a "
                "dict by output."
            )
        return _variances(np.column_stack([deviations[name] for name in ordered]), names, shape)

    return without, read, columns


def _names(table):
    return table.column_names if hasattr(table, "column_names") else table.columns


def _variances(given, names, shape):
    """Variances from standard deviations; a cell with a value needs one."""
    deviations, _ = (
        _frames.read_outputs(given) if hasattr(given, "columns") else _check.outputs(given, "noise_columns")
    )
    if deviations.shape != shape:
        raise InputError(
            f"noise_columns has the shape {deviations.shape}, but the outputs have {shape}; give one standard "
            "deviation per cell."
        )
    wrong = np.argwhere(~np.isnan(deviations) & ~((deviations > 0) & np.isfinite(deviations)))
    if len(wrong):
        row, output = wrong[0]
        raise InputError(
            f"noise_columns: the noise of {names[output]!r} at row {row} is {deviations[row, output]}; standard deviations are "
            "positive."
        )
    return np.ascontiguousarray(deviations**2)
