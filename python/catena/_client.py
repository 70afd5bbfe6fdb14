"""A live posterior behind HTTP: the calls of :class:`LiveGP` on a service that ``catena serve`` runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import date, datetime
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from .errors import InputError, NumericalError, ServiceError

if TYPE_CHECKING:
    from typing import Any

#: Attempts of a request, in all.
ATTEMPTS = 3


class Client:
    """A model that a service has, with the calls of :class:`LiveGP`.

    Every reading is on the service's disk when :meth:`observe` returns. A request whose reply is lost is sent again with its
    key, so that nothing is taken twice. Several threads may use one client; they share its connection.

    Points are a number, a time, one number per input, or a list of these. Times are texts in the style of the model's table, or
    datetimes, which are written in ISO format. Results are numpy arrays with a row per point and a column per output.

    Parameters
    ----------
    url : the address of the service, such as ``http://127.0.0.1:8080``
    token : its token, if it needs one
    timeout : seconds that a reply may take

    Examples
    --------
    >>> import catena
    >>> service = catena.Client("http://127.0.0.1:8080")               # doctest: +SKIP
    >>> service.observe("2024-05-01 12:00", {"temp": 21.5})            # doctest: +SKIP
    >>> mean, std = service.posterior_at("2024-05-01 13:00", True)     # doctest: +SKIP
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 30.0) -> None:
        # Modules that few need are imported where they are needed.
        from urllib.parse import urlsplit

        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(
                f"{url!r} is no address of a service; write for example 'http://127.0.0.1:8080'."
            )
        self._parts, self._token, self._timeout = parts, token, timeout
        self._connection = None
        self._lock = Lock()
        try:
            state = self.state()
        except BaseException:
            self.close()
            raise
        #: Names of the outputs.
        self.output_names_: list[str] = state["outputs"]
        self._inputs: list[str] = [own["name"] for own in state["inputs"]]

    def observe(self, x: Any, y: Any) -> None:
        """Observes values at one or more points; either all rows are applied or none.

        Parameters
        ----------
        x : one or more points
        y : a number for a single output, one value per output, a list of these, or a dict by output
            Outputs that are NaN or not in the dict stay unchanged.
        """
        places = self._places(x)
        rows = [
            {**place, **values} for place, values in zip(places, self._values(y, len(places)), strict=True)
        ]
        self._post("/v1/readings", rows, key=os.urandom(16).hex())

    def remove(self, x: Any, output: int | str) -> int:
        """Removes the value of an output at one or more points. Returns the number of removed values."""
        before = self.n_observed
        name = self._output(output)
        self._post(
            "/v1/remove",
            [{**place, "outputs": [name]} for place in self._places(x)],
            key=os.urandom(16).hex(),
        )
        return before - self.n_observed

    def posterior_at(self, x: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """Means, and with ``return_std`` standard deviations, of all outputs at one or more points."""
        noise = "yes" if include_noise else "no"
        rows = self._post(f"/v1/predict?noise={noise}", self._places(x))["rows"]
        mean = self._table(rows, "mean")
        return (mean, self._table(rows, "std")) if return_std else mean

    def deviations(self, x: Any) -> Any:
        """How far the values observed at one or more points are from what all *other* values say, in standard deviations.

        NaN for outputs without a value there.
        """
        return self._table(self._post("/v1/expected", self._places(x))["rows"], "deviation")

    def log_marginal_likelihood(self) -> float:
        """The log evidence: the log density of the observed values under the model, in the units of its table."""
        return self._get("/v1/state?evidence=yes")["log_evidence"]

    @property
    def n_rows(self) -> int:
        """Number of rows, including added rows."""
        return self.state()["rows"]

    @property
    def n_observed(self) -> int:
        """Number of observed values."""
        return self.state()["observed"]

    def state(self) -> dict[str, Any]:
        """What the service says of itself: rows, the line of its journal, the last surprises, coverage, learning."""
        return self._get("/v1/state")

    def relearn(self) -> None:
        """Begins to learn the model again from all readings. The service goes on, and takes the new model when it is ready."""
        self._post("/v1/relearn", None)

    def close(self) -> None:
        """Closes the connection; the next call opens one."""
        with self._lock:
            self._forget()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self._parts.scheme}://{self._parts.netloc}>"

    def _places(self, x):
        if isinstance(x, np.ndarray):
            x = x.tolist() if x.dtype.kind != "M" else [str(time) for time in np.atleast_1d(x)]
        elif not isinstance(x, str) and hasattr(x, "tolist"):
            x = x.tolist()
        is_one = not isinstance(x, (list, tuple))
        if not is_one and len(self._inputs) > 1:
            is_one = not isinstance(x[0], (list, tuple)) if x else False
        points = [x] if is_one else list(x)
        return [self._place(point) for point in points]

    def _place(self, point):
        values = list(point) if isinstance(point, (list, tuple)) else [point]
        if len(values) != len(self._inputs):
            names = ", ".join(self._inputs)
            raise InputError(f"a point has {len(values)} numbers, but the model has the inputs {names}.")
        return {name: _plain(value) for name, value in zip(self._inputs, values, strict=True)}

    def _values(self, y, n_rows):
        if hasattr(y, "tolist"):
            y = y.tolist()
        if isinstance(y, Mapping):
            columns = {self._output(name): np.atleast_1d(np.asarray(y[name], dtype=float)) for name in y}
            if any(len(column) not in (1, n_rows) for column in columns.values()):
                raise InputError(f"y has columns of another length than the {n_rows} points.")
            rows = [
                {name: column[row if len(column) > 1 else 0] for name, column in columns.items()}
                for row in range(n_rows)
            ]
        else:
            rows = y if isinstance(y, (list, tuple)) else [y]
            if n_rows == 1 and not (rows and isinstance(rows[0], (list, tuple))):
                rows = [rows]
            rows = [row if isinstance(row, (list, tuple)) else [row] for row in rows]
            if len(rows) != n_rows or any(len(row) != len(self.output_names_) for row in rows):
                raise InputError(
                    f"y needs {len(self.output_names_)} values for each of the {n_rows} points, or a dict by output."
                )
            rows = [dict(zip(self.output_names_, row, strict=True)) for row in rows]
        return [
            {name: float(value) for name, value in row.items() if value is not None and value == value}
            for row in rows
        ]

    def _output(self, given):
        names = self.output_names_
        if given in names:
            return given
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and 0 <= given < len(names):
            return names[given]
        raise InputError(f"the model has no output {given!r}; its outputs are {', '.join(map(repr, names))}.")

    def _table(self, rows, end):
        names = [f"{name}_{end}" for name in self.output_names_]
        return np.array([[row.get(name, np.nan) for name in names] for row in rows], dtype=float)

    def _get(self, path):
        return self._ask("GET", path, None, {})

    def _post(self, path, rows, key=None):
        import json

        headers = {"Content-Type": "application/x-ndjson"}
        if key:
            headers["Idempotency-Key"] = key
        body = b"" if rows is None else "\n".join(json.dumps(row, allow_nan=False) for row in rows).encode()
        return self._ask("POST", path, body, headers, may_repeat=key is not None or path != "/v1/relearn")

    def _ask(self, method, path, body, headers, may_repeat=True):
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        with self._lock:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    if self._connection is None:
                        kind = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
                        self._connection = kind(self._parts.hostname, self._parts.port, timeout=self._timeout)
                    self._connection.request(method, self._parts.path.rstrip("/") + path, body, headers)
                    reply = self._connection.getresponse()
                    status, text = reply.status, reply.read()
                    break
                except (OSError, HTTPException) as error:
                    # The service may have been restarted, or have closed a connection that was idle.
                    self._forget()
                    if attempt == ATTEMPTS or not may_repeat:
                        raise ServiceError(f"{self!r} cannot be reached ({error}).") from error
        return _content(status, text)

    def _forget(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _content(status, text):
    """The JSON of a reply; an error with the service's own sentence otherwise."""
    import json

    try:
        content = json.loads(text) if text else {}
    except ValueError:
        content = {}
    if 200 <= status < 300:
        return content
    said = content.get("error") if isinstance(content, dict) else None
    if status == 422:
        raise (NumericalError if said and "overflow" in said else InputError)(f"{said}.")
    known = {
        401: "the token is missing or wrong.",
        403: "the service does not take requests for this address; use its own, or give it a token.",
        413: "the request is too long; send fewer rows at once.",
        429: "the service has too many requests; try again later.",
    }
    raise ServiceError(
        f"{said}." if said else known.get(status, f"the service answered with status {status}."), status
    )


def _plain(value):
    if isinstance(value, (datetime, date)):
        return value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()
    if isinstance(value, np.datetime64):
        return str(value).replace("T", " ")
    if isinstance(value, np.generic):
        return value.item()
    return value
