"""Data that are drawn: ties, copies, offsets, scales, odd forms of X and odd names in y."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from tests.adversary.learners import Kind
from tests.adversary.writing import array

__all__ = ["FORMS", "STRUCTURES", "Table", "draw_table"]

FORMS = {
    "plain": "X",
    "fortran": "np.asfortranarray(X)",
    "single": "X.astype(np.float32)",
    "integer": "np.clip(np.round(X), -(2**62), 2**62).astype(np.int64)",
    "bool": "X > np.median(X)",
    "strided": "np.repeat(X, 2, axis=1)[:, ::2]",
    "csr": "sparse.csr_array(X)",
    "csc": "sparse.csc_matrix(X)",
    "coo": "sparse.coo_array(X)",
    "list": "X.tolist()",
    "memory map": "memory_map(X)",
    "read only": "read_only(X)",
}
TARGETS = {
    "plain": "y",
    "single": "y.astype(np.float32)",
}
LABELS = {
    "control": r"np.array([f'\x1b[2J\r{v}\n' for v in y])",
    "empty": "np.array([' ' * v for v in y])",
    "bytes": "y.astype('S')",
    "objects": "y.astype(object)",
    "mixed": "np.array([str(v) if v % 2 else v for v in y], dtype=object)",
    "missing": "np.array([None, *y[1:]], dtype=object)",
    "huge": "np.array([10**30 + v for v in y.tolist()], dtype=object)",
    "wide": "2**63 + y.astype(np.uint64)",
    "halves": "y / 2",
    "complex": "y * 1j",
    "days": "np.datetime64('2020-01-01') + y",
    "zoned": "pd.Series(pd.Timestamp('2020-01-01', tz='UTC') + pd.to_timedelta(y, 'D'))",
    "periods": "pd.Series(pd.period_range('2020-01', periods=y.max() + 1, freq='M')[y])",
    "intervals": "pd.cut(pd.Series(y), y.max() + 1)",
    "categories": "pd.Series(y.astype(str), dtype='category')",
    "strings": "pd.Series(y.astype(str), dtype='string')",
    "nullable": "pd.Series(y, dtype='Int64')",
    "column": "y[:, None]",
}
"""Labels that are odd, of the classes 0, 1, 2, ..."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in doubles, what stands beside them, and the form in which X is given."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None
    form: str = "plain"
    target: str = "plain"  # in which form y is given
    ordinary: bool = False  # without ties, far offsets or great scales
    structure: str = ""  # what rows have to do with each other

    def rows(self, kept: np.ndarray) -> Table:
        """Some of the rows."""
        cut = {name: one if one is None else one[kept] for name, one in self.beside.items()}
        return replace(self, X=self.X[kept], **cut)

    @property
    def beside(self) -> dict[str, np.ndarray | None]:
        """What has one entry per row besides X."""
        return {"y": self.y, "weights": self.weights, "groups": self.groups}

    @property
    def script(self) -> str:
        """The lines that make X, y, sample_weight and groups."""
        lines = [f"X = {array(self.X)}"]
        if self.form != "plain":
            lines.append(f"X = {FORMS[self.form]}")
        lines.append(f"y = {array(self.y)}")
        if self.target != "plain":
            lines.append(f"y = {(TARGETS | LABELS)[self.target]}")
        lines.append(f"sample_weight = {array(self.weights)}")
        lines.append(f"groups = {array(self.groups)}")
        return "\n".join(lines)


def draw_table(rng: np.random.Generator, kind: Kind) -> Table:
    """A table that fits the learner: its task, and how many columns and classes it takes."""
    n = int(rng.integers(8, 41))
    p = min(
        int(rng.choice([1, 2, 3, 5, n + 3], p=[0.2, 0.3, 0.25, 0.2, 0.05])), kind.widest or n + 3
    )
    codes = _codes(rng, n, kind.classes)
    X = rng.normal(size=(n, p)) + 0.7 * codes[:, None] * rng.normal(size=p)
    ordinary = rng.random() < 0.3
    if not ordinary:
        for turn in rng.choice(TURNS, size=int(rng.integers(1, 3)), replace=False):
            X = turn(rng, X)
    structure = str(rng.choice(list(STRUCTURES))) if rng.random() < 0.15 else ""
    if structure:
        X, codes = STRUCTURES[structure](rng, X, codes)
    y = _named(rng, codes) if kind.task == "classification" else _numbers(rng, X, ordinary)
    weights = _weights(rng, n) if kind.weighted else None
    form = str(rng.choice(list(FORMS))) if rng.random() < 0.25 else "plain"
    target = "plain"
    if kind.task == "classification" and rng.random() < 0.1:
        y, target = codes, str(rng.choice(list(LABELS)))
    elif kind.task == "regression" and np.abs(y).max() < 1e30:
        target = str(rng.choice(list(TARGETS)))
    return Table(X, y, weights, _groups(rng, n), form, target, ordinary, structure)


def _codes(rng: np.random.Generator, n: int, most: int | None) -> np.ndarray:
    """Two or three classes as a rule, at times thirty, some of a single row."""
    sizes = [2, 3, 30] if most is None else [2]
    k = min(int(rng.choice(sizes, p=[0.6, 0.33, 0.07][: len(sizes)] if most is None else [1])), n)
    if rng.random() < 0.1:  # a class of one row
        rest = rng.integers(0, k - 1, size=n - k)
    else:
        rest = rng.integers(0, k, size=n - k)
    return rng.permutation(np.concatenate([np.arange(k), rest]))


def _named(rng: np.random.Generator, codes: np.ndarray) -> np.ndarray:
    """Class labels: numbers, words, truth values, names of any length."""
    k = int(codes.max()) + 1
    draw = rng.random()
    if draw < 0.4:
        return codes
    if draw < 0.6:
        return np.array([f"{'a' * (1 + i % 3)}{i:02d}" for i in range(k)])[codes]
    if draw < 0.75:
        return (codes * 7 - 3).astype(np.float64)
    if draw < 0.85 and k == 2:
        return codes == 1
    return np.where(codes == 0, -1, codes)


def _numbers(rng: np.random.Generator, X: np.ndarray, ordinary: bool) -> np.ndarray:
    """One target as a rule, or two; constant, whole, far from 0, or of a great scale."""
    n, m = len(X), int(rng.choice([1, 2], p=[0.85, 0.15]))
    signal = X[:, :1] / (np.abs(X[:, :1]).max() or 1.0)
    y = signal * rng.normal(size=m) + rng.normal(size=(n, m)) * rng.choice([0.0, 0.5, 2.0])
    draw = 1.0 if ordinary else rng.random()
    if draw < 0.1:
        y[:] = y[0]
    elif draw < 0.2:
        y = np.round(y)
    elif draw < 0.3:
        y = y + rng.choice([1e3, 1e8])
    elif draw < 0.4:
        y = y * rng.choice([1e150, 1e-150, 1e6])
    return y[:, 0] if m == 1 else y


def _weights(rng: np.random.Generator, n: int) -> np.ndarray | None:
    draw = rng.random()
    if draw < 0.7:
        return None
    if draw < 0.8:
        return rng.integers(0, 3, size=n).astype(np.float64) + (rng.random() < 0.5)
    if draw < 0.9:
        return rng.random(n) * rng.choice([1e-6, 1.0, 1e6])
    return np.ones(n)


def _groups(rng: np.random.Generator, n: int) -> np.ndarray | None:
    return rng.integers(0, 6, size=n) if rng.random() < 0.15 else None


def _near_copies(
    rng: np.random.Generator, X: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows come in clusters of two to four, with noise in X and one class, all in random order."""
    n, size = len(X), int(rng.integers(2, 5))
    first = np.arange(n) // size * size
    noise = float(rng.choice([0.0, 0.01, 0.2])) * np.maximum(X.std(axis=0), 1e-300)
    order = rng.permutation(n)
    copies = X[first] + noise * rng.normal(size=X.shape)
    return copies[order], _with_every_class(codes[first], codes)[order]


def _in_order(
    rng: np.random.Generator, X: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows drift: the last column is the number of the row, and classes stand in long runs."""
    X = X.copy()
    X[:, -1] = np.arange(len(X))
    drift = np.cumsum(rng.normal(size=len(X)))
    if X.shape[1] > 1:
        X[:, 0] += drift
    ordered = np.empty_like(codes)
    ordered[np.argsort(drift, kind="stable")] = np.sort(codes)
    return X, ordered


def _group_numbers(
    rng: np.random.Generator, X: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The last column is the number of a group, whose rows have one class but for a tenth."""
    X, groups = X.copy(), rng.permutation(np.arange(len(X)) // 4)
    X[:, -1] = groups
    shared = codes[groups]
    return X, _with_every_class(np.where(rng.random(len(X)) < 0.1, codes, shared), codes)


def _with_every_class(changed: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The changed classes, or those that there were where one has been lost."""
    return changed if len(np.unique(changed)) == len(np.unique(codes)) else codes


STRUCTURES: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "near copies": _near_copies,
    "in order": _in_order,
    "group numbers": _group_numbers,
}
"""What rows have to do with each other, by what makes X and the classes so."""


def _rounded(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Many ties."""
    return np.round(X * rng.choice([0.5, 1, 2]))


def _doubled(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Rows that stand twice."""
    return X[rng.integers(0, max(1, len(X) // 2), size=len(X))]


def _constant(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """A column of one value."""
    X = X.copy()
    X[:, int(rng.integers(X.shape[1]))] = rng.choice([0.0, 0.1, 3.0, 1e8])
    return X


def _repeated(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """A column that stands twice."""
    X = X.copy()
    X[:, -1] = X[:, 0] * rng.choice([1.0, -1.0, 3.0])
    return X


def _far(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """A column, or all of them, far from 0."""
    columns = slice(None) if rng.random() < 0.5 else slice(0, 1)
    X = X.copy()
    X[:, columns] += rng.choice([1e3, -1e5, 1e8])
    return X


def _scaled(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """A column, or all of them, in great or small numbers."""
    columns = slice(None) if rng.random() < 0.5 else slice(0, 1)
    X = X.copy()
    X[:, columns] *= rng.choice([1e150, 1e-150, 1e8, 1e-8, 1e4])
    return X


def _sparse(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Cells that are mostly 0."""
    return X * (rng.random(X.shape) < 0.3)


TURNS: list[Callable[[np.random.Generator, np.ndarray], np.ndarray]] = [
    _rounded, _doubled, _constant, _repeated, _far, _scaled, _sparse,
]  # fmt: skip
