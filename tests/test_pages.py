"""The commands on the pages print what the pages say; code on pages is run by `make doctest`."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (truerisk .*?)(?:  # exit (\d+))?$")
LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
RULE = re.compile(r"^-{3,}$", re.MULTILINE)


def alike(written: str, printed: str) -> bool:
    """Dots stand for anything; spacing, and the length of the line under a head, are free."""
    written, printed = (RULE.sub("---", text) for text in (written, printed))
    return doctest.OutputChecker().check_output(written, printed, LIKE)


def commands(page: str) -> list[tuple[str, int, str]]:
    """Every `$ truerisk` line of a page's console blocks that shows what it prints."""
    found: list[tuple[str, int, str]] = []
    for block in FENCE.findall(page):
        command, code, output = None, 0, ""
        for line in [*block.splitlines(), "$ "]:
            if line.startswith("$ "):
                if command and output.strip():
                    found.append((command, code, output))
                match = COMMAND.match(line)
                command, code, output = (
                    (match[1], int(match[2] or 0), "") if match else (None, 0, "")
                )
            else:
                output += line + "\n"
    return found


SHOWN = [
    pytest.param(*shown, id=f"{path.name}: {shown[0]}")
    for path in PAGES
    for shown in commands(path.read_text("utf-8"))
]


@pytest.mark.parametrize(("command", "code", "output"), SHOWN)
def test_a_command_prints_what_the_page_says(command, code, output):
    """Standard output, or the sentence on standard error where the page names an exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "truerisk.cli", *shlex.split(command)[1:]],
        cwd=ROOT / "docs",
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    printed = done.stderr if code else done.stdout
    assert done.returncode == code, done.stderr
    assert alike(output, printed), printed


def test_the_pages_show_commands():
    """The check has something to check, on the README and on the page of the commands."""
    pages = {shown.id.partition(":")[0] for shown in SHOWN}
    assert {"README.md", "command-line.md"} <= pages


def test_commands_are_read_from_a_page():
    """Output belongs to the command above it; commands without output and other text are left."""
    page = (
        "```console\n$ truerisk a\nx\n$ make b\ny\n$ truerisk c  # exit 3\nz\n$ truerisk d\n```\n"
    )
    assert commands(page) == [("truerisk a", 0, "x\n"), ("truerisk c", 3, "z\n")]


@pytest.mark.parametrize(
    ("written", "printed", "same"),
    [
        ("a\n----\n1 ... s\n", "a\n-----\n1  0.3 s\n", True),
        ("a 1 ... s\n", "a 2 0.3 s\n", False),
    ],
)
def test_a_wrong_output_is_seen(written, printed, same):
    """Dots stand for anything and spacing is free; a wrong number is not."""
    assert alike(written, printed) is same
