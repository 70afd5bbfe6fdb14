"""Every notebook runs."""

import runpy
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.py"))


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path, monkeypatch):
    monkeypatch.chdir(FOLDER)
    plt.close("all")
    runpy.run_path(str(path))
    picture = tmp_path / f"{path.stem}.png"
    plt.gcf().savefig(picture, dpi=80)
    assert len(plt.get_fignums()) >= 1 and picture.stat().st_size > 10_000
    plt.close("all")


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == [
        "01_fill_gaps",
        "02_forecast_related_series",
        "03_emulate_a_function",
    ]
