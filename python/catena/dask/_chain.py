"""A partitioned table on one chain: partitions stay on their workers and are queried in rounds."""

from __future__ import annotations

import json

import numpy as np

from .. import _catena
from ..errors import InputError
from . import _curve, _median, _parts

#: Quantiles of keys that a partition sends if rows have to be moved.
QUANTILES = 256


class Traffic:
    """Rounds and bytes between client and workers, counted by the client."""

    def __init__(self):
        self.rounds = 0
        self.evaluations = 0
        self.sent = 0
        self.received = 0

    def as_dict(self):
        return dict(self.__dict__)


class Workers:
    """Maps functions over futures on the workers, in the order of the futures."""

    def __init__(self, client):
        self.client = client
        self.traffic = Traffic()

    def ask(self, function, *lists, **shared):
        """The results of `function` for each entry of the lists, gathered on the client."""
        found = self.client.gather(self.stay(function, *lists, **shared))
        self.traffic.rounds += 1
        own = [size for given in lists for size in map(_size, given)]
        self.traffic.sent += sum(own) + len(lists[0]) * sum(map(_size, shared.values()))
        self.traffic.received += sum(map(_size, found))
        return found

    def stay(self, function, *lists, **shared):
        """Futures of the results of `function`, which stay on the workers."""
        # Each task has its own key, because an evaluation may be repeated after the loss of a worker.
        return self.client.map(function, *lists, pure=False, **shared)


def _size(given):
    """The size of a message in bytes."""
    if given is None:
        return 0
    if isinstance(given, (bytes, str)):
        return len(given)
    if isinstance(given, np.ndarray):
        return given.nbytes
    if isinstance(given, (list, tuple)):
        return sum(map(_size, given))
    return 8 if isinstance(given, (int, float, bool, np.generic)) else 0


class Chain:
    """The partitions of a table in chain order.

    Built in two steps: :meth:`of` reads the partitions and sorts them along a single input; then :meth:`lay` converts them to
    model units and joins them end to end.
    """

    def __init__(self, table, workers):
        self.table = table
        self.workers = workers
        self.rows = []
        self.given_origins = None
        self.origins = []
        self.clocks = []
        self.is_integer = False
        self.before = []
        self.parts = []
        self.ends = []
        self._gap = None

    @classmethod
    def of(cls, table, workers, n_parts=None, origins=None):
        """Reads a table. `origins` are the zeros of time inputs, by default their first whole second."""
        chain = cls(table, workers)
        chain.given_origins = origins
        chain._read()
        if len(table.schema.inputs) == 1 and not chain._sort():
            chain._move(_Places(table.schema, chain.origins), n_parts)
            if not chain._sort():
                raise InputError(
                    "partitions overlap along the input after sorting; please report this as a bug."
                )
        chain.take_census()
        return chain

    def take_census(self, powers="[]"):
        """Counts, ranges and moments of all partitions, also of outputs transformed by learned exponents."""
        parts = self.workers.ask(_parts.census_of, self.rows, origins=self.origins, powers=powers)
        self.census = _catena.merged_census(parts)

    @property
    def counted(self):
        return json.loads(self.census)

    @property
    def n_rows(self):
        return sum(self.lengths)

    def _read(self):
        """Reads the extent of each partition and drops empty partitions."""
        from dask import delayed

        partitions, schema = list(self.table.partitions()), self.table.schema
        if self.table.is_reordered:
            # Moved rows stay on the workers; others are read again when a whole frame is requested.
            partitions = self.workers.client.compute(partitions)
            rows = self.workers.stay(_parts.rows_of, partitions, schema=schema)
        else:
            read = delayed(_parts.rows_of, pure=False)
            rows = self.workers.client.compute([read(partition, schema) for partition in partitions])
        extents = self.workers.ask(_parts.extent_of, rows)
        kept = [at for at, (count, _) in enumerate(extents) if count]
        if not kept:
            raise InputError("X has no rows: 0 sample(s) while a minimum of 1 is required.")
        self.partitions = [partitions[at] for at in kept]
        self.rows = [rows[at] for at in kept]
        self.lengths = [extents[at][0] for at in kept]
        self.extents = [extents[at][1] for at in kept]
        self.clocks = []
        for at in range(len(self.table.schema.inputs)):
            ends = [extent[at] for extent in self.extents]
            zones, units = {end[2] for end in ends}, [end[3] for end in ends]
            if len(zones) > 1:
                raise InputError(
                    f"partitions have the time zones {', '.join(map(str, zones))}; give one time zone."
                )
            origin = self.given_origins and self.given_origins[at]
            if origin is None and units[0] is not None:
                origin = int(min(end[0] for end in ends)) // 10**9
            self.clocks.append(None if units[0] is None else (origin, zones.pop(), units[0]))
        self.origins = [None if clock is None else clock[0] for clock in self.clocks]
        self.is_integer = len(self.clocks) == 1 and all(extent[0][4] for extent in self.extents)

    def _sort(self):
        """Sorts the partitions along the input; returns whether they do not overlap."""
        order = sorted(range(len(self.rows)), key=lambda at: (self.extents[at][0][0], self.extents[at][0][1]))
        firsts = [self.extents[at][0][0] for at in order]
        lasts = [self.extents[at][0][1] for at in order]
        if any(last > first for last, first in zip(lasts[:-1], firsts[1:], strict=True)):
            return False
        for name in ("partitions", "rows", "lengths", "extents"):
            setattr(self, name, [getattr(self, name)[at] for at in order])
        #: Position of each partition in the caller's order.
        self.places = order
        ends = self._numbers(np.array(lasts))
        self.before = [None, *([float(end)] for end in ends[:-1])]
        self.lasts = ends
        return True

    def _numbers(self, values):
        """Values of the first input as numbers of the model."""
        if self.clocks[0] is None:
            return np.asarray(values, dtype=np.float64)
        return _catena.numbers_of(np.asarray(values, dtype=np.int64), (self.origins[0], None, None))

    def _move(self, places, n_parts=None):
        """Moves rows to partitions that are sorted by their keys."""
        n_parts = n_parts or len(self.rows)
        found = self.workers.ask(_quantiles, self.rows, places=places)
        firsts, counts = np.concatenate([keys for keys, _ in found]), []
        for keys, count in found:
            counts.append(np.full(len(keys), count / len(keys)))
        order = np.argsort(firsts, kind="stable")
        share = np.cumsum(np.concatenate(counts)[order])
        cuts = np.searchsorted(share, np.arange(1, n_parts) * share[-1] / n_parts)
        inner = np.unique(firsts[order][np.minimum(cuts, len(order) - 1)])
        inner = inner[inner > firsts.min()]
        divisions = [float(firsts.min()), *map(float, inner), float(firsts.max())]
        self.table = self.table.reordered(places, divisions)
        self._read()
        self.places = list(range(len(self.rows)))

    def gap(self):
        """The median spacing of a single input; None for several inputs. Takes a few rounds, once."""
        if self._gap is None and len(self.table.schema.inputs) == 1:
            self._gap = _median.middle(
                lambda low, high: self.workers.ask(
                    _gap_sketch, self.rows, self.before, origins=self.origins, low=low, high=high
                )
            )
        return self._gap

    def sample(self, wanted, seed):
        """About `wanted` rows to compare candidates on: with one input the window in which the scarcest output has most cells,
        as on one machine; else random rows."""
        n_rows, is_line = self.n_rows, len(self.table.schema.inputs) == 1
        begins = np.concatenate([[0], np.cumsum(self.lengths)])
        if wanted >= n_rows:
            chosen = np.arange(n_rows)
        elif is_line:
            chosen = self._window(wanted, begins)
        else:
            chosen = np.sort(np.random.default_rng(seed).choice(n_rows, wanted, replace=False))
        owners = np.searchsorted(begins, chosen, side="right") - 1
        touched = np.unique(owners)
        places = [chosen[owners == at] - begins[at] for at in touched]
        rows = [self.rows[at] for at in touched]
        found = self.workers.ask(_parts.some_of, rows, places, origins=self.origins, ascending=is_line)
        return np.concatenate([points for points, _ in found]), np.concatenate(
            [values for _, values in found]
        )

    def _window(self, wanted, begins):
        room = self.n_rows - wanted
        starts = [window * room // 15 for window in range(16)]
        ranges = [
            [
                (min(max(start - begin, 0), length), min(max(start + wanted - begin, 0), length))
                for start in starts
            ]
            for begin, length in zip(begins, self.lengths, strict=False)
        ]
        counts = sum(self.workers.ask(_parts.counts_in, self.rows, ranges, origins=self.origins))
        scarcest = counts.min(axis=1)
        if scarcest.max() < 2:
            # If an output is missing in every window, larger windows are tried.
            return np.arange(self.n_rows) if 4 * wanted >= self.n_rows else self._window(4 * wanted, begins)
        start = starts[int(np.argmax(scarcest))]
        return np.arange(start, start + wanted)

    def lay(self, preparation, n_parts=None):
        """Builds the chain over all partitions in model units."""
        workers, origins = self.workers, self.origins
        first = _first_row
        if len(self.table.schema.inputs) > 1:
            units = json.loads(preparation)["inputs"]
            ranges = [(column["low"], column["high"]) for column in self.counted["inputs"]]
            curve = _Curve(self.table.schema, origins, units, ranges)
            self._move(curve, n_parts)
            first = curve.first
        self.ordered = workers.stay(
            _parts.order_of, self.rows, origins=origins, preparation=preparation, first=first
        )
        ends = workers.ask(_parts.ends_of, self.ordered)
        before = [None, *(last for _, last in ends[:-1])]
        self.parts = workers.stay(
            _parts.laid,
            self.rows,
            self.ordered,
            before,
            origins=origins,
            preparation=preparation,
        )
        facts = workers.ask(_parts.facts_of, self.parts)
        self.sums = sum(sums for sums, *_ in facts)
        self.counts = sum(counts for _, counts, *_ in facts)
        self.log_volume = float(sum(fact[2] for fact in facts))
        self.length = sum(fact[3] for fact in facts)
        self.joins = sum(fact[4] for fact in facts[1:])
        self.spacing = _median.middle(
            lambda low, high: workers.ask(_step_sketch, self.parts, low=low, high=high)
        )

    # The two rounds

    def around(self, model, distinct=False):
        """The log evidence and the messages into every partition: one map and a small scan."""
        summaries = self.workers.ask(_parts.summary_of, self.parts, model=model, distinct=distinct)
        return _catena.surroundings(summaries)

    def evidence(self, model, distinct=False):
        """The log evidence and its gradient: two maps with a small scan between them."""
        self.workers.traffic.evaluations += 1
        _, around = self.around(model, distinct)
        shares = self.workers.ask(_parts.share_of, self.parts, around, model=model, distinct=distinct)
        # A fixed order of summation keeps results reproducible to the bit.
        return np.sum(shares, axis=0)


class _Places:
    """The key of a row: its position along a single input."""

    def __init__(self, schema, origins):
        self.schema = schema
        self.origins = origins

    def of_rows(self, rows):
        return rows.points(self.origins)[:, 0]

    def __call__(self, frame):
        return self.of_rows(_parts.Rows(frame, self.schema))


class _Curve(_Places):
    """The key of a row: its position on a Hilbert curve, in model units."""

    def __init__(self, schema, origins, units, ranges):
        super().__init__(schema, origins)
        self.units = units
        self.ranges = ranges

    def of_points(self, points):
        shifts, scales = np.array(self.units).T
        low, high = ((np.array(ends) - shifts) / scales for ends in zip(*self.ranges, strict=True))
        # A cube, so that the curve has no preferred direction.
        side = (high - low).max()
        return _curve.keys((points - shifts) / scales, low, low + side)

    def of_rows(self, rows):
        return self.of_points(rows.points(self.origins))

    def first(self, points):
        """The first row of a partition on the curve."""
        return int(np.argmin(self.of_points(points)))


def _first_row(points):
    return 0


def _quantiles(rows, places):
    keys = np.sort(places.of_rows(rows))
    picked = np.linspace(0, len(keys) - 1, min(len(keys), QUANTILES)).round().astype(int)
    return keys[picked], len(keys)


def _gap_sketch(rows, before, origins, low, high):
    return _median.sketch(_parts.gaps_of(rows, origins, before), low, high)


def _step_sketch(part, low, high):
    return _median.sketch(_parts.steps_of(part), low, high)
