"""Likelihoods of outputs: counts beside temperatures, answers in their terms, and errors that say what to write."""

import numpy as np
import pytest

import catena


def visits(seed=0, n=160):
    """Times, and a table of counts and temperatures with holes."""
    generator = np.random.default_rng(seed)
    time = np.arange(n) / 2
    counts = generator.poisson(np.exp(0.4 + 1.2 * np.sin(time / 7))).astype(float)
    table = np.column_stack([counts, 15 + 4 * np.sin(time / 7) + generator.normal(size=n)])
    table[2::6, 0] = np.nan
    return time[:, None], table


def fitted(likelihood, **options):
    time, table = visits()
    return catena.MultiOutputGP(likelihood=likelihood, budget="quick", **options).fit(time, table)


def test_counts_are_whole_and_proportions_inside():
    gp = fitted(["poisson", "gaussian"])
    time, _ = visits()
    low, high = gp.interval(time)
    assert (low[:, 0] >= 0).all() and (low[:, 0] % 1 == 0).all() and (high[:, 0] % 1 == 0).all()
    assert (low[:, 1] % 1 != 0).any()
    draws = gp.sample_y(time, n_samples=3)
    assert (np.asarray(draws).reshape(len(time), 2, -1)[:, 0] % 1 == 0).all()
    assert gp.predict(time)[:, 0].min() > 0


def test_a_saved_model_keeps_its_likelihood(tmp_path):
    gp = fitted(["negative-binomial", "student-t"])
    gp.save(tmp_path / "visits.catena")
    again = catena.load(tmp_path / "visits.catena")
    np.testing.assert_array_equal(gp.predict([[3.25], [90.0]]), again.predict([[3.25], [90.0]]))
    np.testing.assert_array_equal(gp.interval([[3.25]])[1], again.interval([[3.25]])[1])


@pytest.mark.parametrize(
    ("likelihood", "message"),
    [
        ("cauchy", "is not a likelihood"),
        (["poisson"], "likelihood has 1 entries, but there are 2 outputs"),
        ({"rain": "poisson"}, "likelihood names the output 'rain'"),
        (3, "likelihood=3 is unknown"),
        (["gaussian", "poisson"], "whole numbers of at least 0"),
    ],
)
def test_errors_say_what_to_write(likelihood, message):
    with pytest.raises(ValueError, match=message):
        fitted(likelihood)


def weather(n=160):
    """Times, and a table of humidity that reaches 100 and rain that reaches 0, with holes."""
    generator = np.random.default_rng(5)
    time = np.arange(float(n))
    humidity = np.minimum(95 + 12 * np.sin(time / 6) + 2 * generator.normal(size=n), 100)
    rain = np.maximum(np.sin(time / 6) + 0.3 * generator.normal(size=n), 0)
    table = np.column_stack([humidity, rain])
    table[2::5] = np.nan
    return time[:, None], table


def test_answers_keep_within_bounds(tmp_path):
    time, table = weather()
    with pytest.warns(catena.errors.CatenaWarning, match="bounds y1=0.."):
        catena.MultiOutputGP(budget="quick").fit(time, table).impute()
    gp = catena.MultiOutputGP(budget="quick", bounds={"y0": (0, 100), "y1": (0, None)}).fit(time, table)
    low, high = gp.interval(time)
    assert high[:, 0].max() == 100 and low[:, 1].min() == 0
    filled = gp.impute()
    assert filled[:, 0].max() <= 100 and filled[:, 1].min() >= 0
    draws = np.asarray(gp.sample_y(time, n_samples=2)).reshape(len(time), 2, -1)
    assert draws[:, 0].max() <= 100 and draws[:, 1].min() >= 0
    gp.save(tmp_path / "weather.catena")
    again = catena.load(tmp_path / "weather.catena")
    np.testing.assert_array_equal(gp.interval(time), again.interval(time))
    text = catena.MultiOutputGP(budget="quick", bounds=["0..100", "0.."]).fit(time, table)
    np.testing.assert_array_equal(gp.interval(time), text.interval(time))


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"y1": (2, 1)}, "`2.0..1.0` are no bounds"),
        ({"rain": (0, None)}, "bounds names the output 'rain'"),
        ({"y0": (0, 99)}, "beyond its bounds 0..99"),
        ({"y0": [0, "b"]}, "a pair such as"),
        ((0, "b"), "a pair such as"),
    ],
)
def test_bounds_that_do_not_fit_say_what_to_write(bounds, message):
    with pytest.raises(ValueError, match=message):
        catena.MultiOutputGP(budget="quick", bounds=bounds).fit(*weather())


def test_auto_chooses_counts_and_leaves_gaussian_tables():
    chosen = fitted("auto")
    decisions = "; ".join(chosen.summary_["decisions"])
    assert "its values are whole numbers from 0" in decisions and "likelihood auto: chosen" in decisions
    time, table = visits()
    low, _ = chosen.interval(time)
    assert (low[:, 0] % 1 == 0).all()
    plain, auto = (
        catena.MultiOutputGP(budget="quick", likelihood=likelihood).fit(time, table[:, 1:])
        for likelihood in (None, "auto")
    )
    np.testing.assert_array_equal(plain.interval(time), auto.interval(time))
    assert any("likelihood auto: gaussian" in decision for decision in auto.summary_["decisions"])
