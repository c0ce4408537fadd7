"""One method on one data set, by the first engine that does not refuse, or by a given one."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import Method, Streams, Terms
from truerisk.core.evaluation import Evaluation
from truerisk.core.family import Family
from truerisk.core.losses import Loss
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.engines.asking import Asking
from truerisk.selection.rules import Minimum


def two_classes(X: np.ndarray, codes: np.ndarray) -> Data:
    """Classes 0 and 1, known to be sound: nothing to check ten thousand times."""
    return Data(X, codes, "classification", np.array([0, 1]), codes)


def sample_and_fresh(
    problem: Callable[..., tuple[np.ndarray, np.ndarray]],
    sizes: tuple[Any, Any],
    rng: np.random.Generator,
    *,
    shuffle: bool = False,
) -> Data:
    """Rows to learn from and, after them, rows that only measure what was learned."""
    parts = [problem(size, shuffle=shuffle, random_state=rng) for size in sizes]
    X, y = (np.concatenate(both) for both in zip(*parts, strict=True))
    return two_classes(X, y)


@lru_cache(maxsize=8)
def neighbours(ks: range) -> Family:
    """Nearest neighbours with every k."""
    from sklearn.neighbors import KNeighborsClassifier

    return Family.of(KNeighborsClassifier(), {"n_neighbors": ks})


def plan_of(n_rows: int, *splits: tuple[np.ndarray, np.ndarray]) -> Plan:
    """Each fit sees some rows and is asked about others.

    No train set is told as "all rows but": engines would learn from the many fresh rows first.
    """
    builder = PlanBuilder(n_rows)
    for train, test in splits:
        builder.ask((builder.block(train), ()), (builder.block(test), ()))
    return builder.build()


def answered(family: Family, data: Data, loss: Loss, plan: Plan, by: str = "auto") -> Answers:
    """The answers of all candidates; "auto" is the first engine that does not refuse."""
    return Asking(family, data, loss, engine=by)(plan)


def evaluated(
    method: Method, family: Family, data: Data, loss: Loss, seed: int, by: str = "auto"
) -> Evaluation:
    """What the method finds, the candidate with the smallest risk being chosen."""
    asking = Asking(family, data, loss, engine=by)
    plan = method.plan(data, Streams(seed))
    return method.evaluate(asking, data, loss, plan, terms_of(family))


def values_of(evaluation: Evaluation) -> np.ndarray:
    """The risk of every candidate."""
    return np.array([tested.value for tested in evaluation.tested])


def terms_of(family: Family) -> Terms:
    """Smallest risk, no standard errors."""
    return Terms(0.95, Minimum(), len(family), with_errors=False)
