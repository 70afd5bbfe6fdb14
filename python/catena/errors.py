"""Exceptions and warnings.

Every exception is also a built-in exception, so that ``except ValueError`` works.
"""

import os
import sys
import warnings


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


class ServiceError(CatenaError, OSError):
    """A service cannot be reached, or refuses a request for another reason than its content; `status` is that of HTTP."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        #: The status, or None without a reply.
        self.status = status


class CatenaWarning(UserWarning):
    """Something about a table or a fit that its user should know; base class of all warnings of catena."""


class FitInterruptedWarning(CatenaWarning):
    """A fit was stopped by Ctrl-C; the model is the best one so far."""


def warn(message: str, category: type[Warning] = CatenaWarning, stacklevel: int = 2) -> None:
    """Warns at the line outside this package that called it."""
    frame, here = sys._getframe(1), os.path.dirname(__file__)
    while frame is not None and os.path.dirname(frame.f_code.co_filename).startswith(here):
        frame = frame.f_back
    if frame is None:
        warnings.warn(message, category, stacklevel=stacklevel)
        return
    # Python remembers in the caller's module which warnings it has shown.
    shown = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__", ""),
        shown,
    )


def not_fitted(name: str) -> Exception:
    """The exception for a model that is not fitted; also scikit-learn's, if that is loaded."""
    message = f"This {name} is not fitted yet; call fit first."
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is None:
        return NotFittedError(message)
    both = type("NotFittedError", (NotFittedError, exceptions.NotFittedError), {"__module__": __name__})
    return both(message)
