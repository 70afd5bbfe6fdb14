"""Default fits of tables with 4 to 500 outputs: processor seconds, error and coverage, beside other imputers.

Real tables are of the package `imputegap` (see `imputation.py`, which also describes the scores), the others are drawn here:

- `sensors`: outputs that mix four slow processes, each with a slow process of its own and noise;
- `factors`: outputs that mix four slow processes, with little noise and nothing of their own;
- `yearly`: 12 rows of 142 outputs with a common trend;
- `long`: four outputs that mix two processes over as many rows as asked.

Hidden cells are blocks of ten rows (`mcar`) or outages of a fifth of the rows in a fifth of the outputs (`scattered`). Each
method runs in a process of its own; the methods of one table run one after the other. `--json` writes the processor seconds
and scores to a file, and `--against` compares a run with such a file.

    python benchmarks/fits.py --json fits.json
    python benchmarks/fits.py --tables chlorine sensors-1000x100 --methods catena "chained ridge" KNN
"""

import argparse
import json
from pathlib import Path

import imputation
import numpy as np

#: Real tables, and shapes of drawn ones.
TABLES = [
    "bafu",
    "electricity",
    "eeg-alcohol",
    "chlorine",
    "z_guangzhou",
    "z_electricity_saits",
    "factors-2000x60",
    "sensors-1000x100",
    "sensors-400x120",
    "sensors-9357x12",
    "yearly-12x142",
    "long-1000000x4",
]
PATTERNS = ["mcar", "scattered"]
METHODS = ["catena", "interpolation", "KNN", "chained ridge", "low rank 3"]
#: Rivals that take hours on tables with more cells.
MOST_CELLS = {"KNN": 300_000, "chained ridge": 5_000_000, "low rank 3": 5_000_000}


def slow_processes(generator, n_rows, n_processes, length):
    """Stationary processes with exponential correlation over `length` rows and unit variance, by row."""
    decay = np.exp(-1.0 / length)
    steps = generator.standard_normal((n_rows, n_processes)) * np.sqrt(1 - decay**2)
    states = np.empty_like(steps)
    states[0] = generator.standard_normal(n_processes)
    for row in range(1, n_rows):
        states[row] = decay * states[row - 1] + steps[row]
    return states


def drawn(name, seed=7):
    """A drawn table by its name, such as `sensors-1000x100`, in standard deviations."""
    kind, shape = name.split("-")
    n_rows, n_outputs = (int(number) for number in shape.split("x"))
    generator = np.random.default_rng(seed)
    n_shared = 2 if kind == "long" else 4
    if kind == "yearly":
        trend = np.linspace(0, 1, n_rows)[:, np.newaxis] * generator.uniform(0.5, 1.5, n_outputs)
        values = trend + generator.uniform(0, 3, n_outputs) + 0.05 * generator.standard_normal(trend.shape)
    else:
        shared = slow_processes(generator, n_rows, n_shared, 50)
        values = shared @ generator.standard_normal((n_shared, n_outputs)) / np.sqrt(n_shared)
        if kind != "factors":
            values += 0.3 * slow_processes(generator, n_rows, n_outputs, 30)
        values += (0.03 if kind == "factors" else 0.1) * generator.standard_normal(values.shape)
    return (values - values.mean(axis=0)) / values.std(axis=0)


def table(name):
    """The complete table."""
    return drawn(name) if "x" in name.rsplit("-", 1)[-1] and "-" in name else imputation.complete(name)


def with_holes(values, pattern, seed):
    """The table with hidden cells as NaN; short tables lose single cells and thirds instead of blocks and fifths."""
    n_rows, n_outputs = values.shape
    generator = np.random.default_rng(seed)
    holed = values.copy()
    if pattern == "mcar":
        length = min(imputation.BLOCK, max(1, n_rows // 10))
        for output in generator.permutation(n_outputs)[: max(1, n_outputs // 2)]:
            n_blocks = max(1, int(imputation.RATE * n_rows / length))
            for start in generator.integers(0, n_rows - length, n_blocks):
                holed[start : start + length, output] = np.nan
    else:
        length = max(2, int(imputation.RATE * n_rows))
        for output in generator.permutation(n_outputs)[: max(1, int(imputation.RATE * n_outputs))]:
            start = generator.integers(0, n_rows - length + 1)
            holed[start : start + length, output] = np.nan
    return holed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--patterns", nargs="+", choices=PATTERNS, default=PATTERNS)
    parser.add_argument("--methods", nargs="+", choices=sorted(imputation.METHODS), default=METHODS)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--limit", type=int, default=1800, help="seconds for one method on one table")
    parser.add_argument("--json", type=Path, help="write all numbers to this file")
    parser.add_argument("--against", type=Path, help="compare with a file written by --json")
    options = parser.parse_args()
    earlier = json.loads(options.against.read_text()) if options.against else {}
    results = {}
    print(f"{'table':<22}{'pattern':<11}{'method':<18}{'RMSE':>7}{'covers':>8}{'log score':>11}{'seconds':>9}")
    for name in options.tables:
        values = table(name)
        for pattern in options.patterns:
            holed = with_holes(values, pattern, options.seed)
            key = f"{name}/{pattern}"
            results[key] = {}
            for method in options.methods:
                if values.size > MOST_CELLS.get(method, values.size):
                    continue
                found = imputation.measure(method, values, holed, options.limit)
                results[key][method] = found
                line = f"{name:<22}{pattern:<11}{method:<18}"
                if "failed" in found:
                    print(f"{line}{found['failed']}", flush=True)
                    continue
                line += f"{found['rmse']:7.3f}{100 * found['coverage']:7.1f}%{found['log_score']:11.3f}"
                line += f"{found['seconds']:9.1f}"
                before = earlier.get(key, {}).get(method, {})
                if "rmse" in before:
                    ratio = found["seconds"] / before["seconds"]
                    line += f"   before {before['rmse']:.3f} in {before['seconds']:.1f} s ({ratio:.2f})"
                print(line, flush=True)
            if options.json:
                options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
