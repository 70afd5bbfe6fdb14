"""The inputs of forecast rows."""

import datetime

import numpy as np

from . import _catena
from ._frames import Points
from .errors import InputError

#: Maximum number of forecast rows.
MOST_STEPS = 10_000_000


def points_ahead(inputs, names, clocks, horizon, step=None, groups=None):
    """Points at regular steps after the last row, up to `horizon` (a number of steps or a length).

    With `groups`, as from a model, they follow the last row of each group.
    """
    check_line(names)
    places = np.ascontiguousarray(inputs[:, 0])
    if groups is None:
        return points_after(
            places.max(), lambda: _catena.median_gap(places), names, clocks, horizon, step, places
        )
    columns, labels, numbers = groups
    gap, lasts = _catena.median_gap(places, numbers), np.full(len(labels), -np.inf)
    np.maximum.at(lasts, numbers, places)
    blocks, numbers = [], []
    for number in np.flatnonzero(np.isfinite(lasts)):
        points = points_after(lasts[number], lambda: gap, names, clocks, horizon, step, places)
        blocks.append(points.values)
        numbers += [int(number)] * len(points)
    points = Points(np.concatenate(blocks), names, clocks)
    points.groups = (columns, labels, numbers)
    return points


def check_line(names):
    """Refuses several inputs."""
    if len(names) != 1:
        raise InputError(f"a forecast needs one input, but the model has {len(names)}; use predict.")


def points_after(last, median_gap, names, clocks, horizon, step=None, places=None):
    """The same after the input `last`; `median_gap` is called only if no step is given. `places` show the calendar."""
    clock = clocks[0]
    if clock is not None:
        gap = None if step is not None else median_gap()
        if step is None and gap is None:
            raise _no_step(names)
        known = np.empty(0) if places is None else places
        reach = (span_text(horizon, "horizon"), None if step is None else span_text(step, "step"))
        ahead = _catena.rows_ahead(float(last), known, gap, clock.parts, reach, MOST_STEPS)
        return Points(ahead[:, np.newaxis], names, clocks)
    size = length(step, clock, "step") if step is not None else median_gap()
    if size is None:
        raise _no_step(names)
    # Rounding must not lose the last step.
    steps = horizon if _is_whole(horizon) else length(horizon, clock, "horizon") / size * (1 + 1e-12)
    count = int(steps)
    if count < 1:
        raise InputError(
            f"horizon={horizon!r} is shorter than one step; give a longer horizon or a smaller step."
        )
    if count > MOST_STEPS:
        raise InputError(
            f"horizon={horizon!r} has {count} steps, more than {MOST_STEPS}; give a larger step."
        )
    ahead = last + np.arange(1, count + 1) * size
    return Points(ahead[:, np.newaxis], names, clocks)


def _no_step(names):
    return InputError(f"all rows have the same {names[0]}, so the step cannot be inferred; give step.")


def _is_whole(given):
    return isinstance(given, (int, np.integer)) and not isinstance(given, bool)


#: Units of pandas' calendar offsets.
_OFFSETS = {
    "M": "mo",
    "ME": "mo",
    "MS": "mo",
    "Q": "Q",
    "QE": "Q",
    "QS": "Q",
    "Y": "y",
    "YE": "y",
    "YS": "y",
    "B": "B",
    "W": "w",
}


def span_text(given, name):
    """A step or horizon along time as text: a number of steps, or a duration such as ``6mo``."""
    if name == "horizon" and _is_whole(given):
        if given < 1:
            raise InputError(f"horizon={given!r} is shorter than one step; give at least 1.")
        return str(int(given))
    if isinstance(given, str):
        return given
    if hasattr(given, "freqstr") and hasattr(given, "n") and not hasattr(given, "total_seconds"):
        # A pandas offset such as MonthEnd(); anchors as in QE-DEC follow from the rows.
        unit = _OFFSETS.get(getattr(given, "rule_code", "").partition("-")[0])
        if unit is None:
            raise InputError(f"{name}={given!r} is not supported; write a duration such as '6mo' or '5B'.")
        return f"{given.n}{unit}"
    # Exact to the nanosecond for spans of a hundred days.
    return f"{length(given, True, name)!r}s"


def length(given, clock, name):
    """A length along the input: a number, or the seconds of a duration if the input is a time."""
    is_timedelta = isinstance(given, (datetime.timedelta, np.timedelta64)) or hasattr(given, "total_seconds")
    if is_timedelta or isinstance(given, str):
        if clock is None:
            raise InputError(f"{name}={given!r} is a duration, but the input holds numbers; give a number.")
        if isinstance(given, str):
            length = _catena.duration_seconds(given)
        elif isinstance(given, np.timedelta64):
            length = float(given / np.timedelta64(1, "s"))
        else:
            length = float(given.total_seconds())
    elif isinstance(given, (int, float, np.number)) and not isinstance(given, bool):
        if clock is not None:
            raise InputError(f"{name}={given!r} has no unit; write a duration such as '48h'.")
        length = float(given)
    else:
        raise InputError(f"{name}={given!r} is invalid; give a number, or a duration such as '48h'.")
    if not (length > 0 and np.isfinite(length)):
        raise InputError(f"{name}={given!r} must be positive and finite.")
    return length
