"""`impute` leaves long gaps and uncertain values missing on request, the same ones as the program."""

import json
import os
import subprocess

import numpy as np
import pandas as pd
import pytest

import catena
from catena._limits import in_long_gaps
from catena.errors import InputError

GIVEN = {
    "learn": False,
    "kernel": "matern32",
    "mixing": [[1.0], [0.5]],
    "length_scales": 2.0,
    "noise": 0.1,
}


def table(seed=0, rows=60):
    generator = np.random.default_rng(seed)
    X = np.sort(generator.uniform(0, 30, rows))
    Y = np.column_stack([np.sin(X), np.cos(X)]) + generator.normal(scale=0.1, size=(rows, 2))
    Y[generator.uniform(size=Y.shape) < 0.3] = np.nan
    Y[20:35, 0] = np.nan
    Y[:4, 1] = np.nan
    return X, Y


def length_of_gap(places, missing, row):
    """The distance of the observed neighbors of a missing value, one by one."""
    order = sorted(range(len(places)), key=lambda other: places[other])
    at = order.index(row)
    before = [places[other] for other in order[:at] if not missing[other]]
    after = [places[other] for other in order[at:] if not missing[other]]
    if not before and not after:
        return np.inf
    return (after[0] if after else max(places)) - (before[-1] if before else min(places))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("longest", [0.5, 2.0, 7.0, 100.0])
def test_gaps_are_measured_between_observed_neighbors(seed, longest):
    X, Y = table(seed)
    shuffled = np.random.default_rng(seed).permutation(len(X))
    X, missing = X[shuffled], np.isnan(Y[shuffled])
    if seed == 3:
        missing[:, 1] = True
    wanted = [
        [missing[row, output] and length_of_gap(X, missing[:, output], row) > longest for output in range(2)]
        for row in range(len(X))
    ]
    np.testing.assert_array_equal(in_long_gaps(missing, X, longest), wanted)


def test_long_gaps_and_uncertain_values_stay_missing():
    X, Y = table()
    gp = catena.MultiOutputGP(**GIVEN).fit(X[:, np.newaxis], Y)
    whole, std = gp.impute(return_std=True)
    missing = np.isnan(Y)
    kept, kept_std = gp.impute(return_std=True, max_gap=3.0)
    left = np.isnan(kept)
    np.testing.assert_array_equal(left, in_long_gaps(missing, X, 3.0))
    assert left.any() and (~left & missing).any()
    np.testing.assert_array_equal(kept[~left], whole[~left])
    np.testing.assert_array_equal(np.isnan(kept_std), ~missing | left)
    limit = float(np.nanmedian(std))
    np.testing.assert_array_equal(np.isnan(gp.impute(max_std=limit)), missing & (std > limit))
    first = gp.impute(max_std=[limit, np.inf])
    np.testing.assert_array_equal(np.isnan(first[:, 0]), missing[:, 0] & (std[:, 0] > limit))
    assert not np.isnan(first[:, 1]).any()


def test_limits_along_time_have_names_and_durations():
    _, Y = table()
    index = pd.date_range("2024-01-01", periods=len(Y), freq="h", name="when")
    frame = pd.DataFrame(Y, index=index, columns=["a", "b"])
    gp = catena.MultiOutputGP(**{**GIVEN, "length_scales": 7200.0}).fit(frame)
    by_text, by_delta = gp.impute(max_gap="4h"), gp.impute(max_gap=pd.Timedelta("4h"))
    pd.testing.assert_frame_equal(by_text, by_delta)
    assert by_text["a"].isna().sum() >= 15
    only_b = gp.impute(max_std={"b": 1e-9})
    assert only_b["b"].isna().equals(frame["b"].isna()) and not only_b["a"].isna().any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_gap": "4h"}, "holds numbers"),
        ({"max_gap": -1.0}, "max_gap"),
        ({"max_std": 0.0}, "not positive"),
        ({"max_std": [1.0, 2.0, 3.0]}, "one per output"),
        ({"max_std": {"z": 1.0}}, "'z'"),
        ({"max_std": "much"}, "must be a number"),
    ],
)
def test_wrong_limits_are_refused(options, words):
    X, Y = table()
    gp = catena.MultiOutputGP(**GIVEN).fit(X[:, np.newaxis], Y)
    with pytest.raises(InputError, match=words):
        gp.impute(**options)


def test_several_inputs_have_no_gaps():
    X, Y = table()
    gp = catena.MultiOutputGP(**GIVEN).fit(np.column_stack([X, X**2]), Y)
    with pytest.raises(InputError, match="one input"):
        gp.impute(max_gap=3.0)


def test_the_program_leaves_the_same_cells(tmp_path):
    program = os.environ.get("CATENA_PROGRAM")
    if program is None:
        pytest.skip("CATENA_PROGRAM is not set")
    X, Y = table()
    frame = pd.DataFrame({"x": X, "a": Y[:, 0], "b": Y[:, 1]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame = pd.read_csv(tmp_path / "t.csv")
    parameters = {key: GIVEN[key] for key in ("kernel", "mixing")} | {
        "length_scales": [2.0],
        "noise": [0.1, 0.1],
    }
    (tmp_path / "p.json").write_text(json.dumps(parameters))
    words = "impute t.csv --no-learn --parameters p.json --max-gap 3 --max-std 0.4 --digits full -o out.csv"
    subprocess.run([program, *words.split()], check=True, capture_output=True, cwd=tmp_path)
    gp = catena.MultiOutputGP(**GIVEN).fit(frame[["x"]].to_numpy(), frame[["a", "b"]].to_numpy())
    written = pd.read_csv(tmp_path / "out.csv")[["a", "b"]].to_numpy()
    mine = gp.impute(max_gap=3.0, max_std=0.4)
    np.testing.assert_array_equal(np.isnan(written), np.isnan(mine))
    np.testing.assert_allclose(written, mine, rtol=1e-12)
