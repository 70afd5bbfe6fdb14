"""The model that forecasts for an estimator whose own model fills gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _catena
from ._keeping import about
from ._options import fit_options

if TYPE_CHECKING:
    from typing import Any

#: Reaches that differ by less than this share are the same.
_SAME = 1e-6
#: Maximum number of outputs of a time model.
_MOST_OUTPUTS = 32


class AheadModel:
    """A model chosen for forecasts of an estimator's table, by :func:`forecaster`."""

    def __init__(self, model: Any, reach: float) -> None:
        self.model, self.reach = model, reach

    def follow(self, whole: Any) -> None:
        """Conditions the model on the rows of the estimator's model, if it has others."""
        inputs = whole.inputs()
        if len(inputs) != len(self.model.inputs()):
            self.model = self.model.on_rows(inputs, whole.values(), whole.groups())


def can_choose(gp: Any, model: Any) -> bool:
    """Whether the options of an estimator leave open which model forecasts."""
    is_open = (
        gp.learn
        and all(value == "auto" for value in (gp.kernel, gp.latents, gp.private) if isinstance(value, str))
        and all(isinstance(value, str) for value in (gp.latents, gp.private))
        and gp.structure in ("auto", "chain")
        and gp.method in ("auto", "catena")
    )
    return (
        is_open
        and model.is_chain()
        and model.inputs().shape[1] == 1
        and model.values().shape[1] <= _MOST_OUTPUTS
        and _catena.cell_noise(model) is None
    )


def forecaster(gp: Any, model: Any, points: Any, known: AheadModel | None) -> AheadModel:
    """The model that forecasts these points, which are later than the rows: the known one if it reaches as far."""
    reach = float(distances(points, model).max())
    if known is None or abs(known.reach / reach - 1) > _SAME:
        rows = gp._points
        clock = rows.clocks[0]
        options = fit_options(gp, gp.output_names_, clock)
        notes = about(gp, rows, gp.output_names_, gp._notes, model.groups())
        learned = gp._watched(_fit_ahead(reach), model.inputs(), model.values(), options, notes)
        return AheadModel(learned, reach)
    known.follow(model)
    return known


def distances(points: Any, model: Any) -> Any:
    """How far points are after the last row of a model, of their group if there are any; NaN in a group without rows."""
    places, groups = model.inputs()[:, 0], model.groups()
    if groups is None:
        return points.values[:, 0] - places.max()
    lasts = np.full(len(points.groups[1]), -np.inf)
    np.maximum.at(lasts, np.asarray(groups[2]), places)
    lasts[np.isinf(lasts)] = np.nan
    return points.values[:, 0] - lasts[np.asarray(points.group_numbers)]


def _fit_ahead(reach):
    """A function that learns a model for forecasts this far ahead."""

    def learn(inputs, values, options, notes, progress):
        return _catena.fit(inputs, values, options, notes, progress, reach)

    return learn
