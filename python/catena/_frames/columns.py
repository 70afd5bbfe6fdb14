"""A column of the caller's table as numbers, with the information to convert results back."""

import numpy as np

from .. import _catena, _check
from ..errors import InputError

#: Units of times.
UNITS = ("D", "s", "ms", "us", "ns")
#: Roles of a column in error messages.
INPUT, OUTPUT = "an input", "an output"


def columns_notes(why, left_out):
    """Notes on the choice of columns."""
    return {"why": why, **({"left_out": left_out} if left_out else {})}


def check_names(wanted, own, role):
    """Refuses a table without a column of the model."""
    missing = [name for name in wanted if name not in own]
    if missing:
        raise InputError(
            f"the frame has no column {missing[0]!r}, which is {role} of the model; it has "
            f"{', '.join(map(repr, own)) or 'no columns'}."
        )


class Clock:
    """Origin (in Unix seconds), time zone, unit and calendar of a time input; `calendar` is None for elapsed time.

    `freq` is the frequency of a pandas index, `is_period` whether it held periods.
    """

    __slots__ = ("calendar", "freq", "is_period", "origin", "unit", "zone")

    def __init__(self, origin, zone, unit="ns", calendar=None, freq=None, is_period=False):
        self.origin = origin
        self.zone = zone
        self.unit = unit
        self.calendar = calendar
        self.freq = freq
        self.is_period = is_period

    @property
    def parts(self):
        """The clock in the form of the Rust extension."""
        return (self.origin, self.zone, self.calendar)

    @property
    def note(self):
        """Unit and frequency as a text for model files, such as ``ns``, ``ns,freq=MS`` or ``ns,period=M``."""
        kind = "period" if self.is_period else "freq"
        return self.unit if self.freq is None else f"{self.unit},{kind}={self.freq}"

    @classmethod
    def of_note(cls, parts, note):
        """The clock of a model file."""
        origin, zone, calendar = parts
        unit, _, more = note.partition(",")
        kind, _, freq = more.partition("=")
        return cls(origin, zone, unit, calendar, freq or None, kind == "period")

    def numbers(self, nanoseconds):
        """Seconds after the origin, along the calendar."""
        return _catena.numbers_of(_check.laid_out(nanoseconds), self.parts)

    def nanoseconds(self, numbers):
        """Nanoseconds since 1970."""
        return _catena.instants_of(np.ascontiguousarray(numbers, dtype=np.float64), self.parts)

    def instants(self, numbers):
        """datetime64 in this clock's unit, from seconds after the origin; in UTC if there is a zone."""
        instants = self.nanoseconds(numbers).view("datetime64[ns]")
        unit = self.unit if self.unit != "D" else "s"
        coarse = instants.astype(f"datetime64[{unit}]")
        # Times between two ticks need a finer unit.
        return coarse if (coarse == instants).all() else instants


class Column:
    """A named column of numbers or times."""

    __slots__ = ("freq", "is_integer", "is_period", "name", "unit", "values", "zone")

    def __init__(self, name, values, *, zone=None, unit=None, is_integer=False):
        self.name = str(name)
        #: float64, or int64 nanoseconds since 1970 if `unit` is set.
        self.values = values
        self.zone = zone
        self.unit = unit
        self.is_integer = is_integer
        #: The frequency of a pandas index of times, and whether it holds periods.
        self.freq = None
        self.is_period = False

    @property
    def is_time(self):
        return self.unit is not None

    @classmethod
    def of_times(cls, name, instants, zone=None, unit=None):
        """A column of datetime64; refuses NaT."""
        missing = np.isnat(instants)
        if missing.any():
            raise InputError(
                f"the time of row {int(np.argmax(missing))} in {name!r} is missing; drop that row."
            )
        unit = unit or np.datetime_data(instants.dtype)[0]
        unit = unit if unit in UNITS else "s"
        nanoseconds = instants.astype("datetime64[ns]")
        if (nanoseconds.astype(instants.dtype) != instants).any():
            raise InputError(f"column {name!r} has times outside the years 1678 to 2262; drop these rows.")
        return cls(name, np.ascontiguousarray(nanoseconds.view(np.int64)), zone=zone, unit=unit)

    @classmethod
    def of_numbers(cls, name, numbers):
        """A column of numbers, NaN where missing."""
        array = np.asarray(numbers)
        if array.dtype.kind not in "fiubO":
            raise InputError(f"column {name!r} has the type {array.dtype}; give numbers or times.")
        _check.exact(array, f"column {name!r}")
        try:
            values = np.asarray(array, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"column {name!r} holds an object that is not a number: {error}.") from error
        return cls(name, values, is_integer=array.dtype.kind in "iu")
