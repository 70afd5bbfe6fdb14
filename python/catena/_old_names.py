"""Names of earlier versions, which still work with a warning."""

import warnings

from .errors import InputError


def renamed(old, value, new, current):
    """The value of an argument that may still be given by its old name."""
    if value is None:
        return current
    if current is not None:
        raise InputError(f"{old} is the old name of {new}; give {new} only.")
    warn(f"{old}= is now {new}=", stacklevel=4)
    return value


def warn(what, stacklevel=3):
    """Warns that an old name will be removed."""
    message = f"{what}; the old name will be removed in the next version."
    warnings.warn(message, FutureWarning, stacklevel=stacklevel)
