"""The tables that trees are grown on: X, or what the steps of a pipeline give in each fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from truerisk.core.family import Family
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.engines.preparation.apart import why_not_apart
from truerisk.engines.preparation.fitted import Begin, fitted_steps
from truerisk.engines.preparation.prepared import OwnArithmetic
from truerisk.engines.preparation.zeros import as_dense, is_bearable
from truerisk.engines.running.fit_warnings import Warned, kept_warnings
from truerisk.engines.running.shared_steps import known_steps
from truerisk.engines.running.trie import Tries
from truerisk.engines.settings import Group, family_refusal
from truerisk.kernels.trees import TreeTable

__all__ = ["in_single_precision", "may_step", "stands_alone", "tables_after_steps"]


def stands_alone(family: Family) -> bool:
    """Whether nothing is done before the learner: it is bare, or the one step of a pipeline."""
    if not family.is_piped:
        return True
    own = all(name.startswith(family.prefix) for name in family.named)
    return len(family.estimator.steps) == 1 and own and why_not_apart(family) is None


def may_step(family: Family) -> bool:
    """Whether the steps before a tree may be fitted apart from it.

    The seed of the tree must be its own or the only one that is drawn for the pipeline.
    """
    if family_refusal(family, [type(family.last)]) is not None:
        return False
    models = map(family.make, range(len(family)))
    names = (name for model in models for name in family.random_parameters(model))
    return all(name.startswith(family.prefix) for name in names)


def tables_after_steps(
    group: Group, family: Family, data: Data, plan: Plan, fits: Sequence[int], tries: Tries | None
) -> Iterator[tuple[int, TreeTable, list[Warned]]]:
    """The table of each fit, and what its steps warned of; equal tables are sorted once."""
    last: np.ndarray | None = None
    known = known_steps(tries, family, group.steps, int(group.candidates[0]))
    for fit in fits:
        with kept_warnings() as warned:
            X = _after_steps(group, data, plan, fit, known(plan, fit))
        if last is None or not np.array_equal(X, last):
            last, table = X, TreeTable.of(X)
        yield fit, table, warned


def _after_steps(group: Group, data: Data, plan: Plan, fit: int, begin: Begin | None) -> np.ndarray:
    """All rows that a fit sees or is asked about; the others stand for nothing."""
    rows, times = plan.train_rows(fit)
    order, starts = plan.questions_of
    asked = [plan.test_rows(int(q))[0] for q in order[starts[fit] : starts[fit + 1]]]
    y = data.y if data.codes is None else data.codes
    X, tests = fitted_steps(group.steps, data, (rows, times), y[rows], asked, _read, begin)
    table = np.repeat(X[:1], data.n_rows, axis=0)
    table[rows] = X
    seen = np.zeros(data.n_rows, dtype=bool)
    seen[rows] = True
    for where, values in zip(asked, tests, strict=True):
        if not np.array_equal(table[where][seen[where]], values[seen[where]]):
            raise OwnArithmetic("a row that it was fitted on is another when it is asked about")
        table[where] = values
        seen[where] = True
    return table


def _read(table: Any) -> np.ndarray:
    single = in_single_precision(table)
    if single is None:
        raise OwnArithmetic("what scikit-learn treats otherwise")
    return single


def in_single_precision(X: Any) -> np.ndarray | None:
    """X in single precision, None for what scikit-learn treats otherwise or refuses.

    Of a sparse table scikit-learn grows the tree that it grows of the dense one.
    """
    if is_bearable(X):
        X = as_dense(X)
    if type(X) is not np.ndarray:
        X = _of_frame(X)
    if X is None or X.ndim != 2 or not X.size or X.dtype.kind not in "biuf" or X.itemsize > 8:
        return None
    with np.errstate(over="ignore"):
        single = X.astype(np.float32, order="F", copy=False)
    return single if np.isfinite(single).all() else None


def _of_frame(X: Any) -> np.ndarray | None:
    """The cells of a frame of numbers with proper names."""
    dtypes = getattr(X, "dtypes", None)
    if not hasattr(X, "iloc") or not hasattr(X, "columns") or dtypes is None:
        return None
    numbers = all(isinstance(t, np.dtype) and t.kind in "iuf" for t in dtypes)
    if not numbers or len({isinstance(name, str) for name in X.columns}) != 1:
        return None
    return np.asarray(X)
