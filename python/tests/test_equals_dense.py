"""With given parameters, everything equals a dense computation with the same numbers."""

import numpy as np
import pandas as pd
import pytest
from dense import DenseGP, diagonal_blocks
from tables import GIVEN, MODEL, line

import catena


@pytest.fixture(params=["matern12", "matern32", "matern52"])
def pair(request):
    """A fit and its reference on a table with one input."""
    X, Y = line()
    options = {**GIVEN, "kernel": request.param}
    reference = DenseGP(X, Y, **{**MODEL, "kernel": request.param})
    return catena.MultiOutputGP(**options).fit(X, Y), reference


ELSEWHERE = np.array([[-1.5], [0.3], [4.4], [4.41], [9.0], [13.0]])


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_an_output_without_values_is_predicted_from_the_others(kind):
    X, Y = line()
    empty = Y.copy()
    empty[:, 0] = np.nan
    reference = DenseGP(X, empty, **MODEL)
    names = [f"y{at}" for at in range(Y.shape[1])]
    given = (
        (X, empty)
        if kind == "array"
        else (pd.DataFrame(empty, index=pd.Index(X[:, 0], name="x"), columns=names),)
    )
    gp = catena.MultiOutputGP(**GIVEN).fit(*given)
    mean, std = gp.predict(X, return_std=True) if kind == "array" else gp.predict(return_std=True)
    expected, joint = reference.predict(X, True)
    np.testing.assert_allclose(np.asarray(mean), expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        np.asarray(std) ** 2, np.diag(joint).reshape(expected.shape), rtol=0, atol=1e-10
    )
    if kind == "array":
        with pytest.raises(ValueError, match="no observed value"):
            catena.MultiOutputGP().fit(*given)
    else:
        # As on the command line, a column without a value is no output.
        assert catena.MultiOutputGP(budget="quick").fit(*given).output_names_ == names[1:]


@pytest.mark.parametrize("include_noise", [True, False])
def test_means_and_deviations(pair, include_noise):
    gp, reference = pair
    for X in (reference.X, ELSEWHERE):
        mean, std = gp.predict(X, return_std=True, include_noise=include_noise)
        expected, joint = reference.predict(X, include_noise)
        np.testing.assert_allclose(mean, expected, rtol=0, atol=1e-10)
        np.testing.assert_allclose(std**2, np.diag(joint).reshape(mean.shape), rtol=0, atol=1e-10)


def test_rows_of_the_fit_are_predicted_without_being_named(pair):
    gp, reference = pair
    np.testing.assert_allclose(gp.predict(), reference.predict(reference.X)[0], rtol=0, atol=1e-10)


@pytest.mark.parametrize("include_noise", [True, False])
def test_covariances_of_outputs(pair, include_noise):
    gp, reference = pair
    mean, cov = gp.predict(ELSEWHERE, return_cov=True, include_noise=include_noise)
    expected = diagonal_blocks(reference.predict(ELSEWHERE, include_noise)[1], 3)
    assert cov.shape == (6, 3, 3) and mean.shape == (6, 3)
    np.testing.assert_allclose(cov, expected, rtol=0, atol=1e-10)
    _, std = gp.predict(ELSEWHERE, return_std=True, include_noise=include_noise)
    np.testing.assert_allclose(np.sqrt(np.diagonal(cov, axis1=1, axis2=2)), std, rtol=1e-15)
    mean, cov = gp.predict(return_cov=True, include_noise=include_noise)
    expected, joint = reference.predict(reference.X, include_noise)
    np.testing.assert_allclose(mean, expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(cov, diagonal_blocks(joint, 3), rtol=0, atol=1e-10)


def test_log_marginal_likelihood(pair):
    gp, reference = pair
    assert gp.log_marginal_likelihood() == pytest.approx(reference.log_evidence(), rel=1e-12)


def test_draws_are_joint(pair):
    gp, reference = pair
    n_samples = 20_000
    draws = gp.sample_y(ELSEWHERE, n_samples, random_state=1, include_noise=False)
    assert draws.shape == (6, 3, n_samples)
    expected, joint = reference.predict(ELSEWHERE, include_noise=False)
    flat = draws.reshape(-1, n_samples)
    deviation = np.sqrt(np.diag(joint))
    # Five standard errors of a mean, and of a covariance of normal numbers.
    assert (np.abs(flat.mean(1) - expected.ravel()) < 5 * deviation / np.sqrt(n_samples)).all()
    spread = np.sqrt((np.outer(deviation, deviation) ** 2 + joint**2) / n_samples)
    assert (np.abs(np.cov(flat) - joint) < 5 * spread).all()


def test_draws_of_observations_have_the_noise(pair):
    gp, reference = pair
    function = gp.sample_y(ELSEWHERE, 4000, random_state=3, include_noise=False)
    noise = gp.sample_y(ELSEWHERE, 4000, random_state=3) - function
    np.testing.assert_allclose(noise.var(axis=(0, 2)), reference.noise, rtol=5 * np.sqrt(2 / (6 * 4000)))


def test_draws_at_one_place_asked_twice_are_one_function(pair):
    gp, _ = pair
    draws = gp.sample_y([[4.4], [1.0], [4.4]], 5, include_noise=False)
    assert (draws[0] == draws[2]).all()
    assert (gp.sample_y([[4.4]], 5) == gp.sample_y([[4.4]], 5)).all()
    assert (gp.sample_y([[4.4]], 5) != gp.sample_y([[4.4]], 5, random_state=1)).all()


def test_standardized_outputs_have_their_mean_taken_off():
    X, Y = line()
    Y = Y + np.array([100.0, -50.0, 3.0])
    mean = np.nanmean(Y, axis=0)
    gp = catena.MultiOutputGP(**{**GIVEN, "standardize": True}).fit(X, Y)
    reference = DenseGP(X, Y - mean, **MODEL)
    np.testing.assert_allclose(
        gp.predict(ELSEWHERE), reference.predict(ELSEWHERE)[0] + mean, rtol=0, atol=1e-9
    )
    assert gp.log_marginal_likelihood() == pytest.approx(reference.log_evidence(), rel=1e-10)


def test_private_latents_touch_one_output():
    X, Y = line(n_outputs=2)
    weights = np.array([[1.0, 0.5, 0.0], [0.7, 0.0, 0.3]])
    given = {"mixing": weights, "length_scales": [2.0, 0.5, 1.5], "noise": [0.1, 0.2], "kernel": "matern32"}
    gp = catena.MultiOutputGP(learn=False, standardize=False, private=True, **given).fit(X, Y)
    np.testing.assert_allclose(
        gp.predict(ELSEWHERE), DenseGP(X, Y, **given).predict(ELSEWHERE)[0], atol=1e-10
    )
    np.testing.assert_allclose(gp.mixing_, weights)


def test_update_equals_a_fit_to_all_rows():
    X, Y = line()
    gp = catena.MultiOutputGP(**GIVEN).fit(X[:15], Y[:15]).update(X[15:], Y[15:])
    whole = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    assert (gp.predict(ELSEWHERE) == whole.predict(ELSEWHERE)).all()
    assert gp.log_marginal_likelihood() == whole.log_marginal_likelihood()


@pytest.mark.parametrize("method", ["exact", "svgp:15", "nngp:15", "fullscale:5,15"])
def test_rivals_know_the_same_parameters(method):
    X, Y = line(n_rows=15)
    gp = catena.MultiOutputGP(method=method, **GIVEN).fit(X, Y)
    # With as many inducing points or neighbors as rows, nothing is approximated.
    np.testing.assert_allclose(gp.predict(ELSEWHERE), DenseGP(X, Y, **MODEL).predict(ELSEWHERE)[0], atol=1e-6)


def test_candidates_are_part_of_the_chain():
    X, Y = line()
    candidates = np.linspace(0, 10, 30)[:, np.newaxis]
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y, candidates=candidates)
    # Along one input the chain is exact, with or without them.
    np.testing.assert_allclose(
        gp.predict(ELSEWHERE), DenseGP(X, Y, **MODEL).predict(ELSEWHERE)[0], atol=1e-10
    )
    assert len(gp.structure_) == 55 and gp.predict().shape == (25, 3)
