"""A live posterior equals a new model of the edited table, and the dense reference."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from dense import DenseGP, same
from sklearn.base import clone
from tables import GIVEN, MODEL, line, plane, waiting

import catena
from catena.errors import InputError

NAMES = ["y0", "y1", "y2"]
#: The same model along a time that is counted in seconds, a minute for a unit of the tables.
ALONG_TIME = {**GIVEN, "length_scales": 60 * MODEL["length_scales"]}


class Ledger:
    """The expected table of a live posterior, edited by hand."""

    def __init__(self, X, Y):
        self.X, self.Y = X.copy(), Y.copy()

    def add(self, place, values):
        self.X, self.Y = np.vstack([self.X, place]), np.vstack([self.Y, values])

    def row_at(self, place):
        rows = np.flatnonzero((place == self.X).all(axis=1))
        return rows[-1] if len(rows) else None

    def observe(self, place, values):
        if np.isnan(values).all():
            return
        if self.row_at(place) is None:
            self.add(place, np.full(self.Y.shape[1], np.nan))
        known = ~np.isnan(values)
        self.Y[self.row_at(place), known] = np.asarray(values)[known]

    def fresh(self, **options):
        return catena.MultiOutputGP(**{**GIVEN, **options}).fit(self.X, self.Y)


def cells(generator, missing=0.3, n=3):
    values = generator.normal(size=n)
    values[generator.uniform(size=n) < missing] = np.nan
    return values


def edit(live, ledger, generator, new_place):
    """One random edit of both."""
    known, kind = ledger.X[generator.integers(len(ledger.X))], generator.integers(5)
    if kind == 0:
        output, row = generator.integers(3), ledger.row_at(known)
        was_there = not np.isnan(ledger.Y[row, output])
        assert live.remove(known, [int(output), NAMES[output]][generator.integers(2)]) == was_there
        ledger.Y[row, output] = np.nan
    elif kind == 1:
        values = cells(generator)
        live.observe(known, values)
        ledger.observe(known, values)
    elif kind == 2:
        place, value = new_place(generator, ledger), generator.normal()
        live.observe(place, {"y1": value})
        ledger.observe(place, [np.nan, value, np.nan])
    else:
        places = np.array([new_place(generator, ledger), known])
        values = np.array([cells(generator), cells(generator)])
        live.observe(places, values)
        ledger.observe(places[0], values[0])
        ledger.observe(places[1], values[1])


def agree(live, ledger, gp, places):
    for at in (places, ledger.X):
        for include_noise in (True, False):
            found = live.posterior_at(at, return_std=True, include_noise=include_noise)
            same(found, gp.predict(at, return_std=True, include_noise=include_noise))
    assert live.n_rows == len(ledger.X) and live.n_observed == (~np.isnan(ledger.Y)).sum()
    assert live.log_marginal_likelihood() == pytest.approx(gp.log_marginal_likelihood(), rel=1e-9, abs=1e-9)
    folded = live.to_gp()
    assert (folded.predict() == gp.predict()).all()
    np.testing.assert_array_equal(folded.impute(), gp.impute())


def on_the_line(generator, ledger):
    return generator.uniform(-1, 11, 1)


def far_out(generator, ledger):
    """So far away that a spanning tree joins it to its nearest row."""
    return 100.0 * len(ledger.X) * (1 + generator.uniform(size=2))


@pytest.mark.parametrize("seed", range(3))
def test_random_edits_along_one_input(seed):
    X, Y = line(40, seed=seed)
    X[5] = X[20] = X[11]
    gp, ledger, generator = catena.MultiOutputGP(**GIVEN).fit(X, Y), Ledger(X, Y), np.random.default_rng(seed)
    before, live = gp.predict(), gp.live()
    agree(live, ledger, gp, np.linspace(-2, 12, 9)[:, None])
    for _ in range(4):
        for _ in range(generator.integers(1, 12)):
            edit(live, ledger, generator, on_the_line)
        places = generator.uniform(-2, 12, (9, 1))
        agree(live, ledger, ledger.fresh(), places)
        mean, joint = DenseGP(ledger.X, ledger.Y, **MODEL).predict(places)
        same(live.posterior_at(places), mean)
        same(live.posterior_at(places, True)[1].ravel(), np.sqrt(np.diag(joint)))
    assert (gp.predict() == before).all()


@pytest.mark.parametrize("kernel", ["matern12", "matern32"])
def test_random_edits_on_a_tree(kernel):
    X, Y = plane(n_outputs=3)
    given = {"structure": "tree", "kernel": kernel}
    ledger, generator = Ledger(X, Y), np.random.default_rng(5)
    live = ledger.fresh(**given).live()
    for _ in range(4):
        for _ in range(generator.integers(1, 12)):
            edit(live, ledger, generator, far_out)
        agree(live, ledger, ledger.fresh(**given), generator.uniform(-1, 4, (9, 2)))


def updated(gp, ledger, generator, place):
    """One random update: a row, several at one point, or one without a value."""
    values = np.array([cells(generator) for _ in range(generator.integers(1, 4))])
    places = np.repeat([place], len(values), axis=0)
    if len(values) == 1:
        gp.update(place, values[0], append=True)
    else:
        gp.update(places, values, append=True)
    for row in values:
        ledger.add(place, row)


@pytest.mark.parametrize(("dim", "structure"), [(1, "auto"), (1, "tree"), (2, "tree"), (2, "chain")])
def test_update_then_ask(dim, structure):
    X, Y = plane(dim=dim, n_outputs=3)
    # Rows at one point may branch a tree, which has no derivative states.
    given = {"structure": structure, "kernel": "matern12" if structure == "tree" else "matern32"}
    ledger, generator = Ledger(X, Y), np.random.default_rng(dim)
    gp = ledger.fresh(**given)
    for step in range(30):
        place = (
            ledger.X[generator.integers(len(ledger.X))] if step % 3 == 0 else generator.uniform(-1, 4, dim)
        )
        updated(gp, ledger, generator, place)
        fresh, places = ledger.fresh(**given), generator.uniform(-2, 5, (3, dim))
        same(gp.posterior_at(places, return_std=True), fresh.predict(places, return_std=True))
        same(gp.posterior_at(place, include_noise=False), fresh.predict([place], include_noise=False))
        if step % 10 == 9:
            assert (gp.predict() == fresh.predict()).all()
            np.testing.assert_array_equal(gp.impute(), fresh.impute())
            assert gp.log_marginal_likelihood() == fresh.log_marginal_likelihood()
            assert gp.summary_["n_rows"] == len(ledger.X)


def test_rows_wait_until_the_table_is_needed():
    gp, expected = waiting()
    same(gp.posterior_at(3.3), expected.predict([[3.3]]))
    assert len(gp._later) == 2
    assert (gp.predict() == expected.predict()).all() and not gp._later
    live = gp._live
    gp.update(4.0, [1.0, np.nan, 2.0])
    same(gp.posterior_at(4.1), expected.update([[4.0]], [[1.0, np.nan, 2.0]]).predict([[4.1]]))
    assert gp._live is live is not None and len(gp._later) == 1
    assert "31 rows" in str(gp) and gp.structure_ is not None and len(gp.structure_) == 31


@pytest.mark.parametrize("way", ["pickle", "copy", "deepcopy", "save"])
def test_rows_that_wait_are_kept(way, tmp_path):
    gp, expected = waiting()
    if way == "save":
        gp.save(tmp_path / "model.catena")
        again = catena.load(tmp_path / "model.catena")
    else:
        make = {
            "copy": copy.copy,
            "deepcopy": copy.deepcopy,
            "pickle": lambda gp: pickle.loads(pickle.dumps(gp)),
        }
        again = make[way](gp)
    assert (again.predict() == expected.predict()).all() and (gp.predict() == expected.predict()).all()
    again.posterior_at(1.0)
    again.update(1.0, [5.0, 5.0, 5.0])
    assert (gp.predict() == expected.predict()).all()
    assert not hasattr(clone(gp), "_live")


def test_fitting_and_learning_again_start_anew():
    gp, expected = waiting()
    X, Y = line(12, seed=8)
    assert (gp.fit(X, Y).predict() == catena.MultiOutputGP(**GIVEN).fit(X, Y).predict()).all()
    same(gp.posterior_at(2.0), gp.predict([[2.0]]))
    gp, expected = waiting()
    more = line(10, seed=9)
    gp.update(*more, relearn=True)
    assert (gp.predict() == expected.update(*more, relearn=True).predict()).all()
    same(gp.posterior_at(2.0), gp.predict([[2.0]]))


def test_the_caller_may_use_its_arrays_again():
    X, Y = line(20)
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    gp.posterior_at(0.0)
    ledger, place, values = Ledger(X, Y), np.zeros((1, 1)), np.zeros((1, 3))
    for step in range(5):
        place[:], values[:] = step + 0.5, step
        gp.update(place, values)
        ledger.add(place, values)
    assert (gp.predict() == ledger.fresh().predict()).all()


def test_one_question_after_one_edit_sends_few_messages():
    X, Y = np.arange(3000.0)[:, None], np.zeros((3000, 3))
    live = catena.MultiOutputGP(**GIVEN).fit(X, Y).live()
    live.log_marginal_likelihood()
    assert live.recomputed.positions == 3000
    live.observe(1500.5, [1.0, 2.0, 3.0])
    live.posterior_at(1500.0)
    assert live.recomputed.positions < 100 and live.recomputed.pairs < 30
    # Messages that the query did not need are still recomputed for the evidence.
    live.log_marginal_likelihood()
    assert 0 < live.recomputed.positions < 100 and 0 < live.recomputed.pairs < 30


def minutes(X, zone=None):
    times = pd.DatetimeIndex(pd.Timestamp("2024-03-30 22:00") + pd.to_timedelta(60 * X[:, 0], unit="s"))
    return times if zone is None else times.tz_localize("UTC").tz_convert(zone)


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_a_table_along_time(zone):
    X = np.round(np.random.default_rng(1).uniform(0, 300, (40, 1)))
    frame = pd.DataFrame(line(40)[1], columns=["sea", "lake", "river"], index=minutes(X, zone).rename("when"))
    gp = catena.MultiOutputGP(**ALONG_TIME).fit(frame)
    live = gp.live()
    when = pd.Timestamp("2024-03-31 00:00:30", tz=zone)
    later = pd.DataFrame([[1.0, 2.0, np.nan], [np.nan, 0.5, 0.1]], columns=frame.columns)
    later.index = pd.DatetimeIndex([when + pd.Timedelta("1min"), frame.index[3]], name="when")
    live.observe(when, {"lake": 1.5})
    live.observe(later)
    gp.posterior_at(when)
    gp.update(when, {"lake": 1.5}).update(later, append=True)
    # At an existing row: replaced in one, added in the other.
    added = pd.DataFrame(
        [[np.nan, 1.5, np.nan]], columns=frame.columns, index=pd.DatetimeIndex([when], name="when")
    )
    last = np.flatnonzero(frame.index == frame.index[3])[-1]
    replaced = frame.copy()
    replaced.iloc[last, 1:] = [0.5, 0.1]
    edited = pd.concat([replaced, added, later.iloc[:1]])
    longer = pd.concat([frame, added, later])
    for found, table in ((live, edited), (gp, longer)):
        fresh = catena.MultiOutputGP(**ALONG_TIME).fit(table)
        for asked in (when, later.index, later):
            mean, std = found.posterior_at(asked, return_std=True)
            places = pd.DatetimeIndex([when]) if asked is when else asked
            expected = fresh.predict(places, return_std=True)
            pd.testing.assert_frame_equal(mean, expected[0], rtol=1e-9, atol=1e-9)
            pd.testing.assert_frame_equal(std, expected[1], rtol=1e-9, atol=1e-9)
        whole = live.to_gp() if found is live else gp
        pd.testing.assert_frame_equal(whole.predict(), fresh.predict(), check_freq=False)
        assert whole.predict().index.equals(table.index)


def test_times_without_pandas():
    X, Y = line(20)
    origin = datetime(2024, 5, 1)
    times = [origin + timedelta(minutes=float(minute)) for minute in X[:, 0]]
    gp = catena.MultiOutputGP(**ALONG_TIME).fit(times, Y)
    asked = origin + timedelta(minutes=4.2)
    for when in (asked, np.datetime64(asked), [asked]):
        same(gp.posterior_at(when), gp.predict([asked]))
    with pytest.raises(InputError, match="fitted to times"):
        gp.posterior_at(4.2)
    with pytest.raises(InputError, match="time zone"):
        gp.posterior_at(asked.replace(tzinfo=timezone.utc))
    zone = timezone(timedelta(hours=2))
    aware = catena.MultiOutputGP(**ALONG_TIME).fit([when.replace(tzinfo=zone) for when in times], Y)
    same(aware.posterior_at(asked.replace(tzinfo=zone)), gp.predict([asked]))
    same(aware.posterior_at((asked - timedelta(hours=2)).replace(tzinfo=timezone.utc)), gp.predict([asked]))
    with pytest.raises(InputError, match="row 1 has no time zone"):
        aware.posterior_at([asked.replace(tzinfo=zone), asked])


def test_what_a_single_place_and_a_single_value_may_be():
    X, Y = line(20, n_outputs=1)
    given = {**GIVEN, "mixing": [1.0], "length_scales": 2.0, "noise": 0.05}
    gp = catena.MultiOutputGP(**given).fit(X, Y[:, 0])
    live = gp.live()
    for place, value in [
        (1, 2),
        (1.5, [2.0]),
        (np.float64(2.5), np.float32(1)),
        ([[4.5]], {"y0": 1}),
    ]:
        live.observe(place, value)
    live.observe([5.5, 6.5], [1.0, np.nan])
    places, values = [1, 1.5, 2.5, 4.5, 5.5], [2.0, 2.0, 1.0, 1.0, 1.0]
    fresh = catena.MultiOutputGP(**given).fit(np.append(X[:, 0], places)[:, None], np.append(Y[:, 0], values))
    mean, std = live.posterior_at([1.0, 6.5], return_std=True)
    assert mean.shape == std.shape == (2,)
    same((mean, std), fresh.predict([[1.0], [6.5]], return_std=True))
    same(live.posterior_at(np.array(1.0)), fresh.predict([[1.0]]))


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "xarray"])
def test_answers_have_the_form_of_the_table(kind):
    library = pytest.importorskip(kind)
    X, Y = line(20)
    columns = {"place": X[:, 0], "a": Y[:, 0], "b": Y[:, 1], "c": Y[:, 2]}
    if kind == "xarray":
        table = library.DataArray(
            Y, dims=["place", "series"], coords={"place": X[:, 0], "series": list("abc")}
        )
    else:
        table = library.DataFrame(columns) if kind == "polars" else library.table(columns)
    gp = catena.MultiOutputGP(**GIVEN).fit(table)
    found, expected = gp.posterior_at([1.0, 2.0]), gp.predict([[1.0], [2.0]])
    assert type(found) is type(expected) and type(gp.live().posterior_at(1.0)) is type(expected)
    same(gp.live().posterior_at([1.0, 2.0]), found)
    gp.update(table, append=True)
    assert len(gp.predict()) == 40


def skewed():
    """A model with the logarithm of its second output, and its table."""
    generator = np.random.default_rng(0)
    X = np.arange(300.0)[:, None]
    logs = np.cumsum(generator.normal(0, 0.2, 300))
    Y = np.column_stack([logs + generator.normal(0, 0.1, 300), np.exp(logs)])
    gp = catena.MultiOutputGP(latents=1, transforms=["none", "log"]).fit(X, Y)
    assert [output["transform"] for output in gp.summary_["outputs"]] == ["none", "log"]
    return gp, Y


def test_units_that_were_learned():
    gp, Y = skewed()
    again = pickle.loads(pickle.dumps(gp))
    live = gp.live()
    gp.posterior_at(0.0)
    more = np.array([[10.0], [299.5], [311.0]]), np.array([[0.5, 2.0], [np.nan, 3.0], [0.1, np.nan]])
    gp.update(*more, append=True)
    live.observe(*more)
    again.update(*more, append=True)
    places = np.linspace(-5, 320, 7)[:, None]
    same(gp.posterior_at(places, True), again.predict(places, return_std=True))
    assert gp.warnings_ == again.warnings_
    edited = Y.copy()
    edited[10] = more[1][0]
    whole = live.to_gp()
    np.testing.assert_array_equal(whole._model.values(), np.vstack([edited, more[1][1:]]))
    same(live.posterior_at(places, True), whole.predict(places, return_std=True))
    assert live.log_marginal_likelihood() == pytest.approx(whole.log_marginal_likelihood(), rel=1e-9)
    for refuse in (
        lambda: live.observe([7.0, 8.5], [[1.0, 1.0], [1.0, -2.0]]),
        lambda: gp.update([7.0, 8.5], [[1.0, 1.0], [1.0, -2.0]], append=True),
    ):
        with pytest.raises(InputError, match='output "y1" at row 1: the value -2 is not positive'):
            refuse()
    same(live.posterior_at(places, True), whole.predict(places, return_std=True))
    same(gp.posterior_at(places, True), again.predict(places, return_std=True))
    assert (gp.predict() == again.predict()).all()


def test_copies_are_apart():
    live = catena.MultiOutputGP(**GIVEN).fit(*line(20)).live()
    live.observe(2.0, [1.0, 1.0, 1.0])
    other, before = copy.deepcopy(live), live.posterior_at(2.5)
    other.observe(2.5, [9.0, 9.0, 9.0])
    assert (live.posterior_at(2.5) == before).all() and other.n_rows == live.n_rows + 1
    assert repr(live).startswith("<LiveGP of ") and "in 21 rows" in repr(live)


def test_many_threads_ask_one_model():
    gp, expected = waiting()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: gp.predict(), range(16)))
        places = list(pool.map(lambda x: gp.posterior_at(x), np.linspace(0, 10, 32)))
    assert all((answer == expected.predict()).all() for answer in answers)
    same(np.vstack(places), expected.predict(np.linspace(0, 10, 32)[:, None]))


@pytest.mark.parametrize("is_live", [False, True])
def test_many_threads_add_rows_to_one_model(is_live):
    X, Y = np.arange(20.0)[:, None], np.sin(np.arange(20.0))[:, None]
    gp = catena.MultiOutputGP(
        learn=False, standardize=False, kernel="matern32", mixing=[[1.0]], length_scales=2.0, noise=0.01
    ).fit(X, Y)
    if is_live:
        gp.posterior_at(0.5)
    places = 20.0 + np.arange(64.0)

    def add(x):
        gp.update(x, np.sin(x))
        mean = gp.predict()
        assert len(mean) > 20 and np.isfinite(gp.posterior_at(x)).all()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, places))
    assert sorted(gp._points.values[:, 0]) == [*X[:, 0], *places]
    rows = gp._model_or_raise().inputs()[:, 0].astype(int)
    fresh = catena.MultiOutputGP(**gp.get_params()).fit(rows[:, None].astype(float), np.sin(rows)[:, None])
    same(gp.predict(), fresh.predict())


def test_many_threads_observe_one_live_posterior():
    index = pd.Index(np.arange(20.0), name="x")
    frame = pd.DataFrame({"a": np.sin(np.arange(20.0))}, index=index)
    gp = catena.MultiOutputGP(
        learn=False, standardize=False, kernel="matern32", mixing=[[1.0]], length_scales=2.0, noise=0.01
    ).fit(frame)
    live = gp.live()

    def add(x):
        live.observe(pd.DataFrame({"a": [np.sin(x)]}, index=pd.Index([x], name="x")))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, 20.0 + np.arange(64.0)))
    whole = live.to_gp()
    assert (whole.predict().index == whole._model_or_raise().inputs()[:, 0]).all()


def test_models_along_time():
    hours = np.arange(260.0)[:, None]
    level = np.cumsum(np.random.default_rng(3).normal(scale=0.05, size=(260, 2)), axis=0)
    Y = level + np.sin(2 * np.pi * hours / 24 + np.array([0.0, 1.0]))
    gp = catena.MultiOutputGP(kernel="matern12+rw+qp(24,2)", budget="quick").fit(hours[:240], Y[:240])
    again = pickle.loads(pickle.dumps(gp))
    gp.posterior_at(1.5)
    gp.update(hours[240:], Y[240:])
    again.update(hours[240:], Y[240:])
    places = [[0.0], [1.5], [100.0], [239.7], [250.0], [259.0], [300.0]]
    same(gp.posterior_at(places, return_std=True), again.predict(places, return_std=True))
    # A level starts at the first row; both extrapolate backward from there.
    same(gp.posterior_at(-30.0, return_std=True), again.predict([[-30.0]], return_std=True))


def _edit_in_child(live, X, Y, queue):
    live.observe(X, Y)
    queue.put(live.posterior_at(3.5).tolist())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_goes_on():
    X, Y = line(3000, seed=4)
    live = catena.MultiOutputGP(**GIVEN).fit(X, Y).live()
    live.posterior_at(3.5)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_edit_in_child, args=(live, X, -Y, queue))
    child.start()
    answer = queue.get(timeout=60)
    child.join(60)
    live.observe(X, -Y)
    assert child.exitcode == 0 and answer == live.posterior_at(3.5).tolist()
