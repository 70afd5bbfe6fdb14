"""What runs where a partition lies: its columns, its place on the chain, and its share of every answer.

Functions here are sent to workers. They take and return little, except for what stays: :class:`Rows` and :class:`Part`.
"""

from __future__ import annotations

import numpy as np

from .. import _catena, _check
from .._frames import _pandas
from .._frames.columns import Clock
from .._frames.points import Points
from ..errors import InputError

#: The columns that a reordered table carries along: where a row belongs, and the index it had.
KEY, INDEX = "__catena_key__", "__catena_index__"


class Schema:
    """Which columns of a partition are inputs and outputs. The input named None is the index."""

    def __init__(self, inputs, outputs, index_name=None):
        self.inputs = inputs
        self.outputs = outputs
        self.index_name = index_name

    @property
    def input_names(self):
        return [
            ("index" if self.index_name is None else str(self.index_name)) if name is None else str(name)
            for name in self.inputs
        ]

    def input_columns(self, frame):
        """The inputs of a partition as columns."""
        names = zip(self.inputs, self.input_names, strict=True)
        return [_pandas._column(name, frame.index if own is None else frame[own]) for own, name in names]

    def values(self, frame):
        """The outputs of a partition, rows by outputs; NaN where nothing was observed."""
        columns = [_pandas._column(name, frame[name]) for name in self.outputs]
        values = np.ascontiguousarray(np.column_stack([column.values for column in columns]))
        return values.astype(np.float64, copy=False)


class Rows:
    """The numbers of a partition: inputs as the caller has them (instants in nanoseconds), and values."""

    __slots__ = ("columns", "values")

    def __init__(self, frame, schema):
        self.columns = schema.input_columns(frame)
        self.values = schema.values(frame)
        infinite = np.isinf(self.values)
        if infinite.any():
            at = int(np.argmax(infinite.any(axis=0)))
            raise InputError(f"output {schema.outputs[at]!r} holds infinity; use NaN for a missing value.")

    def __setstate__(self, state):
        # Numbers that travelled may begin at any address.
        self.columns, self.values = state[1]["columns"], _check.laid_out(state[1]["values"])

    def __len__(self):
        return len(self.values)

    def points(self, origins):
        """The inputs as numbers, rows by inputs."""
        if not len(self):
            return np.empty((0, len(self.columns)))
        clocks = [
            None if origin is None else Clock(origin, column.zone, column.unit)
            for column, origin in zip(self.columns, origins, strict=True)
        ]
        return Points.of_columns(self.columns, None, clocks).values


def rows_of(frame, schema):
    """The numbers of a partition."""
    return Rows(frame, schema)


def extent_of(rows):
    """How many rows there are, and of each input the least and greatest value as it came, with zone and unit of times."""
    if not len(rows):
        return 0, []
    ends = []
    for column in rows.columns:
        if not column.is_time and not np.isfinite(column.values).all():
            at = int(np.argmax(~np.isfinite(column.values)))
            raise InputError(
                f"input {column.name!r} is missing or infinite in row {at} of a partition; drop that row."
            )
        ends.append((column.values.min(), column.values.max(), column.zone, column.unit, column.is_integer))
    return len(rows), ends


def census_of(rows, origins):
    """Counts, ranges and moments."""
    return _catena.census(rows.points(origins), rows.values)


def gaps_of(rows, origins, before):
    """Distances of neighbors along a single input, from the last row before this partition on."""
    places = np.sort(rows.points(origins)[:, 0])
    if before is not None:
        places = np.concatenate([before, places])
    gaps = np.diff(places)
    return gaps[gaps > 0]


def counts_in(rows, ranges, origins):
    """By range of places in ascending order, the observed cells of each output."""
    order = np.argsort(rows.points(origins)[:, 0], kind="stable")
    seen = np.concatenate(
        [np.zeros((1, rows.values.shape[1]), int), np.cumsum(~np.isnan(rows.values[order]), 0)]
    )
    return np.array([seen[end] - seen[begin] for begin, end in ranges])


def some_of(rows, places, origins, ascending):
    """Rows by their places, ascending along the input or as they came: inputs and values."""
    points = rows.points(origins)
    if ascending:
        places = np.sort(np.argsort(points[:, 0], kind="stable")[places])
    return points[places], rows.values[places]


class Part:
    """A partition on its stretch of the chain. Only its numbers travel; the segment is laid again where it arrives."""

    def __init__(self, points, values, order, before, preparation):
        self.points = _check.laid_out(points)
        self.values = _check.laid_out(values)
        self.order = _check.laid_out(order)
        self.before = before
        self.preparation = preparation
        self._segment = None

    @property
    def segment(self):
        if self._segment is None:
            self._segment = _catena.Segment(
                self.points, self.values, self.order, self.before, self.preparation
            )
        return self._segment

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_segment"}

    def __setstate__(self, state):
        self.__init__(**state)

    def __sizeof__(self):
        # The segment holds the numbers once more, with steps and masks.
        return 4 * (self.points.nbytes + self.values.nbytes + self.order.nbytes)


def order_of(rows, origins, preparation, first):
    """The order of a chain over the rows of a partition, and its ends. `first` finds where it begins."""
    points = rows.points(origins)
    order = _catena.chain_order(points, first(points), preparation)
    return order, points[order[0]].tolist(), points[order[-1]].tolist()


def ends_of(ordered):
    return ordered[1], ordered[2]


def laid(rows, ordered, before, origins, preparation):
    """The partition on its chain, joined to the point before it."""
    part = Part(rows.points(origins), rows.values, ordered[0], before, preparation)
    assert part.segment is not None
    return part


def facts_of(part):
    """Sums and counts of products of outputs, what units add to the log evidence, lengths along the chain."""
    sums, counts = part.segment.sums()
    steps = part.segment.steps()
    return sums, counts, part.segment.log_volume(), float(steps.sum()), float(steps[0]) if len(steps) else 0.0


def steps_of(part):
    steps = part.segment.steps()
    return steps[steps > 0]


def summary_of(part, model, distinct):
    return part.segment.summary(model, distinct)


def share_of(part, around, model, distinct):
    return part.segment.gradient(model, around, distinct)


def answer_of(part, around, model, include_noise):
    """Means and standard deviations at the rows of a partition."""
    return part.segment.posterior(model, around, include_noise)


def answer_at(part, around, model, include_noise, points):
    """Means and standard deviations at other points along a single input that belong to a partition: they are rows without
    cells."""
    n_rows = len(part.points)
    everywhere = np.concatenate([part.points, points])
    values = np.concatenate([part.values, np.full((len(points), part.values.shape[1]), np.nan)])
    order = np.argsort(everywhere[:, 0], kind="stable")
    segment = _catena.Segment(everywhere, values, order, part.before, part.preparation)
    mean, std = segment.posterior(model, around, include_noise)
    return mean[n_rows:], std[n_rows:]
