"""Seeds from scikit-learn's random states."""

import numpy as np

from .errors import InputError


def seed_of(random_state):
    """A nonnegative integer seed."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63 - 1))
    if hasattr(random_state, "randint"):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    raise InputError(
        f"random_state={random_state!r} is not a seed; give a nonnegative integer, a generator or None."
    )
