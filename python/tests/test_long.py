"""Long tables, one row per value: names, types, zones and order of the caller's frame come back."""

import json
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import catena
from catena.errors import InputError

OPTIONS = {"budget": "quick", "combine": "none"}
ZONE = "Europe/Berlin"


def long_frame(zone=ZONE, value="float32", ids=("b", "a")):
    """Two series of sixty hours in mixed order, with missing values and an index of their own."""
    times = pd.date_range("2024-03-30", periods=60, freq="h", tz=zone, unit="us")
    series = [
        pd.DataFrame({"y": np.sin(np.arange(60) / 5 + at), "unique_id": name, "ds": times})
        for at, name in enumerate(ids)
    ]
    frame = pd.concat(series, ignore_index=True).sample(frac=0.9, random_state=0)
    frame.iloc[3:9, 0] = np.nan
    return frame.astype({"y": value})


def wide(frame):
    """The same as a wide frame, with columns in the order of appearance."""
    return frame.pivot(index="ds", columns="unique_id", values="y")[list(frame["unique_id"].unique())]


KINDS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


def columns(table):
    """Names and types."""
    if isinstance(table, pd.DataFrame):
        return dict(table.dtypes)
    return dict(table.schema) if isinstance(table, pl.DataFrame) else {f.name: f.type for f in table.schema}


def to_pandas(table):
    return table if isinstance(table, pd.DataFrame) else table.to_pandas()


@pytest.mark.parametrize("zone", [None, "UTC", ZONE])
@pytest.mark.parametrize("kind", KINDS)
def test_a_filled_table_has_the_form_of_the_caller_s(kind, zone):
    given = KINDS[kind](long_frame(zone))
    filled = catena.MultiOutputGP(**OPTIONS).fit(given).impute()
    assert type(filled) is type(given) and columns(filled) == columns(given)
    before, after = to_pandas(given), to_pandas(filled)
    assert after.index.equals(before.index) and not after["y"].isna().any()
    assert after[["unique_id", "ds"]].equals(before[["unique_id", "ds"]])
    known = before["y"].notna()
    assert after["y"][known].equals(before["y"][known]) and not known.all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_are_those_of_the_wide_table(kind):
    frame = long_frame()
    gp = catena.MultiOutputGP(**OPTIONS).fit(KINDS[kind](frame))
    other = catena.MultiOutputGP(**OPTIONS).fit(wide(frame))
    ahead = other.forecast("3h")
    found = to_pandas(gp.forecast("3h"))
    assert list(found["unique_id"]) == [name for name in gp.output_names_ for _ in range(3)]
    expected = np.concatenate([ahead[name] for name in gp.output_names_])
    np.testing.assert_allclose(found["y"], expected, rtol=1e-5)
    asked = KINDS[kind](frame[["unique_id", "ds"]].tail(5))
    mean, std = gp.predict(asked, return_std=True)
    assert to_pandas(mean)["unique_id"].tolist() == frame["unique_id"].tail(5).tolist()
    rows = other.predict(pd.DatetimeIndex(frame["ds"].tail(5), name="ds"), return_std=True)
    for found, expected in zip((mean, std), rows, strict=True):
        chosen = [expected.iloc[at][name] for at, name in enumerate(frame["unique_id"].tail(5))]
        np.testing.assert_allclose(to_pandas(found)["y"], chosen, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_forecasts_have_the_names_types_and_zone_of_the_table(kind):
    given = KINDS[kind](long_frame())
    ahead = catena.MultiOutputGP(**OPTIONS).fit(given).forecast(2)
    assert type(ahead) is type(given) and columns(ahead) == columns(given)


@pytest.mark.parametrize("dtype", ["int64", "category", "string"])
def test_series_keep_their_type(dtype):
    frame = long_frame(ids=(7, 3)).astype({"unique_id": dtype})
    ahead = catena.MultiOutputGP(**OPTIONS).fit(frame).forecast(2)
    assert ahead["unique_id"].dtype == frame["unique_id"].dtype or dtype == "category"
    assert ahead["unique_id"].astype(str).tolist() == [
        str(name) for name in frame["unique_id"].unique() for _ in "ab"
    ]


def test_columns_are_named_in_the_order_of_the_command_line(program, tmp_path):
    frame = long_frame(None, "float64").rename(columns={"unique_id": "sensor", "ds": "time", "y": "value"})
    frame = frame.round({"value": 4})
    frame.to_csv(tmp_path / "long.csv", index=False)
    gp = catena.MultiOutputGP(**OPTIONS).fit(frame, long=("time", "sensor", "value"))
    arguments = ["--long", "time,sensor,value", "--budget", "quick", "--combine", "none", "--json"]
    command = [program, "impute", tmp_path / "long.csv", *arguments, "-o", tmp_path / "out.csv"]
    shown = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout
    theirs = json.loads(shown)
    assert [output["name"] for output in theirs["outputs"]] == gp.output_names_
    assert theirs["log_evidence"] == pytest.approx(gp.log_marginal_likelihood(), rel=1e-6)
    filled = pd.read_csv(tmp_path / "out.csv")
    # The command line writes the decimals of the column.
    np.testing.assert_allclose(gp.impute()["value"], filled["value"], atol=1e-4)


def test_what_a_long_table_cannot_be_is_said():
    frame = long_frame()
    gp = catena.MultiOutputGP(**OPTIONS)
    for table, given, sentence in [
        (frame, ("ds", "id", "y"), "'id', but the frame has"),
        (frame, ("ds", "y"), "three different names"),
        (frame, ("y", "unique_id", "ds"), "are times; long is the names of time, series and value"),
        (
            frame.assign(unique_id=frame["unique_id"].where(frame["unique_id"] != "b")),
            None,
            "is missing; name it",
        ),
    ]:
        with pytest.raises(InputError, match=sentence):
            gp.fit(table, long=given)
    gp.fit(frame)
    with pytest.raises(InputError, match="'c' in 'unique_id' is not an output"):
        gp.predict(frame.head(1).assign(unique_id="c"))


def test_a_wide_table_may_have_these_names_and_groups_are_no_series():
    frame = long_frame().assign(unique_id=lambda frame: (frame["unique_id"] == "a").astype(float))
    assert catena.MultiOutputGP(**OPTIONS).fit(frame, long=False).output_names_ == ["y", "unique_id"]
    grouped = catena.MultiOutputGP(**OPTIONS).fit(long_frame(), groups="unique_id")
    assert grouped.output_names_ == ["y"]


def test_further_columns_are_named():
    gp = catena.MultiOutputGP(**OPTIONS).fit(long_frame().assign(price=1.0))
    assert gp.output_names_ == ["b", "a"]
    assert "price" in gp.summary_["decisions"][-1]


def test_a_second_value_is_a_row_of_its_own():
    frame = long_frame(value="float64")
    frame = pd.concat([frame, frame[frame["y"].notna()].head(1).assign(y=0.25)], ignore_index=True)
    gp = catena.MultiOutputGP(**OPTIONS).fit(frame)
    assert gp.impute()["y"].iloc[-1] == 0.25


def test_later_rows_are_added_and_a_saved_model_keeps_the_layout(tmp_path):
    frame = long_frame()
    late = frame["ds"] > frame["ds"].quantile(0.8)
    gp = catena.MultiOutputGP(**OPTIONS).fit(frame[~late])
    gp.update(frame[late])
    twice = gp.predict()
    pd.testing.assert_frame_equal(gp.update(frame[late]).predict(), twice)
    gp.save(tmp_path / "model.catena")
    again = catena.load(tmp_path / "model.catena").forecast(2)
    pd.testing.assert_frame_equal(again, gp.forecast(2))
