"""Findings have a code of the table, a sentence, a remedy, a severity."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from truerisk.core.errors import UnknownName
from truerisk.results.finding import CODES, Finding, by_severity

ROOT = Path(__file__).parents[2]


def test_a_finding_prints_what_is_wrong_and_what_to_do():
    """Severity first, the code last."""
    found = Finding("flat-curve", "It is flat.", "Take the simplest.")
    assert str(found) == "note: It is flat. Take the simplest. [flat-curve]"


def test_an_unknown_code_is_refused():
    """A finding without a line in the table cannot be made."""
    with pytest.raises(UnknownName, match="code of no finding"):
        Finding("no-such-code", "x", "y")


def test_the_most_serious_come_first():
    """Serious, warning, note; equal ones keep their order."""
    codes = ["flat-curve", "edge-of-grid", "claim-refuted", "many-candidates"]
    found = by_severity([Finding(code, "x", "y") for code in codes])
    assert [f.code for f in found] == [
        "claim-refuted",
        "edge-of-grid",
        "many-candidates",
        "flat-curve",
    ]


@pytest.mark.parametrize("code", CODES)
def test_every_code_stands_on_the_page(code):
    """docs/audit.md names every code and its severity."""
    page = (ROOT / "docs" / "audit.md").read_text("utf-8")
    assert re.search(rf"^\| `{code}` \| {CODES[code][0]} \|", page, re.MULTILINE)


def shown(code: str) -> tuple[bool, bool]:
    """Whether some test asserts that a code is found, and some that it is not."""
    text = "\n".join(p.read_text("utf-8") for p in (ROOT / "tests").rglob("test_*.py"))
    return f'"{code}" in' in text, f'"{code}" not in' in text


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_triggered_and_left_alone(code):
    """Each finding has a test that triggers it and one that does not."""
    assert shown(code) == (True, True)


def test_an_untested_code_is_seen():
    """The check of the tests would miss nothing: a made-up code has no test."""
    assert shown("made" + "-up") == (False, False)


def test_every_code_is_used():
    """No line of the table is dead: some check makes the finding."""
    folder = ROOT / "src" / "truerisk"
    made = {
        node.args[0].value
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "Finding"
        and isinstance(node.args[0], ast.Constant)
    }
    assert made == set(CODES)
