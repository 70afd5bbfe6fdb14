"""Frames that cannot be used, and questions of another kind than the model, are refused with a reason."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from frames import GIVEN, HOURS, NUMBERS, far, times, values

import catena
from catena.errors import InputError


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
