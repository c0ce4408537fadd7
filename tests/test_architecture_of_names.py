"""Private names are left alone, no class is known by its name; each check has a broken double."""

import ast
import re

import pytest
from tests.test_architecture import PACKAGE, SOURCES, module_of, name_of, nodes_of, text_of, tree_of

# The last one is documented by scikit-learn, for estimators of other packages.
PUBLIC = {"_asdict", "_fields", "_make", "_replace", "_init_callback_context"}


def is_private(name: str) -> bool:
    """Whether a name starts with one underscore."""
    return name.startswith("_") and not name.startswith("__")


# ---------------------------------------------------------------- private names


def defined_names(tree: ast.AST) -> set[str]:
    """Every name a file gives: functions, classes, assignments, arguments, attributes it sets."""
    names: set[str] = set()
    for node in nodes_of(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
                names.add(node.attr)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "__setattr__":
            names |= {arg.value for arg in node.args[1:2] if isinstance(arg, ast.Constant)}
    return names


def private_reaches(tree: ast.AST, package: str) -> list[str]:
    """Private names taken from elsewhere; a private module belongs to its own package."""
    own, found = defined_names(tree) | PUBLIC, []
    for node in nodes_of(tree):
        if isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            private = [alias.name for alias in node.names if is_private(alias.name)]
            if private and origin != package:
                found.append(f"{node.lineno}: from {origin} import {', '.join(private)}")
            outside = not f"{origin}.".startswith(f"{package}.")
            if outside and any(map(is_private, origin.split("."))):
                found.append(f"{node.lineno}: from {origin}")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                outside = not alias.name.startswith(f"{package}.")
                if outside and any(map(is_private, alias.name.split("."))):
                    found.append(f"{node.lineno}: import {alias.name}")
        elif isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in own:
            found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


PRIVATE_SCIKIT = re.compile(r"^sklearn\.(?:externals\b|(?:\w+\.)*_(?!_)\w)")


def private_scikit(tree: ast.AST) -> list[str]:
    """Private modules of scikit-learn, imported or named for `import_module`."""
    found = []
    for node in nodes_of(tree):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value]
        else:
            continue
        found += [f"{node.lineno}: {name}" for name in names if PRIVATE_SCIKIT.match(name)]
    return found


# ---------------------------------------------------------------- identity

IDENTITY = PACKAGE / "core" / "identity.py"
OF_A_NAME = {"__name__", "__qualname__", "__module__"}
ASKED_OF_TEXT = {"startswith", "endswith", "partition", "rpartition", "split", "get", "find"}
OF_A_KIND = {"steps", "regressor_", "transformer_list"}


def is_name_of_class(node: ast.AST) -> bool:
    """Whether it is what a class says it is called, or a part of that: `type(x).__name__.lower()`.

    A name that is put into a sentence is none.
    """
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute) and node.attr not in OF_A_NAME:
        return is_name_of_class(node.value)
    if not isinstance(node, ast.Attribute):
        return False
    of = ast.unparse(node.value)
    return of.startswith("type(") or "__class__" in of or of in {"kind", "cls"}


def names_that_decide(tree: ast.AST) -> list[str]:
    """Lines where the name of a class is compared, looked up or taken apart: it is no identity."""
    nodes = nodes_of(tree)
    found = {node for node in nodes for asked in _decided_by(node) if is_name_of_class(asked)}
    for scope in nodes:
        if not isinstance(scope, ast.FunctionDef):
            continue
        held = {
            target.id
            for node in ast.walk(scope)
            if isinstance(node, ast.Assign) and is_name_of_class(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        found |= {
            node
            for node in (ast.walk(scope) if held else ())
            for asked in _decided_by(node)
            if isinstance(asked, ast.Name) and asked.id in held
        }
    return sorted(f"{node.lineno}: {ast.unparse(node)}" for node in found)


def _decided_by(node: ast.AST) -> list[ast.expr]:
    """What a comparison, a look-up or a question to a text goes by."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Subscript):
        return [node.slice]
    if isinstance(node, ast.Match):
        return [node.subject]
    asked = node.func if isinstance(node, ast.Call) else None
    if isinstance(asked, ast.Attribute) and asked.attr in ASKED_OF_TEXT:
        return [asked.value, *node.args[:1]]
    return []


def attributes_that_decide(tree: ast.AST) -> list[str]:
    """Lines that take anything with a list of steps for a pipeline, and the like."""
    return [
        f"{node.lineno}: {ast.unparse(node)}"
        for node in nodes_of(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"hasattr", "getattr"}
        and isinstance(node.args[1], ast.Constant)
        and node.args[1].value in OF_A_KIND
    ]


# ---------------------------------------------------------------- the sources, and broken doubles


def package_of(path):
    return module_of(path) if path.name == "__init__.py" else module_of(path).rpartition(".")[0]


def deciding(tree):
    """Lines where the name of a class, or an attribute, decides what a thing is."""
    return names_that_decide(tree) + attributes_that_decide(tree)


def test_sources_use_own_names_and_know_no_class_by_its_name():
    """A name with an underscore is used only by the file that defines it.

    Private modules of scikit-learn change without notice. `core/identity.py` says what a thing is.
    """
    found = []
    for path in SOURCES:
        tree, text = tree_of(path), text_of(path)
        lines = private_reaches(tree, package_of(path))
        if "sklearn" in text:
            lines += private_scikit(tree)
        if path != IDENTITY and any(word in text for word in OF_A_NAME | OF_A_KIND):
            lines += deciding(tree)
        found += [f"{name_of(path)}:{line}" for line in lines]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("code", "n_found"),
    [
        ("from truerisk.plan import _rows", 1),
        ("from truerisk.kernels._native import votes", 1),
        ("import numpy._core", 1),
        ("import truerisk.plan as p\np._rows()", 1),
        ("def f(store):\n    return store._connection", 1),
        ("class A:\n    def __init__(self, b):\n        self._a = b._a", 0),
        ("def _f(): ...\n_f()", 0),
        ("from truerisk.core import _native", 0),
        ("point._replace(x=1)", 0),
    ],
)
def test_private_reaches_sees_names_of_other_files_alone(code, n_found):
    assert len(private_reaches(ast.parse(code), "truerisk.core")) == n_found


@pytest.mark.parametrize(
    ("code", "n_found"),
    [
        ("from sklearn.utils._param_validation import Interval", 1),
        ("import sklearn.externals.array_api_compat", 1),
        ("from sklearn.externals import joblib", 1),
        ("from sklearn.utils import _safe_indexing", 1),
        ("import_module('sklearn.model_selection._search')", 1),
        ("from sklearn.utils.validation import validate_data", 0),
    ],
)
def test_private_scikit_sees_every_way_of_importing(code, n_found):
    assert len(private_scikit(ast.parse(code))) == n_found


@pytest.mark.parametrize(
    ("code", "decides"),
    [
        ("type(x).__name__ == 'Ridge'", True),
        ("if type(step).__name__ in SCALERS: pass", True),
        ("type(x).__module__.startswith('sklearn.')", True),
        ("type(x).__module__.partition('.')[0] == 'sklearn'", True),
        ("FORMULAS[type(x).__name__]", True),
        ("FORMULAS.get(x.__class__.__name__)", True),
        ("match type(x).__name__:\n    case 'Ridge': pass", True),
        ("def f(x):\n    name = type(x).__name__\n    return name.endswith('CV')", True),
        ("def f(x):\n    name = type(x).__name__\n    if name != 'Ridge':\n        return 1", True),
        ("hasattr(model, 'steps')", True),
        ("getattr(model, 'steps', [])", True),
        ("f'{type(x).__name__} is no search.'", False),
        ("Claim(search=type(search).__name__)", False),
        ("def f(x):\n    name = type(x).__name__\n    return f'{name} has none'", False),
        ("type(x) is Ridge", False),
        ("__name__ == '__main__'", False),
    ],
)
def test_names_that_decide_are_seen_and_names_in_sentences_free(code, decides):
    assert bool(deciding(ast.parse(code))) is decides
