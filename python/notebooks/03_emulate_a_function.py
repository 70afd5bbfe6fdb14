# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Emulating a function of two inputs
#
# A slow simulation has two parameters and two results, and some runs crashed for one of them. An emulator learns from the runs
# that exist, predicts at once, and gives the uncertainty of each prediction.

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import catena


def simulation(load, angle):
    """Pressure and temperature of an imaginary engine."""
    pressure = np.sin(2 * load) * np.cos(angle) + 0.5 * load
    return np.column_stack([pressure, 20 + 4 * pressure + 3 * np.sin(angle + load)])


# %% [markdown]
# Two hundred runs in a file, one in ten without a temperature.

# %%
generator = np.random.default_rng(0)
knobs = generator.uniform([0, 0], [3, 3], (200, 2))
results = simulation(*knobs.T) + generator.normal(0, [0.01, 0.05], (200, 2))
results[generator.uniform(size=200) < 0.1, 1] = np.nan
path = Path(tempfile.mkdtemp()) / "runs.csv"
np.savetxt(path, np.column_stack([knobs, results]), delimiter=",", header="load,angle,pressure,temperature")

# %%
runs = np.loadtxt(path, delimiter=",")
gp = catena.MultiOutputGP(budget="quick").fit(runs[:, :2], runs[:, 2:])
print(gp)

# %% [markdown]
# Predictions at new parameters, compared with the true values. With 200 runs exact inference fits the budget and is used;
# `print(gp)` shows it. `method="catena"` passes messages along a tree, which is an approximation here and the fastest for many
# rows.

# %%
asked = generator.uniform([0.1, 0.1], [2.9, 2.9], (500, 2))
truth = simulation(*asked.T)
tree = catena.MultiOutputGP(budget="quick", method="catena").fit(runs[:, :2], runs[:, 2:])
for name, emulator in {"chosen": gp, "tree": tree}.items():
    mean, std = emulator.predict(asked, return_std=True, include_noise=False)
    share = catena.metrics.rmse(truth, mean, by_output=True) / truth.std(axis=0)
    inside = catena.metrics.coverage(truth, mean, std)
    print(
        f"{name}: error {share[0]:.3f} and {share[1]:.3f} of the spread; {100 * inside:.0f} % inside the 95 % band"
    )
    assert (share < 0.2).all()

# %% [markdown]
# The emulated surface, its standard deviation, and the tree of the messages.

# %%
grid = np.stack(np.meshgrid(np.linspace(0, 3, 60), np.linspace(0, 3, 60)), axis=-1)
mean, std = gp.predict(grid.reshape(-1, 2), return_std=True, include_noise=False)
figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, values, title in [(axes[0], mean[:, 0], "pressure"), (axes[1], std[:, 0], "how unsure it is")]:
    picture = ax.contourf(grid[..., 0], grid[..., 1], values.reshape(60, 60), levels=20)
    figure.colorbar(picture, ax=ax)
    ax.plot(*knobs.T, ".", color="white", markersize=2)
    ax.set_title(title)
tree.plot_structure(ax=axes[2])
plt.show()
