"""Reads and writes tables of other libraries. A library is imported only if one of its objects was given.

A *kind* is one of ``"numpy"``, ``"pandas"``, ``"polars"``, ``"pyarrow"``, ``"xarray"``. The module of a kind has

- ``is_table(given)``, ``is_column(given)``: whether it is a table, or a single column or index;
- ``columns(given)``: all columns; ``column(given)``: a single one; ``index(given)``: the index of results at these rows;
- ``named(given, names, role)``: columns by name; ``inputs(given, names, notes)``: the inputs of a model;
- ``split(given)``: inputs and outputs of a table with both, and notes of this kind;
- ``answer(values, names, points, notes)``: numbers as a table like the caller's;
- ``names(given)``, ``cells(given, name)``, ``type_name(given, name)``: the columns of a frame as they are;
- ``places(points, at)``, ``typed(cells, name, type_name)``, ``frame(columns)``: an input as a column, other columns, and a
  frame of them.
"""

import sys
from datetime import date, datetime, timezone
from importlib import import_module

import numpy as np

from .. import _check
from ..errors import InputError
from . import long as _long
from .columns import INPUT, OUTPUT, Clock, Column
from .long import LongNames
from .points import Points

__all__ = [
    "Clock",
    "Column",
    "LongNames",
    "Points",
    "answer",
    "answer_columns",
    "check_labels",
    "filled",
    "kind_of",
    "names",
    "places",
    "read_both",
    "read_outputs",
    "read_pair",
    "read_points",
    "tidy",
]

_KINDS = ("pandas", "polars", "pyarrow", "xarray")


def kind_of(given):
    """The library of a frame, column or index; None for everything else."""
    for name in _KINDS:
        # A library that is not loaded cannot have made this object.
        if name in sys.modules:
            module = import_module(f"._{name}", __name__)
            if module.is_table(given) or module.is_column(given):
                return name
    _refuse(given)
    if hasattr(given, "__arrow_c_stream__"):
        return "arrow"
    return None


def names(given):
    """The names of the columns of a frame."""
    kind, given = _opened(given)
    return _module(kind).names(given)


def _refuse(given):
    """Refuses table-like objects that are not supported, with an alternative."""
    kind = type(given)
    library = kind.__module__.partition(".")[0]
    if library == "polars" and kind.__name__ == "LazyFrame":
        raise InputError("a polars LazyFrame is not supported; give frame.collect().")
    if library == "xarray" and kind.__name__ == "Dataset":
        raise InputError(
            "an xarray Dataset has several arrays; give one DataArray (rows, series), such as "
            "dataset.to_dataarray('series').transpose(..., 'series')."
        )
    if library == "dask":
        raise InputError(
            "a dask collection was given; use catena.dask.MultiOutputGP, or give the result of compute()."
        )
    # A dict-based sparse matrix is refused as sparse.
    if isinstance(given, dict) and not hasattr(given, "toarray"):
        raise InputError(
            "a dict was given; convert it to a frame, such as pandas.DataFrame(...), or to an array."
        )


def _module(kind):
    return import_module(f"._{kind}", __name__)


def _opened(given):
    """The kind of a table, and the table; an Arrow stream can be read only once, here."""
    kind = kind_of(given)
    return _from_stream(given) if kind == "arrow" else (kind, given)


def _from_stream(given):
    """Reads an Arrow C stream with pyarrow or polars, whichever is installed."""
    for name in ("pyarrow", "polars"):
        try:
            library = import_module(name)
        except ImportError:
            continue
        return name, library.table(given) if name == "pyarrow" else library.DataFrame(given)
    raise InputError("an Arrow stream was given; install pyarrow or polars to read it.")


def read_points(given, together=None, clocks=None, notes=None, name="X"):
    """Reads inputs. `together` are the input names of a model whose table held inputs and outputs; `notes` and `clocks` are
    those of a model (a clock is None for a numeric input); `name` is the argument name for errors."""
    kind, given = _opened(given)
    if kind is None:
        has_clock = clocks is not None and any(clocks)
        array, zone = _times(_from_texts(given, name) if has_clock else given)
        if array is not None:
            flat = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
            if flat.ndim != 1:
                raise InputError(f"{name} holds times in several columns; give one column of datetime64.")
            return Points.of_columns([Column.of_times("time", flat, zone)], None, clocks, has_names=False)
        if has_clock:
            raise InputError(
                f"the model was fitted to times, but {name} holds numbers; give datetime64 or an index of times."
            )
        return Points.of_array(given, name)
    module = _module(kind)
    if module.is_column(given):
        is_named = getattr(given, "name", None) not in (None, "")
        points = Points.of_columns([module.column(given)], module.index(given), clocks, is_named)
        points.is_column = True
        return points
    names = LongNames.of_notes(notes or {})
    if names is not None and together is not None:
        return _long.read_places(module, given, names, clocks)
    columns = module.columns(given) if together is None else module.inputs(given, together, notes or {})
    return Points.of_columns(columns, module.index(given), clocks)


def read_both(given, inputs, outputs, clocks, notes, labels=None):
    """Inputs and outputs of a model from one frame, by name. The points keep `labels`, the names of its rows' groups."""
    kind, given = _opened(given)
    if kind is None or _module(kind).is_column(given):
        # Raises the error.
        _read_together(given)
    names = LongNames.of_notes(notes)
    if names is not None:
        points, values = _long.read(_module(kind), given, names, clocks, labels)
        return points, _check.finite(values, "Y", outputs)
    points = read_points(given, inputs, clocks, notes)
    points.labels = labels
    values, _ = _outputs(_module(kind).named(given, outputs, OUTPUT))
    return points, values


def _from_texts(given, name):
    """Datetimes in place of texts such as ``"2024-03-01 12:00"``; everything else as given."""
    texts = (
        given.tolist()
        if isinstance(given, np.ndarray) and given.dtype.kind in "UO" and given.ndim == 1
        else given
    )
    texts = [texts] if isinstance(texts, str) else texts
    if not (isinstance(texts, (list, tuple)) and texts and all(isinstance(text, str) for text in texts)):
        return given
    times = []
    for row, text in enumerate(texts):
        try:
            # Before Python 3.11 a final Z is not read.
            times.append(datetime.fromisoformat(text.strip().replace("Z", "+00:00")))
        except ValueError:
            raise InputError(
                f"row {row} of {name} holds {text!r}, which is not a time; write it as '2024-03-01 12:00'."
            ) from None
    return times


def _times(given):
    """datetime64 arrays, datetimes and dates as a datetime64 array with their zone; None for everything else."""
    if isinstance(given, np.ndarray):
        if given.dtype.kind != "O":
            return (given if given.dtype.kind == "M" else None), None
        given = given.ravel().tolist() if given.shape in ((given.size,), (given.size, 1)) else None
    if not (isinstance(given, (list, tuple)) and given and isinstance(given[0], (np.datetime64, date))):
        return None, None
    strange = [row for row, instant in enumerate(given) if not isinstance(instant, (np.datetime64, date))]
    if strange:
        raise InputError(
            f"row {strange[0]} holds {given[strange[0]]!r}, but others hold times; drop that row."
        )
    aware = [getattr(instant, "tzinfo", None) is not None for instant in given]
    if not any(aware):
        return np.array(given, dtype="datetime64[us]"), None
    if not all(aware):
        raise InputError(f"the time of row {aware.index(False)} has no time zone, but others have one.")
    naive = [instant.astimezone(timezone.utc).replace(tzinfo=None) for instant in given]
    return np.array(naive, dtype="datetime64[us]"), "UTC"


def read_pair(X, Y, long=None, drop_empty=False, inputs=None, labels=None):
    """Reads inputs and outputs from two tables or one frame, with notes on the form of results. `long` are the names of
    time, series and value in a long table; ``False`` if the table is wide whatever its names. With `drop_empty` columns
    without a value are no outputs, if one frame holds all. `inputs` are the columns of a place, then that of the time.
    `labels` are the names of the rows' groups; the points have those of their rows."""
    points, values, names, notes = _read_pair(X, Y, long, drop_empty, inputs, labels)
    if points.labels is None and labels is not None:
        check_labels(labels, len(points))
        points.labels = labels
    return points, values, names, notes


def check_labels(labels, n_rows):
    """Refuses another number of names of groups than rows."""
    if len(labels) != n_rows:
        raise InputError(f"groups has {len(labels)} entries, but there are {n_rows} rows; give one per row.")


def _read_pair(X, Y, long, drop_empty, inputs, labels):
    if inputs is not None:
        return _read_space(X, Y, inputs)
    if Y is None:
        return _read_together(X, long, drop_empty, labels)
    if long:
        raise InputError("long is the names of columns in one frame; leave Y out.")
    points = read_points(X)
    values, names, notes, index = _read_outputs(Y)
    if points.index is None:
        points.index = index
    _check.same_rows(points, values)
    return points, values, names, notes


def _read_space(X, Y, inputs):
    """A frame whose inputs are the columns of a place, then that of the time."""
    kind, given = _opened(X)
    if kind in (None, "xarray") or _module(kind).is_column(given):
        raise InputError(
            "space and time name columns of a frame; with arrays give method='space', and X with the coordinates of the place "
            "and then the time."
        )
    module = _module(kind)
    if Y is not None:
        points = Points.of_columns(module.named(given, inputs, INPUT), module.index(given))
        values, names, notes, _ = _read_outputs(Y)
        _check.same_rows(points, values)
        return points, values, names, notes
    coordinates, time = module.named(given, inputs[:-1], INPUT), inputs[-1]
    own = getattr(given, "index", None)
    if own is not None and module.is_place(own):
        raise InputError(
            "the index of X is not an input of space and time; make it a column with reset_index()."
        )
    others = [name for name in module.names(given) if name not in inputs]
    chosen = [time, *others]
    rest = given[chosen] if kind == "pandas" else given.select(chosen)
    inputs_of_rest, outputs, more = module.split(rest)
    if inputs_of_rest[0].name != time:
        # Another column holds times; it is no input.
        left = inputs_of_rest[0].name
        rest = rest.drop(columns=left) if kind == "pandas" else rest.select([n for n in chosen if n != left])
        inputs_of_rest, outputs, more = module.split(rest)
    points = Points.of_columns([*coordinates, *inputs_of_rest], module.index(given))
    values, names = _outputs(outputs)
    why = "named in space and time"
    return points, values, names, {"kind": kind, "together": True, "vector": False, **more, "why": why}


def read_outputs(given):
    """Values of outputs, and their names; None without names."""
    values, names, notes, _ = _read_outputs(given)
    return values, None if notes["kind"] == "numpy" else names


def _read_outputs(given):
    kind, given = _opened(given)
    if kind is None:
        values, is_vector = _check.outputs(given)
        names = [f"y{output}" for output in range(values.shape[1])]
        return (
            _check.finite(values, "Y", names),
            names,
            {"kind": "numpy", "together": False, "vector": is_vector},
            None,
        )
    module = _module(kind)
    is_vector = module.is_column(given)
    values, names = _outputs([module.column(given)] if is_vector else module.columns(given))
    notes = {"kind": kind, "together": False, "vector": is_vector, **module.notes(given)}
    return values, names, notes, module.index(given)


def _read_together(given, long=None, drop_empty=False, labels=None):
    kind, given = _opened(given)
    if kind is None:
        raise InputError(
            "This MultiOutputGP estimator requires y to be passed, but the target y is None; "
            "only a frame holds inputs and outputs together."
        )
    module = _module(kind)
    if module.is_column(given):
        return _read_series(module, kind, given)
    if kind != "xarray" and long is not False:
        names = _long.recognised(module, given, long)
        if names is not None:
            return _read_long(module, kind, given, names, labels)
    inputs, outputs, more = module.split(given)
    empty = [column for column in outputs if drop_empty and np.isnan(column.values).all()]
    if 0 < len(empty) < len(outputs):
        outputs = [column for column in outputs if column not in empty]
        more["empty"] = [column.name for column in empty]
    points = Points.of_columns(inputs, module.index(given))
    values, names = _outputs(outputs)
    _check.same_rows(points, values)
    return points, values, names, {"kind": kind, "together": True, "vector": False, **more}


def _read_series(module, kind, given):
    """A single column of values along its index, or along the row numbers."""
    along = getattr(module, "along", None)
    if kind == "xarray" or along is None:
        counted, why = np.arange(float(len(given))), "row numbers"
        points = Points(counted[:, np.newaxis], ["row"], None, module.index(given), True, has_names=False)
    else:
        column, why = along(given)
        points = Points.of_columns([column], module.index(given))
    values, names = _outputs([module.column(given)])
    notes = {"kind": kind, "together": False, "vector": True, "why": why, **module.notes(given)}
    return points, values, names, notes


def _read_long(module, kind, given, names, labels=None):
    """A long table: its series are the outputs."""
    if labels is not None:
        check_labels(labels, len(module.cells(given, names.series)))
    points, values = _long.read(module, given, names, labels=labels)
    outputs = [str(name) for name in names.ids]
    why = f"a long table: {names.series!r} names the outputs, {names.value!r} has their values"
    notes = {
        "kind": kind,
        "together": True,
        "vector": False,
        "index": False,
        "why": why,
        "long": names.as_notes(),
    }
    left_out = [name for name in map(str, module.names(given)) if name not in names.columns]
    return points, _check.finite(values, "Y", outputs), outputs, {**notes, "left_out": left_out}


def _outputs(columns):
    if not columns:
        raise InputError("there is no numeric column for an output.")
    times = [column.name for column in columns if column.is_time]
    if times:
        raise InputError(f"output {times[0]!r} holds times; outputs must be numeric.")
    names = [column.name for column in columns]
    values = np.ascontiguousarray(np.column_stack([column.values for column in columns]))
    return _check.finite(values, "Y", names), names


def answer(values, names, points, notes):
    """Numbers (n, D) in the form of the caller's table."""
    if notes["kind"] == "numpy":
        return values[:, 0] if notes["vector"] else values
    if notes.get("long"):
        return _long.answer({notes["long"]["value"]: values}, points, notes)
    return _module(notes["kind"]).answer(values, names, points, notes)


def answer_columns(found, names, points, notes):
    """Several numbers of each output, as columns with these endings of their names; arrays (n, D, K), (n, K) for a vector."""
    if notes["kind"] == "numpy":
        whole = np.stack(list(found.values()), axis=-1)
        return whole[:, 0] if notes["vector"] else whole
    if notes.get("long"):
        value = notes["long"]["value"]
        return _long.answer({f"{value}{end}": values for end, values in found.items()}, points, notes)
    columns = np.stack(list(found.values()), axis=-1).reshape(len(points), -1)
    labels = [f"{name}{end}" for name in names for end in found]
    return _module(notes["kind"]).answer(columns, labels, points, {**notes, "vector": False})


def tidy(columns, notes):
    """A frame of the caller's library; for arrays one of pandas, and a dict of columns where pandas is not installed."""
    kind = notes["kind"] if notes["kind"] in ("pandas", "polars", "pyarrow") else "pandas"
    try:
        return _module(kind).frame(columns)
    except ImportError:
        return columns


def places(points, notes):
    """The inputs of points as columns of the caller's library, by name."""
    kind = notes["kind"]
    if kind not in ("pandas", "polars", "pyarrow"):
        return {name: points.column(at) for at, name in enumerate(points.names)}
    return {name: _module(kind).places(points, at) for at, name in enumerate(points.names)}


def filled(original, values, names, points, notes, replaced=None):
    """The caller's table with its missing values filled; other columns and types are unchanged. `replaced` marks observed
    values, n×D, that are filled like missing ones."""
    if notes.get("long"):
        return _long.filled(original, values, points, notes, replaced)
    if original is None or notes["kind"] == "numpy":
        return answer(values, names, points, notes)
    return _module(notes["kind"]).filled(original, values, names, points, notes, replaced)
