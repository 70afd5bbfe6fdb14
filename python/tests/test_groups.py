"""Groups: independent tables with one model."""

import io
import subprocess
import warnings

import numpy as np
import pandas as pd
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


def panel(n_groups=3, n_rows=40):
    """A frame of groups with a level, a wave and missing values."""
    generator = np.random.default_rng(5)
    days = np.tile(np.arange(float(n_rows)), n_groups)
    shops = np.repeat([f"s{number}" for number in range(n_groups)], n_rows)
    wave = np.sin(days / 4 + np.repeat(np.arange(n_groups), n_rows))
    frame = pd.DataFrame({"day": days, "shop": shops})
    frame["sales"] = (
        np.repeat(10.0 * np.arange(n_groups), n_rows) + wave + 0.1 * generator.normal(size=len(days))
    )
    frame["staff"] = 3 - 2 * wave + 0.2 * generator.normal(size=len(days))
    frame.loc[generator.random(len(frame)) < 0.1, "sales"] = np.nan
    frame.loc[generator.random(len(frame)) < 0.1, "staff"] = np.nan
    return frame


def test_components_of_groups_add_up_in_each():
    times, names, values = rows()
    gp = catena.MultiOutputGP(**GIVEN).fit(times[:, None], values, groups=names)
    at, groups = np.array([[3.3], [8.0], [8.0]]), ["c", "7", "new"]
    parts = gp.components(at, groups=groups)
    assert list(parts.columns[:2]) == ["group", "x0"] and list(parts["group"][::4]) == groups
    sums = parts.groupby(parts.index // 2)["mean"].sum().to_numpy().reshape(3, 2)
    np.testing.assert_allclose(sums, gp.predict(at, include_noise=False, groups=groups), atol=1e-12)
    alone = catena.MultiOutputGP(**GIVEN).fit(times[names == "c"][:, None], values[names == "c"])
    np.testing.assert_allclose(parts["mean"][:4], alone.components(at[:1])["mean"], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(parts["std"][:4], alone.components(at[:1])["std"], rtol=1e-10, atol=1e-12)
    assert len(gp.components()) == 4 * len(times)


def test_components_of_groups_have_their_own_scales():
    frame = panel()
    gp = catena.MultiOutputGP(group_scaling="own", kernel="matern32", budget="quick").fit(
        frame, groups="shop"
    )
    parts = gp.components(frame[["day", "shop"]].iloc[::20])
    sums = parts.groupby(["shop", "day", "output"], sort=False)["mean"].sum().to_numpy().reshape(-1, 2)
    expected = gp.predict(frame[["day", "shop"]].iloc[::20], include_noise=False)
    np.testing.assert_allclose(sums, expected[["sales", "staff"]], rtol=1e-9)


def test_backtests_have_origins_in_each_group():
    generator = np.random.default_rng(0)
    times, names = np.tile(np.arange(20.0), 3), np.repeat(["c", "7", "x"], 20)
    values = generator.normal(size=(60, 2))
    gp = catena.MultiOutputGP(**GIVEN).fit(times[:, None], values, groups=names)
    later, labels = 20 + np.tile(np.arange(6.0), 2), np.repeat(["c", "7"], 6)
    truths = generator.normal(size=(12, 2))
    found = gp.backtest(later[:, None], truths, horizons=[1, 3], groups=labels)
    own = found[found["predictor"] == "catena"]
    # Each of three groups has an origin at its last known row, and two have one at each of six later ones.
    assert list(own["n_origins"]) == [15, 15]
    count = 0
    for name in ("c", "7"):
        alone = catena.MultiOutputGP(**GIVEN).fit(times[names == name][:, None], values[names == name])
        is_own = labels == name
        scores = alone.backtest(later[is_own][:, None], truths[is_own], horizons=[1, 3])
        count += scores[scores["predictor"] == "catena"]["n_cells"].to_numpy()
    assert list(own["n_cells"]) == list(count)
    held_back = catena.MultiOutputGP(kernel="rw", budget="quick").fit(panel(), groups="shop")
    found = held_back.backtest(horizons=[1, 5], test_size=10)
    assert list(found[found["predictor"] == "catena"]["n_origins"]) == [33, 33]
    with pytest.raises(InputError, match="rows of every group"):
        held_back.backtest(horizons=[1], test_size=39)


def test_methods_are_compared_on_tables_with_groups():
    frame = panel()
    gp = catena.MultiOutputGP(budget="quick", progress=False)
    found = gp.compare(frame, groups="shop")
    fitted = gp.fit(frame, groups="shop").compare()
    assert list(found["method"]) == list(fitted["method"])
    assert "catena" in list(found["method"]) and not any("nngp" in name for name in found["method"])
    np.testing.assert_array_equal(found["rmse"], fitted["rmse"])
    with pytest.raises(InputError, match="leave them out"):
        gp.compare(groups="shop")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_long_tables_with_groups(library):
    pytest.importorskip(library)
    frame = panel()
    long = frame.melt(["day", "shop"], var_name="what", value_name="y").sample(frac=1, random_state=1)
    convert = {
        "pandas": lambda frame: frame,
        "polars": lambda frame: pytest.importorskip("polars").from_pandas(frame),
        "pyarrow": lambda frame: pytest.importorskip("pyarrow").Table.from_pandas(
            frame, preserve_index=False
        ),
    }[library]
    options = {"kernel": "matern32", "latents": 1, "budget": "quick"}
    gp = catena.MultiOutputGP(**options).fit(convert(long), long=("shop", "day", "what", "y"))
    other = catena.MultiOutputGP(**options).fit(convert(long), groups="shop", long=("day", "what", "y"))
    wide = catena.MultiOutputGP(**options).fit(frame, groups="shop")
    assert sorted(gp.output_names_) == ["sales", "staff"]

    def text(table):
        return table if library == "pandas" else table.to_pandas()

    filled = text(gp.impute())
    assert list(filled.columns) == ["day", "shop", "what", "y"] and not filled["y"].isna().any()
    np.testing.assert_array_equal(filled["y"], text(other.impute())["y"])
    expected = wide.impute().melt(["day", "shop"], var_name="what", value_name="wide")
    both = filled.merge(expected, on=["day", "shop", "what"])
    assert len(both) == len(filled)
    # Rows are in another order, and learning ends within its tolerance.
    np.testing.assert_allclose(both["y"], both["wide"], rtol=0.02, atol=0.05)
    ahead = text(gp.forecast(2))
    assert list(ahead.columns) == ["shop", "day", "what", "y"]
    assert list(ahead["shop"]) == ["s0"] * 4 + ["s1"] * 4 + ["s2"] * 4
    assert list(ahead["day"][:4]) == [40.0, 41.0, 40.0, 41.0]
    points = long[["shop", "day", "what"]].head(7)
    mean = text(gp.predict(convert(points)))
    assert list(mean["shop"]) == list(points["shop"]) and list(mean["what"]) == list(points["what"])
    new = pd.DataFrame({"shop": ["s9"], "day": [3.0], "what": ["sales"], "y": [70.0]})
    gp.update(convert(new))
    assert "s9" in list(text(gp.forecast(1))["shop"])
    with pytest.raises(InputError, match="begins with a column of groups"):
        catena.MultiOutputGP(**options).fit(convert(long), groups="shop", long=("shop", "day", "what", "y"))


def test_forecasts_of_groups_are_those_of_the_command_line(program, tmp_path):
    frame = panel().round(4)
    frame.to_csv(tmp_path / "panel.csv", index=False)
    gp = catena.MultiOutputGP(budget="quick").fit(frame, groups="shop")
    ahead = gp.forecast(3)
    words = ["forecast", tmp_path / "panel.csv", "--group", "shop", "--horizon", "3", "--budget", "quick"]
    shown = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=True).stdout
    theirs = pd.read_csv(io.StringIO(shown))
    assert list(theirs["shop"]) == list(ahead["shop"]) and list(theirs["day"]) == list(ahead["day"])
    np.testing.assert_allclose(ahead["sales"], theirs["sales_mean"], rtol=1e-6)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_column_that_looks_like_groups_is_proposed(library):
    pytest.importorskip(library)
    convert = {
        "pandas": lambda frame: frame,
        "polars": lambda frame: pytest.importorskip("polars").from_pandas(frame),
        "pyarrow": lambda frame: pytest.importorskip("pyarrow").Table.from_pandas(
            frame, preserve_index=False
        ),
    }[library]
    frame = panel()[["day", "shop", "sales"]]
    gp = catena.MultiOutputGP(**{**GIVEN, "mixing": [[1.0]], "noise": 0.1})
    with pytest.warns(
        catena.errors.CatenaWarning, match="column 'shop' repeats each day about 3 times; give groups='shop'"
    ):
        gp.fit(convert(frame))
    apart = frame.assign(day=frame["day"] + 0.1 * np.repeat([0, 1, 2], 40))
    with pytest.warns(
        catena.errors.CatenaWarning, match="with each of which day starts again; give groups='shop'"
    ):
        gp.fit(convert(apart))
    with warnings.catch_warnings():
        warnings.simplefilter("error", catena.errors.CatenaWarning)
        gp.fit(convert(frame[frame["shop"] == "s1"]))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_groups_run_along_the_column_that_ascends_in_each(library):
    pytest.importorskip(library)
    convert = {
        "pandas": lambda frame: frame,
        "polars": lambda frame: pytest.importorskip("polars").from_pandas(frame),
        "pyarrow": lambda frame: pytest.importorskip("pyarrow").Table.from_pandas(
            frame, preserve_index=False
        ),
    }[library]
    frame = panel()
    pigs = pd.DataFrame(
        {"kind": "x", "weight": frame["sales"], "week": frame["day"].astype(int), "pig": frame["shop"]}
    )
    pigs["litter"] = np.repeat([1, 2, 2], 40)
    gp = catena.MultiOutputGP(**{**GIVEN, "mixing": [[1.0]], "noise": 0.1}).fit(convert(pigs), groups="pig")
    assert gp._points.names == ["week"] and gp.output_names_ == ["weight"]
    assert "inputs: week (it ascends within each group)" in str(gp)
    assert any("one value in each group: 'litter'" in reason for reason in gp.summary_["decisions"])
    filled = gp.impute()
    assert list(filled.columns if library != "pyarrow" else filled.column_names) == list(pigs.columns)
