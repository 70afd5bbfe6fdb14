"""Long tables: one row per value, with columns of the series, the time and the value, as Nixtla's ``unique_id, ds, y``.

Series become outputs and times become rows, in each group apart. A second value of a series at the same time gets a row of its
own.
"""

from importlib import import_module

import numpy as np

from ..errors import InputError
from .columns import INPUT, OUTPUT, Column
from .points import Points

#: Time, series and value in frames that are recognised by the names of their columns.
NIXTLA = ("ds", "unique_id", "y")


class LongNames:
    """The columns of a long table: time, series and value, and their order in results."""

    __slots__ = ("columns", "ids", "series", "series_type", "time", "value", "value_type")

    def __init__(self, time, series, value, columns, ids=(), series_type=None, value_type=None):
        self.time = time
        self.series = series
        self.value = value
        #: The three names in the order of the caller's frame.
        self.columns = list(columns)
        #: The name of each output as the caller wrote it: text or a number.
        self.ids = list(ids)
        #: Types of the columns, as text.
        self.series_type = series_type
        self.value_type = value_type

    def as_notes(self):
        """The names as plain data for a model file."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def of_notes(cls, notes):
        """The names of a model; None for a wide table."""
        found = notes.get("long")
        return None if found is None else cls(**found)


def recognised(module, given, wanted):
    """The columns of a long table, given as ``(time, series, value)`` or recognised by Nixtla's names; None for a wide one."""
    own = [str(name) for name in module.names(given)]
    names = NIXTLA if wanted is None else wanted
    if wanted is None:
        # Further columns may be covariates, which a wide table would take for outputs.
        if not set(NIXTLA) <= set(own):
            return None
    elif isinstance(wanted, str) or len(wanted) != 3 or len(set(wanted)) != 3:
        raise InputError(
            f"long={wanted!r} must be three different names of columns: time, series and value, such as "
            "('ds', 'unique_id', 'y'); or four, beginning with a column of groups."
        )
    missing = [name for name in names if name not in own]
    if missing:
        raise InputError(
            f"long names the column {missing[0]!r}, but the frame has {', '.join(map(repr, own))}."
        )
    time, series, value = names
    return LongNames(time, series, value, [name for name in own if name in names])


def read(module, given, names, clocks=None, labels=None):
    """A long table as points, whose layout has the row and output of each of its rows, and values (n, D).

    ``names.ids`` are the series of a model, or empty if they are to be found. ``labels`` are the names of the rows' groups.
    """
    time, value, ids = _columns(module, given, names)
    if not names.ids:
        names.ids = list(dict.fromkeys(ids))
        names.series_type, names.value_type = (
            module.type_name(given, names.series),
            module.type_name(given, names.value),
        )
    output_of = _outputs_of(ids, names)
    row_of, first = _rows_of(time.values, output_of, labels)
    values = np.full((len(first), len(names.ids)), np.nan)
    values[row_of, output_of] = value.values
    points = Points.of_columns([_taken(time, first)], None, clocks)
    points.layout = (row_of, output_of)
    points.labels = None if labels is None else [labels[at] for at in first]
    return points, values


def _columns(module, given, names):
    """The columns of times and values, and the name of each row's series."""
    [time] = module.named(given, [names.time], INPUT)
    [value] = module.named(given, [names.value], OUTPUT)
    if value.is_time:
        raise InputError(
            f"the values in {names.value!r} are times; long is the names of time, series and value, in this order."
        )
    return time, value, series_of(module, given, names)


def series_of(module, given, names):
    """The name of each row's series; a missing one is refused."""
    ids = module.cells(given, names.series)
    for row, name in enumerate(ids):
        if name is None or name != name:
            raise InputError(
                f"the series of row {row} in {names.series!r} is missing; name it or drop the row."
            )
    return ids


def _outputs_of(ids, names):
    """The output of each row; a model's series are known by their names."""
    outputs = {str(name): output for output, name in enumerate(names.ids)}
    unknown = next((name for name in ids if str(name) not in outputs), None)
    if unknown is not None:
        raise InputError(
            f"the series {unknown!r} in {names.series!r} is not an output of the model; fit it together with the others."
        )
    return np.array([outputs[str(name)] for name in ids], dtype=np.int64)


def _rows_of(times, output_of, labels=None):
    """The row of each value, and the first value of each row, both in order of appearance."""
    rows, row_of, first, seen = {}, np.empty(len(times), dtype=np.int64), [], {}
    groups = [None] * len(times) if labels is None else labels
    for at, (time, output, group) in enumerate(zip(times.tolist(), output_of.tolist(), groups, strict=True)):
        copy = seen.get((group, time, output), 0)
        seen[group, time, output] = copy + 1
        row = rows.setdefault((group, time, copy), len(rows))
        if row == len(first):
            first.append(at)
        row_of[at] = row
    return row_of, np.array(first, dtype=np.int64)


def _taken(column, rows):
    """Some rows of a column."""
    taken = Column(
        column.name, column.values[rows], zone=column.zone, unit=column.unit, is_integer=column.is_integer
    )
    taken.is_period, taken.freq = column.is_period, column.freq if column.is_period else None
    return taken


def read_places(module, given, names, clocks):
    """Points of a frame with times and, if it has the column, series: each row is then a point of its own series."""
    [time] = module.named(given, [names.time], INPUT)
    points = Points.of_columns([time], None, clocks)
    if names.series in map(str, module.names(given)):
        points.layout = (
            np.arange(len(points)),
            _outputs_of(series_of(module, given, names), names),
        )
    return points


def answer(columns, points, notes):
    """Columns of numbers (n, D) as a long table: the rows of the layout, else series after series in each group."""
    module = import_module(f"._{notes['kind']}", __package__)
    names = LongNames.of_notes(notes)
    layout = points.layout
    if layout is None:
        n_rows, n_series = len(points), len(names.ids)
        rows, outputs = np.tile(np.arange(n_rows), n_series), np.repeat(np.arange(n_series), n_rows)
        order = np.lexsort((points.values[rows, 0], outputs, _appearance(points)[rows]))
        layout = (rows[order], outputs[order])
    rows, outputs = layout
    every = points.taken(rows)
    of_groups = dict(every.group_columns())
    found = {
        **of_groups,
        names.series: module.typed(
            [names.ids[output] for output in outputs], names.series, names.series_type
        ),
        names.time: module.places(every, 0),
    }
    for name, values in columns.items():
        found[name] = module.typed(values[rows, outputs], name, names.value_type, only_floats=True)
    order = [name for name in names.columns if name != names.value]
    at = names.columns.index(names.value)
    return module.frame({name: found[name] for name in [*of_groups, *order[:at], *columns, *order[at:]]})


def _appearance(points):
    """The place of each row's group in the order in which groups appear; zeros without groups."""
    if points.group_numbers is None:
        return np.zeros(len(points), dtype=np.int64)
    places = {number: at for at, number in enumerate(dict.fromkeys(points.group_numbers))}
    return np.array([places[number] for number in points.group_numbers], dtype=np.int64)


def filled(original, values, points, notes, replaced=None):
    """The caller's frame with the missing values of its series filled."""
    module = import_module(f"._{notes['kind']}", __package__)
    names = LongNames.of_notes(notes)
    if original is None or points.layout is None:
        return answer({names.value: values}, points, notes)
    rows, outputs = points.layout
    whole = {"vector": False}
    cells = values[rows, outputs][:, np.newaxis]
    replaced = None if replaced is None else replaced[rows, outputs][:, np.newaxis]
    return module.filled(original, cells, [names.value], points, whole, replaced)
