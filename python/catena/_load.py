"""Loads models from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _catena
from ._gp import MultiOutputGP
from ._keeping import kept

if TYPE_CHECKING:
    from os import PathLike


def load(path: str | PathLike[str]) -> MultiOutputGP:
    """Loads a model file written by :meth:`MultiOutputGP.save` or by the command line.

    >>> import catena, os, tempfile
    >>> import numpy as np
    >>> gp = catena.MultiOutputGP(learn=False, kernel="matern32", mixing=[[1.0]], length_scales=1.0, noise=0.1)
    >>> gp = gp.fit(np.arange(4.0)[:, None], [0.0, 1.0, np.nan, 2.0])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.catena")
    >>> gp.save(path)
    >>> bool((catena.load(path).predict() == gp.predict()).all())
    True
    """
    model = _catena.Model.load(path)
    method, structure, seed = model.made_with()
    gp = MultiOutputGP(method=method, structure=structure, random_state=seed)
    points, notes, params = kept(model)
    gp._adopt(model, points, notes)
    gp._original = None
    if params:
        gp.set_params(**{name: value for name, value in params.items() if name in gp.get_params()})
    gp._remember_features(points)
    return gp
