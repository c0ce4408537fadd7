"""Cut off each branch of truerisk in a process of its own, and see who misses it.

    python -m tests.branches [BRANCH ...]

The table of branches in ARCHITECTURE.md says which modules a branch has, who may import them,
through which doors, and a call that needs it. Without these modules the common calls must give the
numbers they always give, and the call that needs the branch must name the missing module.
"""

import ast
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import isclose
from pathlib import Path

from tests.support.missing import HIDDEN, in_clean_processes

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "truerisk"
TITLE = "## Branches"
COLUMNS = ("branch", "modules", "may be imported by", "door", "a call that needs it")
Numbers = dict[str, list[float]]  # by the name of a common call
ONE_THREAD = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

COMMON = """
import warnings
warnings.simplefilter("ignore")

import numpy as np
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
import truerisk as tr

iris, species = load_iris(return_X_y=True)
rng = np.random.default_rng(0)
y = np.arange(60) % 2
X = rng.standard_normal((60, 200))
X[:, :5] += 0.6 * y[:, None]
smoothings = {"var_smoothing": [1e-9, 1e-3, 1.0]}
"""

COMMON_CALLS = """
def numbers_of(risk):
    return [risk.value, risk.interval.low, risk.interval.high]

def readme():
    model = make_pipeline(SelectKBest(), KNeighborsClassifier())
    genes, neighbours = [1, 2, 5, 10, 20, 50], [1, 3, 5, 9, 15]
    grid = {"selectkbest__k": genes, "kneighborsclassifier__n_neighbors": neighbours}
    search = tr.HonestSearchCV(model, grid).fit(X, y)
    str(search.risk_), str(search.selected_risk_)
    return [search.selected_risk_.value, *numbers_of(search.risk_), search.best_score_]

def estimate():
    risk = tr.estimate_risk(GaussianNB(), iris, species)
    str(risk)
    return numbers_of(risk)

def curve():
    return tr.risk_curve(GaussianNB(), smoothings, iris, species).values.tolist()

def assess():
    learners = {"smooth": (GaussianNB(), smoothings), "plain": DummyClassifier()}
    assessment = tr.assess(learners, iris, species)
    str(assessment)
    return [each for name in learners for each in numbers_of(assessment.risks[name])]

numbers = {one.__name__: one() for one in (readme, estimate, curve, assess)}
"""


@dataclass(frozen=True)
class Branch:
    """A row of the table: paths are below `src/truerisk`."""

    name: str
    paths: tuple[str, ...]
    importers: tuple[str, ...]
    call: str

    @property
    def modules(self) -> tuple[str, ...]:
        """Their dotted names."""
        return tuple(dotted(path) for path in self.paths)


def dotted(path: str) -> str:
    """Return the name by which a file or a folder is imported."""
    return "truerisk." + path.strip("/").removesuffix(".py").replace("/", ".")


def branches_of(text: str) -> list[Branch]:
    """Read the table of branches from the text of ARCHITECTURE.md."""
    _, _, section = text.partition(f"{TITLE}\n")
    lines = [line for line in section.split("\n## ")[0].splitlines() if line.startswith("|")]
    header, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    assert tuple(header) == COLUMNS, header

    def listed(cell: str) -> tuple[str, ...]:
        return tuple(part for part in (p.strip(" `") for p in cell.split(",")) if part)

    return [
        Branch(name, listed(paths), listed(importers), call.strip("`"))
        for name, paths, importers, _, call in rows
    ]


def doors_of(text: str) -> set[str]:
    """All doors that the section names, in the table and below it, as `file: function`."""
    _, _, section = text.partition(f"{TITLE}\n")
    return set(re.findall(r"`([\w/]+\.py: \w+)`", section.split("\n## ")[0]))


def missing_modules(branches: Sequence[Branch]) -> list[str]:
    """Return the paths of the table that name neither a file nor a package."""
    return [
        path
        for branch in branches
        for path in branch.paths
        if not ((PACKAGE / path).is_file() or any((PACKAGE / path).glob("**/*.py")))
    ]


def run(cut: Sequence[str], call: str | None) -> tuple[Numbers, list[str]]:
    """Return the numbers of the common calls, and what the call that needs the branch raised.

    It runs in a clean process, which has imported nothing of truerisk.
    """
    code = HIDDEN.format(modules=tuple(cut)) + COMMON + COMMON_CALLS
    try:
        exec(code, found := {"__name__": "__main__"})
    except BaseException as error:  # noqa: BLE001
        return {"failed": []}, [f"{type(error).__name__}: {error}"]
    if call is None:
        return found["numbers"], []
    try:
        exec(call, found)
    except BaseException as error:  # noqa: BLE001
        return found["numbers"], [type(error).__name__, str(error)]
    return found["numbers"], ["nothing", "the call needs no such branch"]


def runs(
    tasks: Sequence[tuple[Sequence[str], str | None]],
) -> Iterator[tuple[Numbers, list[str]]]:
    """Run each task in a process of its own, as many at once as there are processors."""
    os.environ.update(ONE_THREAD)
    for told, fault in in_clean_processes(run, tasks):
        yield ({"failed": []}, [fault]) if fault else told


def fault_of(
    branch: Branch,
    numbers: dict[str, list[float]],
    raised: list[str],
    usual: dict[str, list[float]],
) -> str | None:
    """Return what is wrong where the branch is cut off, or None."""
    if "failed" in numbers:
        return f"a common call fails: {raised[0]}"
    for call, values in usual.items():
        same = len(values) == len(numbers[call]) and all(
            isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
            for a, b in zip(values, numbers[call], strict=True)
        )
        if not same:
            return f"{call} gives other numbers: {numbers[call]}, not {values}"
    kind, sentence = raised
    named = any(f"needs {module}" in sentence for module in branch.modules)
    if kind != "MissingBranch" or not named:
        return f"{branch.call} raises {kind}: {sentence}"
    return None


def cut_off(branches: Sequence[Branch]) -> Iterator[tuple[Branch, str | None]]:
    """Cut off one branch after the other, and say what is wrong of each."""
    found = runs([((), None), *((branch.modules, branch.call) for branch in branches)])
    usual, raised = next(found)
    assert "failed" not in usual, raised
    for branch, (numbers, said) in zip(branches, found, strict=True):
        yield branch, fault_of(branch, numbers, said, usual)


# ---------------------------------------------------------------- what the sources say


@cache
def imports_of(tree: ast.Module) -> tuple[tuple[str, str, int], ...]:
    """Each import of truerisk outside of TYPE_CHECKING: function or "", module, line."""

    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, str, int]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.ImportFrom) and (child.module or "").startswith("truerisk"):
                for alias in child.names:
                    yield function, f"{child.module}.{alias.name}", child.lineno
            elif isinstance(child, ast.Import):
                for alias in child.names:
                    if alias.name.startswith("truerisk"):
                        yield function, alias.name, child.lineno
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not function
            yield from walk(child, child.name if inside else function)

    return tuple(walk(tree, ""))


def late_imports(sources: dict[str, ast.Module]) -> set[str]:
    """The functions that import modules of truerisk, as `file: function`."""
    return {
        f"{path}: {function}"
        for path, tree in sources.items()
        for function, _, _ in imports_of(tree)
        if function
    }


def unforeseen_importers(branches: Sequence[Branch], sources: dict[str, ast.Module]) -> list[str]:
    """Imports of a branch from outside of it, by files that its row does not name."""
    found = []
    imports = {path: imports_of(tree) for path, tree in sources.items()}
    for branch in branches:
        for path, imported in imports.items():
            if any(_is_in(path, own) for own in (*branch.paths, *branch.importers)):
                continue
            for _, module, line in imported:
                if any(module == own or module.startswith(own + ".") for own in branch.modules):
                    found.append(f"{path}:{line} imports {module} of '{branch.name}'")
    return found


def unchecked_doors(branches: Sequence[Branch], sources: dict[str, ast.Module]) -> list[str]:
    """Return the functions that import a branch late without asking first whether it is there."""
    found = set()
    for path, tree in sources.items():
        asking = {
            function.name
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef)
            for call in ast.walk(function)
            if isinstance(call, ast.Call)
            and ast.unparse(call.func) in ("check_present", "is_present")
        }
        for function, module, _ in imports_of(tree):
            of_others = any(
                module == own or module.startswith(own + ".")
                for branch in branches
                if not any(_is_in(path, own) for own in branch.paths)
                for own in branch.modules
            )
            if function and of_others and function not in asking:
                found.add(f"{path}: {function}")
    return sorted(found)


def _is_in(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def caught_imports(sources: dict[str, ast.Module]) -> list[str]:
    """Places that catch the import error of a module of truerisk, or its absence."""
    errors = ("ImportError", "ModuleNotFoundError", "MissingBranch")
    found = []
    for path, tree in sources.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Try):
                caught = any(
                    handler.type is None or any(e in ast.unparse(handler.type) for e in errors)
                    for handler in node.handlers
                )
                body = ast.unparse(ast.Module(node.body, []))
            elif isinstance(node, ast.With):
                kinds = " ".join(ast.unparse(item.context_expr) for item in node.items)
                caught = "suppress" in kinds and any(error in kinds for error in errors)
                body = ast.unparse(ast.Module(node.body, []))
            else:
                continue
            own = "import truerisk" in body or "from truerisk" in body or "check_present" in body
            named = isinstance(node, ast.Try) and any(
                handler.type is not None and "MissingBranch" in ast.unparse(handler.type)
                for handler in node.handlers
            )
            if (caught and own) or named:
                found.append(f"{path}:{node.lineno}")
    return found


def all_sources() -> dict[str, ast.Module]:
    """Every source file by its path below `src/truerisk`."""
    return {
        str(path.relative_to(PACKAGE)): ast.parse(path.read_text("utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def main(names: Sequence[str]) -> int:
    """Print a line for each branch, and the count of those that can be cut off."""
    branches = branches_of((ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    missing = missing_modules(branches)
    if missing:
        print(f"the table of branches names what does not exist: {', '.join(missing)}")
        return 1
    known = {branch.name for branch in branches}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no branch is called {', '.join(unknown)}; there are: {', '.join(sorted(known))}")
        return 2
    wanted = [branch for branch in branches if not names or branch.name in names]
    well = 0
    for branch, fault in cut_off(wanted):
        well += fault is None
        print(f"{branch.name:<34} {fault or 'ok'}", flush=True)
    print(f"{well} of {len(wanted)} branches can be cut off")
    return int(well < len(wanted))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
