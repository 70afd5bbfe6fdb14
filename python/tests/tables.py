"""Tables of the tests, generated from seeds."""

import numpy as np

import catena

#: Parameters of a model with two latents and three outputs, in the units of the tables below.
MODEL = {
    "mixing": np.array([[1.0, 0.3], [0.8, -0.5], [-0.4, 0.9]]),
    "length_scales": np.array([2.0, 0.7]),
    "noise": np.array([0.05, 0.02, 0.1]),
    "kernel": "matern32",
}
#: The same as arguments of an estimator.
GIVEN = {"learn": False, "standardize": False, **MODEL}


def line(n_rows=25, n_outputs=3, missing=0.3, seed=0):
    """Unordered points of one input, correlated outputs, and missing values."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(0, 10, (n_rows, 1))
    wave = np.column_stack([np.sin(X[:, 0]), np.cos(0.6 * X[:, 0])])
    Y = wave @ generator.normal(size=(2, n_outputs)) + 0.1 * generator.normal(size=(n_rows, n_outputs))
    Y[generator.uniform(size=Y.shape) < missing] = np.nan
    Y[0] = generator.normal(size=n_outputs)
    return X, Y


def plane(n_rows=40, n_outputs=2, dim=2, seed=0):
    """Points in a plane, smooth outputs and missing values."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(0, 3, (n_rows, dim))
    Y = np.column_stack([np.sin(X.sum(1) + output) for output in range(n_outputs)])
    Y += 0.05 * generator.normal(size=Y.shape)
    Y[generator.uniform(size=Y.shape) < 0.2] = np.nan
    return X, Y


def waiting():
    """A model with rows that only its live posterior has, and a model of all rows."""
    X, Y = line(30)
    gp = catena.MultiOutputGP(**GIVEN).fit(X[:20], Y[:20])
    gp.posterior_at(3.0)
    gp.update(X[20:25], Y[20:25])
    gp.update(X[25:], Y[25:])
    assert len(gp._later) == 2
    return gp, catena.MultiOutputGP(**GIVEN).fit(X, Y)
