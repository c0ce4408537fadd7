"""`HonestSearchCV(search)`: an adaptive search, repeated as a whole in every outer training set.

The settings that such a search tries depend on the data, so that there is no grid whose fits the
outer splits could share. A fresh clone searches in each outer training set, and its tuned model is
tested outside.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from hashlib import sha256
from inspect import Parameter, signature
from math import inf
from typing import Any

from sklearn.utils.validation import has_fit_parameter

from truerisk.contracts import Method
from truerisk.core.arguments import mention, shown
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.family import Family, refuse_no_tags
from truerisk.core.formats import clean
from truerisk.core.progress import stage
from truerisk.data.data import Data, TaskWord
from truerisk.engines.running.fitting import fitted_on_all
from truerisk.estimation.problem import (
    Problem,
    as_seed,
    params_branch,
    refuse_unrated_class,
    with_checks,
)
from truerisk.estimation.run import blank_estimate, compute, curve_of
from truerisk.losses.loss import Loss
from truerisk.losses.loss_words import as_loss, by_scoring
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.procedure import nested
from truerisk.methods.words import USUAL_FOLDS, as_method, default_name
from truerisk.results.results import RiskEstimate, all_findings, with_findings
from truerisk.search.claim import Claim, known_name
from truerisk.search.own_claim import as_risk, claim_of
from truerisk.search.repeat import of_clones, study_given, with_groups
from truerisk.search.search_problem import Routed, own_score, problem_of, scoring_of
from truerisk.search.tuned_model import TunedModel

# parameters of searches like GridSearchCV
KIN = {"estimator", "cv", "scoring", "refit", "error_score"}
REPORTED = ("best_score_", "best_index_", "cv_results_", "n_splits_", "refit_time_", "scorer_")


def fit_given_search(search: Any, y: Any, routed: Routed) -> dict[str, Any] | None:
    """Return the fitted attributes of a HonestSearchCV around a search; None if it is no search.

    An estimator is a search if it has `best_params_` once it is fitted; its class may show it
    earlier.
    """
    estimator = search.estimator
    kind = type(estimator).__name__
    if estimator.get_params(deep=False).keys() >= KIN:  # This is recognised before a long fit.
        refuse_words_of_grids(search, kind)
        refuse_state(estimator)
    rows = SearchRows.from_search(search, y, routed)
    if search.outer is not None:  # A refusal that would follow a long fit is raised now.
        _testing(search.outer, kind, default_name(rows.data))
    if rows.data.task != "other":
        rows.problem(search, search.scoring)
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
        forward = forward and _testing(search.outer, kind, default_name(rows.data))[0].goes_forward
    problem = with_checks(problem, search.checks, forward=forward)
    selected = selected_risk(problem, own, claim, fitted, rows.seconds)
    selected = with_findings(selected, problem.findings)
    attributes = {name: getattr(fitted, name) for name in REPORTED if hasattr(fitted, name)}
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
    """Return the risk of searching and fitting, from a fresh clone in every outer training set."""
    testing, notes = _testing(outer, kind, default_name(problem.data))
    tested = compute(replace(problem, calibrated=True), testing, new_rows=True)
    estimate = curve_of(tested)[0]
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
    """Return the outer method and notes; default pairs are replaced, as they need a grid."""
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


@dataclass
class SearchRows:
    """The checked rows, and the further arguments of every fit of the search."""

    family: Family
    data: Data
    seed: int
    fit_options: dict[str, Any]
    seconds: float = 0.0

    @classmethod
    def from_search(cls, search: Any, y: Any, routed: Routed) -> SearchRows:
        """Check X, y and the routed arguments for the search's estimator."""
        from sklearn import get_config

        family = Family.from_grid(search.estimator)
        refuse_no_tags(search.estimator)
        try:
            task: TaskWord = family.task
        # Other estimators, such as density estimators, are searched by their own score.
        except BadData:
            task = "other"
        data = Data.check(routed.X, y, task=task, **routed.rows)
        params = dict(routed.fit)
        # With metadata routing, scikit-learn passes the groups itself.
        if not get_config()["enable_metadata_routing"]:
            _refuse_groups(search.estimator, routed.rows["groups"])
            params = with_groups(params, data.groups)
        fit_options = {"sample_weight": routed.rows["sample_weight"], "fit_params": params}
        return cls(family, data, as_seed(search.random_state), fit_options)

    def problem(self, search: Any, scoring: Any) -> Problem:
        """Return the problem that treats the whole search as one learner."""
        options = self.fit_options
        return problem_of(search, self.data, self.family, scoring, seed=self.seed, **options)

    def fitted(self) -> Any:
        """Return a clone that was fitted on all rows."""
        model, started = self.family.estimator, time.perf_counter()
        params = self.fit_options["fit_params"]
        if self.fit_options["sample_weight"] is not None:
            params = params_branch().fit_params_with_weight(model, **self.fit_options)
        seed = (self.seed, 0) if self.family.is_random else None
        fitted = fitted_on_all(self.family, 0, self.data.for_fits(params, self.data.as_given), seed)
        self.seconds = time.perf_counter() - started
        return fitted


def problem_and_loss(
    search: Any, rows: SearchRows, claim: Claim | None, fitted: Any
) -> tuple[Problem, Loss | None]:
    """Return the problem of the whole search as one learner, and the loss of its own score.

    The honest risk is reported in that loss unless another one is requested.
    """
    data = rows.data
    scoring = scoring_of_given(search, claim, fitted)
    own = None
    if claim is not None:
        plain = copy(search)
        plain.scoring = None
        chosen, _ = by_scoring(scoring_of_given(plain, claim, fitted), search.refit)
        own = as_loss(chosen, data)
    return refuse_unrated_class(rows.problem(search, scoring)), own


def _refuse_groups(search: Any, groups: Any) -> None:
    """Refuse groups for a search that does not accept them, since its own splits would cut them."""
    if groups is None or has_fit_parameter(search, "groups"):
        return
    parameters = signature(search.fit).parameters.values()
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return
    raise Refusal(
        f"{type(search).__name__}.fit takes no groups, so that its own splits would cut them, and "
        "its choice would rest on rows that it has seen: use a search that takes groups."
    )


def selected_risk(
    problem: Problem, own: Loss | None, claim: Claim | None, fitted: Any, seconds: float
) -> RiskEstimate:
    """Return its best score, named like the honest risk if both are of the same score."""
    like = _search_provenance(problem, fitted, seconds)
    if claim is None:
        kind = type(fitted).__name__
        note = f"best_score_: in which score that is, {kind} does not say"
        value = float(fitted.best_score_)
        return replace(
            like, value=value, scoring="best_score_", notes=(note,), perfect=inf, positive=None
        )
    claimed = as_risk(claim, problem.data, like)
    loss = problem.loss
    label = loss.label(problem.data)
    if own is None or (own.name, own.perfect) != (loss.name, loss.perfect):
        return claimed
    if own.label(problem.data) != label:
        return replace(claimed, positive=own.label(problem.data))
    return claimed.on_scale(like.scale, scoring=loss.name, positive=label)


def _search_provenance(problem: Problem, fitted: Any, seconds: float) -> RiskEstimate:
    """Return the provenance of a score that the search itself computed on all rows."""
    data, loss = problem.data, problem.loss
    return blank_estimate(
        data,
        loss,
        method=f"{type(fitted).__name__}: best_score_",
        target="Err",
        bias="optimistic: the best of several scores",
        params=dict(fitted.best_params_),
        n_fits=1,
        seconds=seconds,
        engine="generic",
        seed=problem.seed,
        plan_fingerprint="",  # the search has splits of its own
        weighted=data.sample_weight is not None and _weighs(fitted),
    )


def _weighs(fitted: Any) -> bool:
    """Return True if its scores weight the rows, as its fits do; older searches count rows."""
    if isinstance(fitted, TunedModel):
        return True
    from sklearn import get_config

    # With metadata routing, each scorer decides for itself.
    routed = get_config()["enable_metadata_routing"]
    return hasattr(fitted, "_check_scorers_accept_sample_weight") and not routed


def scoring_of_given(search: Any, claim: Claim | None, fitted: Any) -> Any:
    """Return the scoring for the tuned model; by default the search's own score."""
    asker = copy(search)
    asker.estimator = (
        getattr(fitted, "best_estimator_", fitted) if claim is None else claim.estimator
    )
    if claim is not None and search.scoring is None:
        name = known_name(claim) if not isinstance(claim.scoring, Loss) else None
        if isinstance(claim.scoring, Loss):
            asker.scoring = claim.scoring
        elif name is None and claim.scoring is None:
            asker.scoring = own_score(claim.estimator)
        elif name != "accuracy":  # the default loss of classifiers is accuracy
            asker.scoring = name or claim.scoring
    return scoring_of(asker)


OWN = {  # parameters about the settings of a grid, with the values that have no effect
    "rule": "min",
    "cv": None,
    "time_limit": None,
    "store": None,
    "error_score": "raise",
    "return_train_score": False,
    "verbose": 0,
}


def refuse_words_of_grids(search: Any, kind: str) -> None:
    """Refuse parameters about the settings of a grid, since the given search tries its own."""
    heard = search.estimator.get_params(deep=False)
    for name, unsaid in OWN.items():
        value = getattr(search, name, unsaid)
        if isinstance(value, type(unsaid)) and value == unsaid:
            continue
        remedy = f"set it in {kind}, or give a model and a grid"
        raise BadArgument(
            f"{mention(name, value)} is about the settings of a grid, and {kind} tries its own: "
            f"{remedy if name in heard else 'give a model and a grid'}."
        )
    if callable(search.refit):
        raise BadArgument(
            f"{mention('refit', search.refit)} chooses a setting, and {kind} chooses its own: use "
            "refit=True."
        )


def refuse_state(search: Any) -> None:
    """Refuse state that clones would share, such as a study or an iterator.

    Also refuse splits given as row numbers, which are valid for all rows only.
    """
    kind = type(search).__name__
    if study_given(search):
        raise Refusal(
            f"{kind} was given a study, which goes on learning over fits and clones: inside the "
            "outer splits it would know the rows that test. Give study=None."
        )
    for name, value in search.get_params(deep=True).items():
        if isinstance(value, Iterator):
            raise Refusal(
                f"{name} of {kind} is {clean(shown(value), 60)}, which the first fit uses up: give "
                "a list or a splitter."
            )
        if name.rpartition("__")[2] == "cv" and isinstance(value, list | tuple):
            raise Refusal(
                f"{name} of {kind} lists splits by the numbers of all rows, and in an outer "
                "training set these numbers mean other rows: give a splitter, such as KFold(5)."
            )


def marks_of(search: Any) -> dict[str, str]:
    """Return hashes of the search's parameters, as far as they can be pickled."""
    marks = {}
    for name, value in search.get_params(deep=True).items():
        try:
            marks[name] = sha256(pickle.dumps(value)).hexdigest()
        except Exception:  # noqa: BLE001  functions in notebooks and locks cannot be pickled
            continue
    return marks


def refuse_changed(search: Any, before: Mapping[str, str]) -> None:
    """Refuse a search whose parameters were changed by the fit of a clone, as clones share them."""
    now = marks_of(search)
    changed = [name for name, mark in before.items() if now.get(name) != mark]
    if changed:
        raise Refusal(
            f"{clean(', '.join(changed), 120)} of {type(search).__name__} changed while a clone of "
            "it was fitted: what is learned in one fit survives into the next, and inside the "
            "outer splits it would know the rows that test. Give an object that clone() copies."
        )
