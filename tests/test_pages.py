"""The commands on the pages print what the pages say; code on pages is run by `make doctest`."""

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from truerisk.experiments import registry

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SVG = "{http://www.w3.org/2000/svg}"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("documents/*.md"))]
README = PAGES[0].read_text("utf-8")
FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (truerisk .*?)(?:  # exit (\d+))?$")
LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
WRITES = re.compile(r"^(.*?) > (\S+)$")
RULE = re.compile(r"^-{3,}$", re.MULTILINE)


def alike(written: str, printed: str) -> bool:
    """Dots stand for anything; spacing, and the length of the line under a head, are free."""
    written, printed = (RULE.sub("---", text) for text in (written, printed))
    return doctest.OutputChecker().check_output(written, printed, LIKE)


def commands(page: str) -> list[tuple[tuple[str, ...], int, str]]:
    """Every `$ truerisk` line of a page's console blocks that shows what it prints.

    It comes last, after the lines of its block that write a file (`$ truerisk … > file`).
    """
    found: list[tuple[tuple[str, ...], int, str]] = []
    for block in FENCE.findall(page):
        command, code, output, before = None, 0, "", ()
        for line in [*block.splitlines(), "$ "]:
            if line.startswith("$ "):
                if command and output.strip():
                    found.append(((*before, command), code, output))
                elif command and WRITES.match(command):
                    before = (*before, command)
                match = COMMAND.match(line)
                command, code, output = (
                    (match[1], int(match[2] or 0), "") if match else (None, 0, "")
                )
            else:
                output += line + "\n"
    return found


SHOWN = [
    pytest.param(*shown, id=f"{path.name}: {shown[0][-1]}")
    for path in PAGES
    for shown in commands(path.read_text("utf-8"))
]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command in that folder; what it writes to a file is there afterwards."""
    writes = WRITES.match(command)
    done = subprocess.run(
        [sys.executable, "-m", "truerisk.cli", *shlex.split(writes[1] if writes else command)[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    if writes:
        (folder / writes[2]).write_text(done.stdout, "utf-8")
    return done


@pytest.mark.parametrize(("lines", "code", "output"), SHOWN)
def test_command_prints_what_the_page_says(lines, code, output, tmp_path):
    """Standard output, or the sentence on standard error where the page names an exit code."""
    for path in DOCS.glob("*.*"):
        if path.suffix in (".csv", ".py"):
            shutil.copy(path, tmp_path)
    *_, done = [run(line, tmp_path) for line in lines]
    printed = done.stderr if code else done.stdout
    assert done.returncode == code, done.stderr
    assert alike(output, printed), printed


def test_commands_are_read_from_a_page(tmp_path):
    """Output belongs to the command above it; commands without output and other text are left.

    A file that a command writes is there for the next.
    """
    assert {"README.md", "command-line.md"} <= {one.id.partition(":")[0] for one in SHOWN}
    page = (
        "```console\n$ truerisk a\nx\n$ make b\ny\n$ truerisk c  # exit 3\nz\n$ truerisk d\n```\n"
    )
    assert commands(page) == [(("truerisk a",), 0, "x\n"), (("truerisk c",), 3, "z\n")]
    page = "```console\n$ truerisk a > b\n$ truerisk c b\nx\n```\n"
    assert commands(page) == [(("truerisk a > b", "truerisk c b"), 0, "x\n")]
    run("truerisk posterior --errors 6 --rows 60 --json > told.json", tmp_path)
    assert json.loads((tmp_path / "told.json").read_text("utf-8"))["errors"] == 6


@pytest.mark.parametrize(
    ("written", "printed", "same"),
    [
        ("a\n----\n1 ... s\n", "a\n-----\n1  0.3 s\n", True),
        ("a 1 ... s\n", "a 2 0.3 s\n", False),
    ],
)
def test_alike_sees_a_wrong_output(written, printed, same):
    """Dots stand for anything and spacing is free; a wrong number is not."""
    assert alike(written, printed) is same


def test_readme_errors_are_those_of_the_gallery():
    """The README says in a number what its example draws of as many further patients."""
    told = re.search(r"On 10,000 \[further patients\]\((\S+)\)[^.]* errs on (\d+) %", README)
    assert told is not None
    code, names = (ROOT / told[1]).read_text("utf-8").partition("\nax = ")[0], {}
    exec(compile(code, told[1], "exec"), names)
    assert f"{100 * names['truth']:.0f}" == told[2]


PAGES = DOCS / "documents" / "pages"
STORED = sorted(path.stem for path in PAGES.glob("*.html"))
PICTURES = sorted((DOCS / "documents" / "pictures").glob("*.html"))


def headings(page: str) -> set[str]:
    """The second headings of a page."""
    return {line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")}


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_picture_stored_is_of_an_experiment_that_a_page_describes(path):
    """The heading of its section is its word; drawings are whole, with names of their own."""
    pages = [page.read_text("utf-8") for page in (DOCS / "documents").glob("*.md")]
    assert sum(path.stem in headings(page) for page in pages) == 1
    assert path.stem in registry.names()
    picture = ET.fromstring(path.read_text("utf-8"))
    drawings = [one for one in picture.iter(f"{SVG}svg") if one.get("class") == "drawing"]
    assert len({one.get("aria-labelledby") for one in drawings}) == len(drawings) > 0
    words = {each.stem for each in PICTURES}
    assert min(len(words & headings(page)) for page in pages) >= 2


@pytest.mark.parametrize("word", STORED)
def test_page_stored_is_of_an_experiment_and_has_a_slider(word):
    """A page describes it; it is one file that loads nothing, made of all replicates, seed 0."""
    pages = [page.read_text("utf-8") for page in (DOCS / "documents").glob("*.md")]
    assert sum(word in headings(page) for page in pages) == 1
    stored = (PAGES / f"{word}.html").read_text("utf-8")
    experiment = registry.load(word)
    facts = f"truerisk reproduce {word}", f"{experiment.replicates} {experiment.unit}", "seed 0"
    assert all(f"<span><bdi>{fact}</bdi></span>" in stored for fact in facts)
    assert stored.count('<input type="range"') == stored.count('<div class="steps">') > 0
    assert not re.search(r'(src|href)="(?!#)', stored)
    blocks = re.findall(r"<(?:style|script)\b([^>]*)>([^<]*)</", stored)  # which the build fills
    assert [re.findall('id="(.*)"', about) for about, _ in blocks] == [["marks"], ["looks"], []]
    assert not any(inside for _, inside in blocks)
