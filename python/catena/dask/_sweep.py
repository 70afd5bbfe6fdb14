"""One sweep with given parameters over a partitioned table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .._sweep import Gradient
from ._gp import MultiOutputGP

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike


class Sweep(NamedTuple):
    """Result of a sweep: log evidence, its gradient, and mean and standard deviation of the latent function at the rows, as
    dask collections."""

    log_evidence: float
    gradient: Gradient | None
    mean: Any
    std: Any

    @property
    def variance(self) -> Any:
        """Variances of the latent function at the rows, as a dask collection."""
        return self.std**2


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
    """One exact sweep over a partitioned table with given parameters; :func:`catena.sweep` on a cluster.

    Nothing is standardized: outputs have prior mean zero, and length-scales are in units of the inputs.

    Parameters
    ----------
    X, Y, inputs, client :
        The table, as in :meth:`catena.dask.MultiOutputGP.fit`.
    mixing, length_scales, noise, kernel :
        The model, as in :func:`catena.sweep`.
    gradient : bool
        Whether to compute the gradient, in a second round.
    n_parts : int, optional
        Number of partitions if rows have to be sorted.
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
    found = gp.gradient() if gradient else None
    derivatives = found and Gradient(found["mixing"], found["length_scales"], found["noise"])
    mean, std = gp.predict(return_std=True, include_noise=False)
    return Sweep(gp._log_evidence, derivatives, mean, std)
