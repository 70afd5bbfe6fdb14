"""Predictions of a fitted chain as dask collections in the form of the caller's table."""

from __future__ import annotations

import os

import numpy as np

from .._frames import _pandas
from .._frames.columns import INPUT, check_names
from ..errors import InputError
from . import _parts, _tables


def predict(gp, X, asked):
    """Means and standard deviations."""
    if X is None:
        return _at_rows(gp, asked)
    if _tables.is_dask(X):
        _check_line(gp)
        return _at_collection(gp, X, asked)
    points = gp._read(X)
    mean, std = at_points(gp, points.values, asked)
    return gp._answer(mean, points), gp._answer(std, points)


def _check_line(gp):
    if len(gp._points.names) > 1:
        raise InputError(
            "new points need a model with one input; with several inputs, give them to fit as rows without values."
        )


def _delayed(gp, function, *more, frames=True):
    """Delayed calls of `function(frame, part, around, ...)` for every partition."""
    from dask import delayed

    chain = gp._chain
    make = delayed(function, pure=False)
    partitions = chain.partitions if frames else [None] * len(chain.parts)
    rows = zip(partitions, chain.parts, gp._around, strict=True)
    return [make(frame, part, around, gp._plain, *more) for frame, part, around in rows]


def _schema_for_answers(gp):
    return gp._chain.table.schema, list(gp.output_names_)


def _at_rows(gp, asked):
    chain = gp._chain
    if chain.table.is_array:
        return tuple(_as_array(gp, _values_at, which, asked) for which in (0, 1))
    meta = _answer_frame(chain.table.frame._meta, np.empty((0, gp.n_outputs_)), *_schema_for_answers(gp))
    answers = []
    for which in (0, 1):
        parts = _delayed(gp, _frame_at, which, asked, *_schema_for_answers(gp))
        answers.append(_as_frame(parts, meta))
    return tuple(answers)


def _as_frame(parts, meta):
    import dask.dataframe as dd

    return dd.from_delayed(parts, meta=meta, verify_meta=False)


def _answer_frame(frame, values, schema, names):
    """Numbers as a frame with the index of a partition, and its inputs if they are columns."""
    import pandas

    answer = pandas.DataFrame(values, index=frame.index, columns=names)
    for name in reversed([name for name in schema.inputs if name is not None]):
        answer.insert(0, str(name), frame[name])
    return answer


def _frame_at(frame, part, around, model, which, asked, schema, names):
    found = _parts.answer_of(part, around, model, asked)
    return _answer_frame(frame, found[which], schema, names)


def _values_at(frame, part, around, model, which, asked):
    return _parts.answer_of(part, around, model, asked)[which]


def _filled_values(frame, part, around, model, which, point):
    mean, std = _parts.answer_of(part, around, model, (True, point))
    missing = np.isnan(part.values)
    return np.where(missing, mean, part.values) if which == 0 else np.where(missing, std, np.nan)


def _filled_frame(frame, part, around, model, outputs, point):
    values = _filled_values(frame, part, around, model, 0, point)
    whole = _fillable_frame(frame, outputs)
    for at, name in enumerate(outputs):
        whole[name] = _pandas._filled(whole[name], values[:, at])
    return whole


def _fillable_frame(frame, outputs):
    """A frame whose outputs can hold fractions, with the same types in every partition."""
    whole = frame.copy(deep=False)
    for name in outputs:
        whole[name] = _pandas._fillable(whole[name])
    return whole


def _std_frame(frame, part, around, model, schema, names):
    return _answer_frame(frame, _filled_values(frame, part, around, model, 1, "mean"), schema, names)


def impute(gp, return_std, point):
    """The filled table, and on request the standard deviations of filled values."""
    chain = gp._chain
    if chain.table.is_array:
        found = tuple(_as_array(gp, _filled_values, which, point) for which in (0, 1))
        return found if return_std else found[0]
    frame = chain.table.frame
    outputs = chain.table.schema.outputs
    whole = _as_frame(_delayed(gp, _filled_frame, outputs, point), _fillable_frame(frame._meta, outputs))
    if not return_std:
        return whole
    described = _schema_for_answers(gp)
    meta = _answer_frame(frame._meta, np.empty((0, gp.n_outputs_)), *described)
    return whole, _as_frame(_delayed(gp, _std_frame, *described), meta)


def write(gp, to, point):
    """Writes the filled table to a directory of Parquet files; returns the number of rows."""
    folder = os.fspath(to)
    os.makedirs(folder, exist_ok=True)
    if os.listdir(folder):
        raise InputError(f"{folder} is not empty; give a new directory.")
    chain = gp._chain
    parts = _delayed(gp, _filled_frame, chain.table.schema.outputs, point)
    digits = max(5, len(str(len(parts))))
    from dask import delayed

    save = delayed(_saved, pure=False)
    files = [os.path.join(folder, f"part-{at:0{digits}}.parquet") for at in range(len(parts))]
    futures = chain.workers.client.compute(
        [save(part, os.path.abspath(file)) for part, file in zip(parts, files, strict=True)]
    )
    return sum(chain.workers.client.gather(futures))


def _saved(frame, path):
    """Writes a frame atomically."""
    import pandas

    keep_index = not isinstance(frame.index, pandas.RangeIndex) or frame.index.name is not None
    frame.to_parquet(path + ".part", index=keep_index)
    os.replace(path + ".part", path)
    return len(frame)


def _as_array(gp, function, *more):
    """Results as a dask array in the order of the caller's rows."""
    import dask.array as da

    chain, n_outputs = gp._chain, gp.n_outputs_
    table = chain.table
    if not table.is_reordered:
        parts = _delayed(gp, function, *more, frames=False)
        blocks = [None] * len(parts)
        for place, at in zip(np.argsort(chain.places), range(len(parts)), strict=True):
            blocks[at] = da.from_delayed(parts[place], (chain.lengths[place], n_outputs), float)
        whole = da.concatenate(blocks)
    else:
        whole = _back_in_order(gp, function, *more)
    return whole[:, 0] if table.is_vector else whole


def _back_in_order(gp, function, *more):
    """Results in the caller's order after rows were moved: partitions split their results by chunk, and chunks collect."""
    import dask.array as da
    from dask import delayed

    chain = gp._chain
    begins = np.concatenate([[0], np.cumsum(chain.table.chunks)]).tolist()
    cuts = _delayed(gp, _cut, function, begins, *more)
    collect = delayed(_collected, pure=False)
    blocks = []
    for at, count in enumerate(chain.table.chunks):
        block = collect([pieces[at] for pieces in cuts], begins[at], count, gp.n_outputs_)
        blocks.append(da.from_delayed(block, (count, gp.n_outputs_), float))
    return da.concatenate(blocks)


def _cut(frame, part, around, model, function, begins, *more):
    """Results of a partition by chunk of origin, with row numbers."""
    rows, values = frame.index.to_numpy(), function(frame, part, around, model, *more)
    owners = np.searchsorted(begins, rows, side="right") - 1
    return [(rows[owners == at], values[owners == at]) for at in range(len(begins) - 1)]


def _collected(pieces, begin, count, n_outputs):
    values = np.empty((count, n_outputs))
    for rows, own in pieces:
        values[rows - begin] = own
    return values


# New points along a single input


def _owners(lasts, points):
    """The partition of each point: the first whose last row is not before it."""
    return np.minimum(np.searchsorted(lasts, points[:, 0], side="left"), len(lasts) - 1)


def at_points(gp, points, asked):
    """Means and standard deviations at new points, computed in the partition of each point."""
    _check_line(gp)
    chain = gp._chain
    owners = _owners(chain.lasts, points)
    mean, std = (np.empty((len(points), gp.n_outputs_)) for _ in range(2))
    touched = np.unique(owners)
    found = chain.workers.ask(
        _parts.answer_at,
        [chain.parts[at] for at in touched],
        [gp._around[at] for at in touched],
        [gp._plain] * len(touched),
        [asked] * len(touched),
        [points[owners == at] for at in touched],
    )
    for at, (means, stds) in zip(touched, found, strict=True):
        mean[owners == at], std[owners == at] = means, stds
    return mean, std


def _at_collection(gp, X, asked):
    """Predictions at a dask frame of new points, moved to the partitions of the chain first."""
    import dask
    import dask.dataframe as dd

    chain, schema = gp._chain, gp._chain.table.schema
    if _tables.is_array(X):
        if chain.table.together:
            raise InputError("the model was fitted to a frame; give new points as a frame.")
        raise InputError("new points cannot be a dask array; give a dask frame, or a numpy array.")
    meta = X._meta
    own = schema.inputs[0]
    if own is None:
        _pandas.check_index(meta.index, schema.input_names[0])
    else:
        check_names([str(own)], [str(name) for name in meta.columns], INPUT)
    described = _schema_for_answers(gp)
    X = X[[]] if own is None else X[[own]]
    places = _NewPlaces(_parts.Schema([own], [], meta.index.name), chain.origins, chain.lasts)
    moved = _tables.Table(X, places.schema, True).reordered(
        places, [*range(len(chain.lasts)), len(chain.lasts)]
    )
    answers = []
    answered = dask.delayed(_frame_at_points, pure=False)
    empty = _answer_frame(X._meta, np.empty((0, gp.n_outputs_)), *described)
    for which in (0, 1):
        parts = [
            answered(frame, part, around, gp._plain, which, asked, chain.origins, *described)
            for frame, part, around in zip(moved.partitions(), chain.parts, gp._around, strict=True)
        ]
        answers.append(dd.from_delayed(parts, meta=empty, verify_meta=False))
    return tuple(answers)


class _NewPlaces:
    """The key of a new point: the index of its partition."""

    def __init__(self, schema, origins, lasts):
        self.schema = schema
        self.origins = origins
        self.lasts = lasts

    def points(self, frame):
        return _parts.points_of(self.schema.input_columns(frame), self.origins)

    def __call__(self, frame):
        return _owners(self.lasts, self.points(frame))


def _frame_at_points(frame, part, around, model, which, asked, origins, schema, names):
    if not len(frame):
        return _answer_frame(frame, np.empty((0, len(names))), schema, names)
    points = _NewPlaces(_parts.Schema(schema.inputs, [], frame.index.name), origins, None).points(frame)
    found = _parts.answer_at(part, around, model, asked, points)
    answer = _answer_frame(frame, found[which], schema, names)
    return answer.sort_index() if schema.inputs == [None] else answer.sort_values(schema.input_names[0])
