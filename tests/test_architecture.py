"""What ARCHITECTURE.md promises and a machine can hold; every check is shown a broken double."""

import ast
import os
import re
import subprocess
import sys
import sysconfig
import textwrap
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from truerisk.core.registry import Registry

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "truerisk"
SOURCES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
LINT = "from importlinter.cli import lint_imports_command as f; f(['--no-logo', '--no-cache'])"


def name_of(path: Path) -> str:
    """The place of a file, as a reader writes it."""
    return str(path.relative_to(ROOT))


@cache
def text_of(path: Path) -> str:
    """The text of a file, for all that look at every file."""
    return path.read_text("utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    """The parsed file, for all that look at every file."""
    return ast.parse(text_of(path))


@cache
def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree, which one check after the other looks at."""
    return list(ast.walk(tree))


def module_of(path: Path) -> str:
    """The dotted name of a source file."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# ---------------------------------------------------------------- packages


FAULTS = {  # what is written where, and how the contracts name it
    ("core/one.py", "from truerisk.assessment import assess"): (
        "truerisk.core.one -> truerisk.assessment",
    ),
    ("methods/kfold.py", "import truerisk.engines"): (
        "truerisk.methods.kfold -> truerisk.engines",
    ),
    ("kernels/one.py", "def late():\n    from truerisk.methods import kfold"): (
        "truerisk.kernels.one -> truerisk.methods.kfold",
    ),
    ("core/two.py", "from truerisk.core import one"): ("No cycles are allowed in truerisk.core.",),
    ("assessment/assess.py", "from truerisk.engines import choice"): (
        "truerisk.assessment.assess -> truerisk.engines.choice",
    ),
    ("experiments/kearns.py", "from truerisk.methods import kfold\nimport truerisk.core.one"): (
        "truerisk.experiments.kearns -> truerisk.methods.kfold",
        "truerisk.experiments.kearns -> truerisk.core.one",
    ),
}


def test_contracts_of_imports_hold_and_can_fail(tmp_path):
    """Imports up, sideways, late, in a circle or of a guarded module; a package without a row."""
    done = subprocess.run(
        [sys.executable, "-c", LINT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    package = tmp_path / "src" / "truerisk"
    for source in SOURCES:
        depth = len(source.relative_to(PACKAGE).parts)
        if depth == 1 or (source.name, depth) == ("__init__.py", 2):
            copy = package / source.relative_to(PACKAGE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.touch()
    for place in {"engines/choice.py", *(place for place, _ in FAULTS)}:
        (package / place).touch()
    (package / "core" / "one.py").write_text("from truerisk.core import two\n")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text("utf-8"), "utf-8")
    command = [sys.executable, "-S", "-c", LINT]  # -S: not the installed package
    paths = f"{tmp_path / 'src'}{os.pathsep}{sysconfig.get_path('platlib')}"

    def lint():
        return subprocess.run(
            command,
            cwd=tmp_path,
            env={"PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
        )

    sound = lint()
    assert sound.returncode == 0, sound.stdout + sound.stderr
    for where, statement in FAULTS:
        with (package / where).open("a", encoding="utf-8") as file:
            file.write(statement + "\n")
    (package / "attic").mkdir()
    (package / "attic" / "__init__.py").touch()
    broken = lint()
    assert broken.returncode == 1
    named = [*(fault for faults in FAULTS.values() for fault in faults), "attic"]
    assert not [name for name in named if name not in broken.stdout], broken.stdout


PACKAGES = {path.stem for path in PACKAGE.iterdir() if path.stem != "__init__"}


def imports_of_the_face(tree: ast.AST) -> list[int]:
    """Lines that import `truerisk` itself, which knows every package."""
    lines = []
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            lines += [node.lineno for alias in node.names if alias.name == "truerisk"]
        elif isinstance(node, ast.ImportFrom) and node.module == "truerisk":
            lines += [node.lineno for alias in node.names if alias.name not in PACKAGES]
    return lines


def test_package_imports_packages_and_never_the_face():
    """That would be an import up in disguise; experiments are written as by users, and may."""
    code = "import truerisk\nfrom truerisk import assess\nfrom truerisk import core\n"
    assert imports_of_the_face(ast.parse(code)) == [1, 2]
    found = [
        f"{name_of(path)}:{line}"
        for path in SOURCES
        if path.parent not in (PACKAGE, PACKAGE / "experiments")
        for line in imports_of_the_face(tree_of(path))
    ]
    assert not found


def contract_named(name: str) -> dict[str, Any]:
    """Return one of import-linter's contracts."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return next(c for c in project["tool"]["importlinter"]["contracts"] if c["id"] == name)


FACES = {"datasets", "engines", "intervals", "losses", "methods", "models", "selection", "testing"}


def test_package_is_closed_to_experiments_but_for_its_face():
    """No package below the experiments is forgotten; of those with public names all files are."""
    assert len(import_module("truerisk.extend").__all__) <= 45
    below = {name for name, level in levels().items() if level < levels()["experiments"]}
    closed = {
        name.removeprefix("truerisk.")
        for name in contract_named("experiments")["forbidden_modules"]
    }
    assert closed == {
        f"{name}.**" if name in FACES else name for name in below - {"exceptions", "extend"}
    }


# ---------------------------------------------------------------- strings that name modules

DOOR = {"results/door.py"}
SCHEMA = re.compile(r"truerisk\.[\w-]+/\d+")
# `truerisk.report`, or the place in a line of a registry: `report.page:draw`, `extend:Method`
PLACE = re.compile(r"\btruerisk\.(\w+)|(?<![\w./])(\w+)(?:\.\w+)*:[A-Za-z_]")


@cache
def levels() -> dict[str, int]:
    """Map each package to its level in the import contract; the ground is 1."""
    rows = contract_named("packages")["layers"]
    return {
        name.strip(): len(rows) - number
        for number, row in enumerate(rows)
        for name in row.split("|")
    }


def strings_that_point_up(tree: ast.AST, level: int) -> list[str]:
    """Find the strings in code that name a module of a package above this level."""
    docs = {id(node.value) for node in nodes_of(tree) if isinstance(node, ast.Expr)}
    return [
        f"{node.lineno}: {node.value[:60]}"
        for node in nodes_of(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docs
        and not SCHEMA.fullmatch(node.value)
        and any(
            levels().get(found[1] or found[2], 0) > level for found in PLACE.finditer(node.value)
        )
    ]


def test_strings_name_modules_above_only_in_the_door():
    """A string in code counts, a docstring does not, nor the name of a schema."""
    code = '"""truerisk.report"""\nWHERE = "truerisk.report.page"\nNAME = "truerisk.report/1"\n'
    code += 'LINE = "page  report.page:draw"\nBELOW = "sums  data.rows:sums_of"\n'
    code += 'FILE = "method  extend:Method"\nWORDS = "the report: a page"\n'
    assert strings_that_point_up(ast.parse(code), levels()["results"]) == [
        "2: truerisk.report.page",
        "4: page  report.page:draw",
        "6: method  extend:Method",
    ]
    found = set()
    for path in SOURCES:
        place = path.relative_to(PACKAGE)
        level = levels().get(place.parts[0].removesuffix(".py"))
        if level is not None and strings_that_point_up(tree_of(path), level):
            found.add(place.as_posix())
    assert found == DOOR


# ---------------------------------------------------------------- registries


@cache
def registries() -> dict[str, Registry]:
    """`module:attribute` -> registry, for every file that makes one."""
    found: dict[str, Registry] = {}
    for path in SOURCES:
        if path != PACKAGE / "core" / "registry.py" and "Registry(" in path.read_text("utf-8"):
            for name, value in vars(import_module(module_of(path))).items():
                if isinstance(value, Registry) and value not in found.values():
                    found[f"{module_of(path)}:{name}"] = value
    return found


def lines() -> list[tuple[str, str]]:
    """Every (registry, word)."""
    return [(where, word) for where, registry in registries().items() for word in registry.names()]


@cache
def pages() -> list[str]:
    """The pages under docs."""
    return [
        path.read_text("utf-8")
        for path in (ROOT / "docs").rglob("*")
        if path.suffix in {".md", ".rst"} and "_build" not in path.parts
    ]


def documented(word: str, pages: list[str]) -> bool:
    """Whether a page names the word as code."""
    return any(re.search(rf"`{re.escape(word)}`", page) for page in pages)


@pytest.mark.parametrize(("where", "word"), lines())
def test_registry_word_loads_and_has_a_page(where, word):
    """A page under docs names it in code quotes, not as part of a sentence."""
    assert not documented("nested", ["nested cross-validation"])
    registry = registries()[where]
    assert registry.load(word) is not None
    assert registry[word].summary
    assert documented(word, pages()), f"{where} {word!r}: no page under docs names it as `{word}`"


# ---------------------------------------------------------------- house rules


MARK = re.compile(r"\b(?:TODO|FIXME)\b(?P<rest>.*)")
REASON = re.compile(r"\s*(?:\([^)]*\))?:\s*\S+(?:\s+\S+){3,}")


def bare_marks(text: str) -> list[str]:
    """Lines that leave work undone and do not say why."""
    return [
        found.group()
        for line in text.splitlines()
        if (found := MARK.search(line)) and not REASON.match(found["rest"])
    ]


def test_todo_gives_a_reason():
    """Work left undone says why in at least four words."""
    assert len(bare_marks("# TODO\n# TODO: later\n# FIXME(#3)")) == 3
    assert not bare_marks("# TODO(#3): scikit-learn 1.6 lacks this argument")
    files = [*SOURCES, *PACKAGE.rglob("*.?pp"), *TESTS]
    found = {
        name_of(path): marks
        for path in files
        if path != Path(__file__) and (marks := bare_marks(path.read_text("utf-8")))
    }
    assert not found


LIGHT = """
    import sys
    {statement}
    heavy = sorted({{"sklearn", "scipy.stats", "pandas", "matplotlib"}} & sys.modules.keys())
    assert not heavy, heavy
"""


@pytest.mark.parametrize(
    ("statement", "loaded"),
    [
        ("import truerisk; dir(truerisk); truerisk.__version__", None),
        ("from truerisk.cli.app import cli; cli(['--help'], standalone_mode=False)", None),
        ("import sklearn", "AssertionError.*'sklearn'"),
    ],
)
def test_imports_are_light(statement, loaded):
    """`import truerisk` and `truerisk --help` load neither scikit-learn nor scipy.stats."""
    code = textwrap.dedent(LIGHT).format(statement=statement)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if loaded:
        assert re.search(loaded, done.stderr)
    else:
        assert done.returncode == 0, done.stderr


def test_floor_is_what_is_declared():
    """`make test-floor` pins the lower bounds of pyproject.toml, each of them and no other."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = dict(text.split(">=") for text in project["dependencies"])
    pinned: dict[str, str] = {}
    for text in (ROOT / "requirements" / "floor.in").read_text("utf-8").splitlines():
        if text and not text.startswith("#"):
            name, _, version = text.partition(";")[0].strip().partition("==")
            pinned.setdefault(name, version)  # the first line of a name is the oldest Python's
    assert pinned.keys() == declared.keys()
    for name, version in declared.items():
        assert re.fullmatch(rf"{re.escape(version)}(\.0)*", pinned[name]), name
