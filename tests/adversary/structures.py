"""Rows that have to do with each other: every face notices them, and notices the same."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.adversary.plain import Plain

import truerisk as tr

__all__ = ["DRAWN_STRUCTURES", "Structure", "draw_structure", "structure_wrong"]

Rows = tuple[np.ndarray, np.ndarray]
CERTAIN_FROM = 300  # rows: of 84 tables with fewer, whose groups are fewer, one was not found
CODES = {"near-copies", "rows-in-order", "group-numbers"}


def _copies(rng: np.random.Generator, n: int, p: int) -> Rows:
    """Clusters of two to four rows with a noise of a tenth at most, in random order."""
    size = int(rng.integers(2, 5))
    cluster = rng.permutation(n) // size
    centres = rng.normal(size=(n // size + 1, p))
    noise = float(rng.choice([0.01, 0.05, 0.1]))
    X = centres[cluster] + noise * rng.normal(size=(n, p))
    return X, rng.integers(0, 2, n // size + 1)[cluster]


def _ordered(rng: np.random.Generator, n: int, p: int) -> Rows:
    """The number of the row is a column, and y is a random walk over it."""
    X = np.column_stack([np.arange(n), rng.normal(size=(n, p))])
    return X, np.cumsum(rng.normal(size=n))


def _numbered(rng: np.random.Generator, n: int, p: int) -> Rows:
    """The number of a group of ten rows is a column; rows of a group share a class, but a tenth."""
    group = rng.permutation(n) // 10
    y = rng.integers(0, 2, n // 10 + 1)[group]
    X = np.column_stack([group, rng.normal(size=(n, p))])
    return X, np.where(rng.random(n) < 0.1, 1 - y, y)


def _independent(rng: np.random.Generator, n: int, p: int) -> Rows:
    """Rows without structure."""
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


DRAWN_STRUCTURES: dict[str, tuple[Callable[..., Rows], str]] = {
    "copies": (_copies, "near-copies"),
    "ordered": (_ordered, "rows-in-order"),
    "numbered": (_numbered, "group-numbers"),
    "independent": (_independent, ""),
}
"""How rows are drawn, and the code of the finding that must be made (none: "")."""
LEARNERS_OF = {
    "i": (DecisionTreeClassifier, KNeighborsClassifier),
    "f": (DecisionTreeRegressor, KNeighborsRegressor),
}
FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "array": lambda X: X,
    "frame": lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
    "single": lambda X: X.astype(np.float32),
    "list": lambda X: X.tolist(),
}


@dataclass(frozen=True)
class Structure(Plain):
    """A table of this structure and form, drawn from the number of the case."""

    kind: str
    form: str
    shape: tuple[int, int]
    is_tree: bool
    script = "from tests.adversary.structures import structure_wrong"

    @property
    def question(self) -> str:
        given = (self.number, self.kind, self.form, self.shape, self.is_tree)
        return f"structure_wrong{given!r}"


def draw_structure(rng: np.random.Generator, number: int) -> Structure:
    """Draw a structure, a form of X, a size, and the learner."""
    kind, form = str(rng.choice(list(DRAWN_STRUCTURES))), str(rng.choice(list(FORMS)))
    least = CERTAIN_FROM if kind == "numbered" else 150
    shape = max(least, int(rng.integers(150, 600))), int(rng.integers(5, 9))
    return Structure(number, kind, form, shape, bool(rng.random() < 0.5))


def structure_wrong(seed: int, kind: str, form: str, shape: tuple[int, int], is_tree: bool) -> str:
    """Return what is wrong: a finding that is not made, or made by some of the faces alone."""
    draw, code = DRAWN_STRUCTURES[kind]
    X, y = draw(np.random.default_rng(seed), *shape)
    X = FORMS[form](X)
    trees, neighbours = LEARNERS_OF[y.dtype.kind]
    model: Any = trees(random_state=0) if is_tree else neighbours(3)
    grid = {"max_depth": [2, 4]} if is_tree else {"n_neighbors": [1, 3]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {
            "estimate_risk": tr.estimate_risk(model, X, y, cv="3-fold").findings,
            "HonestSearchCV": tr.HonestSearchCV(model, grid, cv="3-fold", outer="3-fold")
            .fit(X, y)
            .findings_,
            "assess": tr.assess({"m": (model, grid)}, X, y, outer="3-fold").findings,
            "audit": tr.audit(GridSearchCV(model, grid, cv=3).fit(X, y), X, y).findings,
        }
    codes = {face: {one.code for one in found} & CODES for face, found in made.items()}
    found = []
    if len({frozenset(one) for one in codes.values()}) > 1:
        found.append(f"faces differ: {codes}")
    if code and not all(code in one for one in codes.values()):
        found.append(f"no {code}: {codes}")
    each = {one for several in made.values() for one in several}
    unread = [one for one in each if not one.sentence.isprintable() or not one.remedy]
    found += [f"a sentence that cannot be read: {one}" for one in unread]
    return "; ".join(found)
