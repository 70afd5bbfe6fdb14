"""Checks arrays and converts them for the Rust extension."""

import numpy as np

from .errors import InputError


def table(given, name):
    """A two-dimensional table as C-contiguous float64, without a copy if it is one already."""
    array = _numbers(given, name)
    if array.ndim == 1:
        raise InputError(
            f"Expected 2D array, got 1D array instead for {name}. Reshape your data either using "
            f"{name}.reshape(-1, 1) if it has a single column or {name}.reshape(1, -1) if it is a single row."
        )
    if array.ndim != 2:
        raise InputError(f"{name} has {array.ndim} dimensions {array.shape}; give two: rows and columns.")
    if array.shape[0] == 0:
        raise InputError(
            f"{name}: Found array with 0 sample(s) (shape={array.shape}) while a minimum of 1 is required."
        )
    if array.shape[1] == 0:
        raise InputError(
            f"{name}: Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required."
        )
    return array


def outputs(given, name="Y"):
    """Values (n, D) of outputs, NaN where missing, and whether they were a vector."""
    array = _numbers(given, name)
    if array.ndim == 0:
        raise InputError(f"{name} is a single number; give one value per row.")
    if array.ndim > 2:
        raise InputError(f"{name} has {array.ndim} dimensions {array.shape}; give two: rows and outputs.")
    if array.ndim == 2 and array.shape[1] == 0:
        raise InputError(f"{name} has no columns; give at least one output.")
    is_vector = array.ndim == 1
    return (array[:, np.newaxis] if is_vector else array), is_vector


def vector(given, name, length):
    """A vector of positive numbers; a single number is repeated."""
    array = _numbers(given, name)
    if array.ndim == 0:
        array = np.full(length, float(array))
    if array.shape != (length,):
        raise InputError(f"{name} has shape {array.shape}, but needs {length} numbers.")
    wrong = array[~((array > 0) & np.isfinite(array))]
    if len(wrong):
        raise InputError(f"{name} must be positive and finite, but holds {wrong[0]}.")
    return array


def column(given, name, length):
    """Values of one output, NaN where missing; a single number for a single row."""
    array = _numbers(given, f"output {name!r}")
    if array.ndim == 0 and length == 1:
        return array
    if array.shape != (length,):
        raise InputError(f"output {name!r} has values of shape {array.shape}, but there are {length} rows.")
    return array


def complete(array, name, columns):
    """Checks that every input is finite."""
    if np.isfinite(array).all():
        return array
    row, column = np.argwhere(~np.isfinite(array))[0]
    what = "NaN" if np.isnan(array[row, column]) else "infinity (inf)"
    raise InputError(
        f"Input {name} contains {what}: column {columns[column]} at row {row}. Every input must be finite."
    )


def finite(array, name, columns):
    """Checks that no value is infinite."""
    if np.isinf(array).any():
        row, column = np.argwhere(np.isinf(array))[0]
        raise InputError(
            f"Input {name} contains infinity: output {columns[column]} at row {row}. Use NaN for a missing value."
        )
    return array


def observed(array, columns):
    """Checks that every output has a value."""
    empty = np.isnan(array).all(axis=0)
    if empty.any():
        column = columns[int(np.argmax(empty))]
        raise InputError(f"Output {column} has no observed value; drop it, or give it at least one.")


def same_rows(first, second, names=("X", "Y")):
    """Checks that two tables have the same number of rows."""
    if len(first) != len(second):
        raise InputError(
            f"{names[0]} has {len(first)} rows but {names[1]} has {len(second)}; they must have the same rows."
        )


def _numbers(given, name):
    if given is None:
        raise InputError(f"{name} is None; give an array or a frame.")
    if hasattr(given, "toarray") and hasattr(given, "nnz"):
        raise TypeError(f"{name} is sparse, which is not supported; give {name}.toarray().")
    if isinstance(given, np.ma.MaskedArray):
        if not np.issubdtype(given.dtype, np.number):
            raise InputError(f"{name} is a masked array of {given.dtype}; give numbers.")
        exact(given.compressed(), name)
        given = given.astype(np.float64).filled(np.nan)
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise InputError(f"{name} is not rectangular: rows have different lengths.") from error
    if np.iscomplexobj(array):
        raise InputError(
            f"Complex data not supported in {name}; give real and imaginary parts as two columns."
        )
    if array.dtype.kind in "mM":
        raise InputError(
            f"{name} holds times; give them as one column of datetime64, or as the index of a frame."
        )
    if array.dtype.kind in "US":
        raise InputError(f"{name} holds text; give numbers.")
    if array.dtype.kind not in "fiubO":
        raise InputError(f"{name} has the type {array.dtype}; give numbers.")
    exact(array, name)
    try:
        numbers = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _no_number(array, name, error) from error
    return laid_out(numbers)


#: Floats hold integers below this bound exactly.
_LARGEST_EXACT = 2**53


def exact(array, name):
    """Refuses integers that would lose digits as floats."""
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size:
        exact_range(array.min(), array.max(), name)
    elif array.dtype.kind == "O":
        whole = [value for value in array.flat if isinstance(value, (int, np.integer))]
        if whole:
            exact_range(min(whole), max(whole), name)


def exact_range(low, high, name):
    """Refuses a range of integers beyond 2**53; None for a column without values."""
    for value in (low, high):
        if value is not None and not -_LARGEST_EXACT < int(value) < _LARGEST_EXACT:
            raise InputError(
                f"{name} has the integer {int(value)}, beyond 2**53, which would lose digits as a float; subtract an origin "
                "from these integers, or convert them to times, such as numpy.asarray(x, dtype='datetime64[ns]')."
            )


def laid_out(array):
    """An aligned C-contiguous array; arrays received from another process may be unaligned."""
    return np.require(array, requirements=("C", "A"))


def is_whole(value):
    """Whether this is a whole number."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def point(word):
    """Refuses an unknown word for the value that stands for a predictive distribution."""
    if word not in ("mean", "median"):
        raise InputError(f'point="{word}" is unknown; write mean or median.')


class _NoNumberError(InputError, TypeError):
    """An object that is not a number; numpy raises TypeError for it."""


def _no_number(array, name, error):
    """The exception for the first object that is not a number, with its position."""
    for place, value in np.ndenumerate(array):
        try:
            float(value if value is not None else "nan")
        except (TypeError, ValueError):
            where = f" at row {place[0]}" if place else ""
            where += f", column {place[1]}" if len(place) > 1 else ""
            text = f"{name} holds {value!r}{where}, which is not a number ({error}); give numbers, and NaN for missing values."
            return _NoNumberError(text)
    return _NoNumberError(f"{name} holds an object that is not a number: {error}.")
