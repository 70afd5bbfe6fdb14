"""pyarrow: tables, record batches and arrays."""

import numpy as np

from .. import _check
from ..errors import InputError
from .columns import INPUT, Column, check_names, columns_notes


def _pa():
    import pyarrow

    return pyarrow


def is_table(given):
    return isinstance(given, (_pa().Table, _pa().RecordBatch))


def is_column(given):
    return isinstance(given, (_pa().Array, _pa().ChunkedArray))


def index(_given):
    return None


def names(given):
    """Names of all columns."""
    return _unique(given)


def cells(given, name):
    """The cells of a column."""
    return given.column(name).to_pylist()


def type_name(given, name):
    """The type of a column as text."""
    return str(given.schema.field(name).type)


def typed(cells, _name, type_name, only_floats=False):
    """A column of this type, if the cells have it."""
    pyarrow = _pa()
    column = pyarrow.array(cells)
    try:
        wanted = pyarrow.type_for_alias(type_name or "")
    except ValueError:
        return column
    return column if only_floats and not pyarrow.types.is_floating(wanted) else column.cast(wanted)


def places(points, at):
    """An input as a column."""
    return _array(points, at)


def frame(columns):
    """A table of these columns."""
    return _pa().table(columns)


def column(given):
    return _column("x", given)


def columns(given):
    return [_column(name, given.column(name)) for name in _unique(given)]


def named(given, names, role):
    check_names(names, _unique(given), role)
    return [_column(name, given.column(name)) for name in names]


def inputs(given, names, _notes):
    return named(given, names, INPUT)


def split(given):
    """The input is the first column of times, else the first column; other numeric columns are outputs."""
    types = _pa().types
    names = _unique(given)
    if not names:
        raise InputError("the table has no columns.")
    kinds = {name: given.schema.field(name).type for name in names}
    times = [name for name in names if types.is_timestamp(kinds[name]) or types.is_date(kinds[name])]
    place = times[0] if times else names[0]
    others = [name for name in names if name != place]
    why = "the first column of times" if times else "the first column"
    left_out = [name for name in others if not _is_number(kinds[name])]
    outputs = [_column(name, given.column(name)) for name in others if name not in left_out]
    return [_column(place, given.column(place))], outputs, columns_notes(why, left_out)


def notes(_given):
    return {}


def answer(values, names, points, notes):
    pyarrow = _pa()
    if notes["vector"]:
        return pyarrow.array(values[:, 0])
    own = (
        {points.names[at]: _array(points, at) for at in range(len(points.names))} if notes["together"] else {}
    )
    groups = {name: pyarrow.array(cells) for name, cells in points.group_columns()}
    return pyarrow.table(
        {**groups, **own, **{name: pyarrow.array(values[:, at]) for at, name in enumerate(names)}}
    )


def filled(original, values, names, points, notes, replaced=None):
    pyarrow = _pa()
    replaced = np.zeros(values.shape, dtype=bool) if replaced is None else replaced
    if notes["vector"]:
        return answer(values, names, points, notes)
    whole = pyarrow.table(original)
    for at, name in enumerate(names):
        place = whole.column_names.index(name)
        kind = whole.schema.field(name).type
        kind = kind if pyarrow.types.is_floating(kind) else pyarrow.float64()
        if np.isnan(_column(name, whole.column(name)).values).any() or replaced[:, at].any():
            whole = whole.set_column(place, name, pyarrow.array(values[:, at]).cast(kind))
    return whole


def _array(points, at):
    pyarrow = _pa()
    clock, values = points.clocks[at], points.column(at)
    if clock is None:
        return pyarrow.array(values)
    if clock.unit == "D":
        days = values.astype("datetime64[D]")
        return pyarrow.array(days) if (days == values).all() else pyarrow.array(values)
    return pyarrow.array(values, pyarrow.timestamp(clock.unit)).cast(
        pyarrow.timestamp(clock.unit, clock.zone)
    )


def _unique(given):
    twice = [name for name in given.column_names if given.column_names.count(name) > 1]
    if twice:
        raise InputError(f"column {twice[0]!r} occurs twice; rename one.")
    return given.column_names


def _is_number(kind):
    types = _pa().types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)


def _column(name, array):
    pyarrow = _pa()
    kind = array.type
    if pyarrow.types.is_date(kind):
        days = array.cast(pyarrow.timestamp("s")).to_numpy(zero_copy_only=False)
        return Column.of_times(name, days.astype("datetime64[s]"), unit="D")
    if pyarrow.types.is_timestamp(kind):
        naive = array.cast(pyarrow.timestamp(kind.unit)).to_numpy(zero_copy_only=False)
        return Column.of_times(name, naive.astype(f"datetime64[{kind.unit}]"), kind.tz, kind.unit)
    if pyarrow.types.is_boolean(kind):
        array = array.cast(pyarrow.uint8())
    elif not _is_number(kind):
        raise InputError(f"column {name!r} has the type {kind}; give numbers or times.")
    types = pyarrow.types
    if types.is_integer(kind) or (types.is_decimal(kind) and kind.scale <= 0):
        from pyarrow import compute

        ends = compute.min_max(array)
        _check.exact_range(ends["min"].as_py(), ends["max"].as_py(), f"column {name!r}")
    found = Column.of_numbers(name, array.cast(pyarrow.float64()).to_numpy(zero_copy_only=False))
    found.is_integer = pyarrow.types.is_integer(kind)
    return found
