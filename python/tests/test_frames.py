"""Results have the type, names, index and time zone of the table; only missing values are filled."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import catena
from catena.errors import InputError

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


def test_pandas_fills_missing_values_and_leaves_the_rest():
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
    # Single precision in and out.
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
        """A table of another library."""

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
        (pd.DataFrame({"t": [1.0, 2.0], "name": ["a", "b"]}), "no numeric column"),
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


# Selection of columns


def far(labels=("t", "a", "b")):
    """A frame of numbers whose input is far from its row numbers."""
    return pd.DataFrame(np.column_stack([100.0 + np.arange(HOURS), values()]), columns=list(labels))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(
            {"a": np.arange(9.0)}, index=pd.Index(1_700_000_000_000_000_000 + np.arange(9), name="t")
        ),
        pd.DataFrame({"t": pd.array([2**60 + row for row in range(8)] + [None], dtype="Int64"), "a": 1.0}),
        pd.DataFrame({"t": pd.array([2**60 + row for row in range(9)], dtype="int64[pyarrow]"), "a": 1.0}),
        pd.DataFrame({"t": pd.Series([2**70 + row for row in range(9)], dtype=object), "a": 1.0}),
        pl.DataFrame({"t": [2**60 + row for row in range(9)], "a": np.arange(9.0)}),
        pa.table({"t": [2**60 + row for row in range(9)], "a": np.arange(9.0)}),
        pa.table({"t": pa.array([2**63 + row for row in range(9)], pa.uint64()), "a": np.arange(9.0)}),
        xr.DataArray(np.ones((9, 1)), dims=["t", "s"], coords={"t": 2**60 + np.arange(9), "s": ["a"]}),
    ],
)
def test_integers_that_would_lose_digits_are_refused(frame):
    with pytest.raises(InputError, match=r"column 't' has the integer .* beyond .*subtract an origin"):
        catena.MultiOutputGP().fit(frame)


def test_labels_that_are_no_text_are_found_as_columns():
    frame = far((0, 1, 2))
    gp = catena.MultiOutputGP(**NUMBERS).fit(frame)
    np.testing.assert_allclose(gp.predict(frame), gp.predict(), rtol=1e-9)
    assert gp.score(frame) == catena.MultiOutputGP(**NUMBERS).fit(far()).score(far())
    assert gp.update(frame[:2]).predict().iloc[-2:, 0].tolist() == [100.0, 101.0]
    twice = far(("1", 1, "b"))
    with pytest.raises(ValueError, match="'1' occurs twice"):
        catena.MultiOutputGP(**NUMBERS).fit(twice)


@pytest.mark.parametrize(
    "ask",
    [
        lambda gp, frame: gp.predict(frame),
        lambda gp, frame: gp.update(frame),
        lambda gp, frame: gp.score(frame),
        lambda gp, frame: gp.live().observe(frame),
        lambda gp, frame: gp.fit(far(), candidates=frame),
    ],
)
def test_an_input_that_is_not_there_is_not_replaced_by_row_numbers(ask):
    gp = catena.MultiOutputGP(**NUMBERS).fit(far())
    with pytest.raises(
        ValueError, match="no column 't', which is an input of the model; it has 'T', 'a', 'b'"
    ):
        ask(gp, far(("T", "a", "b")))
    assert len(gp.predict()) == HOURS


def test_an_index_is_the_input_of_a_model_that_was_fitted_to_one():
    frame = far().set_index("t")
    gp = catena.MultiOutputGP(**NUMBERS).fit(frame)
    expected = gp.predict().to_numpy()[:3]
    for same in (frame[:3], far()[:3], frame[:3].rename_axis(None)):
        np.testing.assert_allclose(gp.predict(same)[["a", "b"]], expected, rtol=1e-9)
    with pytest.raises(ValueError, match=r"the index 't'.*holds only row numbers.*rename_axis"):
        gp.predict(far()[["a", "b"]])
    with pytest.raises(ValueError, match=r"the index 't'.*its index is 'depth'"):
        gp.predict(frame.rename_axis("depth"))
    apart = catena.MultiOutputGP(**NUMBERS).fit(frame.index, frame)
    assert len(apart.update(frame[:2]).predict()) == HOURS + 2
    with pytest.raises(ValueError, match="no column 't'"):
        apart.update(far()[["a", "b"]])


def test_columns_are_found_in_any_order():
    frame = far()
    gp = catena.MultiOutputGP(**NUMBERS).fit(frame)
    assert gp.score(frame[["b", "a", "t"]]) == gp.score(frame)
    with pytest.raises(ValueError, match="no column 'b', which is an output of the model; it has 't', 'a'"):
        gp.update(frame[["t", "a"]])
    polars = catena.MultiOutputGP(**NUMBERS).fit(pl.DataFrame(frame.to_dict("list")))
    assert polars.score(pl.DataFrame(frame[["b", "a", "t"]].to_dict("list"))) == gp.score(frame)


@pytest.mark.parametrize("frame", [far(), far().assign(t=times()), far().rename_axis("row")])
def test_rows_that_were_dropped_do_not_change_the_input(frame):
    given = GIVEN if frame["t"].dtype.kind == "M" else NUMBERS
    whole = catena.MultiOutputGP(**given)
    if frame.index.name is not None:
        whole.set_params(mixing=[[1.0], [1.0], [0.5]])
    whole.fit(frame)
    for fewer in (frame.dropna(), frame.sort_values("b"), frame[frame["a"] > 0]):
        gp = catena.MultiOutputGP(**whole.get_params()).fit(fewer)
        assert list(gp.feature_names_in_) == list(whole.feature_names_in_)
        assert gp.output_names_ == whole.output_names_
        pd.testing.assert_index_equal(gp.predict().index, fewer.index)
    assert list(whole.feature_names_in_) == ["t" if frame.index.name is None else "row"]


def test_an_index_of_fractions_is_an_input_and_row_numbers_are_none():
    frame = far()[["a", "b"]].set_axis(0.5 + np.arange(HOURS))
    assert list(catena.MultiOutputGP(**NUMBERS).fit(frame).feature_names_in_) == ["index"]
    with pytest.raises(ValueError, match="beside the input 'a'; if the index is the input, give it a name"):
        catena.MultiOutputGP(**NUMBERS).fit(far()[["a"]].set_axis(3 + 2 * np.arange(HOURS)))
    levels = far().set_index(["t", "a"])
    with pytest.raises(ValueError, match=r"several levels \('t', 'a'\).*reset_index"):
        catena.MultiOutputGP(**NUMBERS).fit(levels)


@pytest.mark.parametrize(
    "asked",
    [
        times(),
        times().to_numpy(),
        times("UTC").to_pydatetime().tolist(),
        [datetime.date(2024, 1, 1)],
        pd.DataFrame({"t": times()}),
        pl.DataFrame({"t": times().to_numpy()}),
    ],
)
def test_times_are_refused_by_a_model_of_numbers(asked):
    for gp in (
        catena.MultiOutputGP(**NUMBERS).fit(far()[["t"]], values()),
        catena.MultiOutputGP(**NUMBERS).fit(far()),
    ):
        with pytest.raises(ValueError, match="holds times, but the model was fitted to numbers"):
            gp.predict(asked)


def test_an_output_is_no_input():
    frame = far().fillna(0.0)
    apart = catena.MultiOutputGP(**NUMBERS).fit(frame[["t"]], frame[["a", "b"]])
    for gp in (apart, catena.MultiOutputGP(**NUMBERS).fit(frame)):
        with pytest.raises(ValueError, match="'a', which is an output of the model; give the input 't'"):
            gp.predict(frame["b"].rename("a"))
    unnamed = catena.MultiOutputGP(**NUMBERS).fit(frame[["t"]].to_numpy(), frame[["a", "b"]])
    for gp in (apart, unnamed):
        with pytest.raises(ValueError, match="'b', which is an output of the model"):
            gp.predict(frame[["b"]])
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- depth\n(.|\n)*now missing:\n- t"):
        apart.predict(frame[["t"]].rename(columns={"t": "depth"}))
    with pytest.raises(ValueError, match="unseen at fit time:\n- depth"):
        apart.predict(pl.DataFrame({"depth": [100.0]}))
    # The name of a single column does not matter.
    np.testing.assert_array_equal(apart.predict(frame["t"].rename("hour")), apart.predict(frame[["t"]]))


def test_xarray_rows_along_another_dimension_are_refused():
    array = xr.DataArray(
        values(), dims=("depth", "series"), coords={"depth": np.arange(HOURS), "series": ["a", "b"]}
    )
    gp = catena.MultiOutputGP(**NUMBERS).fit(array)
    with pytest.raises(ValueError, match="along 'time', but the model was fitted to 'depth'"):
        gp.predict(array.rename(depth="time"))


# Types


@pytest.mark.parametrize("dtype", ["Int64", "UInt8", "int32[pyarrow]"])
def test_missing_values_among_whole_numbers_are_filled_with_fractions(dtype):
    counts = pd.Series(np.round(10 + 5 * values()[:, 0])).astype(dtype)
    frame = pd.DataFrame({"t": np.arange(float(HOURS)), "n": counts, "b": values()[:, 1]})
    gp = catena.MultiOutputGP(**NUMBERS).fit(frame)
    whole = gp.impute()
    missing = frame["n"].isna()
    assert missing.any() and not whole["n"].isna().any() and whole["n"].dtype.kind == "f"
    assert (whole["n"][~missing] == frame["n"][~missing]).all()
    np.testing.assert_array_equal(whole["n"][missing].to_numpy(float), gp.predict()["n"][missing].to_numpy())
    one = catena.MultiOutputGP(**{**NUMBERS, "mixing": [1.0]}).fit(frame[["t"]], frame["n"])
    assert one.impute().notna().all()
    series = pl.Series(
        "n",
        [None if is_missing else int(count) for count, is_missing in zip(counts, missing, strict=True)],
        dtype=pl.Int64,
    )
    filled = (
        catena.MultiOutputGP(**{**NUMBERS, "mixing": [1.0]}).fit(frame[["t"]].to_numpy(), series).impute()
    )
    assert filled.null_count() == 0
    np.testing.assert_allclose(filled.to_numpy(), one.impute().to_numpy(float), rtol=1e-12)


def test_truths_are_zero_and_one_where_they_are_named():
    truths = values()[:, :1] > 0.3
    given = {**NUMBERS, "mixing": [1.0]}
    expected = catena.MultiOutputGP(**given).fit(np.arange(HOURS)[:, None], truths.astype(float)).predict()
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        Y = frame({"on": truths[:, 0]})
        gp = catena.MultiOutputGP(**given).fit(np.arange(HOURS)[:, None], Y)
        np.testing.assert_array_equal(np.asarray(gp.predict()["on"]), expected[:, 0])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_that_are_left_out_are_named(library, tmp_path):
    columns = {"t": np.arange(float(HOURS)), "a": values()[:, 0], "place": ["x"] * HOURS, "b": values()[:, 1]}
    gp = catena.MultiOutputGP(**NUMBERS).fit(library({**columns, "on": values()[:, 1] > 3}))
    assert gp.output_names_ == ["a", "b"]
    sentence = "ignored columns, which are not numeric: 'place', 'on'"
    gp.save(tmp_path / "model.catena")
    for again in (gp, catena.load(tmp_path / "model.catena")):
        assert sentence in again.summary_["decisions"] and sentence in str(again)
    assert "ignored columns" not in str(catena.MultiOutputGP(**NUMBERS).fit(far()))


@pytest.mark.parametrize(
    ("X", "Y", "sentence"),
    [
        (
            pd.DataFrame({"x": pd.Series([1.0, "two"], dtype=object)}),
            [1.0, 2.0],
            "'x' holds 'two'.*not a number",
        ),
        (pd.DataFrame({"x": [datetime.date(2024, 1, 1)] * 2}), [1.0, 2.0], "'x' holds .*to_datetime"),
        (pl.DataFrame({"x": [1.0, 2.0]}).lazy(), None, "LazyFrame.*collect"),
        (xr.Dataset({"a": ("t", [1.0, 2.0])}), None, "Dataset.*DataArray"),
        ({"x": [1.0, 2.0]}, [1.0, 2.0], "a dict was given"),
        ([[1.0], [2.0]], np.array([1.0, pd.NA], dtype=object), "Y holds <NA> at row 1"),
        ([[1.0], [2.0]], [[1.0, "b"], [2.0, 3.0]], "holds text"),
        (np.array([[1.0], ["b"]], dtype=object), [1.0, 2.0], "X holds 'b' at row 1, column 0"),
        ([datetime.datetime(2024, 1, 1), None], [1.0, 2.0], "row 1 holds None"),
    ],
)
def test_what_is_no_table_of_numbers_is_said_so(X, Y, sentence):
    with pytest.raises(ValueError, match=sentence):
        catena.MultiOutputGP().fit(X, Y)


def test_dates_and_objects_of_times_are_times():
    days = [datetime.date(2024, 1, day) for day in range(1, 31)]
    given = {**GIVEN, "length_scales": 4 * 86400.0}
    expected = catena.MultiOutputGP(**given).fit(np.array(days, "datetime64[D]"), values()).predict()
    for same in (days, np.array(days, dtype=object), np.array(days, dtype=object)[:, None]):
        np.testing.assert_array_equal(catena.MultiOutputGP(**given).fit(same, values()).predict(), expected)


def test_names_of_inputs_are_kept_in_files(tmp_path):
    X = np.column_stack([np.arange(HOURS), np.arange(HOURS) % 7]).astype(float)
    frame = pd.DataFrame(X, columns=["east", "north"])
    for inputs, outputs in [
        (X, pd.DataFrame(values(), columns=["a", "b"])),
        (frame, values()),
        (frame, frame * 2),
        (X, values()),
    ]:
        gp = catena.MultiOutputGP(**NUMBERS).fit(inputs, outputs)
        gp.save(tmp_path / "model.catena")
        again = catena.load(tmp_path / "model.catena")
        names = getattr(gp, "feature_names_in_", [])
        assert list(getattr(again, "feature_names_in_", [])) == list(names)
        np.testing.assert_array_equal(np.asarray(again.predict(inputs)), np.asarray(gp.predict(inputs)))
