"""Multi-output Gaussian process regression by exact message passing.

>>> import numpy as np, catena
>>> hours = np.arange(48.0)[:, None]
>>> sun = np.sin(hours[:, 0] / 24 * 2 * np.pi)
>>> Y = np.column_stack([sun, 2 * sun + 1])
>>> Y[10:20, 1] = np.nan                                  # the second output has a gap
>>> gp = catena.MultiOutputGP(budget="quick").fit(hours, Y)
>>> filled = gp.impute()
>>> bool(np.abs(filled[10:20, 1] - (2 * sun[10:20] + 1)).max() < 0.1)
True
"""

from typing import TYPE_CHECKING

from . import errors, metrics, structures
from ._asking import check, compare
from ._catena import __version__
from ._client import Client
from ._gp import MultiOutputGP
from ._live import LiveGP
from ._load import load
from ._sweep import Gradient, Sweep, sweep
from .errors import CatenaWarning

if TYPE_CHECKING:
    from ._imputer import Imputer

__all__ = [
    "CatenaWarning",
    "Client",
    "Gradient",
    "Imputer",
    "LiveGP",
    "MultiOutputGP",
    "Sweep",
    "__version__",
    "check",
    "compare",
    "errors",
    "load",
    "metrics",
    "structures",
    "sweep",
]


def __getattr__(name: str) -> object:
    """The imputer, which only users of scikit-learn import."""
    if name == "Imputer":
        from ._imputer import Imputer

        return Imputer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
