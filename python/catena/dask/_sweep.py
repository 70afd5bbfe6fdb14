"""One sweep with given parameters over a table in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .._sweep import Gradient
from ._gp import MultiOutputGP

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike


class Sweep(NamedTuple):
    """What one sweep tells: log evidence, its gradient, and mean and standard deviation of the function at the rows, as
    collections of Dask."""

    log_evidence: float
    gradient: Gradient | None
    mean: Any
    std: Any


def sweep(
    X: Any,
    Y: Any = None,
    *,
    mixing: ArrayLike,
    length_scales: ArrayLike,
    noise: ArrayLike,
    kernel: str = "matern32",
    gradient: bool = True,
    inputs: Any = None,
    n_parts: int | None = None,
    client: Any = None,
) -> Sweep:
    """One exact pass of messages over a table in parts, with parameters as they are given; :func:`catena.sweep` on a cluster.

    Nothing is standardized: outputs are taken to have mean zero, and length-scales are distances of the inputs.

    Parameters
    ----------
    X, Y, inputs, client :
        The table, as in :meth:`catena.dask.MultiOutputGP.fit`.
    mixing, length_scales, noise, kernel :
        The model, as in :func:`catena.sweep`.
    gradient : bool
        Whether derivatives are wanted; they are a second round.
    n_parts : int, optional
        Into how many parts rows are sorted where they have to be.
    """
    gp = MultiOutputGP(
        learn=False,
        standardize=False,
        mixing=mixing,
        length_scales=length_scales,
        noise=noise,
        kernel=kernel,
        n_parts=n_parts,
        progress=False,
    ).fit(X, Y, inputs=inputs, client=client)
    slopes = gp.gradient() if gradient else None
    found = None if slopes is None else Gradient(slopes["mixing"], slopes["length_scales"], slopes["noise"])
    mean, std = gp.predict(return_std=True, include_noise=False)
    return Sweep(gp._log_evidence, found, mean, std)
