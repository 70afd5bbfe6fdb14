"""A live posterior, updated as single observations are added, replaced and removed."""

from __future__ import annotations

from _thread import allocate_lock
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from ._old_names import warn
from ._rows import longer, read_places, read_rows
from .errors import InputError

if TYPE_CHECKING:
    from typing import Any, Literal

    from ._gp import MultiOutputGP
    from ._types import Predictions


class Recomputed(NamedTuple):
    """Number of messages recomputed by a query."""

    #: Positions whose step and cells were recomputed.
    positions: int
    #: Pairs of segments that were joined again.
    pairs: int


class LiveGP:
    """A fitted model that takes single observations, created by :meth:`MultiOutputGP.live`.

    An observation and a query cost O(log n) in the number of rows: a fraction of a millisecond at a million rows. With one
    input, results equal those of a model of the edited table. With several inputs a new point is attached to its nearest
    row, and :meth:`to_gp` rebuilds the structure. Parameters and units stay those of the original model, which does not change.
    Several threads may observe and query.

    Points are given as for :meth:`MultiOutputGP.predict`, or as a single point: a number, a time, or one number per input.

    Examples
    --------
    >>> import numpy as np, catena
    >>> gp = catena.MultiOutputGP(
    ...     learn=False, standardize=False, kernel="matern32", mixing=[[1.0], [0.5]], length_scales=2.0, noise=0.01
    ... ).fit([[0.0], [1.0]], [[0.1, 0.0], [0.9, np.nan]])
    >>> live = gp.live()
    >>> live.observe(2.0, {"y0": 1.4})                      # one output at one point
    >>> live.observe([2.0, 3.0], [[1.5, np.nan], [np.nan, 0.3]])   # replaces one, and adds another
    >>> mean, std = live.posterior_at(2.5, return_std=True)
    >>> mean.round(3), std.round(3)
    (array([[1.143, 0.572]]), array([[0.227, 0.143]]))
    >>> live.remove(3.0, "y1")
    1
    >>> live.to_gp().predict([[2.5]]).round(3)
    array([[1.427, 0.714]])
    """

    def __init__(self, gp: MultiOutputGP) -> None:
        with gp._guard():
            self._live = gp._model_or_raise().live()
            self._gp = gp._apart()
        #: Index and integer flag of added rows.
        self._added = []
        #: Held while rows are added, so that both have the same order.
        self._lock = allocate_lock()

    def observe(self, x: Any, y: Any = None) -> None:
        """Observes values at one or more points; either all rows are applied or none.

        If a row with the same inputs exists, its values are replaced (the last such row if there are several); otherwise a row
        is added. Values that overflow are reported by the next query; observing the cell again repairs it.

        Parameters
        ----------
        x : one or more points
        y : a number for a single output, one value per output, an array of shape (n, D), a frame, or a dict by output
            Outputs that are NaN or not in the dict stay unchanged. None if ``x`` is a frame with inputs and outputs.
        """
        points, values = read_rows(self._gp, x, y)
        with self._lock:
            added = self._live.observe(points.values, values)
            if any(added):
                index = None if points.index is None else points.index[np.array(added)]
                self._added.append((index, points.integer))

    def remove(self, x: Any, output: int | str) -> int:
        """Removes the value of an output at one or more points (from the last of several rows with the same inputs).

        ``output`` is a name or an index. Returns the number of removed values.
        """
        return self._live.remove(read_places(self._gp, x).values, self._output(output))

    @overload
    def posterior_at(
        self, x: Any, return_std: Literal[False] = ..., *, include_noise: bool = ..., point: str = ...
    ) -> Predictions: ...

    @overload
    def posterior_at(
        self, x: Any, return_std: Literal[True], *, include_noise: bool = ..., point: str = ...
    ) -> tuple[Predictions, Predictions]: ...

    def posterior_at(
        self, x: Any, return_std: bool = False, *, include_noise: bool = True, point: str = "mean"
    ) -> Predictions | tuple[Predictions, Predictions]:
        """Means, and with ``return_std`` standard deviations, of all outputs at one or more points.

        Arguments and results are those of :meth:`MultiOutputGP.posterior_at`; a single point gives a table of one row.
        """
        points = read_places(self._gp, x)
        mean, std = self._live.posterior(points.values, include_noise, point)
        return self._gp._answers(mean, std, points, return_std)

    def deviations(self, x: Any) -> Predictions:
        """How far the values observed at one or more points are from what all *other* values say, in standard deviations.

        NaN for outputs without a value there. Beyond about 4 a value is surprising; :meth:`MultiOutputGP.check` judges a whole
        table. Of an output with a transform the deviation is that of the transformed value. Points are as for
        :meth:`posterior_at`.

        >>> import numpy as np, catena
        >>> gp = catena.MultiOutputGP(
        ...     learn=False, standardize=False, kernel="matern32", mixing=[[1.0]], length_scales=5.0, noise=0.01
        ... ).fit([[0.0], [1.0], [3.0]], [[0.1], [0.2], [0.4]])
        >>> live = gp.live()
        >>> live.observe(2.0, 3.0)
        >>> bool(live.deviations(2.0)[0, 0] > 10)
        True
        """
        points = read_places(self._gp, x)
        return self._gp._answer(self._live.deviations(points.values), points)

    def log_marginal_likelihood(self) -> float:
        """The log evidence: the log density of the observed values under the model, in the caller's units."""
        return self._live.log_evidence()

    def log_evidence(self) -> float:
        """The old name of :meth:`log_marginal_likelihood`."""
        warn("log_evidence() is now log_marginal_likelihood()")
        return self.log_marginal_likelihood()

    @property
    def recomputed(self) -> Recomputed:
        """Number of messages recomputed by the last query."""
        return Recomputed(*self._live.recomputed())

    @property
    def n_rows(self) -> int:
        """Number of rows, including added rows."""
        return self._live.size()[0]

    @property
    def n_observed(self) -> int:
        """Number of observed values."""
        return self._live.size()[1]

    @property
    def output_names_(self) -> list[str]:
        """Names of the outputs."""
        return self._gp.output_names_

    def to_gp(self) -> MultiOutputGP:
        """A model of the current table with the same parameters, independent of this live posterior."""
        gp = self._gp._apart()
        with self._lock:
            model, added = self._live.to_model(self._gp._model), list(self._added)
        indexes, integer = [index for index, _ in added], all(integer for _, integer in added)
        gp._adopt(model, longer(gp._points, model.inputs(), indexes, integer), gp._notes)
        gp._original = None
        return gp

    def __copy__(self) -> LiveGP:
        other = object.__new__(type(self))
        with self._lock:
            other._live, other._gp, other._added = self._live.copy(), self._gp, list(self._added)
        other._lock = allocate_lock()
        return other

    def __deepcopy__(self, memo: Any) -> LiveGP:
        return self.__copy__()

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError(
            "a live posterior cannot be pickled; pickle live.to_gp() and call live() on it again."
        )

    def __repr__(self) -> str:
        n_rows, n_observed = self._live.size()
        return f"<{type(self).__name__} of {n_observed} values in {n_rows} rows of {self._gp!r}>"

    def _output(self, given):
        names = self._gp.output_names_
        if given in names:
            return names.index(given)
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and 0 <= given < len(names):
            return int(given)
        raise InputError(f"the model has no output {given!r}; its outputs are {', '.join(map(repr, names))}.")
