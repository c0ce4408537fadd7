"""What Binder installs is what the project says it needs."""

import os
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
BINDER = ROOT / "binder"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LISTED = re.compile(r"^  - ([\w-]+)(.*)$", re.MULTILINE)


def bounds(needs):
    """`numpy>=1.23.5` by its name."""
    return {re.split("[>=]", need)[0]: need.partition(">=")[2] for need in needs}


def test_binder_has_the_bounds_of_the_project():
    """Those of the package, of drawing, and of the tools that the examples and notebooks take."""
    project = PROJECT["project"]
    needs = project["dependencies"] + project["optional-dependencies"]["plot"]
    tools = [need for group in ("test", "docs") for need in PROJECT["dependency-groups"][group]]
    declared = bounds(tools) | bounds(needs)
    listed = dict(LISTED.findall((BINDER / "environment.yml").read_text("utf-8")))
    assert bounds(needs).keys() <= listed.keys()
    bounded = {name: text for name, text in listed.items() if text.startswith(">=")}
    assert bounded == {name: f">={declared[name]}" for name in bounded}
    python = f"Programming Language :: Python :: {listed['python'].removeprefix('=')}"
    assert python in project["classifiers"]


def test_binder_runs_examples_that_exist_and_need_nothing_else():
    script = BINDER / "postBuild"
    assert os.access(script, os.X_OK) or os.name == "nt"
    assert "examples/plot_*.py" in script.read_text("utf-8")
    examples = list((ROOT / "examples").glob("plot_*.py"))
    listed = dict(LISTED.findall((BINDER / "environment.yml").read_text("utf-8")))
    text = "\n".join(path.read_text("utf-8") for path in examples)
    found = set(re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE))
    known = {name.replace("scikit-learn", "sklearn") for name in listed} | {"truerisk", "tempfile"}
    assert found - known == set()
