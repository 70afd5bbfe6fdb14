"""Frames that hold the rows of several groups: the input along which groups run, and columns that look like groups."""

import numpy as np

from . import _frames

#: Names of columns that order rows in time, as on the command line.
_TIMES = (
    "time",
    "t",
    "date",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "year",
    "hour",
    "age",
    "visit",
    "wave",
    "step",
)


def with_input_first(table, labels):
    """A frame with the column that ascends within each group in front, and why; the frame itself if it has times or a named
    index, or no such column."""
    kind, table = _frames._opened(table)
    if kind in (None, "xarray"):
        return table, None
    module = _frames._module(kind)
    if module.is_column(table) or (kind == "pandas" and module.is_place(table.index)):
        return table, None
    names = list(table.column_names if kind == "pyarrow" else table.columns)
    columns = {name: np.asarray(table[name]) for name in names}
    if len(names) != len(columns) or any(column.dtype.kind == "M" for column in columns.values()):
        return table, None
    before = _rows_before(labels)
    if len(before) != len(table) or (before < 0).all():
        return table, None
    found = [name for name, column in columns.items() if _ascends(column, before)]
    if not found:
        return table, None
    along = min(found, key=lambda name: (str(name).lower() not in _TIMES, len(np.unique(columns[name]))))
    order = [along, *(name for name in names if name != along)]
    return (table[order] if kind == "pandas" else table.select(order)), "it ascends within each group"


def _rows_before(labels):
    """For each row the one before it in its group; -1 for the first of a group."""
    last, before = {}, np.full(len(labels), -1)
    for row, label in enumerate(labels):
        before[row] = last.get(label, -1)
        last[label] = row
    return before


def _ascends(column, before):
    """Whether numbers ascend from each row to the next one of its group, but not along the whole frame, as row numbers do."""
    if column.dtype.kind not in "iuf" or not np.isfinite(column.astype(float)).all():
        return False
    values = column.astype(float)
    rows = np.flatnonzero(before >= 0)
    return bool((values[rows] > values[before[rows]]).all() and not (np.diff(values) > 0).all())


def without_properties(values, names, numbers):
    """The places of the outputs that vary within a group, and the names of the others: a group has one value of them."""
    numbers, of_rows = np.asarray(numbers), []
    for at in range(values.shape[1]):
        known = ~np.isnan(values[:, at])
        pairs = np.unique(np.column_stack([numbers[known], values[known, at]]), axis=0)
        is_one = len(pairs) == len(np.unique(numbers[known])) < known.sum()
        if not is_one or len(np.unique(pairs[:, 1])) < 2:
            of_rows.append(at)
    if not of_rows:
        return list(range(values.shape[1])), []
    return of_rows, [name for at, name in enumerate(names) if at not in of_rows]


def proposal(X, points, notes):
    """Advice on a column of text that looks like groups; None if there is none."""
    kind = notes.get("kind")
    is_frame = kind in ("pandas", "polars", "pyarrow") and notes.get("together") and not notes.get("long")
    # An Arrow stream is read only once.
    if not is_frame or len(points.names) != 1 or _frames.kind_of(X) != kind:
        return None
    module = _frames._module(kind)
    if module.is_column(X):
        return None
    places, n_rows = points.values[:, 0], len(points)
    n_places = len(np.unique(places))
    if n_places == n_rows and (np.diff(places) > 0).all():
        return None
    for name in notes.get("left_out", ()):
        labels = module.cells(X, name)
        if any(label is None or label != label for label in labels):
            continue
        texts = [str(label) for label in labels]
        n_names = len(set(texts))
        if not 2 <= n_names <= n_rows // 2 or len(set(zip(texts, places.tolist(), strict=True))) < n_rows:
            continue
        before = _rows_before(texts)
        if n_places < n_rows:
            found = f"repeats each {points.names[0]} about {round(n_rows / n_places)} times"
        elif _ascends(places, before):
            found = f"has names, with each of which {points.names[0]} starts again"
        else:
            continue
        return f"column {name!r} {found}; give groups={name!r} for independent tables with one model"
    return None
