"""The model: a multi-output Gaussian process as a scikit-learn estimator."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, overload

import numpy as np

from . import _catena, _check, _frames, _groups, _noise
from ._ahead import can_choose, distances, forecaster
from ._asking import Asking
from ._base import GaussianProcess
from ._findings import cleaned
from ._horizon import points_ahead
from ._keeping import about, kept
from ._limits import left_empty
from ._old_names import renamed
from ._options import fit_options, space_inputs
from ._outputs import read_outputs
from ._panel import proposal
from ._random import seed_of
from ._report import Report
from ._stream import Streaming
from .errors import InputError, warn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from typing import Any, Literal

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from ._types import Predictions
    from .structures import Structure


class MultiOutputGP(Streaming, Asking, GaussianProcess):
    """Multi-output Gaussian process regression by exact message passing.

    Models several related outputs; NaN in ``Y`` marks a missing value. Time and memory are linear in the number of rows.

    One fitted estimator may be used by several threads: each :meth:`update` is applied as a whole, one after the other, and a
    prediction uses the rows of all updates that ended before it began.

    Parameters
    ----------
    latents : "auto" or int
        Number of latent processes shared by the outputs.
    kernel : str
        ``"matern12"``, ``"matern32"``, ``"matern52"`` or ``"se"`` (squared exponential), or two of them for shared and private
        latents, such as ``"matern32/matern12"``.
        With a single input also a sum of time components, such as ``"sho+rw+qp(24h)"`` (oscillator, random walk and season in
        every latent), or ``"time"`` to select the components. Periods are durations if the input is a time, else numbers.
    structure : str
        Structure over the rows: ``"auto"``, ``"chain"``, ``"tree"`` or ``"ensemble:K"``.
    method : str
        Inference method: ``"auto"``, ``"catena"`` (message passing), ``"exact"``, ``"fullscale"`` or ``"fullscale:M,K"`` (M
        inducing points, and K neighbors for the residual), ``"svgp:M"`` (M inducing points) or ``"nngp:K"`` (K neighbors).
        With one input, ``"auto"`` is message passing. With several, it is exact inference if its cost fits the budget, else the
        method with the best held-out log score; the summary lists the comparison. ``"space"`` is a model of space and time:
        the last input is the time, the others are the coordinates of the place, see ``space``; ``"space:plane"``,
        ``"space:latlon"`` and ``"space:lonlat"`` say how places are measured.
    space, time : list of str and str, optional
        Columns of a frame with the coordinates of each row's place, such as ``["lat", "lon"]``, and with its time. They are the
        inputs of a model of space and time, in which each latent process is a field over time and places. Latitude and
        longitude, by their names, are measured in kilometers on the sphere. At most 200 places.
    n_inducing, n_neighbors : int, optional
        Sizes of the method, as numbers that a search can vary: ``method="fullscale"`` needs both (as ``"fullscale:M,K"``),
        ``"svgp"`` has inducing points and ``"nngp"`` has neighbors.
    private : "auto" or bool
        Whether each output also has a private latent process.
    ard : "auto" or bool
        Whether each input has its own length-scale (automatic relevance determination; two or more inputs).
    periods : str, float, timedelta or a list of them, optional
        Seasonal periods of a time model, such as ``["24h", "7d"]``; detected if ``kernel="time"`` and none is given.
    mean : str
        Prior mean of the outputs: ``"constant"``, ``"linear"`` (in the inputs) or ``"auto"``: constant with one input, with
        several linear if that predicts held-out cells better.
    group_scaling : str
        Mean and scale of each output with ``groups``: ``"shared"`` by all groups, ``"own"`` of each group, or ``"auto"``: own
        if that predicts held-out cells better.
    calendar : str
        How distances between times are counted: ``"elapsed"`` (in seconds), ``"month"`` (every month is equally long),
        ``"business"`` (days from Monday to Friday; weekends do not exist) or ``"auto"``: months if all times lie on a calendar
        of months, quarters or years, else elapsed time.
    combine : str
        ``"auto"``: along one input, a pool of several models and regressions on other outputs if it predicts held-out
        cells better than the best single model. ``"none"``: the best single model. A pool needs an open model and the
        default or thorough budget; `summary_["members"]` lists its members.
    budget : str
        Computing budget for model selection and learning: ``"quick"``, ``"default"`` or ``"thorough"``.
    time_limit : float, str or timedelta, optional
        The fit ends within this time, in seconds or as a text such as ``"30s"``, with the best model so far; a warning in
        :attr:`warnings_` says what was left out. Such a fit depends on the speed of the machine. By default there is no
        limit: the budget counts work, and results are the same on every machine.
    learn : bool
        If False, use the given ``parameters``, or the given ``mixing``, ``length_scales``, ``noise`` and ``kernel``.
    parameters : dict or path, optional
        All parameters as a dict like :attr:`parameters_`, or the path of a JSON file with them as written by
        ``catena fit --parameters-out``. Parameters of a time model can only be given this way.
    mixing : array-like of shape (D, L), optional
        Weight of each latent process in each output, in units of the outputs.
    length_scales : array-like of shape (L,) or float, optional
        In units of the input; in seconds if the input is a time.
    noise : array-like of shape (D,) or float, optional
        Noise variances of the outputs.
    standardize : bool
        Whether outputs are standardized and inputs scaled internally. Results are always in the caller's units.
    transforms : str, list, dict or bool
        Transform of each output: ``"none"``, ``"log"``, ``"box-cox"`` (for positive outputs) or ``"yeo-johnson"``, the last two
        with a learned exponent. ``"auto"`` selects by held-out cells, also a linear trend over several inputs. One word for all
        outputs, one per output in a list, or a dict by name, in which other outputs are ``"auto"``. True and False are
        ``"auto"`` and ``"none"``.
    likelihood : str, list or dict, optional
        Distribution of the values of each output given the function: ``"gaussian"`` (the default), ``"student-t"`` (robust to
        outliers), ``"poisson"``, ``"negative-binomial"``, ``"bernoulli"``, ``"binomial(12)"`` of 12 trials, ``"gamma"``,
        ``"log-normal"``, ``"beta"`` (proportions), ``"censored"`` (cut off at 0; other limits as ``"censored(0:100)"``) or
        ``"zero-inflated"``. ``"auto"`` looks at the values and decides by held-out cells; the summary says why. One word for
        all outputs, one per output in a list, or a dict by name, in which other outputs are Gaussian. Means, medians,
        intervals and samples are then those of counts, proportions and so on.
    bounds : tuple, str or dict, optional
        The smallest and the largest value of all outputs, such as ``(0, 100)`` or ``(0, None)``, or of some in a dict by name.
        Means, medians, intervals and samples beyond them are put at them.
    random_state : int, numpy Generator or RandomState, or None
        Random seed.
    max_memory : int, str or None
        Refuse a fit that needs more memory than this, in bytes or as a text such as ``"3GB"``; by default three quarters of the
        machine's memory.
    progress : "auto" or bool
        Whether long fits show their progress.

    Attributes
    ----------
    n_features_in_, n_outputs_ : int
        Numbers of inputs and outputs.
    feature_names_in_ : ndarray
        Names of the inputs, if they were given.
    output_names_ : list of str
        Names of the outputs.
    mixing_, length_scales_, noise_, kernel_ :
        Learned parameters; see each attribute. A time model has one column per component.
    parameters_ : dict
        All learned parameters, in units of inputs and outputs.
    summary_ : dict
        The selected model, the candidates and the decisions.
    warnings_ : list of str
        Warnings about the fit.

    Examples
    --------
    Two outputs share one latent process; the second output is missing at time 1.

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
        space: list[str] | None = None,
        time: str | None = None,
        n_inducing: int | None = None,
        n_neighbors: int | None = None,
        private: bool | str = "auto",
        ard: bool | str = "auto",
        periods: Any = None,
        mean: str = "auto",
        group_scaling: str = "auto",
        calendar: str = "auto",
        combine: str = "auto",
        budget: str = "default",
        time_limit: Any = None,
        learn: bool = True,
        parameters: dict[str, Any] | str | PathLike[str] | None = None,
        mixing: ArrayLike | None = None,
        length_scales: ArrayLike | None = None,
        noise: ArrayLike | None = None,
        standardize: bool = True,
        transforms: Any = "auto",
        likelihood: Any = None,
        bounds: Any = None,
        random_state: Any = 0,
        max_memory: int | str | None = None,
        progress: bool | str = "auto",
    ) -> None:
        self.latents = latents
        self.kernel = kernel
        self.structure = structure
        self.method = method
        self.space = space
        self.time = time
        self.n_inducing = n_inducing
        self.n_neighbors = n_neighbors
        self.private = private
        self.ard = ard
        self.periods = periods
        self.mean = mean
        self.group_scaling = group_scaling
        self.calendar = calendar
        self.combine = combine
        self.budget = budget
        self.time_limit = time_limit
        self.learn = learn
        self.parameters = parameters
        self.mixing = mixing
        self.length_scales = length_scales
        self.noise = noise
        self.standardize = standardize
        self.transforms = transforms
        self.likelihood = likelihood
        self.bounds = bounds
        self.random_state = random_state
        self.max_memory = max_memory
        self.progress = progress

    # Fitting

    def fit(
        self,
        X: Any,
        Y: Any = None,
        candidates: Any = None,
        *,
        groups: Any = None,
        noise_columns: Any = None,
        long: Any = None,
    ) -> MultiOutputGP:
        """Selects a model, learns its parameters and conditions it on a table.

        Parameters
        ----------
        X : array-like of shape (n, M), a frame, an index or a column of times
            Inputs. A frame without ``Y`` holds inputs and outputs. The input is its index if that has a name, times or
            fractions (an unnamed integer index counts as row numbers), else its first column of times, else its first column.
            Its other numeric columns with a value are the outputs. ``print`` and :attr:`summary_` begin with inputs and
            outputs and list the columns that are ignored. A series has its index as input. A frame with the columns
            ``unique_id``,
            ``ds`` and ``y`` is long, see ``long``.
        Y : array-like of shape (n, D) or (n,), or a frame
            Values, NaN where missing; true and false are 1 and 0.
        candidates : array-like of shape (k, M), optional
            Unobserved points to include in the structure, like the test points of the paper.
        groups : str, list of str or array-like of shape (n,), optional
            Columns of the frame ``X``, or one name per row, that tell the group of each row. Groups are independent tables with
            one model: parameters are learned from all of them, and a value says nothing about other groups.
        noise_columns : list of str, dict or array-like of shape (n, D), optional
            Columns of the frame ``X`` with the known standard deviation of the noise of every cell, one per output or a dict
            by output; or these numbers.
        long : tuple of str or False, optional
            The columns of time, series and value of a frame ``X`` with one row per value, as ``--long`` on the command line.
            Each series becomes an output, and results have the same layout. Four names begin with a column of groups.
            ``False`` if a frame with Nixtla's names is wide, which is the default with ``groups``.

        Returns
        -------
        self
        """
        table, noise_of, noise_names = _noise.split(X, noise_columns)
        inputs = space_inputs(self)
        if inputs is not None and (groups is not None or long):
            raise InputError(
                "space and time know neither groups nor long tables; give a frame with one row per place and time."
            )
        points, values, names, notes, grouped = _groups.read(table, Y, groups, long, self.learn, inputs)
        noise = noise_of(names, values.shape)
        points.put_on_calendar(self.calendar)
        if self.learn:
            _check.observed(values, names)
        if self.learn and len(points) < 2:
            raise InputError(
                "n_samples = 1: learning needs at least two rows; add rows, or give parameters with learn=False."
            )
        *others, last = points.clocks
        wanted = fit_options(self, names, None if others else last)
        wanted["time_is_last"] = bool(others) and last is not None and not any(others)
        if candidates is not None:
            together = points.names if notes["together"] else None
            others = _frames.read_points(candidates, together, points.clocks, notes, "candidates")
            if others.values.shape[1] != points.values.shape[1]:
                raise InputError(
                    f"candidates have {others.values.shape[1]} inputs, but X has {points.values.shape[1]}."
                )
            wanted["candidates"] = others.values
        wanted["cell_noise"] = noise
        notes_in_file = about(self, points, names, notes, grouped, noise_names)
        model = self._watched(_catena.fit, points.values, values, wanted, notes_in_file)
        with self._guard():
            self._remember_features(points)
            self._adopt(model, points, notes)
            self._original = (X if Y is None else Y) if notes["kind"] != "numpy" else None
        self._tell_of_input()
        advice = proposal(X, points, notes) if Y is None and groups is None else None
        if advice is not None:
            warn(advice)
        self._tell()
        return self

    def _tell_of_input(self):
        """Warns if a column that may be data was taken for the input."""
        why = self._notes.get("why", "")
        places = self._points.values[:, 0]
        steps = np.diff(places)
        is_sorted = (steps >= 0).all() or (steps <= 0).all()
        if why.startswith("the first column") and "times" not in why and ("text" in why or not is_sorted):
            warn(
                f"the input is {self._points.names[0]!r}, {why}; to choose another, make it the index and name it, or "
                "give X and Y"
            )

    # Asking

    @overload
    def predict(
        self,
        X: Any = ...,
        return_std: Literal[False] = ...,
        return_cov: Literal[False] = ...,
        *,
        include_noise: bool = ...,
        point: str = ...,
        groups: Any = ...,
    ) -> Predictions: ...

    @overload
    def predict(
        self,
        X: Any = ...,
        *,
        return_std: Literal[True],
        return_cov: Literal[False] = ...,
        include_noise: bool = ...,
        point: str = ...,
        groups: Any = ...,
    ) -> tuple[Predictions, Predictions]: ...

    @overload
    def predict(
        self,
        X: Any = ...,
        *,
        return_std: Literal[False] = ...,
        return_cov: Literal[True],
        include_noise: bool = ...,
        point: str = ...,
        groups: Any = ...,
    ) -> tuple[Predictions, NDArray[np.float64]]: ...

    def predict(
        self,
        X: Any = None,
        return_std: bool = False,
        return_cov: bool = False,
        *,
        include_noise: bool = True,
        point: str = "mean",
        groups: Any = None,
    ) -> Predictions | tuple[Predictions, Predictions] | tuple[Predictions, NDArray[np.float64]]:
        """Posterior means, and on request standard deviations or covariances.

        Parameters
        ----------
        X : array-like of shape (n, M), a frame or an index; None for the rows of the fit
            Points. The prediction at a point does not depend on the other points.
        return_std : bool
            Also return standard deviations, in the shape of the means.
        return_cov : bool
            Also return the covariances of the outputs at each point: an array of shape (n, D, D); (n,) for a vector ``y``.
        include_noise : bool
            Whether to predict a new observation (the default) or the latent function.
        point : str
            ``"mean"``, or ``"median"``, which has the smaller absolute errors; they differ for outputs with a transform.
        groups : str, list of str or array-like of shape (n,), optional
            The groups of the points, as in :meth:`fit`; by default the columns of the fit, if ``X`` has them. A group without
            rows in the fit has the prior.

        Returns
        -------
        mean, or (mean, std), or (mean, cov) : of shape (n, D), a vector for a vector ``y``, a frame for a frame
        """
        if return_std and return_cov:
            raise InputError("return_std and return_cov cannot be combined; choose one.")
        model, rows = self._whole()
        points = self._rows_of(model, rows) if X is None else self._read_in(X, groups)
        # Means and covariances at the same points come from one posterior.
        at = None if X is None and not return_cov else points.values
        mean, std = model.predict(at, include_noise, point, None if at is None else points.group_numbers)
        if return_cov:
            covariances = model.covariances(points.values, include_noise, points.group_numbers)
            return self._answer(mean, points), (
                covariances[:, 0, 0] if self._notes["vector"] else covariances
            )
        return self._answers(mean, std, points, return_std)

    def interval(
        self, X: Any = None, level: float = 0.95, *, include_noise: bool = True, groups: Any = None
    ) -> tuple[Predictions, Predictions]:
        """Lower and upper ends of the central prediction intervals of probability ``level``; groups as in :meth:`predict`."""
        if not 0 < level < 1:
            raise InputError(f"level={level!r} is not a probability; give a number between 0 and 1.")
        model, rows = self._whole()
        points = self._rows_of(model, rows) if X is None else self._read_in(X, groups)
        at, numbers = (None, None) if X is None else (points.values, points.group_numbers)
        _, *ends = model.interval(at, level, include_noise, numbers)
        return tuple(self._answer(end, points) for end in ends)

    @overload
    def impute(
        self,
        return_std: Literal[False] = ...,
        *,
        max_gap: Any = ...,
        max_std: Any = ...,
        point: str = ...,
        clean: bool = ...,
    ) -> Predictions: ...

    @overload
    def impute(
        self,
        return_std: Literal[True],
        *,
        max_gap: Any = ...,
        max_std: Any = ...,
        point: str = ...,
        clean: bool = ...,
    ) -> tuple[Predictions, Predictions]: ...

    def impute(
        self,
        return_std: bool = False,
        *,
        max_gap: Any = None,
        max_std: Any = None,
        point: str = "mean",
        clean: bool = False,
    ) -> Predictions | tuple[Predictions, Predictions]:
        """The table of the fit with its missing values filled; observed values are unchanged unless ``clean``.

        Parameters
        ----------
        return_std : bool
            Whether to return also the standard deviation of each filled value, NaN where a value was observed or stays missing.
        max_gap : duration or number, optional
            Gaps in which the observed values before and after are farther apart stay missing. A duration such as ``"6h"`` or a
            timedelta if the input is a time, else a number.
        max_std : number, one per output, or dict by output name, optional
            Values with a larger standard deviation stay missing.
        point : str
            ``"mean"``, or ``"median"``, which has the smaller absolute errors; they differ for outputs with a transform.
        clean : bool
            Whether the bad readings that :meth:`check` finds are treated as missing: a model with the same options is learned
            without them, and they are filled like missing values. The estimator stays as it is.
        """
        with self._guard():
            (model, rows), original = self._whole(), self._original
        bad = None
        if clean:
            model, bad = cleaned(self, model, rows)
        values = model.values()
        mean, std = model.predict(None, True, point)
        for message in model.beyond_limits(point):
            warn(message)
        missing = np.isnan(values)
        rows_in = self._rows_of(model, rows)
        filled = missing & ~left_empty(missing, std, rows_in, self.output_names_, max_gap, max_std)
        whole = _frames.filled(
            original, np.where(filled, mean, values), self.output_names_, rows, self._notes, bad
        )
        if not return_std:
            return whole
        return whole, self._answer(np.where(filled, std, np.nan), rows_in)

    def sample_y(
        self,
        X: Any = None,
        n_samples: int = 1,
        random_state: Any = 0,
        *,
        include_noise: bool = True,
        groups: Any = None,
    ) -> np.ndarray:
        """Joint samples at all points; their marginals are those of :meth:`predict`, and so are ``groups``.

        Returns
        -------
        ndarray of shape (n, D, n_samples); (n, n_samples) for a vector ``y``
        """
        if not (isinstance(n_samples, (int, np.integer)) and n_samples >= 1):
            raise InputError(f"n_samples={n_samples!r} is not a positive integer; give at least 1.")
        model, rows = self._whole()
        points = self._rows_of(model, rows) if X is None else self._read_in(X, groups)
        seed = seed_of(random_state)
        draws = model.draws(points.values, int(n_samples), seed, include_noise, points.group_numbers)
        draws = np.moveaxis(draws, 0, 2)
        return draws[:, 0] if self._notes["vector"] else draws

    def log_marginal_likelihood(self) -> float:
        """The log evidence: the log density of the observed values under the model, in the caller's units."""
        return self._model_or_raise().log_evidence()

    @property
    def structure_(self) -> Structure | None:
        """The chain or tree over rows and candidates, in model units; None for methods without one."""
        return self._model_or_raise().structure()

    # Looking

    def report(self, title: str = "catena", held_out: Any = None, *, hidden: Any = None) -> Report:
        """The fit as a self-contained page with data, intervals, model and candidates, for notebooks and files.

        ``held_out`` are true values that were held out of the fit, in the shape of ``Y``; they are drawn beside the
        predictions. ``hidden`` is its old name.
        """
        model, rows = self._whole()
        held_out = renamed("hidden", hidden, "held_out", held_out)
        held_out = None if held_out is None else read_outputs(held_out, self.output_names_)
        if held_out is not None:
            _check.same_rows(rows, held_out, ("the fit", "held_out"))
        return Report(model.page(title, held_out))

    def plot(
        self,
        X: Any = None,
        *,
        held_out: Any = None,
        level: float = 0.95,
        axes: Any = None,
        hidden: Any = None,
        group: Any = None,
    ) -> np.ndarray:
        """Plots each output along its input: intervals, observed values and held-out values; needs matplotlib.

        Over two inputs each output has a map of its mean and one of the half-width of its band; ``axes`` are then those of the
        means. Over more inputs points are drawn along the first.

        ``held_out`` are true values that were held out of the fit, in the shape of ``Y``; ``hidden`` is its old name. With
        groups, ``group`` names the one to plot, such as ``"north"``, or ``("north", "3")`` for groups by two columns.

        Returns the array of axes.
        """
        from ._plots import plot

        held_out = renamed("hidden", hidden, "held_out", held_out)
        return plot(self, X, held_out, level, axes, _groups.number_of(self._model_or_raise(), group))

    @property
    def forecast_summary_(self) -> dict[str, Any]:
        """The summary of the model of the latest :meth:`forecast`.

        ``held_out`` has the scores of its forecasts of known rows, and those of simple rules; ``origins`` tells from how many
        origins.
        """
        import json

        self._model_or_raise()
        known = getattr(self, "_forecaster", None)
        return self.summary_ if known is None else json.loads(known.model.summary_json())

    def plot_forecast(
        self,
        horizon: Any,
        step: Any = None,
        *,
        levels: Sequence[float] = (0.5, 0.8, 0.95),
        history: int | None = None,
        axes: Any = None,
    ) -> np.ndarray:
        """Plots the latest rows of each output and their :meth:`forecast`, with bands of these probabilities; needs matplotlib.

        A dotted line marks the origin, the last row. ``history`` is the number of rows before it, by default three times the
        length of the forecast. Returns the array of axes.
        """
        from ._plots import plot_forecast

        if not levels or any(not 0 < level < 1 for level in levels):
            raise InputError(f"levels={levels!r} must be probabilities between 0 and 1.")
        return plot_forecast(self, horizon, step, levels, history, axes)

    def plot_structure(self, ax: Axes | None = None) -> Axes:
        """Plots the chain or tree over the first two inputs; needs matplotlib."""
        from ._plots import plot_structure

        return plot_structure(self, ax)

    # Keeping

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the fitted model to a file, for :func:`catena.load` and the command line."""
        self._model_or_raise().save(path)

    def __getstate__(self) -> dict[str, Any]:
        state = {
            key: value
            for key, value in self.__dict__.items()
            if key not in ("_forecaster", "_later", "_live", "_lock", "_model", "_original", "_points")
        }
        if self.__sklearn_is_fitted__():
            model, rows = self._whole()
            state["_model"] = model.to_bytes()
            state["_index"] = rows.index
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        whole, index = state.pop("_model", None), state.pop("_index", None)
        # Parameters of a later version than that of the pickle have their defaults.
        self.__dict__.update({**type(self)().get_params(), **state})
        if whole is not None:
            model = _catena.Model.from_bytes(whole)
            points, notes, _ = kept(model, index)
            self._adopt(model, points, notes)
            self._original = None

    # Inside

    def _model_or_raise(self):
        """The model of all rows, including rows that only the live posterior has."""
        self._fitted_or_raise()
        if self._later:
            self._fold()
        return self._model

    def _whole(self):
        """The model of all rows and these rows, which stay together while other threads add more."""
        self._fitted_or_raise()
        with self._guard():
            return self._model_or_raise(), self._points

    def _moments(self, points, include_noise, point="mean"):
        """Means or medians, and standard deviations at points, as arrays."""
        return self._model_or_raise().predict(points.values, include_noise, point, points.group_numbers)

    def _model_ahead(self, points):
        """The model that forecasts points after the last row: the own one unless the options leave it open."""
        with self._guard():
            model, _ = self._whole()
            is_later = len(points) > 0 and bool((distances(points, model) > 0).all())
            if not (is_later and can_choose(self, model)):
                return model
            self._forecaster = forecaster(self, model, points, self._forecaster)
            return self._forecaster.model

    def _predict_later(self, X, q=None):
        """Means and standard deviations, or quantiles, by the model that forecasts if all points are later than the rows."""
        points = self._read_in(X)
        if q is not None:
            return self._quantiles_ahead(points, q, True)
        return self._answers(*self._moments_ahead(points, True, "mean"), points, True)

    def _moments_ahead(self, points, include_noise, point):
        model = self._model_ahead(points)
        return model.predict(points.values, include_noise, point, points.group_numbers)

    def _split_groups(self, X, groups):
        self._fitted_or_raise()
        # Rows that wait for the table have no groups, since live posteriors have none.
        known = self._model.groups()
        if known is None:
            return super()._split_groups(X, groups)
        if groups is None:
            if not set(known[0]) <= set(_groups.names_of(X)):
                raise InputError(f"the fit has groups ({', '.join(known[0])}); give groups= for the points.")
            groups = known[0]
        labels, _, table = _groups.split(X, groups)
        return table, labels

    def _numbered(self, labels, points):
        if labels is None:
            return None
        _frames.check_labels(labels, len(points))
        columns, names, _ = self._model.groups()
        return (columns, *_groups.numbered(labels, names))

    def _rows_of(self, model, rows):
        """The rows of the fit with their groups."""
        if model.groups() is None:
            return rows
        rows = copy(rows)
        rows.groups = model.groups()
        return rows

    def _ahead(self, horizon, step):
        """The points of a forecast."""
        rows, groups = self._points, self._model_or_raise().groups()
        points = points_ahead(rows.values, rows.names, rows.clocks, horizon, step, groups)
        return points
