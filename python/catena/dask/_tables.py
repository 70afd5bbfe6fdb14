"""Reads dask frames, dask arrays and directories of Parquet files as lists of pandas partitions."""

from __future__ import annotations

import os
import sys

import numpy as np

from .._frames import _pandas
from ..errors import InputError
from ._parts import INDEX, KEY, Schema


class Table:
    """A dask frame with the roles of its columns; `chunks` are the chunk lengths of the array it was made from."""

    def __init__(self, frame, schema, together, chunks=None, is_vector=False, left_out=()):
        self.frame = frame
        self.schema = schema
        self.together = together
        self.chunks = chunks
        self.is_vector = is_vector
        #: Names of ignored columns.
        self.left_out = list(left_out)
        #: Whether rows were moved to other partitions.
        self.is_reordered = False

    @property
    def is_array(self):
        return self.chunks is not None

    def partitions(self):
        """The delayed partitions."""
        return self.frame.to_delayed(optimize_graph=True)

    def reordered(self, key, divisions):
        """The same rows partitioned by `key(frame)` with these divisions; rows keep their index."""
        import dask.dataframe as dd

        frame = self.frame
        meta = _with_key(frame._meta, None)
        keyed = frame.map_partitions(_with_key, key, meta=meta)
        # The last division belongs to the last partition.
        moved = keyed.set_index(KEY, divisions=[*divisions[:-1], np.inf], sort=True)
        back = moved.map_partitions(_with_index, frame._meta.index.name, meta=frame._meta)
        assert isinstance(back, dd.DataFrame)
        back = back.clear_divisions()
        table = Table(back, self.schema, self.together, self.chunks, self.is_vector, self.left_out)
        table.is_reordered = True
        return table


def _with_key(frame, key):
    moved = frame.copy(deep=False)
    places = np.empty(0) if key is None or not len(frame) else key(frame)
    moved[INDEX] = frame.index
    moved[KEY] = np.asarray(places, dtype=np.float64)
    return moved


def _with_index(frame, name):
    index = frame[INDEX]
    frame = frame.drop(columns=[INDEX])
    frame.index = _pandas._pd().Index(index, name=name)
    return frame


def is_dask(given):
    """Whether this is a dask collection."""
    return any(is_kind(given) for is_kind in (is_frame, is_array))


def is_frame(given):
    module = sys.modules.get("dask.dataframe")
    return module is not None and isinstance(given, module.DataFrame)


def is_array(given):
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(given, module.Array)


def read(X, Y=None, inputs=None):
    """The table of a fit. `inputs` are the input columns of a frame; by default its index or a column of times."""
    if isinstance(X, (str, os.PathLike)):
        if Y is not None:
            raise InputError("X is a directory of Parquet files with inputs and outputs; leave Y out.")
        import dask.dataframe as dd

        X = dd.read_parquet(os.fspath(X))
    if is_frame(X):
        if Y is not None:
            raise InputError(
                "X is a frame with inputs and outputs; leave Y out, and select the inputs with inputs=."
            )
        return _of_frame(X, inputs)
    if is_array(X):
        return _of_arrays(X, Y)
    raise InputError(
        f"X is a {type(X).__name__}; catena.dask reads dask frames, dask arrays and directories of Parquet files. "
        "For a table in memory use catena.MultiOutputGP."
    )


def _of_frame(frame, inputs):
    meta = frame._meta
    names = _pandas._unique(meta)
    if inputs is None:
        chosen, outputs, notes = _pandas.split(meta)
        places = [None] if notes["index"] else [next(name for name in names if str(name) == chosen[0].name)]
        wanted = {column.name for column in outputs}
        outputs = [name for name in names if name not in places and str(name) in wanted]
    else:
        places = [inputs] if isinstance(inputs, str) else list(inputs)
        missing = [name for name in places if name not in names]
        if missing:
            raise InputError(f"the frame has no column {missing[0]!r}; it has {', '.join(map(str, names))}.")
        outputs = [name for name in names if name not in places and _pandas._is_number(meta[name])]
    if not outputs:
        raise InputError("there is no numeric column for an output.")
    if not 1 <= len(places) <= 3:
        raise InputError(f"{len(places)} inputs were given; a partitioned table needs one to three.")
    left_out = [str(name) for name in names if name not in places and name not in outputs]
    return Table(frame, Schema(places, outputs, meta.index.name), together=True, left_out=left_out)


def _of_arrays(X, Y):
    import dask
    import dask.dataframe as dd
    import pandas

    if not is_array(Y):
        raise InputError("X is a dask array; give Y as a dask array of the same rows.")
    X = X[:, None] if X.ndim == 1 else X
    is_vector = Y.ndim == 1
    Y = Y[:, None] if is_vector else Y
    if X.ndim != 2 or Y.ndim != 2:
        raise InputError("X and Y must have two dimensions: (rows, inputs) and (rows, outputs).")
    if np.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    if np.isnan(Y.shape[0]):
        Y = Y.compute_chunk_sizes()
    if X.shape[0] != Y.shape[0]:
        raise InputError(f"X has {X.shape[0]} rows but Y has {Y.shape[0]}; they must have the same rows.")
    if not 1 <= X.shape[1] <= 3:
        raise InputError(f"{X.shape[1]} inputs were given; a partitioned table needs one to three.")
    if X.dtype.kind not in "fiu" or Y.dtype.kind not in "fiub":
        raise InputError(f"X has the type {X.dtype} and Y {Y.dtype}; give numbers.")
    Y = Y.rechunk({0: X.chunks[0], 1: -1})
    X = X.rechunk({1: -1})
    places = [f"x{at}" for at in range(X.shape[1])]
    outputs = [f"y{at}" for at in range(Y.shape[1])]
    chunks = X.chunks[0]
    begins = np.concatenate([[0], np.cumsum(chunks)[:-1]])
    blocks = zip(X.to_delayed()[:, 0], Y.to_delayed()[:, 0], begins, strict=True)
    framed = dask.delayed(_framed)
    parts = [framed(x, y, places, outputs, int(begin)) for x, y, begin in blocks]
    empty = np.empty((0, 1))
    meta = _framed(np.repeat(empty, len(places), 1), np.repeat(empty, len(outputs), 1), places, outputs, 0)
    assert isinstance(meta, pandas.DataFrame)
    frame = dd.from_delayed(parts, meta=meta, verify_meta=False)
    return Table(frame, Schema(places, outputs), together=False, chunks=chunks, is_vector=is_vector)


def _framed(x, y, places, outputs, begin):
    import pandas

    numbers = np.concatenate([np.asarray(x, np.float64), np.asarray(y, np.float64)], axis=1)
    index = pandas.RangeIndex(begin, begin + len(numbers))
    return pandas.DataFrame(numbers, columns=[*places, *outputs], index=index)
