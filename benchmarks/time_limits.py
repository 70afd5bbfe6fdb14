"""Fits with a time limit: the time that they take, and what the limit costs in accuracy on held-out cells.

The tables are drawn as in `fits.py`, with hidden blocks of ten rows. Each fit runs in a process of its own. `seconds`
are those of `MultiOutputGP(time_limit=...).fit` by the clock, `core` its processor seconds; errors and log scores are
of the hidden cells, beside the fit without a limit. `over` is the time beyond the limit. With `--program PATH` the
table ends with what `catena fit --dry-run` expects of the fit without a limit, in seconds of one core.

    python benchmarks/time_limits.py --program target/release/catena
    python benchmarks/time_limits.py --tables sensors-400x120 --limits 5 15
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fits
import imputation
import numpy as np

TABLES = ["sensors-200x3", "sensors-2000x12", "sensors-400x120", "long-100000x4", "long-1000000x4"]
LIMITS = [5, 15, 60]
SEED = 42


def work(path, limit):
    """Fits the table of a file within a limit (0 for none) and writes the answer beside it."""
    import catena

    Y = np.load(path)
    X = np.arange(float(len(Y)))[:, np.newaxis]
    # The first call starts the pool of threads.
    catena.MultiOutputGP(budget="quick", progress=False).fit(X[:20], Y[:20, :1])
    used, begin = imputation.processor_seconds(), time.monotonic()
    gp = catena.MultiOutputGP(time_limit=limit or None, progress=False).fit(X, Y)
    seconds, core = time.monotonic() - begin, imputation.processor_seconds() - used
    mean, std = gp.predict(return_std=True)
    lower, upper = gp.interval(level=imputation.LEVEL)
    np.savez(path.with_suffix(".npz"), mean=mean, std=std, lower=lower, upper=upper, seconds=seconds)
    cut = [warning for warning in gp.warnings_ if warning.startswith("time limit")]
    print(json.dumps({"core": core, "cut": cut[0] if cut else ""}))


def measure(values, holed, limit):
    """Time and scores of one fit in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, holed)
        command = [sys.executable, os.path.abspath(__file__), "--work", str(path), str(limit)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return {"failed": (done.stderr.strip().splitlines() or ["ended without a message"])[-1][:200]}
        with np.load(path.with_suffix(".npz")) as answer:
            return {**imputation.scores(values, holed, answer), **json.loads(done.stdout)}


def expected(program, holed):
    """What a dry run expects, in seconds of one core."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        names = ["row", *(f"y{output}" for output in range(holed.shape[1]))]
        rows = np.column_stack([np.arange(float(len(holed))), holed])
        np.savetxt(path, rows, delimiter=",", header=",".join(names), comments="", fmt="%.6g")
        path.write_text(path.read_text().replace("nan", ""))
        command = [
            program,
            "fit",
            str(path),
            "--inputs",
            "row",
            "--dry-run",
            "--json",
            "-o",
            f"{folder}/m.catena",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--limits", nargs="+", type=int, default=LIMITS)
    parser.add_argument("--program", help="the command-line program, for its dry runs")
    parser.add_argument(
        "--without", action=argparse.BooleanOptionalAction, default=True, help="fit without a limit, too"
    )
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(Path(options.work[0]), float(options.work[1]))
        return
    print(
        f"{'table':<20}{'limit':>6}{'seconds':>9}{'over':>7}{'core':>8}{'RMSE':>8}{'log score':>11}  left out"
    )
    for name in options.tables:
        values = fits.table(name)
        holed = fits.with_holes(values, "mcar", SEED)
        for limit in [*options.limits, *([0] if options.without else [])]:
            found = measure(values, holed, limit)
            line = f"{name:<20}{limit or 'none':>6}"
            if "failed" in found:
                print(f"{line}  {found['failed']}", flush=True)
                continue
            over = max(0.0, found["seconds"] / limit - 1) if limit else 0.0
            line += f"{found['seconds']:9.1f}{100 * over:6.0f}%{found['core']:8.1f}"
            line += f"{found['rmse']:8.3f}{found['log_score']:11.3f}"
            print(f"{line}  {found['cut'].partition(': ')[2].rpartition('; ')[0]}", flush=True)
        if options.program:
            print(f"{name:<20}  dry run: {expected(options.program, holed):.1f} s of one core", flush=True)


if __name__ == "__main__":
    main()
