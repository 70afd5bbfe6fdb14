"""Types of arguments and results, for annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, Union

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import pyarrow
    import xarray
    from numpy.typing import NDArray

#: A frame of the caller's library; a dict of columns where no library of frames is installed.
Frame: TypeAlias = Union[
    "pandas.DataFrame", "polars.DataFrame", "pyarrow.Table", "dict[str, NDArray[np.generic]]"
]
#: Numbers in the form of the caller's table.
Predictions: TypeAlias = Union[
    "NDArray[np.float64]",
    "pandas.DataFrame",
    "pandas.Series[float]",
    "polars.DataFrame",
    "polars.Series",
    "pyarrow.Table",
    "xarray.DataArray",
]
