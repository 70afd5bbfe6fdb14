# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Forecasting related series
#
# One station reports late: the values of its neighbors for the next two days are already known. A joint model of all stations
# forecasts the late one much better than a model of its own past.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import catena

# %%
folder = next(parent for parent in [Path.cwd(), *Path.cwd().parents] if (parent / "crates").exists())
weather = pd.read_csv(
    folder / "crates/catena-cli/data/nyc_airport_weather_2013.csv", index_col=0, parse_dates=[0]
)
temperatures = weather.filter(like="temp").loc["2013-05-01":"2013-05-30"].tz_localize("America/New_York")

# %% [markdown]
# Kennedy's values end on 29 May at midnight; the others continue for two days. In the later rows Kennedy is missing.

# %%
cut = pd.Timestamp("2013-05-29", tz="America/New_York")
known = temperatures.copy()
known.loc[cut:, "temp_JFK"] = np.nan
together = catena.MultiOutputGP(budget="quick").fit(known)
mean, std = together.predict(return_std=True)

# %% [markdown]
# The same from Kennedy's own past, with `forecast`: it starts one step after the last row. A Matérn model would return to its
# mean; `kernel="time"` has a level, an oscillator and a daily season.

# %%
past = temperatures.loc[: cut - pd.Timedelta("1h"), ["temp_JFK"]]
alone = catena.MultiOutputGP(budget="quick", kernel="time", periods="24h").fit(past)
ahead = alone.forecast("48h")
print(ahead.head(3))
assert str(ahead.index.tz) == "America/New_York"

# %%
truth = temperatures.loc[cut:, "temp_JFK"]
error_together = catena.metrics.rmse(truth, mean.loc[cut:, "temp_JFK"])
error_alone = catena.metrics.rmse(truth, ahead.loc[truth.index, "temp_JFK"])
print(f"error with neighbors {error_together:.1f} °F, from its own past {error_alone:.1f} °F")
assert error_together < error_alone

# %% [markdown]
# Both forecasts with their 95 % bands. The forecast from its own past continues the season, and its band soon covers the whole
# range of the weather: it cannot foresee the heat wave that the neighbors already report.

# %%
figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
shown = temperatures.loc[cut - pd.Timedelta(days=4) :, "temp_JFK"]
ax.plot(shown.index, shown, ".", color="#222222", markersize=4, label="truth")
for gp, rows, color, name in [
    (alone, ahead.index, "#dd7722", "alone"),
    (together, truth.index, "#3366aa", "with neighbors"),
]:
    lower, upper = gp.interval(rows)
    center = gp.predict(rows)["temp_JFK"]
    ax.fill_between(rows, lower["temp_JFK"], upper["temp_JFK"], color=color, alpha=0.2, linewidth=0)
    ax.plot(rows, center, color=color, label=name)
ax.set_ylabel("temperature at Kennedy, °F")
ax.legend()
plt.show()
