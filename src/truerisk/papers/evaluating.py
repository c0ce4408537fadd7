"""One method on one data set, by the first engine that does not refuse, or by a given one."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import Method, Streams, Terms
from truerisk.core.evaluation import Evaluation
from truerisk.core.family import Family
from truerisk.core.losses import Loss
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.engines.asking import Asking
from truerisk.selection.minimum import Minimum

__all__ = ["answered", "evaluated", "terms_of", "values_of"]


def answered(
    family: Family,
    data: Data,
    loss: Loss,
    plan: Plan,
    only: np.ndarray | None = None,
    by: str = "auto",
) -> Answers:
    """The answers of all candidates, or in fit f those of candidate `only[f]` alone.

    `by` is the word of an engine, or "auto" for the first that does not refuse.
    """
    return Asking(family, data, loss, engine=by)(plan, only)


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


def terms_of(family: Family, **options: Any) -> Terms:
    """Smallest risk, no standard errors."""
    return Terms(0.95, Minimum(), len(family), with_errors=False, **options)
