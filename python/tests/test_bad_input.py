"""Invalid arguments raise an exception with one sentence, never a panic."""

import numpy as np
import pytest
from tables import GIVEN, MODEL, line

import catena
from catena.errors import CatenaError, InputError

X, Y = line()


@pytest.mark.parametrize(
    ("X", "Y", "sentence"),
    [
        (X[:, 0], Y, "Reshape your data"),
        (X[..., np.newaxis], Y, "3 dimensions"),
        (X, Y[..., np.newaxis], "3 dimensions"),
        (X[:0], Y[:0], "0 sample"),
        (X[:, :0], Y, "0 feature"),
        (X, Y[:, :0], "no columns"),
        (X, Y[:-1], "25 rows but Y has 24"),
        (X, 3.0, "single number"),
        (X, None, "requires y to be passed"),
        (None, Y, "X is None"),
        (np.where(X[3] == X, np.nan, X), Y, "NaN: column x0 at row 3"),
        (np.where(X[3] == X, np.inf, X), Y, "infinity"),
        (X, np.where(Y[0, 1] == Y, -np.inf, Y), "output y1 at row 0"),
        (X, np.full_like(Y, np.nan), "Output y0 has no observed value"),
        (X.astype(complex), Y, "Complex data not supported"),
        (X, Y.astype(str), "holds text"),
        ([[1.0], [2.0, 3.0]], [1.0, 2.0], "not rectangular"),
        (X, np.zeros(25, dtype="datetime64[s]"), "holds times"),
        (X[:1], Y[:1], "n_samples = 1"),
        (
            10**18 + np.arange(25)[:, None],
            Y,
            "X has the integer 1000000000000000000, beyond 2.*subtract an origin",
        ),
        (np.arange(25, dtype=np.uint64)[:, None] + np.uint64(2**63), Y, "beyond 2"),
        ([[2**70 + row] for row in range(25)], Y, "beyond 2"),
        (X, np.full(25, -(2**53)), "Y has the integer -9007199254740992, beyond 2"),
        (X, np.ma.masked_array(np.full(25, 2**60), np.arange(25) == 3), "beyond 2"),
    ],
)
def test_tables(X, Y, sentence):
    with pytest.raises(InputError, match=sentence):
        catena.MultiOutputGP().fit(X, Y)


@pytest.mark.parametrize("wrong", [np.array([["a"]], dtype=object), np.array([[{}]], dtype=object)])
def test_objects(wrong):
    with pytest.raises((TypeError, ValueError), match=r"string|number"):
        catena.MultiOutputGP().fit(np.repeat(wrong, 25, axis=0), Y)


def test_sparse_tables():
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match="sparse"):
        catena.MultiOutputGP().fit(csr_array(X), Y)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"latents": -1}, "latents=-1"),
        ({"max_memory": "lots"}, "max_memory=.lots. is unknown"),
        ({"max_memory": -5}, "max_memory=-5"),
        ({"max_memory": "1kB"}, "of memory, more than 1.0 kB; raise .*max_memory"),
        ({"structure": "ensemble:1000000000"}, "from 1 to 1000"),
        ({"latents": 1.5}, "latents=1.5"),
        ({"latents": "many"}, "latents='many'"),
        ({"latents": 0, "private": False}, "at least 1"),
        ({"kernel": "rbf9"}, "is not a kernel"),
        ({"kernel": 3}, "kernel=3"),
        ({"structure": "ring"}, 'structure="ring" is unknown'),
        ({"structure": "ensemble:0"}, "ensemble:K"),
        ({"method": "magic"}, 'method="magic" is unknown'),
        ({"method": "nngp:99"}, "99 neighbors"),
        ({"budget": "endless"}, "quick, default or thorough"),
        ({"private": "maybe"}, "private='maybe'"),
        (
            {"transforms": "cube"},
            'transforms="cube" is unknown; write auto, none, log, box-cox or yeo-johnson',
        ),
        (
            {"transforms": {"y0": "cube"}},
            r'transforms\["y0"\]="cube" is unknown; write auto, none, log, box-cox',
        ),
        (
            {"transforms": 3},
            "transforms=3 is unknown; write 'auto', 'none', 'log', 'box-cox' or 'yeo-johnson'",
        ),
        ({"transforms": {"rain": "log"}}, "transforms names the output 'rain', but the outputs are"),
        ({"transforms": ["log"] * 9}, "transforms has 9 entries, but there are"),
        ({"standardize": "no"}, "standardize='no'"),
        ({"random_state": -1}, "random_state=-1"),
        ({"random_state": "dice"}, "random_state='dice'"),
        ({"progress": "loud"}, "progress='loud'"),
        ({"time_limit": "soon"}, "soon"),
        ({"time_limit": -1}, "time_limit=-1 must be positive"),
        ({"time_limit": [3]}, "time_limit=\\[3\\] is invalid"),
        ({"learn": False}, "learn=False needs mixing, length_scales, noise, kernel"),
        ({"mixing": [[1.0]]}, "set learn=False"),
        ({**GIVEN, "mixing": np.ones((2, 2))}, "2 rows, but needs 3"),
        ({**GIVEN, "length_scales": [1.0]}, "needs 2 numbers"),
        ({**GIVEN, "length_scales": -1.0}, "length_scales must be positive and finite, but holds -1"),
        ({**GIVEN, "length_scales": [1.0, np.inf]}, "positive and finite, but holds inf"),
        ({**GIVEN, "noise": 0.0}, "positive"),
        ({**GIVEN, "noise": [0.1, 0.1]}, "needs 3 numbers"),
        ({**GIVEN, "mixing": np.full((3, 2), np.nan)}, "finite"),
        ({**GIVEN, "private": True}, "length-scales|mixing"),
    ],
)
def test_parameters(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        catena.MultiOutputGP(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda gp: gp.predict(X[:, 0]), "Reshape your data"),
        (lambda gp: gp.predict(np.ones((3, 2))), "X has 2 features"),
        (lambda gp: gp.predict(X[:0]), "0 sample"),
        (lambda gp: gp.predict([[np.nan]]), "NaN"),
        (lambda gp: gp.predict(X, return_std=True, return_cov=True), "cannot be combined"),
        (lambda gp: gp.interval(X, level=1.5), "level=1.5"),
        (lambda gp: gp.sample_y(X, 0), "n_samples=0"),
        (lambda gp: gp.forecast(0), "horizon=0"),
        (lambda gp: gp.forecast("48h"), "holds numbers"),
        (lambda gp: gp.forecast(3, step=-1.0), "positive"),
        (lambda gp: gp.forecast(None), "horizon=None is invalid"),
        (lambda gp: gp.forecast(1e12), "more than"),
        (lambda gp: gp.update(X, Y[:, :2]), "2 outputs, but the model has 3"),
        (lambda gp: gp.update(X, np.full_like(Y, np.inf)), "infinity"),
        (lambda gp: gp.score(X, Y[:3]), "rows"),
        (lambda gp: gp.report(held_out=Y[:3]), "rows"),
        (lambda gp: gp.fit(X, Y, candidates=np.ones((3, 2))), "candidates have 2 inputs"),
        (lambda gp: gp.fit(X, Y, candidates=[1.0, 2.0]), "1D array instead for candidates"),
        (lambda gp: gp.fit(X, Y, candidates=[[np.nan]]), "Input candidates contains NaN"),
        (
            lambda gp: gp.set_params(structure="ensemble:2").fit(X, Y, candidates=X),
            "candidates are part of one chain or tree",
        ),
    ],
)
def test_questions(ask, sentence):
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    with pytest.raises(InputError, match=sentence):
        ask(gp)


@pytest.mark.parametrize(
    "ask", ["predict", "impute", "log_marginal_likelihood", "report", "plot", "sample_y"]
)
def test_too_early(ask):
    with pytest.raises(CatenaError, match="not fitted"):
        getattr(catena.MultiOutputGP(), ask)()
    assert not hasattr(catena.MultiOutputGP(), "mixing_")


def test_layouts_of_memory_do_not_matter():
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    wide = np.full((50, 6), np.nan)
    wide[::2, ::2] = Y
    frozen = Y.copy()
    frozen.flags.writeable = False
    masked = np.ma.masked_invalid(Y)
    odd = np.frombuffer(b"." + Y.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(Y.shape)
    assert not odd.flags.aligned
    same = [
        odd,
        wide[::2, ::2],
        np.asfortranarray(Y),
        frozen,
        masked,
        Y.tolist(),
        Y.astype(object),
        Y[::-1][::-1],
    ]
    for other in same:
        again = catena.MultiOutputGP(**GIVEN).fit(np.asfortranarray(X), other)
        assert (again.predict(X) == gp.predict(X)).all()
    single = catena.MultiOutputGP(**GIVEN).fit(X.astype(np.float32), Y.astype(np.float32))
    np.testing.assert_allclose(single.predict(X), gp.predict(X), atol=1e-4)
    whole = catena.MultiOutputGP(**GIVEN).fit(np.arange(25)[:, np.newaxis], np.arange(75).reshape(25, 3))
    assert np.isfinite(whole.predict()).all()


def test_what_was_given_is_not_changed():
    kept_X, kept_Y = X.copy(), Y.copy()
    catena.MultiOutputGP(**GIVEN).fit(X, Y).impute()
    assert (kept_X == X).all() and np.array_equal(kept_Y, Y, equal_nan=True)


def test_numbers_too_large_are_an_error_of_numbers():
    with pytest.raises(catena.errors.NumericalError, match=r"overflow|finite|row"):
        catena.MultiOutputGP(**{**GIVEN, "noise": 1e-300, "mixing": 1e200 * MODEL["mixing"]}).fit(X, Y)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: catena.sweep(X, Y[:3], **MODEL), "rows"),
        (lambda: catena.sweep(X, Y, **{**MODEL, "kernel": "none"}), "not a kernel"),
        (lambda: catena.sweep(X, Y, **{**MODEL, "noise": [1.0]}), "3 numbers"),
        (lambda: catena.sweep(X, Y, **MODEL, structure=catena.structures.sorted_chain(X[:4])), "4 rows"),
        (lambda: catena.structures.sorted_chain(np.ones((3, 2))), "one input column"),
        (lambda: catena.structures.greedy_chain(X, start=25), "start=25"),
        (lambda: catena.structures.random_chains(X, 0), "n_chains=0"),
        (lambda: catena.metrics.rmse([1.0, 2.0], [1.0]), "different shapes"),
        (lambda: catena.metrics.rmse([np.nan], [1.0]), "nothing to score"),
        (lambda: catena.metrics.log_score([1.0], [1.0], [0.0]), "positive"),
        (lambda: catena.metrics.coverage([1.0], [1.0], [1.0], level=0), "level=0"),
    ],
)
def test_pieces(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()


def test_memory_is_asked_for_rows_points_and_draws():
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    gp.set_params(max_memory="1kB")
    with pytest.raises(InputError, match=r"needs about .* of memory, more than 1.0 kB"):
        gp.update(X + 100.0, Y, relearn=True)
    assert len(gp.predict()) == len(X)
    with pytest.raises(InputError, match=r"predictions need about .* TB of memory"):
        gp.sample_y(n_samples=2**40)
    limited = catena.MultiOutputGP(**GIVEN, max_memory="1MB").fit(X, Y)
    with pytest.raises(InputError, match=r"predictions need about .* MB of memory, more than 1.0 MB"):
        limited.forecast(1_000_000)
