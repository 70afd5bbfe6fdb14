# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Filling gaps in station data
#
# Three airports of one city measure the same weather. Sensors fail at different times, so the neighbors inform about the
# values that one station misses. We remove a week of one sensor, fill it, and compare with the removed values.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import catena

# %% [markdown]
# The file has hourly values of 2013: a time stamp and nine outputs. We take six weeks around the gap.

# %%
folder = next(parent for parent in [Path.cwd(), *Path.cwd().parents] if (parent / "crates").exists())
weather = pd.read_csv(
    folder / "crates/catena-cli/data/nyc_airport_weather_2013.csv", index_col=0, parse_dates=[0]
)
temperatures = weather.filter(like="temp").loc["2013-02-22":"2013-04-05"]
print(temperatures.describe().loc[["count", "mean", "std"]].round(1))

# %% [markdown]
# La Guardia's thermometer is removed for a week. The index is the input, the columns are the outputs, NaN is a missing value.

# %%
gap = slice("2013-03-15", "2013-03-21")
broken = temperatures.copy()
broken.loc[gap, "temp_LGA"] = np.nan

gp = catena.MultiOutputGP(budget="quick").fit(broken)
print(gp)

# %% [markdown]
# The filled table is a frame like the one given; only missing values have changed.

# %%
filled, std = gp.impute(return_std=True)
truth = temperatures.loc[gap, "temp_LGA"]
by_line = broken["temp_LGA"].interpolate().loc[gap]
error = catena.metrics.rmse(truth, filled.loc[gap, "temp_LGA"])
error_of_line = catena.metrics.rmse(truth, by_line)
inside = catena.metrics.coverage(truth, filled.loc[gap, "temp_LGA"], std.loc[gap, "temp_LGA"])
print(
    f"error {error:.2f} °F, a straight line {error_of_line:.2f} °F; {100 * inside:.0f} % inside the 95 % band"
)
assert (filled.notna()).all(axis=None)
assert error < 0.5 * error_of_line

# %% [markdown]
# The band is narrow where the neighbors are informative.

# %%
axes = gp.plot(held_out=temperatures.to_numpy())
axes[0].set_xlim(pd.Timestamp("2013-03-10"), pd.Timestamp("2013-03-26"))
axes[0].figure.suptitle("A week that La Guardia did not see")
plt.show()
