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
