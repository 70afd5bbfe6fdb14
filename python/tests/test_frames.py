"""Frames in, the same frames out: type, names, index, time zone; holes filled, everything else untouched."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

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
    """Two outputs over thirty hours, with holes."""
    hours = np.arange(HOURS)
    table = np.column_stack([np.sin(hours / 4), 0.5 * np.sin(hours / 4) + 3])
    table[5:8, 0] = np.nan
    table[12:20, 1] = np.nan
    return table


def expected(at=None):
    """What plain arrays of seconds give."""
    gp = catena.MultiOutputGP(**GIVEN).fit(3600.0 * np.arange(HOURS)[:, np.newaxis], values())
    return gp.predict(None if at is None else 3600.0 * np.asarray(at, float)[:, np.newaxis])


def times(zone=None, unit="us"):
    return pd.date_range("2024-03-30 12:00", periods=HOURS, freq="h", tz=zone, unit=unit, name="when")


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "+05:30"])
@pytest.mark.parametrize("unit", ["s", "ns"])
def test_pandas_index_of_times(zone, unit):
    frame = pd.DataFrame(values(), index=times(zone, unit), columns=["a", "b"])
    gp = catena.MultiOutputGP(**GIVEN).fit(frame)
    mean, std = gp.predict(return_std=True)
    for answer in (mean, std):
        assert isinstance(answer, pd.DataFrame) and list(answer.columns) == ["a", "b"]
        pd.testing.assert_index_equal(answer.index, frame.index, check_freq=False)
    np.testing.assert_array_equal(mean.to_numpy(), expected())
    asked = frame.index[3:6] + pd.Timedelta("30min")
    np.testing.assert_array_equal(gp.predict(asked).to_numpy(), expected([3.5, 4.5, 5.5]))
    pd.testing.assert_index_equal(gp.predict(asked).index, asked, check_freq=False)
    ahead = gp.forecast("3h")
    wanted = pd.date_range(frame.index[-1], periods=4, freq="h", unit=unit)[1:]
    pd.testing.assert_index_equal(ahead.index, wanted, check_names=False, check_freq=False)
    assert ahead.index.name == "when" and str(ahead.index.dtype) == str(frame.index.dtype)
    np.testing.assert_array_equal(ahead.to_numpy(), expected([30, 31, 32]))


def test_pandas_fills_holes_and_leaves_the_rest():
    frame = pd.DataFrame(
        {
            "station": ["x"] * HOURS,
            "a": values()[:, 0].astype(np.float32),
            "b": pd.array(values()[:, 1], "Float64"),
        },
        index=times("Europe/Berlin"),
    )
    frame.loc[frame.index[12:20], "b"] = pd.NA
    before = frame.copy()
    gp = catena.MultiOutputGP(**GIVEN).fit(frame)
    whole, std = gp.impute(return_std=True)
    pd.testing.assert_frame_equal(frame, before)
    assert whole.dtypes.equals(frame.dtypes) and not whole.isna().any(axis=None)
    known = frame.notna()
    assert (whole[known].dropna() == frame[known].dropna()).all(axis=None)
    assert std.isna().equals(frame[["a", "b"]].notna())
    # Single precision in, single precision learned from and out.
    np.testing.assert_allclose(
        whole["a"].to_numpy(), gp.predict()["a"].where(before["a"].isna(), before["a"]), rtol=1e-6
    )


def test_pandas_columns_and_series():
    frame = pd.DataFrame({"depth": np.arange(HOURS), "a": values()[:, 0], "b": values()[:, 1]})
    gp = catena.MultiOutputGP(**NUMBERS).fit(frame)
    ahead = gp.forecast(2)
    assert list(ahead.columns) == ["depth", "a", "b"] and ahead["depth"].tolist() == [30, 31]
    assert ahead["depth"].dtype == np.int64
    apart = catena.MultiOutputGP(**NUMBERS).fit(frame[["depth"]], frame[["a", "b"]])
    assert list(apart.predict(frame[["depth"]].tail(2)).index) == [28, 29]
    assert list(apart.feature_names_in_) == ["depth"] and apart.output_names_ == ["a", "b"]
    one = {**NUMBERS, "mixing": [1.0], "noise": 0.01}
    series = catena.MultiOutputGP(**one).fit(frame[["depth"]], frame["a"])
    assert isinstance(series.predict(frame[["depth"]]), pd.Series) and series.predict().name == "a"
    assert series.impute().notna().all()
    assert isinstance(apart.predict(frame[["depth"]].to_numpy()), pd.DataFrame)


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_polars(zone):
    instants = times(zone) if zone is None else times(zone).tz_convert("UTC").tz_localize(None)
    when = pl.Series("when", instants.to_numpy()).dt.cast_time_unit("ms")
    when = when if zone is None else when.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    frame = pl.DataFrame(
        {"note": ["x"] * HOURS, "when": when, "a": values()[:, 0], "b": values()[:, 1]}, nan_to_null=True
    )
    gp = catena.MultiOutputGP(**GIVEN).fit(frame)
    mean = gp.predict()
    assert mean.schema == {name: frame.schema[name] for name in ("when", "a", "b")}
    assert mean["when"].equals(frame["when"])
    np.testing.assert_array_equal(mean.select("a", "b").to_numpy(), expected())
    whole = gp.impute()
    assert whole.schema == frame.schema and whole.null_count().to_numpy().sum() == 0
    assert whole["note"].equals(frame["note"]) and whole["a"][0] == frame["a"][0]
    ahead = gp.forecast(datetime.timedelta(hours=2))
    assert ahead["when"].to_list() == [frame["when"][-1] + datetime.timedelta(hours=step) for step in (1, 2)]
    np.testing.assert_array_equal(gp.predict(frame.head(3)).select("a", "b").to_numpy(), expected([0, 1, 2]))


def test_polars_dates_stay_dates():
    days = pl.date_range(datetime.date(2024, 1, 1), datetime.date(2024, 1, 30), eager=True).alias("day")
    frame = pl.DataFrame({"day": days, "a": values()[:, 0], "b": values()[:, 1]})
    ahead = catena.MultiOutputGP(**{**GIVEN, "length_scales": 4 * 86400.0}).fit(frame).forecast(2)
    assert ahead["day"].to_list() == [datetime.date(2024, 1, 31), datetime.date(2024, 2, 1)]
    np.testing.assert_allclose(ahead.select("a", "b").to_numpy(), expected([30, 31]), rtol=1e-12)


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_pyarrow(zone):
    kind = pa.timestamp("us", zone)
    frame = pa.table(
        {
            "when": pa.array(times(zone)).cast(kind),
            "a": pa.array(values()[:, 0], from_pandas=True),
            "b": values()[:, 1],
        }
    )
    gp = catena.MultiOutputGP(**GIVEN).fit(frame)
    mean = gp.predict()
    assert isinstance(mean, pa.Table) and mean.schema.field("when").type == kind
    assert mean["when"].equals(frame["when"])
    np.testing.assert_array_equal(np.column_stack([mean["a"], mean["b"]]), expected())
    whole = gp.impute()
    assert whole.schema.equals(frame.schema) and whole["a"].null_count == 0
    assert gp.forecast("2h")["when"].type == kind


def test_anything_with_the_arrow_stream():
    class Stream:
        """What another library might hand over."""

        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    frame = pa.table({"hour": np.arange(HOURS), "a": values()[:, 0], "b": values()[:, 1]})
    gp = catena.MultiOutputGP(**NUMBERS).fit(Stream(frame))
    assert isinstance(gp.predict(), pa.Table) and gp.predict().column_names == ["hour", "a", "b"]
    assert gp.predict(Stream(frame.slice(0, 2))).num_rows == 2


def test_xarray():
    array = xr.DataArray(
        values(),
        dims=("time", "station"),
        coords={"time": times().to_numpy(), "station": ["a", "b"]},
        name="level",
    )
    gp = catena.MultiOutputGP(**GIVEN).fit(array)
    mean, std = gp.predict(return_std=True)
    assert mean.dims == std.dims == array.dims and mean.name == "level"
    assert (mean.time == array.time).all() and list(mean.station.values) == ["a", "b"]
    np.testing.assert_array_equal(mean.values, expected())
    whole = gp.impute()
    assert not whole.isnull().any() and (whole == array).where(array.notnull(), True).all()
    assert gp.forecast("2h").time.values[0] == array.time.values[-1] + np.timedelta64(1, "h")
    assert gp.predict(array[:4]).shape == (4, 2)
    series = xr.DataArray(values()[:, 0], dims="time", coords={"time": times().to_numpy()})
    one = catena.MultiOutputGP(**{**GIVEN, "mixing": [1.0]}).fit(times(), series)
    assert one.predict().dims == ("time",)


def test_numpy_times():
    when = times().to_numpy()
    gp = catena.MultiOutputGP(**GIVEN).fit(when, values())
    np.testing.assert_array_equal(gp.predict(), expected())
    np.testing.assert_array_equal(gp.predict(when[:3] + np.timedelta64(30, "m")), expected([0.5, 1.5, 2.5]))
    assert isinstance(gp.forecast("1d"), np.ndarray) and len(gp.forecast("1d")) == 24


def test_update_by_frames():
    frame = pd.DataFrame(values(), index=times("Europe/Berlin"), columns=["a", "b"])
    gp = (
        catena.MultiOutputGP(**{**GIVEN, "standardize": False}).fit(frame[:20]).update(frame[20:][["b", "a"]])
    )
    whole = catena.MultiOutputGP(**{**GIVEN, "standardize": False}).fit(frame)
    pd.testing.assert_frame_equal(gp.predict(), whole.predict(), check_freq=False)
    assert gp.score(frame) == whole.score(frame)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (np.arange(3.0)[:, np.newaxis], "fitted to times"),
        (times("UTC"), "time zone"),
        (pd.Index([1.0, 2.0]), "holds numbers"),
        (pd.DatetimeIndex([pd.NaT]), "missing"),
    ],
)
def test_other_clocks_are_refused(asked, sentence):
    gp = catena.MultiOutputGP(**GIVEN).fit(pd.DataFrame(values(), index=times(), columns=["a", "b"]))
    with pytest.raises(ValueError, match=sentence):
        gp.predict(asked)


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (pd.DataFrame({"t": [1.0, 2.0], "name": ["a", "b"]}), "no column of numbers"),
        (pd.DataFrame([[1.0, 2.0, 3.0]] * 2, columns=["t", "a", "a"]), "twice"),
        (pl.DataFrame(), "no columns"),
        (pl.Series([1.0, 2.0]), "single column"),
        (xr.DataArray(np.ones((3, 2)), dims=("time", "series")), "no coordinate"),
        (xr.DataArray(np.ones((3, 2, 2))), "dimensions"),
    ],
)
def test_frames_that_cannot_be_used(frame, sentence):
    with pytest.raises(ValueError, match=sentence):
        catena.MultiOutputGP(**GIVEN).fit(frame)


def test_text_among_inputs_is_named():
    frame = pd.DataFrame({"x": [1.0, 2.0], "city": ["a", "b"]})
    with pytest.raises((TypeError, ValueError), match="city"):
        catena.MultiOutputGP().fit(frame, [1.0, 2.0])
    with pytest.raises(ValueError, match="city"):
        catena.MultiOutputGP().fit(pl.DataFrame(frame.to_dict("list")), [1.0, 2.0])


def test_new_rows_may_miss_an_output():
    frame = pd.DataFrame(values(), index=times("UTC"), columns=["a", "b"])
    gp = catena.MultiOutputGP(**GIVEN).fit(frame[:25])
    late = frame[25:].assign(b=np.nan)
    before = gp.predict(frame.index[-1:])
    after = gp.update(late).predict(frame.index[-1:])
    assert (before != after).all(axis=None) and len(gp.predict()) == HOURS
    assert np.isfinite(catena.metrics.rmse(late["a"], gp.predict(late)["a"]))
