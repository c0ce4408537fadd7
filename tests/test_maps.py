"""Maps that cannot lie: every file stands in its room's map, every file that is quoted exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "truerisk"
ROOMS = sorted(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)
FILE = re.compile(r"`((?:[\w.]+/)*\w+\.(?:py|pyi|hpp|cpp|html|css|js))`")
NAMED = re.compile(r"(?<![\w/])((?:\w+/)*\w+\.(?:py|pyi|hpp|cpp|html|css|js))\b")
FOLDER = re.compile(r"(?<![\w/])(\w+)/(?![\w])")
ELSEWHERE = {"search.py", "docs/_build/html/index.html"}  # written by a user, by a build


def what_is_in(room: Path) -> set[str]:
    """The files and rooms that a map has to name."""
    files = {path.name for path in room.glob("*.py")} - {"__init__.py", "__main__.py"}
    return files | {f"{path.parent.name}/" for path in room.glob("*/__init__.py")}


def map_of(room: Path) -> tuple[set[str], set[str]]:
    """What the docstring of a room names, and what its registry leads to."""
    text = (room / "__init__.py").read_text("utf-8")
    doc = ast.get_docstring(ast.parse(text)) or ""
    own = {name.rpartition("/")[2] for name in NAMED.findall(doc) if "/" not in name}
    folders = {f"{name}/" for name in FOLDER.findall(doc)}
    lines = {f"{name}.py" for name in re.findall(rf"\.{room.name}\.(\w+):", text)}
    return own | folders, lines


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE)))
def test_every_file_stands_in_its_rooms_map(room):
    """A map names all files and rooms of its room, and nothing that is not there."""
    named, registered = map_of(room)
    there = what_is_in(room)
    assert not there - named - registered, "not in the map"
    others = {path.name for path in room.iterdir()}
    assert not {name for name in named if not name.endswith("/")} - others, "not in the room"
    assert not {name for name in named if name.endswith("/")} - there, "no such room"


def test_a_file_without_a_place_is_seen(tmp_path):
    """A file or a folder that no map names is found, and so is a name without a file."""
    room = tmp_path / "room"
    (room / "attic").mkdir(parents=True)
    (room / "attic" / "__init__.py").touch()
    (room / "lost.py").touch()
    (room / "__init__.py").write_text('"""`gone.py`, `cellar/`: what was."""\n')
    named, registered = map_of(room)
    assert what_is_in(room) - named - registered == {"lost.py", "attic/"}
    assert named == {"gone.py", "cellar/"}


def all_files() -> set[str]:
    """Every file of the sources, tests, benchmarks and docs, and all tails of its path."""
    tails = set()
    for folder in ("src", "tests", "benchmarks", "docs", "examples"):
        for path in (ROOT / folder).rglob("*"):
            parts = path.relative_to(ROOT).parts
            tails |= {"/".join(parts[start:]) for start in range(len(parts))}
    return tails


def quoted(text: str) -> set[str]:
    """Files that a text names in code quotes."""
    return set(FILE.findall(text))


def texts() -> dict[str, str]:
    """Pages (decisions tell history) and sources, by place."""
    docs = ROOT / "docs"
    pages = [*ROOT.glob("*.md"), *docs.glob("*.md"), *docs.glob("api/*"), *docs.glob("documents/*")]
    sources = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.?pp")]
    return {
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for path in [*pages, *sources]
        if path.is_file() and path.name != "CHANGELOG.md"
    }


def test_every_file_that_is_quoted_exists():
    """A file name in code quotes, on a page or in a comment, is that of a file."""
    there = all_files() | ELSEWHERE
    lost = {place: quoted(text) - there for place, text in texts().items()}
    assert not {place: names for place, names in lost.items() if names}


def test_a_quoted_file_that_is_gone_is_seen():
    """Names in code quotes are read with their folders; plain words are not files."""
    assert quoted("see `engines/gone.py`, `plan.py` and `est.value`, not gone.py") == {
        "engines/gone.py",
        "plan.py",
    }
