"""A live posterior: observations are set, replaced and removed one by one, and every question is answered at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ._rows import longer, read_places, read_rows
from .errors import InputError

if TYPE_CHECKING:
    from typing import Any

    from ._gp import MultiOutputGP


class Recomputed(NamedTuple):
    """How many messages a question sent anew."""

    #: Points whose step and cells were folded again.
    positions: int
    #: Pairs of stretches that were joined again.
    pairs: int


class LiveGP:
    """A fitted model that takes observations one by one, made by :meth:`MultiOutputGP.live`.

    An observation and a question cost O(log n) in the number of rows: a fraction of a millisecond at a million. Answers are
    exact: along one input they are those of a model with the edited table. Above one input a new place hangs on its nearest
    row, and :meth:`to_gp` builds the structure anew. Parameters and units stay those of the model it began with, which itself
    stays as it is.

    Places are what :meth:`MultiOutputGP.predict` takes, or a single one: a number or a time, or one number per input.

    Examples
    --------
    >>> import numpy as np, catena
    >>> gp = catena.MultiOutputGP(
    ...     learn=False, standardize=False, kernel="matern32", mixing=[[1.0], [0.5]], length_scales=2.0, noise=0.01
    ... ).fit([[0.0], [1.0]], [[0.1, 0.0], [0.9, np.nan]])
    >>> live = gp.live()
    >>> live.observe(2.0, {"y0": 1.4})                      # one output at one place
    >>> live.observe([2.0, 3.0], [[1.5, np.nan], [np.nan, 0.3]])   # replaces one, and adds another
    >>> mean, std = live.posterior_at(2.5)
    >>> mean.round(3), std.round(3)
    (array([[1.143, 0.572]]), array([[0.227, 0.143]]))
    >>> live.remove(3.0, "y1")
    1
    >>> live.to_gp().predict([[2.5]]).round(3)
    array([[1.427, 0.714]])
    """

    def __init__(self, gp: MultiOutputGP) -> None:
        self._live = gp._model_or_raise().live()
        self._gp = gp._apart()
        #: Index and kind of numbers of rows that came later.
        self._added = []

    def observe(self, x: Any, y: Any = None) -> None:
        """Observes values at one place or several, all of them or none.

        Where a row has exactly these inputs its values are replaced (of several such rows, in the last); elsewhere a row is
        added. Numbers too large to be calculated with show at the next question; observing the cell again mends it.

        Parameters
        ----------
        x : one place or several
        y : a number for a single output, one value per output, an array of shape (n, D), a frame, or a dict by output
            NaN and outputs that a dict does not name stay as they are. None if ``x`` is a frame that holds both.
        """
        points, values = read_rows(self._gp, x, y)
        added = self._live.observe(points.values, values)
        if any(added):
            index = None if points.index is None else points.index[np.array(added)]
            self._added.append((index, points.integer))

    def remove(self, x: Any, output: int | str) -> int:
        """Makes an output missing at one place or several (of several rows at a place, in the last).

        ``output`` is a name or a number. Returns how many values were there and are not any more.
        """
        return self._live.remove(read_places(self._gp, x).values, self._output(output))

    def posterior_at(self, x: Any, return_std: bool = True, include_noise: bool = True) -> Any:
        """Means and standard deviations of all outputs at one place or several, given all that is observed now.

        With ``return_std=False`` means only; with ``include_noise=False`` about the function itself. The form is that of
        :meth:`MultiOutputGP.predict`: a single place is a table of one row.
        """
        points = read_places(self._gp, x)
        mean, std = self._live.posterior(points.values, include_noise)
        mean = self._gp._answer(mean, points)
        return (mean, self._gp._answer(std, points)) if return_std else mean

    def log_evidence(self) -> float:
        """The log density of the observed values under the model, in the caller's units."""
        return self._live.log_evidence()

    @property
    def recomputed(self) -> Recomputed:
        """How many messages the last question sent anew, after what was observed since the one before."""
        return Recomputed(*self._live.recomputed())

    @property
    def n_rows(self) -> int:
        """The number of rows, those that came later included."""
        return self._live.size()[0]

    @property
    def n_observed(self) -> int:
        """The number of observed values."""
        return self._live.size()[1]

    @property
    def output_names_(self) -> list[str]:
        """Names of the outputs."""
        return self._gp.output_names_

    def to_gp(self) -> MultiOutputGP:
        """A model with the table as it is now and the same parameters; the live posterior goes on by itself."""
        gp = self._gp._apart()
        model = self._live.to_model(self._gp._model)
        indexes, integer = [index for index, _ in self._added], all(integer for _, integer in self._added)
        gp._adopt(model, longer(gp._points, model.inputs(), indexes, integer), gp._notes)
        gp._original = None
        return gp

    def __copy__(self):
        other = object.__new__(type(self))
        other._live, other._gp, other._added = self._live.copy(), self._gp, list(self._added)
        return other

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        raise TypeError("a live posterior is not pickled; pickle live.to_gp(), and go on with its live().")

    def __repr__(self):
        n_rows, n_observed = self._live.size()
        return f"<{type(self).__name__} of {n_observed} values in {n_rows} rows of {self._gp!r}>"

    def _output(self, given):
        names = self._gp.output_names_
        if given in names:
            return names.index(given)
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and 0 <= given < len(names):
            return int(given)
        raise InputError(f"there is no output {given!r}; the model has {', '.join(map(repr, names))}.")
