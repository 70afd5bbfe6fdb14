"""Groups of rows: independent tables with one model."""

import numpy as np

from .errors import InputError


def split(table, groups):
    """The names of each row's group, the columns they come from, and the table without these columns."""
    columns = _columns(table, groups)
    if columns is None:
        labels = [(_text(label),) for label in np.asarray(groups, dtype=object).ravel()]
        return labels, ["group"], table
    cells = [[_text(cell) for cell in table[name]] for name in columns]
    without = table.drop(columns=columns) if hasattr(table, "iloc") else table.drop(columns)
    return list(zip(*cells, strict=True)), columns, without


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


def check_rows(labels, n_rows):
    """Refuses another number of groups than rows."""
    if len(labels) != n_rows:
        raise InputError(f"groups has {len(labels)} entries, but there are {n_rows} rows; give one per row.")


def _columns(table, groups):
    """The names of columns of groups; None if `groups` has one entry per row."""
    names = [groups] if isinstance(groups, str) else groups
    own = list(getattr(table, "columns", ()))
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
