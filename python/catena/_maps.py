"""Maps of a fit over two inputs, with matplotlib."""

import numpy as np

from . import _plots


def plot_map(gp, X, truth, level, axes, group, rows, values):
    """Maps the mean of each output and the half-width of its band; returns the axes of the means.

    ``group`` is the number of the group, if there are any, ``rows`` and ``values`` the rows of the table and their values.
    With ``axes``, one per output, the means alone are drawn.
    """
    pyplot = _plots._matplotlib()
    model, n_outputs = gp._model_or_raise(), values.shape[1]
    points = gp._read(X) if X is not None else rows
    numbers = None if group is None else [group] * len(points)
    mean, lower, upper = model.interval(points.values, level, True, numbers)
    across, up = _directions(rows.names)
    beside = None
    if axes is None:
        size = (10, max(3.2, 3.4 * n_outputs))
        _, grid = pyplot.subplots(
            n_outputs, 2, sharex=True, sharey=True, squeeze=False, figsize=size, layout="constrained"
        )
        axes, beside = grid[:, 0], grid[:, 1]
    axes = _plots.one_per_output(axes, n_outputs)
    for output, name in enumerate(gp.output_names_):
        seen = ~np.isnan(values[:, output])
        _scatter(axes[output], points, mean[:, output], (across, up), f"{name}, mean", "viridis")
        label = "observed"
        axes[output].plot(
            rows.column(across)[seen], rows.column(up)[seen], ".", color=_plots.INK, markersize=2, label=label
        )
        if truth is not None and not np.isnan(truth[:, output]).all():
            held = ~np.isnan(truth[:, output])
            at = rows.column(across)[held], rows.column(up)[held]
            axes[output].plot(*at, "x", color=_plots.ORANGE, markersize=5, label="held out")
        axes[output].set_ylabel(rows.names[up])
        if beside is not None:
            half = (upper[:, output] - lower[:, output]) / 2
            title = f"{name}, ± of the {100 * level:.0f} % band"
            _scatter(beside[output], points, half, (across, up), title, "magma_r")
    for ax in (axes[n_outputs - 1], *([] if beside is None else [beside[n_outputs - 1]])):
        ax.set_xlabel(rows.names[across])
    axes[0].legend(**_plots.ABOVE)
    return axes


def _scatter(ax, points, numbers, columns, title, colors):
    """Points in the colors of numbers, with the scale of colors beside them."""
    across, up = columns
    # Fewer points are larger, so that a map has no holes at any size.
    size = float(np.clip(9000 / max(1, len(points)), 6, 120))
    drawn = ax.scatter(points.column(across), points.column(up), c=numbers, s=size, cmap=colors, linewidths=0)
    ax.figure.colorbar(drawn, ax=ax, shrink=0.9)
    ax.set_title(title, fontsize="medium", loc="right")


def _directions(names):
    """Which inputs run across and up: east is to the right, also where latitude is the first column."""
    first, second = (str(name).lower() for name in names[:2])
    return (1, 0) if first.startswith("lat") and second.startswith("lon") else (0, 1)
