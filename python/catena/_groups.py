"""Groups of rows: independent tables with one model."""

import numpy as np

from . import _frames
from ._panel import with_input_first, without_properties
from .errors import InputError


def split(table, groups):
    """The names of each row's group, the columns they come from, and the table without these columns."""
    columns = _columns(table, groups)
    if columns is None:
        labels = [(_text(label),) for label in np.asarray(groups, dtype=object).ravel()]
        return labels, ["group"], table
    cells = [texts(table[name]) for name in columns]
    without = table.drop(columns=columns) if hasattr(table, "iloc") else table.drop(columns)
    return list(zip(*cells, strict=True)), columns, without


def names_of(table):
    """The names of the columns of a frame; none for anything else."""
    return list(getattr(table, "column_names", None) or getattr(table, "columns", ()))


def texts(column):
    """The names of groups in a column as texts."""
    cells = column.to_pylist() if hasattr(column, "to_pylist") else column
    return [_text(cell) for cell in cells]


def numbered(labels, known=()):
    """The names of all groups, those that are known first, and the number of each row's group."""
    names = [tuple(names) for names in known]
    numbers = {names: number for number, names in enumerate(names)}
    for label in sorted(set(labels) - set(numbers)):
        numbers[label] = len(names)
        names.append(label)
    return [list(label) for label in names], [numbers[label] for label in labels]


def number_of(model, group):
    """The number of a group of a model by its name or names; None for a model without groups."""
    known = model.groups()
    if known is None:
        if group is not None:
            raise InputError("the fit has no groups; leave group out.")
        return None
    columns, names, _ = known
    example = names[0][0] if len(columns) == 1 else tuple(names[0])
    if group is None:
        raise InputError(f"the fit has groups ({', '.join(columns)}); give one, such as group={example!r}.")
    label = [str(part) for part in group] if isinstance(group, (tuple, list)) else [str(group)]
    if label not in names:
        raise InputError(f"group={group!r} is not in the model; its groups are such as {example!r}.")
    return names.index(label)


def of_long(groups, long):
    """Groups, and the columns of a long table: the first of four names is a column of groups. A frame with groups is wide
    unless `long` names columns."""
    if isinstance(long, (tuple, list)) and len(long) == 4:
        if groups is not None:
            raise InputError(
                f"long={tuple(long)!r} begins with a column of groups, and groups={groups!r} names others; leave one out."
            )
        return long[0], tuple(long[1:])
    return groups, (False if groups is not None and long is None else long)


def read(X, Y, groups, long, drop_empty, inputs=None):
    """A table as :func:`_frames.read_pair` reads it, and its groups: their columns, all names, and the number of each row."""
    groups, long = of_long(groups, long)
    if groups is None:
        return *_frames.read_pair(X, Y, long, drop_empty, inputs), None
    labels, columns, table = split(X, groups)
    why = None
    if Y is None and not long:
        table, why = with_input_first(table, labels)
    points, values, names, notes = _frames.read_pair(table, Y, long, drop_empty, inputs, labels)
    grouped = (columns, *numbered(points.labels))
    if why is not None:
        notes["why"] = why
    if Y is None and not long:
        kept, left_out = without_properties(values, names, grouped[2])
        if left_out:
            values, names = np.ascontiguousarray(values[:, kept]), [names[at] for at in kept]
            notes["of_group"] = left_out
    return points, values, names, notes, grouped


def _columns(table, groups):
    """The names of columns of groups; None if `groups` has one entry per row."""
    names = [groups] if isinstance(groups, str) else groups
    own = names_of(table)
    is_named = isinstance(names, (list, tuple)) and all(
        isinstance(name, str) and name in own for name in names
    )
    if is_named and len(names) > 0:
        return list(names)
    if isinstance(groups, str):
        raise InputError(f"groups={groups!r} is not a column of the table; its columns are {own}.")
    return None


def _text(label):
    """The name of a group as text; a missing name is refused."""
    if label is None or label != label:
        raise InputError("the name of a group is missing; fill it in or remove the row.")
    return str(label)
