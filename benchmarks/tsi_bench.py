"""Imputation of ETT_h1 by the protocol of TSI-Bench (arXiv 2406.12747), window by window: catena beside published numbers.

The first 14 months of ETTh1 are for training, the next 5 for validation and the last 5 for the test; values are standardized by
the training rows. Each part is cut into windows of 48 hours and 7 series. Cells are hidden as PyPOTS' pygrinder hides them:
single points (10, 50, 90 %), blocks of 6 hours by 6 series, or subsequences of 36 hours. The score is the mean absolute error
over the hidden cells of the test windows.

catena learns once on the training windows with their holes, then fills each test window from its own observed cells alone:
`update` keeps the parameters, and the windows lie 1000 weeks apart on the time axis, where the prior correlation of stationary
latents is zero and hours and weekdays keep their places. Validation windows are not used.

    python benchmarks/tsi_bench.py ETTh1.csv [--cases point01 block05] [--seeds 2024 1 2] [--json results.json]

`ETT-small/ETTh1.csv` of the repository ETDataset on GitHub is the file; its license is CC BY-ND 4.0.
"""

import argparse
import json
import math
import resource
from pathlib import Path

import numpy as np
import pandas

LENGTH = 48
#: Hours between test windows: 1000 weeks.
APART = 168_000
#: How cells are hidden: pattern, rate or factor, sizes.
CASES = {
    "point01": ("point", 0.1, {}),
    "point05": ("point", 0.5, {}),
    "point09": ("point", 0.9, {}),
    "block05": ("block", 0.36, {"length": 6, "width": 6}),
    "subseq05": ("subsequence", 0.5, {"length": 36}),
}
#: Mean absolute errors of TSI-Bench's paper.
PUBLISHED = {
    "point01": {"linear": 0.197, "SAITS": 0.144, "BRITS": 0.145, "CSDI": 0.151},
    "point05": {"linear": 0.267, "SAITS": 0.223},
    "point09": {"linear": 0.616, "SAITS": 0.507},
    "block05": {"linear": 0.527, "CSDI": 0.401, "SAITS": 0.424},
    "subseq05": {"linear": 0.722, "CSDI": 0.558},
}


def parts(path):
    """Windows of the training, validation and test months, standardized: arrays of shape (windows, 48, 7)."""
    frame = pandas.read_csv(path, parse_dates=["date"], index_col="date")
    months = frame.index.to_period("M")
    names = months.unique()
    rows = [frame[months.isin(chosen)].to_numpy(float) for chosen in (names[:14], names[14:19], names[19:])]
    mean, std = rows[0].mean(axis=0), rows[0].std(axis=0)
    whole = [(values - mean) / std for values in rows]
    return [values[: len(values) // LENGTH * LENGTH].reshape(-1, LENGTH, values.shape[1]) for values in whole]


def starts(shape, n_starts, n_first, n_steps):
    """Random beginnings of blocks: `n_starts` of the pairs of window and series, with replacement if they are more."""
    n_windows, length, n_series = shape
    pairs = np.array([(w * n_series + s) * length for w in range(n_windows) for s in range(n_first)])
    chosen = np.random.choice(pairs, math.ceil(len(pairs) * n_starts), replace=n_starts > 1)
    return chosen + np.random.choice(n_steps, len(chosen))


def hide(windows, case):
    """The windows with hidden cells as NaN; draws from numpy's global generator in pygrinder's order."""
    pattern, rate, size = CASES[case]
    n_windows, n_rows, n_series = windows.shape
    if pattern == "point":
        hidden = (np.random.rand(windows.size) < rate).reshape(windows.shape)
        return np.where(hidden, np.nan, windows)
    length, width = size["length"], size.get("width", 1)
    per_start = rate * n_rows * (n_series if width > 1 else 1) / (length * width)
    begins = starts(windows.shape, per_start, n_series - width + 1, n_rows - length + 1)
    flat = windows.transpose(0, 2, 1).reshape(-1).copy()
    for begin in begins:
        for series in range(width):
            place = begin + series * n_rows
            flat[place : place + length] = np.nan
    return flat.reshape(n_windows, n_series, n_rows).transpose(0, 2, 1)


def drawn(path, case, seed):
    """Training windows with holes, and test windows with and without."""
    np.random.seed(seed)
    train, validation, test = parts(path)
    holed = [hide(windows, case) for windows in (train, validation, test)]
    return holed[0], holed[2], test


def by_interpolation(windows):
    """Linear interpolation within each window; a series without a value is zero, the training mean."""
    filled = [pandas.DataFrame(w).interpolate(limit_direction="both").fillna(0).to_numpy() for w in windows]
    return np.stack(filled)


def processor_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def by_catena(train, test):
    """Means and 95 % bands of the test windows."""
    import catena

    n_series = train.shape[2]
    n_train = len(train) * LENGTH
    gp = catena.MultiOutputGP(progress=False)
    gp.fit(np.arange(float(n_train))[:, np.newaxis], train.reshape(-1, n_series))
    order = np.arange(len(test))[:, np.newaxis]
    hours = (n_train + order * LENGTH + APART * (1 + order) + np.arange(float(LENGTH))).reshape(-1, 1)
    gp.update(hours, test.reshape(-1, n_series))
    lower, upper = gp.interval(hours, level=0.95)
    return [values.reshape(test.shape) for values in (gp.predict(hours), lower, upper)]


def measured(path, case, seed):
    """Mean absolute errors and processor seconds for one drawing of the masks."""
    train, test, truth = drawn(path, case, seed)
    hidden = np.isnan(test)
    begin = processor_seconds()
    mean, lower, upper = by_catena(train, test)
    seconds = processor_seconds() - begin
    inside = (lower[hidden] <= truth[hidden]) & (truth[hidden] <= upper[hidden])
    return {
        "catena": float(np.abs(mean - truth)[hidden].mean()),
        "linear": float(np.abs(by_interpolation(test) - truth)[hidden].mean()),
        "coverage": float(inside.mean()),
        "hidden": float(hidden.mean()),
        "seconds": seconds,
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", help="ETTh1.csv")
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES), metavar="CASE")
    parser.add_argument("--seeds", nargs="+", type=int, default=[2024])
    parser.add_argument("--json", type=Path, help="write all results to this file")
    arguments = parser.parse_args()
    print(f"{'case':<9} {'catena':>7} {'linear':>7} {'cover':>6} {'CPU s':>7}  published")
    results = {}
    for case in arguments.cases:
        runs = {seed: measured(arguments.path, case, seed) for seed in arguments.seeds}
        average = {name: np.mean([run[name] for run in runs.values()]) for name in runs[arguments.seeds[0]]}
        published = ", ".join(f"{name} {error:.3f}" for name, error in PUBLISHED[case].items())
        print(
            f"{case:<9} {average['catena']:>7.3f} {average['linear']:>7.3f} {average['coverage']:>6.3f}"
            f" {average['seconds']:>7.1f}  {published}",
            flush=True,
        )
        results[case] = {"runs": runs, "published": PUBLISHED[case]}
        if arguments.json is not None:
            arguments.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
