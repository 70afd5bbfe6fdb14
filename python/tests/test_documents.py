"""Documentation is true: examples run, stubs match the extension, the README runs."""

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import catena
from catena import _catena

ROOT = Path(__file__).parents[2]
MODULES = [
    "catena",
    "catena._gp",
    "catena._live",
    "catena._load",
    "catena._stream",
    "catena._sweep",
    "catena.metrics",
    "catena.structures",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted > 0 and results.failed == 0


def test_everything_public_says_what_it_is():
    for name in catena.__all__:
        thing = getattr(catena, name)
        assert name == "__version__" or inspect.getdoc(thing), name
    for owner in (catena.MultiOutputGP, catena.LiveGP):
        for name, method in inspect.getmembers(owner, callable):
            assert name.startswith("_") or inspect.getdoc(method), name


def test_the_reference_has_every_public_name():
    page = (ROOT / "docs" / "reference.md").read_text()
    named = set(re.findall(r"`(?:catena\.)?(\w+)`", page))
    owners = [catena.MultiOutputGP, catena.LiveGP, catena.Imputer]
    public = {name for owner in owners for name, _ in inspect.getmembers(owner, callable)}
    public |= {
        name for name in vars(catena.MultiOutputGP) if isinstance(vars(catena.MultiOutputGP)[name], property)
    }
    missing = {name for name in public | set(catena.__all__) if not name.startswith("_")} - named
    assert not missing, sorted(missing)


def _declared(body, owner):
    """Names in a stub with the parameters of functions, and the same of the module or class itself."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _declared(node.body, getattr(owner, node.name))
        elif isinstance(node, ast.FunctionDef):
            is_value = any(getattr(mark, "id", "") == "property" for mark in node.decorator_list)
            names = [argument.arg for argument in node.args.args if argument.arg != "self"]
            yield owner, node.name, None if is_value else names


CLASSES = {"KnownModel", "Live", "Model", "Outline", "Segment", "Structure"}


def test_stubs_name_what_is_there():
    stub = ast.parse((Path(catena.__file__).parent / "_catena.pyi").read_text())
    declared = list(_declared(stub.body, _catena))
    for owner, name, names in declared:
        assert hasattr(owner, name), name
        if names is not None and not name.startswith("__"):
            found = [
                parameter
                for parameter in inspect.signature(getattr(owner, name)).parameters
                if parameter != "self"
            ]
            assert found == names, name
    for owner in (_catena, *(getattr(_catena, name) for name in sorted(CLASSES))):
        known = {name for other, name, _ in declared if other is owner} | CLASSES
        assert {name for name in vars(owner) if not name.startswith("_")} <= known


def readme_lines():
    """The Python lines of the README."""
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)


def test_the_readme(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", readme_lines()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(readme_lines().strip().splitlines()) <= 12
    assert readme_lines() in (ROOT / "python" / "README.md").read_text()


def test_other_lines_of_the_packages_readme(tmp_path):
    """The blocks after the first continue one program; their data are made up here."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "python" / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 2
    sensor = "def sensor():\n    yield 200.0, {'y0': 0.9}\n    yield 201.0, {'y0': 0.8, 'y1': 1.4}\n"
    done = subprocess.run(
        [sys.executable, "-c", blocks[0] + sensor + blocks[1]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_versions_are_one():
    assert f'version = "{catena.__version__}"' in (ROOT / "Cargo.toml").read_text()
