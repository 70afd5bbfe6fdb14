"""Forecasts of default fits: chosen and checked on known rows, the same as on the command line."""

import json
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest

import catena
from catena.errors import InputError


def visitors(n_rows):
    rows = np.arange(n_rows)
    noise = np.random.default_rng(4).normal(size=n_rows)
    values = np.exp(4 + 0.01 * rows + 0.3 * np.sin(2 * np.pi * rows / 12) + 0.03 * noise)
    return pd.DataFrame(
        {"visitors": values}, pd.date_range("2010-01-01", periods=n_rows, freq="MS", name="month")
    )


def test_a_default_fit_forecasts_trend_and_season():
    whole = visitors(132)
    gp = catena.MultiOutputGP(budget="quick", progress=False).fit(whole.iloc[:120])
    before = gp.predict()
    mean, std = gp.forecast(12, return_std=True)
    truth = whole["visitors"].iloc[120:]
    assert list(mean.index) == list(truth.index)
    last_year = whole["visitors"].iloc[108:120].to_numpy()
    error = np.sqrt(np.mean((mean["visitors"] - truth) ** 2))
    assert error < 0.6 * np.sqrt(np.mean((last_year - truth) ** 2))
    assert (std["visitors"] > 0).all()
    # What fills the table stays as it is.
    pd.testing.assert_frame_equal(gp.predict(), before)
    summary = gp.forecast_summary_
    names = [row["name"] for row in summary["held_out"]]
    assert {"last value", "last season", "drift", "mean"} <= set(names)
    assert summary["origins"]["n_origins"] == 48
    assert summary["outputs"][0]["transform"] == "log"
    assert any("a season of 1" in line for line in summary["decisions"])


def test_the_forecast_is_that_of_the_command_line(tmp_path, program):
    table = visitors(96)
    table.to_csv(tmp_path / "visitors.csv")
    words = [
        "forecast",
        "visitors.csv",
        "--horizon",
        "6",
        "--budget",
        "quick",
        "--quantiles",
        "0.1,0.9",
        "--json",
    ]
    told = subprocess.run(
        [program, *words, "-o", "next.csv"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    found = pd.read_csv(tmp_path / "next.csv")
    gp = catena.MultiOutputGP(budget="quick", progress=False).fit(table)
    own = gp.forecast(6, q=[0.1, 0.9])
    assert list(own.columns) == ["visitors_q0.1", "visitors_q0.9"]
    np.testing.assert_allclose(own.to_numpy(), found[list(own.columns)].to_numpy(), rtol=1e-4)
    scores = json.loads(told.stdout)["held_out"]
    assert scores == gp.forecast_summary_["held_out"]


def test_a_forecaster_is_kept_and_follows_new_rows():
    table = visitors(108)
    gp = catena.MultiOutputGP(budget="quick", progress=False).fit(table.iloc[:96])
    first = gp.forecast(6)
    known = gp._forecaster
    assert gp.forecast(6).equals(first)
    assert gp._forecaster is known
    gp.update(table.iloc[96:])
    later = gp.forecast(6)
    assert gp._forecaster is known
    assert later.index[0] == pd.Timestamp("2019-01-01")
    again = pickle.loads(pickle.dumps(gp))
    assert again.forecast(6).index.equals(later.index)
    assert gp.forecast(3).shape == (3, 1)
    assert gp._forecaster is not known


def test_a_chosen_kernel_forecasts_as_it_is():
    table = visitors(96)
    gp = catena.MultiOutputGP(kernel="matern32", budget="quick", progress=False).fit(table)
    ahead = gp.forecast(6)
    np.testing.assert_array_equal(ahead.to_numpy(), gp.predict(ahead.index).to_numpy())
    assert gp.forecast_summary_ == gp.summary_
    with pytest.raises(InputError, match="probabilities between 0 and 1"):
        gp.forecast(6, q=2)


def test_a_plot_shows_history_bands_and_origin():
    pytest.importorskip("matplotlib")
    table = visitors(72)
    gp = catena.MultiOutputGP(budget="quick", progress=False).fit(table)
    (ax,) = gp.plot_forecast(6, levels=[0.5, 0.9], history=24)
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["90 % band", "50 % band", "forecast", "observed", "origin"]
    assert len(ax.lines[1].get_xdata()) == 24
    with pytest.raises(InputError, match="levels"):
        gp.plot_forecast(6, levels=[95])
