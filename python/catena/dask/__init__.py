"""Multi-output Gaussian process regression on a Dask cluster, for tables larger than one machine.

Needs Dask: ``pip install "./python[dask]"`` in the repository. Rows stay on their workers once they are sorted; each partition
sends only a summary of a few kilobytes. ``docs/dask.md`` describes deployments and costs.

>>> import dask.array as da, numpy as np
>>> from distributed import Client
>>> import catena.dask
>>> client = Client(processes=False, n_workers=1, dashboard_address=None)
>>> X = da.arange(1000.0, chunks=250)[:, None]
>>> Y = da.sin(X / 20)
>>> found = catena.dask.sweep(X, Y, mixing=[[1.0]], length_scales=20.0, noise=0.01)
>>> found.gradient.mixing.shape
(1, 1)
>>> client.close()
"""

try:
    import dask
    import distributed
except ImportError as error:
    raise ImportError(
        "catena.dask needs Dask; install it with `pip install 'dask[array,dataframe]' distributed pandas pyarrow`."
    ) from error

from ._gp import MultiOutputGP
from ._groups import impute_groups
from ._panel import fit_panel, open_model
from ._sweep import Sweep, sweep

__all__ = ["MultiOutputGP", "Sweep", "fit_panel", "impute_groups", "open_model", "sweep"]

del dask, distributed
