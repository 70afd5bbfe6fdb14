"""Exceptions and warnings.

Every exception is also a built-in exception, so that ``except ValueError`` works.
"""

import sys


class CatenaError(Exception):
    """Base class of all exceptions of catena."""


class InputError(CatenaError, ValueError):
    """An invalid table, shape or option; the message names it and states what to do."""


class NumericalError(CatenaError, ArithmeticError):
    """Numbers overflowed or a matrix is not positive definite; the message names the row."""


class ModelFileError(CatenaError, ValueError):
    """A model file is missing, damaged, or from a newer version."""


class NotFittedError(CatenaError, ValueError, AttributeError):
    """A method was called before ``fit``."""


class FitInterruptedWarning(UserWarning):
    """A fit was stopped by Ctrl-C; the model is the best one so far."""


def not_fitted(name):
    """The exception for a model that is not fitted; also scikit-learn's, if that is loaded."""
    message = f"This {name} is not fitted yet; call fit first."
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is None:
        return NotFittedError(message)
    both = type("NotFittedError", (NotFittedError, exceptions.NotFittedError), {"__module__": __name__})
    return both(message)
