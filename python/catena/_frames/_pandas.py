"""pandas: frames, series and indexes."""

import numpy as np

from ..errors import InputError
from .columns import Column


def _pd():
    import pandas

    return pandas


def is_table(given):
    return isinstance(given, _pd().DataFrame)


def is_column(given):
    return isinstance(given, (_pd().Series, _pd().Index))


def index(given):
    """The index that an answer at these rows has."""
    return given if isinstance(given, _pd().Index) else given.index


def column(given):
    name = "x" if given.name is None else given.name
    return _column(name, given)


def columns(given):
    return [_column(name, given[name]) for name in _unique(given)]


def inputs(given, names):
    """The inputs `names` of a model that was fitted to a whole frame: columns, else the index."""
    missing = [name for name in names if name not in given.columns]
    if not missing:
        return [_column(name, given[name]) for name in names]
    if len(names) == 1:
        return [_column(names[0], given.index)]
    raise InputError(f"X has no column {missing[0]!r}, which the model was fitted to.")


def split(given):
    """The index is the input if it is one of times or has a name or numbers of its own; else the first column of times, else
    the first column."""
    pandas = _pd()
    names = _unique(given)
    if not isinstance(given.index, pandas.RangeIndex):
        name = given.index.name if given.index.name is not None else "index"
        outputs = [_column(name, given[name]) for name in names if _is_number(given[name])]
        return [_column(name, given.index)], outputs, {"index": True, "index_name": given.index.name}
    if not names:
        raise InputError("the frame has no columns.")
    times = [name for name in names if _is_time(given[name])]
    place = times[0] if times else names[0]
    outputs = [_column(name, given[name]) for name in names if name != place and _is_number(given[name])]
    return [_column(place, given[place])], outputs, {"index": False}


def notes(given):
    return {"name": given.name} if is_column(given) and isinstance(given.name, (str, int)) else {}


def answer(values, names, points, notes):
    pandas = _pd()
    if notes["vector"]:
        return pandas.Series(values[:, 0], index=_index(points, notes), name=notes.get("name"))
    frame = pandas.DataFrame(values, index=_index(points, notes), columns=names)
    if notes["together"] and not notes["index"]:
        for at, name in reversed(list(enumerate(points.names))):
            frame.insert(0, name, _series(points, at).set_axis(frame.index))
    return frame


def filled(original, values, names, points, notes):
    if notes["vector"]:
        return _filled(original, values[:, 0])
    whole = original.copy()
    for at, name in enumerate(names):
        name = next(own for own in whole.columns if str(own) == name)
        whole[name] = _filled(whole[name], values[:, at])
    return whole


def _filled(series, values):
    """A series with its holes filled, of the type it had."""
    if not series.isna().any():
        return series
    return series.where(series.notna(), _pd().Series(values, index=series.index).astype(series.dtype))


def _index(points, notes):
    pandas = _pd()
    if points.index is not None:
        return points.index
    if notes["together"] and not notes["index"]:
        return None
    if len(points.names) > 1:
        return None
    return pandas.Index(_series(points, 0), name=notes.get("index_name", None))


def _series(points, at):
    """An input as pandas has it, in its zone."""
    pandas = _pd()
    values = pandas.Series(points.column(at))
    clock = points.clocks[at]
    if clock is not None and clock.zone is not None:
        values = values.dt.tz_localize("UTC").dt.tz_convert(clock.zone)
    return values


def _unique(given):
    if not given.columns.is_unique:
        twice = given.columns[given.columns.duplicated()][0]
        raise InputError(f"column {twice!r} is there twice; rename one.")
    return list(given.columns)


def _is_time(values):
    return _pd().api.types.is_datetime64_any_dtype(values.dtype)


def _is_number(values):
    types = _pd().api.types
    return types.is_numeric_dtype(values.dtype) and not types.is_bool_dtype(values.dtype)


def _column(name, values):
    pandas = _pd()
    dtype = values.dtype
    if isinstance(dtype, pandas.PeriodDtype):
        values, dtype = values.to_timestamp(), np.dtype("datetime64[ns]")
    if _is_time(values):
        zone = getattr(dtype, "tz", None)
        aware = pandas.DatetimeIndex(values)
        naive = aware.tz_convert("UTC").tz_localize(None) if zone is not None else aware
        return Column.of_times(name, naive.to_numpy(), None if zone is None else str(zone), naive.unit)
    is_object = pandas.api.types.is_object_dtype(dtype)
    if is_object or pandas.api.types.is_extension_array_dtype(dtype):
        if not is_object and not pandas.api.types.is_numeric_dtype(dtype):
            raise InputError(f"column {name!r} has the type {dtype}; give numbers or times.")
        is_integer = pandas.api.types.is_integer_dtype(dtype)
        try:
            found = Column.of_numbers(name, values.to_numpy(dtype=np.float64, na_value=np.nan))
        except TypeError as error:
            raise TypeError(f"column {name!r}: {error}") from error
        found.is_integer = is_integer
        return found
    return Column.of_numbers(name, values.to_numpy())
