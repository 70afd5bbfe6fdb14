"""Imputation of ImputeGAP's tables under its missingness patterns: catena beside fourteen other imputers.

Tables, normalization and patterns are those of the package `imputegap` (`pip install --no-deps imputegap`; it needs numpy,
scipy, pandas, scikit-learn, matplotlib and toml): at most 2000 rows and 200 series, z-scores, an outage of 20 % of the rows in
20 % of the series, or blocks of 10 rows. Its z-scores include the hidden cells, for every method alike.

RMSE, log score (nats per cell) and coverage of 95 % bands over the hidden cells, in standard deviations; processor seconds of
all threads and child processes. catena's band is `interval(level=0.95)`, its log score that of a normal distribution with its
mean and standard deviation. Other imputers give no distribution: theirs is normal with the root mean squared error that they
make on observed cells hidden by the same mask, moved by half of the rows. Hidden cells are used for scores only.

Ranks and the best rival are taken over a panel: the first fourteen of the rivals that load and finish. ImputeGAP's compiled
algorithms need OpenBLAS (`libopenblas.so.0`) and a recent libstdc++; where they do not load, the next rivals take their places.

    python benchmarks/imputation.py --cache rivals.json --json results.json
    python benchmarks/imputation.py --tables soccer --patterns disjoint overlap --methods catena KNN interpolation
    python benchmarks/imputation.py --more --cache rivals.json        # other tables, as a check against tuning
"""

import argparse
import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

TABLES = ["bafu", "soccer", "climate", "electricity", "forecast-economy", "chlorine"]
#: Tables that were not looked at while the defaults were chosen: of ImputeGAP, and of statsmodels (macrodata, elnino).
MORE = [
    "airq",
    "meteo",
    "temperature",
    "traffic",
    "motion",
    "stock-exchange",
    "eeg-alcohol",
    "macrodata",
    "elnino",
]
PATTERNS = ["mcar", "aligned", "scattered", "disjoint", "overlap", "blackout"]
ROWS, SERIES, RATE, BLOCK = 2000, 200, 0.2, 10
LEVEL, NORMAL_QUANTILE = 0.95, 1.959964
N_RIVALS = 14


# --- tables and holes


@contextlib.contextmanager
def quiet():
    """Hides what ImputeGAP prints."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def complete(table):
    """The table without holes, in standard deviations."""
    if table in ("macrodata", "elnino"):
        import statsmodels.datasets

        frame = getattr(statsmodels.datasets, table).load_pandas().data
        # Years and quarters are inputs; elnino has one row a year and one column a month.
        values = frame.drop(columns=["year", "quarter", "YEAR"], errors="ignore").to_numpy(float)
        return (values - values.mean(axis=0)) / values.std(axis=0)
    with quiet():
        from imputegap.recovery.manager import TimeSeries
        from imputegap.tools import utils

        series = TimeSeries()
        # Files that are not on the package's list of data sets are found by their full name.
        name = table if table in utils.list_of_datasets() else f"{table}.txt"
        series.load_series(
            utils.search_path(name), nbr_series=SERIES, nbr_val=ROWS, normalizer="z_score", verbose=False
        )
    return np.array(series.data, dtype=float)


def with_holes(values, pattern, seed):
    """The table with hidden cells as NaN.

    Seed 42 is ImputeGAP's own mask. Only mcar and scattered are random, so that other seeds also permute the series:
    others then have the outage.
    """
    generator = np.random.default_rng(seed)
    order = np.arange(values.shape[1]) if seed == 42 else generator.permutation(values.shape[1])
    with quiet():
        from imputegap.recovery.manager import TimeSeries
        from imputegap.tools import utils

        series = TimeSeries()
        series.data = values[:, order]
        # mcar would reset the generator to 42; the other patterns ignore seed=True.
        np.random.seed(seed)
        holed = utils.config_contamination(
            series, pattern, dataset_rate=RATE, series_rate=RATE, block_size=BLOCK, seed=False, verbose=False
        )
    result = np.empty_like(values)
    result[:, order] = holed
    return result


# --- methods: a table with holes to (mean, standard deviation, lower and upper end), the last three None without a distribution


def by_catena(Y):
    import catena

    X = np.arange(float(len(Y)))[:, np.newaxis]
    gp = catena.MultiOutputGP(progress=False).fit(X, Y)
    mean, std = gp.predict(return_std=True)
    lower, upper = gp.interval(level=LEVEL)
    return mean, std, lower, upper


def by_mean(Y):
    return np.where(np.isnan(Y), np.nanmean(Y, axis=0), Y)


def by_interpolation(Y):
    import pandas

    return pandas.DataFrame(Y).interpolate(limit_direction="both").to_numpy()


def by_nearest_rows(Y):
    from sklearn.impute import KNNImputer

    return KNNImputer(n_neighbors=5).fit_transform(Y)


def by_iterative_imputer(Y):
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return IterativeImputer(max_iter=10, random_state=0).fit_transform(Y)


def by_chained_ridge(Y):
    """Each series with holes by ridge regression on all others, ten rounds."""
    missing, filled = np.isnan(Y), by_mean(Y)
    for _ in range(10):
        for column in np.flatnonzero(missing.any(axis=0)):
            holes = missing[:, column]
            A = np.delete(filled, column, axis=1)
            center, level = A[~holes].mean(axis=0), Y[~holes, column].mean()
            B = A[~holes] - center
            gram = B.T @ B
            penalty = 0.01 * np.trace(gram) / len(gram)
            weights = np.linalg.solve(gram + penalty * np.eye(len(gram)), B.T @ (Y[~holes, column] - level))
            filled[holes, column] = level + (A[holes] - center) @ weights
    return filled


def by_low_rank(rank):
    """Completion by singular values, thresholded at the first one beyond the rank."""

    def run(Y):
        missing, filled = np.isnan(Y), by_mean(Y)
        for _ in range(200):
            center = filled.mean(axis=0)
            U, singular, V = np.linalg.svd(filled - center, full_matrices=False)
            kept = min(rank, len(singular) - 1)
            thresholded = np.maximum(singular - singular[kept], 0)[:kept]
            fitted = (U[:, :kept] * thresholded) @ V[:kept] + center
            change = np.sqrt(np.mean((filled[missing] - fitted[missing]) ** 2))
            filled[missing] = fitted[missing]
            if change < 1e-5:
                break
        return filled

    return run


def by_imputegap(family, name):
    """One of ImputeGAP's algorithms with its default parameters."""

    def run(Y):
        # TRMF starts from numpy's global generator.
        np.random.seed(42)
        with quiet():
            from imputegap.recovery.imputation import Imputation

            imputer = getattr(getattr(Imputation, family), name)(Y.copy())
            imputer.verbose = imputer.logs = False
            imputer.impute()
        return np.asarray(imputer.recov_data, dtype=float)

    return run


RIVALS = {
    "mean": by_mean,
    "interpolation": by_interpolation,
    "KNN": by_nearest_rows,
    "IterativeImputer": by_iterative_imputer,
    "ImputeGAP interpolation": by_imputegap("Statistics", "Interpolation"),
    "MICE": by_imputegap("MachineLearning", "MICE"),
    "CDRec": by_imputegap("MatrixCompletion", "CDRec"),
    "SoftImpute": by_imputegap("MatrixCompletion", "SoftImpute"),
    "SVT": by_imputegap("MatrixCompletion", "SVT"),
    "IterativeSVD": by_imputegap("MatrixCompletion", "IterativeSVD"),
    "ROSL": by_imputegap("MatrixCompletion", "ROSL"),
    "STMVL": by_imputegap("PatternSearch", "STMVL"),
    "DynaMMo": by_imputegap("PatternSearch", "DynaMMo"),
    "TRMF": by_imputegap("MatrixCompletion", "TRMF"),
    "chained ridge": by_chained_ridge,
    "low rank 3": by_low_rank(3),
    "low rank 2": by_low_rank(2),
    "low rank 5": by_low_rank(5),
    "ImputeGAP KNN": by_imputegap("Statistics", "KNNImpute"),
}
METHODS = {"catena": by_catena, **RIVALS}


# --- one method on one table, in a process of its own


def processor_seconds():
    """User and system time of this process and its children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def moved(Y):
    """The table with further holes: those of its mask, half of the rows later, where a cell is observed."""
    return np.where(np.isnan(np.roll(Y, len(Y) // 2, axis=0)), np.nan, Y)


def work(method, path):
    """Writes the predictions of one method as an archive beside the table."""
    Y = np.load(path)
    run = METHODS[method]
    # The first call of a library pays for imports and thread pools: here, on a few rows.
    if method == "catena":
        import catena  # noqa: F401
    else:
        with contextlib.suppress(Exception):
            run(Y[: min(len(Y), 40), :2])
    begin = processor_seconds()
    answer = run(Y)
    seconds = processor_seconds() - begin
    if method == "catena":
        mean, std, lower, upper = answer
    else:
        mean, holes = answer, moved(Y)
        extra = np.isnan(holes) & ~np.isnan(Y)
        error = np.sqrt(np.mean((run(holes)[extra] - Y[extra]) ** 2))
        std = np.full(Y.shape, error)
        lower, upper = mean - NORMAL_QUANTILE * error, mean + NORMAL_QUANTILE * error
    np.savez(path.with_suffix(".npz"), mean=mean, std=std, lower=lower, upper=upper, seconds=seconds)


def scores(values, holed, answer):
    """RMSE, log score and coverage over the hidden cells."""
    hidden = np.isnan(holed) & ~np.isnan(values)
    truth, mean, std = values[hidden], answer["mean"][hidden], answer["std"][hidden]
    if not np.isfinite(mean).all():
        return {"failed": f"{np.count_nonzero(~np.isfinite(mean))} cells are not filled"}
    error = truth - mean
    with np.errstate(all="ignore"):
        log_density = -0.5 * np.log(2 * np.pi * std**2) - 0.5 * (error / std) ** 2
    inside = (answer["lower"][hidden] <= truth) & (truth <= answer["upper"][hidden])
    return {
        "rmse": float(np.sqrt(np.mean(error**2))),
        "mae": float(np.mean(np.abs(error))),
        "log_score": float(np.mean(log_density)),
        "coverage": float(np.mean(inside)),
        "seconds": float(answer["seconds"]),
    }


def measure(method, values, holed, limit):
    """Scores of one method on one table, or the reason of its failure."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, holed)
        command = [sys.executable, os.path.abspath(__file__), "--work", method, str(path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return {"failed": f"took longer than {limit} s"}
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            return {"failed": lines[-1][:200] if lines else f"ended with code {done.returncode}"}
        with np.load(path.with_suffix(".npz")) as answer:
            return scores(values, holed, answer)


# --- ranks and summary


def panel(results, rivals):
    """The rivals over which ranks are taken: the first fourteen with a result on some table."""
    able = [name for name in rivals if any("rmse" in methods.get(name, {}) for methods in results.values())]
    return able[:N_RIVALS]


def compared(methods, names):
    """catena's place among the named rivals on one table; a rival without a result is behind."""
    ours = methods["catena"]["rmse"]
    errors = {name: methods[name]["rmse"] for name in names if "rmse" in methods.get(name, {})}
    best = min(errors, key=errors.get)
    return {
        "best": best,
        "best_rmse": errors[best],
        "ratio": ours / errors[best],
        "rank": 1 + sum(error < ours for error in errors.values()),
    }


def mean_ranks(results, names):
    """Mean rank by RMSE of every method over all tables; a method without a result is last."""
    ranks = {name: [] for name in names}
    for methods in results.values():
        errors = {name: methods.get(name, {}).get("rmse", np.inf) for name in names}
        for name in names:
            ranks[name].append(1 + sum(error < errors[name] for error in errors.values()))
    return {name: float(np.mean(rank)) for name, rank in ranks.items()}


def summary(results, names):
    """The numbers over all tables with a result of catena."""
    scored = {key: methods for key, methods in results.items() if "rmse" in methods.get("catena", {})}
    if not scored or not names:
        return None
    places = {key: compared(methods, names) for key, methods in scored.items()}
    ratios = {key: place["ratio"] for key, place in places.items()}
    coverage = {key: methods["catena"]["coverage"] for key, methods in scored.items()}
    by_table = {}
    for key, covered in coverage.items():
        by_table.setdefault(key.split("/")[0], []).append(covered)
    return {
        "tables": len(scored),
        "panel": names,
        "mean_rank": float(np.mean([place["rank"] for place in places.values()])),
        "methods": len(names) + 1,
        "geometric_mean_ratio": float(np.exp(np.mean(np.log(list(ratios.values()))))),
        "worst_ratio": max(ratios.values()),
        "worst_ratio_at": max(ratios, key=ratios.get),
        "above_1.2": sorted(key for key, ratio in ratios.items() if ratio > 1.2),
        "coverage": {table: float(np.mean(covered)) for table, covered in by_table.items()},
        "coverage_mean": float(np.mean(list(coverage.values()))),
        "coverage_least": min(coverage.values()),
        "coverage_most": max(coverage.values()),
        "outside_90_to_98.5": sorted(key for key, covered in coverage.items() if not 0.9 <= covered <= 0.985),
        "log_score": float(np.mean([methods["catena"]["log_score"] for methods in scored.values()])),
        "seconds": float(np.sum([methods["catena"]["seconds"] for methods in scored.values()])),
        "mean_ranks": mean_ranks(scored, ["catena", *names]),
        "places": places,
    }


def print_table(results, names):
    """One line for each table and pattern, catena beside the best rival."""
    print(
        f"\n{'table/pattern/seed':<32} {'catena':>7} {'best':>7} {'ratio':>6} {'rank':>4} {'nats':>7} {'cover':>6}"
        f" {'CPU s':>7}  best rival (its nats, cover, CPU s)"
    )
    for key, methods in results.items():
        ours = methods.get("catena", {})
        if "rmse" not in ours or not any("rmse" in methods.get(name, {}) for name in names):
            print(f"{key:<32} {ours.get('failed', 'catena or rivals were not run')}")
            continue
        place = compared(methods, names)
        best = methods[place["best"]]
        print(
            f"{key:<32} {ours['rmse']:>7.3f} {place['best_rmse']:>7.3f} {place['ratio']:>6.2f} {place['rank']:>4}"
            f" {ours['log_score']:>7.2f} {ours['coverage']:>6.3f} {ours['seconds']:>7.1f}  {place['best']}"
            f" ({best['log_score']:.2f}, {best['coverage']:.3f}, {best['seconds']:.1f})"
        )


def print_errors(results, names):
    """RMSE of every method: a line for each method, a column for each table and pattern."""
    print("\nRMSE; columns in the order of the table above")
    for name in names:
        line = [methods.get(name, {}).get("rmse") for methods in results.values()]
        print(f"{name:<24}", *(f"{'-':>6}" if error is None else f"{error:>6.3f}" for error in line))


def print_summary(found):
    if found is None:
        return
    print(f"\npanel of {found['methods']} methods: catena, {', '.join(found['panel'])}")
    print(
        "mean ranks:",
        ", ".join(f"{n} {r:.1f}" for n, r in sorted(found["mean_ranks"].items(), key=lambda p: p[1])),
    )
    print(f"tables: {found['tables']}")
    print(f"mean rank of catena: {found['mean_rank']:.2f} of {found['methods']}")
    print(f"geometric mean of catena / best rival: {found['geometric_mean_ratio']:.3f}")
    print(f"worst ratio: {found['worst_ratio']:.2f} ({found['worst_ratio_at']})")
    print("above 1.2:", ", ".join(found["above_1.2"]) or "none")
    print(
        f"coverage of 95 % bands: mean {found['coverage_mean']:.3f}, from {found['coverage_least']:.3f}"
        f" to {found['coverage_most']:.3f};",
        ", ".join(f"{table} {covered:.3f}" for table, covered in found["coverage"].items()),
    )
    print("coverage outside 90 to 98.5 %:", ", ".join(found["outside_90_to_98.5"]) or "none")
    print(
        f"mean log score: {found['log_score']:.3f} nats per cell; processor seconds in all: {found['seconds']:.0f}"
    )


def read(path):
    return json.loads(path.read_text()) if path is not None and path.exists() else {}


def write(path, content):
    """Replaces the file at once: an interrupted run leaves the last whole one."""
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(content, indent=1) + "\n")
    part.replace(path)


def main():
    if sys.argv[1:2] == ["--work"]:
        warnings.simplefilter("ignore")
        return work(sys.argv[2], Path(sys.argv[3]))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--tables", nargs="+", choices=TABLES + MORE, metavar="TABLE", help=f"default: {' '.join(TABLES)}"
    )
    parser.add_argument("--more", action="store_true", help=f"other tables instead: {' '.join(MORE)}")
    parser.add_argument("--patterns", nargs="+", choices=PATTERNS, default=PATTERNS)
    parser.add_argument(
        "--methods", nargs="+", choices=list(METHODS), default=list(METHODS), metavar="METHOD"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[42], help="42 is ImputeGAP's own mask")
    parser.add_argument(
        "--cache", type=Path, help="JSON file with rivals' results: read, and extended by new ones"
    )
    parser.add_argument("--json", type=Path, help="write all results and the summary to this file")
    parser.add_argument(
        "--limit", type=float, default=3600, help="seconds of one method on one table; default 3600"
    )
    arguments = parser.parse_args()

    cache, results = read(arguments.cache), {}
    for table in arguments.tables or (MORE if arguments.more else TABLES):
        values = complete(table)
        for pattern in arguments.patterns:
            for seed in arguments.seeds:
                key = f"{table}/{pattern}/{seed}"
                try:
                    holed = with_holes(values, pattern, seed)
                except ValueError as error:
                    print(f"{key}: not run: {error}", file=sys.stderr)
                    continue
                results[key] = found = {}
                for method in arguments.methods:
                    if method != "catena" and method in cache.get(key, {}):
                        found[method] = cache[key][method]
                        continue
                    found[method] = measure(method, values, holed, arguments.limit)
                    print(f"{key} {values.shape} {method}: {found[method]}", file=sys.stderr, flush=True)
                    if arguments.cache is not None and method != "catena":
                        cache.setdefault(key, {})[method] = found[method]
                        write(arguments.cache, cache)
                if arguments.json is not None:
                    names = panel(results, [name for name in RIVALS if name in arguments.methods])
                    write(arguments.json, {"results": results, "summary": summary(results, names)})
    names = panel(results, [name for name in RIVALS if name in arguments.methods])
    print_table(results, names)
    print_errors(results, arguments.methods)
    print_summary(summary(results, names))


if __name__ == "__main__":
    main()
