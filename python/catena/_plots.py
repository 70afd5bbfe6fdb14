"""Plots of a fit, with matplotlib."""

import numpy as np

from . import _frames
from .errors import InputError

#: Minimum number of points of a smooth line.
SMOOTH = 400
#: Colors of predictions, observations and held-out values; they also differ in lightness.
BLUE, INK, ORANGE = "#3366aa", "#222222", "#dd7722"
#: The legend is above the first chart, where it covers nothing.
ABOVE = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 4, "frameon": False, "fontsize": "small"}


def _matplotlib():
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib; install it with `pip install matplotlib`.") from error
    return pyplot


def one_per_output(axes, n_outputs):
    """Given axes as a flat array, at least one per output."""
    axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if len(axes) < n_outputs:
        raise InputError(
            f"{len(axes)} axes were given, but there are {n_outputs} outputs; give one per output."
        )
    return axes


def _stacked(n_outputs):
    """New axes, one below the other."""
    size = (9, max(2.6, 1.9 * n_outputs))
    _, axes = _matplotlib().subplots(
        n_outputs, 1, sharex=True, squeeze=False, figsize=size, layout="constrained"
    )
    return axes.ravel()


def plot(gp, X, held_out, level, axes, group=None):
    """Plots each output with its intervals, observed values and held-out values; `group` is the number of the group."""
    model, rows = gp._model_or_raise(), gp._points
    values = model.values()
    truth = None if held_out is None else _held_out(held_out, values)
    if group is not None:
        own = np.asarray(model.groups()[2]) == group
        rows = _frames.Points(rows.values[own], rows.names, rows.clocks, integer=rows.integer)
        values, truth = values[own], None if truth is None else truth[own]
    n_outputs = values.shape[1]
    if rows.values.shape[1] == 2:
        from ._maps import plot_map

        return plot_map(gp, X, truth, level, axes, group, rows, values)
    axes = _stacked(n_outputs) if axes is None else one_per_output(axes, n_outputs)
    points = gp._read(X) if X is not None else _line(rows)
    order = np.argsort(points.values[:, 0], kind="stable")
    numbers = None if group is None else [group] * len(points)
    mean, lower, upper = model.interval(points.values, level, True, numbers)
    along, at = points.column(0)[order], rows.column(0)
    is_line = points.values.shape[1] == 1
    for output, (ax, name) in enumerate(zip(axes, gp.output_names_, strict=False)):
        if is_line:
            ax.fill_between(
                along,
                lower[order, output],
                upper[order, output],
                color=BLUE,
                alpha=0.25,
                linewidth=0,
                label=f"{100 * level:.0f} % band",
            )
            ax.plot(along, mean[order, output], color=BLUE, linewidth=1.2, label="mean")
        else:
            reach = [mean[:, output] - lower[:, output], upper[:, output] - mean[:, output]]
            ax.errorbar(
                points.column(0),
                mean[:, output],
                yerr=reach,
                fmt=".",
                color=BLUE,
                alpha=0.5,
                markersize=4,
                elinewidth=0.8,
                label=f"mean, {100 * level:.0f} % band",
            )
        ax.plot(at, values[:, output], ".", color=INK, markersize=3, label="observed")
        if truth is not None:
            ax.plot(at, truth[:, output], "x", color=ORANGE, markersize=4, label="held out")
        ax.set_ylabel(name)
        ax.margins(x=0.01)
    axes[n_outputs - 1].set_xlabel(rows.names[0])
    axes[0].legend(**ABOVE)
    return axes


def plot_forecast(gp, horizon, step, levels, history, axes):
    """Plots the latest rows of each output, and the forecast of the rows after them with its bands."""
    model, rows = gp._model_or_raise(), gp._points
    if model.groups() is not None:
        raise InputError("plot_forecast does not know groups yet; fit one group as a table of its own.")
    points = gp._ahead(horizon, step)
    ahead = gp._model_ahead(points)
    order = np.argsort(rows.values[:, 0], kind="stable")
    shown = order[-(3 * len(points) if history is None else history) :]
    n_outputs = gp.n_outputs_
    axes = _stacked(n_outputs) if axes is None else one_per_output(axes, n_outputs)
    along, at, values = points.column(0), rows.column(0)[shown], model.values()[shown]
    levels = sorted(levels, reverse=True)
    ends = {level: ahead.interval(points.values, level, True, None) for level in levels}
    for output, (ax, name) in enumerate(zip(axes, gp.output_names_, strict=False)):
        for level, (_, lower, upper) in ends.items():
            label = f"{100 * level:.0f} % band"
            ax.fill_between(
                along, lower[:, output], upper[:, output], color=BLUE, alpha=0.18, linewidth=0, label=label
            )
        mean = next(iter(ends.values()))[0]
        ax.plot(along, mean[:, output], color=BLUE, linewidth=1.2, label="forecast")
        ax.plot(at, values[:, output], ".-", color=INK, markersize=3, linewidth=0.6, label="observed")
        ax.axvline(at[-1], color=INK, linewidth=0.8, linestyle=":", label="origin")
        ax.set_ylabel(name)
        ax.margins(x=0.01)
    axes[n_outputs - 1].set_xlabel(rows.names[0])
    axes[0].legend(loc="upper left", fontsize="small", ncols=3, framealpha=0.9)
    return axes


def plot_structure(gp, ax):
    """Plots the edges of the structure over the first two inputs, with rows as dots."""
    pyplot = _matplotlib()
    structure = gp.structure_
    if structure is None:
        raise InputError(
            "this method has no single structure to plot; use method='catena' without an ensemble."
        )
    ax = ax if ax is not None else pyplot.subplots(figsize=(6, 5), layout="constrained")[1]
    places = gp._model_or_raise().inputs()
    # Candidates follow the rows; only edges between rows are drawn.
    inside = np.arange(len(places))
    parents = structure.parents[: len(places)]
    is_edge = (parents >= 0) & (parents < len(places))
    across = places[:, 1] if places.shape[1] > 1 else np.zeros(len(places))
    ends = np.array([inside[is_edge], parents[is_edge]])
    ax.plot(places[ends, 0], across[ends], color=BLUE, linewidth=0.8, zorder=1)
    ax.plot(places[:, 0], across, ".", color=INK, markersize=4, zorder=2)
    ax.set_xlabel(gp._points.names[0])
    if places.shape[1] > 1:
        ax.set_ylabel(gp._points.names[1])
    else:
        ax.set_yticks([])
    ax.set_title(f"{structure.kind}, {len(structure)} points")
    return ax


def plot_mixing(gp, ax):
    """Plots the weights of shared and private latents as a colored table."""
    pyplot = _matplotlib()
    model = gp._model_or_raise()
    weights = model.parameters()["mixing"] / model.output_scales()[:, np.newaxis]
    n_outputs, n_latents = weights.shape
    is_private = model.parameters()["has_private"]
    n_shared = n_latents - n_outputs * is_private
    if is_private:
        weights = np.column_stack([weights[:, :n_shared], np.diag(weights[:, n_shared:])])
    names = [f"shared {number + 1}" for number in range(n_shared)] + ["private"] * bool(is_private)
    if ax is None:
        size = (1.6 + 0.9 * weights.shape[1], 1.2 + 0.45 * n_outputs)
        ax = pyplot.subplots(figsize=size, layout="constrained")[1]
    most = np.abs(weights).max() or 1.0
    ax.imshow(weights, cmap="RdBu_r", vmin=-most, vmax=most, aspect="auto")
    for (row, column), weight in np.ndenumerate(weights):
        dark = abs(weight) > 0.6 * most
        ax.text(column, row, f"{weight:.2f}", ha="center", va="center", color="white" if dark else INK)
    ax.set_xticks(range(weights.shape[1]), names)
    ax.set_yticks(range(n_outputs), gp.output_names_)
    ax.set_title("weights in standard deviations", fontsize="medium")
    return ax


def _line(rows):
    """The rows, with points between them for a smooth line if there is one input."""
    if rows.values.shape[1] > 1:
        return rows
    first, last = rows.values[:, 0].min(), rows.values[:, 0].max()
    places = (
        np.union1d(rows.values[:, 0], np.linspace(first, last, SMOOTH))
        if len(rows) < SMOOTH
        else rows.values[:, 0]
    )
    return _frames.Points(np.ascontiguousarray(places[:, np.newaxis]), rows.names, rows.clocks)


def _held_out(given, values):
    truth = np.asarray(given, dtype=np.float64)
    truth = truth[:, np.newaxis] if truth.ndim == 1 else truth
    if truth.shape != values.shape:
        raise InputError(
            f"held_out has shape {truth.shape}, but the fitted values have shape {values.shape}."
        )
    return np.where(np.isnan(values), truth, np.nan)
