"""What a fit tells: inputs and outputs by name, warnings of a class of their own, once and only if true."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import catena
from catena.errors import InputError

OPTIONS = {"budget": "quick", "combine": "none"}


def fitted(*given, **options):
    """A fit and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gp = catena.MultiOutputGP(**{**OPTIONS, **options}).fit(*given)
    return gp, caught


def wave(n_rows=40):
    return np.sin(np.arange(n_rows) / 4)


def test_print_and_summary_begin_with_inputs_and_outputs():
    times = pd.date_range("2024-01-01", periods=40, freq="h", name="when")
    gp, _ = fitted(pd.DataFrame({"a": wave(), "b": wave() + 1}, index=times))
    assert str(gp).splitlines()[:2] == ["inputs: when (the index)", "outputs: a, b"]
    assert gp.summary_["decisions"][:2] == ["inputs: when (the index)", "outputs: a, b"]
    assert list(gp.summary_)[:2] == ["input_names", "outputs"]
    assert str(fitted(np.arange(40.0)[:, None], wave())[0]).startswith("inputs: x0\noutputs: y0\n")


def test_warnings_have_a_class_of_their_own_and_come_once_where_fit_is_called():
    X = np.arange(40.0)[:, None]
    gp, caught = fitted(X, np.column_stack([wave(), np.ones(40)]))
    told = [str(one.message) for one in caught]
    assert told == gp.warnings_ and len(set(told)) == len(told) and "y1 is constant" in " ".join(told)
    assert {one.category for one in caught} == {catena.CatenaWarning}
    assert {one.filename for one in caught} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gp.predict(X), gp.impute(), str(gp), gp.summary_
    assert issubclass(catena.errors.FitInterruptedWarning, catena.CatenaWarning)


def test_an_update_warns_of_what_is_new():
    X = np.arange(40.0)[:, None]
    gp, _ = fitted(X, np.column_stack([wave(), np.ones(40)]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gp.update([[40.0]], [[30.0, 1.0]])
    assert any("y0 reaches 30" in str(one.message) for one in caught)
    assert not any("constant" in str(one.message) for one in caught)


@pytest.mark.parametrize("kernel", ["auto", "time"])
def test_a_pure_season_is_no_unused_latent(kernel):
    hours = np.arange(240.0)
    gp, _ = fitted(hours[:, None], np.sin(hours / 24 * 2 * np.pi), kernel=kernel)
    assert not any("unused" in warning for warning in gp.warnings_)


def test_a_column_that_may_be_data_is_not_taken_for_the_input_silently():
    data = np.random.default_rng(0).normal(size=40)
    frame = pd.DataFrame({"a": data, "b": wave()})
    for table, reason in [
        (frame, "the index counts the rows"),
        (frame.set_axis([f"row {at}" for at in range(40)]), "the index holds text"),
        (pl.from_pandas(frame), "the first column"),
    ]:
        gp, caught = fitted(table)
        assert any("the input is 'a'" in str(one.message) and reason in str(one.message) for one in caught)
        assert reason in str(gp).splitlines()[0]
    _, caught = fitted(frame.assign(a=np.arange(40.0)))
    assert not any("the input is" in str(one.message) for one in caught)


def test_a_series_has_its_index_as_input():
    times = pd.date_range("2024-01-31", periods=40, freq="ME")
    series = pd.Series(wave(), index=times, name="sales")
    series.iloc[5:8] = np.nan
    gp, _ = fitted(series)
    expected, _ = fitted(times, series)
    pd.testing.assert_series_equal(gp.impute(), expected.impute())
    assert gp.impute().name == "sales" and gp.impute()[series.notna()].equals(series[series.notna()])
    assert [str(time.date()) for time in gp.forecast(2).index] == ["2027-05-31", "2027-06-30"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_series_without_times_counts_its_rows(library):
    values = wave()
    values[5:8] = np.nan
    gp, _ = fitted(pd.Series(values) if library == "pandas" else pl.Series("a", values))
    expected, _ = fitted(np.arange(40.0)[:, None], values)
    np.testing.assert_allclose(gp.impute(), expected.impute(), rtol=1e-12)
    assert "row" in str(gp).splitlines()[0]
    np.testing.assert_allclose(gp.forecast(2), expected.forecast(2), rtol=1e-9)


def test_a_frame_of_one_column_counts_its_rows():
    frame = pd.DataFrame({"a": wave()})
    frame.iloc[5:8] = np.nan
    gp, _ = fitted(frame)
    expected, _ = fitted(np.arange(40.0)[:, None], frame["a"].to_numpy())
    np.testing.assert_allclose(gp.impute()["a"], expected.impute(), rtol=1e-12)
    np.testing.assert_array_equal(gp.predict(frame[:3]), gp.predict()[:3])


def test_periods_are_times_as_index_and_as_column():
    index = pd.period_range("2001-01", periods=40, freq="M", name="month")
    frame = pd.DataFrame({"a": wave()}, index=index)
    indexed, _ = fitted(frame)
    column, _ = fitted(frame.reset_index().assign(b=1.0)[["b", "month", "a"]].drop(columns="b"))
    pd.testing.assert_index_equal(
        indexed.forecast(2).index, pd.period_range("2004-05", periods=2, freq="M", name="month")
    )
    assert column.feature_names_in_.tolist() == ["month"]
    np.testing.assert_allclose(indexed.forecast(2)["a"], column.forecast(2)["a"], rtol=1e-12)


def test_decimals_and_numbers_among_objects_are_outputs():
    values = [None if at in (5, 6) else round(float(value), 3) for at, value in enumerate(wave())]
    plain = pd.DataFrame({"t": np.arange(40.0), "a": [np.nan if v is None else v for v in values]})
    expected = fitted(plain)[0].impute()["a"]
    objects = pd.DataFrame({"t": np.arange(40.0), "a": pd.Series(values, dtype=object)})
    decimals = objects.assign(a=[None if v is None else Decimal(str(v)) for v in values])
    for frame in (objects, decimals):
        filled = fitted(frame)[0].impute()
        assert filled["a"].dtype == frame["a"].dtype
        np.testing.assert_allclose(filled["a"].astype(float), expected, rtol=1e-12)
    assert isinstance(fitted(decimals)[0].impute()["a"][5], Decimal)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_a_column_without_values_is_no_output(kind):
    frame = kind({"t": np.arange(40.0), "a": wave(), "none": np.full(40, np.nan)})
    gp, _ = fitted(frame)
    assert gp.output_names_ == ["a"] and "'none'" in gp.summary_["decisions"][-1]
    filled = gp.impute()
    assert list(filled.columns) == ["t", "a", "none"] and np.isnan(np.asarray(filled["none"])).all()
    with pytest.raises(InputError, match="no observed value"):
        fitted(kind({"t": np.arange(40.0), "none": np.full(40, np.nan)}))


def test_an_update_with_the_same_frame_changes_nothing():
    frame = pd.DataFrame({"t": np.arange(40.0), "a": wave(), "b": wave() + 1})
    frame.loc[35:, "b"] = np.nan
    later = pd.DataFrame(
        {"t": [38.0, 40.0, 41.0], "a": [wave()[38], 0.5, np.nan], "b": [0.7, np.nan, np.nan]}
    )
    for live in (False, True):
        gp, _ = fitted(frame)
        if live:
            gp.posterior_at(3.0)
        gp.update(later)
        once = gp.predict()
        # A row that the model has, with a cell that it lacked, and two rows that are new.
        assert len(once) == 43
        pd.testing.assert_frame_equal(gp.update(later).predict(), once)
        pd.testing.assert_frame_equal(gp.update(frame).predict(), once)
        assert len(gp.update(later, append=True).predict()) == 46
        with pytest.raises(InputError, match=r"'a' at row 0: the model has the value .* append=True"):
            gp.update(later.assign(a=9.0))


def test_new_rows_of_a_stream_stay_fast_and_known():
    X = np.arange(40.0)[:, None]
    gp, _ = fitted(X, wave())
    gp.posterior_at(0.0)
    gp.update(40.0, 0.1)
    gp.update(40.0, 0.1)
    gp.update([[41.0], [41.0]], [0.2, 0.3])
    assert len(gp.predict()) == 43
