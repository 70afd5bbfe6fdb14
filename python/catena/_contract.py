"""scikit-learn's estimator interface, without importing scikit-learn.

Parameters are the arguments of ``__init__``; learned attributes end in an underscore. Only the method that returns tags imports
scikit-learn, which calls it.
"""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING

import numpy as np

from .errors import InputError

if TYPE_CHECKING:
    from typing import Any

    from sklearn.utils import Tags
    from typing_extensions import Self


class Estimator:
    """Parameters, tags and feature names."""

    #: For versions of scikit-learn without tags.
    _estimator_type = "regressor"

    @classmethod
    def _parameter_names(cls):
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    n_features_in_: int
    feature_names_in_: np.ndarray
    output_names_: list[str]
    n_outputs_: int

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of this estimator, by name."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Sets parameters; they take effect at the next ``fit``."""
        known = self._parameter_names()
        for name, value in params.items():
            if name not in known:
                raise InputError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}; choose from {', '.join(known)}."
                )
            setattr(self, name, value)
        return self

    def _changed_params(self):
        """Parameters that differ from their defaults, as in a call."""
        defaults = inspect.signature(type(self).__init__).parameters
        written = []
        for name, parameter in defaults.items():
            if name == "self":
                continue
            value = getattr(self, name)
            if value is not parameter.default and repr(value) != repr(parameter.default):
                text = repr(value)
                written.append(f"{name}={text if len(text) < 60 and chr(10) not in text else '...'}")
        return ", ".join(written)

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True, multi_output=True),
            regressor_tags=RegressorTags(),
            input_tags=InputTags(),
        )

    def _more_tags(self):
        return {"multioutput": True, "requires_y": True}

    def _remember_features(self, points):
        self.n_features_in_ = points.values.shape[1]
        if points.has_names:
            self.feature_names_in_ = np.array(points.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _check_features(self, points):
        """Refuses inputs that differ from those of the fit, and warns if only one of the two has names."""
        name, found = type(self).__name__, points.values.shape[1]
        if found != self.n_features_in_:
            raise InputError(
                f"X has {found} features, but {name} is expecting {self.n_features_in_} features as input."
            )
        fitted = getattr(self, "feature_names_in_", None)
        self._refuse_outputs(points, fitted)
        if fitted is None or not points.has_names or points.is_column:
            self._warn_of_names(fitted is not None, points.has_names)
            return
        if list(fitted) == points.names:
            return
        unseen = sorted(set(points.names) - set(fitted))
        missing = sorted(set(fitted) - set(points.names))
        message = "The feature names should match those that were passed during fit.\n"
        if unseen:
            message += "Feature names unseen at fit time:\n" + _listed(unseen)
        if missing:
            message += "Feature names seen at fit time, yet now missing:\n" + _listed(missing)
        if not unseen and not missing:
            message += "Feature names must be in the same order as they were in fit.\n"
        raise InputError(message)

    def _refuse_outputs(self, points, fitted):
        """Refuses an output of the model given as an input."""
        known = [] if fitted is None else list(fitted)
        taken = [name for name in points.names if name in self.output_names_ and name not in known]
        if points.has_names and taken:
            wanted = f"the input {known[0]!r}" if len(known) == 1 else "the inputs of the fit"
            raise InputError(f"X holds {taken[0]!r}, which is an output of the model; give {wanted}.")

    def _warn_of_names(self, were_there, are_there):
        if self.n_features_in_ == 1 or were_there == are_there:
            return
        name = type(self).__name__
        if were_there:
            message = f"X does not have valid feature names, but {name} was fitted with feature names"
        else:
            message = f"X has feature names, but {name} was fitted without feature names"
        warnings.warn(message, UserWarning, stacklevel=4)


def _listed(names, most=5):
    lines = "".join(f"- {name}\n" for name in names[:most])
    return lines + "- ...\n" if len(names) > most else lines
