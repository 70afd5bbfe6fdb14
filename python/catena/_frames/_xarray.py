"""xarray: data arrays of one or two dimensions, rows first."""

import numpy as np

from ..errors import InputError
from .columns import Column, check_names


def _xr():
    import xarray

    return xarray


def is_table(given):
    return isinstance(given, _xr().DataArray) and given.ndim != 1


def is_column(given):
    return isinstance(given, _xr().DataArray) and given.ndim == 1


def index(_given):
    return None


def column(given):
    """The values of a one-dimensional data array."""
    return _column(given.name if given.name is not None else given.dims[0], given.values)


def columns(given):
    """The columns of a data array (rows, series)."""
    _check_shape(given)
    names = _series_names(given)
    return [_column(name, given.values[:, at]) for at, name in enumerate(names)]


def named(given, names, role):
    """The series of these names."""
    own = {column.name: column for column in columns(given)}
    check_names(names, own, role)
    return [own[name] for name in names]


def inputs(given, names, _notes):
    """The coordinate along the rows."""
    if [given.dims[0]] != names:
        raise InputError(
            f"the rows of X are along {given.dims[0]!r}, but the model was fitted to {', '.join(map(repr, names))}; if they "
            "are the same, rename the dimension."
        )
    return [_column(names[0], _coordinate(given))]


def split(given):
    """The input is the coordinate of the first dimension; the outputs are the second dimension."""
    _check_shape(given)
    rows, series = given.dims
    return [_column(rows, _coordinate(given))], columns(given), {"dims": [rows, series], "name": given.name}


def notes(given):
    dims = list(given.dims)
    return {"dims": dims, "name": given.name}


def answer(values, names, points, notes):
    xarray = _xr()
    dims = notes["dims"]
    if len(points.names) == 1:
        along = points.column(0)
        clock = points.clocks[0]
        coordinates = {dims[0]: along.astype("datetime64[ns]") if clock is not None else along}
    else:
        coordinates = {dims[0]: np.arange(len(points))}
    if notes["vector"]:
        return xarray.DataArray(values[:, 0], dims=dims[:1], coords=coordinates, name=notes.get("name"))
    coordinates[dims[1]] = list(names)
    return xarray.DataArray(values, dims=dims, coords=coordinates, name=notes.get("name"))


def filled(original, values, names, points, notes, replaced=None):
    return original.copy(data=values[:, 0] if notes["vector"] else values)


def _check_shape(given):
    if given.ndim != 2:
        raise InputError(f"a DataArray needs the dimensions (rows, series), but has {given.dims}.")


def _coordinate(given):
    rows = given.dims[0]
    if rows not in given.coords:
        raise InputError(f"the dimension {rows!r} has no coordinate, which is the input; assign one.")
    return given.coords[rows].values


def _series_names(given):
    series = given.dims[1]
    if series in given.coords:
        return [str(name) for name in given.coords[series].values]
    return [f"{series}{at}" for at in range(given.shape[1])]


def _column(name, values):
    if values.dtype.kind == "M":
        return Column.of_times(name, values)
    return Column.of_numbers(name, values)
