"""Long tables on the command line: observations per second of `catena watch`, and `catena impute` within a memory limit.

A seeded table of four outputs on three slow processes, irregular times, three cells in ten missing. A model is learned on
its first 20 000 rows. `watch` then conditions on 10⁶ rows and reads lines at random times, half of them new; the rate excludes
the first lines and opening the model. `impute` fills 10⁷ rows within 200 MB, and a shorter table with and without a limit,
whose results must be equal.

    python benchmarks/long_tables.py watch  [--program catena] [--rows 1000000]
    python benchmarks/long_tables.py impute [--program catena] [--rows 10000000]

Files go to a temporary folder (about 1 GB for 10⁷ rows) that is removed at the end.
"""

import argparse
import contextlib
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

OUTPUTS = ["a", "b", "c", "d"]
LEARNED_ROWS = 20_000
CHUNK = 250_000


def table(rows, seed=0):
    """Times and values in chunks; NaN for missing values."""
    generator = np.random.default_rng(seed)
    mixing = generator.normal(size=(3, 4))
    # Sums of a few waves, independent of the chunk length.
    frequency = generator.uniform(0.01, 0.3, size=(3, 8))
    phase = generator.uniform(0, 2 * np.pi, size=(3, 8))
    clock = 0.0
    for begin in range(0, rows, CHUNK):
        size = min(CHUNK, rows - begin)
        times = clock + np.cumsum(np.round(generator.exponential(size=size) + 0.001, 3))
        clock = times[-1]
        latent = np.sin(times[:, None, None] * frequency + phase).sum(axis=2) / 2
        values = latent @ mixing + 0.1 * generator.normal(size=(size, 4))
        values[generator.random((size, 4)) < 0.3] = np.nan
        yield np.round(times, 3), np.round(values, 4)


def write(path, pieces):
    with open(path, "w") as file:
        file.write("t," + ",".join(OUTPUTS) + "\n")
        for times, values in pieces:
            columns = [times.tolist(), *values.T.tolist()]
            file.writelines(
                f"{t},{a},{b},{c},{d}\n".replace("nan", "") for t, a, b, c, d in zip(*columns, strict=True)
            )


def measured(program, *arguments):
    """Runs the program; returns seconds and its maximum memory in megabytes (on Linux)."""
    begin, most = time.perf_counter(), float("nan")
    process = subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.DEVNULL)
    # The memory reported by wait() includes that of the parent before exec.
    while process.poll() is None:
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            most = next(
                (int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM")), most
            )
        time.sleep(0.01)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, process.args))} ended with {process.returncode}")
    return time.perf_counter() - begin, most


def run(program, *arguments):
    return measured(program, *arguments)[0]


def learn(program, folder):
    """A model and its parameters, from the first rows."""
    head, model, parameters = folder / "head.csv", folder / "head.catena", folder / "parameters.json"
    write(head, table(LEARNED_ROWS))
    options = ["--latents", 3, "--kernel", "matern32", "--private", "no", "--budget", "quick", "--quiet"]
    run(program, "fit", head, *options, "--parameters-out", parameters, "-o", model)
    return model, parameters


def watch(program, folder, rows):
    _, parameters = learn(program, folder)
    whole, model = folder / "whole.csv", folder / "whole.catena"
    write(whole, table(rows))
    run(program, "fit", whole, "--no-learn", "--parameters", parameters, "--quiet", "-o", model)
    generator = np.random.default_rng(1)
    known = np.concatenate([times for times, _ in table(rows)])
    for ask in ["row", "missing", "none"]:
        seconds = []
        for lines in [5_000, 105_000]:
            places = generator.choice(known, size=lines)
            places[::2] = np.round(places[::2] + generator.uniform(0.1, 0.9, size=len(places[::2])), 4)
            values = np.round(generator.normal(size=(lines, 4)), 4)
            # At least one cell: a line without any is a query.
            values[:, 1:][generator.random((lines, 3)) < 0.5] = np.nan
            stream, journal = folder / "lines.csv", folder / f"{ask}{lines}.journal"
            write(stream, [(places, values)])
            seconds.append(
                run(program, "watch", model, "--from", stream, "--journal", journal, "--ask", ask, "--quiet")
            )
        rate = 100_000 / (seconds[1] - seconds[0])
        print(
            f"watch, {rows} rows, --ask {ask}: {rate:.0f} lines per second, start and 5000 lines took {seconds[0]:.1f} s"
        )


def impute(program, folder, rows):
    model, _ = learn(program, folder)
    short, whole, limited = folder / "short.csv", folder / "short.whole.csv", folder / "short.limited.csv"
    write(short, table(min(rows, 300_000)))
    run(program, "impute", short, "--model", model, "--std", "--quiet", "-o", whole)
    run(program, "impute", short, "--model", model, "--std", "--max-memory", "60MB", "--quiet", "-o", limited)
    read = lambda path: np.genfromtxt(path, delimiter=",", skip_header=1)  # noqa: E731
    largest = np.nanmax(np.abs(read(whole) - read(limited)))
    print(f"impute, 300 000 rows: results with 60 MB and without a limit differ by at most {largest:.1e}")
    long, filled = folder / "long.csv", folder / "filled.csv"
    write(long, table(rows))
    options = ["--model", model, "--std", "--max-memory", "200MB", "--quiet"]
    wall, most = measured(program, "impute", long, *options, "-o", filled)
    with open(filled, "rb") as file:
        lines = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 24), b""))
    megabytes = long.stat().st_size / 1e6
    sizes = f"{rows} rows ({megabytes:.0f} MB), --max-memory 200MB"
    print(f"impute, {sizes}: {wall:.0f} s, at most {most:.0f} MB of memory, {lines - 1} rows written")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["watch", "impute"])
    parser.add_argument("--program", default="catena")
    parser.add_argument("--rows", type=int)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.what == "watch":
            watch(given.program, Path(folder), given.rows or 1_000_000)
        else:
            impute(given.program, Path(folder), given.rows or 10_000_000)


if __name__ == "__main__":
    main()
