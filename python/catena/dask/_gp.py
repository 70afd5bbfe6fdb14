"""The model on a cluster: fit, predict and impute where the partitions lie."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from .. import _catena
from .._frames import Clock, Points
from .._gp import MultiOutputGP as LocalGP
from .._horizon import check_line, points_after
from .._keeping import about
from .._load import load
from .._options import asked
from .._progress import watcher
from .._random import seed_of
from .._rows import read_places
from ..errors import FitInterruptedWarning, InputError, not_fitted
from . import _answers, _tables
from ._chain import Chain, Workers

if TYPE_CHECKING:
    from os import PathLike
    from typing import Any


#: How to ask what needs all rows in one place.
_IN_MEMORY = "for some of the rows fit catena.MultiOutputGP(learn=False, parameters=gp.parameters_) in memory"


def _not_in_parts(name, instead):
    """A method that says what to do instead."""

    def refuse(self, *_given, **_named):
        raise InputError(f"{name} is for tables in memory, and this one is in parts; {instead}.")

    refuse.__name__ = name
    refuse.__doc__ = f"Not offered in parts: {instead}."
    return refuse


class MultiOutputGP(LocalGP):
    """Multi-output Gaussian process regression on a Dask cluster: the posterior and the learning of
    :class:`catena.MultiOutputGP`, on tables larger than one machine.

    The rows lie on one chain that is cut into partitions. A partition stays on its worker; of each only a summary of a few
    kilobytes travels, and from all summaries every partition learns exactly what the others know. An evidence or a gradient is
    one map, one small scan and one map. What comes out is what one machine would find, to rounding.

    Parameters are those of :class:`catena.MultiOutputGP` but ``parameters`` (give ``model`` instead), and two more. The method
    is message passing, the structure a chain: sorted along a single input; for two or three inputs, parts along Hilbert's
    curve with a greedy chain in each. What needs all rows in one place is not offered: intervals, draws, covariances, plots of
    rows, reports, rows that come later, files and pickles.

    Parameters
    ----------
    model : catena.MultiOutputGP or path, optional
        A fitted model, whose parameters and units are used as they are: nothing is learned. It may be one for time.
    n_parts : int, optional
        Into how many parts rows are sorted where they have to be; by default as many as there are partitions.

    Attributes
    ----------
    traffic_ : dict
        Rounds, evaluations, and the bytes that went to and came from the workers.
    chain_ : dict
        Rows, parts, the length of the chain and of the edges that join its parts, in the model's units.

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
        periods: Any = None,
        mean: str = "auto",
        budget: str = "default",
        learn: bool = True,
        mixing: Any = None,
        length_scales: Any = None,
        noise: Any = None,
        standardize: bool = True,
        transforms: bool = True,
        random_state: Any = 0,
        progress: bool | str = "auto",
        model: LocalGP | str | PathLike[str] | None = None,
        n_parts: int | None = None,
    ) -> None:
        super().__init__(
            latents,
            kernel,
            structure,
            method,
            private=private,
            periods=periods,
            mean=mean,
            budget=budget,
            learn=learn,
            mixing=mixing,
            length_scales=length_scales,
            noise=noise,
            standardize=standardize,
            transforms=transforms,
            random_state=random_state,
            progress=progress,
        )
        self.model = model
        self.n_parts = n_parts

    # Fitting

    def fit(self, X: Any, Y: Any = None, inputs: Any = None, client: Any = None) -> MultiOutputGP:
        """Chooses, learns and conditions a model on a table in parts.

        Parameters
        ----------
        X : dask DataFrame, dask Array of shape (n, M), or the path of a directory of Parquet files
            A frame holds inputs and outputs, which are found as in :meth:`catena.MultiOutputGP.fit`. Partitions that overlap
            along the input are sorted by Dask first.
        Y : dask Array of shape (n, D) or (n,)
            Values where X is an array, NaN where nothing was observed.
        inputs : str or list of str, optional
            The columns of a frame that are inputs: one, two or three.
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
            if count == 0:
                raise InputError(f"output {name!r} was never observed; leave it out.")
        clocks = [None if clock is None else Clock(*clock) for clock in chain.clocks]
        kept = None if given is None else _fitting(given, names, clocks)
        wanted = asked(self, len(names), clocks[0] if len(clocks) == 1 else None)
        if self.learn and kept is None and chain.n_rows < 2:
            raise InputError(
                "n_samples = 1: one row is too few to learn from; give more, or parameters with learn=False."
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
        return self

    def _given_model(self):
        if self.model is None:
            return None
        gp = self.model if isinstance(self.model, LocalGP) else load(self.model)
        if not gp._model_or_raise().is_chain():
            raise InputError(
                "the model does not lie on a chain; fit one with method='catena', structure='chain'."
            )
        return gp

    def _learned_model(self, chain, sample, values, wanted, notes):
        progress = watcher(self.progress)
        try:
            outline, interrupted = _catena.Outline.chosen(
                sample.values, values, chain.census, wanted, notes, progress
            )
            chain.lay(outline.preparation(chain.census, chain.gap()), self.n_parts)
            gathered = {
                "census": chain.census,
                "preparation": outline.preparation(chain.census, chain.gap()),
                "spacing": chain.spacing,
                "sums": chain.sums,
                "counts": chain.counts,
                "remarks": [_remark(chain)],
            }
            # Copies of a cell are no second measurement: learning leaves them out, the posterior does not.
            model, interrupted_later = outline.learn(
                sample.values, values, gathered, lambda model: chain.evidence(model, True).tolist(), progress
            )
        finally:
            if progress is not None:
                progress.close()
        if interrupted or interrupted_later:
            message = "the fit was interrupted; this is the best model that was found until then"
            warnings.warn(message, FitInterruptedWarning, stacklevel=4)
        return model

    # Asking

    def predict(
        self, X: Any = None, return_std: bool = False, return_cov: bool = False, *, include_noise: bool = True
    ) -> Any:
        """Means, and on request standard deviations.

        Parameters
        ----------
        X : None, a dask DataFrame or Array, or anything that :meth:`catena.MultiOutputGP.predict` reads
            Where. None is the rows of the fit, as a dask collection; points of a dask frame are sorted by their input and the
            answer is a dask frame; points in memory are answered in memory. New points need a single input.
        return_std : bool
            Also return standard deviations.
        include_noise : bool
            Whether it is about a new observation, as by default, or about the function itself.
        """
        self._model_or_raise()
        if return_cov:
            raise InputError("return_cov is for tables in memory; ask for return_std.")
        found = _answers.predict(self, X, include_noise)
        return found if return_std else found[0]

    def posterior_at(self, x: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """What :meth:`predict` says at one place or several."""
        self._model_or_raise()
        points = read_places(self, x)
        mean, std = self._moments(points, include_noise)
        mean = self._answer(mean, points)
        return (mean, self._answer(std, points)) if return_std else mean

    def score(self, X: Any, y: Any = None) -> float:
        """The coefficient of determination R² on rows in memory, the mean over the outputs; holes in ``y`` do not count."""
        if _tables.is_dask(X) or _tables.is_dask(y):
            raise InputError(
                "score reads rows in memory; give what compute() returns, or a sample of the rows."
            )
        return super().score(X, y)

    # What needs all rows in one place: answers would be those of the sample on which models were compared.
    interval = _not_in_parts("interval", "use predict(return_std=True)")
    sample_y = _not_in_parts("sample_y", f"use predict(return_std=True), or {_IN_MEMORY}")
    live = _not_in_parts("live", _IN_MEMORY)
    report = _not_in_parts("report", f"print the model, or {_IN_MEMORY}")
    plot = _not_in_parts("plot", f"plot what predict returns at the points you want to see, or {_IN_MEMORY}")
    plot_structure = _not_in_parts(
        "plot_structure", "chain_ has the length of the chain and of the edges that join its parts"
    )
    structure_ = property(
        _not_in_parts("structure_", "chain_ has the length of the chain and of the edges that join its parts")
    )
    save = _not_in_parts("save", "gp.local().save(path) keeps parameters and units with a sample of the rows")
    update = _not_in_parts("update", "fit again, with model= to keep the parameters")
    partial_fit = _not_in_parts("partial_fit", "fit again, with model= to keep the parameters")

    def impute(self, return_std: bool = False, *, to: str | PathLike[str] | None = None) -> Any:
        """The table of the fit with its holes filled, in the order of the chain; what was observed stays as it was.

        With ``return_std`` also how sure each filled value is, NaN where a value was observed. With ``to``, the filled table is
        written to a directory of Parquet files, one per part, and the number of rows is returned.
        """
        self._model_or_raise()
        if to is not None:
            if return_std:
                raise InputError("impute(to=...) writes the filled table; ask for return_std without it.")
            return _answers.write(self, to)
        return _answers.impute(self, return_std)

    def log_marginal_likelihood(self) -> float:
        """The log density of the observed values under the model, in the caller's units."""
        self._model_or_raise()
        return self._log_evidence + self._chain.log_volume

    def gradient(self) -> dict[str, np.ndarray]:
        """Derivatives of the log evidence of the standardized table in the parameters of the model, in its own units: mixing
        (D, L), length-scales (L,) and noise (D,); with the log evidence."""
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
        """The same parameters and units as a :class:`catena.MultiOutputGP` in memory, conditioned on the sample on which models
        were compared: it answers from these rows only. It saves to a model file that the command line applies to any table."""
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
        """Rounds, evaluations, and the bytes that went to and came from the workers."""
        self._model_or_raise()
        return self._chain.workers.traffic.as_dict()

    @property
    def chain_(self) -> dict[str, Any]:
        """Rows, parts, the length of the chain and of the edges that join its parts."""
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
        """What was chosen and tried, and why."""
        return {**super().summary_, "log_evidence": self._log_evidence}

    def _moments(self, points, include_noise):
        return _answers.at_points(self, points.values, include_noise)

    def _ahead(self, horizon, step):
        names, chain = self._points.names, self._chain
        check_line(names)
        return points_after(chain.lasts[-1], chain.gap, names, self._points.clocks, horizon, step)

    def _model_or_raise(self):
        if "_model" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        return self._model

    def __getstate__(self):
        raise InputError("partitions live on the cluster; keep gp.local() instead.")


def _fitting(gp, names, clocks):
    """The given model, if it has the inputs and outputs of the table."""
    is_unnamed = gp._notes["kind"] == "numpy"
    if gp.output_names_ != names and not (is_unnamed and len(gp.output_names_) == len(names)):
        raise InputError(f"the model has the outputs {gp.output_names_}, but the table has {names}.")
    known = gp._points.clocks
    if len(known) != len(clocks):
        raise InputError(f"the model has {len(known)} inputs, but the table has {len(clocks)}.")
    if [clock is None for clock in known] != [clock is None for clock in clocks]:
        raise InputError("the model and the table disagree: one is along a time, the other along numbers.")
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
            "there is no cluster; make one first, such as distributed.Client() on this machine."
        ) from error


def _remark(chain):
    parts = len(chain.parts)
    text = f"the chain lies in {parts} {'part' if parts == 1 else 'parts'}"
    if len(chain.table.schema.inputs) > 1 and parts > 1 and chain.length > 0:
        share = 100 * chain.joins / chain.length
        text += (
            f" along Hilbert's curve; the {parts - 1} edges that join them are {share:.2g} % of its length"
            f", {chain.joins / (parts - 1) / (chain.spacing or 1.0):.3g} spacings each"
        )
    return text
