"""ARCHITECTURE walks through the house as the calls do."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

ROOM = Path(tr.__file__).parent
PAGE = Path(__file__).parent.parent / "ARCHITECTURE.md"
STEP = re.compile(r"^\d\. `([\w/]+\.py)` `([\w.]+)`: ", re.MULTILINE)
X = np.random.default_rng(0).normal(size=(80, 3))
Y = np.where(X[:, 0] > 0, "a", "b")


def read(folder: Path) -> None:
    table = folder / "a.csv"
    table.write_text("x,y\n" + "\n".join(f"{x:.3f},{y}" for x, y in zip(X[:, 0], Y, strict=True)))
    tr.datasets.read_table(table, target="y")


def search(folder: Path) -> None:
    tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [3, 5]}).fit(X, Y)


def draw(folder: Path) -> None:
    tr.assess({"logistic": (LogisticRegression(), {"C": [0.1, 1.0]})}, X, Y).to_html()


CALLS = (read, search, search, search, draw)


def walks() -> list[list[tuple[str, str]]]:
    """The files and functions of each walk on the page."""
    told = PAGE.read_text("utf-8").partition("## Five walks\n")[2].partition("\n## ")[0]
    parts = re.split(r"\n\n(?=1\. )", told)[1:]
    return [STEP.findall(part) for part in parts]


def entered(call: Callable[[Path], None], folder: Path) -> list[tuple[str, str]]:
    """The functions of the package that a call enters, by their first time."""
    seen: dict[tuple[str, str], None] = {}

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOM)):
            place = Path(frame.f_code.co_filename).relative_to(ROOM).as_posix()
            seen.setdefault((place, frame.f_code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        call(folder)
    finally:
        sys.setprofile(before)
    return list(seen)


def test_there_are_five_walks_of_five_files_at_most():
    """A newcomer opens no more to explain a default."""
    assert len(walks()) == len(CALLS)
    assert all(3 <= len(walk) <= 5 for walk in walks())


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_call_walks_as_the_page_says(number, tmp_path):
    """Each function is entered, after the one before it."""
    walk, way = walks()[number], entered(CALLS[number], tmp_path)
    assert [step for step in walk if step not in way] == []
    assert walk == sorted(walk, key=way.index)
