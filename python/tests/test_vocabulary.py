"""One name for one thing: options in the book, the program and the package, and old names that still work."""

import inspect
import os
import re
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest
from tables import line

import catena
from catena.errors import InputError

GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.md"
GIVEN = {
    "learn": False,
    "kernel": "matern32",
    "mixing": [[1.0], [0.5], [0.2]],
    "length_scales": 2.0,
    "noise": 0.1,
}


def options_of_the_glossary():
    """The words of the command line, and the names in Python."""
    section = GLOSSARY.read_text().split("## One option, three places")[1].split("\n## ")[0]
    rows = [row.split("|")[2:4] for row in section.splitlines() if row.startswith("|")][2:]
    words = {word for cell, _ in rows for word in re.findall(r"--[a-z-]+", cell)}
    return words, [name for _, cell in rows for name in re.findall(r"`([^`]+)`", cell)]


def test_the_glossary_names_every_option_of_the_program():
    program = os.environ.get("CATENA_PROGRAM")
    if program is None:
        pytest.skip("CATENA_PROGRAM is not set")

    def words(*verb):
        shown = subprocess.run([program, *verb, "--help"], capture_output=True, text=True, check=True).stdout
        return shown, set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", shown, re.MULTILINE))

    shown, _ = words()
    verbs = re.findall(r"^  (\w+) {2,}", shown.split("Commands:")[1].split("\n\n")[0], re.MULTILINE)
    assert {"fit", "impute", "structure"} <= set(verbs)
    found = set.union(*(words(verb)[1] for verb in verbs if verb != "help")) - {"--help", "--version"}
    assert options_of_the_glossary()[0] == found


def test_the_glossary_names_every_argument_of_the_estimator():
    _, names = options_of_the_glossary()
    own = inspect.signature(catena.MultiOutputGP).parameters
    assert {name[:-1] for name in names if re.fullmatch(r"\w+=", name)} == set(own)
    for method, argument in (
        re.fullmatch(r"(\w+)\((\w+)=\)", name).groups() for name in names if "(" in name
    ):
        assert argument in inspect.signature(getattr(catena.MultiOutputGP, method)).parameters, method
    for name in (name for name in names if name.endswith("_") or name == "live"):
        assert hasattr(catena.MultiOutputGP, name), name


def test_results_have_types():
    for public in (catena.MultiOutputGP, catena.Imputer, catena.LiveGP, catena.metrics):
        for name, method in inspect.getmembers(public, inspect.isfunction):
            if not name.startswith("_") and method.__module__.startswith("catena."):
                found = inspect.signature(method).return_annotation
                assert isinstance(found, str) and found not in ("Any", ""), (public, name)


def test_old_names_work_with_a_warning():
    X, Y = line()
    gp = catena.MultiOutputGP(**GIVEN).fit(X, Y)
    with pytest.warns(FutureWarning, match="hidden= is now held_out=") as caught:
        page = gp.report(hidden=Y)
    assert caught[0].filename == __file__
    assert str(page) == str(gp.report(held_out=Y))
    with pytest.raises(InputError, match="give held_out only"):
        gp.report(held_out=Y, hidden=Y)
    live = gp.live()
    with pytest.warns(FutureWarning, match="log_marginal_likelihood") as caught:
        evidence = live.log_evidence()
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert live.log_marginal_likelihood() == evidence


def test_the_log_evidence_is_one_number():
    X, Y = line()
    gp = catena.MultiOutputGP(budget="quick", latents=1).fit(X, 100 * Y)
    evidence = gp.log_marginal_likelihood()
    assert gp.summary_["log_evidence"] == pytest.approx(evidence, rel=1e-12)
    assert f"log evidence {evidence:.2f}" in str(gp)
    assert gp.live().log_marginal_likelihood() == pytest.approx(evidence, rel=1e-9)
    assert gp.summary_["standardized_log_evidence"] > evidence
    # As many more rows as before: the density of twice as many values.
    assert gp.update(X, 100 * Y, append=True).summary_["log_evidence"] == pytest.approx(
        gp.log_marginal_likelihood(), rel=1e-12
    )


def test_sizes_of_methods_are_numbers():
    X = np.random.default_rng(0).uniform(size=(60, 2))
    Y = np.sin(3 * X[:, :1])
    model = {"learn": False, "kernel": "matern32", "mixing": [[1.0]], "length_scales": 1.0, "noise": 0.01}
    for text, sizes in {
        "fullscale:8,5": {"n_inducing": 8, "n_neighbors": 5},
        "svgp:8": {"n_inducing": 8},
        "nngp:5": {"n_neighbors": 5},
    }.items():
        whole = catena.MultiOutputGP(method=text, **model).fit(X, Y)
        apart = catena.MultiOutputGP(method=text.split(":")[0], **sizes, **model).fit(X, Y)
        np.testing.assert_array_equal(whole.predict(X + 0.1), apart.predict(X + 0.1))
    for wrong in ({"method": "exact", "n_inducing": 8}, {"method": "fullscale", "n_inducing": 8}):
        with pytest.raises(InputError, match="cannot be combined"):
            catena.MultiOutputGP(**wrong, **model).fit(X, Y)
    with pytest.raises(InputError, match="whole number"):
        catena.MultiOutputGP(method="svgp", n_inducing=0.5, **model).fit(X, Y)


def test_length_scales_of_the_inputs_can_be_asked_for():
    X = np.random.default_rng(1).uniform(size=(80, 2))
    Y = np.sin(6 * X[:, :1])
    fits = [
        catena.MultiOutputGP(ard=ard, latents=1, private=False, method="catena", budget="quick").fit(X, Y)
        for ard in (True, False)
    ]
    ratios = [gp.length_scales_[0, 0] / gp.length_scales_[0, 1] for gp in fits]
    assert ratios[0] < 0.7 * ratios[1]
    with pytest.raises(InputError, match="ard='yes'"):
        catena.MultiOutputGP(ard="yes").fit(X, Y)


def test_an_output_without_values_has_its_prior():
    X, Y = line()
    Y = Y.copy()
    Y[:, 2] = np.nan
    alone = catena.MultiOutputGP(
        **{**GIVEN, "mixing": [[1.0, 0.0], [0.5, 0.0], [0.0, 0.3]], "length_scales": [2.0, 2.0]},
        standardize=False,
    ).fit(X, Y)
    mean, std = alone.predict(return_std=True)
    np.testing.assert_allclose(mean[:, 2], 0.0, atol=1e-12)
    np.testing.assert_allclose(std[:, 2], np.sqrt(0.3**2 + 0.1))
    with pytest.raises(InputError, match="no observed value"):
        catena.MultiOutputGP(budget="quick").fit(X, Y)
