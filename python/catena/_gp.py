"""The model: a multi-output Gaussian process as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from . import _catena, _check, _frames
from ._contract import Estimator
from ._horizon import points_ahead
from ._keeping import about, kept
from ._learned import Learned
from ._options import asked
from ._outputs import r2, read_outputs
from ._progress import watcher
from ._random import seed_of
from ._report import Report
from ._rows import read_rows
from ._stream import Streaming
from .errors import FitInterruptedWarning, InputError, not_fitted

if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from numpy.typing import ArrayLike


class MultiOutputGP(Learned, Streaming, Estimator):
    """Multi-output Gaussian process regression by exact message passing.

    Several outputs that move together, holes anywhere: a NaN in ``Y`` is a value nobody observed and costs nothing. Time and
    memory grow linearly with the rows.

    Parameters
    ----------
    latents : "auto" or int
        How many latent processes the outputs share.
    kernel : str
        ``"matern12"``, ``"matern32"``, ``"matern52"`` or ``"se"`` (squared exponential), or two of them for shared and private
        latents, such as ``"matern32/matern12"``.
        Along a single input also a sum of pieces for time, such as ``"sho+rw+qp(24h)"``: oscillator, level and season in every
        latent, for forecasts; ``"time"`` chooses the pieces. Periods are durations along a time, else numbers.
    structure : str
        What the messages travel on: ``"auto"``, ``"chain"``, ``"tree"`` or ``"ensemble:K"``.
    method : str
        ``"auto"``, ``"catena"`` (message passing), ``"exact"``, ``"fullscale"`` or ``"fullscale:M,K"`` (M inducing points,
        and K neighbors for what they leave), or a rival: ``"svgp:M"`` (M inducing points), ``"nngp:K"`` (K neighbors).
        ``"auto"`` is message passing along one input; above it exact inference where its work fits the budget, else what
        predicts hidden cells best; the summary says what was compared.
    private : "auto" or bool
        Whether each output has a latent process of its own beside the shared ones.
    periods : str, float, timedelta or a list of them, optional
        Seasons of a model for time, such as ``["24h", "7d"]``; with ``kernel="time"`` and none given they are looked for.
    mean : str
        What outputs return to where nothing else is known: ``"constant"``, ``"linear"`` (in the inputs) or ``"auto"``: constant
        along one input, above it linear if that predicts hidden cells better.
    budget : str
        What may be spent on choosing and learning: ``"quick"``, ``"default"`` or ``"thorough"``.
    learn : bool
        With False, ``parameters``, or ``mixing``, ``length_scales``, ``noise`` and ``kernel``, are taken as given.
    parameters : dict or path, optional
        All parameters at once, as :attr:`parameters_` holds them or as a JSON file of them, which the command line writes too
        (``catena fit --parameters-out``). The only way to give those of a model for time.
    mixing : array-like of shape (D, L), optional
        The weight of each latent process in each output, in units of the outputs.
    length_scales : array-like of shape (L,) or float, optional
        In units of the input; in seconds along a time.
    noise : array-like of shape (D,) or float, optional
        Noise variances of the outputs.
    standardize : bool
        Whether outputs are brought to mean 0 and variance 1, and inputs to scale, before they are modelled. Answers are in
        the caller's units either way.
    transforms : bool
        Whether logarithms of skewed positive outputs, and linear trends over several inputs, may be chosen.
    random_state : int, numpy Generator or RandomState, or None
        The seed of everything random.
    progress : "auto" or bool
        Whether long fits show how far they are.

    Attributes
    ----------
    n_features_in_, n_outputs_ : int
        Inputs and outputs.
    feature_names_in_ : ndarray
        Names of the inputs, if they had any.
    output_names_ : list of str
        Names of the outputs.
    mixing_, length_scales_, noise_, kernel_ :
        What was learned, in the form it can be given; of a model for time, the columns that its pieces have.
    parameters_ : dict
        What was learned as a whole, in units of inputs and outputs.
    summary_ : dict
        What was chosen and tried, and why.
    warnings_ : list of str
        What one should know before trusting the fit.

    Examples
    --------
    Two outputs follow one hidden process; the second was not read at time 1.

    >>> import numpy as np, catena
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0.1, 0.0], [0.9, np.nan], [1.4, 0.8], [0.7, 0.3]])
    >>> gp = catena.MultiOutputGP(
    ...     learn=False, standardize=False, kernel="matern32",
    ...     mixing=[[1.0], [0.5]], length_scales=2.0, noise=0.01,
    ... ).fit(X, Y)
    >>> mean, std = gp.predict([[2.5]], return_std=True)
    >>> mean.round(3), std.round(3)
    (array([[1.124, 0.562]]), array([[0.209, 0.136]]))
    >>> gp.impute().round(3)
    array([[0.1 , 0.  ],
           [0.9 , 0.45],
           [1.4 , 0.8 ],
           [0.7 , 0.3 ]])
    """

    def __init__(
        self,
        latents: int | str = "auto",
        kernel: str = "auto",
        structure: str = "auto",
        method: str = "auto",
        *,
        private: bool | str = "auto",
        periods: Any = None,
        mean: str = "auto",
        budget: str = "default",
        learn: bool = True,
        parameters: dict[str, Any] | str | PathLike[str] | None = None,
        mixing: ArrayLike | None = None,
        length_scales: ArrayLike | None = None,
        noise: ArrayLike | None = None,
        standardize: bool = True,
        transforms: bool = True,
        random_state: Any = 0,
        progress: bool | str = "auto",
    ) -> None:
        self.latents = latents
        self.kernel = kernel
        self.structure = structure
        self.method = method
        self.private = private
        self.periods = periods
        self.mean = mean
        self.budget = budget
        self.learn = learn
        self.parameters = parameters
        self.mixing = mixing
        self.length_scales = length_scales
        self.noise = noise
        self.standardize = standardize
        self.transforms = transforms
        self.random_state = random_state
        self.progress = progress

    # Fitting

    def fit(self, X: Any, Y: Any = None, candidates: Any = None) -> MultiOutputGP:
        """Chooses, learns and conditions a model on a table.

        Parameters
        ----------
        X : array-like of shape (n, M), a frame, an index or a column of times
            Inputs. A frame without ``Y`` holds both. The input is its index if that has a name, times or fractions (whole
            numbers without a name are row numbers), else its first column of times, else its first column; its other columns
            of numbers are the outputs, and :attr:`summary_` names those that were left out.
        Y : array-like of shape (n, D) or (n,), or a frame
            Values, NaN where nothing was observed; true and false are 1 and 0.
        candidates : array-like of shape (k, M), optional
            Points that are part of the structure without being observed, as the paper's test points are.

        Returns
        -------
        self
        """
        points, values, names, notes = _frames.read_pair(X, Y)
        _check.observed(values, names)
        if self.learn and len(points) < 2:
            raise InputError(
                "n_samples = 1: one row is too few to learn from; give more, or parameters with learn=False."
            )
        wanted = asked(self, values.shape[1], points.clocks[0] if len(points.clocks) == 1 else None)
        if candidates is not None:
            together = points.names if notes["together"] else None
            others = _frames.read_points(candidates, together, points.clocks, notes, "candidates")
            if others.values.shape[1] != points.values.shape[1]:
                raise InputError(
                    f"candidates have {others.values.shape[1]} inputs, but X has {points.values.shape[1]}."
                )
            wanted["candidates"] = others.values
        notes_in_file = about(self, points, names, notes)
        model = self._watched(_catena.fit, points.values, values, wanted, notes_in_file)
        self._remember_features(points)
        self._adopt(model, points, notes)
        self._original = (X if Y is None else Y) if notes["kind"] != "numpy" else None
        return self

    # Asking

    def predict(
        self, X: Any = None, return_std: bool = False, return_cov: bool = False, *, include_noise: bool = True
    ) -> Any:
        """Means, and on request how sure they are.

        Parameters
        ----------
        X : array-like of shape (n, M), a frame or an index; None for the rows of the fit
            Where. The answer at a point does not depend on which other points are asked for.
        return_std : bool
            Also return standard deviations, in the shape of the means.
        return_cov : bool
            Also return the covariances of the outputs at each point: an array of shape (n, D, D); (n,) for a vector ``y``.
        include_noise : bool
            Whether it is about a new observation, as by default, or about the function itself.

        Returns
        -------
        mean, or (mean, std), or (mean, cov) : of shape (n, D), a vector for a vector ``y``, a frame for a frame
        """
        if return_std and return_cov:
            raise InputError("ask for return_std or return_cov, not both.")
        model = self._model_or_raise()
        points = self._points if X is None else self._read(X)
        mean, std = model.predict(None if X is None else points.values, include_noise)
        if return_cov:
            covariances = model.covariances(points.values, include_noise)
            return self._answer(mean, points), (
                covariances[:, 0, 0] if self._notes["vector"] else covariances
            )
        return (
            (self._answer(mean, points), self._answer(std, points))
            if return_std
            else self._answer(mean, points)
        )

    def interval(self, X: Any = None, level: float = 0.95, *, include_noise: bool = True) -> tuple[Any, Any]:
        """Lower and upper ends of the central intervals that hold a value with probability ``level``."""
        if not 0 < level < 1:
            raise InputError(f"level={level!r} is no probability; give a number between 0 and 1.")
        model = self._model_or_raise()
        points = self._points if X is None else self._read(X)
        ends = model.interval(None if X is None else points.values, level, include_noise)
        return tuple(self._answer(end, points) for end in ends)

    def impute(self, return_std: bool = False) -> Any:
        """The table of the fit with its holes filled; what was observed stays as it was.

        With ``return_std`` also how sure each filled value is, NaN where a value was observed.
        """
        model = self._model_or_raise()
        values = model.values()
        mean, std = model.predict(None, True)
        holes = np.isnan(values)
        whole = _frames.filled(
            self._original, np.where(holes, mean, values), self.output_names_, self._points, self._notes
        )
        if not return_std:
            return whole
        return whole, self._answer(np.where(holes, std, np.nan), self._points)

    def forecast(
        self, horizon: Any, step: Any = None, return_std: bool = False, *, include_noise: bool = True
    ) -> Any:
        """Predictions one step after the last row and on, along a single input.

        Parameters
        ----------
        horizon : int, str or timedelta
            A number of steps, or along a time a duration such as ``"48h"``; a length along an input of numbers.
        step : float, str or timedelta, optional
            The distance of two rows; the median gap by default.
        return_std : bool
            Also return standard deviations.
        """
        self._model_or_raise()
        points = self._ahead(horizon, step)
        points.integer = self._points.integer
        mean, std = self._moments(points, include_noise)
        return (
            (self._answer(mean, points), self._answer(std, points))
            if return_std
            else self._answer(mean, points)
        )

    def sample_y(
        self, X: Any = None, n_samples: int = 1, random_state: Any = 0, *, include_noise: bool = True
    ) -> np.ndarray:
        """Joint draws at all points at once; each marginal is what :meth:`predict` says.

        Returns
        -------
        ndarray of shape (n, D, n_samples); (n, n_samples) for a vector ``y``
        """
        if not (isinstance(n_samples, (int, np.integer)) and n_samples >= 1):
            raise InputError(
                f"n_samples={n_samples!r} is no number of draws; give a whole number of at least 1."
            )
        model = self._model_or_raise()
        points = self._points if X is None else self._read(X)
        draws = model.draws(points.values, int(n_samples), seed_of(random_state), include_noise)
        draws = np.moveaxis(draws, 0, 2)
        return draws[:, 0] if self._notes["vector"] else draws

    def score(self, X: Any, y: Any = None) -> float:
        """The coefficient of determination R², the mean over the outputs; holes in ``y`` do not count."""
        self._model_or_raise()
        if y is None:
            points, values = read_rows(self, X, None)
        else:
            points, values = self._read(X), read_outputs(y, self.output_names_)
        _check.same_rows(points, values)
        mean, _ = self._moments(points, True)
        return float(np.mean([r2(values[:, at], mean[:, at]) for at in range(values.shape[1])]))

    def log_marginal_likelihood(self) -> float:
        """The log density of the observed values under the model, in the caller's units."""
        return self._model_or_raise().log_evidence()

    # Looking

    def report(self, title: str = "catena", hidden: Any = None) -> Report:
        """The fit as one page: data, bands, what was learned and tried; shown by notebooks, or saved to a file.

        ``hidden`` are true values that were hidden from the fit, in the shape of ``Y``, to be drawn beside the predictions.
        """
        model = self._model_or_raise()
        held_out = None if hidden is None else read_outputs(hidden, self.output_names_)
        if held_out is not None:
            _check.same_rows(self._points, held_out, ("the fit", "hidden"))
        return Report(model.page(title, held_out))

    def plot(self, X: Any = None, *, hidden: Any = None, level: float = 0.95, axes: Any = None) -> np.ndarray:
        """Each output along the first input with its bands, observed values, and hidden truth; needs matplotlib.

        Returns the array of axes.
        """
        from ._plots import plot

        return plot(self, X, hidden, level, axes)

    def plot_structure(self, ax: Any = None) -> Any:
        """The chain or tree over the first two inputs; needs matplotlib."""
        from ._plots import plot_structure

        return plot_structure(self, ax)

    def plot_mixing(self, ax: Any = None) -> Any:
        """The weights of the latent processes in each output, in standard deviations; needs matplotlib."""
        from ._plots import plot_mixing

        return plot_mixing(self, ax)

    def __repr__(self):
        return f"{type(self).__name__}({self._changed_params()})"

    def __str__(self):
        if not self.__sklearn_is_fitted__():
            return repr(self)
        text = self._model_or_raise().summary_text()
        return "\n".join([repr(self), text.rstrip("\n"), *self._remarks()])

    def _repr_html_(self):
        import html

        return f"<pre>{html.escape(str(self))}</pre>"

    # Keeping

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the fitted model to one file, which :func:`catena.load` and the command line open."""
        self._model_or_raise().save(path)

    def __getstate__(self):
        state = {
            key: value
            for key, value in self.__dict__.items()
            if key not in ("_later", "_live", "_model", "_original", "_points")
        }
        if self.__sklearn_is_fitted__():
            state["_model"] = self._model_or_raise().to_bytes()
            state["_index"] = self._points.index
        return state

    def __setstate__(self, state):
        state = dict(state)
        whole, index = state.pop("_model", None), state.pop("_index", None)
        self.__dict__.update(state)
        if whole is not None:
            model = _catena.Model.from_bytes(whole)
            points, notes, _ = kept(model, index)
            self._adopt(model, points, notes)
            self._original = None

    # Inside

    def __sklearn_is_fitted__(self):
        return "_model" in self.__dict__

    def _fitted_or_raise(self):
        if not self.__sklearn_is_fitted__():
            raise not_fitted(type(self).__name__)

    def _model_or_raise(self):
        """The model of all rows, those that waited included."""
        self._fitted_or_raise()
        if self._later:
            self._fold()
        return self._model

    def _watched(self, learn, *arguments):
        """The model that is learned, with progress; after Ctrl-C, the best until then and a warning."""
        progress = watcher(self.progress)
        try:
            model, interrupted = learn(*arguments, progress)
        finally:
            if progress is not None:
                progress.close()
        if interrupted:
            message = "the fit was interrupted; this is the best model that was found until then"
            warnings.warn(message, FitInterruptedWarning, stacklevel=3)
        return model

    def _adopt(self, model, points, notes):
        self._model = model
        self._points = points
        self._notes = notes
        self.output_names_ = list(model.notes()[2])
        self.n_outputs_ = len(self.output_names_)
        #: A live posterior of all rows, once one was asked for; and rows that only it knows of yet.
        self._live = None
        self._later = []

    def _moments(self, points, include_noise):
        """Means and standard deviations at points, as arrays."""
        return self._model_or_raise().predict(points.values, include_noise)

    def _ahead(self, horizon, step):
        """The points of a forecast."""
        rows = self._points
        return points_ahead(rows.values, rows.names, rows.clocks, horizon, step)

    def _answer(self, values, points):
        return _frames.answer(values, self.output_names_, points, self._notes)

    def _read(self, X):
        together = self._points.names if self._notes["together"] else None
        points = _frames.read_points(X, together, self._points.clocks, self._notes)
        self._check_features(points)
        return points
