"""What the estimators in memory and on a cluster share: parameters, forecasts, scores, and how a model is shown."""

from __future__ import annotations

from _thread import RLock
from typing import TYPE_CHECKING, overload

import numpy as np

from . import _check, _frames
from ._contract import Estimator
from ._learned import Learned
from ._outputs import r2, read_outputs
from ._progress import watcher
from ._rows import read_rows
from .errors import FitInterruptedWarning, InputError, not_fitted, warn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal

    from matplotlib.axes import Axes

    from ._types import Predictions


class GaussianProcess(Learned, Estimator):
    """A fitted model, wherever its rows are; ``_moments`` predicts, ``_ahead`` gives the points of a forecast."""

    # Asking

    @overload
    def forecast(
        self,
        horizon: Any,
        step: Any = ...,
        return_std: Literal[False] = ...,
        *,
        q: float | Sequence[float] | None = ...,
        known: Any = ...,
        include_noise: bool = ...,
        point: str = ...,
    ) -> Predictions: ...

    @overload
    def forecast(
        self,
        horizon: Any,
        step: Any = ...,
        *,
        return_std: Literal[True],
        known: Any = ...,
        include_noise: bool = ...,
        point: str = ...,
    ) -> tuple[Predictions, Predictions]: ...

    def forecast(
        self,
        horizon: Any,
        step: Any = None,
        return_std: bool = False,
        *,
        q: float | Sequence[float] | None = None,
        known: Any = None,
        include_noise: bool = True,
        point: str = "mean",
    ) -> Predictions | tuple[Predictions, Predictions]:
        """Predictions at regular steps after the last row, for a single input.

        A model that fills gaps returns to its mean after the last row. So where the options leave the model open, the first
        forecast learns another one, as ``catena forecast`` does: sums of levels, trends and seasons, with or without the
        logarithm, chosen by forecasts of known rows from many origins inside the table, and pooled with simple rules that do
        well there. It is kept for forecasts of the same horizon. :attr:`forecast_summary_` has its scores.

        Parameters
        ----------
        horizon : int, str or timedelta
            A number of steps, a duration such as ``"48h"``, ``"10B"`` (business days), ``"6mo"``, ``"2Q"`` or ``"1y"`` if the
            input is a time, or a length if it is numeric.
        step : float, str, timedelta or pandas offset, optional
            The spacing of the rows; by default the step of the table's calendar (months, quarters, years or business days),
            else the median spacing. Month ends are followed by month ends.
        return_std : bool
            Also return standard deviations.
        q : float or list of float, optional
            Return these quantiles instead, as :meth:`MultiOutputGP.quantiles` does, in columns such as ``sales_q0.9``.
        known : frame, optional
            Columns that are known ahead, such as a temperature or a price, with rows at the times of the fit, where values may
            be missing, and at all times of the forecast. Their effects (linear, with lags, or smooth) are learned, and used if
            they improve forecasts of known rows; ``known_scores_`` and ``known_effects_`` have the comparison and the effects.
        include_noise, point :
            As for :meth:`predict`.
        """
        self._model_or_raise()
        points = self._ahead(horizon, step)
        points.integer = self._points.integer
        if known is not None:
            return self._known_ahead(points, known, (q, return_std, include_noise, point))
        if q is not None:
            return self._quantiles_ahead(points, q, include_noise)
        return self._answers(*self._moments_ahead(points, include_noise, point), points, return_std)

    def score(self, X: Any, y: Any = None, *, groups: Any = None) -> float:
        """The coefficient of determination R², averaged over the outputs; missing values of ``y`` are ignored.

        ``groups`` are those of the rows, as for :meth:`predict`.
        """
        self._model_or_raise()
        if y is None:
            points, values = read_rows(self, X, None, groups)
        else:
            points, values = self._read_in(X, groups), read_outputs(y, self.output_names_)
        _check.same_rows(points, values)
        mean, _ = self._moments(points, True)
        return float(np.mean([r2(values[:, at], mean[:, at]) for at in range(values.shape[1])]))

    # Looking

    def plot_mixing(self, ax: Axes | None = None) -> Axes:
        """Plots the weights of the latent processes in units of output standard deviations; needs matplotlib."""
        from ._plots import plot_mixing

        return plot_mixing(self, ax)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._changed_params()})"

    def __str__(self) -> str:
        if not self.__sklearn_is_fitted__():
            return repr(self)
        text = self._model_or_raise().summary_text()
        return "\n".join([*self._columns(), repr(self), text.rstrip("\n"), *self._remarks()])

    def _columns(self):
        """Inputs and outputs by name, and why they are the inputs."""
        why = self._notes.get("why")
        inputs = ", ".join(map(str, self._points.names)) + (f" ({why})" if why else "")
        return [f"inputs: {inputs}", f"outputs: {', '.join(map(str, self.output_names_))}"]

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"

    # Inside

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def _moments_ahead(self, points, include_noise, point):
        """Means or medians, and standard deviations of a forecast."""
        return self._moments(points, include_noise, point)

    def _known_ahead(self, _points, _known, _wanted):
        raise InputError("known is not available on a cluster; fit the rows in memory.")

    def _quantiles_ahead(self, _points, _q, _include_noise):
        raise InputError("q is not available on a cluster; use return_std=True.")

    def _fitted_or_raise(self):
        if not self.__sklearn_is_fitted__():
            raise not_fitted(type(self).__name__)

    def _guard(self):
        """The lock that every change of the model holds."""
        return self.__dict__.setdefault("_lock", RLock())

    def _watched(self, learn, *arguments):
        """Runs ``learn`` with progress; after Ctrl-C, the best model so far with a warning."""
        progress = watcher(self.progress)
        try:
            model, interrupted = learn(*arguments, progress)
        finally:
            if progress is not None:
                progress.close()
        if interrupted:
            message = "the fit was interrupted; this is the best model so far"
            warn(message, FitInterruptedWarning)
        return model

    def _tell(self, known=()):
        """Warns of what a fit or an update found, each message once."""
        known = set(known)
        for message in dict.fromkeys(self.warnings_):
            if message not in known:
                warn(message)

    def _adopt(self, model, points, notes):
        with self._guard():
            self._model = model
            self._points = points
            self._notes = notes
            self.output_names_ = list(model.notes()[2])
            self.n_outputs_ = len(self.output_names_)
            #: The live posterior of all rows, built on first use, and the rows that only it has.
            self._live = None
            self._later = []
            #: The model that forecasts, if the options leave it open; learned on first use.
            self._forecaster = None

    def _answer(self, values, points):
        return _frames.answer(values, self.output_names_, points, self._notes)

    def _answers(self, mean, std, points, return_std):
        """Means, or means and standard deviations, in the form of the caller's table."""
        mean = self._answer(mean, points)
        return (mean, self._answer(std, points)) if return_std else mean

    def _split_groups(self, X, groups):
        """The table without its columns of groups, and their names by row; None without groups."""
        if groups is not None:
            raise InputError("the fit has no groups; leave groups out, or fit with groups.")
        return X, None

    def _numbered(self, _labels, _points):
        """The groups of points as columns, names of all groups and numbers; None without groups."""
        return None

    def _read_in(self, X, groups=None):
        """Points with their groups."""
        X, labels = self._split_groups(X, groups)
        points = self._read(X)
        points.groups = self._numbered(labels, points)
        return points

    def _read(self, X):
        together = self._points.names if self._notes["together"] else None
        points = _frames.read_points(X, together, self._points.clocks, self._notes)
        self._check_features(points)
        return points
