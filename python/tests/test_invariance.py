"""The prediction at a point does not depend on the other points or their order."""

import numpy as np
import pytest
from tables import GIVEN, line, plane

import catena

WAYS = ["auto", "chain", "tree", "ensemble:3"]


def _asked(dim):
    return np.random.default_rng(5).uniform(-1, 4, (30, dim))


def _all(gp, X):
    mean, std = gp.predict(X, return_std=True)
    return np.concatenate([mean, std], axis=1)


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("structure", WAYS)
def test_catena_to_the_bit(structure, dim):
    X, Y = plane(dim=dim, n_outputs=3)
    gp = catena.MultiOutputGP(structure=structure, **GIVEN).fit(X, Y)
    asked = _asked(dim)
    whole = _all(gp, asked)
    order = np.random.default_rng(0).permutation(len(asked))
    assert (_all(gp, asked[order]) == whole[order]).all()
    assert (np.concatenate([_all(gp, asked[row : row + 1]) for row in range(len(asked))]) == whole).all()


@pytest.mark.parametrize("method", ["exact", "svgp:10", "nngp:8", "fullscale:10,5"])
def test_rivals_to_rounding(method):
    X, Y = plane(n_outputs=3)
    gp = catena.MultiOutputGP(method=method, **GIVEN).fit(X, Y)
    asked = _asked(2)
    whole = _all(gp, asked)
    single = np.concatenate([_all(gp, asked[row : row + 1]) for row in range(len(asked))])
    np.testing.assert_allclose(single, whole, rtol=0, atol=1e-12)
    np.testing.assert_allclose(_all(gp, asked[::-1]), whole[::-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("structure", "dim"),
    # With one input the chain is exact; an ensemble has no posterior to sample new points from.
    [(structure, dim) for structure in WAYS for dim in (1, 2, 5) if (structure, dim) != ("ensemble:3", 1)],
)
def test_draws_have_the_marginals_of_predictions(structure, dim):
    X, Y = plane(dim=dim, n_outputs=3)
    gp = catena.MultiOutputGP(structure=structure, **GIVEN).fit(X, Y)
    asked, n_samples = _asked(dim)[:8], 8000
    mean, std = gp.predict(asked, return_std=True)
    draws = gp.sample_y(asked, n_samples)
    # Five standard errors; a mixture of chains has heavier tails than a normal number.
    assert (np.abs(draws.mean(2) - mean) < 5 * std / np.sqrt(n_samples)).all()
    np.testing.assert_allclose(draws.std(2), std, rtol=5 / np.sqrt(n_samples))


@pytest.mark.parametrize("method", ["exact", "fullscale:10,5"])
def test_dense_draws_have_the_marginals_of_predictions(method):
    X, Y = plane(n_outputs=3)
    gp = catena.MultiOutputGP(method=method, **GIVEN).fit(X, Y)
    asked, n_samples = _asked(2)[:8], 8000
    mean, std = gp.predict(asked, return_std=True)
    draws = gp.sample_y(asked, n_samples)
    assert (np.abs(draws.mean(2) - mean) < 5 * std / np.sqrt(n_samples)).all()
    np.testing.assert_allclose(draws.std(2), std, rtol=5 / np.sqrt(n_samples))
    _, cov = gp.predict(asked, return_cov=True)
    with_noise = np.sqrt(np.diagonal(cov, axis1=1, axis2=2))
    np.testing.assert_allclose(with_noise, std, rtol=1e-9)


def test_covariances_of_an_ensemble_are_those_of_its_draws():
    X, Y = plane(n_outputs=3)
    gp = catena.MultiOutputGP(structure="ensemble:3", **GIVEN).fit(X, Y)
    _, cov = gp.predict(_asked(2)[:4], return_cov=True)
    draws = gp.sample_y(_asked(2)[:4], 20_000)
    for point in range(4):
        spread = np.sqrt(np.outer(np.diag(cov[point]), np.diag(cov[point])))
        assert (np.abs(np.cov(draws[point]) - cov[point]) < 10 * spread / np.sqrt(20_000)).all()


def test_rivals_say_that_they_know_variances_only():
    X, Y = line()
    gp = catena.MultiOutputGP(method="nngp:5", **GIVEN).fit(X, Y)
    with pytest.raises(ValueError, match="use method catena"):
        gp.predict(X, return_cov=True)
    with pytest.raises(ValueError, match="use method catena"):
        gp.sample_y(X)
