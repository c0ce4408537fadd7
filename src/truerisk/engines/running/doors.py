"""Import optional modules only in the functions that need them, if they are installed."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.core.family import Family
from truerisk.core.identity import entry_of
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.engines.prepared import Begin
    from truerisk.engines.running.shared_steps import SharedSteps, Trie, Tries

LARGE = {
    "sklearn.discriminant_analysis:LinearDiscriminantAnalysis": "discriminant",
    "truerisk.models.discriminant_analysis:LinearDiscriminant": "own discriminant",
    "sklearn.discriminant_analysis:QuadraticDiscriminantAnalysis": "quadratic",
    "sklearn.linear_model:ARDRegression": "columns",
    "sklearn.gaussian_process:GaussianProcessClassifier": "rows",
    "sklearn.gaussian_process:GaussianProcessRegressor": "rows",
    "sklearn.kernel_ridge:KernelRidge": "rows",
    "sksurv.linear_model:CoxPHSurvivalAnalysis": "columns",
}
"""Learners that make a matrix of columns by columns or rows by rows, with the rule for its size."""


def refuse_too_large(family: Family, data: Data, plan: Plan | None = None) -> None:
    """Refuse fits if a matrix that the learner makes does not fit into memory."""
    kind = entry_of(family.last, LARGE)
    if kind is not None:
        check_present("truerisk.engines.running.memory")
        from truerisk.engines.running import memory

        memory.refuse_too_large(kind, family, data, plan)


def copies() -> ModuleType:
    """Return the module that keeps copies of a row together in samples with repeated rows."""
    check_present("truerisk.engines.running.copies")
    from truerisk.engines.running import copies

    return copies


def several_scores() -> ModuleType:
    """Return the module that asks a model only once for several scores."""
    check_present("truerisk.engines.running.several_scores")
    from truerisk.engines.running import several_scores

    return several_scores


def chances_of_intervals(model: Any, X: Any, horizons: np.ndarray) -> np.ndarray:
    """Return the probability of the event in each interval between horizons, the latest first."""
    check_present("truerisk.engines.running.curves_in_time")
    from truerisk.engines.running import curves_in_time

    return curves_in_time.chances_of_intervals(model, X, horizons)


def shared_steps() -> ModuleType:
    """Return the module through which candidates of a pipeline share identical first steps."""
    check_present("truerisk.engines.running.shared_steps")
    from truerisk.engines.running import shared_steps

    return shared_steps


def steps_shared_by(
    family: Family, data: Data, n_candidates: int, trie: Trie | None = None
) -> SharedSteps | None:
    """Return the steps that the candidates of one fit share, or None if they share none."""
    if not family.is_piped or (n_candidates < 2 and trie is None):
        return None
    shared: SharedSteps | None = shared_steps().SharedSteps.from_family(
        family, data, n_candidates, trie
    )
    return shared


def known_steps(
    tries: Tries | None, family: Family, steps: Any, candidate: int
) -> Callable[[Plan, int], Begin | None]:
    """Return a function that finds, for each fit, the steps that another family fitted already."""
    if tries is None or steps is None:
        return lambda plan, fit: None
    known: Callable[[Plan, int], Begin | None]
    known = shared_steps().known_steps(tries, family, steps, candidate)
    return known
