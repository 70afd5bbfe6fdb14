"""Six real tables with a hidden stretch: writes docs/gallery.md and its pictures.

    pip install ./python pandas matplotlib statsmodels vega_datasets
    pip install --no-deps imputegap                     # it needs numpy, scipy, pandas, scikit-learn, matplotlib and toml
    python benchmarks/gallery.py docs

The rule is the same for all: the middle tenth of the rows of the first output is hidden, and catena fills it with default
options.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import catena

ACCENT, INK, MUTED, HELD_OUT, GAP = "#1c5d8c", "#3f454c", "#666d76", "#c4571a", "#f0eee9"


# --- tables: a frame with its inputs as index, and where it comes from


def rivers():
    return _imputegap(
        "bafu", "half hour"
    ), "Discharge of twelve Swiss rivers, `bafu` of the package imputegap"


def air():
    return _imputegap(
        "airq", "hour"
    ), "Ten readings of an air-quality station, `airq` of the package imputegap"


def economy():
    import statsmodels.datasets

    frame = statsmodels.datasets.macrodata.load_pandas().data
    quarters = pd.PeriodIndex.from_fields(
        year=frame["year"].astype(int), quarter=frame["quarter"].astype(int), freq="Q"
    )
    columns = ["unemp", "realgdp", "realcons", "realinv", "tbilrate", "infl"]
    frame = frame[columns].set_axis(quarters.to_timestamp(), axis=0).rename_axis("quarter")
    return frame, "The economy of the United States by quarter, `macrodata` of statsmodels"


def carbon_dioxide():
    import statsmodels.datasets

    frame = statsmodels.datasets.co2.load_pandas().data.rename_axis("week")
    return frame, "Carbon dioxide on Mauna Loa by week, with 59 holes of its own, `co2` of statsmodels"


def employment():
    from vega_datasets import local_data

    frame = local_data.us_employment()
    frame["month"] = pd.to_datetime(frame["month"])
    columns = ["construction", "manufacturing", "retail_trade", "financial_activities", "government"]
    return frame.set_index("month")[
        columns
    ], "Employment in the United States by month, `us_employment` of vega_datasets"


def stocks():
    from vega_datasets import local_data

    frame = local_data.stocks().pivot(index="date", columns="symbol", values="price")
    return frame.rename_axis("month")[
        ["AAPL", "AMZN", "IBM", "MSFT"]
    ], "Prices of four stocks by month, `stocks` of vega_datasets"


TABLES = {
    "rivers": rivers,
    "air": air,
    "economy": economy,
    "carbon-dioxide": carbon_dioxide,
    "employment": employment,
    "stocks": stocks,
}


def _imputegap(name, step):
    import imputegap

    path = Path(imputegap.__file__).parent / "datasets" / f"{name}.txt"
    values = np.loadtxt(path, delimiter=None)[:2000, :12]
    index = pd.RangeIndex(len(values), name=step)
    return pd.DataFrame(values, index, [f"{name}{number + 1}" for number in range(values.shape[1])])


# --- one table


def filled(frame):
    """The frame without the hidden stretch, the stretch, the fit and its bands."""
    n_rows, output = len(frame), frame.columns[0]
    stretch = slice(round(0.45 * n_rows), round(0.55 * n_rows))
    holed = frame.astype(float)
    holed.iloc[stretch, 0] = np.nan
    gp = catena.MultiOutputGP(progress=False).fit(holed)
    return holed, stretch, gp, output


def draw(frame, stretch, gp, output, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    length = stretch.stop - stretch.start
    shown = slice(max(0, stretch.start - length), min(len(frame), stretch.stop + length))
    at = frame.index[shown]
    mean = gp.predict()[output].iloc[shown]
    figure, axes = plt.subplots(figsize=(8.4, 2.7), dpi=130, layout="constrained")
    axes.axvspan(frame.index[stretch.start], frame.index[stretch.stop - 1], color=GAP, zorder=0)
    for level, alpha in ((0.95, 0.18), (0.5, 0.35)):
        lower, upper = (end[output].iloc[shown] for end in gp.interval(level=level))
        axes.fill_between(at, lower, upper, color=ACCENT, alpha=alpha, linewidth=0)
    axes.plot(at, mean, color=ACCENT, linewidth=1.3)
    seen = frame[output].iloc[shown].to_numpy(float).copy()
    hidden = np.full(len(seen), np.nan)
    inside = slice(stretch.start - shown.start, stretch.stop - shown.start)
    hidden[inside], seen[inside] = seen[inside], np.nan
    axes.plot(at, seen, ".", color=INK, markersize=3)
    axes.plot(at, hidden, ".", color=HELD_OUT, markersize=3.5)
    axes.set_title(output, loc="left", fontsize=11, fontweight="bold")
    axes.margins(x=0.005)
    axes.tick_params(colors=MUTED, labelsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color("#e4e2dd")
    figure.savefig(path)
    plt.close(figure)


def scores(frame, holed, stretch, gp, output):
    truth = frame[output].iloc[stretch].to_numpy(float)
    lower, upper = (end[output].iloc[stretch] for end in gp.interval(level=0.95))
    known = ~np.isnan(truth)

    def error(values):
        return float(np.sqrt(np.mean((np.asarray(values, float)[known] - truth[known]) ** 2)))

    line = np.interp(np.arange(len(frame)), np.flatnonzero(holed[output].notna()), holed[output].dropna())
    spread = float(np.nanstd(frame[output].to_numpy(float)))
    return {
        "catena": error(gp.impute()[output].iloc[stretch]) / spread,
        "line": error(line[stretch]) / spread,
        "ridge": error(ridge(holed, output).iloc[stretch]) / spread if frame.shape[1] > 1 else np.nan,
        "coverage": float(np.mean(((truth >= lower) & (truth <= upper))[known])),
    }


def ridge(holed, output):
    """The output from the others of the same row, by ridge regression on filled columns."""
    others = holed.drop(columns=output).interpolate(limit_direction="both")
    others = (others - others.mean()) / others.std()
    known = holed[output].notna()
    A, b = others[known].to_numpy(), holed.loc[known, output]
    weights = np.linalg.solve(A.T @ A + np.eye(A.shape[1]), A.T @ (b - b.mean()).to_numpy())
    return others @ weights + b.mean()


HEAD = """# Gallery

Six real tables. In each, the middle tenth of the rows of the first column is hidden, and catena fills it with default
options; the rule is the same for all. Orange points are the hidden
values, the line is what catena fills in, and the bands are its 50 % and 95 % intervals. Errors are in standard deviations
of the column. `python benchmarks/gallery.py docs` writes this page.

These are not tables that no one had seen. The kinds of
members were chosen on air quality, the economy and the stocks, and rivers was looked at while an earlier version was built.
Employment and carbon dioxide were not.

| table | rows × outputs | catena | straight line | ridge on the others | inside 95 % |
|---|---|---|---|---|---|
"""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("docs", type=Path, help="the folder of the book")
    folder = parser.parse_args().docs
    lines, sections = [], []
    for name, table in TABLES.items():
        frame, source = table()
        holed, stretch, gp, output = filled(frame)
        found = scores(frame, holed, stretch, gp, output)
        draw(frame, stretch, gp, output, folder / "figures" / f"gallery-{name}.png")
        other = "" if np.isnan(found["ridge"]) else f"{found['ridge']:.2f}"
        lines.append(
            f"| {name.replace('-', ' ')} | {frame.shape[0]} × {frame.shape[1]} | {found['catena']:.2f} | {found['line']:.2f}"
            f" | {other} | {100 * found['coverage']:.0f} % |"
        )
        title = name.replace("-", " ").capitalize()
        picture = (
            f"![{output}: hidden values, and what was filled in with its bands](figures/gallery-{name}.png)"
        )
        sections.append(f"## {title}\n\n{source}.\n\n{picture}\n")
        print(lines[-1], flush=True)
    (folder / "gallery.md").write_text(HEAD + "\n".join(lines) + "\n\n" + "\n".join(sections))


if __name__ == "__main__":
    main()
