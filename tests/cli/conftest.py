"""The command line called inside this process, and files for it to read."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import pytest

from truerisk.cli.app import _options_of, run

QUICK = ("--cv", "2-fold", "--outer", "3-fold")


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def content(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    @property
    def sentences(self) -> list[str]:
        """The lines on stderr besides notes."""
        return [line for line in self.err.splitlines() if not line.startswith("note: ")]


def check_names_options(words: list[str], err: str) -> None:
    """Raise an AssertionError if an error mentions an argument that the command has an option for.

    The words of the command may look so, the arguments of a call in Python too, and a dict has no
    option.
    """
    errors = "\n".join(line for line in err.splitlines() if line.startswith("truerisk: "))
    outside_calls = re.sub(r"\w\([^)]*\)", "", errors.replace("max_bytes= of from_json()", ""))
    for name, option in _options_of(words).items():
        for found in re.findall(rf"(?<![\w.-]){name}=(?!\{{)\S*", outside_calls):
            given = any(found.strip("'") in word for word in words)
            assert given, f"{found} is {option} here: {errors}"


@pytest.fixture
def call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Said]:
    """Run a command line in this process, without progress however slow the machine is."""
    monkeypatch.setattr("truerisk.core.progress_line.QUIET", inf)

    def called(*words: object) -> Said:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            run([str(word) for word in words])
        said = capsys.readouterr()
        assert isinstance(left.value.code, int)
        check_names_options([str(word) for word in words], said.err)
        return Said(left.value.code, said.out, said.err)

    return called


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """30 rows, two numbers of which the first tells the two classes apart."""
    draw = random.Random(4)
    rows = [(f"{i % 2 * 3 + draw.random():.3f}", f"{draw.random():.3f}") for i in range(30)]
    lines = [f"{a},{b},{'uv'[i % 2]}" for i, (a, b) in enumerate(rows)]
    path = tmp_path / "table.csv"
    path.write_text("a,b,y\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    """30 rows with a target that is a line in the first number, with a little noise."""
    draw = random.Random(5)
    rows = [(draw.random(), draw.random(), draw.gauss(0, 0.1)) for _ in range(30)]
    lines = [f"{a:.3f},{b:.3f},{2 * a + e:.3f}" for a, b, e in rows]
    path = tmp_path / "numbers.csv"
    path.write_text("a,b,y\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture
def quick() -> tuple[str, ...]:
    """Options that keep the number of fits small."""
    return QUICK
