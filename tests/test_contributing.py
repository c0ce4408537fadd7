"""CONTRIBUTING.md adds a method to a copy of the package, and everything it says holds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SOURCE, LINE, USE, TEST, SECTION = (code for _, code in FENCE.findall(PAGE))
# The editable install stands before every path, in worker processes too: the copy is without it.
CUSTOMIZE = """
import sys
sys.meta_path[:] = [f for f in sys.meta_path if "truerisk" not in type(f).__module__]
"""
LAST_LINE = re.compile(r'^        "nested": Line\(', re.MULTILINE)


def place_of(code: str) -> str:
    """The path in the first line of a block."""
    return code.partition("\n")[0].removeprefix("# ")


def body_of(code: str) -> str:
    """A block without its first line."""
    return code.partition("\n")[2]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of what the page changes, changed as the page says."""
    root = tmp_path_factory.mktemp("clone")
    ignore = shutil.ignore_patterns("__pycache__", "_build", "auto_examples", "generated", "*.so")
    for name in ("src", "docs"):
        shutil.copytree(ROOT / name, root / name, ignore=ignore)
    (root / "src" / "sitecustomize.py").write_text(CUSTOMIZE, "utf-8")
    (root / "tests" / "methods").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "test_architecture.py", root / "tests")
    shutil.copy(ROOT / "pyproject.toml", root)
    for code in (SOURCE, TEST):
        (root / place_of(code)).write_text(body_of(code), "utf-8")
    words = root / "src" / "truerisk" / "methods" / "words.py"
    line = "        " + body_of(LINE)
    text, n = LAST_LINE.subn(lambda found: line + found.group(), words.read_text("utf-8"))
    assert n == 1
    words.write_text(text, "utf-8")
    with (root / "docs" / "methods.md").open("a", encoding="utf-8") as page:
        page.write("\n" + SECTION)
    return root


def python(clone, *arguments):
    """Python in the copy."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COV"))}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=clone,
        env={**kept, "PYTHONPATH": str(clone / "src"), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_says_where_its_blocks_go():
    """A source file, a line, its use, a test file and a section, in this order."""
    assert place_of(SOURCE) == "src/truerisk/methods/odd_even.py"
    assert place_of(TEST) == "tests/methods/test_odd_even.py"
    assert [language for language, _ in FENCE.findall(PAGE)] == ["python"] * 4 + ["markdown"]


def test_the_word_can_be_used(clone):
    """What a user writes after the line is there prints an estimate with an interval."""
    printed = python(clone, "-c", "import truerisk; print(truerisk.__file__)\n" + USE)
    where, said = printed.splitlines()
    assert Path(where).is_relative_to(clone)
    assert re.fullmatch(
        r"risk 0\.\d{4} \(zero-one, odd-even\), 95 % interval \[.*\] \(wald\)", said
    )


def test_the_tests_of_the_page_pass(clone):
    """The test file of the page, the conformance kit among it, and the rules of the registry."""
    only = "odd_even or (odd-even and registry_line)"
    printed = python(clone, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", only, "tests")
    assert int(re.search(r"(\d+) passed", printed)[1]) > 15
    assert "skipped" not in printed


def test_the_blocks_are_in_the_house_format(clone):
    """Ruff would change nothing and finds nothing (without ruff: the oldest versions, skipped)."""
    pytest.importorskip("ruff")
    files = [place_of(SOURCE), place_of(TEST)]
    python(clone, "-m", "ruff", "format", "--check", "--no-cache", *files)
    python(clone, "-m", "ruff", "check", "--no-cache", *files)


def test_the_section_is_needed(clone):
    """Without the section of the page, the rules of the registry refuse the word."""
    page = clone / "docs" / "methods.md"
    text = page.read_text("utf-8")
    page.write_text(text.replace("`odd-even`", "odd-even"), "utf-8")
    try:
        with pytest.raises(AssertionError, match="no page under docs names it as `odd-even`"):
            python(clone, "-m", "pytest", "-q", "-k", "odd-even and registry_line", "tests")
    finally:
        page.write_text(text, "utf-8")
