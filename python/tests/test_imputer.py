"""The imputer is a scikit-learn transformer, and fills what the model of the same parameters fills."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

import catena
from catena.errors import InputError

QUICK = {"kernel": "matern32", "budget": "quick"}


def waves(n_rows=60, seed=0):
    """Times and two related columns, with gaps."""
    times = np.arange(n_rows, dtype=float)
    noise = np.random.default_rng(seed).normal(size=(n_rows, 2))
    values = np.column_stack([np.sin(times / 5), 2 * np.sin(times / 5) + 1]) + 0.05 * noise
    values[10:14, 0] = values[30:38, 1] = np.nan
    return times, values


def frame(n_rows=60, seed=0):
    values = waves(n_rows, seed)[1]
    index = pd.date_range("2020-01-01", periods=n_rows, freq="h")
    return pd.DataFrame({"time": index, "a": values[:, 0], "b": values[:, 1]}, index=np.arange(n_rows) + 7)


def test_check_estimator_in_full():
    with warnings.catch_warnings():
        # scikit-learn warns that the transformer does not inherit from its base class.
        warnings.simplefilter("ignore")
        results = check_estimator(catena.Imputer(budget="quick"), on_fail=None, on_skip=None)
    failed = [
        f"{result['check_name']}: {result['exception']!r}"
        for result in results
        if result["status"] == "failed"
    ]
    assert not failed
    names = {result["check_name"] for result in results if result["status"] == "passed"}
    assert {"check_transformer_general", "check_transformers_unfitted", "check_n_features_in"} <= names


@pytest.mark.parametrize(
    "check",
    [
        "check_set_output_transform",
        "check_set_output_transform_pandas",
        "check_global_output_transform_pandas",
        "check_set_output_transform_polars",
        "check_global_set_output_transform_polars",
        "check_transformer_get_feature_names_out",
        "check_transformer_get_feature_names_out_pandas",
    ],
)
def test_set_output_and_names_pass_the_checks_of_scikit_learn(check):
    with warnings.catch_warnings():
        # The checks give arrays to a transformer fitted to frames, which warns of missing names.
        warnings.simplefilter("ignore", UserWarning)
        getattr(estimator_checks, check)("Imputer", catena.Imputer(budget="quick"))


def test_parameters_are_those_of_the_model():
    own = inspect.signature(catena.Imputer).parameters
    model = inspect.signature(catena.MultiOutputGP).parameters
    assert set(own) - set(model) == {"input", "groups", "max_gap", "max_std", "point"}
    # An imputer has one input.
    assert set(model) - set(own) == {"space", "time"}
    assert all(own[name].default == model[name].default for name in set(model) & set(own))


@pytest.mark.parametrize("where", [None, 0])
def test_the_rows_of_the_fit_are_filled_as_by_the_model(where):
    times, values = waves()
    table = values if where is None else np.column_stack([times, values])
    filled = catena.Imputer(input=where, **QUICK).fit_transform(table)
    expected = catena.MultiOutputGP(**QUICK).fit(times[:, None], values).impute()
    np.testing.assert_array_equal(filled[:, -2:], expected)
    np.testing.assert_array_equal(filled[:, :-2], table[:, :-2])


def test_unseen_rows_are_filled_from_their_own_values():
    """A dense reference: the model of the learned parameters on the new rows alone."""
    imputer = catena.Imputer(input=0, combine="none", **QUICK).fit(
        np.column_stack([*waves()[:1], waves()[1]])
    )
    times, values = waves(50, seed=1)
    times = times + 1000.0
    filled = imputer.transform(np.column_stack([times, values]))
    gp = imputer.gp_
    mixing, scales, noise = gp.mixing_, np.atleast_1d(gp.length_scales_), gp.noise_
    near = np.abs(times[:, None] - times[None, :])
    observed = ~np.isnan(values)
    # Means of the training table, which the model adds.
    center = gp.predict([[1e9]])[0]
    rows, outputs = np.nonzero(np.ones_like(values))
    covariance = np.zeros((values.size, values.size))
    for latent, scale in enumerate(scales):
        x = np.sqrt(3) * near / scale
        kernel = (1 + x) * np.exp(-x)
        covariance += np.outer(mixing[outputs, latent], mixing[outputs, latent]) * kernel[np.ix_(rows, rows)]
    known = observed.ravel()
    gain = covariance[:, known] @ np.linalg.inv(
        covariance[np.ix_(known, known)] + np.diag(noise[outputs[known]])
    )
    mean = (center[outputs] + gain @ (values.ravel() - center[outputs])[known]).reshape(values.shape)
    np.testing.assert_allclose(filled[:, 1:][~observed], mean[~observed], rtol=1e-6)
    np.testing.assert_array_equal(filled[:, 1:][observed], values[observed])


def test_frames_stay_frames_and_set_output_chooses_another():
    table = frame()
    filled = catena.Imputer(input="time", **QUICK).fit_transform(table)
    assert list(filled.columns) == ["time", "a", "b"] and filled.index.equals(table.index)
    assert filled["time"].equals(table["time"]) and not filled.isna().any().any()
    array = table[["a", "b"]].to_numpy()
    named = catena.Imputer(**QUICK).set_output(transform="pandas").fit_transform(array)
    assert list(named.columns) == ["x0", "x1"]
    polars = pytest.importorskip("polars")
    framed = catena.Imputer(input="time", **QUICK).set_output(transform="polars").fit_transform(table)
    assert isinstance(framed, polars.DataFrame) and framed.columns == ["time", "a", "b"]
    own = catena.Imputer(input="time", **QUICK).fit_transform(polars.from_pandas(table))
    np.testing.assert_allclose(own["a"].to_numpy(), filled["a"].to_numpy(), rtol=1e-9)


def test_in_a_pipeline_and_a_column_transformer():
    times, values = waves()
    target = np.sin(times / 5)
    pipeline = make_pipeline(catena.Imputer(**QUICK), LinearRegression()).fit(values, target)
    assert pipeline.score(values, target) > 0.9
    table = frame()
    columns = ColumnTransformer([("fill", catena.Imputer(input="time", **QUICK), ["time", "a", "b"])])
    columns.set_output(transform="pandas")
    filled = columns.fit_transform(table)
    assert list(filled.columns) == ["fill__time", "fill__a", "fill__b"]
    assert not filled.isna().any().any()
    again = clone(columns).fit(table)
    assert list(again.get_feature_names_out()) == list(filled.columns)


def test_long_gaps_and_uncertain_values_stay_missing():
    table = frame()
    filled = catena.Imputer(input="time", max_gap="6h", **QUICK).fit_transform(table)
    assert filled["b"].isna().sum() == 8 and filled["a"].isna().sum() == 0
    assert np.isnan(catena.Imputer(max_gap=6, **QUICK).fit_transform(waves()[1])).sum() == 8
    assert np.isnan(catena.Imputer(max_std=[1e-9, 9.0], **QUICK).fit_transform(waves()[1])).sum() == 4
    named = catena.Imputer(input="time", max_std={"a": 1e-9}, **QUICK).fit_transform(table)
    assert named["a"].isna().sum() == 4 and named["b"].isna().sum() == 0


def test_pickles_fill_the_same():
    imputer = catena.Imputer(input="time", **QUICK).fit(frame())
    again = pickle.loads(pickle.dumps(imputer))
    pd.testing.assert_frame_equal(again.transform(frame(seed=3)), imputer.transform(frame(seed=3)))


def test_bad_tables_say_what_is_wrong():
    times, values = waves()
    for given, options, message in [
        (values, {"input": 5}, "input=5 is not a column of X, which has 2"),
        (values, {"input": "time"}, "input='time' is not a column of X"),
        (frame(), {"input": "date"}, "no column 'date' for the input"),
        (frame()[["time"]], {"input": "time"}, "no numeric column|no column to fill"),
        (frame(), {}, "'time' holds times"),
        (np.column_stack([values, np.full(len(times), np.nan)]), {}, "Output x2 has no observed value"),
    ]:
        with pytest.raises(InputError, match=message):
            catena.Imputer(**QUICK, **options).fit(given)


def grouped(n_rows=40):
    """Three patients at levels of their own; the rows of a fourth are new."""
    tables = [
        frame(n_rows, seed).assign(patient=name, ward=ward) for seed, (name, ward) in enumerate(PATIENTS)
    ]
    for level, table in enumerate(tables):
        table[["a", "b"]] += 10 * level
    return pd.concat(tables[:3], ignore_index=True), tables[3].reset_index(drop=True)


PATIENTS = [("p", 1), ("q", 1), ("p", 2), ("r", 3)]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_groups_are_filled_as_by_the_model(library):
    table, other = grouped()
    convert = (lambda frame: frame) if library == "pandas" else pytest.importorskip("polars").from_pandas
    gp = catena.MultiOutputGP(**QUICK).fit(table, groups=["patient", "ward"])
    expected = gp.impute()
    imputer = catena.Imputer(input="time", groups=["patient", "ward"], **QUICK)
    filled = imputer.fit_transform(convert(table))
    assert list(filled.columns) == list(table.columns)
    np.testing.assert_array_equal(filled["a"], expected["a"])
    # The rows of another group are filled from its own values by the same parameters.
    new = imputer.transform(convert(other))
    alone = gp._model.on_rows(
        np.arange(40.0)[:, np.newaxis] * 3600,
        np.ascontiguousarray(other[["a", "b"]].to_numpy()),
        (["patient", "ward"], [["r", "3"]], [0] * 40),
    )
    mean = alone.predict(None, True, "mean")[0]
    missing = other["a"].isna().to_numpy()
    np.testing.assert_allclose(np.asarray(new["a"])[missing], mean[missing, 0], rtol=1e-12)
    assert list(new["patient"]) == ["r"] * 40


def test_groups_by_position_and_without_an_input():
    table, _ = grouped()
    values = np.column_stack([np.repeat([1.0, 2.0, 3.0], 40), table[["a", "b"]]])
    given = {"learn": False, "standardize": False, "kernel": "matern32", "noise": 0.05}
    given |= {"mixing": [[1.0], [2.0]], "length_scales": 5.0}
    filled = catena.Imputer(groups=0, **given).fit_transform(values)
    assert not np.isnan(filled).any()
    np.testing.assert_array_equal(filled[:, 0], values[:, 0])
    # Rows are counted within their group.
    order = np.arange(120).reshape(3, 40).T.ravel()
    mixed = catena.Imputer(groups=0, **given).fit_transform(values[order])
    np.testing.assert_allclose(mixed, filled[order], rtol=1e-9)
    with pytest.raises(InputError, match="both input and groups"):
        catena.Imputer(input=0, groups=0, **QUICK).fit(values)
    with pytest.raises(InputError, match="no column 'ward2' for groups"):
        catena.Imputer(input="time", groups="ward2", **QUICK).fit(table)
