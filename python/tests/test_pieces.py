"""Building blocks: sweeps, structures and scores."""

import inspect
import math

import numpy as np
import pytest
from dense import DenseGP
from tables import GIVEN, MODEL, line, plane

import catena
from catena import metrics, structures


@pytest.mark.parametrize("kernel", ["matern12", "matern32", "matern52"])
def test_a_sweep_equals_dense_algebra(kernel):
    X, Y = line()
    model = {**MODEL, "kernel": kernel}
    swept, reference = catena.sweep(X, Y, **model), DenseGP(X, Y, **model)
    mean, joint = reference.predict(X, include_noise=False)
    assert swept.log_evidence == pytest.approx(reference.log_evidence(), rel=1e-12)
    np.testing.assert_allclose(swept.mean, mean, atol=1e-10)
    np.testing.assert_allclose(swept.variance.ravel(), np.diag(joint), atol=1e-10)
    np.testing.assert_array_equal(swept.std, np.sqrt(swept.variance))


def test_the_gradient_is_that_of_dense_algebra():
    X, Y = line()
    gradient = catena.sweep(X, Y, **MODEL).gradient
    for name in ("mixing", "length_scales", "noise"):
        for place in np.ndindex(MODEL[name].shape):
            step = 1e-5 * np.abs(MODEL[name][place])
            ends = []
            for sign in (1, -1):
                moved = {**MODEL, name: MODEL[name].copy()}
                moved[name][place] += sign * step
                ends.append(DenseGP(X, Y, **moved).log_evidence())
            derivative = (ends[0] - ends[1]) / (2 * step)
            # Central differences of a number of size 100 are accurate to about 1e-7 here.
            assert getattr(gradient, name)[place] == pytest.approx(derivative, rel=1e-6, abs=1e-6)


def test_a_sweep_without_gradient_and_on_another_structure():
    X, Y = plane(n_outputs=3)
    tree = structures.spanning_tree(X)
    on_tree = catena.sweep(X, Y, **MODEL, structure=tree, gradient=False)
    assert on_tree.gradient is None
    assert on_tree.log_evidence == catena.sweep(X, Y, **MODEL).log_evidence
    on_chain = catena.sweep(X, Y, **MODEL, structure=structures.greedy_chain(X))
    assert on_chain.log_evidence != on_tree.log_evidence


def test_structures_are_what_they_say():
    X, _ = plane(n_rows=60)
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    chain = structures.greedy_chain(X, start=7)
    order, left = [7], set(range(60)) - {7}
    while left:
        order.append(min(left, key=lambda row: (distances[order[-1], row], row)))
        left.remove(order[-1])
    assert chain.order.tolist() == order and chain.is_chain and len(chain) == 60
    tree = structures.spanning_tree(X)
    # Prim's algorithm for the total length; the minimum spanning tree is unique here.
    joined, total = {0}, 0.0
    while len(joined) < 60:
        length, row = min((distances[a, b], b) for a in joined for b in range(60) if b not in joined)
        joined.add(row)
        total += length
    assert tree.total_length == pytest.approx(total, rel=1e-12) and not tree.is_chain
    rows = np.arange(60)[tree.parents >= 0]
    np.testing.assert_allclose(tree.edge_lengths[rows], distances[rows, tree.parents[rows]], rtol=1e-12)
    sorted_chain = structures.sorted_chain(X[:, :1])
    assert sorted_chain.order.tolist() == np.argsort(X[:, 0]).tolist()
    first, second = structures.random_chains(X, 2, random_state=3)
    assert first.order.tolist() != second.order.tolist()
    assert structures.random_chains(X, 2, random_state=3)[1].order.tolist() == second.order.tolist()
    assert repr(chain).startswith("<greedy chain over 60 rows")


def test_scores_by_hand_and_without_missing_values():
    truth = np.array([[1.0, 10.0], [2.0, np.nan], [np.nan, 12.0]])
    mean = np.array([[1.5, 10.0], [2.0, 3.0], [7.0, 15.0]])
    std = np.array([[1.0, 2.0], [0.5, 1.0], [1.0, 1.0]])
    z = np.array([-0.5, 0.0, 0.0, -3.0])
    s = np.array([1.0, 2.0, 0.5, 1.0])
    nll = 0.5 * z**2 + np.log(s) + 0.5 * math.log(2 * math.pi)
    below = np.array([0.5 * (1 + math.erf(value / math.sqrt(2))) for value in z])
    density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
    crps = s * (z * (2 * below - 1) + 2 * density - 1 / math.sqrt(math.pi))
    assert metrics.rmse(truth, mean) == pytest.approx(math.sqrt((z * s) @ (z * s) / 4), rel=1e-14)
    assert metrics.log_score(truth, mean, std) == pytest.approx(-nll.mean(), rel=1e-12)
    assert metrics.crps(truth, mean, std) == pytest.approx(crps.mean(), rel=1e-9)
    assert metrics.coverage(truth, mean, std) == 0.75
    assert metrics.coverage(truth, mean, std, level=0.3, by_output=True).tolist() == [0.5, 0.5]
    assert metrics.rmse(truth, mean, by_output=True).tolist() == pytest.approx(
        [math.sqrt(0.125), math.sqrt(4.5)]
    )
    assert metrics.rmse(truth[:, 0], mean[:, 0]) == pytest.approx(math.sqrt(0.125))


def test_length_scales_of_every_input():
    X, Y = plane(n_outputs=3)
    for options in (GIVEN, {**GIVEN, "standardize": True}):
        gp = catena.MultiOutputGP(**options).fit(X * [1.0, 10.0], Y)
        assert gp.length_scales_.shape == (2, 2)
        scales = [latent["length_scales"] for latent in gp.summary_["latents"]]
        np.testing.assert_array_equal(gp.length_scales_, scales)
    X, Y = line()
    np.testing.assert_allclose(catena.MultiOutputGP(**GIVEN).fit(X, Y).length_scales_, MODEL["length_scales"])


def test_both_posteriors_at_a_point_have_the_same_signature():
    X, Y = line()
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    live = gp.live()
    np.testing.assert_allclose(live.posterior_at(1.5), gp.posterior_at(1.5), atol=1e-10)
    for found, expected in zip(live.posterior_at(1.5, True), gp.posterior_at(1.5, True), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-10)
    # A live posterior has no groups.
    expected = inspect.signature(gp.posterior_at)
    expected = expected.replace(
        parameters=[own for name, own in expected.parameters.items() if name != "groups"]
    )
    assert inspect.signature(live.posterior_at) == expected
