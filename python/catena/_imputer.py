"""The imputer: fills missing values of tables, as a scikit-learn transformer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from . import _check, _frames, _groups
from ._contract import Estimator
from ._frames import Points
from ._gp import MultiOutputGP
from ._limits import left_empty
from .errors import InputError, not_fitted

if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from numpy.typing import ArrayLike
    from sklearn.utils import Tags

    from ._types import Predictions

#: Parameters that are not those of the model.
_OWN = ("input", "groups", "max_gap", "max_std", "point")


class Imputer(Estimator):
    """Fills the missing values of a table by a multi-output Gaussian process.

    :meth:`fit` selects a model and learns its parameters. :meth:`transform` conditions it on the observed values of the rows
    it is given, whether they are those of the fit or others, and fills their missing values. Observed values are unchanged.

    Parameters
    ----------
    input : str, int or None
        The column of times or numbers along which the rows are related: its name in a frame, or its position in an array. None
        counts the rows. The column is returned unchanged.
    groups : str, int or list of them, optional
        Columns that tell the group of each row, by name in a frame or by position in an array. Groups are independent tables
        with one model. :meth:`transform` also takes groups that the fit does not have. The columns are returned unchanged.
    max_gap : duration or number, optional
        Gaps in which the observed values before and after are farther apart along the input stay missing, as in
        :meth:`MultiOutputGP.impute`. Without an input, a number of rows.
    max_std : number, one per filled column, or dict by column name, optional
        Values with a larger standard deviation stay missing.
    point : str
        ``"mean"`` or ``"median"``, as in :meth:`MultiOutputGP.impute`.
    latents, kernel, structure, method, n_inducing, n_neighbors, private, ard, periods, mean, calendar, combine, budget, \
group_scaling, time_limit, learn, parameters, mixing, length_scales, noise, standardize, transforms, likelihood, bounds, \
random_state, max_memory, progress :
        As in :class:`MultiOutputGP`.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray
        Names of the columns, if they were given.
    gp_ : MultiOutputGP
        The fitted model.

    Examples
    --------
    >>> import numpy as np, catena
    >>> table = np.column_stack([np.arange(6.0), [0.0, 1.0, 2.0, np.nan, 4.0, 5.0]])
    >>> catena.Imputer(input=0, budget="quick").fit_transform(table)[3].round(1)
    array([3., 3.])
    """

    _estimator_type = None

    def __init__(
        self,
        input: str | int | None = None,
        *,
        groups: str | int | list[str] | list[int] | None = None,
        max_gap: Any = None,
        max_std: Any = None,
        point: str = "mean",
        latents: int | str = "auto",
        kernel: str = "auto",
        structure: str = "auto",
        method: str = "auto",
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
        self.input = input
        self.groups = groups
        self.max_gap = max_gap
        self.max_std = max_std
        self.point = point
        self.latents = latents
        self.kernel = kernel
        self.structure = structure
        self.method = method
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

    def fit(self, X: Any, y: Any = None) -> Imputer:
        """Selects a model for a table and learns its parameters; ``y`` is ignored."""
        table = _Table(X, self.input, self.groups)
        options = {name: value for name, value in self.get_params().items() if name not in _OWN}
        if self.learn:
            _check.observed(table.values, table.outputs)
        self.gp_ = MultiOutputGP(**options).fit(table.input, table.values, groups=table.labels)
        self._remember_features(table.features)
        return self

    def transform(self, X: Any) -> Predictions:
        """The table with its missing values filled; a frame if ``X`` and the table of the fit are frames."""
        self._fitted_or_raise()
        table = _Table(X, self.input, self.groups)
        self._check_features(table.features)
        missing = np.isnan(table.values)
        values = table.values
        if missing.any() or self.max_gap is not None or self.max_std is not None:
            rows = self.gp_._read_in(table.input, table.labels)
            model = self.gp_._model_or_raise().on_rows(rows.values, values, rows.groups)
            mean, std = model.predict(None, True, self.point)
            empty = left_empty(missing, std, rows, table.outputs, self.max_gap, self.max_std)
            values = np.where(missing & ~empty, mean, values)
        return self._wrapped(table, values)

    def fit_transform(self, X: Any, y: Any = None) -> Predictions:
        """The same as ``fit(X).transform(X)``."""
        return self.fit(X, y).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of the result, which are those of the fit."""
        self._fitted_or_raise()
        own = getattr(self, "feature_names_in_", None)
        if input_features is None:
            names = [f"x{at}" for at in range(self.n_features_in_)] if own is None else own
            return np.asarray(names, dtype=object)
        given = np.asarray(input_features, dtype=object)
        if own is not None and list(given) != list(own):
            raise InputError("input_features is not equal to feature_names_in_")
        if len(given) != self.n_features_in_:
            raise InputError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), got {len(given)}"
            )
        return given

    def set_output(self, *, transform: str | None = None) -> Imputer:
        """Chooses the container of results: ``"default"`` (that of ``X``), ``"pandas"`` or ``"polars"``."""
        if transform is None:
            return self
        if transform not in ("default", "pandas", "polars"):
            raise InputError(
                f"transform={transform!r} is unknown; write 'default', 'pandas', 'polars' or None."
            )
        # scikit-learn's name: it copies the choice when an estimator is cloned.
        self._sklearn_output_config = {"transform": transform}
        return self

    def __repr__(self) -> str:
        return f"Imputer({self._changed_params()})"

    def __sklearn_is_fitted__(self) -> bool:
        return "gp_" in self.__dict__

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(allow_nan=True),
        )

    def _more_tags(self):
        return {"allow_nan": True}

    def _fitted_or_raise(self):
        if not self.__sklearn_is_fitted__():
            raise not_fitted("Imputer")

    def _refuse_outputs(self, points, fitted):
        """The table holds its outputs."""

    def _wrapped(self, table, values):
        config = getattr(self, "_sklearn_output_config", None)
        if config is None and "sklearn" in sys.modules:
            from sklearn import get_config

            config = {"transform": get_config().get("transform_output", "default")}
        chosen = (config or {}).get("transform", "default")
        if chosen == "default":
            filled = table.filled(values)
            # A transformer that was fitted to an array returns arrays.
            return (
                filled if hasattr(self, "feature_names_in_") or table.module is None else np.asarray(filled)
            )
        names = self.get_feature_names_out()
        if chosen == "pandas":
            import pandas

            return table.as_frame(values, pandas, names)
        import polars

        return table.as_frame(values, polars, names)


class _Table:
    """A table of the caller: its input, its groups, the columns to fill, and the container of the result."""

    def __init__(self, given, input, groups):
        kind, self.original = _frames._opened(given)
        rest, cells = self.original, []
        if kind is None:
            array = _check.table(given, "X")
            self.module, self.array = None, array
            self.names = [f"x{column}" for column in range(array.shape[1])]
            _check.finite(array, "X", self.names)
            of_groups = [self._place_of(one, "groups") for one in _as_list(groups)]
            cells = [_groups.texts(array[:, place]) for place in of_groups]
        else:
            self.module = _frames._module(kind)
            if not self.module.is_table(self.original):
                raise InputError("X is a single column; give a frame.")
            if groups is not None:
                self.names = self.module.names(self.original)
                named = [self.names[self._place_of(one, "groups")] for one in _as_list(groups)]
                labels, _, rest = _groups.split(self.original, named)
                cells = list(zip(*labels, strict=True))
            columns = {column.name: column for column in self.module.columns(rest)}
            if groups is None:
                self.names = list(columns)
            of_groups = [place for place, name in enumerate(self.names) if name not in columns]
        at = None if input is None else self._place_of(input, "the input")
        if at in of_groups:
            raise InputError(
                f"{self.names[at]!r} is both input and groups; choose another column for one of them."
            )
        #: The places of the columns that are filled.
        self.filled_at = [place for place in range(len(self.names)) if place != at and place not in of_groups]
        self.outputs = [self.names[place] for place in self.filled_at]
        if not self.outputs:
            raise InputError("X has no column to fill beside the input and the groups.")
        if kind is None:
            self.values = np.ascontiguousarray(array[:, self.filled_at])
            self.input = None if at is None else array[:, [at]]
        else:
            self.values, _ = _frames._outputs([columns[name] for name in self.outputs])
            self.input = None if at is None else self._column(at)
        #: The name of each row's group; None without groups.
        self.labels = None
        if cells:
            self.labels = [names[0] if len(names) == 1 else str(names) for names in zip(*cells, strict=True)]
        if self.input is None:
            self.input = _counted(self.labels, len(self.values))
        blank = np.empty((0, len(self.names)))
        self.features = Points(blank, self.names, has_names=self.module is not None)

    def _place_of(self, given, role):
        """The place of a column by its name, or by its position."""
        if isinstance(given, str) and self.module is not None:
            if given not in self.names:
                raise InputError(
                    f"the frame has no column {given!r} for {role}; it has {', '.join(map(repr, self.names))}."
                )
            return self.names.index(given)
        is_position = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
        if not is_position or not -len(self.names) <= given < len(self.names):
            raise InputError(
                f"{role.removeprefix('the ')}={given!r} is not a column of X, which has {len(self.names)}; give a "
                "position, a name in a frame, or None."
            )
        return int(given) % len(self.names)

    def _column(self, at):
        """A column in the caller's library."""
        labels = (
            list(getattr(self.original, "columns", [])) if self.module.__name__.endswith("_pandas") else []
        )
        return self.original[labels[at] if labels else self.names[at]]

    def filled(self, values):
        """The table with these values, in its own container."""
        if self.module is None:
            return self._array(values)
        notes = {"vector": False}
        return self.module.filled(self.original, values, self.outputs, None, notes)

    def _array(self, values):
        whole = np.array(self.array)
        whole[:, self.filled_at] = values
        return whole

    def as_frame(self, values, library, names):
        """The table as a frame of pandas or polars with these column names."""
        is_pandas = library.__name__ == "pandas"
        if self.module is None:
            whole = self._array(values)
            return (
                library.DataFrame(whole, columns=names)
                if is_pandas
                else library.DataFrame(whole, schema=list(names))
            )
        frame = self.filled(values)
        if not self.module.__name__.endswith(f"_{library.__name__}"):
            columns = {name: np.asarray(frame[own]) for name, own in zip(names, self.names, strict=True)}
            return library.DataFrame(columns)
        # A transformer that was fitted without names has names of its own.
        return (
            frame.set_axis(names, axis=1)
            if is_pandas
            else frame.rename(dict(zip(self.names, names, strict=True)))
        )


def _as_list(groups):
    """Columns of groups as a list."""
    if groups is None:
        return []
    return list(groups) if isinstance(groups, (list, tuple)) else [groups]


def _counted(labels, n_rows):
    """The numbers of the rows within their groups, from 0."""
    if labels is None:
        return np.arange(float(n_rows))[:, np.newaxis]
    counts, numbers = {}, np.empty((n_rows, 1))
    for row, label in enumerate(labels):
        numbers[row] = counts.get(label, 0)
        counts[label] = numbers[row, 0] + 1
    return numbers
