"""Forecasts on calendars have the dates that pandas has."""

import numpy as np
import pandas as pd
import pytest

import catena
from catena.errors import InputError


def series(index, seed=0):
    """Two outputs with a season of twelve rows."""
    noise = np.random.default_rng(seed).normal(size=(len(index), 2))
    season = np.sin(2 * np.pi * np.arange(len(index)) / 12)[:, np.newaxis]
    return pd.DataFrame(season + 0.1 * noise, index=index, columns=["a", "b"])


def fitted(frame, **options):
    return catena.MultiOutputGP(kernel="matern32", budget="quick", **options).fit(frame)


#: Beginnings around leap years and a century year.
STARTS = ["1895-12-31", "1999-10-31", "2023-11-30"]


@pytest.mark.parametrize("freq", ["MS", "ME", "QS", "QE", "YS", "YE", "B", "W-WED", "D"])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("has_freq", [True, False])
def test_forecast_dates_are_those_of_pandas(freq, start, has_freq):
    index = pd.date_range(start, periods=48, freq=freq)
    expected = pd.date_range(index[-1], periods=8, freq=freq)[1:]
    frame = series(index[:40].append(index[40:]) if has_freq else pd.DatetimeIndex(list(index)))
    if has_freq:
        frame.index.freq = freq
    forecast = fitted(frame).forecast(7)
    assert list(forecast.index) == list(expected)
    assert forecast.index.freqstr == (index.freqstr if has_freq else None)


@pytest.mark.parametrize(("freq", "horizon"), [("M", "6mo"), ("Q", "6Q"), ("Y", "6y"), ("D", "6d")])
def test_periods_come_back_as_periods(freq, horizon, tmp_path):
    index = pd.period_range("2001-01-01", periods=48, freq=freq)
    gp = fitted(series(index))
    expected = pd.period_range(index[-1], periods=7, freq=index.freq)[1:]
    assert list(gp.forecast(horizon).index) == list(expected)
    gp.save(tmp_path / "model.catena")
    again = catena.load(tmp_path / "model.catena").forecast(6)
    assert isinstance(again.index, pd.PeriodIndex)
    assert list(again.index) == list(expected)


def test_a_polars_column_is_continued_in_its_type():
    polars = pytest.importorskip("polars")
    days = list(pd.date_range("2019-01-31", periods=40, freq="ME").date)
    frame = polars.DataFrame({"day": days, "a": np.sin(np.arange(40.0))})
    forecast = fitted(frame).forecast("3mo")
    assert forecast["day"].dtype == polars.Date
    assert forecast["day"].to_list() == list(pd.date_range("2022-05-31", periods=3, freq="ME").date)


def test_months_are_equally_long_and_a_year_has_twelve():
    """With times that are month numbers, the model is the same as with dates: a season of 12 and `1y` agree."""
    index = pd.date_range("1999-01-31", periods=72, freq="ME")
    frame = series(index)
    numbered = frame.set_axis(np.arange(72.0)).rename_axis("month")
    options = {"kernel": "rw+qp(1y)", "budget": "quick"}
    dates = catena.MultiOutputGP(**options).fit(frame)
    numbers = catena.MultiOutputGP(**{**options, "kernel": "rw+qp(12)"}).fit(numbered)
    # Learning is the same up to the rounding of the scale of the input; a hundredth of the noise is more than that.
    np.testing.assert_allclose(dates.forecast(12), numbers.forecast(12), atol=1e-3)
    elapsed = catena.MultiOutputGP(**options, calendar="elapsed").fit(frame)
    assert np.abs(np.asarray(elapsed.forecast(12)) - np.asarray(numbers.forecast(12))).max() > 1e-3
    # All have the dates of the calendar.
    assert list(elapsed.forecast(12).index) == list(dates.forecast(12).index)


def test_the_axis_is_kept_in_the_model_file(tmp_path):
    frame = series(pd.date_range("2015-01-31", periods=60, freq="ME"))
    gp = fitted(frame)
    gp.save(tmp_path / "model.catena")
    again = catena.load(tmp_path / "model.catena")
    ahead = gp.forecast("1y", step="1Q")
    pd.testing.assert_frame_equal(again.forecast("1y", step="1Q"), ahead, check_freq=False)
    np.testing.assert_array_equal(again.predict(ahead.index), gp.predict(ahead.index))
    np.testing.assert_allclose(gp.predict(ahead.index), ahead, rtol=1e-12)


def test_business_days_skip_weekends():
    index = pd.bdate_range("2018-01-01", periods=60)
    numbered = series(index).set_axis(np.arange(60.0)).rename_axis("day")
    options = {"kernel": "matern32", "learn": False, "mixing": [[1.0], [0.5]], "noise": 0.1}
    dates = catena.MultiOutputGP(**options, length_scales=5 * 7 / 5 * 86400.0, calendar="business")
    days = catena.MultiOutputGP(**options, length_scales=5.0)
    mean, std = dates.fit(series(index)).forecast(9, return_std=True)
    means, stds = days.fit(numbered).forecast(9, return_std=True)
    np.testing.assert_allclose(mean, means, rtol=1e-9)
    np.testing.assert_allclose(std, stds, rtol=1e-9)
    with pytest.raises(InputError, match=r"2018-03-31 00:00:00 at row 0 is at a weekend"):
        dates.predict(pd.DatetimeIndex(["2018-03-31"]))
    with pytest.raises(InputError, match="reach weekends"):
        dates.forecast(5, step="1d")


def test_offsets_and_timedeltas_are_steps():
    frame = series(pd.date_range("2015-01-31", periods=60, freq="ME"))
    gp = fitted(frame)
    quarters = gp.forecast(3, step=pd.offsets.QuarterEnd())
    assert list(quarters.index) == [frame.index[-1] + pd.offsets.MonthEnd(3) * n for n in (1, 2, 3)]
    weeks = gp.forecast(2, step=pd.Timedelta("7D"))
    assert list(weeks.index) == [frame.index[-1] + pd.Timedelta("7D") * n for n in (1, 2)]


def test_bad_spans_say_what_to_write():
    gp = fitted(series(pd.date_range("2015-01-31", periods=40, freq="ME")))
    for arguments, message in [
        ({"horizon": "6m"}, "write 6min or 6mo"),
        ({"horizon": 6, "step": "1M"}, "write 1min or 1mo"),
        ({"horizon": "1.5mo"}, "not a whole number of months"),
        ({"horizon": "3d"}, "shorter than one step of 1mo"),
        ({"horizon": 0}, "shorter than one step"),
    ]:
        with pytest.raises(InputError, match=message):
            gp.forecast(**arguments)
    with pytest.raises(InputError, match="write auto, elapsed, month or business"):
        fitted(series(pd.date_range("2015-01-31", periods=40, freq="ME")), calendar="moon")
