"""`HonestSearchCV(search)`: an adaptive search, repeated as a whole in every outer training set.

The settings that such a search tries depend on the data, so there is no grid whose fits the outer
splits could share. A fresh clone of the search is fitted in each outer training set, and its tuned
model is tested on the held-out rows.
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
from truerisk.core.arguments import mention, repr_on_one_line
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.family import Family, check_has_tags
from truerisk.core.formats import escape_and_truncate
from truerisk.core.progress import stage
from truerisk.data.data import Data, TaskName
from truerisk.engines.running.fitting import FitContext, fit_on_all_rows
from truerisk.estimation.problem import (
    EstimationProblem,
    as_seed,
    fit_params_module,
    refuse_unused_positive,
    with_checks,
)
from truerisk.estimation.run import blank_estimate, compute_risks, to_risk_curve
from truerisk.losses.loss import Loss
from truerisk.losses.loss_words import as_loss, split_scoring
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.procedure import make_nested_procedure
from truerisk.methods.words import DEFAULT_FOLDS, as_method, name_default_method
from truerisk.results.results import RiskEstimate, add_findings, all_findings
from truerisk.search.claim import Claim, find_sklearn_name
from truerisk.search.door import SearchTasks
from truerisk.search.own_claim import claim_to_estimate, read_claim_or_none
from truerisk.search.repeat import add_groups, has_study, label_as_nested
from truerisk.search.search_problem import (
    FitArguments,
    loss_from_score_method,
    problem_with_search_options,
    resolve_scoring,
)
from truerisk.search.tuned_model import TunedModel

# A search like GridSearchCV is recognised by these parameters.
SEARCH_PARAMETERS = {"estimator", "cv", "scoring", "refit", "error_score"}
REPORTED_ATTRIBUTES = (
    "best_score_",
    "best_index_",
    "cv_results_",
    "n_splits_",
    "refit_time_",
    "scorer_",
)


def fit_given_search(
    search: Any, y: Any, routed: FitArguments, tasks: SearchTasks
) -> dict[str, Any] | None:
    """Return the fitted attributes of a HonestSearchCV whose estimator is a search.

    Return None if the estimator is no search. An estimator is a search if it has `best_params_`
    once it is fitted; its class may show it earlier.
    """
    estimator = search.estimator
    class_name = type(estimator).__name__
    # A search with these parameters is recognised now, before its fit, which may take long.
    if estimator.get_params(deep=False).keys() >= SEARCH_PARAMETERS:
        refuse_grid_parameters(search, class_name)
        refuse_shared_state(estimator)
    search_rows = SearchRows.from_search(search, y, routed)
    # Resolve `outer` now, so that an invalid value raises an error before the long fit.
    if search.outer is not None:
        _resolve_outer_method(search.outer, class_name, name_default_method(search_rows.data))
    if search_rows.data.task != "other":
        search_rows.problem(search, search.scoring)
    hashes_before = parameter_hashes(estimator)
    with stage("tuning"):
        fitted_search = search_rows.fit_search(tasks.fit_context("search"))
    if not hasattr(fitted_search, "best_params_"):
        return None
    refuse_grid_parameters(search, class_name)
    refuse_shared_state(estimator)
    refuse_changed_parameters(estimator, hashes_before)
    if getattr(fitted_search, "refit", True) is False:
        raise Refusal(
            f"{class_name} was made with refit=False, so it fits no model with what it chose, and "
            "there is nothing to test: make it with refit=True."
        )
    claim = read_claim_or_none(fitted_search)
    problem, search_loss = make_problem_and_loss(search, search_rows, claim, fitted_search)
    goes_forward = claim is not None and claim.goes_forward
    if search.outer is not None:
        goes_forward = (
            goes_forward
            and _resolve_outer_method(
                search.outer, class_name, name_default_method(search_rows.data)
            )[0].goes_forward
        )
    problem = with_checks(problem, search.checks, goes_forward=goes_forward)
    selected_estimate = selected_risk(
        problem, search_loss, claim, fitted_search, search_rows.seconds
    )
    selected_estimate = add_findings(selected_estimate, problem.findings)
    attributes = {
        attribute_name: getattr(fitted_search, attribute_name)
        for attribute_name in REPORTED_ATTRIBUTES
        if hasattr(fitted_search, attribute_name)
    }
    attributes |= {
        "search_": fitted_search,
        "loss_": problem.loss,
        "selected_risk_": selected_estimate,
    }
    attributes |= {"best_params_": dict(fitted_search.best_params_)}
    attributes |= {"multimetric_": getattr(fitted_search, "multimetric_", False)}
    if search.refit:
        attributes |= {"best_estimator_": getattr(fitted_search, "best_estimator_", fitted_search)}
        feature_names = getattr(attributes["best_estimator_"], "feature_names_in_", None)
        attributes |= {} if feature_names is None else {"feature_names_in_": feature_names}
    if search.outer is not None:
        with stage("honest risk"):
            attributes |= _honest_risk(problem, search.outer, class_name, selected_estimate, tasks)
    risk_findings = all_findings(attributes.get("risk_", selected_estimate))
    return attributes | {"findings_": tuple(dict.fromkeys([*problem.findings, *risk_findings]))}


def _honest_risk(
    problem: EstimationProblem,
    outer: Any,
    class_name: str,
    selected_estimate: RiskEstimate,
    tasks: SearchTasks,
) -> dict[str, Any]:
    """Return the honest risk of the whole procedure of searching and fitting.

    A fresh clone of the search is fitted in every outer training set.
    """
    testing_method, replacement_notes = _resolve_outer_method(
        outer, class_name, name_default_method(problem.data)
    )
    with tasks.follow("honest-risk", problem, testing_method):
        testing_run = compute_risks(
            replace(problem, uses_calibrated_interval=True), testing_method, new_rows=True
        )
    estimate = to_risk_curve(testing_run)[0]
    if estimate.value is None:
        raise Refusal(f"{class_name} failed in an outer split, so there is no risk.")
    procedure_note = (
        f"risk of the procedure: all that {class_name} does, then the fit; not of one setting"
    )
    risk = replace(
        label_as_nested(estimate, class_name),
        notes=(procedure_note, *replacement_notes, *estimate.notes),
    )
    is_comparable = selected_estimate.named_scoring == estimate.named_scoring
    is_comparable = is_comparable and selected_estimate.weighted >= estimate.weighted
    optimism = (
        estimate.scale.compute_optimism(estimate.value, selected_estimate.value)
        if is_comparable
        else None
    )
    scores = {
        score_name: label_as_nested(score, class_name) for score_name, score in risk.scores.items()
    }
    return {"risk_": replace(risk, scores=scores), "scores_": scores, "optimism_": optimism}


def _resolve_outer_method(
    outer: Any, class_name: str, default_folds: str
) -> tuple[Method, tuple[str, ...]]:
    """Return the method of the outer splits, with a note if it replaces the default.

    The default, pairs of folds, is replaced by plain folds, since pairs need a grid.
    """
    outer_method = as_method(outer)
    if isinstance(outer_method, Pairs) and outer_method.folds is not None:
        return outer_method, ()
    if not isinstance(outer_method, Pairs):
        return make_nested_procedure(outer_method, DEFAULT_FOLDS).outer_method, ()
    replacement_note = (
        f"outer splits '{default_folds}' in the place of pairs of folds: {class_name} splits its "
        "rows itself, so there are no fits to share"
    )
    return as_method(default_folds), (replacement_note,)


@dataclass
class SearchRows:
    """Checked rows of a search, with the further arguments of every fit."""

    family: Family
    data: Data
    seed: int
    fit_options: dict[str, Any]
    seconds: float = 0.0

    @classmethod
    def from_search(cls, search: Any, y: Any, routed: FitArguments) -> SearchRows:
        """Check X, y and the routed arguments for the search's estimator."""
        from sklearn import get_config

        family = Family.from_grid(search.estimator)
        check_has_tags(search.estimator)
        try:
            task: TaskName = family.task
        # The estimator has no known task, such as a density estimator. Its own score is used.
        except BadData:
            task = "other"
        data = Data.check(routed.X, y, task=task, **routed.rows)
        fit_params = dict(routed.fit_params)
        # If metadata routing is enabled, scikit-learn itself passes the groups to the splitter.
        if not get_config()["enable_metadata_routing"]:
            _refuse_groups(search.estimator, routed.rows["groups"])
            fit_params = add_groups(fit_params, data.groups)
        fit_options = {"sample_weight": routed.rows["sample_weight"], "fit_params": fit_params}
        return cls(family, data, as_seed(search.random_state), fit_options)

    def problem(self, search: Any, scoring: Any) -> EstimationProblem:
        """Return the estimation problem that treats the whole search as one learner."""
        fit_options = self.fit_options
        return problem_with_search_options(
            search, self.data, self.family, scoring, seed=self.seed, **fit_options
        )

    def fit_search(self, fit_context: FitContext) -> Any:
        """Fit a clone of the search on all rows, and measure the seconds."""
        model, start_time = self.family.estimator, time.perf_counter()
        fit_params = self.fit_options["fit_params"]
        if self.fit_options["sample_weight"] is not None:
            fit_params = fit_params_module().fit_params_with_weight(model, **self.fit_options)
        seed = (self.seed, 0) if self.family.is_random else None
        fitted_search = fit_on_all_rows(
            self.family, 0, self.data.for_fits(fit_params, self.data.as_given), seed, fit_context
        )
        self.seconds = time.perf_counter() - start_time
        return fitted_search


def make_problem_and_loss(
    search: Any, search_rows: SearchRows, claim: Claim | None, fitted_search: Any
) -> tuple[EstimationProblem, Loss | None]:
    """Return the problem in which the whole search is one learner, and the loss of its own score.

    The honest risk is reported in the search's own loss unless another one is requested.
    """
    data = search_rows.data
    scoring = choose_scoring(search, claim, fitted_search)
    search_loss = None
    if claim is not None:
        search_without_scoring = copy(search)
        search_without_scoring.scoring = None
        selection_score, _ = split_scoring(
            choose_scoring(search_without_scoring, claim, fitted_search), search.refit
        )
        search_loss = as_loss(selection_score, data)
    return refuse_unused_positive(search_rows.problem(search, scoring)), search_loss


def _refuse_groups(search: Any, groups: Any) -> None:
    """Raise Refusal if groups are given, but the search's `fit` does not accept groups.

    The splits of the search would put rows of one group into both training and test sets.
    """
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
    problem: EstimationProblem,
    own_loss: Loss | None,
    claim: Claim | None,
    fitted_search: Any,
    search_seconds: float,
) -> RiskEstimate:
    """Return the search's best score as a risk estimate.

    It is named like the honest risk if both are the same score.
    """
    provenance = _search_provenance(problem, fitted_search, search_seconds)
    if claim is None:
        class_name = type(fitted_search).__name__
        unknown_score_note = f"best_score_: in which score that is, {class_name} does not say"
        best_score = float(fitted_search.best_score_)
        return replace(
            provenance,
            value=best_score,
            scoring="best_score_",
            notes=(unknown_score_note,),
            perfect=inf,
            positive=None,
        )
    claimed_risk = claim_to_estimate(claim, problem.data, provenance)
    loss = problem.loss
    positive_label = loss.label(problem.data)
    if own_loss is None or (own_loss.name, own_loss.perfect) != (loss.name, loss.perfect):
        return claimed_risk
    if own_loss.label(problem.data) != positive_label:
        return replace(claimed_risk, positive=own_loss.label(problem.data))
    return claimed_risk.on_scale(provenance.scale, scoring=loss.name, positive=positive_label)


def _search_provenance(
    problem: EstimationProblem, fitted_search: Any, search_seconds: float
) -> RiskEstimate:
    """Return the provenance of the search's own best score, as an estimate without a value."""
    data, loss = problem.data, problem.loss
    return blank_estimate(
        data,
        loss,
        method=f"{type(fitted_search).__name__}: best_score_",
        target="Err",
        bias="optimistic: the best of several scores",
        params=dict(fitted_search.best_params_),
        n_fits=1,
        seconds=search_seconds,
        engine="generic",
        seed=problem.seed,
        plan_fingerprint="",  # There is no plan of this package for the search's own splits.
        weighted=data.sample_weight is not None and _uses_sample_weights(fitted_search),
    )


def _uses_sample_weights(fitted_search: Any) -> bool:
    """Return True if the search weights the rows when it computes scores.

    Older searches weight the rows only when they fit.
    """
    if isinstance(fitted_search, TunedModel):
        return True
    from sklearn import get_config

    # If metadata routing is enabled, each scorer decides whether it uses sample weights.
    is_routing_enabled = get_config()["enable_metadata_routing"]
    return hasattr(fitted_search, "_check_scorers_accept_sample_weight") and not is_routing_enabled


def choose_scoring(search: Any, claim: Claim | None, fitted_search: Any) -> Any:
    """Return the scoring for the tuned model; by default the search's own score."""
    search_copy = copy(search)
    search_copy.estimator = (
        getattr(fitted_search, "best_estimator_", fitted_search)
        if claim is None
        else claim.estimator
    )
    if claim is not None and search.scoring is None:
        scorer_name = find_sklearn_name(claim) if not isinstance(claim.scoring, Loss) else None
        if isinstance(claim.scoring, Loss):
            search_copy.scoring = claim.scoring
        elif scorer_name is None and claim.scoring is None:
            search_copy.scoring = loss_from_score_method(claim.estimator)
        elif scorer_name != "accuracy":  # Accuracy is the default score of classifiers anyway.
            search_copy.scoring = scorer_name or claim.scoring
    return resolve_scoring(search_copy)


# Parameters that concern a grid, each with the value at which it has no effect.
GRID_PARAMETERS = {
    "rule": "min",
    "cv": None,
    "time_limit": None,
    "store": None,
    "error_score": "raise",
    "return_train_score": False,
    "verbose": 0,
}


def refuse_grid_parameters(search: Any, class_name: str) -> None:
    """Raise BadArgument for options about a grid, because an adaptive search has no grid."""
    search_params = search.estimator.get_params(deep=False)
    for parameter_name, neutral_value in GRID_PARAMETERS.items():
        parameter_value = getattr(search, parameter_name, neutral_value)
        if isinstance(parameter_value, type(neutral_value)) and parameter_value == neutral_value:
            continue
        remedy = f"set it in {class_name}, or give a model and a grid"
        raise BadArgument(
            f"{mention(parameter_name, parameter_value)} is about the settings of a grid, and "
            f"{class_name} tries its own: "
            f"{remedy if parameter_name in search_params else 'give a model and a grid'}."
        )
    if callable(search.refit):
        raise BadArgument(
            f"{mention('refit', search.refit)} chooses a setting, and {class_name} chooses its "
            "own: use refit=True."
        )


def refuse_shared_state(search: Any) -> None:
    """Raise Refusal if clones of the search would share state with it, such as a study.

    Splits given as row numbers are refused as well, since they are valid for all rows only.
    """
    class_name = type(search).__name__
    if has_study(search):
        raise Refusal(
            f"{class_name} was given a study, which goes on learning over fits and clones: inside "
            "the outer splits it would know the rows that test. Give study=None."
        )
    for parameter_name, parameter_value in search.get_params(deep=True).items():
        if isinstance(parameter_value, Iterator):
            raise Refusal(
                f"{parameter_name} of {class_name} is "
                f"{escape_and_truncate(repr_on_one_line(parameter_value), 60)}, which the first "
                "fit uses up: give a list or a splitter."
            )
        if parameter_name.rpartition("__")[2] == "cv" and isinstance(parameter_value, list | tuple):
            raise Refusal(
                f"{parameter_name} of {class_name} lists splits by the numbers of all rows, and in "
                "an outer training set these numbers mean other rows: give a splitter, such as "
                "KFold(5)."
            )


def parameter_hashes(search: Any) -> dict[str, str]:
    """Return a hash of each parameter of the search that can be pickled."""
    hashes = {}
    for parameter_name, parameter_value in search.get_params(deep=True).items():
        try:
            hashes[parameter_name] = sha256(pickle.dumps(parameter_value)).hexdigest()
        except Exception:  # noqa: BLE001  functions in notebooks and locks cannot be pickled
            continue
    return hashes


def refuse_changed_parameters(search: Any, hashes_before: Mapping[str, str]) -> None:
    """Raise Refusal if fitting a clone of the search changed the parameters of the search.

    All clones share parameters that can be changed in this way.
    """
    hashes_now = parameter_hashes(search)
    changed_names = [
        parameter_name
        for parameter_name, hash_before in hashes_before.items()
        if hashes_now.get(parameter_name) != hash_before
    ]
    if changed_names:
        raise Refusal(
            f"{escape_and_truncate(', '.join(changed_names), 120)} of {type(search).__name__} "
            "changed while a clone of it was fitted: what is learned in one fit survives into the "
            "next, and inside the outer splits it would know the rows that test. Give an object "
            "that clone() copies."
        )
