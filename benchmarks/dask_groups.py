"""Fills many groups on Dask with the parameters of some: simulated patients, as in groups.py.

    pip install "./python[dask]"
    python benchmarks/dask_groups.py [--groups 100000] [--rows 10] [--partitions 40]

Parameters are learned from 200 groups. Prints wall and processor seconds, the largest memory of the process, and the error
of the filled values in standard deviations, beside that of the mean.
"""

import argparse
import resource
import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

import catena
import catena.dask


def patients(first, count, n_rows):
    """A frame of groups with two outputs, a tenth of the values missing, and the values without noise."""
    generator = np.random.default_rng(first)
    times = np.sort(generator.uniform(0, 60, (count, n_rows)), axis=1)
    distance = np.sqrt(3) * np.abs(times[:, :, None] - times[:, None, :]) / 12
    factors = np.linalg.cholesky((1 + distance) * np.exp(-distance) + 1e-9 * np.eye(n_rows))
    curve = (factors @ generator.normal(size=(count, n_rows, 1))).ravel()
    truth = np.column_stack([curve, 5 - 2 * curve])
    values = truth + generator.normal(size=truth.shape) * [0.4, 0.8]
    values[generator.random(truth.shape) < 0.1] = np.nan
    names = np.repeat([f"p{first + at}" for at in range(count)], n_rows)
    columns = {"time": times.ravel(), "patient": names, "a": values[:, 0], "b": values[:, 1]}
    return pd.DataFrame({**columns, "true_a": truth[:, 0], "true_b": truth[:, 1]})


def errors(frame, gp):
    """Sums of squared errors of filled values and of the mean, in standard deviations, and their number."""
    given = frame[["time", "patient", "a", "b"]]
    found = catena.dask._groups._filled(given, gp=gp)
    sums = np.zeros(3)
    for output in ("a", "b"):
        missing = given[output].isna().to_numpy()
        scale = np.nanstd(given[output])
        truth = frame[f"true_{output}"].to_numpy()[missing]
        sums += [
            np.sum(((found[output].to_numpy()[missing] - truth) / scale) ** 2),
            np.sum(((np.nanmean(given[output]) - truth) / scale) ** 2),
            missing.sum(),
        ]
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--partitions", type=int, default=40)
    given = parser.parse_args()
    per_part = given.groups // given.partitions
    begin, cpu = time.perf_counter(), time.process_time()
    some = patients(0, 200, given.rows).drop(columns=["true_a", "true_b"])
    gp = catena.MultiOutputGP(budget="quick", progress=False).fit(some, groups="patient")
    print(
        f"fit of 200 groups: {time.perf_counter() - begin:.1f} s, {time.process_time() - cpu:.1f} s of processors"
    )
    firsts = [part * per_part for part in range(given.partitions)]
    make = dask.delayed(patients)
    parts = [make(first, per_part, given.rows).drop(columns=["true_a", "true_b"]) for first in firsts]
    frame = dd.from_delayed(parts, meta=some.iloc[:0])
    begin, cpu = time.perf_counter(), time.process_time()
    filled = catena.dask.impute_groups(gp, frame)
    with dask.config.set(scheduler="threads"):
        n_rows, n_left = dask.compute(filled.shape[0], filled[["a", "b"]].isna().sum().sum())
    wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{given.partitions * per_part} groups, {n_rows} rows, {n_left} values still missing: {wall:.1f} s, {cpu:.1f} s of "
        f"processors, at most {memory:.2f} GB of memory"
    )
    sums = errors(patients(firsts[-1], per_part, given.rows), gp)
    print(
        f"last partition: error {np.sqrt(sums[0] / sums[2]):.3f} sd, of the mean {np.sqrt(sums[1] / sums[2]):.3f} sd"
    )


if __name__ == "__main__":
    main()
