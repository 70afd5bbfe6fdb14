"""Functions that run on the workers: columns of a partition, its segment of the chain, and its results.

Arguments and results are small, except :class:`Rows` and :class:`Part`, which stay on the worker.
"""

from __future__ import annotations

import numpy as np

from .. import _catena, _check
from .._frames import _pandas
from .._frames.columns import Clock
from .._frames.points import Points
from ..errors import InputError

#: Columns added to a reordered table: the key of a row, and its index.
KEY, INDEX = "__catena_key__", "__catena_index__"


class Schema:
    """Input and output columns of a partition. The input named None is the index."""

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
        """The outputs of a partition, (n, D), NaN where missing."""
        columns = [_pandas._column(name, frame[name]) for name in self.outputs]
        values = np.ascontiguousarray(np.column_stack([column.values for column in columns]))
        return values.astype(np.float64, copy=False)


class Rows:
    """The inputs of a partition in the caller's units (times in nanoseconds), and its values."""

    __slots__ = ("columns", "values")

    def __init__(self, frame, schema):
        self.columns = schema.input_columns(frame)
        self.values = schema.values(frame)
        infinite = np.isinf(self.values)
        if infinite.any():
            at = int(np.argmax(infinite.any(axis=0)))
            raise InputError(f"output {schema.outputs[at]!r} holds infinity; use NaN for a missing value.")

    def __setstate__(self, state):
        # Received arrays may be unaligned.
        self.columns, self.values = state[1]["columns"], _check.laid_out(state[1]["values"])

    def __len__(self):
        return len(self.values)

    def points(self, origins):
        """The inputs as numbers, rows by inputs."""
        return points_of(self.columns, origins) if len(self) else np.empty((0, len(self.columns)))


def points_of(columns, origins):
    """Columns as numbers, rows by inputs; `origins` are the zeros of times."""
    clocks = [
        None if origin is None else Clock(origin, column.zone, column.unit)
        for column, origin in zip(columns, origins, strict=True)
    ]
    return Points.of_columns(columns, None, clocks).values


def rows_of(frame, schema):
    """The numbers of a partition."""
    return Rows(frame, schema)


def extent_of(rows):
    """The number of rows, and the range, zone, unit and integer flag of each input."""
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


def census_of(rows, origins, powers="[]"):
    """Counts, ranges and moments of the columns, as JSON."""
    return _catena.census(rows.points(origins), rows.values, powers)


def gaps_of(rows, origins, before):
    """Positive differences of a single input in ascending order, including the step into this partition."""
    places = np.sort(rows.points(origins)[:, 0])
    if before is not None:
        places = np.concatenate([before, places])
    gaps = np.diff(places)
    return gaps[gaps > 0]


def counts_in(rows, ranges, origins):
    """The number of observed cells of each output, for each range of rows in ascending order."""
    order = np.argsort(rows.points(origins)[:, 0], kind="stable")
    seen = np.concatenate(
        [np.zeros((1, rows.values.shape[1]), int), np.cumsum(~np.isnan(rows.values[order]), 0)]
    )
    return np.array([seen[end] - seen[begin] for begin, end in ranges])


def some_of(rows, places, origins, ascending):
    """Inputs and values of the rows `places`, counted in ascending order of the input or in table order."""
    points = rows.points(origins)
    if ascending:
        places = np.sort(np.argsort(points[:, 0], kind="stable")[places])
    return points[places], rows.values[places]


class Part:
    """A partition with its segment of the chain. The segment is not pickled; it is rebuilt on arrival."""

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
        # The segment holds a copy of the numbers, with steps and masks.
        return 4 * (self.points.nbytes + self.values.nbytes + self.order.nbytes)


def order_of(rows, origins, preparation, first):
    """The chain order of a partition, and the inputs at its ends. `first` selects the first row."""
    points = rows.points(origins)
    order = _catena.chain_order(points, first(points), preparation)
    return order, points[order[0]].tolist(), points[order[-1]].tolist()


def ends_of(ordered):
    return ordered[1], ordered[2]


def laid(rows, ordered, before, origins, preparation):
    """The partition with its segment, joined to the point before it."""
    part = Part(rows.points(origins), rows.values, ordered[0], before, preparation)
    assert part.segment is not None
    return part


def facts_of(part):
    """Sums and counts of products of outputs, log volume of the units, length of the segment and of its first step."""
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


def answer_of(part, around, model, asked):
    """Means and standard deviations at the rows of a partition."""
    return part.segment.posterior(model, around, *asked)


def answer_at(part, around, model, asked, points):
    """Means and standard deviations at new points of a partition, added as rows without cells."""
    n_rows = len(part.points)
    everywhere = np.concatenate([part.points, points])
    values = np.concatenate([part.values, np.full((len(points), part.values.shape[1]), np.nan)])
    order = np.argsort(everywhere[:, 0], kind="stable")
    segment = _catena.Segment(everywhere, values, order, part.before, part.preparation)
    mean, std = segment.posterior(model, around, *asked)
    return mean[n_rows:], std[n_rows:]
