"""The book runs: every chapter is one session in its own folder, and its output is the output shown.

- ``python`` blocks share the names of their chapter. A ``text`` block directly after one is its output. With ``needs=NAME`` a
  block is always compiled, and run if that library is installed; a ``sketch`` is only compiled (clusters).
- ``console`` blocks have commands after ``$``, and their output below them.
- The folder has ``crates/``, like the repository, with the table of the demonstration.
  ``rust`` blocks are compiled and run by ``cargo test --doc``; ``sh`` blocks are
  not run.

Words and counts must be the same. Numbers with a point or a unit may differ by one in the last place or by one in a hundred,
since the end of an optimization depends on rounding. ``...`` matches anything in a line, and alone any lines.
"""

import contextlib
import importlib.util
import io
import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import matplotlib
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"((?<![\w.])[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)")


class Block(NamedTuple):
    """A block of code: its first line, language, marks of its fence, and code."""

    line: int
    language: str
    marks: list
    code: str
    follows_at_once: bool


def blocks_of(text):
    """The blocks of a page in order."""
    found, end = [], 0
    for match in FENCE.finditer(text):
        language, *marks = match.group(1).strip().split(",")
        line = text.count("\n", 0, match.start(2)) + 1
        between = text[end : match.start()]
        found.append(Block(line, language, marks, match.group(2), not between.strip()))
        end = match.end()
    return found


def difference(shown, printed):
    """The first line that differs from the one shown, or None."""
    pattern = [line.rstrip() for line in shown.strip("\n").splitlines()]
    actual = [line.rstrip() for line in printed.strip("\n").splitlines()]
    at = 0
    is_open = False  # whether any lines may stand here
    for wanted in pattern:
        if wanted.strip() == "...":
            is_open = True
            continue
        while is_open and at < len(actual) and not _is_same(wanted, actual[at]):
            at += 1
        if at == len(actual) or not _is_same(wanted, actual[at]):
            found = actual[at] if at < len(actual) else "(nothing more)"
            return f"shown:   {wanted}\nprinted: {found}\n\nall of it:\n{printed}"
        at, is_open = at + 1, False
    if at < len(actual) and not is_open:
        return f"printed, but not shown: {actual[at]}\n\nall of it:\n{printed}"
    return None


def _is_same(wanted, actual):
    pieces = NUMBER.split(wanted)
    words = [re.sub(r"\s+", r" ", piece) for piece in pieces[0::2]]
    number = r"[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
    expression = ""
    for at, word in enumerate(words):
        expression += re.escape(word).replace(r"\.\.\.", ".*?").replace(r"\ ", r"\s+")
        expression += f"({number})" if at < len(words) - 1 else ""
    found = re.fullmatch(r"\s*" + expression.removeprefix(r"\s+") + r"\s*", actual)
    # 12.5 and 189d were measured, 189 was counted.
    measured = [
        "." in shown or word[:1].isalpha() for shown, word in zip(pieces[1::2], words[1:], strict=True)
    ]
    return found is not None and all(map(_is_near, pieces[1::2], found.groups(), measured))


def _is_near(wanted, actual, is_measured):
    if not is_measured:
        return wanted == actual
    expected, value = (float(text.replace("−", "-")) for text in (wanted, actual))
    digits, _, exponent = wanted.partition("e")
    last = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
    return abs(expected - value) <= max(1.001 * last, 0.01 * abs(expected))


class Session:
    """One chapter, from its first block to its last."""

    def __init__(self, page, folder, program):
        self.page = page
        self.names = {"__name__": "__main__"}
        self.folder = folder
        tools = folder.parent / "tools"
        tools.mkdir(exist_ok=True)
        if not (tools / "catena").exists():
            (tools / "catena").symlink_to(Path(program).resolve())
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "COLUMNS": "110"}
        (folder / "crates").symlink_to(ROOT / "crates")

    def run(self, blocks):
        """Runs all blocks."""
        for at, block in enumerate(blocks):
            if block.language == "python":
                following = blocks[at + 1] if at + 1 < len(blocks) else None
                is_shown = (
                    following is not None and following.language == "text" and following.follows_at_once
                )
                self.python(block, following if is_shown else None)
            elif block.language == "console":
                self.console(block)

    def python(self, block, shown):
        """Runs Python and compares its output if it is shown."""
        # Tracebacks then name the line of the page.
        code = compile("\n" * (block.line - 1) + block.code, str(self.page), "exec")
        if "sketch" in block.marks:
            return
        needed = [mark.removeprefix("needs=") for mark in block.marks if mark.startswith("needs=")]
        if any(importlib.util.find_spec(name) is None for name in needed):
            return
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, self.names)
        if shown is not None:
            wrong = difference(shown.code, printed.getvalue())
            assert wrong is None, f"{self.page}:{shown.line}\n{wrong}"

    def console(self, block):
        """Runs commands and compares their output."""
        commands = re.split(r"^\$ ", block.code, flags=re.MULTILINE)
        assert commands[0] == "" and len(commands) > 1, f"{self.page}:{block.line}: begin with `$ `"
        for command in commands[1:]:
            line, shown = _first_line(command)
            done = subprocess.run(
                ["sh", "-c", line],
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            place = f"{self.page}:{block.line}: {line}"
            # Errors are shown too, as the message of the program.
            is_refusal = shown.startswith("catena: ")
            assert (done.returncode != 0) == is_refusal, f"{place}\n{done.stdout}"
            wrong = difference(shown, done.stdout)
            assert wrong is None, f"{place}\n{wrong}"


def _first_line(command):
    """Commands, which may continue after a backslash, with the output shown below them."""
    lines = command.splitlines()
    length = 1
    while lines[length - 1].endswith("\\"):
        length += 1
    return "\n".join(lines[:length]), "\n".join(lines[length:])


PAGES = [page for page in sorted(DOCS.rglob("*.md")) if (DOCS / "book") not in page.parents]
RUNNING = [
    page
    for page in PAGES
    if {"python", "console"} & {block.language for block in blocks_of(page.read_text())}
]


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")
@pytest.mark.parametrize("page", RUNNING, ids=lambda page: page.stem)
def test_chapter(page, tmp_path, program, monkeypatch):
    folder = tmp_path / "session"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Session(page, folder, program).run(blocks_of(page.read_text()))
    plt.close("all")


def test_the_book_has_something_to_run():
    assert len(RUNNING) >= 6


@pytest.mark.parametrize(
    ("shown", "printed", "is_same"),
    [
        ("a 1.00 b", "a  1.01 b", True),
        ("a 1.00 b", "a 1.02 b", False),
        ("4 rows", "5 rows", False),
        ("1467 rows", "1468 rows", False),
        ("189d", "190d", True),
        ("189d", "192d", False),
        ("200.0 s", "201.9 s", True),
        ("200.0 s", "203.0 s", False),
        ("took ... s", "took 17.2 s", True),
        ("first\n...\nlast", "first\nx\ny\nlast", True),
        ("first\n...\nlast", "first\nx\ny", False),
        ("first", "first\nsecond", False),
        ("first\nsecond", "first", False),
        ("1.2e-05", "1.3e-05", True),
        ("1.2e-05", "1.5e-05", False),
        ("matern32", "matern52", False),
    ],
)
def test_what_is_shown_is_compared(shown, printed, is_same):
    assert (difference(shown, printed) is None) == is_same


@pytest.mark.parametrize(
    "page",
    [
        "```python\n1 / 0\n```\n",
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python,needs=no_such_library\ndef broken(:\n```\n",
        "```console\n$ catena fit no_such_file.csv -o model.catena\n```\n",
        "```console\n$ catena --version\ncatena 9.9.9\n```\n",
    ],
)
def test_a_broken_snippet_is_seen(page, tmp_path, program):
    folder = tmp_path / "session"
    folder.mkdir()
    with pytest.raises((AssertionError, ZeroDivisionError, SyntaxError)):
        Session(Path("page.md"), folder, program).run(blocks_of(page))
