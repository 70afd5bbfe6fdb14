"""Everything that can go wrong, in one hierarchy.

Every exception is also one of Python's own, so that ``except ValueError`` keeps working.
"""

import sys


class CatenaError(Exception):
    """Base of every exception that catena raises on purpose."""


class InputError(CatenaError, ValueError):
    """A table, a shape or an option that cannot be used; the message says which and what to do."""


class NumericalError(CatenaError, ArithmeticError):
    """Numbers overflowed or a matrix lost its definiteness; the message names the row."""


class ModelFileError(CatenaError, ValueError):
    """A model file that is missing, damaged, or from a newer version."""


class NotFittedError(CatenaError, ValueError, AttributeError):
    """A model was asked before it was fitted."""


class FitInterruptedWarning(UserWarning):
    """A fit was stopped by Ctrl-C; the model is the best that was found until then."""


def not_fitted(name):
    """The exception for a model that was asked too early; scikit-learn's as well, where that is loaded."""
    message = f"This {name} is not fitted yet; call fit first."
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is None:
        return NotFittedError(message)
    both = type("NotFittedError", (NotFittedError, exceptions.NotFittedError), {"__module__": __name__})
    return both(message)
