"""Chains and trees over the points of a table.

>>> import numpy as np
>>> from catena import structures
>>> chain = structures.greedy_chain(np.array([[0.0, 0.0], [3.0, 0.0], [1.0, 0.0]]))
>>> chain.order
array([0, 2, 1])
>>> chain.parents
array([-1,  2,  0])
>>> chain.total_length
3.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _catena, _check
from ._catena import Structure
from ._random import seed_of
from .errors import InputError

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

__all__ = ["Structure", "chain", "greedy_chain", "random_chains", "sorted_chain", "spanning_tree"]


def sorted_chain(X: ArrayLike) -> Structure:
    """The chain of a single input column of shape (n, 1) in ascending order; exact for one input."""
    return _catena.sorted_chain(_points(X))


def chain(X: ArrayLike, order: ArrayLike) -> Structure:
    """The chain that visits the rows in the given order.

    >>> chain(np.array([[0.0, 0.0], [3.0, 0.0], [1.0, 0.0]]), [1, 2, 0]).total_length
    3.0
    """
    points = _points(X)
    rows = np.asarray(order)
    if (
        rows.shape != (len(points),)
        or rows.dtype.kind not in "iu"
        or (np.sort(rows) != np.arange(len(points))).any()
    ):
        raise InputError(f"order must contain each of the {len(points)} rows once.")
    return _catena.chain(points, rows.tolist())


def greedy_chain(X: ArrayLike, start: int = 0) -> Structure:
    """The chain that always moves to the nearest unvisited row, from row ``start``; ties go to the lowest row."""
    points = _points(X)
    if not 0 <= start < len(points):
        raise InputError(f"start={start} is not one of the {len(points)} rows.")
    return _catena.greedy_chain(points, start)


def spanning_tree(X: ArrayLike) -> Structure:
    """The minimum spanning tree over all rows."""
    return _catena.spanning_tree(_points(X))


def random_chains(X: ArrayLike, n_chains: int, random_state: Any = 0) -> list[Structure]:
    """Greedy chains with random starts and random choices, for ensembles."""
    if n_chains < 1:
        raise InputError(f"n_chains={n_chains} is too few; give at least 1.")
    return _catena.random_chains(_points(X), n_chains, seed_of(random_state))


def _points(X):
    points = _check.table(X, "X")
    return _check.complete(points, "X", [str(column) for column in range(points.shape[1])])
