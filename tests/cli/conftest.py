"""The command line called inside this process, and files for it to read."""

import io
import json
import random
import re
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from math import inf

import pytest

from truerisk.cli.app import _map_arguments_to_options, run

QUICK = ("--cv", "2-fold", "--outer", "3-fold")
TRUERISK = ("-m", "truerisk")


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def content(self):
        """The one JSON document on stdout."""
        return json.loads(self.out)

    @property
    def sentences(self):
        """The lines on stderr besides notes."""
        return [line for line in self.err.splitlines() if not line.startswith("note: ")]


def check_names_options(words, err):
    """Raise an AssertionError if an error mentions an argument that the command has an option for.

    The words of the command may look so, the arguments of a call in Python too, and a dict has no
    option.
    """
    errors = "\n".join(line for line in err.splitlines() if line.startswith("truerisk: "))
    outside_calls = re.sub(r"\w\([^)]*\)", "", errors.replace("max_bytes= of from_json()", ""))
    for name, option in _map_arguments_to_options(words).items():
        for found in re.findall(rf"(?<![\w.-]){name}=(?!\{{)\S*", outside_calls):
            given = any(found.strip("'") in word for word in words)
            assert given, f"{found} is {option} here: {errors}"


def called(*words, quiet=inf):
    """Run a command line, without progress however slow the machine is."""
    given = [str(word) for word in words]
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr("truerisk.core.progress_line.SECONDS_BEFORE_FIRST_LINE", quiet)
        with pytest.raises(SystemExit) as left:
            run(given)
    assert isinstance(left.value.code, int)
    check_names_options(given, err.getvalue())
    return Said(left.value.code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def call():
    return called


def timeless(document):
    """Return a document without its clock readings."""
    if isinstance(document, dict):
        return {name: timeless(v) for name, v in document.items() if "seconds" not in name}
    return [timeless(v) for v in document] if isinstance(document, list) else document


def write_csv(path, header, rows):
    """Write rows of cells, and return the path."""
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def with_columns(path, source, **columns):
    """Write the table of `source` to `path` with further columns, each by a function of the row."""
    header, *lines = source.read_text("utf-8").splitlines()
    rows = [[line, *(cell(i) for cell in columns.values())] for i, line in enumerate(lines)]
    return write_csv(path, ",".join([header, *columns]), rows)


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """30 rows, two numbers of which the first tells the two classes apart."""
    draw = random.Random(4)
    rows = [(f"{i % 2 * 3 + draw.random():.3f}", f"{draw.random():.3f}") for i in range(30)]
    cells = [(*row, "uv"[i % 2]) for i, row in enumerate(rows)]
    return write_csv(tmp_path_factory.mktemp("table") / "table.csv", "a,b,y", cells)


@pytest.fixture(scope="session")
def numbers(tmp_path_factory):
    """30 rows with a target that is a line in the first number, with a little noise."""
    draw = random.Random(5)
    rows = [(draw.random(), draw.random(), draw.gauss(0, 0.1)) for _ in range(30)]
    cells = [(f"{a:.3f}", f"{b:.3f}", f"{2 * a + e:.3f}") for a, b, e in rows]
    return write_csv(tmp_path_factory.mktemp("numbers") / "numbers.csv", "a,b,y", cells)
