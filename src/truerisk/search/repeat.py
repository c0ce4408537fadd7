"""Nested validation of a whole search, and checks for state that clones of it would keep."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from truerisk.contracts import Method, Streams
from truerisk.core.arguments import mention
from truerisk.core.errors import BadData, FitFailed, FitFailedWarning, Refusal
from truerisk.core.family import Family
from truerisk.core.formats import escape_and_truncate
from truerisk.core.progress import stage
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.estimation.problem import problem_from_arguments
from truerisk.estimation.run import compute_risks, to_procedure_estimate, to_risk_curve
from truerisk.methods.pairs import Pairs, testing_method
from truerisk.methods.parts.procedure import make_nested_procedure
from truerisk.methods.words import (
    DEFAULT_FOLDS,
    as_method,
    method_from_splitter,
    name_default_method,
)
from truerisk.plan.answers import Answers
from truerisk.results.finding import Finding, disable_checks
from truerisk.results.results import RiskCurve, RiskEstimate
from truerisk.search.claim import USED_UP_CV_MESSAGE, Claim, ScoreScale


def repeat_search(
    search: Any,
    claim: Claim,
    score_scale: ScoreScale,
    X: Any,
    y: Any,
    outer: Any,
    problem_options: Mapping[str, Any],
) -> RiskEstimate:
    """Repeat a search in every outer training set, and test its models on the held-out rows.

    A grid is fixed before any row is seen, so its fits can be shared. A search whose settings
    depend on the data is cloned and fitted as a whole.
    """
    _refuse_study(search)
    with stage("repeating the search"):
        if claim.curve is not None:
            return _honest_search_risk(search, claim.curve, X, y, outer, problem_options)
        outer_splits = DEFAULT_FOLDS if outer is None else outer
        if _is_fixed_grid(search):
            return _nested_grid_risk(claim, score_scale, X, y, outer_splits, problem_options)
        return _nested_clone_risk(search, claim, score_scale, X, y, outer_splits, problem_options)


def estimate_pairs_risk(
    search: Any,
    claim: Claim,
    score_scale: ScoreScale,
    data: Data,
    problem_options: Mapping[str, Any],
    known_answers: Answers | None = None,
) -> RiskEstimate:
    """Estimate the risk of the tuned model with the search's own folds as outer folds.

    HonestSearchCV does the same by default.

    Every fold is tested by the setting that the other folds choose, with fits that leave out a
    further fold. `known_answers` holds the predictions of a replay of the search, whose fits are
    not repeated. If the splits cannot be left out in pairs, or if the settings depend on the data,
    the whole search is repeated in outer folds.
    """
    _refuse_study(search)
    claim.refuse_other_rows(data)
    (y,) = data.targets(data.y)
    X, problem_options = data.X, {**problem_options, "time": data.time}
    default_method = name_default_method(data)
    with stage("testing the choice"):
        if claim.curve is not None:
            return _honest_search_risk(
                search, claim.curve, X, y, None, problem_options, default_outer="pairs"
            )
        if not _is_fixed_grid(search):
            return _nested_clone_risk(
                search, claim, score_scale, X, y, default_method, problem_options
            )
        inner_method = _inner_method(claim, y)
        claim.draw_splits(data)  # If the splitter fails, this call raises an error with the reason.
        pairs_method = testing_method("pairs", inner_method, default_method)
        try:
            pairs_method.plan(data, Streams(0))
        except BadData as error:
            if not isinstance(pairs_method, Pairs):
                raise
            estimate = _nested_grid_risk(claim, score_scale, X, y, default_method, problem_options)
            fallback_note = (
                f"the whole search was repeated in outer folds ('{default_method}'): {error}"
            )
            return replace(estimate, notes=(fallback_note, *estimate.notes))
        return _grid_risk(claim, score_scale, X, y, pairs_method, problem_options, known_answers)


def _refuse_study(search: Any) -> None:
    if has_study(search):
        raise Refusal(
            "the search goes on with a study that already knows all rows, so it cannot be repeated "
            f"honestly: fit it with study=None. {mention('level', 'bbc')} corrects its score for "
            "the choice among its trials alone."
        )


def _honest_search_risk(
    search: Any,
    risk_curve: RiskCurve,
    X: Any,
    y: Any,
    outer: Any,
    problem_options: Mapping[str, Any],
    default_outer: str = DEFAULT_FOLDS,
) -> RiskEstimate:
    """Return the risk that a HonestSearchCV computed, or compute it with other outer folds."""
    from sklearn.base import clone

    risk = getattr(search, "risk_", None)
    if risk is None or outer is not None:
        new_search = clone(search).set_params(refit=False, checks=False)
        new_search.set_params(outer=default_outer if outer is None else outer)
        # The new search uses the folds of the old one, even if groups or times are known only now.
        if new_search.cv is None:
            new_search.set_params(cv=risk_curve.common.method)
        row_arguments = {
            argument_name: problem_options[argument_name]
            for argument_name in ("groups", "time", "block")
        }
        with disable_checks():
            risk = new_search.fit(
                X, y, **row_arguments, **(problem_options["fit_params"] or {})
            ).risk_
    return risk


def _is_fixed_grid(search: Any) -> bool:
    """Return True if all clones of a search compare the same settings, and do so by mean scores."""
    from numbers import Integral

    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

    if type(search) not in (GridSearchCV, RandomizedSearchCV):
        return False
    if callable(search.refit):
        return False
    has_seed = isinstance(getattr(search, "random_state", None), Integral)
    return type(search) is GridSearchCV or has_seed


def _nested_grid_risk(
    claim: Claim,
    score_scale: ScoreScale,
    X: Any,
    y: Any,
    outer: Any,
    problem_options: Mapping[str, Any],
) -> RiskEstimate:
    return _grid_risk(
        claim,
        score_scale,
        X,
        y,
        make_nested_procedure(outer, _inner_method(claim, y)),
        problem_options,
    )


def _grid_risk(
    claim: Claim,
    score_scale: ScoreScale,
    X: Any,
    y: Any,
    method: Method,
    problem_options: Mapping[str, Any],
    known_answers: Answers | None = None,
) -> RiskEstimate:
    """Return the risk of choosing among fixed settings, with the loss's calibrated interval."""
    candidate_family = Family(claim.estimator, claim.candidates)
    estimation_problem = replace(
        problem_from_arguments(
            candidate_family,
            X,
            y,
            scoring=_require_test_set_loss(score_scale, claim),
            **problem_options,
        ),
        uses_calibrated_interval=True,
    )
    search_notes = claim.notes
    try:
        testing_run = compute_risks(estimation_problem, method, known=[known_answers])
    except FitFailed as error:
        if not claim.skips_failures or estimation_problem.engine not in ("auto", Generic.name):
            raise
        failure_tolerant_problem = replace(estimation_problem, engine=Generic(error="warn"))
        try:
            with warnings.catch_warnings():
                # A note in the result reports the failed fits.
                warnings.simplefilter("ignore", FitFailedWarning)
                testing_run = compute_risks(failure_tolerant_problem, method, known=[known_answers])
        except Refusal:  # If all settings failed, raise the first failure.
            raise error from None
        search_notes = (FAILED_SETTINGS_NOTE, *search_notes)
    estimate = to_procedure_estimate(testing_run)
    assert estimate is not None
    return replace(estimate, notes=(*estimate.notes, *search_notes))


FAILED_SETTINGS_NOTE = (
    "fits of some settings failed on the smaller training sets; there these settings could not be "
    "chosen, as in the search"
)


def _inner_method(claim: Claim, y: Any) -> Method:
    if hasattr(claim.cv, "split") or claim.cv is None or isinstance(claim.cv, int):
        return method_from_splitter(claim.splitter(y), average="fold")
    train_test_pairs = list(claim.cv)
    if not train_test_pairs:
        raise Refusal(USED_UP_CV_MESSAGE)
    return replace(as_method(train_test_pairs), average="fold")  # type: ignore[type-var]


def _nested_clone_risk(
    search: Any,
    claim: Claim,
    score_scale: ScoreScale,
    X: Any,
    y: Any,
    outer: Any,
    problem_options: Mapping[str, Any],
) -> RiskEstimate:
    from sklearn.base import clone

    groups = problem_options.get("groups") if _takes_groups(search) else None
    fit_params = add_groups(problem_options.get("fit_params") or {}, groups)
    clone_options = {
        **problem_options,
        "fit_params": fit_params,
        "scoring": _require_test_set_loss(score_scale, claim),
    }
    estimation_problem = replace(
        problem_from_arguments(Family(clone(search)), X, y, **clone_options),
        uses_calibrated_interval=True,
    )
    return label_as_nested(
        to_risk_curve(compute_risks(estimation_problem, outer, new_rows=True))[0], claim.search_name
    )


def _takes_groups(search: Any) -> bool:
    """Return True if the `fit` of a search can be given groups.

    Models that tune themselves, such as LassoCV, accept groups only with metadata routing.

    Their `fit` has keyword arguments for metadata routing only, and refuses groups without it.
    """
    from sklearn import get_config

    return hasattr(search, "estimator") or bool(get_config()["enable_metadata_routing"])


def add_groups(fit_params: Mapping[str, Any], groups: Any) -> dict[str, Any]:
    """Return the fit parameters of a search, with the groups for its own splits added."""
    return dict(fit_params) if groups is None else {**fit_params, "groups": groups}


def label_as_nested(estimate: RiskEstimate, search: str) -> RiskEstimate:
    """Label a risk estimate as nested validation of a search that was cloned."""
    return replace(
        estimate,
        method=f"nested ({estimate.method}, {search} cloned)",
        bias=f"{estimate.bias}; the search is inside and adds no optimism",
    )


def _require_test_set_loss(score_scale: ScoreScale, claim: Claim) -> Any:
    if score_scale.test_set_loss is None:
        raise Refusal(
            f"the score of this search ({score_scale.risk_name}) is the model's own and has no "
            "scorer: "
            f"give the search {mention('scoring')}, and fit again."
        )
    return score_scale.test_set_loss


def has_study(search: Any) -> bool:
    """Return True if the search continues a study that was passed to it."""
    return getattr(search, "study", None) is not None


def find_surviving_state(search: Any) -> Iterator[Finding]:
    """Yield findings about state of a search that its clones keep.

    Such state is a study, a fitted component or a warm start.
    """
    from sklearn.base import clone

    if has_study(search):
        n_trials, n_new_trials = len(search.study_.trials), getattr(search, "n_trials", None)
        has_earlier_trials = n_new_trials is not None and n_trials > n_new_trials
        trials_text = (
            f"it holds {n_trials} trials and this search ran {n_new_trials}: "
            if has_earlier_trials
            else ""
        )
        yield Finding(
            "state-survives-clone",
            f"The search was given a study that keeps learning over fits and clones; {trials_text}"
            "the score is the best of all of them, and a repetition inside outer folds would "
            "already know the test rows.",
            "Fit with study=None.",
        )
    model, fitted_components = getattr(search, "estimator", search), []
    for component_path, component in clone(model).get_params(deep=True).items():
        if (
            hasattr(component, "fit")
            and not isinstance(component, type)
            and any(
                attribute_name.endswith("_") and not attribute_name.startswith("_")
                for attribute_name in vars(component)
            )
        ):
            fitted_components.append(
                escape_and_truncate(f"{component_path} ({type(component).__name__})", 60)
            )
    if fitted_components:
        yield Finding(
            "state-survives-clone",
            "Parts of the model are fitted already and stay so in every fold: "
            f"{', '.join(fitted_components)}. "
            "What they learned from, the search may test on.",
            "Give unfitted parts, so that they are fitted inside the folds (no FrozenEstimator, "
            "no prefit).",
        )
    params = model.get_params(deep=True)
    warm_start_params = [
        parameter_name
        for parameter_name, parameter_value in params.items()
        if parameter_name.rpartition("__")[2] == "warm_start" and parameter_value is True
    ]
    if warm_start_params:
        yield Finding(
            "warm-start",
            f"{', '.join(escape_and_truncate(param, 60) for param in warm_start_params)}=True: "
            "a second fit of the same object goes on from the first, whatever rows that saw. "
            "clone() forgets it, a refit does not.",
            "Use warm_start=False unless you add to the same rows on purpose.",
        )
