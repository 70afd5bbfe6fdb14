"""Inputs of rows as numbers, with names, clocks and index."""

import numpy as np

from .. import _catena, _check
from ..errors import InputError
from .columns import Clock


class Points:
    """Inputs (n, M) with their names and clocks, and the caller's index if there is one."""

    __slots__ = (
        "clocks",
        "groups",
        "has_names",
        "index",
        "integer",
        "is_column",
        "labels",
        "layout",
        "names",
        "values",
    )

    def __init__(self, values, names, clocks=None, index=None, integer=False, has_names=False):
        self.values = values
        self.names = list(names)
        self.clocks = clocks or [None] * len(self.names)
        self.index = index
        self.integer = integer
        #: Whether the names were given by the caller.
        self.has_names = has_names
        #: Whether they were given as a single column or index.
        self.is_column = False
        #: The columns of groups, the names of all groups, and the number of the group of each row; None without groups.
        self.groups = None
        #: The name of the group of each row of a table that is being read; None without groups.
        self.labels = None
        #: The row and the output of each row of a long table; None if the table is wide or these are not its rows.
        self.layout = None

    def taken(self, rows):
        """Some of the points, with names and clocks."""
        taken = Points(self.values[rows], self.names, self.clocks, None, self.integer, self.has_names)
        if self.groups is not None:
            columns, names, numbers = self.groups
            taken.groups = (columns, names, [numbers[row] for row in rows])
        return taken

    def __len__(self):
        return len(self.values)

    @classmethod
    def of_columns(cls, columns, index=None, clocks=None, has_names=True):
        """Points from columns. `clocks` are those of a model, which define the origins."""
        if not columns:
            raise InputError("X has no columns; give at least one input.")
        values, found = [], []
        for at, column in enumerate(columns):
            known = clocks[at] if clocks and at < len(clocks) else None
            if clocks is not None and column.is_time != (known is not None):
                want, has = ("times", "numbers") if known is not None else ("numbers", "times")
                raise InputError(f"input {column.name!r} holds {has}, but the model was fitted to {want}.")
            if not column.is_time:
                values.append(column.values)
                found.append(None)
                continue
            clock = known or Clock(
                None, column.zone, column.unit, freq=column.freq, is_period=column.is_period
            )
            if clocks is not None and (known.zone is None) != (column.zone is None):
                raise InputError(
                    f"input {column.name!r} and the model differ: one has a time zone, the other has none."
                )
            if clock.origin is None:
                earliest = int(column.values.min()) if len(column.values) else 0
                clock.origin = earliest // 10**9
            values.append(clock.numbers(column.values))
            found.append(clock)
        table = np.column_stack(values) if len(values) > 1 else _check.laid_out(values[0][:, np.newaxis])
        if len(table) == 0:
            raise InputError("X has no rows: 0 sample(s) while a minimum of 1 is required.")
        names = [column.name for column in columns]
        _check.complete(table, "X", names)
        integer = len(columns) == 1 and columns[0].is_integer
        return cls(table, names, found, index, integer, has_names)

    @classmethod
    def of_array(cls, array, name="X"):
        """Points from an array (n, M)."""
        table = _check.table(array, name)
        names = [f"x{column}" for column in range(table.shape[1])]
        _check.complete(table, name, names)
        return cls(table, names)

    def put_on_calendar(self, choice):
        """Numbers the times along a calendar: "auto", "elapsed", "month" or "business"."""
        if not isinstance(choice, str):
            raise InputError(
                f"calendar={choice!r} must be a string: 'auto', 'elapsed', 'month' or 'business'."
            )
        for at, clock in enumerate(self.clocks):
            if clock is None:
                continue
            nanoseconds = clock.nanoseconds(self.values[:, at])
            clock.calendar = _catena.calendar_of(nanoseconds, clock.zone, choice)
            if clock.calendar is not None:
                self.values[:, at] = clock.numbers(nanoseconds)

    @property
    def group_numbers(self):
        """The number of the group of each row; None without groups."""
        return None if self.groups is None else self.groups[2]

    def group_columns(self):
        """The columns that name the groups of the rows, as pairs of a name and cells."""
        if self.groups is None:
            return []
        columns, names, numbers = self.groups
        return [(column, [names[number][at] for number in numbers]) for at, column in enumerate(columns)]

    def column(self, at):
        """Input `at` in the caller's form: datetime64, integers or floats."""
        clock = self.clocks[at]
        if clock is not None:
            return clock.instants(self.values[:, at])
        column = np.ascontiguousarray(self.values[:, at])
        if self.integer and (column == np.rint(column)).all():
            return column.astype(np.int64)
        return column
