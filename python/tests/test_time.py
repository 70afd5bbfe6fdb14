"""Time models: seasonal periods as strings, forecasts, and errors."""

import json

import numpy as np
import pytest

import catena


def seasonal(rows):
    """Hourly rows of two outputs with a level and a daily cycle, a tenth of the cells missing."""
    generator = np.random.default_rng(3)
    hours = np.arange(float(rows))
    level = np.cumsum(generator.normal(scale=0.04, size=rows))
    angle = 2 * np.pi * hours / 24
    Y = np.column_stack([level + 2 * np.sin(angle), 5 - level + np.cos(angle)]) + generator.normal(
        scale=0.2, size=(rows, 2)
    )
    known = Y.copy()
    known[generator.uniform(size=Y.shape) < 0.1] = np.nan
    return hours[:, np.newaxis], known, Y


def test_forecasts_follow_a_season():
    X, Y, truth = seasonal(424)
    gp = catena.MultiOutputGP(periods=24.0, budget="quick").fit(X[:400], Y[:400])
    mean, std = gp.forecast(24, return_std=True)
    naive = truth[376:400]
    assert np.sqrt(np.mean((mean - truth[400:]) ** 2)) < np.sqrt(np.mean((naive - truth[400:]) ** 2))
    assert np.mean(np.abs(mean - truth[400:]) < 2 * std) > 0.8
    assert "qp(24" in gp.kernel_ or "qp" in gp.kernel_
    again = catena.MultiOutputGP(kernel="matern12+rw+qp(24,2)", budget="quick").fit(X[:400], Y[:400])
    assert np.isfinite(again.forecast(3)).all()
    draws = gp.sample_y(X[400:], n_samples=5)
    assert draws.shape == (24, 2, 5)


def test_a_time_index_has_periods_that_are_durations(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, Y, _ = seasonal(240)
    frame = pandas.DataFrame(
        Y, columns=["load", "flow"], index=pandas.date_range("2024-01-01", periods=len(X), freq="h")
    )
    gp = catena.MultiOutputGP(kernel="sho+rw+qp(1d,2)", budget="quick").fit(frame)
    ahead = gp.forecast("6h")
    assert list(ahead.columns) == ["load", "flow"] and len(ahead) == 6
    gp.save(tmp_path / "m.catena")
    pandas.testing.assert_frame_equal(catena.load(tmp_path / "m.catena").forecast("6h"), ahead)
    with pytest.raises(ValueError, match="unit"):
        catena.MultiOutputGP(kernel="sho+qp(24)").fit(frame)
    with pytest.raises(ValueError, match="no unit"):
        catena.MultiOutputGP(periods=24).fit(frame)


@pytest.mark.parametrize("kernel", ["sho+rw+qp(1d,2)", "matern12+rw+shared(1d,2)", "matern32"])
def test_what_was_learned_can_be_given_again(tmp_path, kernel):
    pandas = pytest.importorskip("pandas")
    X, Y, _ = seasonal(200)
    frame = pandas.DataFrame(
        Y, columns=["load", "flow"], index=pandas.date_range("2024-01-01", periods=len(X), freq="h")
    )
    learned = catena.MultiOutputGP(kernel=kernel, budget="quick").fit(frame)
    path = tmp_path / "p.json"
    path.write_text(json.dumps(learned.parameters_))
    for parameters in (learned.parameters_, path, str(path)):
        given = catena.MultiOutputGP(learn=False, parameters=parameters).fit(frame)
        pairs = zip(learned.predict(return_std=True), given.predict(return_std=True), strict=True)
        for there, back in pairs:
            np.testing.assert_allclose(back, there, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(given.forecast("6h"), learned.forecast("6h"), rtol=1e-10, atol=1e-10)
    given.save(tmp_path / "m.catena")
    pandas.testing.assert_frame_equal(catena.load(tmp_path / "m.catena").forecast("6h"), given.forecast("6h"))


def test_wrong_parameters_are_named(tmp_path):
    X, Y, _ = seasonal(60)
    parameters = catena.MultiOutputGP(kernel="sho+rw+qp(24,2)", budget="quick").fit(X, Y).parameters_
    assert parameters["sums"][0][2]["period"] == pytest.approx(24.0)

    def refused(match, learn=False, **changed):
        with pytest.raises(ValueError, match=match):
            catena.MultiOutputGP(**{"learn": learn, "parameters": parameters, **changed}).fit(X, Y)

    refused("learn=False", learn=True)
    refused("leave out noise", noise=1.0)
    refused("leave out kernel", kernel="rw")
    refused("cannot be read", parameters=tmp_path / "nowhere.json")
    refused("neither a dict", parameters=3)
    refused("`mean` is", parameters={**parameters, "mean": 4})
    refused("`nose` is unknown", parameters={**parameters, "nose": 4})
    refused(r"`noise\[1\]` is -1", parameters={**parameters, "noise": [1, -1]})
    parameters["sums"][1][0]["quality"] = "high"
    refused(r"`sums\[1\]\[0\].quality` is .high.; expected a positive quality")


def test_parameters_are_learned_again_where_the_data_have_changed():
    X, Y, truth = seasonal(600)
    Y, truth = Y.copy(), truth.copy()
    for table in (Y, truth):
        table[300:] = 30 + 3 * table[300:]
    gp = catena.MultiOutputGP(kernel="matern12+rw+qp(24,2)", budget="quick").fit(X[:300], Y[:300])
    old = gp.noise_.copy()
    kept = catena.MultiOutputGP(kernel="matern12+rw+qp(24,2)", budget="quick").fit(X[:300], Y[:300])
    kept.update(X[300:560], Y[300:560])
    assert np.array_equal(kept.noise_, old)
    assert any("relearn=True" in warning for warning in kept.warnings_)
    again = gp.update(X[300:560], Y[300:560], relearn=True)
    assert (again.noise_ > 2 * old).all()
    assert again.log_marginal_likelihood() > kept.log_marginal_likelihood()
    assert again.impute().shape == (560, 2)


def test_a_linear_mean_goes_on(tmp_path):
    generator = np.random.default_rng(0)
    X = np.arange(200.0)[:, np.newaxis]
    Y = np.column_stack([0.5 * X[:, 0], 40 - 0.2 * X[:, 0]]) + generator.normal(scale=0.3, size=(200, 2))
    gp = catena.MultiOutputGP(kernel="matern12", mean="linear", latents=1, budget="quick").fit(X, Y)
    ahead = gp.forecast(200)
    assert np.allclose(ahead[-1], [0.5 * 399, 40 - 0.2 * 399], atol=2)
    assert np.allclose([output["slopes"] for output in gp.summary_["outputs"]], [[0.5], [-0.2]], atol=0.02)
    assert "means are linear" in str(gp)
    gp.save(tmp_path / "m.catena")
    again = catena.load(tmp_path / "m.catena")
    assert again.mean == "linear"
    assert np.array_equal(again.forecast(200), ahead)
    with pytest.raises(ValueError, match="constant or linear"):
        catena.MultiOutputGP(mean="steep").fit(X, Y)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"kernel": "sho+rwx"}, "letter 5"),
        ({"kernel": "sho+qp(1d)"}, "not a number"),
        ({"periods": "24h"}, "holds numbers"),
        ({"kernel": "time", "latents": 2}, "one shared latent per output"),
        ({"kernel": "sho", "method": "exact"}, "message passing"),
    ],
)
def test_what_is_refused(arguments, sentence):
    X, Y, _ = seasonal(30)
    with pytest.raises(ValueError, match=sentence):
        catena.MultiOutputGP(**arguments).fit(X, Y)
