"""Models in files and pickles: what Python notes beside the numbers, and how a model finds it again."""

from ._frames import Clock, Points
from ._options import plain

#: The notes of a model that the command line made.
PLAIN = {"kind": "numpy", "together": False, "vector": False}


def about(gp, points, output_names, notes):
    """Names and clocks of a table, and the notes, as the Rust half keeps them."""
    import json

    units = (
        ["integer"] if points.integer else [None if clock is None else clock.unit for clock in points.clocks]
    )
    return {
        "inputs": points.names,
        "clocks": [None if clock is None else (clock.origin, clock.zone) for clock in points.clocks],
        "outputs": output_names,
        "caller": json.dumps(
            {"python": {"notes": notes, "units": units, "named": points.has_names, "params": plain(gp)}}
        ),
    }


def kept(model, index=None):
    """The points, notes and parameters of a model that was kept; no parameters if Python did not make it."""
    import json

    names, clocks, _, caller = model.notes()
    noted = (json.loads(caller) if caller else {}).get("python") or {}
    units = noted.get("units") or ["us"] * len(names)
    clocks = [
        None if clock is None else Clock(clock[0], clock[1], unit)
        for clock, unit in zip(clocks, units, strict=True)
    ]
    notes, params = noted.get("notes") or PLAIN, noted.get("params")
    # Files of the command line have names; older ones of Python do not say.
    is_named = noted.get("named", notes["kind"] != "numpy" or not params)
    points = Points(model.inputs(), names, clocks, index, "integer" in units, is_named)
    return points, notes, params
