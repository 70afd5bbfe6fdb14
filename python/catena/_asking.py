"""Questions to a model beside its predictions: quantiles, components, scored forecasts, comparisons of methods, bad cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _catena, _check, _frames, _groups
from ._findings import findings_of
from ._frames import Points
from ._horizon import length, span_text
from ._keeping import about
from ._options import fit_options
from ._rows import read_rows
from .errors import InputError, warn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._types import Frame, Predictions


class Asking:
    """Quantiles, components, scored forecasts, comparisons of methods and bad cells."""

    def quantiles(
        self,
        X: Any = None,
        q: float | Sequence[float] = (0.1, 0.5, 0.9),
        *,
        include_noise: bool = True,
        groups: Any = None,
    ) -> Predictions:
        """Quantiles of the predictive distributions.

        Parameters
        ----------
        X, include_noise, groups :
            As for :meth:`predict`.
        q : float or list of float
            Probabilities between 0 and 1.

        Returns
        -------
        array of shape (n, D, len(q)), (n, len(q)) for a vector ``y``; for a frame a frame with columns such as ``temp_q0.1``
        """
        shares = _shares(q)
        model, rows = self._whole()
        points = self._rows_of(model, rows) if X is None else self._read_in(X, groups)
        return self._quantiles_of(model, points, shares, include_noise, X is None)

    def _quantiles_ahead(self, points, q, include_noise):
        return self._quantiles_of(self._model_ahead(points), points, _shares(q), include_noise)

    def _known_ahead(self, points, known, wanted):
        """A forecast with known columns, as quantiles or as means with standard deviations."""
        from ._known import known_forecast

        q, return_std, include_noise, point = wanted
        shares = None if q is None else _shares(q)
        model, _ = self._whole()
        forecast = known_forecast(self, model, points, known)
        #: Scores of forecasts of known rows with known columns and without, of the latest forecast with known columns.
        self.known_scores_ = forecast.scores
        #: The effects of known columns.
        self.known_effects_ = forecast.effects
        if shares is not None:
            return forecast.quantiles(self, points, shares, include_noise)
        return self._answers(*forecast.model.predict(include_noise, point), points, return_std)

    def _quantiles_of(self, model, points, shares, include_noise, at_rows=False):
        """Quantiles of a model at points, in columns; `at_rows` if they are its rows."""
        at, numbers = (None, None) if at_rows else (points.values, points.group_numbers)
        found = _catena.quantiles(model, at, shares, include_noise, numbers)
        cube = found.reshape(len(points), self.n_outputs_, len(shares))
        columns = {f"_q{share}": cube[:, :, at] for at, share in enumerate(shares)}
        return _frames.answer_columns(columns, self.output_names_, points, self._notes)

    def components(self, X: Any = None, *, groups: Any = None) -> Frame:
        """The additive parts of every output: level, trend, seasons and oscillators of a time model, else its latents.

        Parts are exact posteriors of the states. Their means and ``mean``, the prior mean, add up to
        ``predict(include_noise=False)``; their standard deviations do not, because parts are correlated. Outputs with a
        transform have parts of the transformed output. Of a pool they are those of its single model, ``combine="none"``.

        Parameters
        ----------
        X, groups :
            As for :meth:`predict`; None for the rows of the fit.

        Returns
        -------
        frame with the columns of groups, the inputs, ``output``, ``component``, ``mean`` and ``std``, a row for each point,
        output and component
        """
        model, rows = self._whole()
        points = self._rows_of(model, rows) if X is None else self._read_in(X, groups)
        at, numbers = (None, None) if X is None else (points.values, points.group_numbers)
        names, means, stds = _catena.components(model, at, numbers)
        n_parts = self.n_outputs_ * len(names)
        every = points.taken(np.repeat(np.arange(len(points)), n_parts))
        outputs = np.repeat(np.array(self.output_names_, dtype=object), len(names))
        columns = {
            "output": np.tile(outputs, len(points)),
            "component": np.tile(np.array(names, dtype=object), len(points) * self.n_outputs_),
            "mean": means.ravel(),
            "std": stds.ravel(),
        }
        places = {**dict(every.group_columns()), **_frames.places(every, self._notes)}
        return _frames.tidy({**places, **columns}, self._notes)

    def backtest(
        self,
        X: Any = None,
        Y: Any = None,
        *,
        horizons: Sequence[Any] = (1, 6, 24),
        every: int = 1,
        season: Any = None,
        interval: float = 0.9,
        test_size: float | int = 0.25,
        groups: Any = None,
    ) -> Frame:
        """Scores forecasts from many origins, as ``catena score --rolling``.

        Every row after the last row of the model is an origin. Parameters stay fixed, and each forecast is conditioned on
        all rows up to its origin. The last value, the last season and the mean are scored beside the model.

        Parameters
        ----------
        X, Y :
            Later rows, as for :meth:`update`. By default, a model with the same options is fitted to the first rows of the
            table, and the others are forecast.
        horizons : list of int, str or timedelta
            Numbers of steps, or durations such as ``"24h"``, ``"5B"`` or ``"6mo"``.
        every : int
            Rows between origins.
        season : int, str or timedelta, optional
            Period of the seasonal rule.
        interval : float
            Probability of the intervals whose coverage is scored.
        test_size : float or int
            The fraction or the number of the last rows that are forecast without ``X``; with groups, those of each group. A
            group that would keep fewer than two rows is not forecast.
        groups : str, list of str or array-like of shape (n,), optional
            The groups of the rows of ``X``, as for :meth:`update`. Each group has origins of its own.

        Returns
        -------
        frame with ``predictor``, ``horizon``, ``n_cells``, ``rmse`` (in standard deviations of the outputs), ``log_score``
        (in nats, larger is better), ``coverage``, and the numbers of origins, of targets beyond the table or without a row,
        and of
        missing cells
        """
        if not 0 < interval < 1:
            raise InputError(f"interval={interval!r} is not a probability; give a number between 0 and 1.")
        if not (_check.is_whole(every) and every >= 1):
            raise InputError(f"every={every!r} is invalid; give a whole number of rows from 1.")
        horizons = (
            [horizons] if isinstance(horizons, str) or not hasattr(horizons, "__iter__") else list(horizons)
        )
        texts = [span_text(horizon, "horizon") for horizon in horizons]
        season = None if season is None else span_text(season, "horizon")
        model, rows = self._whole()
        if _catena.cell_noise(model) is not None:
            raise InputError("backtest does not know noise_columns yet; leave them out of the fit.")
        if X is None:
            model, later = self._without_last(model, rows, test_size)
        else:
            points, values = read_rows(self, X, Y, groups)
            later = (points.values, values, points.group_numbers)
        found = _catena.backtest(model, later, texts, int(every), season, float(interval))
        columns = {
            "predictor": [row["predictor"] for row in found],
            "horizon": [str(horizons[row["number"]]) for row in found],
        }
        for name in (
            "n_cells",
            "rmse",
            "log_score",
            "coverage",
            "n_origins",
            "n_beyond",
            "n_without_row",
            "n_missing",
        ):
            columns[name] = [row[name] for row in found]
        return _frames.tidy(columns, self._notes)

    def compare(self, X: Any = None, Y: Any = None, *, block: Any = None, groups: Any = None) -> Frame:
        """Scores methods, structures and simple rules on held-out cells of a table, as ``catena compare``.

        Parameters
        ----------
        X, Y, groups :
            A table as for :meth:`fit`; by default that of the fit. The estimator need not be fitted, and stays as it is.
        block : int, str, timedelta or float, optional
            Hold out one block of every output, of this number of rows or length, instead of copies of the table's gaps.

        Returns
        -------
        frame with a row per ``method``, the smallest error first: ``n_cells``, ``rmse`` (in standard deviations of the
        outputs), ``log_score`` (in nats), its ``difference`` to that of the answer of the fit with ``difference_error``,
        ``coverage95``,
        ``learn_seconds``, ``predict_seconds``, and in ``left_out`` the reason why a method did not run
        """
        if X is None:
            if groups is not None:
                raise InputError("groups are those of X; leave them out, the fit has its own.")
            model, points = self._whole()
            values, names, notes = model.values(), self.output_names_, self._notes
            noise, grouped = _catena.cell_noise(model), model.groups()
        else:
            points, values, names, notes, grouped = _groups.read(X, Y, groups, None, self.learn)
            points.put_on_calendar(self.calendar)
            noise = None
        clock = points.clocks[0] if len(points.clocks) == 1 else None
        rows = (np.ascontiguousarray(points.values), values)
        wanted = {**fit_options(self, names, clock), "cell_noise": noise}
        found = self._watched(
            _compare, rows, wanted, about(self, points, names, notes, grouped), _block(block, points)
        )
        if found is None:
            raise InputError("the table has fewer than 20 observed values, too few to hold some out.")
        rows, warnings = found
        for message in warnings:
            warn(message)
        return _frames.tidy(_scores(rows), notes)

    def check(self, X: Any = None, Y: Any = None, *, groups: Any = None) -> Frame:
        """Finds bad readings: every observed cell against what all other cells say of it, as ``catena check``.

        The model has the options of the estimator, but is a single one and is learned without the cells that are found. Of two
        hundred findings about one is expected to be false.

        Parameters
        ----------
        X, Y, groups :
            A table as for :meth:`fit`; by default that of the fit. The estimator need not be fitted, and stays as it is.

        Returns
        -------
        frame with a row per finding: ``row`` (the first, counted from 0), the inputs and groups there, ``column`` (the output),
        ``kind`` (``"spike"``, ``"stretch"``, ``"stuck"``, ``"step"`` or ``"drift"``), the number of ``cells``, ``last_row``,
        ``value``, what is ``expected``, ``lower`` and ``upper`` ends of a band of 95 % (means over several cells),
        ``deviation`` in standard deviations, and ``p_value``, the probability that an ordinary cell of the table deviates as
        much
        """
        return findings_of(self, X, Y, groups)

    def _without_last(self, model, rows, test_size):
        """A model of the first rows of the table, and the other rows."""
        inputs, values, grouped = model.inputs(), model.values(), model.groups()
        numbers = np.zeros(len(inputs), dtype=np.int64) if grouped is None else np.asarray(grouped[2])
        is_last = np.zeros(len(inputs), dtype=bool)
        for number in np.unique(numbers):
            own = np.flatnonzero(numbers == number)
            n_last = test_size if _check.is_whole(test_size) else round(float(test_size) * len(own))
            if 1 <= n_last <= len(own) - 2:
                is_last[own[np.argsort(inputs[own, 0], kind="stable")[-n_last:]]] = True
        if not is_last.any():
            n_rows = f"{len(inputs)} rows" if grouped is None else "the rows of every group"
            raise InputError(
                f"test_size={test_size!r} of {n_rows} leaves fewer than two to fit or none to forecast; give a fraction, or a "
                "number of rows that leaves at least two."
            )
        first, last = np.flatnonzero(~is_last), np.flatnonzero(is_last)
        head = Points(inputs[first], rows.names, rows.clocks, None, rows.integer, rows.has_names)
        options = fit_options(self, self.output_names_, rows.clocks[0] if len(rows.clocks) == 1 else None)
        of_head = None if grouped is None else (*grouped[:2], numbers[first].tolist())
        notes = about(self, head, self.output_names_, self._notes, of_head)
        _check.observed(values[first], self.output_names_)
        fitted = self._watched(_catena.fit, head.values, values[first], options, notes)
        return fitted, (inputs[last], values[last], None if grouped is None else numbers[last].tolist())


def _shares(q):
    """Probabilities of quantiles as a list."""
    shares = [q] if isinstance(q, (int, float, np.number)) else list(q)
    if not shares or any(not 0 < share < 1 for share in shares):
        raise InputError(f"q={q!r} must be probabilities between 0 and 1.")
    return [float(share) for share in shares]


def _compare(rows, options, notes, block, progress):
    """The comparison as a pair, as every learning function returns it."""
    found = _catena.compare(rows, options, notes, block, progress)
    return (None, False) if found is None else ((found[0], found[1]), found[2])


def _block(block, points):
    """A block as a number and whether it is a length."""
    if block is None:
        return None
    if len(points.names) != 1:
        raise InputError(f"block needs one input, but the table has {len(points.names)}; leave it out.")
    if _check.is_whole(block):
        if block < 1:
            raise InputError(f"block={block!r} is not positive; give a number of rows or a length.")
        return float(block), False
    return length(block, points.clocks[0], "block"), True


def _scores(rows):
    """The columns of a comparison; methods that did not run have a reason instead of numbers."""
    numbers = (
        "rmse",
        "log_score",
        "difference",
        "difference_error",
        "coverage95",
        "learn_seconds",
        "predict_seconds",
    )
    columns = {"method": [row["method"] for row in rows], "n_cells": [row.get("n_cells", 0) for row in rows]}
    for name in numbers:
        found = [row.get(name) for row in rows]
        columns[name] = np.array([np.nan if value is None else value for value in found])
    columns["left_out"] = [row.get("left_out", "") for row in rows]
    return columns


def compare(X: Any, Y: Any = None, *, block: Any = None, groups: Any = None, **options: Any) -> Frame:
    """Scores methods, structures and simple rules on held-out cells of a table, as ``catena compare``.

    ``X``, ``Y``, ``block`` and ``groups`` are those of :meth:`MultiOutputGP.compare`, and options are those of
    :class:`MultiOutputGP`.

    >>> import numpy as np, catena
    >>> hours = np.arange(60.0)
    >>> scores = catena.compare(hours[:, None], np.sin(hours / 4), block=10, budget="quick")
    >>> "catena" in list(scores["method"])
    True
    """
    from ._gp import MultiOutputGP

    return MultiOutputGP(**options).compare(X, Y, block=block, groups=groups)


def check(X: Any, Y: Any = None, *, groups: Any = None, **options: Any) -> Frame:
    """Finds bad readings in a table, as ``catena check``.

    ``X``, ``Y`` and ``groups`` are those of :meth:`MultiOutputGP.check`, and options are those of :class:`MultiOutputGP`.

    >>> import numpy as np, catena
    >>> hours = np.arange(200.0)
    >>> level = np.sin(hours / 9) + 0.1 * np.random.default_rng(0).normal(size=200)
    >>> level[120] += 5
    >>> found = catena.check(hours[:, None], level, budget="quick")
    >>> found["row"].tolist(), found["kind"].tolist()
    ([120], ['spike'])
    """
    from ._gp import MultiOutputGP

    return MultiOutputGP(**options).check(X, Y, groups=groups)
