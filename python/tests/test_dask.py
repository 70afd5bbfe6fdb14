"""Partitioned tables on worker processes: the same evidence, gradient, posterior and learning as on one machine."""

import os
import pickle
import signal

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da
import dask.dataframe as dd
import pandas as pd
from distributed import Client, LocalCluster

import catena
import catena.dask
from catena.dask import _curve, _median
from catena.dask._chain import Chain
from catena.errors import InputError

MODEL = {
    "mixing": [[1.0, 0.3], [-0.5, 0.8], [0.2, 1.1]],
    "length_scales": [12.0, 150.0],
    "noise": [0.05, 0.1, 0.2],
    "kernel": "matern32",
}


@pytest.fixture(scope="module")
def client():
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    )
    client = Client(cluster)
    yield client
    client.close()
    cluster.close()


def rows_along(n_rows, seed=3, n_outputs=3):
    """Uneven ascending times with a few duplicates, correlated outputs, and missing values."""
    random = np.random.default_rng(seed)
    times = np.sort(random.uniform(0, n_rows, n_rows).round(2))
    slow, fast = np.sin(times / 300), np.sin(times / 20 + np.sin(times / 77))
    weights = np.array([[1.0, 0.4], [-0.6, 0.9], [0.2, 1.2]])[:n_outputs]
    values = np.column_stack([fast, slow]) @ weights.T + random.normal(0, 0.25, (n_rows, n_outputs))
    values[random.random(values.shape) < 0.2] = np.nan
    values[n_rows // 3 : n_rows // 3 + n_rows // 50] = np.nan
    return times[:, None], values


def assert_same(found, expected, tolerance=1e-9):
    scale = max(1.0, np.abs(expected).max())
    assert np.abs(np.asarray(found) - expected).max() <= tolerance * scale


def chunks_of(n_rows, n_parts):
    """Uneven chunks, the first of them a single row if there are several."""
    if n_parts == 1:
        return (n_rows,)
    cuts = np.unique(np.concatenate([[1], np.linspace(0, n_rows, n_parts + 1)[2:].astype(int)]))
    return tuple(np.diff(np.concatenate([[0], cuts])).tolist())


# Equal parameters


@pytest.fixture(scope="module")
def whole():
    X, Y = rows_along(100_000)
    return X, Y, catena.sweep(X, Y, **MODEL)


@pytest.mark.parametrize("n_parts", [1, 2, 3, 7, 32])
def test_evidence_gradient_and_posterior_are_those_of_one_machine(client, whole, n_parts):
    X, Y, expected = whole
    chunks = chunks_of(len(X), n_parts)
    assert len(chunks) == n_parts
    found = catena.dask.sweep(
        da.from_array(X, (chunks, 1)), da.from_array(Y, (chunks, -1)), client=client, **MODEL
    )
    assert_same(found.log_evidence, expected.log_evidence)
    for own, other in zip(found.gradient, expected.gradient, strict=True):
        assert_same(own, other)
    mean, std = da.compute(found.mean, found.std)
    assert_same(mean, expected.mean)
    assert_same(std, expected.std)


def test_rows_in_any_order_are_sorted_and_answered_where_they_were(client):
    X, Y = rows_along(3000)
    order = np.random.default_rng(1).permutation(len(X))
    expected = catena.sweep(X[order], Y[order], **MODEL)
    found = catena.dask.sweep(
        da.from_array(X[order], (700, 1)), da.from_array(Y[order], (700, -1)), client=client, **MODEL
    )
    assert_same(found.log_evidence, expected.log_evidence)
    assert_same(found.mean.compute(), expected.mean)


def test_two_inputs_on_the_chain_of_the_parts(client):
    random = np.random.default_rng(5)
    X = random.uniform(0, 30, (4000, 2))
    Y = np.column_stack([np.sin(X[:, 0] / 3), np.cos(X[:, 1] / 4)]) + random.normal(0, 0.2, (len(X), 2))
    Y[random.random(Y.shape) < 0.3] = np.nan
    model = {
        "mixing": [[1.0, 0.2], [0.3, 0.9]],
        "length_scales": [3.0, 6.0],
        "noise": 0.1,
        "kernel": "matern32",
    }
    gp = catena.dask.MultiOutputGP(learn=False, standardize=False, n_parts=5, **model)
    gp.fit(da.from_array(X, (1000, 2)), da.from_array(Y, (1000, 2)), client=client)
    assert gp.chain_["parts"] == 5
    # The chain: partitions along the curve, end to end.
    parts = client.gather(gp._chain.parts)
    rows = {tuple(point): row for row, point in enumerate(X)}
    order = [rows[tuple(point)] for part in parts for point in part.points[part.order]]
    structure = catena.structures.chain(X, order)
    assert structure.total_length == pytest.approx(gp.chain_["length"], rel=1e-12)
    assert 0 < gp.chain_["joins"] < 0.05 * gp.chain_["length"]
    expected = catena.sweep(X, Y, structure=structure, **model)
    slopes = gp.gradient()
    assert_same(slopes["log_evidence"], expected.log_evidence)
    for name in ("mixing", "length_scales", "noise"):
        assert_same(slopes[name], getattr(expected.gradient, name))
    mean, std = gp.predict(return_std=True, include_noise=False)
    assert_same(mean.compute(), expected.mean)
    assert_same(std.compute() ** 2, expected.variance)


# Learning


@pytest.fixture(scope="module")
def learned():
    X, Y = rows_along(20_000, seed=8)
    gp = catena.MultiOutputGP(latents=2, kernel="matern32", budget="quick", progress=False).fit(X, Y)
    return X, Y, gp


def assert_learned_alike(gp, local):
    assert abs(gp.log_marginal_likelihood() - local.log_marginal_likelihood()) < 1e-3
    mean, std = local.predict(return_std=True)
    found, deviations = da.compute(*gp.predict(return_std=True))
    assert np.abs((found - mean) / std).max() < 1e-4
    assert np.abs(deviations / std - 1).max() < 1e-4


def test_learning_ends_where_one_machine_does(client, learned, monkeypatch):
    X, Y, local = learned
    gaps, gap = [], Chain.gap
    monkeypatch.setattr(Chain, "gap", lambda chain: gaps.append(chain) or gap(chain))
    gp = catena.dask.MultiOutputGP(latents=2, kernel="matern32", budget="quick", progress=False)
    gp.fit(da.from_array(X, (6000, 1)), da.from_array(Y, (6000, -1)), client=client)
    assert_learned_alike(gp, local)
    assert len(gaps) == 1, "the distributed median is computed once"
    assert gp.summary_["n_rows"] == len(X)
    assert "the chain has 4 partitions" in gp.summary_["decisions"]
    # A few kilobytes per partition and round for any number of rows.
    traffic = gp.traffic_
    assert traffic["evaluations"] > 5
    assert gp.local().mixing_ == pytest.approx(gp.mixing_)


def test_a_worker_lost_while_learning(client, learned, monkeypatch):
    X, Y, local = learned
    pids = client.run(os.getpid)
    asked = []
    evidence = Chain.evidence

    def losing(chain, *arguments):
        asked.append(arguments)
        if len(asked) == 6:
            os.kill(next(iter(pids.values())), signal.SIGKILL)
        return evidence(chain, *arguments)

    monkeypatch.setattr(Chain, "evidence", losing)
    gp = catena.dask.MultiOutputGP(latents=2, kernel="matern32", budget="quick", progress=False)
    gp.fit(da.from_array(X, (3000, 1)), da.from_array(Y, (3000, -1)), client=client)
    assert len(asked) > 10
    assert_learned_alike(gp, local)
    client.wait_for_workers(2, timeout=30)
    assert set(client.run(os.getpid).values()) != set(pids.values())


# Frames and files


def frame_of(n_rows=2000):
    X, Y = rows_along(n_rows, seed=11)
    times = pd.Timestamp("2024-03-01", tz="Europe/Berlin") + pd.to_timedelta((X[:, 0] * 60).round(), unit="s")
    frame = pd.DataFrame(Y, columns=["a", "b", "c"])
    frame.insert(0, "time", times)
    frame["place"] = "harbour"
    return frame


GIVEN = {
    "mixing": MODEL["mixing"],
    "noise": MODEL["noise"],
    "kernel": "matern32",
    "length_scales": [800.0, 9000.0],
}


def test_a_directory_of_parquet_files(client, tmp_path):
    frame = frame_of()
    folder, filled = tmp_path / "rows", tmp_path / "filled"
    folder.mkdir()
    # The names are not in the order of time.
    for name, (begin, end) in {"b": (0, 500), "a": (500, 1300), "c": (1300, 2000)}.items():
        frame[begin:end].to_parquet(folder / f"{name}.parquet", index=False)
    local = catena.MultiOutputGP(learn=False, **GIVEN).fit(frame)
    gp = catena.dask.MultiOutputGP(learn=False, **GIVEN).fit(folder, client=client)
    assert gp.log_marginal_likelihood() == pytest.approx(local.log_marginal_likelihood(), abs=1e-6)
    assert gp.impute(to=filled) == len(frame)
    whole = pd.read_parquet(filled)
    names = ["time", "a", "b", "c"]
    pd.testing.assert_frame_equal(whole[names], local.impute()[names], rtol=1e-9)
    assert list(whole["place"]) == list(frame["place"])
    mean, std = gp.predict(return_std=True)
    expected, deviations = local.predict(return_std=True)
    pd.testing.assert_frame_equal(mean.compute().reset_index(drop=True), expected, rtol=1e-9)
    pd.testing.assert_frame_equal(std.compute().reset_index(drop=True), deviations, rtol=1e-9)


def test_new_points_and_an_index_of_times(client):
    frame = frame_of().drop(columns="place").set_index("time")
    local = catena.MultiOutputGP(learn=False, **GIVEN).fit(frame)
    # Partitions overlap: Dask sorts them.
    shuffled = frame.sample(frac=1.0, random_state=3)
    gp = catena.dask.MultiOutputGP(learn=False, **GIVEN).fit(
        dd.from_pandas(shuffled, npartitions=4, sort=False), client=client
    )
    assert gp.log_marginal_likelihood() == pytest.approx(local.log_marginal_likelihood(), abs=1e-6)
    whole = gp.impute().compute()
    assert whole.index.is_monotonic_increasing and len(whole) == len(frame)
    first, last = frame.index[0], frame.index[-1]
    ahead = pd.date_range(first - pd.Timedelta("2h"), last + pd.Timedelta("2h"), periods=301)
    expected = local.predict(ahead)
    pd.testing.assert_frame_equal(gp.predict(ahead), expected, rtol=1e-8)
    asked = dd.from_pandas(pd.DataFrame(index=ahead[::-1]), npartitions=3, sort=False)
    found = gp.predict(asked).compute()
    np.testing.assert_allclose(found.to_numpy(), expected.to_numpy(), rtol=1e-8, atol=1e-10)


def test_forecasts_scores_and_single_places_are_those_of_the_whole_table(client, monkeypatch):
    frame = frame_of(3000).drop(columns="place").set_index("time")
    local = catena.MultiOutputGP(learn=False, **GIVEN).fit(frame)
    # As for long tables, only a window of the table is kept with the parameters.
    sample = Chain.sample
    monkeypatch.setattr(Chain, "sample", lambda chain, wanted, seed: sample(chain, 300, seed))
    parts = dd.from_pandas(frame, npartitions=4)
    gp = catena.dask.MultiOutputGP(learn=False, **GIVEN).fit(parts, client=client)
    assert len(gp._points) == 300 and gp._points.values.max() < local._points.values.max()
    for ask in (
        lambda gp: gp.forecast("3h", return_std=True),
        lambda gp: gp.forecast(5, step="1h", include_noise=False, return_std=True),
        lambda gp: gp.posterior_at(frame.index[-1] + pd.Timedelta("20min"), return_std=True),
    ):
        for found, expected in zip(ask(gp), ask(local), strict=True):
            pd.testing.assert_frame_equal(found, expected, rtol=1e-8)
    some = frame[2500:]
    assert gp.score(some) == pytest.approx(local.score(some), rel=1e-9)
    assert gp.score(some.index, some.fillna(0.0)) == pytest.approx(local.score(some.index, some.fillna(0.0)))
    with pytest.raises(InputError, match="score reads rows in memory"):
        gp.score(parts)


#: Members that need all rows in one process, and what their error advises.
REFUSED = {
    "interval": "predict",
    "quantiles": "predict",
    "components": "in memory",
    "backtest": "in memory",
    "check": "in memory",
    "forecast_summary_": "in memory",
    "plot_forecast": "in memory",
    "compare": "in memory",
    "sample_y": "in memory",
    "live": "in memory",
    "report": "in memory",
    "plot": "in memory",
    "plot_structure": "chain_",
    "structure_": "chain_",
    "save": r"local\(\)\.save",
    "update": "model=",
    "partial_fit": "model=",
}

#: Members that depend on parameters only, which are those of the whole table.
OF_PARAMETERS = {
    "get_params",
    "set_params",
    "mixing_",
    "length_scales_",
    "noise_",
    "kernel_",
    "parameters_",
    "warnings_",
    "plot_mixing",
}
#: Members that use the partitions through `_moments`.
OF_PARTS = {"forecast"}


def test_nothing_is_answered_from_the_sample_alone(client):
    X, Y = rows_along(200)
    gp = catena.dask.MultiOutputGP(learn=False, **MODEL)
    gp.fit(da.from_array(X, (50, 1)), da.from_array(Y, (50, -1)), client=client)
    public = {name for name in dir(catena.MultiOutputGP) if not name.startswith("_")}
    assert public - set(vars(catena.dask.MultiOutputGP)) - set(REFUSED) == OF_PARAMETERS | OF_PARTS
    for name, instead in REFUSED.items():
        with pytest.raises(AttributeError, match=f"{name} is for tables in memory.*{instead}"):
            getattr(gp, name)
        assert not hasattr(gp, name)
    with pytest.raises(InputError, match=r"gp\.local\(\)"):
        pickle.dumps(gp)
    assert not gp.forecast(2).shape[0] - 2 and gp.parameters_ == gp.local().parameters_


def test_rows_that_were_dropped_do_not_change_the_input(client):
    frame = frame_of(400).dropna()
    gp = catena.dask.MultiOutputGP(learn=False, **GIVEN)
    gp.fit(dd.from_pandas(frame, npartitions=2, sort=False), client=client)
    assert list(gp.feature_names_in_) == ["time"] and gp.output_names_ == ["a", "b", "c"]
    assert "ignored columns, which are not numeric: 'place'" in gp.summary_["decisions"]
    with pytest.raises(InputError, match="no column 'time', which is an input of the model"):
        gp.predict(dd.from_pandas(frame.rename(columns={"time": "when"}), npartitions=1))
    indexed = catena.dask.MultiOutputGP(learn=False, **GIVEN)
    indexed.fit(dd.from_pandas(frame.set_index("time"), npartitions=2), client=client)
    with pytest.raises(InputError, match=r"the index 'time'.*its index is 'when'"):
        indexed.predict(dd.from_pandas(frame.set_index("time").rename_axis("when"), npartitions=1))


def test_missing_values_among_whole_numbers(client, tmp_path):
    X, Y = rows_along(400)
    frame = pd.DataFrame({"x": X[:, 0], "n": pd.array(np.round(10 * Y[:, 0]), "Float64").astype("Int64")})
    # The first partition has no missing value but the same types as the others.
    frame.loc[:199, "n"] = frame.loc[:199, "n"].fillna(0)
    given = {"mixing": [10.0], "length_scales": 12.0, "noise": 1.0, "kernel": "matern32", "learn": False}
    expected = catena.MultiOutputGP(**given).fit(frame).impute()
    gp = catena.dask.MultiOutputGP(**given).fit(dd.from_pandas(frame, npartitions=2), client=client)
    found = gp.impute()
    assert found.dtypes["n"] == "Float64"
    pd.testing.assert_frame_equal(found.compute().reset_index(drop=True), expected, rtol=1e-9)
    assert gp.impute(to=tmp_path / "filled") == 400
    assert pd.read_parquet(tmp_path / "filled")["n"].notna().all()


def test_a_model_that_was_fitted_before(client, tmp_path):
    X, Y = rows_along(3000)
    local = catena.MultiOutputGP(latents=1, kernel="matern32", budget="quick", progress=False).fit(
        X[:1500], Y[:1500]
    )
    local.save(tmp_path / "model.catena")
    gp = catena.dask.MultiOutputGP(model=tmp_path / "model.catena")
    gp.fit(da.from_array(X, (1000, 1)), da.from_array(Y, (1000, -1)), client=client)
    expected = catena.load(tmp_path / "model.catena").update(X[1500:], Y[1500:])
    assert_same(gp.predict().compute(), expected.predict())
    assert gp.log_marginal_likelihood() == pytest.approx(expected.log_marginal_likelihood(), abs=1e-6)


def test_a_panel(client):
    tables = []
    for group in range(5):
        X, Y = rows_along(150, seed=group, n_outputs=2)
        tables.append(pd.DataFrame({"well": f"w{group}", "time": X[:, 0], "level": Y[:, 0], "flow": Y[:, 1]}))
    tables[4]["flow"] = np.nan
    tables[4].loc[:, "level"] = np.nan
    long = pd.concat(tables).sample(frac=1.0, random_state=1)
    panel = catena.dask.fit_panel(
        dd.from_pandas(long, npartitions=3, sort=False), "well", inputs="time", budget="quick", latents=1
    )
    found = client.compute(panel).result().sort_index()
    assert list(found.index) == [f"w{group}" for group in range(5)]
    assert (
        found["error"].iloc[4] == "no output has an observed value." and (found["error"].iloc[:4] == "").all()
    )
    own = long[long["well"] == "w2"]
    local = catena.MultiOutputGP(budget="quick", latents=1, progress=False).fit(
        own["time"], own[["level", "flow"]]
    )
    assert found.loc["w2", "log_evidence"] == pytest.approx(local.log_marginal_likelihood(), abs=1e-6)
    assert catena.dask.open_model(found.loc["w2", "model"]).noise_ == pytest.approx(local.noise_)


def test_groups_are_filled_on_the_workers(client):
    generator = np.random.default_rng(3)
    tables = []
    for group in range(12):
        X, Y = rows_along(40, seed=group, n_outputs=2)
        Y[generator.random(Y.shape) < 0.2] = np.nan
        tables.append(pd.DataFrame({"time": X[:, 0], "well": f"w{group}", "a": Y[:, 0], "b": Y[:, 1]}))
    some, long = pd.concat(tables[:6]), pd.concat(tables)
    long = long.sample(frac=1.0, random_state=1).reset_index(drop=True)
    options = {"budget": "quick", "kernel": "matern32", "progress": False}
    gp = catena.MultiOutputGP(**options).fit(some, groups="well")
    filled = catena.dask.impute_groups(gp, dd.from_pandas(long, npartitions=4, sort=False))
    found = client.compute(filled).result().sort_index()
    assert list(found["well"]) == list(long["well"]) and not found[["a", "b"]].isna().any().any()
    # Other wells do not matter.
    own = long[long["well"] == "w9"]
    expected = gp._apart().update(own).predict(own)
    missing = own[["a", "b"]].isna().to_numpy()
    values = found.loc[own.index, ["a", "b"]].to_numpy()
    np.testing.assert_allclose(values[missing], expected[["a", "b"]].to_numpy()[missing], rtol=1e-9)
    with pytest.raises(InputError, match="the fit has no groups"):
        catena.dask.impute_groups(catena.MultiOutputGP(**options).fit(some["time"], some[["a", "b"]]), filled)


def test_an_output_without_values_has_its_prior_under_a_given_model(client):
    X, Y = rows_along(100)
    Y[:, 0] = np.nan
    local = catena.MultiOutputGP(learn=False, **MODEL).fit(X, Y)
    gp = catena.dask.MultiOutputGP(model=local)
    gp.fit(da.from_array(X, (50, 1)), da.from_array(Y, (50, -1)), client=client)
    mean, std = gp.predict(return_std=True)
    expected = local.predict(return_std=True)
    assert_same(mean.compute(), expected[0])
    assert_same(std.compute(), expected[1])


def test_mistakes_are_named(client):
    X, Y = rows_along(100)
    with pytest.raises(InputError, match="reads dask frames, dask arrays and directories of Parquet"):
        catena.dask.MultiOutputGP().fit(X, Y, client=client)
    missing = da.from_array(np.full((100, 2), np.nan), (50, 2))
    with pytest.raises(InputError, match="output 'y0' was never observed"):
        catena.dask.MultiOutputGP().fit(da.from_array(X, (50, 1)), missing, client=client)
    with pytest.raises(InputError, match="supports a chain only"):
        catena.dask.MultiOutputGP(structure="tree").fit(
            da.from_array(X, (50, 1)), da.from_array(Y, (50, -1)), client=client
        )
    with pytest.raises(InputError, match="no column 'depth'"):
        catena.dask.MultiOutputGP().fit(
            dd.from_pandas(frame_of(20), npartitions=1), inputs=["depth"], client=client
        )


# Building blocks


@pytest.mark.parametrize("seed", range(6))
def test_the_median_in_parts_is_the_median(seed):
    random = np.random.default_rng(seed)
    numbers = random.exponential(size=40_000)
    if seed % 2:
        numbers = numbers.round(2) + 0.01
    parts = np.split(numbers, np.sort(random.integers(0, len(numbers), 5)))
    found = _median.middle(lambda low, high: [_median.sketch(part, low, high) for part in parts])
    assert found == np.sort(numbers)[len(numbers) // 2]
    assert _median.middle(lambda low, high: [_median.sketch(np.empty(0), low, high)]) is None


@pytest.mark.parametrize("dim", [2, 3])
def test_neighbors_on_the_curve_are_neighbors_in_space(dim):
    side = 2**4 if dim == 2 else 2**3
    grid = np.stack(np.meshgrid(*[np.arange(side)] * dim, indexing="ij"), -1).reshape(-1, dim) + 0.5
    keys = _curve.keys(grid, np.zeros(dim), np.full(dim, side))
    assert len(np.unique(keys)) == len(grid)
    steps = np.abs(np.diff(grid[np.argsort(keys)], axis=0)).sum(axis=1)
    assert (steps == 1).all()
