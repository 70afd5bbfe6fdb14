"""Results have the type, names, index and time zone of the table; only missing values are filled."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from frames import GIVEN, HOURS, NUMBERS, expected, far, times, values

import catena


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


def test_new_rows_may_miss_an_output():
    frame = pd.DataFrame(values(), index=times("UTC"), columns=["a", "b"])
    gp = catena.MultiOutputGP(**GIVEN).fit(frame[:25])
    late = frame[25:].assign(b=np.nan)
    before = gp.predict(frame.index[-1:])
    after = gp.update(late).predict(frame.index[-1:])
    assert (before != after).all(axis=None) and len(gp.predict()) == HOURS
    assert np.isfinite(catena.metrics.rmse(late["a"], gp.predict(late)["a"]))


def test_labels_that_are_no_text_are_found_as_columns():
    frame = far((0, 1, 2))
    gp = catena.MultiOutputGP(**NUMBERS).fit(frame)
    np.testing.assert_allclose(gp.predict(frame), gp.predict(), rtol=1e-9)
    assert gp.score(frame) == catena.MultiOutputGP(**NUMBERS).fit(far()).score(far())
    assert gp.update(frame[:2], append=True).predict().iloc[-2:, 0].tolist() == [100.0, 101.0]
    twice = far(("1", 1, "b"))
    with pytest.raises(ValueError, match="'1' occurs twice"):
        catena.MultiOutputGP(**NUMBERS).fit(twice)


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
    assert len(apart.update(frame[:2], append=True).predict()) == HOURS + 2
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
        catena.MultiOutputGP(**NUMBERS).fit(far()[["a"]].assign(b="text"))
    levels = far().set_index(["t", "a"])
    with pytest.raises(ValueError, match=r"several levels \('t', 'a'\).*reset_index"):
        catena.MultiOutputGP(**NUMBERS).fit(levels)


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


def test_times_are_written_as_texts():
    index = pd.date_range("2024-03-01", periods=30, freq="h", name="time")
    frame = pd.DataFrame({"a": np.sin(np.arange(30) / 4)}, index)
    gp = catena.MultiOutputGP(budget="quick").fit(frame)
    texts = ["2024-03-01 12:30", "2024-03-01T13:00:00"]
    np.testing.assert_array_equal(gp.predict(texts), gp.predict(pd.DatetimeIndex(texts)))
    np.testing.assert_array_equal(gp.predict(np.array(texts)), gp.predict(pd.DatetimeIndex(texts)))
    np.testing.assert_array_equal(gp.posterior_at(texts[0]), gp.posterior_at(pd.Timestamp(texts[0])))
    with pytest.raises(ValueError, match="row 1 of X holds 'noon', which is not a time; write it as"):
        gp.predict([texts[0], "noon"])
    live = gp.live()
    live.observe("2024-03-02 06:00", {"a": 0.5})
    assert live.remove("2024-03-02 06:00", "a") == 1
