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


@pytest.mark.filterwarnings("ignore:3 bad readings")
def test_cleaned_tables_are_those_of_the_command_line(program, tmp_path):
    frame = thermometers()
    frame.iloc[10:14, 1] = np.nan
    frame.to_csv(tmp_path / "table.csv")
    words = [program, "impute", tmp_path / "table.csv", "--clean", "--budget", "quick", "--quiet"]
    subprocess.run(
        [*words, "--digits", "full", "-o", tmp_path / "filled.csv"],
        check=True,
    )
    theirs = pd.read_csv(tmp_path / "filled.csv", index_col="when", parse_dates=True)
    gp = catena.MultiOutputGP(budget="quick").fit(frame)
    with pytest.warns(catena.CatenaWarning, match="25 bad readings are treated as missing and filled"):
        ours, std = gp.impute(return_std=True, clean=True)
    np.testing.assert_allclose(ours.to_numpy(), theirs.to_numpy(), rtol=1e-9)
    bad = np.zeros(frame.shape, dtype=bool)
    bad[50, 0], bad[120, 1], bad[201:224, 0] = True, True, True
    np.testing.assert_array_equal(std.notna().to_numpy(), bad | frame.isna().to_numpy())
    np.testing.assert_array_equal((ours != frame).to_numpy(), bad | frame.isna().to_numpy())
    # The estimator stays as it is.
    pd.testing.assert_frame_equal(gp.impute()[frame.notna()], frame)


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "long", "numpy", "series", "integers"])
def test_cleaned_tables_have_the_form_of_the_caller(kind):
    frame = thermometers()[["south"]]
    expected = None
    if kind == "polars":
        given = pl.from_pandas(frame.reset_index())
    elif kind == "pyarrow":
        given = pl.from_pandas(frame.reset_index()).to_arrow()
    elif kind == "long":
        given = frame.reset_index().rename(columns={"when": "ds", "south": "y"}).assign(unique_id="a")
    elif kind == "series":
        given = frame["south"]
    elif kind == "integers":
        given = (1000 * frame).round().astype(int)
    else:
        given = None
    if kind == "numpy":
        gp = catena.MultiOutputGP(budget="quick").fit(np.arange(300.0)[:, None], frame.to_numpy())
    else:
        gp = catena.MultiOutputGP(budget="quick").fit(given)
    with pytest.warns(catena.CatenaWarning, match="1 bad reading is treated as missing and filled"):
        filled = gp.impute(clean=True)
    if kind == "polars":
        found = filled["south"].to_numpy()
    elif kind == "pyarrow":
        found = filled.column("south").to_numpy()
    elif kind == "long":
        found = filled["y"].to_numpy()
    elif kind == "integers":
        found = filled["south"].to_numpy() / 1000
    else:
        found = np.asarray(filled).ravel()
    expected = frame["south"].to_numpy()
    assert np.flatnonzero(np.abs(found - expected) > 1e-9).tolist() == [120] and 0 < found[120] < 25


def test_a_live_posterior_tells_how_far_a_new_reading_is_from_the_others():
    frame = thermometers().drop(index=thermometers().index[[50, 120, *range(200, 224)]])
    gp = catena.MultiOutputGP(budget="quick").fit(frame)
    live = gp.live()
    later = frame.index[-1] + pd.Timedelta("1h")
    mean = gp.predict(pd.DatetimeIndex([later]))
    live.observe(later, {"north": float(mean["north"].iloc[0])})
    assert abs(live.deviations(later)["north"].iloc[0]) < 1e-6
    assert np.isnan(live.deviations(later)["south"].iloc[0])
    live.observe(later, {"north": float(mean["north"].iloc[0]) + 20})
    assert live.deviations(later)["north"].iloc[0] > 10
    # The deviation is that from a posterior without the value.
    place = frame.index[100]
    found = live.deviations(place)["south"].iloc[0]
    value = frame["south"].loc[place]
    live.remove(later, "north")
    before = live.deviations(place)["south"].iloc[0]
    live.remove(place, "south")
    expected, std = live.posterior_at(place, return_std=True)
    if gp.summary_["outputs"][1]["transform"] == "none":
        deviation = (value - expected["south"].iloc[0]) / std["south"].iloc[0]
        assert before == pytest.approx(deviation, rel=1e-6)
    assert found == pytest.approx(before, abs=0.5)
