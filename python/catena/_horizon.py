"""The inputs of forecast rows."""

import datetime

import numpy as np

from . import _catena
from ._frames import Points
from .errors import InputError

#: Maximum number of forecast rows.
MOST_STEPS = 10_000_000


def points_ahead(inputs, names, clocks, horizon, step=None):
    """Points at regular steps after the last row, up to `horizon` (a number of steps or a length)."""
    check_line(names)
    places = np.ascontiguousarray(inputs[:, 0])
    return points_after(places.max(), lambda: _catena.median_gap(places), names, clocks, horizon, step)


def check_line(names):
    """Refuses several inputs."""
    if len(names) != 1:
        raise InputError(f"a forecast needs one input, but the model has {len(names)}; use predict.")


def points_after(last, median_gap, names, clocks, horizon, step=None):
    """The same after the input `last`; `median_gap` is called only if no step is given."""
    clock = clocks[0]
    size = length(step, clock, "step") if step is not None else median_gap()
    if size is None:
        raise InputError(f"all rows have the same {names[0]}, so the step cannot be inferred; give step.")
    if isinstance(horizon, (int, np.integer)) and not isinstance(horizon, bool):
        count = int(horizon)
    else:
        # Rounding must not lose the last step.
        count = int(length(horizon, clock, "horizon") / size * (1 + 1e-12))
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
