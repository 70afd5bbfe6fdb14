"""Model files: exact to the bit, for Python and the command line."""

import csv
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
from tables import GIVEN, line, plane

import catena
from catena.errors import ModelFileError

TIMES = pd.date_range("2024-03-30 12:00", periods=40, freq="h", tz="Europe/Berlin", name="when")


def station():
    """A frame of times in a zone, with missing values."""
    hours = np.arange(40)
    frame = pd.DataFrame({"sea": np.sin(hours / 5), "lake": np.cos(hours / 7)}, index=TIMES)
    frame.iloc[8:14, 0] = np.nan
    return frame


@pytest.mark.parametrize("structure", ["auto", "chain", "tree", "ensemble:2"])
@pytest.mark.parametrize("dim", [1, 2])
def test_saved_and_loaded_is_the_same_to_the_bit(tmp_path, structure, dim):
    X, Y = plane(dim=dim, n_outputs=3)
    gp = catena.MultiOutputGP(structure=structure, **GIVEN).fit(X, Y)
    gp.save(tmp_path / "model.catena")
    again = catena.load(tmp_path / "model.catena")
    assert (again.predict(X) == gp.predict(X)).all() and (again.predict() == gp.predict()).all()
    assert again.log_marginal_likelihood() == gp.log_marginal_likelihood()
    assert again.structure == structure and again.kernel == "matern32"
    assert np.array_equal(again.impute(), gp.impute())


def test_candidates_are_kept(tmp_path):
    X, Y = plane(n_outputs=3)
    candidates = np.random.default_rng(1).uniform(0, 3, (20, 2))
    gp = catena.MultiOutputGP(structure="chain", **GIVEN).fit(X, Y, candidates=candidates)
    gp.save(tmp_path / "model.catena")
    again = catena.load(tmp_path / "model.catena")
    assert (again.predict(candidates) == gp.predict(candidates)).all()
    without = catena.MultiOutputGP(structure="chain", **GIVEN).fit(X, Y)
    assert (without.predict(candidates) != gp.predict(candidates)).any()


def test_frames_come_back_from_files_and_pickles(tmp_path):
    gp = catena.MultiOutputGP(budget="quick").fit(station())
    gp.save(tmp_path / "model.catena")
    for again in (catena.load(tmp_path / "model.catena"), pickle.loads(pickle.dumps(gp))):
        pd.testing.assert_frame_equal(again.predict(), gp.predict(), check_freq=False)
        pd.testing.assert_frame_equal(again.forecast("3h"), gp.forecast("3h"))
        pd.testing.assert_frame_equal(again.impute(), gp.impute(), check_freq=False)
        assert again.budget == "quick"


def test_a_pickle_holds_the_bytes_of_the_file(tmp_path):
    gp = catena.MultiOutputGP(**GIVEN).fit(*line())
    gp.save(tmp_path / "model.catena")
    assert (tmp_path / "model.catena").read_bytes() in pickle.dumps(gp)


@pytest.mark.parametrize("damage", ["missing", "other", "short", "changed"])
def test_files_that_are_no_models(tmp_path, damage):
    path = tmp_path / "model.catena"
    catena.MultiOutputGP(**GIVEN).fit(*line()).save(path)
    whole = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(
            {"other": b"a,b\n1,2\n", "short": whole[:-9], "changed": whole[:900] + b"9" + whole[901:]}[damage]
        )
    with pytest.raises(ModelFileError, match=r"model\.catena"):
        catena.load(path)


def test_a_place_that_cannot_be_written():
    gp = catena.MultiOutputGP(**GIVEN).fit(*line())
    with pytest.raises(ModelFileError, match="no/such/folder"):
        gp.save("no/such/folder/model.catena")


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_line_opens_what_python_saved(program, tmp_path):
    gp = catena.MultiOutputGP(budget="quick").fit(station())
    gp.save(tmp_path / "model.catena")
    answer = run(program, "predict", tmp_path / "model.catena", "-o", "-")
    rows = list(csv.DictReader(answer.splitlines()))
    mean, std = gp.predict(return_std=True)
    assert [float(row["sea_mean"]) for row in rows] == mean["sea"].tolist()
    assert [float(row["lake_std"]) for row in rows] == std["lake"].tolist()
    assert rows[0]["when"] == "2024-03-30 12:00:00+01:00[Europe/Berlin]"
    page = run(
        program, "report", tmp_path / "model.catena", "-o", tmp_path / "page.html", "--title", "catena"
    )
    assert page == "" and (tmp_path / "page.html").read_text().rstrip() == gp.report().html.rstrip()


def test_python_opens_what_the_command_line_saved_and_fits_the_same_bits(program, tmp_path):
    frame = station().tz_localize(None)
    frame.to_csv(tmp_path / "table.csv")
    run(program, "fit", tmp_path / "table.csv", "-o", tmp_path / "model.catena", "--budget", "quick")
    theirs = catena.load(tmp_path / "model.catena")
    ours = catena.MultiOutputGP(budget="quick").fit(pd.read_csv(tmp_path / "table.csv", parse_dates=["when"]))
    assert theirs.output_names_ == ["sea", "lake"]
    assert (theirs.mixing_ == ours.mixing_).all() and (theirs.length_scales_ == ours.length_scales_).all()
    asked = frame.index[:3] + pd.Timedelta("10min")
    assert (
        theirs.predict(asked) == ours.predict(pd.DataFrame({"when": asked}))[["sea", "lake"]].to_numpy()
    ).all()
    assert theirs.log_marginal_likelihood() == ours.log_marginal_likelihood()
    filled = pd.read_csv(
        pd.io.common.StringIO(run(program, "impute", tmp_path / "table.csv", "--budget", "quick")),
        parse_dates=["when"],
    )
    assert (filled[["sea", "lake"]].to_numpy() == ours.impute()[["sea", "lake"]].to_numpy()).all()
    ahead = run(
        program, "forecast", tmp_path / "table.csv", "--horizon", "5h", "--budget", "quick", "-o", "-"
    )
    rows = list(csv.DictReader(ahead.splitlines()))
    # Forecasts on the command line use time models.
    ahead = catena.MultiOutputGP(kernel="time", budget="quick")
    ahead.fit(pd.read_csv(tmp_path / "table.csv", parse_dates=["when"]))
    assert [float(row["sea_mean"]) for row in rows] == ahead.forecast("5h")["sea"].tolist()
