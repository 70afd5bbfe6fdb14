"""One sweep with given parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import _catena, _check
from .errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .structures import Structure


class Gradient(NamedTuple):
    """Gradient of the log evidence: mixing (D, L), length-scales (L,) and noise variances (D,)."""

    mixing: np.ndarray
    length_scales: np.ndarray
    noise: np.ndarray


class Sweep(NamedTuple):
    """Result of a sweep: log evidence, its gradient, and mean and variance (n, D) of the latent function at the rows."""

    log_evidence: float
    gradient: Gradient | None
    mean: np.ndarray
    variance: np.ndarray

    @property
    def std(self) -> np.ndarray:
        """Standard deviations (n, D) of the latent function at the rows."""
        return np.sqrt(self.variance)


def sweep(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    mixing: ArrayLike,
    length_scales: ArrayLike,
    noise: ArrayLike,
    kernel: str = "matern32",
    structure: Structure | None = None,
    gradient: bool = True,
) -> Sweep:
    """One exact sweep (forward and backward pass) over a table with given parameters.

    Nothing is standardized: outputs have prior mean zero, and length-scales are in units of the inputs.

    Parameters
    ----------
    X : array-like of shape (n, M)
        Inputs.
    Y : array-like of shape (n, D) or (n,)
        Values, NaN where missing.
    mixing : array-like of shape (D, L)
        Weight of each latent process in each output.
    length_scales : array-like of shape (L,), or a number
        Length-scales of the latent processes.
    noise : array-like of shape (D,), or a number
        Noise variances of the outputs.
    kernel : str
        ``"matern12"``, ``"matern32"``, ``"matern52"`` or ``"se"`` (squared exponential).
    structure : Structure, optional
        One of :mod:`catena.structures`; by default selected by the number of inputs.
    gradient : bool
        Whether to compute the gradient.

    Examples
    --------
    >>> import numpy as np, catena
    >>> X = np.arange(5.0)[:, None]
    >>> Y = np.array([0.1, 0.9, np.nan, 0.2, -0.8])
    >>> swept = catena.sweep(X, Y, mixing=[[1.0]], length_scales=2.0, noise=0.1)
    >>> round(swept.log_evidence, 6)
    -4.419747
    >>> swept.gradient.mixing.shape
    (1, 1)
    """
    inputs = _check.table(X, "X")
    _check.complete(inputs, "X", [str(column) for column in range(inputs.shape[1])])
    values, _ = _check.outputs(Y)
    _check.same_rows(inputs, values)
    if np.isinf(values).any():
        raise InputError("Y contains infinity; use NaN for a missing value.")
    weights = mixing_of(mixing, values.shape[1])
    lengths = _check.vector(length_scales, "length_scales", weights.shape[1])
    variances = _check.vector(noise, "noise", values.shape[1])
    if structure is not None and len(structure) != len(inputs):
        raise InputError(f"the structure has {len(structure)} rows, but X has {len(inputs)}.")
    found = _catena.sweep(
        inputs, values, weights, lengths.tolist(), variances.tolist(), kernel, structure, gradient
    )
    derivatives = Gradient(found["mixing"], found["length_scales"], found["noise"]) if gradient else None
    return Sweep(found["log_evidence"], derivatives, found["mean"], found["variance"])


def mixing_of(given, n_outputs):
    """The mixing matrix, one row per output; a vector is a single column."""
    weights, _ = _check.outputs(given, "mixing")
    if weights.shape[0] != n_outputs:
        raise InputError(f"mixing has {weights.shape[0]} rows, but needs {n_outputs}, one per output.")
    if not np.isfinite(weights).all():
        raise InputError("mixing must be finite.")
    return weights
