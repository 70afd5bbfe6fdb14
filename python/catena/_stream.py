"""Rows that come later: added to a fitted model, and asked about at once."""

from __future__ import annotations

from _thread import allocate_lock
from typing import TYPE_CHECKING

import numpy as np

from . import _catena
from ._frames import Points
from ._live import LiveGP
from ._rows import longer, read_places, read_rows
from .errors import InputError, NumericalError

if TYPE_CHECKING:
    from typing import Any

    from ._gp import MultiOutputGP

#: Two threads that ask one model must not both bring its later rows into the table.
_FOLDING = allocate_lock()


class Streaming:
    """A fitted model that takes rows.

    Once :meth:`posterior_at` has built a live posterior, later rows go to it and wait in ``_later``; they are brought into the
    table, and the model made anew, when something needs the whole of it.
    """

    def update(self, X: Any, Y: Any = None, *, relearn: bool = False) -> MultiOutputGP:
        """Adds rows, also where there are some already: a further measurement replaces nothing.

        The parameters stay as they are, and so does what was learned before; :attr:`warnings_` tells when new values are out of
        proportion. With ``relearn`` the kind of model stays, and its means, scales and parameters are learned again from where
        they stand, on old and new rows together, within ``budget``.

        Along one input, after a first :meth:`posterior_at`, a row costs next to nothing however long the table is. Such rows
        are brought into the table together when something needs the whole of it, and warnings judge them together.

        Parameters
        ----------
        X : what :meth:`predict` takes, or a single place: a number or a time, or one number per input
        Y : array-like of shape (n, D) or (n,), a frame, a dict of values by output
            Values, NaN where nothing was observed; for a single place also one value per output. None if ``X`` is a frame that
            holds both.
        relearn : bool
            Whether parameters are learned again.

        Returns
        -------
        self
        """
        self._fitted_or_raise()
        points, values = read_rows(self, X, Y)
        if relearn:
            model = self._model_or_raise()
            model = self._watched(_catena.relearn, model, points.values, values, self.budget)
            self._adopt_longer(model, [points])
        elif not self._goes_live(points, values):
            self._model_or_raise()
            self._append([(points, values)])
        return self

    def partial_fit(self, X: Any, Y: Any = None) -> MultiOutputGP:
        """:meth:`fit` the first time, :meth:`update` after it."""
        return self.update(X, Y) if self.__sklearn_is_fitted__() else self.fit(X, Y)

    def posterior_at(self, x: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """What :meth:`predict` says at a few places, quickly while rows are coming in.

        The first call builds a live posterior, which is kept: along one input :meth:`update` and the next question then take a
        fraction of a millisecond at a million rows. It has a memory of 3N² + 2N bytes per row, where N is the size of the joint
        state of the latents. Above one input the structure changes with the rows, so that :meth:`update` and the next question
        take the time of a sweep; :meth:`live` is quick there too. Methods without one chain or tree, and models that know the
        noise of every cell, answer as :meth:`predict` does. For many places at once :meth:`predict` is the quicker one.

        Parameters
        ----------
        x : what :meth:`predict` takes, or a single place: a number or a time, or one number per input
        return_std : bool
            Also return standard deviations.
        include_noise : bool
            Whether it is about a new observation, as by default, or about the function itself.

        Returns
        -------
        mean, or (mean, std) : as of :meth:`predict`; a single place is a table of one row

        Examples
        --------
        >>> import numpy as np, catena
        >>> gp = catena.MultiOutputGP(
        ...     learn=False, standardize=False, kernel="matern32", mixing=[[1.0], [0.5]], length_scales=2.0, noise=0.01
        ... ).fit([[0.0], [1.0]], [[0.1, 0.0], [0.9, np.nan]])
        >>> gp.posterior_at(2.0).round(3)
        array([[0.896, 0.448]])
        >>> gp.update(2.0, {"y0": 1.4}).posterior_at(2.0).round(3)
        array([[1.386, 0.693]])
        """
        self._fitted_or_raise()
        points = read_places(self, x)
        live = self._live_or_none()
        if live is None:
            mean, std = self._model_or_raise().predict(points.values, include_noise)
        else:
            mean, std = live.posterior(points.values, include_noise)
        mean = self._answer(mean, points)
        return (mean, self._answer(std, points)) if return_std else mean

    def live(self) -> LiveGP:
        """A live posterior of its own, to observe, replace and remove values one by one; this model stays as it is.

        Methods without one chain or tree, and models that know the noise of every cell, refuse.
        """
        return LiveGP(self)

    # Inside

    def _live_or_none(self):
        """The live posterior, built once; None if the model cannot have one."""
        if self._live is None:
            try:
                self._live = self._model_or_raise().live()
            except InputError:
                return None
        return self._live

    def _goes_live(self, points, values):
        """Whether rows are taken by a live posterior that is kept, and wait to be brought into the table."""
        live = self._live
        # Elsewhere than along a line a fresh fit has another structure, and other answers.
        if live is None or not live.is_line():
            return False
        try:
            live.add(points.values, values)
        except NumericalError:
            # The rows are in it; the whole table will tell what is wrong.
            self._live = None
            return False
        # The caller may use its arrays again.
        kept = Points(points.values.copy(), points.names, points.clocks, points.index, points.integer)
        self._later.append((kept, values.copy()))
        return True

    def _fold(self):
        """Brings the rows that wait into the table."""
        with _FOLDING:
            if self._later:
                live = self._live
                self._append(self._later)
                self._live = live

    def _append(self, rows):
        """Makes the model anew with more rows."""
        inputs = np.concatenate([points.values for points, _ in rows])
        values = np.concatenate([values for _, values in rows])
        self._adopt_longer(self._model.with_more_rows(inputs, values), [points for points, _ in rows])

    def _adopt_longer(self, model, more):
        """Adopts a model whose table has these points more."""
        self._original = None
        indexes, integer = [points.index for points in more], all(points.integer for points in more)
        self._adopt(model, longer(self._points, model.inputs(), indexes, integer), self._notes)

    def _apart(self):
        """The same fitted model, which later calls of this one do not touch."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._live, other._later = None, []
        return other
