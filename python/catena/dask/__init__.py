"""catena on a Dask cluster: tables larger than one machine, with the posterior and the learning of one.

It needs Dask: ``pip install "./python[dask]"`` in the repository. Rows stay on their workers once they are sorted; of each
partition only a summary of a few kilobytes travels. ``docs/dask.md`` has deployments, costs, and when a cluster is not needed.

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
from ._panel import fit_panel, open_model
from ._sweep import Sweep, sweep

__all__ = ["MultiOutputGP", "Sweep", "fit_panel", "open_model", "sweep"]

del dask, distributed
