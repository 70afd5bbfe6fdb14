"""Space and time: frames with a place and a time in every row."""

import numpy as np
import pytest

import catena
from catena.errors import InputError

pandas = pytest.importorskip("pandas")

PLACES = {
    "EWR": (40.6925, -74.1687),
    "JFK": (40.6398, -73.7789),
    "LGA": (40.7769, -73.8740),
    "TEB": (40.8501, -74.0608),
}


def stations(n_times=40, *, is_complete=False):
    """One row per station and hour; every seventh temperature is missing."""
    times = pandas.date_range("2024-05-01", periods=n_times, freq="h")
    rows = []
    for at, when in enumerate(times):
        for name, (lat, lon) in PLACES.items():
            temp = 10 + 3 * np.sin(0.3 * at) + 4 * (lat - 40.7) - 2 * (lon + 74)
            rows.append((when, name, lat, lon, temp, 5 + np.cos(0.2 * at + lon)))
    frame = pandas.DataFrame(rows, columns=["when", "name", "lat", "lon", "temp", "wind"])
    if not is_complete:
        frame.loc[frame.index % 7 == 2, "temp"] = np.nan
    return frame


def fitted(frame, **more):
    return catena.MultiOutputGP(
        space=["lat", "lon"], time="when", budget="quick", latents=2, progress=False, **more
    ).fit(frame)


def test_a_filled_frame_has_its_layout():
    frame = stations()
    gp = fitted(frame)
    assert gp.output_names_ == ["temp", "wind"]
    assert list(gp.feature_names_in_) == ["lat", "lon", "when"]
    assert any("kilometers on the sphere" in line for line in gp.summary_["decisions"])
    filled = gp.impute()
    assert list(filled.columns) == list(frame.columns)
    assert not filled.isna().any().any()
    known = frame["temp"].notna()
    assert (filled.loc[known] == frame.loc[known]).all().all()
    error = (filled["temp"] - stations(is_complete=True)["temp"])[~known]
    assert error.abs().max() < 0.1 * frame["temp"].std()


def test_new_places_and_times_are_predicted_and_drawn():
    gp = fitted(stations())
    at = pandas.DataFrame(
        {
            "lat": [40.6925, 40.70, 44.0],
            "lon": [-74.1687, -73.95, -70.0],
            "when": pandas.to_datetime(["2024-05-01 12:00"] * 3),
        }
    )
    mean, std = gp.predict(at, return_std=True)
    assert list(mean.columns[-2:]) == ["temp", "wind"]
    assert std["temp"].is_monotonic_increasing
    draws = np.asarray(gp.sample_y(at, n_samples=400))
    assert draws.shape[0] == 3
    spread = draws.reshape(3, 2, -1)[:, 0].std(axis=-1)
    np.testing.assert_allclose(spread, std["temp"], rtol=0.2)


def test_arrays_have_the_place_first_and_the_time_last():
    frame = stations()
    hours = (frame["when"] - frame["when"][0]).dt.total_seconds().to_numpy() / 3600
    X = np.column_stack([frame["lat"], frame["lon"], hours])
    Y = frame[["temp", "wind"]].to_numpy()
    gp = catena.MultiOutputGP(method="space:latlon", budget="quick", latents=2, progress=False).fit(X, Y)
    own = np.asarray(fitted(frame).impute()[["temp", "wind"]])
    np.testing.assert_allclose(gp.impute(), own, rtol=1e-6)


def test_a_model_file_keeps_space_and_time(tmp_path):
    gp = fitted(stations())
    gp.save(tmp_path / "m.catena")
    again = catena.load(tmp_path / "m.catena")
    at = stations().head(5)[["lat", "lon", "when"]]
    pandas.testing.assert_frame_equal(again.predict(at), gp.predict(at))


def test_what_does_not_go_together_is_said_in_a_sentence():
    frame = stations()
    with pytest.raises(InputError, match="give the columns of the place and of the time together"):
        catena.MultiOutputGP(space=["lat", "lon"]).fit(frame)
    with pytest.raises(InputError, match="a method of their own"):
        fitted(frame, method="exact")
    with pytest.raises(InputError, match="neither groups nor long"):
        catena.MultiOutputGP(space=["lat", "lon"], time="when").fit(frame, groups="name")
    with pytest.raises(InputError, match="name columns of a frame"):
        catena.MultiOutputGP(space=["lat", "lon"], time="when").fit(np.zeros((3, 3)), np.zeros(3))
    with pytest.raises(InputError, match="len"):
        catena.MultiOutputGP(space=["lat", "len"], time="when").fit(frame)
    with pytest.raises(InputError, match="at least two places"):
        fitted(frame[frame["name"] == "JFK"])
