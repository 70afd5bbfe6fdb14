"""Adds rows to a fitted model and predicts while rows arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np

from . import _catena
from ._frames import Points
from ._live import LiveGP
from ._options import limit_seconds, memory_text
from ._rows import longer, read_places, read_rows
from .errors import InputError, NumericalError

if TYPE_CHECKING:
    from typing import Any, Literal

    from ._gp import MultiOutputGP
    from ._types import Predictions


class Streaming:
    """A fitted model that takes rows.

    Once :meth:`posterior_at` has built a live posterior, new rows go to it and wait in ``_later``. They are added to the table,
    and the model is rebuilt, when a method needs the whole table.
    """

    def update(
        self, X: Any, Y: Any = None, *, append: bool = False, relearn: bool = False, groups: Any = None
    ) -> MultiOutputGP:
        """Adds rows. Rows are known by their inputs: values that the model has are skipped, so the same table twice changes
        nothing.

        A value that differs from the one the model has at the same inputs is refused. With ``append`` all rows are added, as
        repeated measurements at the same inputs.

        The parameters stay fixed; :attr:`warnings_` reports values outside the range the model was learned on. With ``relearn``
        the kernels and latents stay, and means, scales and parameters are learned again from their current values on old and
        new rows together, within ``budget`` and ``time_limit``.

        With one input, after a first :meth:`posterior_at`, adding a row takes a fraction of a millisecond for any length of the
        table. The rows are added to the table together when a method needs the whole table, with one set of warnings.

        Parameters
        ----------
        X : as for :meth:`predict`, or a single point: a number, a time, or one number per input
        Y : array-like of shape (n, D) or (n,), a frame, a dict of values by output
            Values, NaN where missing; for a single point also one value per output. None if ``X`` is a frame with inputs and
            outputs.
        append : bool
            Add all rows, even those whose inputs and values the model has, as repeated measurements.
        relearn : bool
            Whether to learn the parameters again.
        groups : str, list of str or array-like of shape (n,), optional
            The groups of the rows, as for :meth:`predict`; new groups become part of the model.

        Returns
        -------
        self
        """
        self._fitted_or_raise()
        with self._guard():
            points, values = read_rows(self, X, Y, groups)
            known = self.warnings_ if self._live is None else ()
            if self._live is None and _catena.cell_noise(self._model) is not None:
                raise InputError(
                    "the model has noise_columns, which update cannot take yet; fit the old and the new rows together."
                )
            if not append:
                points, values = self._unknown(points, values)
                if len(points) == 0:
                    return self
            if relearn:
                model = self._model_or_raise()
                memory = memory_text(self.max_memory)
                rows = (points.values, values, points.groups)
                limits = (self.budget, limit_seconds(self.time_limit), memory)
                model = self._watched(_catena.relearn, model, rows, *limits)
                self._adopt_longer(model, [points])
                self._tell()
            elif not self._goes_live(points, values):
                self._model_or_raise()
                self._append([(points, values)])
                self._tell(known)
        return self

    def _unknown(self, points, values):
        """The rows and cells that the model does not have; refuses a value that differs from that of the model."""
        # A live posterior knows its rows without a pass over the table.
        if self._live is not None and self._live.is_line() and not self._live.knows(points.values):
            return points, values
        rows, cells, conflict = _catena.new_rows(
            self._model_or_raise(), points.values, values, points.group_numbers
        )
        if conflict is not None:
            row, output, found = conflict
            raise InputError(
                f"output {self.output_names_[output]!r} at row {row}: the model has the value {found} at these "
                "inputs, but this table "
                f"has {values[row, output]}; correct the table, fit a new model, or give append=True to add both as repeated "
                "measurements."
            )
        if len(rows) == len(points):
            return points, cells
        taken = points.taken(rows)
        taken.index = None if points.index is None else points.index[rows]
        return taken, cells

    def partial_fit(self, X: Any, Y: Any = None, *, groups: Any = None) -> MultiOutputGP:
        """:meth:`fit` on the first call, afterwards :meth:`update` with ``append=True``."""
        with self._guard():
            if self.__sklearn_is_fitted__():
                return self.update(X, Y, append=True, groups=groups)
            return self.fit(X, Y, groups=groups)

    @overload
    def posterior_at(
        self,
        x: Any,
        return_std: Literal[False] = ...,
        *,
        include_noise: bool = ...,
        point: str = ...,
        groups: Any = ...,
    ) -> Predictions: ...

    @overload
    def posterior_at(
        self,
        x: Any,
        return_std: Literal[True],
        *,
        include_noise: bool = ...,
        point: str = ...,
        groups: Any = ...,
    ) -> tuple[Predictions, Predictions]: ...

    def posterior_at(
        self,
        x: Any,
        return_std: bool = False,
        *,
        include_noise: bool = True,
        point: str = "mean",
        groups: Any = None,
    ) -> Predictions | tuple[Predictions, Predictions]:
        """Predictions at a few points, fast while rows arrive; the values are those of :meth:`predict`.

        The first call builds a live posterior. With one input, :meth:`update` and the next query then take a fraction of a
        millisecond at a million rows; the live posterior takes 3N² + 2N bytes per row, where N is the size of the joint state
        of the latents. With several inputs new rows change the structure, so :meth:`update` and the next query take the time
        of a sweep; :meth:`live` is fast there too. Methods without a single chain or tree, and models with groups or known
        noise per cell, use :meth:`predict`. For many points, :meth:`predict` is faster.

        Parameters
        ----------
        x : as for :meth:`predict`, or a single point: a number, a time, or one number per input
        return_std : bool
            Also return standard deviations.
        include_noise : bool
            Whether to predict a new observation (the default) or the latent function.
        point : str
            ``"mean"``, or ``"median"``, which has the smaller absolute errors; they differ for outputs with a transform.
        groups : str, list of str or array-like of shape (n,), optional
            The groups of the points, as for :meth:`predict`.

        Returns
        -------
        mean, or (mean, std) : as from :meth:`predict`; a single point gives a table of one row

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
        points = read_places(self, x, groups)
        live = self._live_or_none()
        if live is None:
            mean, std = self._moments(points, include_noise, point)
        else:
            mean, std = live.posterior(points.values, include_noise, point)
        return self._answers(mean, std, points, return_std)

    def live(self) -> LiveGP:
        """A separate live posterior that observes, replaces and removes single values; this model does not change.

        Not available for methods without a single chain or tree, and for models with known noise per cell.
        """
        return LiveGP(self)

    # Inside

    def _live_or_none(self):
        """The live posterior, built once; None if the model does not support one."""
        with self._guard():
            if self._live is None:
                try:
                    self._live = self._model_or_raise().live()
                except InputError:
                    return None
            return self._live

    def _goes_live(self, points, values):
        """Adds rows to the live posterior if there is one; returns whether it took them."""
        live = self._live
        # With several inputs a new fit has another structure and other results.
        if live is None or not live.is_line():
            return False
        try:
            live.add(points.values, values)
        except NumericalError:
            # The live posterior has the rows; the sweep over the whole table will name the error.
            self._live = None
            return False
        # The caller may overwrite its arrays.
        kept = Points(points.values.copy(), points.names, points.clocks, points.index, points.integer)
        self._later.append((kept, values.copy()))
        return True

    def _fold(self):
        """Adds the waiting rows to the table."""
        with self._guard():
            if self._later:
                live = self._live
                self._append(self._later)
                self._live = live

    def _append(self, rows):
        """Rebuilds the model with more rows."""
        inputs = np.concatenate([points.values for points, _ in rows])
        values = np.concatenate([values for _, values in rows])
        groups = rows[-1][0].groups
        if groups is not None:
            numbers = [number for points, _ in rows for number in points.group_numbers]
            groups = (*groups[:2], numbers)
        model = self._model.with_more_rows(inputs, values, groups)
        known = self._forecaster
        self._adopt_longer(model, [points for points, _ in rows])
        # Its parameters stay, too.
        self._forecaster = known

    def _adopt_longer(self, model, more):
        """Adopts a model whose table has these additional points."""
        self._original = None
        indexes, integer = [points.index for points in more], all(points.integer for points in more)
        self._adopt(model, longer(self._points, model.inputs(), indexes, integer), self._notes)

    def _apart(self):
        """A copy of the fitted model that later calls do not change."""
        other = object.__new__(type(self))
        with self._guard():
            other.__dict__.update((name, value) for name, value in self.__dict__.items() if name != "_lock")
        other._live, other._later = None, []
        return other
