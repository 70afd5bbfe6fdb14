"""Fills groups on the workers with the parameters of a fit to some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _frames
from .._rows import read_rows
from ..errors import InputError
from ._tables import is_frame

if TYPE_CHECKING:
    from typing import Any

    from .._gp import MultiOutputGP as LocalGP


def impute_groups(gp: LocalGP, frame: Any) -> Any:
    """Fills the missing values of any number of groups with the parameters of a fit to some of them.

    Groups are independent tables, so each partition is filled by itself once it has the rows of whole groups. The means, scales
    and parameters are those of the fit; a group need not be in it.

    Parameters
    ----------
    gp : catena.MultiOutputGP
        A fit of a pandas frame with ``groups=``, for example to the rows of a few hundred groups.
    frame : dask DataFrame
        Rows of all groups, with the columns of the fit. A group may span several partitions; Dask collects its rows first.

    Returns
    -------
    dask DataFrame
        The frame with its missing values filled. Rows of a group are together.
    """
    if not is_frame(frame):
        raise InputError(f"frame is a {type(frame).__name__}; give a dask DataFrame.")
    known = gp._model_or_raise().groups()
    if known is None:
        raise InputError("the fit has no groups; fit with groups=, or use catena.dask.MultiOutputGP.")
    columns = known[0]
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InputError(f"the frame has no column {missing[0]!r}, which names the groups of the fit.")
    return frame.shuffle(columns).map_partitions(_filled, gp=gp, meta=frame._meta)


def _filled(frame, gp):
    if len(frame) == 0:
        return frame
    points, values = read_rows(gp, frame, None)
    if not np.isnan(values).any():
        return frame
    model = gp._model_or_raise().on_rows(points.values, values, points.groups)
    mean, _ = model.predict(None, True, "mean")
    whole = np.where(np.isnan(values), mean, values)
    return _frames.filled(frame, whole, gp.output_names_, points, gp._notes)
