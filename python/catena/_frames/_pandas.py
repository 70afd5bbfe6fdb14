"""pandas: frames, series and indexes."""

import contextlib
import datetime
from decimal import Decimal

import numpy as np

from .. import _check
from ..errors import InputError
from .columns import INPUT, Column, check_names, columns_notes


def _pd():
    import pandas

    return pandas


def is_table(given):
    return isinstance(given, _pd().DataFrame)


def is_column(given):
    return isinstance(given, (_pd().Series, _pd().Index))


def index(given):
    """The index of results at these rows."""
    return given if isinstance(given, _pd().Index) else given.index


def names(given):
    """Names of all columns."""
    return [str(label) for label in given.columns]


def cells(given, name):
    """The cells of a column."""
    return given[_label(given, name)].tolist()


def type_name(given, name):
    """The type of a column as text."""
    return str(given[_label(given, name)].dtype)


def typed(cells, name, type_name, only_floats=False):
    """A column of this type, if the cells have it."""
    column = _pd().Series(cells, name=name)
    if type_name is None or (only_floats and "loat" not in type_name and "double" not in type_name):
        return column
    with contextlib.suppress(TypeError, ValueError):
        return column.astype(type_name)
    return column


def places(points, at):
    """An input as a column."""
    return _series(points, at)


def frame(columns):
    """A frame of these columns."""
    return _pd().DataFrame(columns)


def _label(given, name):
    return next(label for label in given.columns if str(label) == name)


def column(given):
    name = "x" if given.name is None else given.name
    return _column(name, _flat(given))


def columns(given):
    return [_column(name, given[name]) for name in _unique(given)]


def named(given, names, role):
    """The columns of these names; labels are compared as strings."""
    own = {str(label): label for label in _unique(given)}
    check_names(names, own, role)
    return [_column(name, given[own[name]]) for name in names]


def inputs(given, names, notes):
    """The inputs `names` of a model: columns, or the index if that was the input."""
    own, was_index = given.index, notes.get("index", False)
    label = None if own.name is None else str(own.name)
    has_columns = {str(name) for name in given.columns}.issuperset(names)
    if len(names) == 1 and label == names[0] and (was_index or not has_columns):
        return [_column(names[0], own)]
    if has_columns or not (was_index or names == ["x"]):
        return named(given, names, INPUT)
    if names == ["row"] and not is_place(own) and _pd().api.types.is_integer_dtype(own.dtype):
        return [along(given)[0]]
    check_index(own, names[0])
    return [_column(names[0], _flat(own))]


def check_index(own, name):
    """Refuses an index that is not the input of the model; an index of times or fractions needs no name."""
    if own.name is None and not is_place(own):
        found = "holds only row numbers"
    elif own.name is not None and str(own.name) != name:
        found = f"is {str(own.name)!r}"
    else:
        return
    raise InputError(
        f"the model was fitted to the index {name!r}, but X has no column of that name and its index {found}; if the "
        f"index is the input, name it with rename_axis({name!r})."
    )


def is_place(index):
    """Whether an index is an input: it has a name, times or fractions; an unnamed integer index counts rows."""
    types = _pd().api.types
    if index.nlevels > 1 or index.name is not None:
        return True
    if types.is_object_dtype(index.dtype):
        return types.infer_dtype(index) not in ("string", "integer", "boolean", "empty")
    is_label = types.is_integer_dtype(index.dtype) or types.is_bool_dtype(index.dtype)
    return not (is_label or types.is_string_dtype(index.dtype))


def split(given):
    """The input is the index if it has a name, times or fractions, else the first column of times, else the first column; row
    numbers if there is a single column. The other numeric columns are outputs."""
    names = _unique(given)
    own = given.index
    if is_place(own):
        place, label = None, own.name if own.name is not None else "index"
        inputs, notes = [_column(label, _flat(own))], {"index": True, "index_name": own.name}
        why = "the index"
    elif len(names) == 1 and _is_number(given[names[0]]):
        place, (column, why) = None, along(given)
        inputs, notes = [column], {"index": True, "index_name": None}
    elif names:
        times = [name for name in names if _is_time(given[name])]
        place = times[0] if times else names[0]
        inputs, notes = [_column(place, given[place])], {"index": False}
        why = "the first column of times" if times else f"the first column; the index {_what_it_holds(own)}"
    else:
        raise InputError("the frame has no columns.")
    others = [name for name in names if place is None or name != place]
    left_out = [str(name) for name in others if not _is_number(given[name])]
    outputs = [_column(name, given[name]) for name in others if str(name) not in left_out]
    if not outputs and place is not None:
        raise InputError(
            f"there is no numeric column for an output beside the input {str(place)!r}; if the index is the input, give it a "
            "name with rename_axis."
        )
    return inputs, outputs, {**notes, **columns_notes(why, left_out)}


def along(given):
    """The index of a series or frame as an input, or its row numbers, and why."""
    own = given.index
    if is_place(own):
        return _column(own.name if own.name is not None else "index", _flat(own)), "the index"
    if _pd().api.types.is_integer_dtype(own.dtype):
        return _column("row", own), "the row numbers of the index"
    column = Column.of_numbers("row", np.arange(len(own)))
    return column, f"row numbers; the index {_what_it_holds(own)}"


def _what_it_holds(index):
    """What an index holds that is not an input."""
    types = _pd().api.types
    is_text = types.is_string_dtype(index.dtype) or types.is_object_dtype(index.dtype)
    return "holds text" if is_text and len(index) else "counts the rows"


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
    for name, cells in reversed(points.group_columns()):
        frame.insert(0, name, cells)
    return frame


def filled(original, values, names, points, notes, replaced=None):
    replaced = np.zeros(values.shape, dtype=bool) if replaced is None else replaced
    if notes["vector"]:
        return _filled(original, values[:, 0], replaced[:, 0])
    whole = original.copy()
    for at, name in enumerate(names):
        name = next(own for own in whole.columns if str(own) == name)
        whole[name] = _filled(whole[name], values[:, at], replaced[:, at])
    return whole


def _filled(series, values, replaced=None):
    """A series with its missing and replaced values filled, of the same type if that can hold fractions."""
    if replaced is not None and replaced.any():
        series = series.mask(replaced)
    if not series.isna().any():
        return series
    series = _fillable(series)
    fill = _pd().Series(values, index=series.index)
    if _pd().api.types.infer_dtype(series, skipna=True) == "decimal":
        return series.where(series.notna(), fill.map(lambda value: Decimal(repr(value))))
    return series.where(series.notna(), fill.astype(series.dtype))


def _fillable(series):
    """A series that can hold fractions: nullable integers and booleans become floats."""
    pandas, dtype = _pd(), series.dtype
    types = pandas.api.types
    is_whole = types.is_integer_dtype(dtype) or types.is_bool_dtype(dtype)
    if not (is_whole and types.is_extension_array_dtype(dtype)):
        return series
    return series.astype("double[pyarrow]" if isinstance(dtype, pandas.ArrowDtype) else "Float64")


def _index(points, notes):
    pandas = _pd()
    if points.index is not None:
        return points.index
    if notes["together"] and not notes["index"]:
        return None
    if len(points.names) > 1:
        return None
    found, clock = pandas.Index(_series(points, 0), name=notes.get("index_name", None)), points.clocks[0]
    if clock is not None and clock.freq is not None and not clock.is_period:
        # Rows at another step have no frequency.
        with contextlib.suppress(ValueError):
            found.freq = clock.freq
    return found


def _series(points, at):
    """An input as a series in its time zone."""
    pandas = _pd()
    values = pandas.Series(points.column(at))
    clock = points.clocks[at]
    if clock is not None and clock.zone is not None:
        values = values.dt.tz_localize("UTC").dt.tz_convert(clock.zone)
    if clock is not None and clock.is_period:
        values = values.dt.to_period(clock.freq)
    return values


def _flat(given):
    """An index or series; refuses a MultiIndex."""
    if isinstance(given, _pd().MultiIndex):
        levels = ", ".join(map(repr, given.names))
        raise InputError(
            f"the frame has an index of several levels ({levels}), which cannot be an input; turn them into columns with "
            "reset_index(), and give inputs and outputs as X and Y."
        )
    return given


def _unique(given):
    labels = list(given.columns)
    if isinstance(given.columns, _pd().MultiIndex):
        raise InputError(
            f"columns have names of several levels, such as {labels[0]!r}; give each a single name."
            if labels
            else "the frame has no columns."
        )
    names = [str(label) for label in labels]
    twice = [name for name in names if names.count(name) > 1] if len(set(names)) < len(names) else []
    if twice:
        raise InputError(f"column {twice[0]!r} occurs twice; rename one.")
    return labels


def _is_time(values):
    dtype = values.dtype
    return _pd().api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, _pd().PeriodDtype)


def _is_number(values):
    """Whether a column holds numbers; those of Python, such as decimals, are objects to pandas."""
    types = _pd().api.types
    if types.is_object_dtype(values.dtype):
        kind = types.infer_dtype(values, skipna=True)
        return kind in ("integer", "floating", "mixed-integer-float", "decimal")
    return types.is_numeric_dtype(values.dtype) and not types.is_bool_dtype(values.dtype)


def _column(name, values):
    pandas = _pd()
    dtype = values.dtype
    if isinstance(dtype, pandas.PeriodDtype):
        values = pandas.PeriodIndex(values)
        found = _column(name, values.to_timestamp())
        found.freq, found.is_period = values.freqstr, True
        return found
    if pandas.api.types.is_datetime64_any_dtype(dtype):
        zone = getattr(dtype, "tz", None)
        aware = pandas.DatetimeIndex(values)
        naive = aware.tz_convert("UTC").tz_localize(None) if zone is not None else aware
        found = Column.of_times(name, naive.to_numpy(), None if zone is None else str(zone), naive.unit)
        found.freq = getattr(values, "freqstr", None)
        return found
    is_object = pandas.api.types.is_object_dtype(dtype)
    if is_object or pandas.api.types.is_extension_array_dtype(dtype):
        if not is_object and not pandas.api.types.is_numeric_dtype(dtype):
            raise InputError(f"column {name!r} has the type {dtype}; give numbers or times.")
        is_integer = pandas.api.types.is_integer_dtype(dtype)
        whole = values.dropna()
        if is_integer and len(whole):
            _check.exact_range(whole.min(), whole.max(), f"column {str(name)!r}")
        elif is_object:
            _check.exact(whole.to_numpy(dtype=object), f"column {str(name)!r}")
        try:
            found = Column.of_numbers(name, values.to_numpy(dtype=np.float64, na_value=np.nan))
        except (TypeError, ValueError) as error:
            raise _no_number(name, values) from error
        found.is_integer = is_integer
        return found
    return Column.of_numbers(name, values.to_numpy())


def _no_number(name, values):
    """The exception for an object column that is not numeric."""
    is_missing = values.isna()
    others = [value for value, missing in zip(values, is_missing, strict=True) if not missing]
    first = next(
        (value for value in others if not isinstance(value, (int, float, np.number, np.bool_))), None
    )
    is_time = isinstance(first, (datetime.date, np.datetime64))
    advice = "convert it with pandas.to_datetime" if is_time else "give numbers or times, or leave it out"
    return InputError(f"column {str(name)!r} holds {first!r}, which is not a number; {advice}.")
