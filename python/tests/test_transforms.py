"""Transforms of the outputs, and means or medians of skewed predictions."""

import numpy as np
import pandas as pd
import pytest

import catena


def skewed(n=120):
    """A positive and a signed output; both are skewed."""
    generator = np.random.default_rng(4)
    x = np.arange(float(n))
    smooth = np.sin(x / 8)
    flow = (1 + 0.4 * (2.5 + smooth + 0.3 * generator.normal(size=n))) ** (1 / 0.4)
    change = np.sinh(smooth + 0.5 * generator.normal(size=n)) ** 3
    return pd.DataFrame({"time": x, "flow": flow, "change": change}).set_index("time")


def fitted(**options):
    return catena.MultiOutputGP(budget="quick", latents=1, **options).fit(skewed())


def transforms(gp):
    return [output["transform"] for output in gp.summary_["outputs"]]


def test_words_lists_and_mappings_mean_the_same():
    by_name = fitted(transforms={"flow": "box-cox", "change": "yeo-johnson"})
    by_place = fitted(transforms=["box-cox", "yeo-johnson"])
    assert transforms(by_name) == ["box-cox", "yeo-johnson"]
    pd.testing.assert_frame_equal(by_name.predict(), by_place.predict())
    exponents = [output["exponent"] for output in by_name.summary_["outputs"]]
    assert all(0 <= exponent <= 2 for exponent in exponents)
    assert f"box-cox({exponents[0]:.2f}) flow" in by_name._model_or_raise().summary_text()
    for none, other in [("none", False), ("auto", True)]:
        pd.testing.assert_frame_equal(fitted(transforms=none).predict(), fitted(transforms=other).predict())
    assert transforms(fitted(transforms="none")) == ["none", "none"]


def test_medians_are_quantiles_and_samples_agree():
    gp = fitted(transforms={"flow": "log", "change": "yeo-johnson"})
    at = np.array([[10.5], [60.5]])
    mean, std = gp.predict(at, return_std=True)
    median, same = gp.predict(at, return_std=True, point="median")
    np.testing.assert_array_equal(std, same)
    assert (mean["flow"] > median["flow"]).all()
    draws = gp.sample_y(at, n_samples=4000)
    # Four standard errors of a share of 4000, and of the mean.
    below = (draws < np.asarray(median)[:, :, np.newaxis]).mean(axis=2)
    assert np.abs(below - 0.5).max() < 4 * 0.5 / 4000**0.5
    assert (np.abs(draws.mean(axis=2) - mean) < 4 * np.asarray(std) / 4000**0.5).to_numpy().all()
    covariances = gp.predict(at, return_cov=True)[1]
    np.testing.assert_allclose(np.sqrt(np.diagonal(covariances, axis1=1, axis2=2)), std, rtol=1e-9)


def test_every_answer_has_its_point():
    table = skewed()
    table.iloc[20:30, 0] = np.nan
    gp = catena.MultiOutputGP(budget="quick", latents=1, transforms={"flow": "log"}).fit(table)
    median = gp.predict(point="median")
    filled = gp.impute(point="median")
    np.testing.assert_array_equal(filled["flow"].iloc[20:30], median["flow"].iloc[20:30])
    assert (gp.impute()["flow"].iloc[20:30] > filled["flow"].iloc[20:30]).all()
    assert (gp.forecast(3)["flow"] > gp.forecast(3, point="median")["flow"]).all()
    ahead = gp.forecast(1, point="median")
    np.testing.assert_allclose(gp.posterior_at(120.0, point="median"), ahead, rtol=1e-9)
    np.testing.assert_allclose(gp.live().posterior_at(120.0, point="median"), ahead, rtol=1e-9)
    for ask in (gp.predict, gp.impute):
        with pytest.raises(catena.errors.InputError, match='point="mode" is unknown; write mean or median'):
            ask(point="mode")


def test_a_value_without_a_power_is_refused():
    with pytest.raises(catena.errors.InputError, match="needs positive values"):
        fitted(transforms={"change": "log"})


def test_saved_models_keep_their_exponents(tmp_path):
    gp = fitted(transforms=["box-cox", "yeo-johnson"])
    gp.save(tmp_path / "m.catena")
    again = catena.load(tmp_path / "m.catena")
    assert again.summary_["outputs"] == gp.summary_["outputs"]
    np.testing.assert_array_equal(again.predict(), gp.predict())


def test_partitions_learn_the_same_exponents_and_have_medians():
    pytest.importorskip("distributed")
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    import catena.dask

    table = skewed(400).reset_index()
    options = {"transforms": {"flow": "box-cox", "change": "yeo-johnson"}, "latents": 1, "budget": "quick"}
    whole = catena.MultiOutputGP(**options).fit(table)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        parts = catena.dask.MultiOutputGP(**options).fit(dd.from_pandas(table, npartitions=3))
        found = [output["exponent"] for output in parts.summary_["outputs"]]
        expected = [output["exponent"] for output in whole.summary_["outputs"]]
        # The sample is the whole table.
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        median, mean = parts.predict(point="median").compute(), parts.predict().compute()
        assert (median["flow"] < mean["flow"]).all()
        # Learning ends within its tolerance at the same place.
        np.testing.assert_allclose(median["flow"], whole.predict(point="median")["flow"], rtol=1e-2)
        with pytest.raises(catena.errors.InputError, match="write mean or median"):
            parts.impute(point="mode")
