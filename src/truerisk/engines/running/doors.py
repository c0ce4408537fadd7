"""Import optional modules only in the functions that need them, if they are installed."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.core.family import Family
from truerisk.core.identity import find_class_entry
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.engines.prepared import StepFitter
    from truerisk.engines.running.shared_steps import FittedStepTree, FittedStepTrees, SharedSteps

SQUARE_MATRIX_LEARNERS = {
    "sklearn.discriminant_analysis:LinearDiscriminantAnalysis": "discriminant",
    "truerisk.models.discriminant_analysis:LinearDiscriminant": "own discriminant",
    "sklearn.discriminant_analysis:QuadraticDiscriminantAnalysis": "quadratic",
    "sklearn.linear_model:ARDRegression": "columns",
    "sklearn.gaussian_process:GaussianProcessClassifier": "rows",
    "sklearn.gaussian_process:GaussianProcessRegressor": "rows",
    "sklearn.kernel_ridge:KernelRidge": "rows",
    "sksurv.linear_model:CoxPHSurvivalAnalysis": "columns",
}
"""Learners that allocate a square matrix, and the rule in `memory.NEEDS` that gives its size."""


def refuse_too_large(family: Family, data: Data, plan: Plan | None = None) -> None:
    """Raise Refusal if a matrix that the learner allocates does not fit into memory."""
    size_rule = find_class_entry(family.last, SQUARE_MATRIX_LEARNERS)
    if size_rule is not None:
        check_present("truerisk.engines.running.memory")
        from truerisk.engines.running import memory

        memory.refuse_too_large(size_rule, family, data, plan)


def copies_module() -> ModuleType:
    """Return the module that keeps copies of a row together in samples with repeated rows."""
    check_present("truerisk.engines.running.copies")
    from truerisk.engines.running import copies

    return copies


def several_scores_module() -> ModuleType:
    """Return the module that computes several scores from one prediction of a model."""
    check_present("truerisk.engines.running.several_scores")
    from truerisk.engines.running import several_scores

    return several_scores


def interval_probabilities(model: Any, X: Any, horizons: np.ndarray) -> np.ndarray:
    """Return the probability that a row's event falls into each interval between horizons.

    The latest interval comes first.
    """
    check_present("truerisk.engines.running.curves_in_time")
    from truerisk.engines.running import curves_in_time

    return curves_in_time.event_probabilities_by_interval(model, X, horizons)


def shared_steps() -> ModuleType:
    """Return the module that fits identical first steps of pipelines once for all candidates."""
    check_present("truerisk.engines.running.shared_steps")
    from truerisk.engines.running import shared_steps

    return shared_steps


def shared_steps_of_family(
    family: Family, data: Data, n_candidates: int, step_tree: FittedStepTree | None = None
) -> SharedSteps | None:
    """Return the pipeline steps that the candidates of one fit share, or None if there are none."""
    if not family.is_piped or (n_candidates < 2 and step_tree is None):
        return None
    shared_pipeline_steps: SharedSteps | None = shared_steps().SharedSteps.from_family(
        family, data, n_candidates, step_tree
    )
    return shared_pipeline_steps


def known_steps_finder(
    step_trees: FittedStepTrees | None, family: Family, steps: Any, candidate: int
) -> Callable[[Plan, int], StepFitter | None]:
    """Return a function that looks up pipeline steps fitted by another family on the same rows.

    Steps that no other family fitted are fitted.
    """
    if step_trees is None or steps is None:
        return lambda plan, fit: None
    find_steps: Callable[[Plan, int], StepFitter | None]
    find_steps = shared_steps().known_steps(step_trees, family, steps, candidate)
    return find_steps
