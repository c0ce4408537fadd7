"""`HonestSearchCV(search)`: a search that adapts, repeated as a whole in every outer training set.

What such a search tries depends on what it has seen, so there is no grid whose fits the outer
splits could share: a fresh clone searches in each of them, and what it tunes is tested outside.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truerisk.contracts import Method
from truerisk.core.errors import Refusal
from truerisk.core.family import has_best_params
from truerisk.core.progress import stage
from truerisk.estimation.checking import all_findings, with_checks, with_findings
from truerisk.estimation.outer_splits import usual_word
from truerisk.estimation.problem import Problem
from truerisk.estimation.run import Run, curve_of
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.procedure import nested
from truerisk.methods.words import USUAL_FOLDS, as_method
from truerisk.results.results import RiskEstimate
from truerisk.search.own_claim import claim_of
from truerisk.search.repeat import of_clones
from truerisk.search.search_problem import (
    Routed,
    SearchRows,
    problem_and_loss,
    selected_risk,
)
from truerisk.search.search_words import (
    Words,
    marks_of,
    refuse_changed,
    refuse_state,
    refuse_words_of_grids,
)

KIN = {"estimator", "cv", "scoring", "refit", "error_score"}  # what searches like GridSearchCV take
TOLD = ("best_score_", "best_index_", "cv_results_", "n_splits_", "refit_time_", "scorer_")


def fit_given_search(search: Any, X: Any, y: Any, routed: Routed) -> dict[str, Any] | None:
    """The fitted attributes of a HonestSearchCV that was given a search; None where it was not.

    A search is what has `best_params_` once it is fitted; its class says so before.
    """
    estimator = search.estimator
    if search.param_grid is not None or search.n_iter is not None or not has_best_params(estimator):
        return None
    kind = type(estimator).__name__
    if estimator.get_params(deep=False).keys() >= KIN:  # so this is known before a long fit
        refuse_words_of_grids(search, kind)
        refuse_state(estimator)
    rows = SearchRows.of(search, X, y, routed)
    if search.outer is not None:  # what would be refused after a long fit is refused now
        _testing(search.outer, kind, usual_word(rows.data))
    if rows.data.task != "other":
        rows.problem(search, Words(search.scoring, None, search.n_jobs))
    before = marks_of(estimator)
    with stage("tuning"):
        fitted = rows.fitted()
    if not hasattr(fitted, "best_params_"):
        return None
    refuse_words_of_grids(search, kind)
    refuse_state(estimator)
    refuse_changed(estimator, before)
    if getattr(fitted, "refit", True) is False:
        raise Refusal(
            f"{kind} was made with refit=False, so it fits no model with what it chose, and there "
            "is nothing to test: make it with refit=True."
        )
    claim = claim_of(fitted)
    problem, own = problem_and_loss(search, rows, claim, fitted)
    forward = claim is not None and claim.goes_forward
    if search.outer is not None:
        forward = forward and _testing(search.outer, kind, usual_word(rows.data))[0].goes_forward
    problem = with_checks(problem, search.checks, forward=forward)
    selected = selected_risk(problem, own, claim, fitted, rows.seconds)
    selected = with_findings(selected, problem.findings)
    attributes = {name: getattr(fitted, name) for name in TOLD if hasattr(fitted, name)}
    attributes |= {"search_": fitted, "loss_": problem.loss, "selected_risk_": selected}
    attributes |= {"best_params_": dict(fitted.best_params_)}
    attributes |= {"multimetric_": getattr(fitted, "multimetric_", False)}
    if search.refit:
        attributes |= {"best_estimator_": getattr(fitted, "best_estimator_", fitted)}
        names = getattr(attributes["best_estimator_"], "feature_names_in_", None)
        attributes |= {} if names is None else {"feature_names_in_": names}
    if search.outer is not None:
        with stage("honest risk"):
            attributes |= _honest(problem, search.outer, kind, selected)
    found = all_findings(attributes.get("risk_", selected))
    return attributes | {"findings_": tuple(dict.fromkeys([*problem.findings, *found]))}


def _honest(problem: Problem, outer: Any, kind: str, selected: RiskEstimate) -> dict[str, Any]:
    """The risk of searching and fitting, by a fresh clone in every outer training set."""
    testing, notes = _testing(outer, kind, usual_word(problem.data))
    estimate = curve_of(Run(problem, testing, testing).test(new_rows=True).honest)[0]
    if estimate.value is None:
        raise Refusal(f"{kind} failed in an outer split, so there is no risk.")
    what = f"risk of the procedure: all that {kind} does, then the fit; not of one setting"
    risk = replace(of_clones(estimate, kind), notes=(what, *notes, *estimate.notes))
    comparable = selected.named_scoring == estimate.named_scoring
    comparable = comparable and selected.weighted >= estimate.weighted
    gap = estimate.scale.optimism_of(estimate.value, selected.value) if comparable else None
    scores = {name: of_clones(score, kind) for name, score in risk.scores.items()}
    return {"risk_": replace(risk, scores=scores), "scores_": scores, "optimism_": gap}


def _testing(outer: Any, kind: str, usual: str) -> tuple[Method, tuple[str, ...]]:
    """The outer method; pairs of folds, unless named, are those of a grid."""
    method = as_method(outer)
    if isinstance(method, Pairs) and method.folds is not None:
        return method, ()
    if not isinstance(method, Pairs):
        return nested(method, USUAL_FOLDS).outer_method, ()
    note = (
        f"outer splits '{usual}' in the place of pairs of folds: {kind} splits its rows itself, so "
        "there are no fits to share"
    )
    return as_method(usual), (note,)
