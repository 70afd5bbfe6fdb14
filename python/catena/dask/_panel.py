"""Fits an independent model to every group of a long frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._gp import MultiOutputGP as LocalGP
from ..errors import CatenaError, InputError
from ._tables import is_frame

if TYPE_CHECKING:
    from typing import Any

#: Columns of the results, and their types.
_COLUMNS = {
    "n_rows": "int64",
    "log_evidence": "float64",
    "kernel": "object",
    "n_latents": "int64",
    "seconds": "float64",
    "error": "object",
    "model": "object",
}


def fit_panel(
    frame: Any,
    by: str,
    *,
    inputs: str | list[str] | None = None,
    outputs: list[str] | None = None,
    keep_models: bool = True,
    **settings: Any,
) -> Any:
    """Fits one model per group on the workers and returns a frame of results with one row per group.

    Parameters
    ----------
    frame : dask DataFrame
        Rows of all groups. A group may span several partitions; Dask collects its rows first.
    by : str
        The column that names the group.
    inputs : str or list of str, optional
        The inputs; by default the first column of times, else the first column except ``by``.
    outputs : list of str, optional
        The outputs; by default all other numeric columns. Outputs without values in a group are left out for it.
    keep_models : bool
        Whether to return the models as bytes of model files, for :func:`open_model`.
    **settings
        Parameters of :class:`catena.MultiOutputGP` for all groups.

    Returns
    -------
    dask DataFrame
        Indexed by group: rows, log evidence, kernel, number of latents, seconds of fitting, the error message if the fit
        failed, the model, and ``noise:NAME``, the noise standard deviation of each output.
    """
    if not is_frame(frame):
        raise InputError(f"frame is a {type(frame).__name__}; give a dask DataFrame.")
    meta = frame._meta
    if by not in meta.columns:
        raise InputError(f"the frame has no column {by!r}; it has {', '.join(map(str, meta.columns))}.")
    # Errors in the settings are raised here, not by every group.
    LocalGP(**settings)
    inputs, outputs = _roles(meta, by, inputs, outputs)
    job = {"by": by, "inputs": inputs, "outputs": outputs, "keep_models": keep_models, "settings": settings}
    return frame.shuffle(by).map_partitions(_fitted_groups, **job, meta=_empty(outputs, meta[by].dtype, by))


def open_model(model: bytes) -> LocalGP:
    """The model of a group, from the bytes in the results of :func:`fit_panel`."""
    import os
    import tempfile

    from .._load import load

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.catena")
        with open(path, "wb") as file:
            file.write(model)
        return load(path)


def _roles(meta, by, inputs, outputs):
    from .._frames import _pandas

    names = [name for name in meta.columns if name != by]
    if inputs is None:
        times = [name for name in names if _pandas._is_time(meta[name])]
        inputs = [(times or names)[0]]
    inputs = [inputs] if isinstance(inputs, str) else list(inputs)
    if outputs is None:
        outputs = [name for name in names if name not in inputs and _pandas._is_number(meta[name])]
    missing = [name for name in [*inputs, *outputs] if name not in names]
    if missing:
        raise InputError(f"the frame has no column {missing[0]!r}.")
    if not outputs:
        raise InputError("there is no numeric column for an output.")
    return inputs, list(outputs)


def _empty(outputs, dtype, by):
    import pandas

    columns = {name: pandas.Series([], dtype=kind) for name, kind in _COLUMNS.items()}
    columns |= {f"noise:{name}": pandas.Series([], dtype="float64") for name in outputs}
    return pandas.DataFrame(columns, index=pandas.Index([], dtype=dtype, name=by))


def _fitted_groups(frame, by, inputs, outputs, keep_models, settings):
    import pandas

    rows = {
        group: _fitted(rows, inputs, outputs, keep_models, settings)
        for group, rows in frame.groupby(by, sort=True, observed=True)
    }
    empty = _empty(outputs, frame[by].dtype, by)
    if not rows:
        return empty
    found = pandas.DataFrame.from_dict(rows, orient="index", columns=list(empty.columns))
    found.index.name = by
    return found.astype(empty.dtypes.to_dict())


def _fitted(rows, inputs, outputs, keep_models, settings):
    import time

    begin = time.monotonic()
    present = [name for name in outputs if rows[name].notna().any()]
    result = {
        "n_rows": len(rows),
        "log_evidence": np.nan,
        "kernel": "",
        "n_latents": 0,
        "error": "",
        "model": None,
    }
    try:
        if not present:
            raise InputError("no output has an observed value.")
        places = rows[inputs[0]] if len(inputs) == 1 else rows[inputs]
        gp = LocalGP(**{"progress": False, **settings}).fit(places, rows[present])
        result |= {
            "log_evidence": gp.log_marginal_likelihood(),
            "kernel": gp.kernel_,
            "n_latents": len(gp.length_scales_),
            "model": gp._model.to_bytes() if keep_models else None,
        }
        result |= {f"noise:{name}": value**0.5 for name, value in zip(present, gp.noise_, strict=True)}
    except CatenaError as error:
        result["error"] = str(error)
    return {**result, "seconds": time.monotonic() - begin}
