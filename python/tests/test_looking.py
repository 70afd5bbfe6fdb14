"""Plots, pages and texts."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from tables import GIVEN, line, plane

import catena

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_plot_shows_what_was_observed_predicted_and_held_out():
    X, Y = line()
    truth = np.sin(np.column_stack([X[:, 0]] * 3))
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    axes = gp.plot(held_out=truth)
    assert len(axes) == 3 and [ax.get_ylabel() for ax in axes] == gp.output_names_
    lines = {drawn.get_label(): drawn for drawn in axes[1].lines}
    np.testing.assert_array_equal(lines["observed"].get_ydata(), Y[:, 1])
    held_out = lines["held out"].get_ydata()
    np.testing.assert_array_equal(held_out, np.where(np.isnan(Y[:, 1]), truth[:, 1], np.nan))
    along, mean = lines["mean"].get_data()
    np.testing.assert_allclose(mean, gp.predict(along[:, np.newaxis])[:, 1], atol=1e-12)
    assert (np.diff(along) >= 0).all()
    axes[0].figure.canvas.draw()


def test_a_plot_predicts_once():
    class Counted:
        """The fitted model, with the names of its predicting methods as they are called."""

        def __init__(self, model):
            self.model, self.calls = model, []

        def __getattr__(self, name):
            if name in ("predict", "interval"):
                self.calls.append(name)
            return getattr(self.model, name)

    gp = catena.MultiOutputGP(**GIVEN).fit(*line())
    counted = Counted(gp._model_or_raise())
    gp._model_or_raise = lambda: counted
    gp.plot()
    assert counted.calls == ["interval"]


def test_plots_over_several_inputs_and_times():
    X, Y = plane()
    gp = catena.MultiOutputGP(budget="quick", latents=1, method="catena").fit(X, Y)
    gp.plot(X[:10])[0].figure.canvas.draw()
    means = gp.plot(held_out=np.where(np.isnan(Y), 1.0, np.nan))
    for output, ax in enumerate(means):
        np.testing.assert_allclose(ax.collections[0].get_array(), gp.predict(X)[:, output], atol=1e-12)
        np.testing.assert_array_equal(ax.collections[0].get_offsets(), X)
        seen = {drawn.get_label(): drawn for drawn in ax.lines}["observed"].get_xdata()
        np.testing.assert_array_equal(seen, X[~np.isnan(Y[:, output]), 0])
    # Beside each mean its band, and a scale of colors for both.
    figure = means[0].figure
    assert len(figure.axes) == 8
    lower, upper = gp.interval(X, level=0.95)
    half = (np.asarray(upper) - np.asarray(lower))[:, 0] / 2
    np.testing.assert_allclose(figure.axes[1].collections[0].get_array(), half, atol=1e-12)
    with pytest.raises(ValueError, match="give one per output"):
        gp.plot(axes=means[:1])
    ax = gp.plot_structure()
    assert ax.get_title() == "spanning tree, 40 points" and len(ax.lines) == 39 + 1
    weights = gp.plot_mixing()
    assert [label.get_text() for label in weights.get_yticklabels()] == ["y0", "y1"]
    frame = pd.DataFrame(
        np.sin(np.arange(20))[:, None], pd.date_range("2024", periods=20, freq="D", name="day"), ["a"]
    )
    gp = catena.MultiOutputGP(budget="quick").fit(frame)
    assert gp.plot()[0].get_xlabel() == "day"
    gp.plot_structure().figure.canvas.draw()
    with pytest.raises(ValueError, match="no single structure"):
        catena.MultiOutputGP(method="exact", **GIVEN).fit(*line()).plot_structure()


def test_east_is_to_the_right_on_a_map():
    X, Y = plane()
    frame = pd.DataFrame(np.column_stack([X, Y]), columns=["lat", "lon", "y0", "y1"])
    gp = catena.MultiOutputGP(budget="quick", latents=1, method="catena")
    gp.fit(frame[["lat", "lon"]], frame[["y0", "y1"]])
    ax = gp.plot()[-1]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("lon", "lat")
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), X[:, ::-1])


def test_the_report_is_a_page_for_notebooks_and_files(tmp_path):
    gp = catena.MultiOutputGP(**GIVEN).fit(*line())
    report = gp.report("a title of mine")
    assert report.html.startswith("<!") and "a title of mine" in report.html
    assert report._repr_html_().startswith("<iframe srcdoc=")
    path = report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == report.html and path.endswith("page.html")
    assert "kB" in repr(report)


def test_words_worth_reading():
    gp = catena.MultiOutputGP(latents=1, budget="quick")
    assert str(gp) == repr(gp) == "MultiOutputGP(latents=1, budget='quick')"
    gp.fit(*line())
    assert "25 rows, 3 outputs" in str(gp) and "length-scale" in str(gp)
    assert gp._repr_html_().startswith("<pre>") and "25 rows" in gp._repr_html_()
    assert {"latents", "held_out", "decisions", "tried"} <= set(gp.summary_)
    assert [scores["name"] for scores in gp.summary_["held_out_by_output"]] == gp.output_names_


def test_intervals_hold_what_they_say():
    X, Y = line()
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    mean, std = gp.predict(X, return_std=True)
    lower, upper = gp.interval(X, level=0.6826894921370859)
    np.testing.assert_allclose(upper - mean, std, rtol=1e-9)
    np.testing.assert_allclose(mean - lower, std, rtol=1e-9)


def test_a_logarithm_is_undone_in_every_answer():
    generator = np.random.default_rng(0)
    X = np.arange(300.0)[:, np.newaxis]
    logs = np.cumsum(generator.normal(0, 0.2, 300))
    Y = np.column_stack([np.exp(logs), logs + generator.normal(0, 0.1, 300)])
    gp = catena.MultiOutputGP(latents=1, transforms={"y0": "log", "y1": "none"}).fit(X, Y)
    assert [output["transform"] for output in gp.summary_["outputs"]] == ["log", "none"]
    asked = np.array([[10.5], [310.0]])
    mean, std = gp.predict(asked, return_std=True)
    _, cov = gp.predict(asked, return_cov=True)
    draws = gp.sample_y(asked, 40_000)
    assert (draws[:, 0] > 0).all()
    np.testing.assert_allclose(np.sqrt(np.diagonal(cov, axis1=1, axis2=2)), std, rtol=1e-12)
    np.testing.assert_allclose(draws[0].mean(1), mean[0], rtol=0, atol=5 * std[0].max() / 200)
    for point in range(2):
        # On the scale of the logarithm everything is normal; there the moments of draws converge fast.
        normal = np.stack([np.log(draws[point, 0]), draws[point, 1]])
        center_variance = np.log1p((std[point, 0] / mean[point, 0]) ** 2)
        assert normal[0].var() == pytest.approx(center_variance, rel=5 * np.sqrt(2 / 40_000))
        cross = cov[point, 0, 1] / mean[point, 0]
        spread = np.sqrt(center_variance * cov[point, 1, 1])
        assert abs(np.cov(normal)[0, 1] - cross) < 10 * spread / 200
