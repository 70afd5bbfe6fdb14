"""Groups: independent tables with one model."""

import numpy as np
import pytest

import catena
from catena.errors import InputError

GIVEN = {
    "learn": False,
    "standardize": False,
    "kernel": "matern32",
    "mixing": [[1.0], [-0.6]],
    "length_scales": 3.0,
    "noise": 0.05,
}


def rows(n_rows=60, n_groups=4):
    """Times, group names and values of interleaved groups; some values are missing."""
    generator = np.random.default_rng(2)
    times = generator.uniform(0, 30, n_rows)
    names = np.array(["ab", "c", "07", "7"])[generator.integers(0, n_groups, n_rows)]
    values = generator.normal(size=(n_rows, 2))
    values[generator.random((n_rows, 2)) < 0.2] = np.nan
    return times, names, values


def test_a_fit_with_groups_is_one_fit_per_group():
    times, names, values = rows()
    at = np.array([[-2.0], [3.3], [50.0]])
    whole = catena.MultiOutputGP(**GIVEN).fit(times[:, None], values, groups=names)
    filled = whole.impute()
    total = 0.0
    for name in np.unique(names):
        own = names == name
        alone = catena.MultiOutputGP(**GIVEN).fit(times[own][:, None], values[own])
        found = whole.predict(at, return_std=True, groups=[name] * 3)
        np.testing.assert_allclose(found, alone.predict(at, return_std=True), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(filled[own], alone.impute(), rtol=1e-12, atol=1e-12)
        total += alone.log_marginal_likelihood()
    assert whole.log_marginal_likelihood() == pytest.approx(total, rel=1e-12)
    mean, std = whole.predict(at, return_std=True, include_noise=False, groups=["new"] * 3)
    np.testing.assert_allclose(mean, 0, atol=1e-12)
    np.testing.assert_allclose(std, [[1.0, 0.6]] * 3, rtol=1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_name_their_column_of_groups(library, tmp_path):
    frames = pytest.importorskip(library)
    times, names, values = rows()
    frame = frames.DataFrame({"day": times, "symbol": names, "a": values[:, 0], "b": values[:, 1]})
    plain = catena.MultiOutputGP(**GIVEN).fit(times[:, None], values, groups=names)
    gp = catena.MultiOutputGP(**GIVEN).fit(frame, groups="symbol")
    assert gp.output_names_ == ["a", "b"]
    filled = gp.impute()
    assert list(filled["symbol"]) == list(names)
    np.testing.assert_array_equal(filled[["a", "b"]].to_numpy(), plain.impute())
    points = frames.DataFrame({"symbol": ["c", "7"], "day": [4.0, 5.0]})
    expected = plain.predict([[4.0], [5.0]], groups=["c", "7"])
    np.testing.assert_array_equal(gp.predict(points)[["a", "b"]].to_numpy(), expected)
    gp.save(tmp_path / "m.catena")
    again = catena.load(tmp_path / "m.catena")
    np.testing.assert_array_equal(again.predict(points)[["a", "b"]].to_numpy(), expected)


def test_what_does_not_know_groups_says_so():
    times, names, values = rows()
    gp = catena.MultiOutputGP(**GIVEN).fit(times[:, None], values, groups=names)
    with pytest.raises(InputError, match="give groups= for the points"):
        gp.predict([[1.0]])
    with pytest.raises(InputError, match="forecast does not know groups"):
        gp.forecast(3)
    with pytest.raises(InputError, match="max_gap does not know groups"):
        gp.impute(max_gap=3.0)
    with pytest.raises(InputError, match="one per row"):
        catena.MultiOutputGP(**GIVEN).fit(times[:, None], values, groups=names[:5])
    with pytest.raises(InputError, match="the fit has no groups"):
        catena.MultiOutputGP(**GIVEN).fit(times[:, None], values).predict([[1.0]], groups=["c"])
    with pytest.raises(Exception, match="groups"):
        gp.update([[40.0]], [[1.0, 2.0]])
    with pytest.raises(Exception, match="groups"):
        gp.sample_y([[40.0]])
