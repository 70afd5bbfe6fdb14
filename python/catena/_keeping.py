"""Names, clocks and notes that Python stores in model files and pickles."""

from ._frames import Clock, Points
from ._options import plain

#: Notes of a model written by the command line.
PLAIN = {"kind": "numpy", "together": False, "vector": False}


def about(gp, points, output_names, notes, groups=None, noise_columns=()):
    """Names, clocks, groups and notes of a table in the form of the Rust extension."""
    import json

    units = (
        ["integer"] if points.integer else [None if clock is None else clock.note for clock in points.clocks]
    )
    return {
        "inputs": points.names,
        "clocks": [None if clock is None else clock.parts for clock in points.clocks],
        "outputs": output_names,
        "groups": groups,
        "noise_columns": list(noise_columns),
        "caller": json.dumps(
            {"python": {"notes": notes, "units": units, "named": points.has_names, "params": plain(gp)}}
        ),
    }


def kept(model, index=None):
    """Points, notes and parameters of a stored model; parameters are None if Python did not write it."""
    import json

    names, clocks, _, caller = model.notes()
    noted = (json.loads(caller) if caller else {}).get("python") or {}
    units = noted.get("units") or ["us"] * len(names)
    clocks = [
        None if clock is None else Clock.of_note(clock, unit)
        for clock, unit in zip(clocks, units, strict=True)
    ]
    notes, params = noted.get("notes") or PLAIN, noted.get("params")
    # Files of the command line have names; older Python files lack the flag.
    is_named = noted.get("named", notes["kind"] != "numpy" or not params)
    points = Points(model.inputs(), names, clocks, index, "integer" in units, is_named)
    return points, notes, params
