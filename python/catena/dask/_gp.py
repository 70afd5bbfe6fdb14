"""The estimator on a cluster: fits, predicts and imputes on the workers that hold the partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _catena, _check
from .._base import GaussianProcess
from .._frames import Clock, Points
from .._gp import MultiOutputGP as LocalGP
from .._horizon import check_line, points_after
from .._keeping import about
from .._load import load
from .._options import fit_options
from .._random import seed_of
from .._rows import read_places
from ..errors import InputError, not_fitted
from . import _answers, _tables
from ._chain import Chain, Workers

if TYPE_CHECKING:
    from os import PathLike
    from typing import Any


#: Advice for methods that need all rows in one process.
_IN_MEMORY = "fit catena.MultiOutputGP(learn=False, parameters=gp.parameters_) to some of the rows in memory"


#: Members of the estimator in memory that need all rows in one process, and what to use instead. The model of a partitioned
#: table holds only the sample on which candidates were compared.
_INSTEAD = {
    "interval": "use predict(return_std=True)",
    "quantiles": "use predict(return_std=True)",
    "components": _IN_MEMORY,
    "backtest": _IN_MEMORY,
    "check": _IN_MEMORY,
    "forecast_summary_": _IN_MEMORY,
    "plot_forecast": _IN_MEMORY,
    "compare": _IN_MEMORY,
    "sample_y": f"use predict(return_std=True), or {_IN_MEMORY}",
    "live": _IN_MEMORY,
    "report": f"print the model, or {_IN_MEMORY}",
    "plot": f"plot the result of predict at points of your choice, or {_IN_MEMORY}",
    "plot_structure": "use chain_ for the length of the chain and of the edges between partitions",
    "structure_": "use chain_ for the length of the chain and of the edges between partitions",
    "save": "use gp.local().save(path), which keeps the parameters and units with a sample of the rows",
    "update": "fit again, with model= to keep the parameters",
    "partial_fit": "fit again, with model= to keep the parameters",
}


class MultiOutputGP(GaussianProcess):
    """Multi-output Gaussian process regression on a Dask cluster: :class:`catena.MultiOutputGP` for tables larger than one
    machine.

    The rows lie on one chain that is cut into partitions. A partition stays on its worker and sends a summary of a few
    kilobytes; from all summaries each partition computes its exact posterior. The log evidence or its gradient takes one map,
    a small scan and another map. Results equal those of one machine to rounding.

    Parameters are those of :class:`catena.MultiOutputGP` except ``parameters`` (use ``model``), ``combine``, ``max_memory``,
    ``n_inducing`` and ``n_neighbors``, and two more. The method is message passing on a chain: sorted for a single input; for
    two or three inputs, partitions along a Hilbert curve with a greedy chain in each. Methods that need all rows in one
    process are not available: intervals, samples, covariances, plots of rows, reports, updates, files and pickles.

    Parameters
    ----------
    model : catena.MultiOutputGP or path, optional
        A fitted model whose parameters and units are used unchanged; nothing is learned. It may be a time model.
    n_parts : int, optional
        Number of partitions if rows have to be sorted; by default the number of partitions of the table.

    Attributes
    ----------
    traffic_ : dict
        Rounds, evaluations, and bytes sent to and received from the workers.
    chain_ : dict
        Rows, partitions, length of the chain and of the edges between partitions, in model units.

    Examples
    --------
    >>> import dask.dataframe as dd, numpy as np, pandas as pd
    >>> from distributed import Client
    >>> import catena.dask
    >>> client = Client(processes=False, n_workers=1, dashboard_address=None)
    >>> hours = np.arange(400.0)
    >>> table = pd.DataFrame({"hour": hours, "a": np.sin(hours / 9), "b": 1 + 2 * np.sin(hours / 9)})
    >>> table.loc[100:120, "b"] = np.nan
    >>> gp = catena.dask.MultiOutputGP(budget="quick").fit(dd.from_pandas(table, npartitions=4))
    >>> filled = gp.impute().compute()
    >>> bool(np.abs(filled["b"] - (1 + 2 * np.sin(hours / 9))).max() < 0.1)
    True
    >>> client.close()
    """

    def __init__(
        self,
        latents: int | str = "auto",
        kernel: str = "auto",
        structure: str = "auto",
        method: str = "auto",
        *,
        private: bool | str = "auto",
        ard: bool | str = "auto",
        periods: Any = None,
        mean: str = "auto",
        budget: str = "default",
        learn: bool = True,
        mixing: Any = None,
        length_scales: Any = None,
        noise: Any = None,
        standardize: bool = True,
        transforms: Any = "auto",
        random_state: Any = 0,
        progress: bool | str = "auto",
        model: LocalGP | str | PathLike[str] | None = None,
        n_parts: int | None = None,
    ) -> None:
        self.latents = latents
        self.kernel = kernel
        self.structure = structure
        self.method = method
        self.private = private
        self.ard = ard
        self.periods = periods
        self.mean = mean
        self.budget = budget
        self.learn = learn
        self.mixing = mixing
        self.length_scales = length_scales
        self.noise = noise
        self.standardize = standardize
        self.transforms = transforms
        self.random_state = random_state
        self.progress = progress
        self.model = model
        self.n_parts = n_parts

    #: Parameters of the estimator in memory that have one value here.
    combine, group_scaling, parameters, max_memory = "auto", "auto", None, None
    n_inducing, n_neighbors, time_limit, likelihood, bounds = None, None, None, None, None

    # Fitting

    def fit(self, X: Any, Y: Any = None, inputs: Any = None, client: Any = None) -> MultiOutputGP:
        """Selects a model, learns its parameters and conditions it on a partitioned table.

        Parameters
        ----------
        X : dask DataFrame, dask Array of shape (n, M), or the path of a directory of Parquet files
            A frame holds inputs and outputs, selected as in :meth:`catena.MultiOutputGP.fit`. Partitions that overlap along
            the input are sorted by Dask first.
        Y : dask Array of shape (n, D) or (n,)
            Values if X is an array, NaN where missing.
        inputs : str or list of str, optional
            One to three input columns of a frame.
        client : distributed.Client, optional
            The cluster; by default the current one.

        Returns
        -------
        self
        """
        workers = Workers(_client(client))
        given = self._given_model()
        origins = None if given is None else [clock and clock.origin for clock in given._points.clocks]
        chain = Chain.of(_tables.read(X, Y, inputs), workers, self.n_parts, origins)
        schema = chain.table.schema
        names = [str(name) for name in schema.outputs]
        for name, count in zip(names, chain.counted["n_observed"], strict=True):
            if count == 0 and given is None:
                raise InputError(f"output {name!r} was never observed; leave it out.")
        clocks = [None if clock is None else Clock(*clock) for clock in chain.clocks]
        kept = None if given is None else _fitting(given, names, clocks)
        wanted = fit_options(self, names, clocks[0] if len(clocks) == 1 else None)
        if self.learn and kept is None and chain.n_rows < 2:
            raise InputError(
                "n_samples = 1: learning needs at least two rows; add rows, or give parameters with learn=False."
            )
        n_compared = _catena.rows_to_compare(chain.n_rows, len(clocks), len(names), wanted)
        points, values = chain.sample(n_compared, seed_of(self.random_state))
        sample = Points(points, schema.input_names, clocks, None, chain.is_integer, chain.table.together)
        notes = {"kind": "pandas" if chain.table.together else "numpy", "together": chain.table.together}
        notes = {**notes, "vector": chain.table.is_vector}
        if chain.table.together:
            notes |= {"index": schema.inputs == [None]}
            notes |= {"index_name": schema.index_name} if notes["index"] else {}
            notes |= {"left_out": chain.table.left_out} if chain.table.left_out else {}
        if kept is None:
            model = self._learned_model(chain, sample, values, wanted, about(self, sample, names, notes))
        else:
            chain.lay(kept.plain()[1], self.n_parts)
            model = kept
        self._remember_features(sample)
        self._chain = chain
        self._adopt(model, sample, notes)
        self._original = None
        self._plain = model.plain()[0]
        self._log_evidence, self._around = chain.around(self._plain)
        self._tell()
        return self

    def _given_model(self):
        if self.model is None:
            return None
        gp = self.model if isinstance(self.model, LocalGP) else load(self.model)
        if not gp._model_or_raise().is_chain():
            raise InputError("the model is not a chain; fit one with method='catena', structure='chain'.")
        return gp

    def _learned_model(self, chain, sample, values, wanted, notes):
        def learn(progress):
            outline, interrupted = _catena.Outline.chosen(
                sample.values, values, chain.census, wanted, notes, progress
            )
            if (powers := outline.powers()) != "[]":
                chain.take_census(powers)
            preparation = outline.preparation(chain.census, chain.gap())
            chain.lay(preparation, self.n_parts)
            gathered = {
                "census": chain.census,
                "preparation": preparation,
                "spacing": chain.spacing,
                "sums": chain.sums,
                "counts": chain.counts,
                "log_volume": chain.log_volume,
                "remarks": [_remark(chain)],
            }
            # Learning ignores exact copies of a cell; the posterior does not.
            model, interrupted_later = outline.learn(
                sample.values, values, gathered, lambda model: chain.evidence(model, True).tolist(), progress
            )
            return model, interrupted or interrupted_later

        return self._watched(learn)

    # Asking

    def predict(
        self,
        X: Any = None,
        return_std: bool = False,
        return_cov: bool = False,
        *,
        include_noise: bool = True,
        point: str = "mean",
    ) -> Any:
        """Posterior means, and on request standard deviations.

        Parameters
        ----------
        X : None, a dask DataFrame or Array, or anything that :meth:`catena.MultiOutputGP.predict` takes
            Points. None gives the rows of the fit as a dask collection; a dask frame of points is sorted by its input and gives
            a dask frame; points in memory give results in memory. New points need a model with a single input.
        return_std : bool
            Also return standard deviations.
        include_noise : bool
            Whether to predict a new observation (the default) or the latent function.
        point : str
            ``"mean"`` or ``"median"``.
        """
        _check.point(point)
        self._model_or_raise()
        if return_cov:
            raise InputError("return_cov is for tables in memory; use return_std.")
        found = _answers.predict(self, X, (include_noise, point))
        return found if return_std else found[0]

    def posterior_at(
        self, x: Any, return_std: bool = False, *, include_noise: bool = True, point: str = "mean"
    ) -> Any:
        """Predictions of :meth:`predict` at one or more points."""
        self._model_or_raise()
        points = read_places(self, x)
        return self._answers(*self._moments(points, include_noise, point), points, return_std)

    def score(self, X: Any, y: Any = None) -> float:
        """R² on rows in memory, averaged over the outputs; missing values of ``y`` are ignored."""
        if _tables.is_dask(X) or _tables.is_dask(y):
            raise InputError(
                "score reads rows in memory; give the result of compute(), or a sample of the rows."
            )
        return super().score(X, y)

    def impute(
        self, return_std: bool = False, *, to: str | PathLike[str] | None = None, point: str = "mean"
    ) -> Any:
        """The table of the fit with its missing values filled, in chain order; observed values are unchanged.

        With ``return_std`` also the standard deviation of each filled value, NaN where a value was observed. With ``to``, the
        filled table is written to a directory of Parquet files, one per partition, and the number of rows is returned.
        ``point`` is as for :meth:`predict`.
        """
        _check.point(point)
        self._model_or_raise()
        if to is not None:
            if return_std:
                raise InputError("impute(to=...) writes the filled table only; use return_std without it.")
            return _answers.write(self, to, point)
        return _answers.impute(self, return_std, point)

    def log_marginal_likelihood(self) -> float:
        """The log evidence: the log density of the observed values under the model, in the caller's units."""
        self._model_or_raise()
        return self._log_evidence + self._chain.log_volume

    def gradient(self) -> dict[str, np.ndarray]:
        """The log evidence of the standardized table and its gradient in model units: mixing (D, L), length-scales (L,) and
        noise (D,)."""
        self._model_or_raise()
        numbers = self._chain.evidence(self._plain)
        n_outputs, n_latents = self.mixing_.shape
        ends = np.cumsum([1, n_outputs * n_latents, n_latents, n_latents, n_outputs])
        evidence, mixing, lengths, _, noise, _ = np.split(numbers, ends)
        return {
            "log_evidence": float(evidence[0]),
            "mixing": mixing.reshape(n_outputs, n_latents),
            "length_scales": lengths,
            "noise": noise,
        }

    def local(self) -> LocalGP:
        """A :class:`catena.MultiOutputGP` in memory with the same parameters and units, conditioned only on the sample on which
        candidates were compared. Its model file can be applied to any table on the command line."""
        model = self._model_or_raise()
        params = {
            name: value for name, value in self.get_params().items() if name not in ("model", "n_parts")
        }
        gp = LocalGP(**params)
        gp._adopt(model, self._points, self._notes)
        gp._original = None
        gp._remember_features(self._points)
        return gp

    @property
    def traffic_(self) -> dict[str, int]:
        """Rounds, evaluations, and bytes sent to and received from the workers."""
        self._model_or_raise()
        return self._chain.workers.traffic.as_dict()

    @property
    def chain_(self) -> dict[str, Any]:
        """Rows, partitions, length of the chain and of the edges between partitions."""
        self._model_or_raise()
        chain = self._chain
        return {
            "rows": chain.n_rows,
            "parts": len(chain.parts),
            "length": chain.length,
            "joins": chain.joins,
            "spacing": chain.spacing,
        }

    @property
    def summary_(self) -> dict[str, Any]:
        """The selected model, the candidates and the decisions."""
        evidence = {
            "log_evidence": self.log_marginal_likelihood(),
            "standardized_log_evidence": self._log_evidence,
        }
        return {**super().summary_, **evidence}

    def __getattr__(self, name):
        if name in _INSTEAD:
            raise AttributeError(
                f"{name} is for tables in memory, but this table is partitioned; {_INSTEAD[name]}."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _moments(self, points, include_noise, point="mean"):
        return _answers.at_points(self, points.values, (include_noise, point))

    def _ahead(self, horizon, step):
        names, chain = self._points.names, self._chain
        check_line(names)
        return points_after(chain.lasts[-1], chain.gap, names, self._points.clocks, horizon, step)

    def _model_or_raise(self):
        if "_model" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        return self._model

    def __getstate__(self):
        raise InputError(
            "the partitions are on the cluster and cannot be pickled; pickle gp.local() instead."
        )


def _fitting(gp, names, clocks):
    """The given model, checked against the inputs and outputs of the table."""
    is_unnamed = gp._notes["kind"] == "numpy"
    if gp.output_names_ != names and not (is_unnamed and len(gp.output_names_) == len(names)):
        raise InputError(f"the model has the outputs {gp.output_names_}, but the table has {names}.")
    known = gp._points.clocks
    if len(known) != len(clocks):
        raise InputError(f"the model has {len(known)} inputs, but the table has {len(clocks)}.")
    if [clock is None for clock in known] != [clock is None for clock in clocks]:
        raise InputError("the inputs of the model and the table differ: one is a time, the other is numeric.")
    if any(clock is not None and clock.calendar is not None for clock in known):
        raise InputError(
            "the model counts time along a calendar, but a partitioned table has elapsed time; fit the model with "
            "calendar='elapsed'."
        )
    return gp._model


def _client(given):
    from distributed import Client, get_client

    if given is not None:
        if not isinstance(given, Client):
            raise InputError(f"client is a {type(given).__name__}; give a distributed.Client.")
        return given
    try:
        return get_client()
    except ValueError as error:
        raise InputError(
            "there is no cluster; create one first, such as distributed.Client() on this machine."
        ) from error


def _remark(chain):
    parts = len(chain.parts)
    text = f"the chain has {parts} {'partition' if parts == 1 else 'partitions'}"
    if len(chain.table.schema.inputs) > 1 and parts > 1 and chain.length > 0:
        share = 100 * chain.joins / chain.length
        text += (
            f" along a Hilbert curve; the {parts - 1} edges between them are {share:.2g} % of its length"
            f", {chain.joins / (parts - 1) / (chain.spacing or 1.0):.3g} spacings each"
        )
    return text
