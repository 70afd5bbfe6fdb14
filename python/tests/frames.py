"""Frames of the tests: two outputs over thirty hours."""

import numpy as np
import pandas as pd

import catena

HOURS = 30
GIVEN = {
    "learn": False,
    "kernel": "matern32",
    "mixing": [[1.0], [0.5]],
    "length_scales": 4 * 3600.0,
    "noise": 0.01,
}
NUMBERS = {**GIVEN, "length_scales": 4.0}


def values():
    """Two outputs over thirty hours, with missing values."""
    hours = np.arange(HOURS)
    table = np.column_stack([np.sin(hours / 4), 0.5 * np.sin(hours / 4) + 3])
    table[5:8, 0] = np.nan
    table[12:20, 1] = np.nan
    return table


def expected(at=None):
    """Results of plain arrays of seconds."""
    gp = catena.MultiOutputGP(**GIVEN).fit(3600.0 * np.arange(HOURS)[:, np.newaxis], values())
    return gp.predict(None if at is None else 3600.0 * np.asarray(at, float)[:, np.newaxis])


def times(zone=None, unit="us"):
    return pd.date_range("2024-03-30 12:00", periods=HOURS, freq="h", tz=zone, unit=unit, name="when")


def far(labels=("t", "a", "b")):
    """A frame of numbers whose input is far from its row numbers."""
    return pd.DataFrame(np.column_stack([100.0 + np.arange(HOURS), values()]), columns=list(labels))
