"""Checks the parameters of an estimator and converts them for the Rust extension."""

import json
import os

import numpy as np

from . import _check
from ._horizon import length
from ._random import seed_of
from ._sweep import mixing_of
from .errors import InputError


def fit_options(gp, names, clock=None):
    """Options of a fit; None is decided from the data. `names` are those of the outputs, `clock` that of a time input."""
    words = {
        "structure": gp.structure,
        "method": _method(gp),
        "mean": gp.mean,
        "group_scaling": gp.group_scaling,
        "combine": gp.combine,
        "budget": gp.budget,
        "kernel": gp.kernel,
    }
    for name, word in words.items():
        if not isinstance(word, str):
            raise InputError(
                f"{name}={word!r} must be a string; see the documentation of MultiOutputGP for the choices."
            )
    latents = _unless_auto(gp.latents)
    if latents is not None and not (_is_whole(latents) and latents >= 0):
        raise InputError(f"latents={latents!r} is invalid; give 'auto' or a whole number.")
    private, ard = _unless_auto(gp.private), _unless_auto(gp.ard)
    for name, value in {"private": private, "ard": ard}.items():
        if value not in (None, True, False):
            raise InputError(f"{name}={value!r} is unknown; write 'auto', True or False.")
    if not isinstance(gp.standardize, (bool, np.bool_)):
        raise InputError(f"standardize={gp.standardize!r} is unknown; write True or False.")
    periods = gp.periods if isinstance(gp.periods, (list, tuple)) else [gp.periods]
    return {
        **words,
        "periods": [length(period, clock, "periods") for period in periods if period is not None],
        "is_time": clock is not None,
        "time_is_last": False,
        "kernel": _unless_auto(gp.kernel),
        "latents": None if latents is None else int(latents),
        "private": None if private is None else bool(private),
        "ard": None if ard is None else bool(ard),
        "seed": seed_of(gp.random_state),
        "standardize": bool(gp.standardize),
        "transforms": _transforms(gp.transforms, names),
        "likelihood": _likelihood(gp.likelihood, names),
        "bounds": _bounds(gp.bounds, names),
        "parameters": _given(gp, len(names), private) if gp.parameters is None else None,
        "written": None if gp.parameters is None else _written(gp),
        "candidates": None,
        "cell_noise": None,
        "max_memory": memory_text(gp.max_memory),
        "time_limit": limit_seconds(gp.time_limit),
    }


def space_inputs(gp):
    """The inputs of a model of space and time by name: coordinates of the place, then the time; None for other models."""
    if getattr(gp, "space", None) is None and getattr(gp, "time", None) is None:
        return None
    space = [gp.space] if isinstance(gp.space, str) else gp.space
    is_list = isinstance(space, (list, tuple)) and space and all(isinstance(name, str) for name in space)
    if not is_list or not isinstance(gp.time, str):
        raise InputError(
            f"space={gp.space!r}, time={gp.time!r}: give the columns of the place and of the time together, such as "
            "space=['lat', 'lon'], time='when'."
        )
    if gp.time in space or len(set(space)) < len(space):
        raise InputError(f"space={gp.space!r}, time={gp.time!r}: a column is named twice.")
    return [*space, gp.time]


def _transforms(given, names):
    """Pairs of an output, or None for all others, and its transform."""
    if isinstance(given, (bool, np.bool_)):
        return [(None, "auto" if given else "none")]
    words = "'auto', 'none', 'log', 'box-cox' or 'yeo-johnson'"
    return _words_by_output("transforms", given, names, words)


def _likelihood(given, names):
    """Pairs of an output, or None for all others, and its likelihood."""
    return [] if given is None else _words_by_output("likelihood", given, names, "a word such as 'poisson'")


def _bounds(given, names):
    """Pairs of an output, or None for all others, and its bounds as a text."""
    if given is None:
        return []
    given = _range(given)
    if isinstance(given, dict):
        given = {name: _range(pair) for name, pair in given.items()}
    elif isinstance(given, (list, tuple)):
        given = [_range(pair) for pair in given]
    return _words_by_output("bounds", given, names, "a pair such as (0, 100) or (0, None)")


def _range(pair):
    """A pair of numbers, of which one can be None, as a text such as '0..100'; anything else as it is."""
    numbers = (int, float, np.number)
    is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
    if not is_pair or not all(end is None or isinstance(end, numbers) for end in pair):
        return pair
    return "..".join("" if end is None or np.isinf(end) else str(float(end)) for end in pair)


def _words_by_output(option, given, names, words):
    """Pairs of an output, or None for all others, and its word; `words` tells what may be written."""
    if isinstance(given, dict):
        pairs = list(given.items())
    elif isinstance(given, (list, tuple)) and len(given) == len(names):
        pairs = list(zip(names, given, strict=True))
    elif isinstance(given, (list, tuple)):
        raise InputError(
            f"{option} has {len(given)} entries, but there are {len(names)} outputs; give one each."
        )
    else:
        pairs = [(None, given)]
    for name, word in pairs:
        if not isinstance(word, str):
            raise InputError(
                f"{option}={given!r} is unknown; write {words}, or one per output in a list or dict."
            )
        if name is not None and name not in names:
            raise InputError(
                f"{option} names the output {name!r}, but the outputs are {', '.join(map(str, names))}."
            )
    return pairs


def _method(gp):
    """The method with its sizes, as in ``fullscale:64,10``."""
    sizes = {"n_inducing": gp.n_inducing, "n_neighbors": gp.n_neighbors}
    given = {name: size for name, size in sizes.items() if size is not None}
    if space_inputs(gp) is not None:
        if given or gp.method not in ("auto", "space", "space:plane", "space:latlon", "space:lonlat"):
            raise InputError(
                f"space and time are a method of their own; leave method={gp.method!r} and its sizes out, or space and time."
            )
        return "space" if gp.method == "auto" else gp.method
    if not given:
        return gp.method
    needed = {"fullscale": [*sizes], "svgp": ["n_inducing"], "nngp": ["n_neighbors"]}.get(gp.method, [])
    if [*given] != needed:
        raise InputError(
            f"{' and '.join(given)} cannot be combined with method={gp.method!r}: 'fullscale' needs n_inducing and "
            "n_neighbors, 'svgp' needs n_inducing, and 'nngp' needs n_neighbors."
        )
    for name, size in given.items():
        if not (_is_whole(size) and size >= 1):
            raise InputError(f"{name}={size!r} is invalid; give a whole number from 1.")
    return f"{gp.method}:{','.join(map(str, given.values()))}"


def memory_text(given):
    """A memory limit as text, which the extension reads."""
    if given is None or isinstance(given, str):
        return given
    if _is_whole(given) and given > 0:
        return str(given)
    raise InputError(f"max_memory={given!r} is unknown; write a number of bytes, or a size such as '3GB'.")


def limit_seconds(given):
    """A time limit in seconds; None for no limit."""
    if given is None:
        return None
    is_number = isinstance(given, (int, float, np.number))
    return length(given, None if is_number else True, "time_limit")


def plain(gp):
    """The estimator parameters that a model file stores, for `catena.load`."""
    kept = {}
    for name, value in gp.get_params().items():
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (str, int, float, bool, list, dict)):
            kept[name] = value
    return kept


def _unless_auto(value):
    return None if isinstance(value, str) and value == "auto" else value


def _is_whole(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _written(gp):
    """All parameters as a JSON text."""
    others = {
        "mixing": gp.mixing,
        "length_scales": gp.length_scales,
        "noise": gp.noise,
        "periods": gp.periods,
    }
    named = [name for name, value in others.items() if value is not None]
    if _unless_auto(gp.kernel) is not None:
        named.append("kernel")
    if gp.learn:
        raise InputError("parameters are given, but learn=True would replace them; set learn=False.")
    if named:
        raise InputError(f"parameters contain all of these; leave out {', '.join(named)}.")
    if isinstance(gp.parameters, dict):
        return json.dumps(gp.parameters)
    if not isinstance(gp.parameters, (str, os.PathLike)):
        raise InputError(
            "parameters are neither a dict nor the path of a file; give a dict like parameters_."
        )
    try:
        with open(gp.parameters, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"parameters={str(gp.parameters)!r} cannot be read: {error.strerror}.") from error


def _given(gp, n_outputs, private):
    parameters = {"mixing": gp.mixing, "length_scales": gp.length_scales, "noise": gp.noise}
    if gp.learn:
        named = [name for name, value in parameters.items() if value is not None]
        if named:
            raise InputError(f"{named[0]} is given, but learn=True would replace it; set learn=False.")
        return None
    missing = [name for name, value in parameters.items() if value is None]
    if _unless_auto(gp.kernel) is None:
        missing.append("kernel")
    if missing:
        raise InputError(f"learn=False needs {', '.join(missing)}; or parameters, a dict like parameters_.")
    weights = mixing_of(gp.mixing, n_outputs)
    return {
        "mixing": weights.tolist(),
        "length_scales": _check.vector(gp.length_scales, "length_scales", weights.shape[1]).tolist(),
        "noise": _check.vector(gp.noise, "noise", n_outputs).tolist(),
        "has_private": private is True,
    }
