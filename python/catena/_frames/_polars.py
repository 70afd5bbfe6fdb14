"""polars: frames and series."""

import numpy as np

from .. import _check
from ..errors import InputError
from .columns import INPUT, Column, check_names, columns_notes


def _pl():
    import polars

    return polars


def is_table(given):
    return isinstance(given, _pl().DataFrame)


def is_column(given):
    return isinstance(given, _pl().Series)


def index(_given):
    return None


def names(given):
    """Names of all columns."""
    return given.columns


def cells(given, name):
    """The cells of a column."""
    return given[name].to_list()


def type_name(given, name):
    """The type of a column as text."""
    return str(given[name].dtype)


def typed(cells, name, type_name, only_floats=False):
    """A column of this type, if the cells have it."""
    polars = _pl()
    column = polars.Series(name, cells)
    dtype = getattr(polars, type_name or "", None)
    is_meant = isinstance(dtype, type) and (not only_floats or dtype in (polars.Float32, polars.Float64))
    return column.cast(dtype) if is_meant else column


def places(points, at):
    """An input as a column."""
    return _series(points, at)


def frame(columns):
    """A frame of these columns."""
    return _pl().DataFrame(columns)


def column(given):
    return _column(given)


def columns(given):
    return [_column(series) for series in given.get_columns()]


def named(given, names, role):
    check_names(names, given.columns, role)
    return [_column(given[name]) for name in names]


def inputs(given, names, _notes):
    return named(given, names, INPUT)


def split(given):
    """The input is the first column of times, else the first column; other numeric columns are outputs."""
    if not given.columns:
        raise InputError("the frame has no columns.")
    times = [series.name for series in given.get_columns() if series.dtype.is_temporal()]
    place = times[0] if times else given.columns[0]
    why = "the first column of times" if times else "the first column"
    others = [series for series in given.get_columns() if series.name != place]
    left_out = [series.name for series in others if not series.dtype.is_numeric()]
    outputs = [_column(series) for series in others if series.name not in left_out]
    return [_column(given[place])], outputs, columns_notes(why, left_out)


def notes(given):
    return {"name": given.name} if is_column(given) else {}


def answer(values, names, points, notes):
    polars = _pl()
    if notes["vector"]:
        return polars.Series(notes.get("name", ""), values[:, 0])
    own = [polars.Series(name, cells) for name, cells in points.group_columns()]
    own += [_series(points, at) for at in range(len(points.names))] if notes["together"] else []
    return polars.DataFrame(own + [polars.Series(name, values[:, at]) for at, name in enumerate(names)])


def filled(original, values, names, points, notes, replaced=None):
    polars = _pl()
    replaced = np.zeros(values.shape, dtype=bool) if replaced is None else replaced
    if notes["vector"]:
        if not len(values):
            return original
        kept = original.fill_nan(None)
        if replaced.any():
            kept = kept.set(polars.Series(replaced[:, 0]), None)
        return kept.fill_null(polars.Series(values[:, 0]))
    whole = original
    for at, name in enumerate(names):
        given = original[name]
        missing = given.is_null() | (given.is_nan() if given.dtype.is_float() else False)
        missing = missing | polars.Series(replaced[:, at])
        if missing.any():
            fill = polars.Series(name, values[:, at])
            kept = given if given.dtype.is_float() else given.cast(polars.Float64)
            whole = whole.with_columns(kept.zip_with(~missing, fill.cast(kept.dtype)).alias(name))
    return whole


def _series(points, at):
    polars = _pl()
    clock, values = points.clocks[at], points.column(at)
    if clock is None:
        return polars.Series(points.names[at], values)
    days = values.astype("datetime64[D]")
    if clock.unit == "D" and (days == values).all():
        return polars.Series(points.names[at], days)
    unit = clock.unit if clock.unit in ("ms", "us", "ns") else "us"
    series = polars.Series(points.names[at], values.astype(f"datetime64[{unit}]"))
    if clock.zone is not None:
        series = series.dt.replace_time_zone("UTC").dt.convert_time_zone(clock.zone)
    return series


def _column(series):
    polars = _pl()
    name, dtype = series.name, series.dtype
    if dtype == polars.Date:
        return Column.of_times(name, series.to_numpy().astype("datetime64[s]"), unit="D")
    if isinstance(dtype, polars.Datetime):
        zone = dtype.time_zone
        naive = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if zone else series
        return Column.of_times(name, naive.to_numpy(), zone, dtype.time_unit)
    if not dtype.is_numeric() and dtype != polars.Boolean:
        raise InputError(f"column {name!r} has the type {dtype}; give numbers or times.")
    if dtype.is_integer() or (dtype == polars.Decimal and dtype.scale == 0):
        _check.exact_range(series.min(), series.max(), f"column {name!r}")
    found = Column.of_numbers(name, series.cast(polars.Float64).fill_null(np.nan).to_numpy())
    found.is_integer = dtype.is_integer()
    return found
