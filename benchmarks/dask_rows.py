"""A long table in Parquet on a Dask cluster of local processes: evidence, gradient and imputation.

    python benchmarks/dask_rows.py --rows 10000000 --folder /tmp/rows      # write, fit with given parameters, fill, report
    python benchmarks/dask_rows.py --rows 1000000 --overhead               # processor seconds compared with one process

Prints seconds, processor seconds, the peak memory of each worker, and the bytes transferred.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
import time

import numpy as np

N_OUTPUTS = 4
MODEL = {
    "mixing": [[1.0, 0.3], [-0.5, 0.8], [0.2, 1.1], [0.7, -0.6]],
    "length_scales": [30.0, 600.0],
    "noise": [0.05, 0.1, 0.2, 0.1],
    "kernel": "matern32",
}


def rows(begin, count, seed=0):
    """Rows from `begin` on: seconds with jitter, and four outputs of two waves with noise; one cell in five is missing."""
    random = np.random.default_rng([seed, begin])
    times = np.arange(begin, begin + count) + random.uniform(-0.4, 0.4, count)
    waves = np.column_stack([np.sin(times / 40 + np.sin(times / 113)), np.sin(times / 900)])
    values = waves @ np.array(MODEL["mixing"]).T + random.normal(0, 0.3, (count, N_OUTPUTS))
    values[random.random(values.shape) < 0.2] = np.nan
    return times, values


def write(folder, n_rows, per_file):
    """The rows as Parquet files."""
    import pandas as pd

    os.makedirs(folder)
    for begin in range(0, n_rows, per_file):
        times, values = rows(begin, min(per_file, n_rows - begin))
        frame = pd.DataFrame(values, columns=[f"y{output}" for output in range(N_OUTPUTS)])
        frame.insert(0, "second", times)
        frame.to_parquet(os.path.join(folder, f"rows-{begin // per_file:05}.parquet"), index=False)


def used():
    """Processor seconds and peak memory, in bytes, of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


class Watch:
    """Seconds, processor seconds of all processes, and bytes of the enclosed block."""

    def __init__(self, client, traffic):
        self.client = client
        self.traffic = traffic

    def __enter__(self):
        self.begin, self.before, self.moved = time.monotonic(), self.processors(), self.bytes()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.begin
        self.processor_seconds = self.processors() - self.before
        self.moved = self.bytes() - self.moved

    def processors(self):
        return used()[0] + sum(seconds for seconds, _ in self.client.run(used).values())

    def bytes(self):
        return self.traffic.sent + self.traffic.received

    def told(self, what):
        print(
            f"{what}: {self.seconds:.1f} s, {self.processor_seconds:.1f} processor s, {self.moved / 1e3:.0f} kB"
        )


def start(n_workers):
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        memory_limit="11GiB",
    )
    return cluster, Client(cluster)


def large(arguments):
    """One evidence with its gradient; imputes the table and writes it back."""
    import catena.dask

    place = arguments.folder or tempfile.mkdtemp()
    source, filled = os.path.join(place, "rows"), os.path.join(place, "filled")
    write(source, arguments.rows, arguments.per_file)
    cluster, client = start(arguments.workers)
    gp = catena.dask.MultiOutputGP(learn=False, standardize=False, progress=False, **MODEL)
    begin = time.monotonic()
    gp.fit(source, client=client)
    print(f"{arguments.rows} rows in {gp.chain_['parts']} partitions")
    print(f"reading, structure and conditioning: {time.monotonic() - begin:.1f} s; {gp.traffic_}")
    traffic = gp._chain.workers.traffic
    with Watch(client, traffic) as watch:
        slopes = gp.gradient()
    watch.told("one evidence with its gradient")
    print(f"log evidence {slopes['log_evidence']:.3f}")
    with Watch(client, traffic) as watch:
        written = gp.impute(to=filled)
    watch.told(f"{written} rows filled and written")
    size = sum(file.stat().st_size for file in os.scandir(filled))
    peaks = ", ".join(f"{peak / 2**30:.2f} GiB" for _, peak in client.run(used).values())
    print(
        f"{size / 1e6:.0f} MB of Parquet; peak memory of the workers: {peaks}; of the client: {used()[1] / 2**30:.2f} GiB"
    )
    client.close()
    cluster.close()
    shutil.rmtree(source)
    shutil.rmtree(filled)


def overhead(arguments):
    """Processor seconds of evidence and gradient, in partitions and in one process."""
    import dask.array as da

    import catena
    import catena.dask

    times, values = rows(0, arguments.rows)
    X = times[:, None]
    cluster, client = start(arguments.workers)
    chunk = arguments.per_file
    gp = catena.dask.MultiOutputGP(learn=False, standardize=False, progress=False, **MODEL)
    gp.fit(da.from_array(X, (chunk, 1)), da.from_array(values, (chunk, N_OUTPUTS)), client=client)
    traffic = gp._chain.workers.traffic
    for _ in range(arguments.rounds):
        with Watch(client, traffic) as watch:
            log_evidence, _ = gp._chain.around(gp._plain)
        watch.told("evidence in parts")
        with Watch(client, traffic) as watch:
            gp.gradient()
        watch.told("evidence and gradient in parts")
    segment = local_segment(X, values)
    for name, calculate in segment.items():
        for _ in range(arguments.rounds):
            begin, before = time.monotonic(), used()[0]
            found = calculate(gp._plain)
            print(
                f"{name} in one process: {time.monotonic() - begin:.1f} s, {used()[0] - before:.1f} processor s"
            )
            assert abs(found - log_evidence) < 1e-9 * abs(log_evidence)
    begin, before = time.monotonic(), used()[0]
    catena.sweep(X, values, gradient=False, **MODEL)
    without = used()[0] - before
    begin, before = time.monotonic(), used()[0]
    catena.sweep(X, values, **MODEL)
    print(
        f"catena.sweep: {without:.1f} processor s for table and posterior, {used()[0] - before - without:.1f} more for slopes"
    )
    client.close()
    cluster.close()


def local_segment(X, values):
    """Evidence, and evidence with gradient, of all rows as a single partition in this process."""
    import json

    from catena import _catena

    preparation = json.dumps(
        {
            "inputs": [[0.0, 1.0]],
            "outputs": [{"transform": "none", "intercept": 0.0, "slopes": [], "scale": 1.0}] * N_OUTPUTS,
        }
    )
    segment = _catena.Segment(X, values, np.argsort(X[:, 0], kind="stable"), None, preparation)
    return {
        "evidence": lambda model: _catena.surroundings([segment.summary(model, False)])[0],
        "evidence and gradient": lambda model: segment.gradient(model, (None, None), False)[0],
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--per-file", type=int, default=250_000, help="rows per file, which is a partition")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="folder for temporary files; by default a temporary directory")
    parser.add_argument("--overhead", action="store_true", help="compare processor seconds with one process")
    arguments = parser.parse_args()
    (overhead if arguments.overhead else large)(arguments)


if __name__ == "__main__":
    main()
