"""Errors of a live posterior in the user's terms; an error changes nothing."""

import pickle

import numpy as np
import pytest
from dense import same
from tables import GIVEN, line, plane, waiting

import catena
from catena.errors import InputError


@pytest.mark.parametrize(
    ("x", "y", "sentence"),
    [
        (np.nan, [1.0, 1.0, 1.0], "NaN"),
        (1.0, 1.0, "single number, but the model has 3 outputs"),
        (1.0, [1.0, 2.0], "outputs"),
        (1.0, [1.0, np.inf, 2.0], "output y1 at row 0"),
        (1.0, {"y1": np.inf}, "output y1 at row 0"),
        (1.0, {"sea": 1.0}, "no output 'sea'; its outputs are 'y0', 'y1', 'y2'"),
        ([1.0, 2.0], {"y1": 1.0}, "output 'y1' has values of shape"),
        ([1.0, 2.0], [[1.0, 2.0, 3.0]], "rows"),
        ([[1.0, 2.0]], [1.0, 2.0, 3.0], "features"),
        (1.0, "warm", "text"),
        ("noon", [1.0, 1.0, 1.0], "text"),
        (1.0, None, "requires y"),
    ],
)
def test_what_is_refused_changes_nothing(x, y, sentence):
    X, Y = line(20)
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    live, places = gp.live(), np.linspace(0, 10, 5)
    before = gp.predict(), gp.posterior_at(places)
    for take in (live.observe, gp.update):
        with pytest.raises(InputError, match=sentence):
            take(x, y)
    assert (gp.predict() == before[0]).all() and (gp.posterior_at(places) == before[1]).all()
    assert (live.posterior_at(places) == before[1]).all() and live.n_rows == 20


def test_other_refusals():
    live = catena.MultiOutputGP(**GIVEN).fit(*line(20)).live()
    for output in ("sea", 3, -1, True, None):
        with pytest.raises(InputError, match="no output"):
            live.remove(1.0, output)
    assert live.remove(-77.0, "y1") == 0
    with pytest.raises(InputError, match="2 inputs; give 2"):
        catena.MultiOutputGP(**GIVEN).fit(*plane(n_outputs=3)).posterior_at(1.0)
    with pytest.raises(TypeError, match="to_gp"):
        pickle.dumps(live)
    with pytest.raises(ValueError, match="not fitted"):
        catena.MultiOutputGP().posterior_at(1.0)
    with pytest.raises(ValueError, match="not fitted"):
        catena.MultiOutputGP().live()


def test_values_too_large_are_refused_and_change_nothing():
    gp, expected = waiting()
    live = gp.live()
    with pytest.raises(InputError, match="too large"):
        gp.update(3.5, [1e300, 0.0, 0.0])
    assert (gp.predict() == expected.predict()).all()
    same(gp.posterior_at(3.3), expected.predict([[3.3]]))
    with pytest.raises(InputError, match="too large"):
        live.observe(3.5, [1e300, 0.0, 0.0])
    same(live.posterior_at(3.3), expected.predict([[3.3]]))
    live.observe(3.5, [0.0, 0.0, 0.0])
    expected.update(3.5, [0.0, 0.0, 0.0])
    same(live.posterior_at(3.3), expected.predict([[3.3]]))


@pytest.mark.parametrize(
    "options", [{"method": "exact"}, {"method": "fullscale:10,5"}, {"structure": "ensemble:2"}]
)
def test_methods_without_one_structure(options):
    X, Y = plane(n_outputs=3)
    gp = catena.MultiOutputGP(**GIVEN, **options).fit(X[:30], Y[:30])
    with pytest.raises(InputError, match='does not support streaming; fit with method="catena"'):
        gp.live()
    assert (gp.posterior_at(X[3]) == gp.predict(X[3:4])).all()
    gp.update(X[30:], Y[30:])
    mean, std = gp.posterior_at(X, return_std=True)
    expected = catena.MultiOutputGP(**GIVEN, **options).fit(X, Y).predict(X, return_std=True)
    assert (mean == expected[0]).all() and (std == expected[1]).all()
