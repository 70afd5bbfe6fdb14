"""A client of a service answers as a live posterior of the same model."""

import subprocess
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tables import GIVEN, line

import catena
from catena.errors import InputError


@pytest.fixture
def serve(program, tmp_path):
    """Serves a model; returns the address and the process."""
    started = []

    def start(gp, *words, port="0"):
        model = tmp_path / "model.catena"
        if gp is not None:
            gp.save(model)
        server = Path(program).with_name("catena-serve")
        words = [server, model, "--listen", f"127.0.0.1:{port}", *words]
        process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        started.append(process)
        for said in process.stderr:
            if "listening on " in said:
                return said.split("listening on ")[1].strip(), process
        raise AssertionError("the service ended")

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.fixture
def gp():
    return catena.MultiOutputGP(**GIVEN).fit(*line(60, missing=0.2))


def test_the_calls_are_those_of_a_live_posterior(gp, serve):
    live, (url, _) = gp.live(), serve(gp)
    with catena.Client(url) as client:
        assert client.output_names_ == live.output_names_
        places = [[0.3], [25.25], [70.0]]
        for each in (live, client):
            each.observe(70.0, {"y0": 1.5})
            each.observe([71.0, 72.5], [[0.5, np.nan, 1.0], [np.nan, 0.25, np.nan]])
            each.observe(70.0, [1.25, np.nan, 0.5])
            assert each.remove([70.0, 71.0, 99.0], 2) == 2
        for noise in (True, False):
            mean, std = live.posterior_at(places, True, include_noise=noise)
            found = client.posterior_at(places, True, include_noise=noise)
            np.testing.assert_allclose(found[0], mean, rtol=0, atol=1e-10)
            np.testing.assert_allclose(found[1], std, rtol=0, atol=1e-10)
        np.testing.assert_allclose(client.posterior_at(70.0), live.posterior_at(70.0), rtol=0, atol=1e-10)
        np.testing.assert_allclose(
            client.deviations([70.0, 80.0]), live.deviations([70.0, 80.0]), rtol=0, atol=1e-8
        )
        assert client.log_marginal_likelihood() == pytest.approx(live.log_marginal_likelihood(), rel=1e-10)
        assert (client.n_rows, client.n_observed) == (live.n_rows, live.n_observed)
        # Each row of a request is a line of the journal.
        assert client.state()["line"] == 7


def test_times_are_those_of_the_table(serve):
    index = pd.date_range("2024-03-01", periods=60, freq="h", name="time")
    table = pd.DataFrame({"north": np.sin(np.arange(60) / 5), "south": np.cos(np.arange(60) / 5)}, index)
    gp = catena.MultiOutputGP(latents=1, kernel="matern32", budget="quick").fit(table)
    live, (url, _) = gp.live(), serve(gp)
    time = datetime(2024, 3, 3, 13)
    with catena.Client(url) as client:
        for each in (live, client):
            each.observe("2024-03-03 12:00", {"north": 0.5})
            each.observe(time, {"south": 0.25})
        expected = live.posterior_at(time).to_numpy()
        for given in (time, "2024-03-03 13:00", np.datetime64("2024-03-03T13:00"), pd.Timestamp(time)):
            np.testing.assert_allclose(client.posterior_at(given), expected, rtol=0, atol=1e-10)


def test_a_restart_of_the_service_is_not_noticed(gp, serve):
    url, process = serve(gp)
    with catena.Client(url) as client:
        client.observe(70.0, {"y0": 1.5})
        process.kill()
        process.wait()
        serve(None, port=url.rsplit(":", 1)[1])
        client.observe(71.0, {"y0": 1.0})
        assert client.state()["line"] == 2


def test_refusals_say_why(gp, serve, tmp_path):
    (tmp_path / "token").write_text("a-token-for-the-python-client")
    url, process = serve(gp, "--write-token-file", tmp_path / "token")
    with pytest.raises(OSError, match="token is missing or wrong"):
        catena.Client(url)
    with catena.Client(url, "a-token-for-the-python-client") as client:
        with pytest.raises(InputError, match="no output 'z'"):
            client.observe(1.0, {"z": 1.0})
        with pytest.raises(InputError, match="3 values"):
            client.observe([1.0, 2.0], [[1.0, 2.0]])
        with pytest.raises(InputError, match=r"line 1: column y1: .*too large"):
            client.observe(1.0, {"y1": 1e300})
        with pytest.raises(InputError, match=r"http://127\.0\.0\.1"):
            catena.Client("127.0.0.1:8080")
        process.kill()
        process.wait()
        with pytest.raises(OSError, match="cannot be reached"):
            client.state()
