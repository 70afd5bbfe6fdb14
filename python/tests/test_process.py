"""Threads, signals, forks and imports."""

import datetime
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest
from tables import GIVEN, MODEL, line

import catena
from catena.errors import FitInterruptedWarning


def large(n_rows):
    """A table that takes a while."""
    generator = np.random.default_rng(0)
    X = np.arange(float(n_rows))[:, np.newaxis]
    waves = np.cumsum(generator.normal(size=(n_rows, 3)), axis=0)
    return X, waves @ generator.normal(size=(3, 6)) + generator.normal(size=(n_rows, 6))


@pytest.fixture
def ctrl_c():
    """Ctrl-C as at a terminal; shells start background processes with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_keeps_the_best_so_far():
    X, Y = large(20_000)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    try:
        with pytest.warns(FitInterruptedWarning, match="best model"):
            gp = catena.MultiOutputGP(budget="thorough", latents=4, kernel="matern32").fit(X, Y)
    finally:
        timer.cancel()
    # Learning to the end takes minutes; evaluations in progress may still finish.
    assert time.monotonic() - begin < 30
    assert np.isfinite(gp.predict(X[:5])).all()
    assert any("interrupted" in warning for warning in gp.warnings_)


@pytest.mark.parametrize("limit", [1, "1s", datetime.timedelta(seconds=1)])
def test_a_time_limit_ends_a_fit(limit):
    X, Y = large(20_000)
    begin = time.monotonic()
    gp = catena.MultiOutputGP(budget="thorough", time_limit=limit).fit(X, Y)
    # Without the limit it takes minutes; other programs may run.
    assert time.monotonic() - begin < 15
    assert np.isfinite(gp.predict(X[:5])).all()
    assert any(warning.startswith("time limit: ") for warning in gp.warnings_)


def test_other_python_threads_run_during_a_sweep():
    X, Y = large(300_000)
    weights = np.random.default_rng(1).normal(size=(6, 4))
    ticks, is_done = [], threading.Event()

    def tick():
        while not is_done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    other = threading.Thread(target=tick)
    other.start()
    begin = time.monotonic()
    catena.sweep(X, Y, mixing=weights, length_scales=[5.0] * 4, noise=1.0)
    end = time.monotonic()
    is_done.set()
    other.join()
    # With the lock held there would be a gap as long as the sweep.
    inside = [begin, *(at for at in ticks if begin < at < end), end]
    assert end - begin > 0.05 and max(np.diff(inside)) < 0.5 * (end - begin)


def _fit_in_child(queue):
    X, Y = line()
    queue.put(catena.MultiOutputGP(**GIVEN).fit(X, Y).predict(X).tolist())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    X, Y = line()
    expected = catena.MultiOutputGP(**GIVEN).fit(X, Y).predict(X)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_fit_in_child, args=(queue,))
    child.start()
    answer = queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0 and answer == expected.tolist()


def _everything_in_child(queue, gp, folder):
    queue.put((gp.log_marginal_likelihood(), len(gp.report().html)))
    gp.save(os.path.join(folder, "model.catena"))
    queue.put(len(pickle.dumps(gp)))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["nngp:5", "catena"])
def test_a_model_that_is_forked_answers_everything(method, tmp_path):
    X, Y = line(60)
    structure = "ensemble:2" if method == "catena" else "auto"
    gp = catena.MultiOutputGP(method=method, structure=structure, **GIVEN).fit(X, Y)
    # Threads of this process ran each of these; a child has none of them.
    expected = gp.log_marginal_likelihood(), len(gp.report().html)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_everything_in_child, args=(queue, gp, tmp_path))
    child.start()
    try:
        assert queue.get(timeout=60) == expected
        assert queue.get(timeout=60) > 0
        child.join(60)
        assert child.exitcode == 0
    finally:
        child.kill()


def _python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_no_other_library_is_imported():
    code = (
        "import sys, numpy, catena; numbers = numpy.arange(9.0)\n"
        "gp = catena.MultiOutputGP(budget='quick').fit(numbers[:, None], numpy.sin(numbers))\n"
        "gp.predict([[1.5]]), gp.report(), repr(gp), gp.sample_y([[1.5]])\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & "
        "{'pandas', 'polars', 'pyarrow', 'xarray', 'sklearn', 'scipy', 'matplotlib', 'IPython'}))"
    )
    assert _python(code) == "[]"


def test_import_adds_little_to_that_of_numpy():
    code = "import time, numpy; begin = time.process_time(); import catena; print(1e3 * (time.process_time() - begin))"
    # The minimum of several runs; other load only adds time.
    assert min(float(_python(code)) for _ in range(7)) <= 20


def test_progress_is_told_and_may_fail():
    from catena import _catena, _keeping, _options
    from catena._frames import read_pair

    X, Y = large(4000)
    gp = catena.MultiOutputGP(budget="quick", latents=1, kernel="matern32")
    points, values, names, notes = read_pair(X, Y)
    told, left = [], []

    def told_of(stage, done, seconds):
        told.append((stage, done))
        left.append(seconds)

    wanted, about = _options.fit_options(gp, names), _keeping.about(gp, points, names, notes)
    _catena.fit(points.values, values, wanted, about, told_of)
    assert {"learning"} <= {stage for stage, _ in told} and all(0 <= done <= 1 for _, done in told)
    assert all(0 <= seconds < 3600 for seconds in left)

    def fail(stage, done, left):
        raise RuntimeError("the callback failed")

    with pytest.raises(RuntimeError, match="the callback failed"):
        _catena.fit(points.values, values, wanted, about, fail)


def test_progress_on_a_terminal_is_one_line(capsys, monkeypatch):
    from catena import _progress

    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    catena.MultiOutputGP(budget="quick", latents=1, kernel="matern32", progress=True).fit(*large(4000))
    shown = capsys.readouterr().err
    assert "catena: learning" in shown and "\n" not in shown and shown.endswith("\r\x1b[K")


def test_progress_in_a_notebook_is_one_display_that_changes(monkeypatch):
    from catena import _progress

    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/plain"])

    def display(data, raw, display_id):
        shown.append(data["text/plain"])
        return Handle()

    # Modules that a notebook has loaded; neither is needed here.
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    module = types.ModuleType("IPython.display")
    module.display = display
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    line = _progress.watcher("auto")
    line("learning", 0.5, 63.0)
    line("learning", 0.5, 64.0)
    line("computing the posterior", 1.0)
    line.close()
    assert [text.split(",")[0] for text in shown] == [
        "catena: learning  50 %",
        "catena: computing the posterior 100 %",
        "",
    ]
    assert _progress.watcher(False) is None


def test_results_are_handed_over_without_a_copy():
    swept = catena.sweep(*line(), **MODEL)
    # The memory of the array is owned by Rust, not by numpy.
    for array in (swept.mean, swept.variance, swept.gradient.mixing):
        owner = array
        while isinstance(owner, np.ndarray) and owner.base is not None:
            owner = owner.base
        assert not isinstance(owner, np.ndarray)
        assert array.flags.c_contiguous and array.flags.writeable


def test_arrays_that_fit_are_read_where_they_are():
    from catena import _check

    X, Y = line()
    assert _check.table(X, "X") is X and _check.outputs(Y)[0] is Y
    vector = Y[:, 0].copy()
    assert np.shares_memory(_check.outputs(vector)[0], vector)
