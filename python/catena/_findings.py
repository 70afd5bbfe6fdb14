"""Bad cells of a table: every observed cell against what all other cells say of it."""

import numpy as np

from . import _catena, _frames, _groups
from ._keeping import about
from ._options import fit_options
from .errors import InputError, warn

NUMBERS = ("value", "expected", "lower", "upper", "deviation", "p_value")


def findings_of(gp, X, Y, groups):
    """The findings in a table, or in that of a fit, as a frame."""
    if X is None:
        if groups is not None:
            raise InputError("groups are those of X; leave them out, the fit has its own.")
        model, points = gp._whole()
        values, names, notes = model.values(), gp.output_names_, gp._notes
        noise, grouped = _catena.cell_noise(model), model.groups()
    else:
        points, values, names, notes, grouped = _groups.read(X, Y, groups, None, gp.learn)
        points.put_on_calendar(gp.calendar)
        noise = None
    clock = points.clocks[0] if len(points.clocks) == 1 else None
    rows = (np.ascontiguousarray(points.values), values)
    wanted = {**fit_options(gp, names, clock), "cell_noise": noise}
    found, is_settled = gp._watched(_check, rows, wanted, about(gp, points, names, notes, grouped))
    if not is_settled:
        warn("findings still changed at the last round of the check; those near the limit are uncertain")
    return _frames.tidy(_columns(found, points, names, grouped, notes), notes)


def cleaned(gp, model, points):
    """A model of the table of a fit without its bad readings, and a mask of these, n×D. Warns of how many there are."""
    values, names = model.values(), gp.output_names_
    clock = points.clocks[0] if len(points.clocks) == 1 else None
    wanted = {**fit_options(gp, names, clock), "cell_noise": _catena.cell_noise(model)}
    rows = (np.ascontiguousarray(points.values), values)
    notes = about(gp, points, names, gp._notes, model.groups())
    fitted, cells = gp._watched(_fit_clean, rows, wanted, notes)
    bad = np.zeros(values.shape, dtype=bool)
    bad.ravel()[cells] = True
    if cells:
        readings = "1 bad reading is" if len(cells) == 1 else f"{len(cells)} bad readings are"
        warn(f"{readings} treated as missing and filled; check() lists them")
    return fitted, bad


def _fit_clean(rows, options, notes, progress):
    fitted, cells, interrupted = _catena.fit_clean(rows, options, notes, progress)
    return (fitted, cells), interrupted


def _check(rows, options, notes, progress):
    """Findings and whether the search settled, as a pair with whether it was interrupted."""
    found, is_settled, interrupted = _catena.check(rows, options, notes, progress)
    return (found, is_settled), interrupted


def _columns(found, points, names, grouped, notes):
    """The columns of a frame of findings."""
    first = [finding["rows"][0] for finding in found]
    columns = {"row": np.array(first, dtype=np.int64)}
    columns.update(_frames.places(points.taken(np.array(first, dtype=np.int64)), notes))
    if grouped is not None:
        of_columns, of_groups, of_row = grouped
        for at, column in enumerate(of_columns):
            columns[column] = [of_groups[of_row[row]][at] for row in first]
    columns["column"] = [names[finding["output"]] for finding in found]
    columns["kind"] = [finding["kind"] for finding in found]
    columns["cells"] = np.array([len(finding["rows"]) for finding in found], dtype=np.int64)
    columns["last_row"] = np.array([finding["rows"][-1] for finding in found], dtype=np.int64)
    for number in NUMBERS:
        columns[number] = np.array([finding[number] for finding in found], dtype=float)
    return columns
