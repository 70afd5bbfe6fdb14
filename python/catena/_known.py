"""Forecasts with columns that are known ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _catena, _frames
from ._keeping import about
from ._options import fit_options
from .errors import InputError

if TYPE_CHECKING:
    from typing import Any

#: Times this close are equal, in steps.
_BLUR = 1e-3


class KnownForecast:
    """A forecast with known columns: the learned model, its scores on known rows, and the effects."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.scores, self.effects = model.report()

    def quantiles(self, gp: Any, points: Any, shares: list[float], include_noise: bool) -> Any:
        """Quantiles in columns."""
        found = self.model.quantiles(shares, include_noise)
        cube = found.reshape(len(points), gp.n_outputs_, len(shares))
        columns = {f"_q{share}": cube[:, :, at] for at, share in enumerate(shares)}
        return _frames.answer_columns(columns, gp.output_names_, points, gp._notes)


def known_forecast(gp: Any, model: Any, points: Any, known: Any) -> KnownForecast:
    """Learns a model with the columns of ``known``, a frame with rows at the times of the fit and of the forecast."""
    if model.groups() is not None:
        raise InputError("known= is not combined with groups; fit one group as a table of its own.")
    names, rows, values = _read(gp, known)
    times, ahead = rows.values[:, 0], points.values[:, 0]
    step = float(ahead[0] - model.inputs()[:, 0].max())
    order = np.argsort(times, kind="stable")

    def at(wanted):
        """Known values at times; NaN where there is no row."""
        found = np.full((len(wanted), len(names)), np.nan)
        places = np.searchsorted(times[order], wanted - _BLUR * step)
        is_row = places < len(times)
        near = np.where(is_row, order[np.minimum(places, len(times) - 1)], 0)
        is_row &= np.abs(times[near] - wanted) <= _BLUR * step
        found[is_row] = values[near[is_row]]
        return found, is_row

    later, has_row = at(ahead)
    index = next(iter(_frames.places(points, gp._notes).values()))
    if not has_row.all():
        row = int(np.flatnonzero(~has_row)[0])
        raise InputError(
            f"known has no row at {index[row]}, which is to be forecast; add rows up to {index[len(ahead) - 1]}, "
            "or give a shorter horizon."
        )
    missing = np.argwhere(np.isnan(later))
    if len(missing):
        row, column = map(int, missing[0])
        raise InputError(
            f"column {names[column]} of known has no value at {index[row]}, which is to be forecast; fill it, or leave the "
            "column out."
        )
    own = gp._points
    earlier, _ = at(model.inputs()[:, 0])
    columns = (names, np.ascontiguousarray(earlier), ahead.tolist(), np.ascontiguousarray(later))
    options = fit_options(gp, gp.output_names_, own.clocks[0])
    notes = about(gp, own, gp.output_names_, gp._notes)

    def learn(inputs, outputs, options, notes, progress):
        return _catena.fit_known(inputs, outputs, options, notes, progress, columns)

    return KnownForecast(gp._watched(learn, model.inputs(), model.values(), options, notes))


def _read(gp, known):
    """Names, rows and values of the known columns."""
    kind = _frames.kind_of(known)
    if kind is None or not gp._notes["together"]:
        raise InputError(
            "known= is a frame with the known columns, at the times of the rows and of the forecast, beside a fit of a frame; "
            "fit a frame with one column for the input and one for each output."
        )
    inputs = list(map(str, gp._points.names))
    names = [name for name in _frames.names(known) if name not in inputs]
    both = [name for name in names if name in map(str, gp.output_names_)]
    if both:
        raise InputError(
            f"known has the column {both[0]}, which is an output; drop it from known, or from the fit."
        )
    if not names:
        raise InputError("known has no column beside the input; add the known columns.")
    rows, values = _frames.read_both(known, inputs, names, gp._points.clocks, gp._notes)
    return names, rows, values
