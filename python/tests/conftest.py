"""Shared fixtures."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(scope="session")
def program():
    """The command-line program; `cargo xtask test` builds it and sets CATENA_PROGRAM."""
    path = os.environ.get("CATENA_PROGRAM")
    assert path and Path(path).exists(), (
        "build it with `cargo build -p catena-gp` and set CATENA_PROGRAM to its path"
    )
    return path
