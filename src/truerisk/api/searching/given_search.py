"""`HonestSearchCV(search)`: a search that adapts, repeated as a whole in every outer training set.

What such a search tries depends on what it has seen, so there is no grid whose fits the outer
splits could share: a fresh clone searches in each of them, and what it tunes is tested outside.
"""

from __future__ import annotations

import time
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from truerisk.api.assessing.own_claim import as_risk, claim_of
from truerisk.api.auditing.claim import Claim
from truerisk.api.auditing.repeat import of_clones, with_groups
from truerisk.api.auditing.score_scale import known_word
from truerisk.api.road.compute import compute, curve_of
from truerisk.api.road.problem import Problem, problem_on, refuse_unspoken
from truerisk.api.road.provenance import as_seed, versions
from truerisk.api.road.usual_word import usual_word
from truerisk.api.road.weights import fit_params_with_weight
from truerisk.api.searching.given_refusals import (
    marks,
    refuse_changed,
    refuse_groups,
    refuse_state,
    refuse_words,
)
from truerisk.api.searching.grid_search_words import Worded, worded
from truerisk.api.searching.own_score import on, own_score
from truerisk.api.searching.routing import Routed
from truerisk.api.searching.tuned_model import TunedModel
from truerisk.core.contracts import Method
from truerisk.core.errors import BadData, Refusal
from truerisk.core.family import Family
from truerisk.core.loss_words import as_loss
from truerisk.core.losses import Loss
from truerisk.core.progress import stage
from truerisk.core.results import RiskEstimate
from truerisk.core.table.data import Data, Task
from truerisk.engines.running.fitting import fitted_on_all
from truerisk.methods.nested import Nested, Pairs
from truerisk.methods.words import as_method
from truerisk.models.searches import has_best_params

__all__ = ["found_by_search"]

KIN = {"estimator", "cv", "scoring", "refit", "error_score"}  # what searches like GridSearchCV take
TOLD = ("best_score_", "best_index_", "cv_results_", "n_splits_", "refit_time_", "scorer_")


def found_by_search(search: Any, X: Any, y: Any, routed: Routed) -> dict[str, Any] | None:
    """The fitted attributes of a HonestSearchCV that was given a search; None where it was not.

    A search is what has `best_params_` once it is fitted; its class says so before.
    """
    given = search.estimator
    if search.param_grid is not None or search.n_iter is not None or not has_best_params(given):
        return None
    kind = type(given).__name__
    if given.get_params(deep=False).keys() >= KIN:  # so this is known before a long fit
        refuse_words(search, kind)
        refuse_state(given)
    rows = _Rows.of(search, X, y, routed)
    _check_words(search, rows, kind)
    before = marks(given)
    with stage("tuning"):
        fitted = rows.fitted()
    if not hasattr(fitted, "best_params_"):
        return None
    refuse_words(search, kind)
    refuse_state(given)
    refuse_changed(given, before)
    _refuse_unfitted(fitted, kind)
    claim = claim_of(fitted)
    problem, own = _posed(search, rows, claim, fitted)
    selected = _selected(problem, own, claim, fitted, rows.seconds)
    found = {name: getattr(fitted, name) for name in TOLD if hasattr(fitted, name)}
    found |= {"search_": fitted, "loss_": problem.loss, "best_params_": dict(fitted.best_params_)}
    found |= {"multimetric_": getattr(fitted, "multimetric_", False), "selected_risk_": selected}
    if search.refit:
        found |= {"best_estimator_": getattr(fitted, "best_estimator_", fitted)}
        names = getattr(found["best_estimator_"], "feature_names_in_", None)
        found |= {} if names is None else {"feature_names_in_": names}
    if search.outer is not None:
        with stage("honest risk"):
            found |= _honest(problem, search.outer, kind, selected)
    return found


@dataclass
class _Rows:
    """The checked rows, and what every fit of the search is given besides."""

    family: Family
    data: Data
    seed: int
    sample_weight: Any
    fit_params: dict[str, Any]
    seconds: float = 0.0

    @classmethod
    def of(cls, search: Any, X: Any, y: Any, routed: Routed) -> _Rows:
        from sklearn import get_config

        family = Family.of(search.estimator)
        weight = routed.sample_weight
        data = Data.check(X, y, task=_task(family), **routed.of_rows, sample_weight=weight)
        params = dict(routed.fit)
        if not get_config()["enable_metadata_routing"]:  # which hands them on itself
            refuse_groups(search.estimator, routed.groups)
            params = with_groups(params, data.groups)
        return cls(family, data, as_seed(search.random_state), weight, params)

    def fitted(self) -> Any:
        """A clone that searched all rows."""
        model, started = self.family.estimator, time.perf_counter()
        params = fit_params_with_weight(model, self.sample_weight, self.fit_params)
        seed = (self.seed, 0) if self.family.is_random else None
        fitted = fitted_on_all(self.family, 0, self.data.fitted_with(params), seed)
        self.seconds = time.perf_counter() - started
        return fitted


def _task(family: Family) -> Task:
    """What it predicts; a density, say, is searched by its own score."""
    try:
        return family.task
    except BadData:
        return "other"


def _check_words(search: Any, rows: _Rows, kind: str) -> None:
    """Refuse what would be refused after a long fit as well."""
    if search.outer is not None:
        _testing(search.outer, kind, usual_word(rows.data))
    if rows.data.task != "other":
        _problem(search, rows, Worded(search.loss, search.scores, search.executor))


def _refuse_unfitted(fitted: Any, kind: str) -> None:
    if getattr(fitted, "refit", True) is False:
        raise Refusal(
            f"{kind} was made with refit=False, so it fits no model with what it chose, and there "
            "is nothing to test: make it with refit=True."
        )


def _posed(
    search: Any, rows: _Rows, claim: Claim | None, fitted: Any
) -> tuple[Problem, Loss | None]:
    """The whole search as one learner, and the loss behind its own score.

    The honest risk is told in that loss where none was asked for.
    """
    data = rows.data
    asked = _asked(search, claim, fitted, data.y)
    own = None
    if claim is not None:
        plain = copy(search)
        plain.loss = plain.scoring = None
        asked_plainly = on(_asked(plain, claim, fitted, data.y).loss, data, search.positive)
        own = as_loss(asked_plainly, data, search.positive)
    return refuse_unspoken(_problem(search, rows, asked)), own


def _problem(search: Any, rows: _Rows, asked: Worded) -> Problem:
    return problem_on(
        rows.data,
        rows.family,
        loss=on(asked.loss, rows.data, search.positive),
        scores=asked.scores,
        positive=search.positive,
        sample_weight=rows.sample_weight,
        fit_params=rows.fit_params,
        interval=search.interval,
        confidence_level=search.confidence_level,
        engine=search.engine,
        executor=asked.executor,
        random_state=rows.seed,
    )


def _asked(search: Any, claim: Claim | None, fitted: Any, y: Any) -> Worded:
    """What was asked of the model that is tuned; by the search's own score where nothing was."""
    asker = copy(search)
    asker.estimator = (
        getattr(fitted, "best_estimator_", fitted) if claim is None else claim.estimator
    )
    if claim is not None and search.loss is None and search.scoring is None:
        word = known_word(claim) if not isinstance(claim.scoring, Loss) else None
        if isinstance(claim.scoring, Loss):
            asker.loss = claim.scoring
        elif word is None and claim.scoring is None:
            asker.loss = own_score(claim.estimator)
        elif word != "accuracy":  # which the usual loss of classifiers is
            asker.scoring = word or claim.scoring
    return worded(asker, y)


def _selected(
    problem: Problem, own: Loss | None, claim: Claim | None, fitted: Any, seconds: float
) -> RiskEstimate:
    """Its best score as a risk: in the words of the honest risk where that is of the same score."""
    like = _papers(problem, fitted, seconds)
    if claim is None:
        kind = type(fitted).__name__
        note = f"minus best_score_: in which score that is, {kind} does not say"
        value = -float(fitted.best_score_)
        return replace(
            like, value=value, loss="best_score_", notes=(note,), perfect=0.0, positive=None
        )
    found = as_risk(claim, problem.data, like)
    loss = problem.loss
    if own is None or (own.word, own.perfect) != (loss.word, loss.perfect):
        return found
    return replace(found, loss=loss.word, perfect=like.perfect, positive=loss.label(problem.data))


def _papers(problem: Problem, fitted: Any, seconds: float) -> RiskEstimate:
    """What is said of a score that the search itself found on all rows."""
    data, loss = problem.data, problem.loss
    return RiskEstimate(
        value=None,
        std_error=None,
        interval=None,
        method=f"{type(fitted).__name__}: best_score_",
        target="Err",
        bias="optimistic: the best of several scores",
        loss=loss.word,
        params=dict(fitted.best_params_),
        n_rows=data.n_rows,
        n_fits=1,
        seconds=seconds,
        engine="generic",
        seed=problem.seed,
        data_fingerprint=data.fingerprint,
        plan_fingerprint="",  # its splits are its own
        versions=dict(versions()),
        weighted=data.sample_weight is not None and _weighs(fitted),
        perfect=loss.scale.perfect,
        positive=loss.label(data),
    )


def _weighs(fitted: Any) -> bool:
    """Whether its scores weight the rows, as its fits do: those of older searches count rows."""
    if isinstance(fitted, TunedModel):
        return True
    from sklearn import get_config

    routed = get_config()["enable_metadata_routing"]  # where each scorer asks for itself, or not
    return hasattr(fitted, "_check_scorers_accept_sample_weight") and not routed


def _honest(problem: Problem, outer: Any, kind: str, selected: RiskEstimate) -> dict[str, Any]:
    """The risk of searching and fitting, by a fresh clone in every outer training set."""
    testing, notes = _testing(outer, kind, usual_word(problem.data))
    estimate = curve_of(compute(replace(problem, calibrated="all"), testing, honest=True))[0]
    if estimate.value is None:
        raise Refusal(f"{kind} failed in an outer split, so there is no risk.")
    what = f"risk of the procedure: all that {kind} does, then the fit; not of one setting"
    risk = replace(of_clones(estimate, kind), notes=(what, *notes, *estimate.notes))
    comparable = selected.loss == problem.loss.word and selected.value is not None
    comparable = comparable and selected.weighted >= estimate.weighted
    gap = None if not comparable else estimate.value - float(selected.value or 0.0)
    scores = {name: of_clones(score, kind) for name, score in risk.scores.items()}
    return {"risk_": replace(risk, scores=scores), "scores_": scores, "optimism_": gap}


def _testing(outer: Any, kind: str, usual: str) -> tuple[Method, tuple[str, ...]]:
    """The outer method; pairs of folds, unless named, are those of a grid."""
    method = as_method(outer)
    if isinstance(method, Pairs) and method.folds is not None:
        return method, ()
    if not isinstance(method, Pairs):
        return Nested(method).outer_method, ()
    note = (
        f"outer splits '{usual}' in the place of pairs of folds: {kind} splits its rows itself, so "
        "there are no fits to share"
    )
    return as_method(usual), (note,)
