"""The adapters for sktime. They are tested where sktime is installed, which has an environment of its own."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import catena

pytest.importorskip("sktime")
pytestmark = pytest.mark.filterwarnings("ignore")

import doctest  # noqa: E402

import pandas as pd  # noqa: E402
from sktime.utils.estimator_checks import check_estimator  # noqa: E402

import catena.sktime  # noqa: E402

GIVEN = {"budget": "quick", "combine": "none", "kernel": "matern32"}


def monthly(n_rows=48):
    """A year of months, repeated, with a gap."""
    index = pd.period_range("2001-01", periods=n_rows, freq="M")
    values = np.sin(np.arange(n_rows) / 12 * 2 * np.pi) + 0.01 * np.arange(n_rows)
    values[20:23] = np.nan
    return pd.Series(values, index=index, name="sales")


@pytest.mark.parametrize("adapter", [catena.sktime.Forecaster, catena.sktime.Imputer])
def test_sktime_finds_no_fault(adapter):
    results = check_estimator(adapter, verbose=False)
    failed = {name: result for name, result in results.items() if result != "PASSED"}
    assert not failed and len(results) > 100


def test_forecasts_are_those_of_the_model():
    y = monthly()
    forecaster = catena.sktime.Forecaster(**GIVEN).fit(y, fh=[1, 2, 12])
    gp = catena.MultiOutputGP(**GIVEN).fit(y.index, y)
    ahead = pd.PeriodIndex(["2005-01", "2005-02", "2005-12"], freq="M")
    mean, std = gp.predict(ahead, return_std=True)
    found = forecaster.predict()
    pd.testing.assert_index_equal(found.index, ahead)
    np.testing.assert_array_equal(found, mean)
    np.testing.assert_allclose(forecaster.predict_var().to_numpy()[:, 0], std**2, rtol=1e-15)
    quantiles = forecaster.predict_quantiles(alpha=[0.05, 0.95])
    np.testing.assert_array_equal(quantiles, gp.quantiles(ahead, q=[0.05, 0.95]))


def test_an_update_adds_rows_and_nothing_twice():
    y = monthly()
    forecaster = catena.sktime.Forecaster(**GIVEN).fit(y[:40], fh=[1])
    once = forecaster.update(y[38:], update_params=False).predict()
    assert len(forecaster.gp_.predict()) == 48
    np.testing.assert_array_equal(forecaster.update(y[38:], update_params=False).predict(), once)


def test_the_imputer_is_that_of_the_package():
    y = monthly()
    filled = catena.sktime.Imputer(**GIVEN).fit_transform(y)
    pd.testing.assert_index_equal(filled.index, y.index)
    expected = catena.MultiOutputGP(**GIVEN).fit(y.index, y).impute()
    np.testing.assert_allclose(filled, expected, rtol=1e-12)
    assert filled[y.notna()].equals(y[y.notna()])


def test_examples():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = doctest.testmod(catena.sktime)
    assert found.attempted > 4 and found.failed == 0


def test_importing_catena_does_not_import_sktime():
    code = "import sys, catena; catena.MultiOutputGP; print('sktime' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
