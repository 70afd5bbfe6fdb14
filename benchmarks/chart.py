"""Error against time, one point per imputer, from the results of imputation.py.

    python benchmarks/imputation.py --cache rivals.json --json results.json
    python benchmarks/chart.py results.json docs/figures/imputers.png

Error: root mean squared error over hidden cells divided by that of linear interpolation, as a geometric mean over the tables
and patterns on which every shown imputer has a result. Time: processor seconds of one table, as a geometric mean. Imputers
without a result on more than a third of the cases are left out, and so are those with more than three times the error of
interpolation; both are named on the standard error.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

REFERENCE = "interpolation"
MOST_ERROR = 3
#: Variants of one method, of which the chart shows the first.
HIDDEN = {"ImputeGAP interpolation", "ImputeGAP KNN", "low rank 2", "low rank 5"}
#: Labels that would touch others are moved by so many points.
MOVED = {"low rank 3": 6, "chained ridge": -7, "MICE": 3}
NAMES = {"chained ridge": "chained ridge", "low rank 3": "low rank", "mean": "column means"}
ACCENT, INK, MUTED, LINE = "#1c5d8c", "#22262b", "#666d76", "#e4e2dd"


def points(results):
    """Method to (seconds, relative error, number of cases)."""
    cases = [found for found in results.values() if REFERENCE in found]
    methods = {name for found in cases for name, scores in found.items() if has_result(scores)} - HIDDEN
    complete = {
        name for name in methods if sum(has_result(found.get(name)) for found in cases) > 2 / 3 * len(cases)
    }
    for name in sorted(methods - complete):
        print(f"{name}: left out, without a result on more than a third of the cases", file=sys.stderr)
    cases = [found for found in cases if all(has_result(found.get(name)) for name in complete)]

    def average(ratios):
        return float(np.exp(np.mean(np.log(ratios))))

    found = {
        name: (
            average([max(found[name]["seconds"], 1e-3) for found in cases]),
            average([found[name]["rmse"] / found[REFERENCE]["rmse"] for found in cases]),
        )
        for name in complete
    }
    for name in [name for name, (_, error) in found.items() if error > MOST_ERROR]:
        print(f"{name}: left out, {found.pop(name)[1]:.3g} times the error of interpolation", file=sys.stderr)
    return found, len(cases)


def has_result(scores):
    return isinstance(scores, dict) and np.isfinite(scores.get("rmse", np.nan))


def draw(found, n_cases, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {"font.family": "sans-serif", "font.size": 11, "text.color": INK, "axes.edgecolor": LINE}
    )
    figure, axes = plt.subplots(figsize=(8.4, 4.6), dpi=170)
    axes.set_xscale("log")
    axes.axhline(1, color=LINE, linewidth=1, zorder=0)
    for name, (seconds, error) in sorted(found.items(), key=lambda item: item[1][1]):
        is_ours = name == "catena"
        axes.scatter(seconds, error, s=95 if is_ours else 42, color=ACCENT if is_ours else MUTED, zorder=3)
        axes.annotate(
            NAMES.get(name, name),
            (seconds, error),
            xytext=(8, MOVED.get(name, 0)),
            textcoords="offset points",
            va="center",
            color=ACCENT if is_ours else INK,
            fontweight="bold" if is_ours else "normal",
            fontsize=12 if is_ours else 10,
        )
    low, high = axes.get_xlim()
    axes.set_xlim(low / 1.3, high * 5)
    axes.xaxis.set_major_formatter(lambda seconds, _: f"{seconds:g}")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("processor seconds for one table", color=MUTED)
    axes.set_title(
        "Error of filled cells, as a multiple of linear interpolation\n",
        loc="left",
        fontsize=13,
        fontweight="bold",
    )
    axes.text(
        0,
        1.03,
        f"geometric mean over {n_cases} cases: real tables of up to 2000 rows, six patterns of missing cells",
        transform=axes.transAxes,
        color=MUTED,
        fontsize=10,
    )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=MUTED, which="both", length=0)
    axes.grid(axis="y", color=LINE, linewidth=0.7, zorder=0)
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "results", type=Path, nargs="+", help="JSON files of imputation.py; cases of several files are joined"
    )
    parser.add_argument("picture", type=Path, help="PNG or SVG file to write")
    arguments = parser.parse_args()
    results = {}
    for path in arguments.results:
        for case, found in json.loads(path.read_text())["results"].items():
            results.setdefault(case, {}).update(found)
    found, n_cases = points(results)
    for name, (seconds, error) in sorted(found.items(), key=lambda item: item[1][1]):
        print(f"{name:<24} error {error:.3f} × interpolation, {seconds:8.3f} s")
    draw(found, n_cases, arguments.picture)


if __name__ == "__main__":
    main()
