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


def test_groups_forecast_update_and_sample_as_tables_of_their_own():
    times, names, values = rows()
    gp = catena.MultiOutputGP(**GIVEN).fit(times[:, None], values, groups=names)
    ahead = gp.forecast(2, step=0.5, return_std=True)
    draws = gp.sample_y([[40.0], [41.0]], 3, groups=["c", "c"])
    filled = gp.impute(max_gap=2.0)
    # Groups are numbered by their names.
    for at, name in enumerate(sorted(set(names))):
        own = names == name
        alone = catena.MultiOutputGP(**GIVEN).fit(times[own][:, None], values[own])
        np.testing.assert_allclose(
            [moment[2 * at : 2 * at + 2] for moment in ahead],
            alone.forecast(2, step=0.5, return_std=True),
            rtol=1e-12,
            atol=1e-12,
        )
        np.testing.assert_allclose(filled[own], alone.impute(max_gap=2.0), rtol=1e-12, atol=1e-12)
        found = gp.predict([[31.0]], return_cov=True, groups=[name])
        for mean, expected in zip(found, alone.predict([[31.0]], return_cov=True), strict=True):
            np.testing.assert_allclose(mean, expected, rtol=1e-12, atol=1e-12)
    assert draws.shape == (2, 2, 3)
    later = np.array([[40.0], [41.0]]), np.array([[1.0, 2.0], [np.nan, -1.0]])
    before = gp.predict([[39.0]], groups=["7"])
    gp.update(*later, groups=["c", "new"])
    np.testing.assert_array_equal(gp.predict([[39.0]], groups=["7"]), before)
    alone = catena.MultiOutputGP(**GIVEN).fit(later[0][1:], later[1][1:])
    np.testing.assert_allclose(
        gp.predict([[40.5]], return_std=True, groups=["new"]),
        alone.predict([[40.5]], return_std=True),
        rtol=1e-12,
        atol=1e-12,
    )
    own = names == "c"
    alone = catena.MultiOutputGP(**GIVEN).fit(times[own][:, None], values[own]).update(40.0, [1.0, 2.0])
    np.testing.assert_allclose(gp.predict([[39.0]], groups=["c"]), alone.predict([[39.0]]), rtol=1e-12)
    np.testing.assert_array_equal(gp.posterior_at(39.0, groups=["c"]), gp.predict([[39.0]], groups=["c"]))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_forecasts_of_frames_name_their_groups(library):
    frames = pytest.importorskip(library)
    days = np.tile(np.arange(30.0), 2)
    names = ["b"] * 30 + ["a"] * 30
    frame = frames.DataFrame({"day": days, "shop": names, "y": np.sin(days) + np.repeat([5.0, 0.0], 30)})
    gp = catena.MultiOutputGP(kernel="rw", budget="quick", progress=False).fit(frame, groups="shop")
    ahead = gp.forecast(2)
    assert list(ahead.columns) == ["shop", "day", "y"]
    assert list(ahead["shop"]) == ["a", "a", "b", "b"]
    assert list(ahead["day"]) == [30.0, 31.0, 30.0, 31.0]
    assert gp.score(frame) > 0.9
    more = frames.DataFrame({"day": [30.0], "shop": ["c"], "y": [9.0]})
    gp.update(more)
    assert list(gp.forecast(1)["shop"]) == ["a", "b", "c"]
    assert list(gp.forecast(1)["day"]) == [30.0, 30.0, 31.0]


def test_own_scales_of_groups():
    generator = np.random.default_rng(4)
    times = np.tile(np.arange(40.0), 3)
    names = np.repeat(["a", "b", "c"], 40)
    curve = np.sin(times / 3 + np.repeat([0, 1, 2], 40)) + 0.1 * generator.normal(size=120)
    values = (np.repeat([0.0, 50.0, 1000.0], 40) + np.repeat([0.01, 1.0, 100.0], 40) * curve)[:, None]
    values[::7] = np.nan
    options = {"budget": "quick", "progress": False, "kernel": "matern32"}
    gp = catena.MultiOutputGP(group_scaling="own", **options).fit(times[:, None], values, groups=names)
    _, std = gp.predict([[20.5]] * 3, return_std=True, groups=["a", "b", "c"])
    # The same curve in three units.
    assert std[1, 0] / std[0, 0] == pytest.approx(100, rel=0.2)
    assert std[2, 0] / std[1, 0] == pytest.approx(100, rel=0.2)
    with pytest.raises(InputError, match='group_scaling="each" is unknown; write auto, shared or own'):
        catena.MultiOutputGP(group_scaling="each").fit(times[:, None], values, groups=names)


def test_plots_and_pages_of_groups():
    times, names, values = rows()
    gp = catena.MultiOutputGP(**GIVEN).fit(times[:, None], values, groups=names)
    assert "y0, ab" in gp.report().html
    pytest.importorskip("matplotlib").use("Agg")
    axes = gp.plot(group="c")
    assert len(axes) == 2
    with pytest.raises(InputError, match="give one, such as group='07'"):
        gp.plot()
    with pytest.raises(InputError, match="group='d' is not in the model"):
        gp.plot(group="d")


def test_what_does_not_know_groups_says_so():
    times, names, values = rows()
    gp = catena.MultiOutputGP(**GIVEN).fit(times[:, None], values, groups=names)
    for ask in (gp.predict, gp.sample_y, gp.posterior_at):
        with pytest.raises(InputError, match="give groups= for the points"):
            ask([[1.0]])
    with pytest.raises(InputError, match="give groups= for the points"):
        gp.update([[40.0]], [[1.0, 2.0]])
    with pytest.raises(InputError, match="one per row"):
        catena.MultiOutputGP(**GIVEN).fit(times[:, None], values, groups=names[:5])
    plain = catena.MultiOutputGP(**GIVEN).fit(times[:, None], values)
    with pytest.raises(InputError, match="the fit has no groups"):
        plain.predict([[1.0]], groups=["c"])
    with pytest.raises(InputError, match="the fit has no groups"):
        plain.update([[40.0]], [[1.0, 2.0]], groups=["c"])
    with pytest.raises(Exception, match="groups"):
        gp.live()
