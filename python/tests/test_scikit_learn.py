"""scikit-learn's estimator checks pass, and its tools work with the estimator."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from tables import GIVEN, MODEL, line

import catena


def test_check_estimator_in_full():
    with warnings.catch_warnings():
        # scikit-learn warns that the estimator does not inherit from its base class.
        warnings.simplefilter("ignore")
        results = check_estimator(catena.MultiOutputGP(), on_fail=None, on_skip=None)
    failed = [
        f"{result['check_name']}: {result['exception']!r}"
        for result in results
        if result["status"] == "failed"
    ]
    assert not failed
    assert not [result for result in results if result["status"] == "xfail" or result["expected_to_fail"]]
    assert sum(result["status"] == "passed" for result in results) > 40


def test_clone_keeps_parameters_and_forgets_the_fit():
    gp = catena.MultiOutputGP(**GIVEN).fit(*line())
    again = clone(gp)
    assert again.get_params()["kernel"] == "matern32" and again.get_params()["mixing"] is not None
    with pytest.raises(ValueError, match="not fitted"):
        again.predict([[0.0]])
    assert is_regressor(gp)


def test_pickle_predicts_to_the_bit():
    X, Y = line()
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    again = pickle.loads(pickle.dumps(gp))
    assert (again.predict(X) == gp.predict(X)).all()
    assert repr(again.get_params()) == repr(gp.get_params())
    assert pickle.loads(pickle.dumps(catena.MultiOutputGP(latents=2))).latents == 2


def test_pipeline_and_grid_search():
    X, Y = line(60, missing=0.0)
    search = GridSearchCV(catena.MultiOutputGP(**GIVEN), {"kernel": ["matern12", "matern52"]}, cv=3).fit(X, Y)
    assert set(search.best_params_) == {"kernel"}
    pipeline = make_pipeline(StandardScaler(), catena.MultiOutputGP(**GIVEN)).fit(X, Y)
    expected = (
        catena.MultiOutputGP(**GIVEN).fit((X - X.mean()) / X.std(), Y).predict((X[:5] - X.mean()) / X.std())
    )
    np.testing.assert_allclose(pipeline.predict(X[:5]), expected)
    assert len(cross_val_score(catena.MultiOutputGP(**GIVEN), X, Y, cv=3)) == 3
    targets = TransformedTargetRegressor(catena.MultiOutputGP(**GIVEN), transformer=StandardScaler()).fit(
        X, Y
    )
    assert targets.predict(X[:5]).shape == (5, 3)


def test_missing_values_may_stay_in_the_targets_and_scores_ignore_them():
    X, Y = line(40)
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    by_hand = []
    for output, mean in zip(Y.T, gp.predict(X).T, strict=True):
        known = ~np.isnan(output)
        spread = ((output[known] - output[known].mean()) ** 2).sum()
        by_hand.append(1 - ((output[known] - mean[known]) ** 2).sum() / spread)
    assert gp.score(X, Y) == pytest.approx(np.mean(by_hand), rel=1e-12)
    with pytest.raises(ValueError, match="no observed value"):
        catena.MultiOutputGP().fit(X, np.column_stack([Y[:, 0], np.full(len(Y), np.nan)]))


def test_parameters_are_set_by_name():
    gp = catena.MultiOutputGP().set_params(latents=3, budget="quick")
    assert (gp.latents, gp.budget) == (3, "quick")
    with pytest.raises(ValueError, match="Invalid parameter 'latent'"):
        gp.set_params(latent=3)
    assert repr(gp) == "MultiOutputGP(latents=3, budget='quick')"


def test_vector_in_vector_out():
    X, Y = line(n_outputs=1)
    given = {**GIVEN, "mixing": [1.0], "length_scales": 2.0, "noise": 0.05}
    gp = catena.MultiOutputGP(**given).fit(X, Y[:, 0])
    mean, std = gp.predict(X, return_std=True)
    assert mean.shape == std.shape == (25,)
    assert gp.predict(X, return_cov=True)[1].shape == (25,)
    assert gp.sample_y(X, 7).shape == (25, 7)
    assert gp.impute().shape == (25,) and gp.forecast(3).shape == (3,)
    column = catena.MultiOutputGP(**given).fit(X, Y)
    assert (column.predict(X)[:, 0] == mean).all()
    assert MODEL["kernel"] == gp.kernel_.split("/")[0]
