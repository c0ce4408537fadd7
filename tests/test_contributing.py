"""CONTRIBUTING.md adds variants to a copy of the package, and everything it says holds."""

import ast
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import multimode

import numpy as np
import pytest

from truerisk import extend
from truerisk.kernels import _native

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = FENCE.findall(PAGE)
# The editable install stands before every path, in worker processes too: the copy is without it.
CUSTOMIZE = """
import sys
sys.meta_path[:] = [f for f in sys.meta_path if "truerisk" not in type(f).__module__]
"""
A_LINE = re.compile(r"^ {4}[\w.-]+  [\w.]+:\w+", re.MULTILINE)
AN_IMPORT = re.compile(r"^( *)(from truerisk\.\S+) import ", re.MULTILINE)
A_LEARNER = re.compile(r'^ {4}"[\w-]+": ', re.MULTILINE)
OF_A_FILE = re.compile(r'^    "\w+": "truerisk\.[\w.]+",\n', re.MULTILINE)
IN_ALL = re.compile(r'^    "\w+",\n', re.MULTILINE)
A_FIGURE = re.compile(r"^    \w+: _?draw_\w+,", re.MULTILINE)


def place_of(code):
    """The path in the first line of a block."""
    return code.partition("\n")[0].removeprefix("# ")


def body_of(code):
    """A block without its first line."""
    return code.partition("\n")[2]


@dataclass(frozen=True)
class Example:
    """A variant that the page adds, by its word; `page` is where its section goes."""

    name: str
    page: str
    source: str
    line: str
    use: str
    test: str
    section: str


WORDS = [
    ("odd-even", "methods-splits.md"),
    ("hoeffding", "intervals-formulas.md"),
    ("constant", "engines.md"),
    ("huber", "losses.md"),
]
EXAMPLES = [
    Example(*named, *(code for _, code in BLOCKS[5 * at : 5 * at + 5]))
    for at, named in enumerate(WORDS)
]
METHOD, INTERVAL, ENGINE, LOSS = EXAMPLES
RESULT, NAMES, FIGURE, USE, IN_FIGURES, ITS_TEST = (code for _, code in BLOCKS[5 * len(WORDS) :])
PACKAGES = {path.name for path in (ROOT / "src" / "truerisk").iterdir()} | {"faces"}
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
OF_RESULTS = (
    "tests/faces/test_results_as_json.py",
    "tests/faces/test_damaged_results.py",
)


def add_lines(registry: Path, lines: str, entry: re.Pattern[str] = A_LINE) -> None:
    """Put imports before the first one that comes later, and other lines before the last entry."""
    text = registry.read_text("utf-8")
    for line in lines.splitlines():
        if line.startswith("from "):
            place = line.partition(" import ")[0]
            imports = [*AN_IMPORT.finditer(text)]
            indent = multimode(found[1] for found in imports)[0]
            later = next(found for found in imports if found[1] == indent and found[2] > place)
            text = f"{text[: later.start()]}{indent}{line}\n{text[later.start() :]}"
        else:
            *_, last = (A_LEARNER if line.startswith('"') else entry).finditer(text)
            text = f"{text[: last.start()]}    {line.lstrip()}\n{text[last.start() :]}"
    registry.write_text(text, "utf-8")


def add_names(package: Path, lines: str) -> None:
    """Put each line of a package before the first one of its list that comes later."""
    of_file, in_all, for_type_checkers = lines.splitlines(keepends=True)
    text = package.read_text("utf-8")
    for line, entry in ((of_file, OF_A_FILE), (in_all, IN_ALL)):
        later = next(found for found in entry.finditer(text) if found[0] > line)
        text = text[: later.start()] + line + text[later.start() :]
    package.write_text(text, "utf-8")
    add_lines(package, for_type_checkers.strip())


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of what the page changes, changed as the page says."""
    root = tmp_path_factory.mktemp("clone")
    ignore = shutil.ignore_patterns("__pycache__", "_build", "auto_examples", "generated", "*.so")
    for name in ("src", "docs"):
        shutil.copytree(ROOT / name, root / name, ignore=ignore)
    shutil.copy(_native.__file__, root / "src" / "truerisk" / "kernels")
    (root / "src" / "sitecustomize.py").write_text(CUSTOMIZE, "utf-8")
    (root / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "test_architecture.py", root / "tests")
    shutil.copy(ROOT / "pyproject.toml", root)
    for example in EXAMPLES:
        for code in (example.source, example.test):
            path = root / place_of(code)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body_of(code), "utf-8")
        add_lines(root / place_of(example.line), body_of(example.line))
        with (root / "docs" / example.page).open("a", encoding="utf-8") as page:
            page.write("\n" + example.section)
    for code in (RESULT, FIGURE, ITS_TEST):
        (root / place_of(code)).parent.mkdir(parents=True, exist_ok=True)
        (root / place_of(code)).write_text(body_of(code), "utf-8")
    add_names(root / place_of(NAMES), body_of(NAMES))
    add_lines(root / place_of(IN_FIGURES), body_of(IN_FIGURES), A_FIGURE)
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


def used(clone, use, more=""):
    """The lines that a block of use prints in the copy, and those of more code after it."""
    code = f"import truerisk; print(truerisk.__file__)\n{use}\n{more}"
    where, *said = python(clone, "-W", "error", "-c", code).splitlines()
    assert Path(where).is_relative_to(clone)
    return said


def test_page_says_where_its_blocks_go():
    """Four times a source file, lines of a registry, the use, a test file and a section."""
    languages = ["python", "text", "python", "python", "markdown"] * 4
    languages += ["python", "text", "python", "python", "text", "python"]
    assert [language for language, _ in BLOCKS] == languages
    for example in EXAMPLES:
        source = Path(place_of(example.source)).relative_to("src/truerisk")
        assert Path(place_of(example.test)) == "tests" / source.with_name(f"test_{source.name}")
        assert (ROOT / place_of(example.line)).is_file()
        assert f"`{example.name}`" in example.section
        assert f"`docs/{example.page}`" in PAGE


def test_method_can_be_used(clone):
    """What a user writes after the line is there prints an estimate with an interval."""
    [said] = used(clone, METHOD.use)
    assert re.fullmatch(
        r"risk 0\.\d{4} \(zero-one, odd-even\), 95 % interval \[.*\] \(beta-cv\)", said
    )


def test_interval_can_be_used(clone):
    """It is named, served for every candidate, refused with a reason, and cited in the report."""
    more = """
assert "hoeffding" in tr.intervals.names()
for given in ({"cv": "2x5-fold"}, {"cv": ".632"}):
    try:
        tr.estimate_risk(KNeighborsClassifier(), X, y, interval="hoeffding", **given)
    except Refusal as refusal:
        print(refusal)
told = tr.assess({"knn": (KNeighborsClassifier(), grid)}, X, y, interval="hoeffding").to_html()
print("Hoeffding W (1963). Probability inequalities" in told, "to 0." in told)
"""
    served, of_loss, of_plan, of_method, cited = used(clone, INTERVAL.use, more)
    assert re.fullmatch(r"hoeffding \[0\.\d{4}, 0\.\d{4}\]", served)
    assert of_loss == (
        "interval 'hoeffding' needs losses with a largest value, which loss 'log' cannot give: "
        "use interval='log-cv'."
    )
    assert of_plan == (
        "interval 'hoeffding' needs rows that are tested once, which method '2x5-fold' (it offers "
        "'corrected-t', 'bbc', 'beta-cv', 'log-cv', 'logit-cv', 'spatial') cannot give: use one "
        "repetition."
    )
    assert of_method == (
        "interval 'hoeffding' needs a mean of cross-validated losses, which method '.632' (it "
        "offers 'bootstrap-.632') cannot give: use a K-fold word such as '10-fold'."
    )
    assert cited == "True True"


def test_engine_can_be_used(clone):
    """It answers first, and the package shows its class."""
    assert used(clone, ENGINE.use) == ["constant 0.34 True"]


def test_loss_can_be_used(clone):
    """It is named, its risk is that of a calculation by hand, and a slip of the pen finds it."""
    more = """
from truerisk.core.errors import UnknownName
try:
    tr.estimate_risk(DummyRegressor(), X, y, scoring="hubre")
except UnknownName as refusal:
    print("huber" in str(refusal))
"""
    told, known = used(clone, LOSS.use, more)
    assert told.split()[2] == "2.0"
    sizes = np.abs(np.array([0, 0, 1, 1, 10, 0]) - np.array([12, 12, 11, 11, 2, 12]) / 5)
    by_hand = np.where(sizes > 1, sizes - 0.5, sizes**2 / 2).mean()
    assert told.split()[0] == "huber"
    assert float(told.split()[1]) == pytest.approx(by_hand)
    assert known == "True"


def test_result_is_read_back_and_drawn(clone):
    """A table of its classes, and a row of the plot for each."""
    head, _, first, second, drawn = used(clone, USE)
    assert head.split() == ["class", "risk"]
    assert [first.split()[0], second.split()[0], drawn] == ["0", "1", "2 True"]


def test_files_of_the_page_pass(clone):
    """The test files of the page, conformance kits among them, and the rules of the registries."""
    files = [*(place_of(one.test) for one in EXAMPLES), place_of(ITS_TEST)]
    printed = python(clone, *PYTEST, "-rA", *files)
    passed = [len(re.findall(rf"^PASSED {file}", printed, re.MULTILINE)) for file in files]
    assert min(passed[0], passed[2]) > 15
    assert (passed[1], *passed[3:]) == (2, 3, 3)
    assert "skipped" not in printed
    words = " or ".join(one.name for one in EXAMPLES)
    printed = python(clone, *PYTEST, "-k", f"({words}) and registry_word", "tests")
    assert printed.count("4 passed") == 1


def test_blocks_are_in_the_house_format_and_typed(clone):
    """Ruff and mypy find nothing (the oldest versions lack them: skipped)."""
    pytest.importorskip("ruff")
    pytest.importorskip("mypy")
    files = [place_of(code) for one in EXAMPLES for code in (one.source, one.test, one.line)]
    files += [place_of(code) for code in (RESULT, NAMES, FIGURE, IN_FIGURES, ITS_TEST)]
    python(clone, "-m", "ruff", "format", "--check", "--no-cache", *files)
    python(clone, "-m", "ruff", "check", "--no-cache", *files)
    files = [place_of(code) for code in (*(one.source for one in EXAMPLES), RESULT, FIGURE)]
    python(clone, "-m", "mypy", *files)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_extend_has_all_that_the_variants_import(example):
    """Only `override` comes from elsewhere; it serves this project's linter."""
    froms = [n for n in ast.parse(example.source).body if isinstance(n, ast.ImportFrom)]
    ours = [node for node in froms if node.module.startswith("truerisk.")]
    assert ours
    assert {name.name for node in ours for name in node.names} - set(extend.__all__) <= {"override"}


def test_section_of_a_page_is_needed(clone):
    """Without the section of the page, the rules of the registry refuse the word."""
    page = clone / "docs" / METHOD.page
    text = page.read_text("utf-8")
    page.write_text(text.replace("`odd-even`", "odd-even"), "utf-8")
    try:
        with pytest.raises(AssertionError, match="no page under docs names it as `odd-even`"):
            python(clone, *PYTEST, "-k", "odd-even and registry_word", "tests")
    finally:
        page.write_text(text, "utf-8")


def test_suite_holds_over_what_was_added(clone, tmp_path):
    """Tests that go over every word of a registry go over those of the page, and pass.

    So do those that hold the table of learners and the look-alikes against the engines.
    """
    clone = shutil.copytree(clone, tmp_path / "whole")
    left = shutil.ignore_patterns("__pycache__", "answers.json")
    shutil.copytree(ROOT / "tests", clone / "tests", dirs_exist_ok=True, ignore=left)
    places = [
        str(path.relative_to(clone))
        for path in (clone / "tests").glob("*/**/test_*.py")
        if path.relative_to(clone / "tests").parts[0] in PACKAGES
        if "names()" in path.read_text("utf-8") or "registry" in path.read_text("utf-8")
    ]
    words = [*(example.name for example in EXAMPLES), "every_engine", "table_of_learners"]
    said = python(clone, *PYTEST, *places, "-k", " or ".join(words))
    assert int(re.search(r"(\d+) passed", said)[1]) >= 40
    result = ("-m", "not slow", "-k", Path(place_of(ITS_TEST)).stem)
    said = python(clone, *PYTEST, *OF_RESULTS, *result)
    assert int(re.search(r"(\d+) passed", said)[1]) >= 7
    assert "skipped" not in said
    said = python(clone, *PYTEST, "tests/test_public_api.py", "-k", "api_page or as_written")
    assert "failed" not in said
