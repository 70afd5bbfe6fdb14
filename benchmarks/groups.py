"""Groups against one fit each: simulated patients with two outputs at irregular times.

    python benchmarks/groups.py [--patients 200] [--budget quick] [--repeats 4]

Prints the error of the filled values against the values without noise, in standard deviations, and the median of the
processor seconds of repetitions in turn.
"""

import argparse
import time
import warnings

import numpy as np

import catena


def patients(count, seed):
    """Names, times, values with noise and missing values, and values without noise, of 20 to 40 rows per patient."""
    generator = np.random.default_rng(seed)
    names, times, values, truths = [], [], [], []
    for patient in range(count):
        n_rows = generator.integers(20, 41)
        own = np.sort(generator.uniform(0, 60, n_rows))
        distance = np.sqrt(3) * np.abs(own[:, None] - own) / 12
        # A Matérn-3/2 curve; the small number on the diagonal is for nearly equal times.
        factor = np.linalg.cholesky((1 + distance) * np.exp(-distance) + 1e-9 * np.eye(n_rows))
        curve = factor @ generator.normal(size=(n_rows, 1))
        truth = np.hstack([curve, 5 - 2 * curve])
        observed = truth + generator.normal(size=(n_rows, 2)) * [0.4, 0.8]
        observed[generator.random((n_rows, 2)) < 0.3] = np.nan
        names += [f"p{patient}"] * n_rows
        times.append(own)
        values.append(observed)
        truths.append(truth)
    return np.array(names), np.concatenate(times)[:, None], np.vstack(values), np.vstack(truths)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patients", type=int, default=200)
    parser.add_argument("--budget", default="quick")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=4)
    given = parser.parse_args()
    # Fits of 20 rows warn.
    warnings.simplefilter("ignore", catena.errors.CatenaWarning)
    names, times, values, truth = patients(given.patients, given.seed)
    options = {"budget": given.budget, "progress": False}
    seconds_of_groups, seconds_of_each, apart = [], [], np.empty_like(values)
    for _ in range(given.repeats):
        begin = time.process_time()
        together = catena.MultiOutputGP(**options).fit(times, values, groups=names).impute()
        seconds_of_groups.append(time.process_time() - begin)
        begin = time.process_time()
        for name in np.unique(names):
            own = names == name
            apart[own] = catena.MultiOutputGP(**options).fit(times[own], values[own]).impute()
        seconds_of_each.append(time.process_time() - begin)
    of_groups, of_each = np.median(seconds_of_groups), np.median(seconds_of_each)
    missing, scales = np.isnan(values), np.nanstd(values, axis=0)
    print(
        f"{given.patients} patients, {len(values)} rows, {missing.sum()} missing values, budget {given.budget}"
    )
    for name, filled, seconds in [("groups", together, of_groups), ("one fit each", apart, of_each)]:
        error = np.sqrt(np.mean(((filled - truth) / scales)[missing] ** 2))
        print(f"{name:<14} error {error:.4f} sd   {seconds:8.3f} s")
    print(f"groups are {of_each / of_groups:.1f} times as fast")


if __name__ == "__main__":
    main()
