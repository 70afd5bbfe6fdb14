"""Forecasts with columns that are known ahead."""

import numpy as np
import pandas as pd
import pytest

import catena

N_ROWS, N_AHEAD = 100, 10


def _tables():
    days = pd.date_range("2024-01-01", periods=N_ROWS + N_AHEAD, freq="D", name="day")
    random = np.random.default_rng(5)
    known = pd.DataFrame({"temperature": 15 + 8 * random.normal(size=len(days))}, days)
    slow = 3 * np.sin(np.arange(len(days)) * 0.12)
    load = pd.DataFrame({"load": 50 + slow + 2 * known["temperature"] + random.normal(size=len(days))}, days)
    return load, known


def test_a_known_column_moves_the_forecast():
    load, known = _tables()
    known.iloc[20] = np.nan
    gp = catena.MultiOutputGP(budget="quick").fit(load.iloc[:N_ROWS])
    mean, std = gp.forecast(N_AHEAD, known=known, return_std=True)
    truth = load.iloc[N_ROWS:]
    assert list(mean.index) == list(truth.index) and (std.to_numpy() > 0).all()
    # The effect has a standard deviation of 16.
    assert np.sqrt(np.mean((mean - truth).to_numpy() ** 2)) < 4
    names = [score["name"] for score in gp.known_scores_]
    assert names[:2] == ["without", "linear effects"]
    assert [score["chosen"] for score in gp.known_scores_].count(True) == 1
    assert gp.known_effects_[0]["output"] == "load"
    ends = gp.forecast(N_AHEAD, known=known, q=[0.1, 0.9])
    assert list(ends.columns) == ["load_q0.1", "load_q0.9"]
    assert (ends["load_q0.1"] < mean["load"]).all() and (mean["load"] < ends["load_q0.9"]).all()


def test_what_is_not_known_ahead_is_refused():
    load, known = _tables()
    gp = catena.MultiOutputGP(budget="quick").fit(load.iloc[:N_ROWS])
    with pytest.raises(catena.errors.InputError, match=r"no row at 2024-04-1.*which is to be forecast"):
        gp.forecast(N_AHEAD, known=known.iloc[:-5])
    gap = known.copy()
    gap.iloc[-2] = np.nan
    with pytest.raises(
        catena.errors.InputError, match="column temperature of known has no value at 2024-04-18"
    ):
        gp.forecast(N_AHEAD, known=gap)
    with pytest.raises(catena.errors.InputError, match="column load, which is an output"):
        gp.forecast(N_AHEAD, known=load)
    with pytest.raises(catena.errors.InputError, match="known= is a frame"):
        gp.forecast(N_AHEAD, known=known["temperature"].to_numpy())
