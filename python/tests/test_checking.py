"""Bad readings: the same findings as the command line, in the library and with the groups of the caller."""

import json
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pytest

import catena
from catena.errors import InputError

COLUMNS = ["kind", "cells", "value", "expected", "lower", "upper", "deviation", "p_value"]


def thermometers(n_rows=300):
    """Two thermometers along time, with a spike, a wrong code and a frozen day."""
    rng = np.random.default_rng(1)
    hours = np.arange(n_rows)
    weather = 10 + 6 * np.sin(hours / 20) + 2 * np.sin(hours / 3.7)
    frame = pd.DataFrame(
        {
            "north": weather + 0.2 * rng.normal(size=n_rows),
            "south": weather + 1 + 0.2 * rng.normal(size=n_rows),
        },
        index=pd.date_range("2021-03-01", periods=n_rows, freq="h", name="when"),
    ).round(3)
    frame.iloc[50, 0] += 15
    frame.iloc[120, 1] = -99
    frame.iloc[200:224, 0] = 7.5
    return frame


def test_findings_are_those_of_the_command_line(program, tmp_path):
    frame = thermometers()
    frame.to_csv(tmp_path / "table.csv")
    shown = subprocess.run(
        [program, "check", tmp_path / "table.csv", "--budget", "quick", "--json", "--quiet"],
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = json.loads(shown.stdout)["findings"]
    ours = catena.check(frame, budget="quick")
    assert list(ours["row"] + 2) == [finding["line"] for finding in theirs] == [52, 122, 202]
    assert list(ours["last_row"] + 2) == [finding["last_line"] for finding in theirs]
    assert list(ours["column"]) == ["north", "south", "north"]
    assert list(ours["kind"]) == ["spike", "spike", "stuck"]
    assert list(ours["when"]) == [frame.index[50], frame.index[120], frame.index[200]]
    for name in COLUMNS:
        expected = [finding[name] for finding in theirs]
        assert list(ours[name]) == (pytest.approx(expected, rel=1e-6) if name != "kind" else expected)
    # The table of a fit, which stays as it is.
    gp = catena.MultiOutputGP(budget="quick").fit(frame)
    before = gp.predict()
    pd.testing.assert_frame_equal(gp.check(), ours)
    pd.testing.assert_frame_equal(gp.predict(), before)


def test_findings_have_the_library_of_the_table():
    frame = thermometers()
    found = catena.check(pl.from_pandas(frame.reset_index()), budget="quick")
    assert isinstance(found, pl.DataFrame) and found["kind"].to_list() == ["spike", "spike", "stuck"]
    hours = np.arange(300.0)
    of_arrays = catena.check(hours[:, None], frame.to_numpy(), budget="quick")
    assert isinstance(of_arrays, pd.DataFrame) and list(of_arrays["row"]) == [50, 120, 200]
    assert list(of_arrays["column"]) == ["y0", "y1", "y0"]


def test_a_table_without_bad_readings_gives_an_empty_frame():
    hours = np.arange(200.0)
    values = np.sin(hours / 9) + 0.1 * np.random.default_rng(2).normal(size=200)
    found = catena.check(hours[:, None], values, budget="quick")
    assert len(found) == 0 and set(COLUMNS) < set(found.columns)


def test_groups_are_tables_of_their_own():
    frame = thermometers()[["south"]].reset_index()
    other = frame.assign(station="b", south=frame["south"].where(frame["south"] > -50) + 3)
    table = pd.concat([frame.assign(station="a"), other], ignore_index=True)
    found = catena.check(table, groups="station", budget="quick")
    assert list(found["row"]) == [120] and list(found["station"]) == ["a"]
    gp = catena.MultiOutputGP(budget="quick").fit(table, groups="station")
    pd.testing.assert_frame_equal(gp.check(), found)


def test_what_cannot_be_checked_is_refused_with_a_remedy():
    frame = thermometers()
    with pytest.raises(InputError, match="needs method catena or exact; leave the method out"):
        catena.check(frame, method="nngp:8", budget="quick")
    gp = catena.MultiOutputGP(budget="quick").fit(frame)
    with pytest.raises(InputError, match="leave them out"):
        gp.check(groups=["a"] * len(frame))
