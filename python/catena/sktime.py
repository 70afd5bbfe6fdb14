"""Adapters for sktime: a forecaster and a transformer that fills missing values.

Only this module imports sktime. Parameters are those of :class:`catena.MultiOutputGP` and :class:`catena.Imputer`.
"""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, ClassVar

from sktime.forecasting.base import BaseForecaster
from sktime.transformations.base import BaseTransformer

from ._gp import MultiOutputGP
from ._imputer import Imputer as _Imputer

if TYPE_CHECKING:
    from typing import Any

    import pandas as pd

__all__ = ["Forecaster", "Imputer"]

#: The column that holds the index of a frame while it is filled.
_INDEX = "(index)"


def _with_parameters_of(estimator, *left_out):
    """Gives ``__init__(self, **options)`` the parameters of an estimator, which sktime reads from its signature."""

    def decorated(init):
        parameters = inspect.signature(estimator).parameters.values()
        kept = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters if one.name not in left_out
        ]
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        init.__signature__ = inspect.Signature([own, *kept])
        return init

    return decorated


def _set(adapter, options):
    """Sets the parameters of an adapter, with defaults for those that are not given."""
    known = inspect.signature(type(adapter)).parameters
    for name in options:
        if name not in known:
            raise TypeError(
                f"{type(adapter).__name__}() has no parameter {name!r}; it has {', '.join(known)}"
            )
    for name, parameter in known.items():
        setattr(adapter, name, options.get(name, parameter.default))


class Forecaster(BaseForecaster):
    """Forecasts one or several series with missing values, with intervals and quantiles.

    All series are outputs of one model. Parameters are those of :class:`catena.MultiOutputGP`; with default parameters the
    model is chosen by forecasts of known rows, as by :meth:`catena.MultiOutputGP.forecast`. ``update`` adds rows, and with
    ``update_params=True`` learns the parameters of the model of the rows again from their current values.

    Attributes
    ----------
    gp_ : MultiOutputGP
        The fitted model.

    Examples
    --------
    >>> import pandas as pd
    >>> from catena.sktime import Forecaster
    >>> y = pd.Series([1.0, 2.0, 3.0, None, 5.0, 6.0, 7.0, 8.0])
    >>> forecaster = Forecaster(budget="quick", mean="linear")
    >>> forecaster.fit(y).predict(fh=[1, 2]).round()
    8     9.0
    9    10.0
    dtype: float64
    """

    _tags: ClassVar = {
        "authors": "catena",
        "maintainers": "catena",
        "y_inner_mtype": "pd.DataFrame",
        "X_inner_mtype": "pd.DataFrame",
        "capability:multivariate": True,
        "capability:exogenous": False,
        "capability:insample": True,
        "capability:pred_int": True,
        "capability:pred_int:insample": True,
        "capability:missing_values": True,
        "capability:update": True,
        "capability:random_state": True,
        "property:randomness": "derandomized",
        "requires-fh-in-fit": False,
    }

    @_with_parameters_of(MultiOutputGP)
    def __init__(self, **options: Any) -> None:
        _set(self, options)
        with warnings.catch_warnings():
            # A change of sktime's default for forecasters that cannot update themselves.
            warnings.filterwarnings("ignore", "The default of config ``remember_data``", FutureWarning)
            super().__init__()

    def _fit(self, y: pd.DataFrame, X: Any, fh: Any) -> Forecaster:
        self.gp_ = MultiOutputGP(**self.get_params(deep=False)).fit(y.index, y)
        return self

    def _update(self, y: pd.DataFrame, X: Any = None, update_params: bool = True) -> Forecaster:
        self.gp_.update(y.index, y, relearn=update_params)
        return self

    def _predict(self, fh: Any, X: Any) -> pd.DataFrame:
        return self._named(self.gp_._predict_later(self._places(fh))[0])

    def _predict_quantiles(self, fh: Any, X: Any, alpha: list[float]) -> pd.DataFrame:
        import pandas as pd

        places, names = self._places(fh), self._get_varnames()
        found = self.gp_._predict_later(places, alpha)
        columns = pd.MultiIndex.from_product([names, alpha])
        return pd.DataFrame(found.to_numpy(), index=places, columns=columns)

    def _predict_var(self, fh: Any, X: Any = None, cov: bool = False) -> pd.DataFrame:
        _, std = self.gp_._predict_later(self._places(fh))
        return self._named(std) ** 2

    def _places(self, fh):
        """The times of a horizon as an index."""
        return fh.to_absolute_index(self.cutoff)

    def _named(self, frame):
        """A frame with the columns of the series, whose labels may be numbers."""
        return frame.set_axis(self._get_varnames(), axis=1)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Parameters for sktime's tests."""
        return [
            {"budget": "quick", "combine": "none", "progress": False},
            {"budget": "quick", "combine": "none", "kernel": "matern12", "progress": False},
        ]


class Imputer(BaseTransformer):
    """Fills missing values of one or several series; observed values are unchanged.

    Parameters are those of :class:`catena.Imputer` except ``input``, which is the index.

    Attributes
    ----------
    imputer_ : catena.Imputer
        The fitted imputer.

    Examples
    --------
    >>> import pandas as pd
    >>> from catena.sktime import Imputer
    >>> y = pd.Series([0.0, 1.0, 2.0, None, 4.0, 5.0])
    >>> Imputer(budget="quick").fit_transform(y).round(1).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    """

    _tags: ClassVar = {
        "authors": "catena",
        "maintainers": "catena",
        "scitype:transform-input": "Series",
        "scitype:transform-output": "Series",
        "scitype:instancewise": True,
        "X_inner_mtype": "pd.DataFrame",
        "y_inner_mtype": "None",
        "fit_is_empty": False,
        "capability:multivariate": True,
        "capability:missing_values": True,
        "capability:missing_values:removes": True,
        "capability:categorical_in_X": False,
        "capability:random_state": True,
        "property:randomness": "derandomized",
        "skip-inverse-transform": True,
        "capability:inverse_transform": True,
    }

    @_with_parameters_of(_Imputer, "input")
    def __init__(self, **options: Any) -> None:
        _set(self, options)
        super().__init__()
        if self.max_gap is not None or self.max_std is not None:
            self.set_tags(**{"capability:missing_values:removes": False})

    def _fit(self, X: pd.DataFrame, y: Any = None) -> Imputer:
        self.imputer_ = _Imputer(input=_INDEX, **self.get_params(deep=False)).fit(_with_index(X))
        return self

    def _transform(self, X: pd.DataFrame, y: Any = None) -> pd.DataFrame:
        filled = self.imputer_.transform(_with_index(X)).drop(columns=_INDEX)
        return filled.set_axis(X.columns, axis=1)

    def _inverse_transform(self, X: pd.DataFrame, y: Any = None) -> pd.DataFrame:
        return X

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Parameters for sktime's tests."""
        return [
            {"budget": "quick", "combine": "none", "progress": False},
            {
                "budget": "quick",
                "combine": "none",
                "kernel": "matern12",
                "point": "median",
                "progress": False,
            },
        ]


def _with_index(frame):
    """A frame with its index as a column, and names as text."""
    whole = frame.set_axis([str(name) for name in frame.columns], axis=1)
    whole.insert(0, _INDEX, frame.index)
    return whole
