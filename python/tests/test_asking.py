"""Quantiles, components, known noise, scored forecasts and comparisons: equal to dense algebra or to the command line."""

import csv
import json
import subprocess
from statistics import NormalDist

import numpy as np
import pandas as pd
import polars as pl
import pytest
from dense import DenseGP, correlation
from tables import GIVEN, MODEL, line, plane

import catena
from catena.errors import InputError

ELSEWHERE = np.array([[-1.5], [0.3], [4.4], [9.0], [13.0]])


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers_of(table):
    """The columns of numbers of a CSV table, to the bit."""
    rows = list(csv.DictReader(table.splitlines()))
    names = [name for name in rows[0] if name != "when"]
    return pd.DataFrame({name: [float(row[name]) for row in rows] for name in names})


# Quantiles


@pytest.mark.parametrize("include_noise", [True, False])
def test_quantiles_are_those_of_the_normal_distribution(include_noise):
    X, Y = line()
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    mean, std = gp.predict(ELSEWHERE, return_std=True, include_noise=include_noise)
    shares = [0.05, 0.5, 0.9]
    found = gp.quantiles(ELSEWHERE, q=shares, include_noise=include_noise)
    assert found.shape == (5, 3, 3)
    for at, share in enumerate(shares):
        np.testing.assert_allclose(
            found[:, :, at], mean + std * NormalDist().inv_cdf(share), rtol=1e-9, atol=1e-12
        )


def test_quantiles_are_the_ends_of_intervals_and_have_the_names_of_the_command_line(program, tmp_path):
    X, Y = line()
    frame = pd.DataFrame(Y, columns=["a", "b", "c"], index=pd.Index(X[:, 0], name="x")).sort_index()
    gp = catena.MultiOutputGP(**GIVEN).fit(frame)
    low, high = gp.interval(frame, level=0.8)
    found = gp.quantiles(frame, q=[0.1, 0.9])
    assert list(found.columns)[:2] == ["a_q0.1", "a_q0.9"]
    np.testing.assert_allclose(found["b_q0.1"], low["b"], rtol=1e-12)
    np.testing.assert_allclose(found["b_q0.9"], high["b"], rtol=1e-12)
    gp.save(tmp_path / "model.catena")
    table = run(program, "predict", tmp_path / "model.catena", "--quantiles", "0.1,0.9")
    theirs = numbers_of(table)
    assert (theirs[found.columns].to_numpy() == gp.quantiles(q=[0.1, 0.9]).to_numpy()).all()


def test_quantiles_of_a_vector_and_wrong_ones():
    X, Y = line()
    gp = catena.MultiOutputGP(**{**GIVEN, "mixing": [[1.0, 0.3]], "noise": 0.1}).fit(X, Y[:, 0])
    assert gp.quantiles(X[:4], q=[0.1, 0.9]).shape == (4, 2) and gp.quantiles(X[:4], q=0.5).shape == (4, 1)
    for wrong in (1.0, [], [0.5, 1.5]):
        with pytest.raises(InputError, match="probabilities"):
            gp.quantiles(X, q=wrong)


# Components


def part(X, Y, output, latents, model=MODEL):
    """Means and deviations of the part of an output in some latents, by dense algebra."""
    whole = DenseGP(X, Y, **model)
    rows, observed = whole.cells.T
    weights = np.zeros_like(whole.W)
    weights[output, latents] = whole.W[output, latents]

    distance = np.abs(ELSEWHERE[:, None, 0] - X[rows][None, :, 0])
    K = sum(
        weights[output, latent]
        * whole.W[observed, latent][None]
        * correlation(whole.kernel, distance, length)
        for latent, length in enumerate(whole.lengths)
    )
    prior = (weights[output] ** 2).sum()
    half = np.linalg.solve(whole.L, K.T)
    return K @ whole.alpha, np.sqrt(prior - (half**2).sum(0))


def test_components_are_those_of_the_dense_process():
    X, Y = line()
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    found = gp.components(ELSEWHERE)
    assert list(found.columns) == ["x0", "output", "component", "mean", "std"]
    assert list(found["component"].unique()) == ["mean", "shared 1", "shared 2"]
    for output in range(3):
        for latent in range(2):
            mean, std = part(X, Y, output, [latent])
            own = found[(found["output"] == f"y{output}") & (found["component"] == f"shared {latent + 1}")]
            np.testing.assert_allclose(own["mean"], mean, rtol=0, atol=1e-10)
            np.testing.assert_allclose(own["std"], std, rtol=0, atol=1e-10)


def test_private_latents_are_one_component():
    X, Y = line(n_outputs=2)
    given = {"length_scales": [2.0, 0.5, 1.5], "noise": [0.1, 0.2], "kernel": "matern32"}
    weights = np.array([[1.0, 0.5, 0.0], [0.7, 0.0, 0.3]])
    gp = catena.MultiOutputGP(learn=False, standardize=False, private=True, mixing=weights, **given).fit(X, Y)
    found = gp.components(ELSEWHERE)
    assert list(found["component"].unique()) == ["mean", "shared 1", "private"]
    mean, std = part(X, Y, 1, [2], {"mixing": weights, **given})
    own = found[(found["output"] == "y1") & (found["component"] == "private")]
    np.testing.assert_allclose(own["mean"], mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(own["std"], std, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        ("llt+qp(24,2)", ["mean", "trend", "season 24"]),
        ("sho+rw+qp(24,1)", ["mean", "oscillator", "level", "season 24"]),
        ("auto", None),
    ],
)
def test_components_add_up_to_the_prediction(kernel, names):
    hours = np.arange(96.0)
    wave = np.sin(hours / 24 * 2 * np.pi)
    Y = np.column_stack([wave + 0.02 * hours, 2 * wave + 100]) + 0.05 * np.random.default_rng(0).normal(
        size=(96, 2)
    )
    Y[10:20, 1] = np.nan
    gp = catena.MultiOutputGP(kernel=kernel, budget="quick", combine="none", transforms="none").fit(
        hours[:, None], Y
    )
    for X in (None, np.array([[-3.0], [14.5], [100.0]])):
        found = gp.components(X)
        if names is not None:
            assert list(found["component"].unique()) == names
        total = found.groupby(["x0", "output"])["mean"].sum().unstack().to_numpy()
        np.testing.assert_allclose(total, gp.predict(X, include_noise=False), rtol=1e-9, atol=1e-9)
        assert (found.loc[found["component"] != "mean", "std"] > 0).all()


def test_components_of_several_inputs_and_of_other_methods():
    X, Y = plane()
    model = {
        "learn": False,
        "kernel": "matern32",
        "mixing": [[1.0], [0.8]],
        "length_scales": 1.0,
        "noise": 0.01,
    }
    gp = catena.MultiOutputGP(method="catena", standardize=False, **model).fit(X, Y)
    found = gp.components(X[:3])
    only = found[found["component"] == "shared 1"]["mean"].to_numpy().reshape(3, 2)
    np.testing.assert_allclose(only, gp.predict(X[:3], include_noise=False), rtol=1e-10, atol=1e-12)
    with pytest.raises(InputError, match="method catena"):
        catena.MultiOutputGP(method="exact", **model).fit(X, Y).components()


def test_components_are_those_of_the_command_line(program, tmp_path):
    times = pd.date_range("2024-01-01", periods=96, freq="h", name="when")
    wave = np.sin(np.arange(96) / 24 * 2 * np.pi)
    gp = catena.MultiOutputGP(kernel="rw+qp(24h,1)", budget="quick").fit(
        pd.DataFrame({"a": wave, "b": 2 * wave}, times)
    )
    gp.save(tmp_path / "model.catena")
    table = run(program, "predict", tmp_path / "model.catena", "--components")
    theirs = numbers_of(table)
    ours = gp.components()
    for output in "ab":
        for part, name in [("mean", "mean"), ("level", "level"), ("season 1d", "season_1d")]:
            own = ours[(ours["output"] == output) & (ours["component"] == part)]
            assert (theirs[f"{output}_{name}_mean"].to_numpy() == own["mean"].to_numpy()).all()
            assert (theirs[f"{output}_{name}_std"].to_numpy() == own["std"].to_numpy()).all()


def test_components_have_the_frame_and_the_times_of_the_table():
    times = pd.date_range("2024-03-30", periods=30, freq="h", tz="Europe/Berlin", name="when")
    values = {"a": np.sin(np.arange(30) / 4), "b": np.cos(np.arange(30) / 4)}
    options = {"budget": "quick", "combine": "none"}
    found = catena.MultiOutputGP(**options).fit(pd.DataFrame(values, index=times)).components()
    assert str(found["when"].dtype) == str(times.dtype) and found["when"].iloc[-1] == times[-1]
    table = pl.from_pandas(pd.DataFrame({"when": times, **values}))
    theirs = catena.MultiOutputGP(**options).fit(table).components()
    assert isinstance(theirs, pl.DataFrame) and theirs["when"][-1] == table["when"][-1]
    np.testing.assert_allclose(theirs["mean"].to_numpy(), found["mean"].to_numpy(), rtol=1e-12)


# Known noise


def test_known_noise_of_cells_is_that_of_the_dense_process():
    X, Y = line()
    deviations = np.random.default_rng(5).uniform(0.1, 1.0, Y.shape)
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y, noise_columns=deviations)
    reference = DenseGP(X, Y, **MODEL)
    rows, outputs = reference.cells.T
    K = reference.covariance(X[rows], outputs, X[rows], outputs) + np.diag(deviations[rows, outputs] ** 2)
    places, asked = np.repeat(ELSEWHERE, 3, axis=0), np.tile(np.arange(3), len(ELSEWHERE))
    cross = reference.covariance(places, asked, X[rows], outputs)
    np.testing.assert_allclose(
        gp.predict(ELSEWHERE), (cross @ np.linalg.solve(K, reference.y)).reshape(-1, 3), rtol=0, atol=1e-10
    )


def test_noise_columns_are_those_of_the_command_line(program, tmp_path):
    X, Y = line(n_outputs=2)
    frame = pd.DataFrame({"x": np.sort(X[:, 0]), "a": Y[:, 0], "b": Y[:, 1], "a_sd": 0.1, "b_sd": 0.2})
    frame.to_csv(tmp_path / "table.csv", index=False)
    options = ["--budget", "quick", "--combine", "none", "--noise-columns", "a=a_sd,b=b_sd"]
    run(program, "fit", tmp_path / "table.csv", "-o", tmp_path / "model.catena", *options)
    theirs = catena.load(tmp_path / "model.catena")
    frame = pd.read_csv(tmp_path / "table.csv")
    for given in (["a_sd", "b_sd"], {"b": "b_sd", "a": "a_sd"}):
        ours = catena.MultiOutputGP(budget="quick", combine="none").fit(frame, noise_columns=given)
        assert ours.output_names_ == ["a", "b"]
        np.testing.assert_allclose(
            ours.predict()[["a", "b"]], theirs.predict(frame["x"].to_numpy()[:, None]), rtol=1e-6
        )


def test_wrong_noise_columns_are_refused():
    X, Y = line()
    frame = pd.DataFrame({"x": X[:, 0], "a": Y[:, 0], "a_sd": 0.1})
    gp = catena.MultiOutputGP(budget="quick")
    for table, given, sentence in [
        (frame, ["b_sd"], "'b_sd', which is not a column"),
        (frame, {"b": "a_sd"}, "has the outputs 'b'"),
        (frame.assign(a_sd=-1.0), ["a_sd"], "standard deviations are positive"),
    ]:
        with pytest.raises(InputError, match=sentence):
            gp.fit(table, noise_columns=given)
    with pytest.raises(InputError, match="shape"):
        gp.fit(X, Y, noise_columns=np.ones((3, 3)))


def test_questions_about_new_rows_say_that_they_do_not_know_the_noise():
    X, Y = line()
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y, noise_columns=np.full(Y.shape, 0.1))
    for ask in (lambda: gp.update([[11.0]], [[1.0, 1.0, 1.0]]), lambda: gp.backtest(horizons=[1])):
        with pytest.raises(InputError, match="noise_columns"):
            ask()


# Scored forecasts and comparisons


def seasonal(n_rows=240):
    times = pd.date_range("2024-01-01", periods=n_rows, freq="h", name="when")
    hours = np.arange(n_rows)
    noise = 0.1 * np.random.default_rng(3).normal(size=(n_rows, 2))
    wave = np.sin(hours / 24 * 2 * np.pi)
    frame = pd.DataFrame(np.column_stack([wave, 2 * wave + 5]) + noise, index=times, columns=["a", "b"])
    frame.iloc[200:204, 0] = np.nan
    return frame.round(4)


def test_a_backtest_has_the_scores_of_the_command_line(program, tmp_path):
    frame = seasonal()
    frame[:180].to_csv(tmp_path / "first.csv")
    frame[180:].to_csv(tmp_path / "later.csv")
    run(program, "fit", tmp_path / "first.csv", "-o", tmp_path / "m.catena", "--budget", "quick")
    rolling = ["--rolling", "--horizons", "1,6h,24", "--every", "5", "--season", "24h", "--interval", "0.8"]
    theirs = json.loads(
        run(program, "score", tmp_path / "m.catena", tmp_path / "later.csv", "--json", *rolling)
    )
    gp = catena.load(tmp_path / "m.catena")
    asked = {"horizons": [1, "6h", 24], "every": 5, "season": "24h", "interval": 0.8}
    ours = gp.backtest(pd.read_csv(tmp_path / "later.csv", parse_dates=["when"]), **asked)
    names = ["n_cells", "rmse", "log_score", "coverage"]
    assert ours[names].to_dict("records") == [
        {name: row[name] for name in names} for row in theirs["rolling"]
    ]
    assert list(ours["predictor"]) == [row["name"] for row in theirs["rolling"]]
    assert list(ours["horizon"].unique()) == ["1", "6h", "24"]
    counts = ours.drop_duplicates("horizon")[["n_origins", "n_beyond", "n_without_row", "n_missing"]]
    assert counts.to_dict("records") == theirs["targets"]


def test_a_backtest_without_later_rows_fits_the_first_ones():
    frame = seasonal()
    options = {"budget": "quick", "combine": "none"}
    asked = {"horizons": [1, 24], "every": 4}
    whole = catena.MultiOutputGP(**options).fit(frame).backtest(test_size=60, **asked)
    apart = catena.MultiOutputGP(**options).fit(frame[:180]).backtest(frame[180:], **asked)
    pd.testing.assert_frame_equal(whole, apart)
    share = catena.MultiOutputGP(**options).fit(frame).backtest(test_size=0.25, **asked)
    pd.testing.assert_frame_equal(whole, share)


def test_wrong_backtests_are_refused():
    X, Y = line()
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    for asked, sentence in [
        ({"horizons": ["6h"]}, "duration, but the input holds numbers"),
        ({"horizons": [0]}, "at least 1"),
        ({"test_size": 25}, "leaves fewer than two to fit"),
        ({"every": 0}, "every=0"),
        ({"X": X, "Y": Y}, "no row is after the last row"),
    ]:
        with pytest.raises(InputError, match=sentence):
            gp.backtest(**asked)


@pytest.mark.parametrize("block", [None, "12h", 10])
def test_a_comparison_has_the_scores_of_the_command_line(program, tmp_path, block):
    frame = seasonal(120)
    frame.to_csv(tmp_path / "table.csv")
    options = [] if block is None else ["--block", str(block)]
    shown = run(program, "compare", tmp_path / "table.csv", "--budget", "quick", "--json", *options)
    theirs = {row["name"]: row for row in json.loads(shown)["methods"]}
    table = pd.read_csv(tmp_path / "table.csv", parse_dates=["when"])
    ours = catena.compare(table, block=block, budget="quick")
    assert list(ours["method"]) == list(theirs)
    for row in ours.to_dict("records"):
        expected = theirs[row["method"]]
        assert (row["left_out"] != "") == ("left_out" in expected)
        for ours_, name in [("n_cells", "cells"), ("rmse", "rmse"), ("log_score", "log_score")]:
            assert row[ours_] == pytest.approx(expected.get(name, row[ours_]), rel=1e-9)
    fitted = catena.MultiOutputGP(budget="quick").fit(table)
    again = fitted.compare(block=block)
    np.testing.assert_array_equal(again["rmse"], ours["rmse"])


def test_few_values_cannot_be_compared_on():
    with pytest.raises(InputError, match="fewer than 20 observed values"):
        catena.compare(np.arange(9.0)[:, None], np.arange(9.0), budget="quick")


def test_frames_of_scores_are_those_of_the_table():
    frame = seasonal(120).reset_index()
    found = catena.compare(pl.from_pandas(frame), block=10, budget="quick")
    assert isinstance(found, pl.DataFrame) and "rmse" in found.columns
