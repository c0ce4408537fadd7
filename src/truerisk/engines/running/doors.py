"""The doors of what few fits need: each branch is imported by its function, where it is there."""

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
"""Learners that make a matrix of columns by columns, or of rows by rows, and by which rule."""


def refuse_too_large(family: Family, data: Data, plan: Plan | None = None) -> None:
    """Refuse fits if a matrix that the learner makes does not fit into memory."""
    kind = entry_of(family.last, LARGE)
    if kind is not None:
        check_present("truerisk.engines.running.memory")
        from truerisk.engines.running import memory

        memory.refuse_too_large(kind, family, data, plan)


def copies() -> ModuleType:
    """Return what keeps the copies of a row together, where a sample holds rows repeatedly."""
    check_present("truerisk.engines.running.copies")
    from truerisk.engines.running import copies

    return copies


def several_scores() -> ModuleType:
    """Return what asks a model once for several scores."""
    check_present("truerisk.engines.running.several_scores")
    from truerisk.engines.running import several_scores

    return several_scores


def chances_of_intervals(model: Any, X: Any, horizons: np.ndarray) -> np.ndarray:
    """Return the chance of the event in each interval between horizons, the latest first."""
    check_present("truerisk.engines.running.curves_in_time")
    from truerisk.engines.running import curves_in_time

    return curves_in_time.chances_of_intervals(model, X, horizons)


def shared_steps() -> ModuleType:
    """Return what lets the candidates of a pipeline share the steps that begin alike."""
    check_present("truerisk.engines.running.shared_steps")
    from truerisk.engines.running import shared_steps

    return shared_steps


def steps_shared_by(
    family: Family, data: Data, n_candidates: int, trie: Trie | None = None
) -> SharedSteps | None:
    """Return the steps that candidates of one fit share, or None where they share none."""
    if not family.is_piped or (n_candidates < 2 and trie is None):
        return None
    shared: SharedSteps | None = shared_steps().SharedSteps.of(family, data, n_candidates, trie)
    return shared


def known_steps(
    tries: Tries | None, family: Family, steps: Any, candidate: int
) -> Callable[[Plan, int], Begin | None]:
    """Return for each fit how a pipeline of unfitted steps finds those that others fitted."""
    if tries is None or steps is None:
        return lambda plan, fit: None
    known: Callable[[Plan, int], Begin | None]
    known = shared_steps().known_steps(tries, family, steps, candidate)
    return known
