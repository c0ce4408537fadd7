"""`audit`: check whether the score of a fitted search is honest, and compute an honest score."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from truerisk.auditing.correcting import AuditOptions, CorrectedRisk, correct_claim
from truerisk.auditing.on_scores import (
    candidates_within_std_error,
    risk_findings,
    rough_corrected_risk,
    score_findings,
)
from truerisk.auditing.outcome import Audit, DeclaredOutcome, write_conclusion
from truerisk.checks.columns import column_findings, column_view
from truerisk.checks.selected_columns import selection_findings
from truerisk.checks.splits import candidate_count_findings, split_findings
from truerisk.core.arguments import check_count, check_level, mention, refuses_old_names
from truerisk.core.errors import (
    BadArgument,
    BadData,
    LeakWarning,
    MissingExtra,
    Refusal,
    TrueRiskError,
)
from truerisk.core.family import Family
from truerisk.core.identity import takes_environment
from truerisk.core.plain_values import to_json_value
from truerisk.core.progress import displays_progress
from truerisk.core.registry import check_known
from truerisk.data.data import Data, take_named_columns
from truerisk.data.rows import n_columns
from truerisk.estimation.problem import (
    EstimationProblem,
    bind_environment,
    package_versions,
    problem_from_arguments,
    with_checks,
)
from truerisk.plan.plan import Plan
from truerisk.results.finding import (
    ALWAYS_CHECKED_CODES,
    Finding,
    sort_by_severity,
    warn_of_findings,
)
from truerisk.results.results import add_findings, loss_name_of_score
from truerisk.search.claim import (
    Claim,
    ScoreScale,
    make_score_scale,
    refuse_other_class,
    scale_with_package_loss,
    scored_class,
)
from truerisk.search.reading import read_claim, unwrap_search
from truerisk.search.repeat import find_surviving_state

LEVELS = ("scores", "bbc", "pairs", "nested")
DEFAULT_LEVEL = "pairs"


@refuses_old_names
@displays_progress
def audit(
    search: Any,
    X: Any = None,
    y: Any = None,
    *,
    level: str = DEFAULT_LEVEL,
    outer: Any = None,
    replicates: int = 1000,
    positive: Any = None,
    groups: Any = None,
    time: Any = None,
    block: Any = None,
    fit_params: Mapping[str, Any] | None = None,
    confidence_level: float = 0.95,
    engine: Any = "auto",
    n_jobs: Any = None,
    random_state: Any = 0,
    checks: bool = True,
) -> Audit:
    r"""Audit a fitted search: compare its claim with the honest risk, and look for other errors.

    Parameters
    ----------
    search : fitted search
        GridSearchCV, RandomizedSearchCV, a halving search, LogisticRegressionCV, RidgeCV, LassoCV,
        ElasticNetCV, OptunaSearchCV, ParamSearch of skrub or HonestSearchCV.
    X : array, sparse matrix or frame, optional
        The features that were passed to `search.fit`. Level "scores" does not need them. For a
        ParamSearch of skrub: the environment that was passed to its `fit`, without y.
    y : array or column, optional
        The target that was passed to `search.fit`.
    level : {"scores", "bbc", "pairs", "nested"}, default="pairs"
        "pairs" tests the choice in the folds of the search, as HonestSearchCV does by default: in
        each fold it tests the setting that the other folds choose. For five folds this takes the
        fits of three searches. Splits that cannot be left out in pairs, and searches that draw
        their settings from the data, are tested as at level "nested". "nested" repeats the whole
        search in every fold of `outer`: five searches. "bbc" repeats the search on its own splits
        and corrects its best score by a bootstrap over rows (Tsamardinos et al., 2018): one search.
        "scores" uses only the scores that the search stored. Levels "pairs" and "bbc" check that
        the scores of the search are reproduced.
    outer : str, int, Method or splitter, optional
        The outer splits of level "nested". The default is "5-fold", "forward-5" with `time`,
        "blocks-5" with `block`. If the splits of the search mix past and future, neighbours or
        groups, the default are splits that separate them.
    replicates : int, default=1000
        The number of bootstrap samples of level "bbc".
    positive : label, optional
        The class to which the score of the search refers, as F1 does. It is checked: a search that
        scores another class is refused.
    groups : array of labels or name of a column of X, optional
        Rows of one group belong together, whether or not `search.fit` was given the groups. A named
        column is no feature, as in `estimate_risk`, unless the search saw it in its own `fit`.
    time : array or name of a column of X, optional
        When each row was observed, as in `estimate_risk`. If the splits of the search mix rows that
        belong together, `honest` is the risk with these rows kept apart, and `choosing` is the
        claim corrected for the choice alone. Levels "pairs" and "nested" then repeat the search
        without each part of the rows.
    block : array, frame or names of columns of X, optional
        Where each row was observed, as in `estimate_risk`.
    fit_params : dict, optional
        Further arguments of `search.fit`, such as ``{"sample_weight": w}``.
    confidence_level : float, default=0.95
        The nominal coverage of the interval.
    engine : str or Engine, default="auto"
        The engine that computes the predictions, as in `estimate_risk`.
    n_jobs : None, int, str or executor, optional
        Where models are fitted, as in `estimate_risk`.
    random_state : int, None or Generator, default=0
        Source of random numbers.
    checks : bool, default=True
        Check rows and columns, as `assess` does. False leaves only the findings on splits, on
        scores and on the claim.

    Returns
    -------
    Audit
        The result, with `claimed`, `honest`, `optimism` and `findings`; its conclusion is printed
        first.

    See Also
    --------
    HonestSearchCV : Tune a model and estimate its risk in one call.
    estimate_risk : Estimate the risk of a search that has not been fitted.

    References
    ----------
    Tsamardinos, Greasidou and Borboudakis (2018), Bootstrapping the out-of-sample predictions for
    efficient and accurate cross-validation. Machine Learning 107.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_simple(50, random_state=1)
    >>> search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": list(range(1, 30))}, cv=5)
    >>> u = tr.audit(search.fit(X, y), X, y)
    >>> print(u.conclusion.replace(". ", ".\n").replace("; ", ";\n"))
    Expect the accuracy on new rows to be 0.8400 (95 % interval 0.7140 to 0.9243).
    The search reports 0.9000, which is 0.0600 better;
    it lies in the interval, so these rows do not refute it.
    """
    run_options = {
        "groups": groups,
        "time": time,
        "block": block,
        "fit_params": fit_params,
        "confidence_level": confidence_level,
        "engine": engine,
        "n_jobs": n_jobs,
        "random_state": random_state,
    }
    audit_options = AuditOptions(
        level, outer, replicates, run_options, positive=positive, checks=checks
    )
    return run_audit(search, X, y, audit_options)


def run_audit(search: Any, X: Any, y: Any, audit_options: AuditOptions) -> Audit:
    """Audit a search with the given options.

    The options may include an order of the rows that X itself does not show.
    """
    level, outer, run_options = audit_options.level, audit_options.outer, audit_options.run_options
    check_known("an audit has no level", level, LEVELS, "It has")
    check_level("confidence_level", run_options["confidence_level"])
    check_count("replicates", audit_options.replicates)
    if outer is not None and level != "nested":
        raise BadArgument(
            f"{mention('outer', outer)}: {mention('level', level)} has no outer splits of its own. "
            f"Use {mention('level', 'nested')}, or leave outer out."
        )
    search = unwrap_search(search)
    if takes_environment(search):
        search, X, y = bind_environment(search, X, y, None)
    claim = read_claim(search)
    if (X is None) != (y is None):
        raise BadData(f"{'X' if X is None else 'y'} is missing: give both or neither.")
    if X is None and level != "scores":
        raise Refusal(
            f"level '{level}' fits again and needs the rows: tr.audit(search, X, y). Without rows "
            f"use {mention('level', 'scores')}."
        )
    if level == "scores" and claim.scores is None:
        raise Refusal(
            f"this {claim.search_name} keeps no scores of the settings it compared: use "
            f"{mention('level', 'pairs')} (RidgeCV keeps them with store_cv_results=True)."
        )
    scale = make_score_scale(claim)
    findings = list(find_surviving_state(search))
    corrected_risk, problem = CorrectedRisk(None), None
    if X is not None:
        X, run_options = _take_columns(search, X, run_options)
        audit_options = replace(audit_options, run_options=run_options)
        n_fitted_columns = getattr(search, "n_features_in_", None)
        n_columns_of_X = n_columns(X)
        if (
            n_fitted_columns is not None
            and n_columns_of_X is not None
            and n_columns_of_X != n_fitted_columns
        ):
            raise BadData(
                f"X has {n_columns_of_X} columns and the search was fitted on {n_fitted_columns}: "
                "give the same X."
            )
        usable_claim = claim.drop_failed_candidates()
        loss = scale.loss if scale.is_mean_over_rows or scale.risk_name == "auc" else None
        problem = problem_from_arguments(
            Family(usable_claim.estimator, usable_claim.candidates),
            X,
            y,
            scoring=loss,
            **run_options,
        )
        problem = with_checks(problem, audit_options.checks, goes_forward=usable_claim.goes_forward)
        scale = scale_with_package_loss(scale, usable_claim, problem.data)
        refuse_other_class(scale, usable_claim, problem.data, audit_options.positive)
        with warnings.catch_warnings():
            # An audit reports leaks between training and test sets as findings.
            # The warnings on the same leaks would be redundant.
            warnings.simplefilter("ignore", LeakWarning)
            corrected_risk, more_findings = _correct_and_check(
                search, usable_claim, scale, problem, audit_options
            )
        findings += more_findings
    claim = _describe_settings(claim)
    findings += score_findings(claim, scale, getattr(search, "error_score", None))
    findings = list(dict.fromkeys(findings))
    positive = scored_class(scale, claim, None if problem is None else problem.data)
    audit = _to_audit(
        claim, scale, positive, level, corrected_risk, findings, run_options["confidence_level"]
    )
    if audit_options.checks:
        warn_of_findings(finding for finding in findings if finding.code in ALWAYS_CHECKED_CODES)
    if problem is None:
        return audit
    return replace(audit, n_rows=problem.data.n_rows, class_counts=problem.class_counts)


def _describe_settings(claim: Claim) -> Claim:
    """Replace the settings of a DataOp, which are numbers of choices, by what was chosen."""
    if not hasattr(claim.estimator, "describe_params"):
        return claim
    settings = (clone(claim.estimator).set_params(**setting) for setting in claim.candidates)
    return replace(claim, candidates=tuple(model.describe_params() for model in settings))


def _take_columns(
    search: Any, X: Any, run_options: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Replace column names in the options by the columns' values, and drop these columns from X.

    A column stays in X if the search used it.
    """
    fit_params = run_options["fit_params"]
    if fit_params is not None and not isinstance(fit_params, Mapping):
        raise BadArgument(
            f"{mention('fit_params', fit_params)}: give a dict of what the fit of the search was "
            "given, such as {'sample_weight': w}."
        )
    params = dict(fit_params or {})
    requested_columns = {name: run_options[name] for name in ("groups", "time", "block")}
    requested_columns["sample_weight"] = params.get("sample_weight")
    X, found_columns, _ = take_named_columns(
        X, requested_columns, keep=getattr(search, "feature_names_in_", ())
    )
    if requested_columns["sample_weight"] is not None:
        params["sample_weight"] = found_columns["sample_weight"]
    del found_columns["sample_weight"]
    return X, {**run_options, **found_columns, "fit_params": params or None}


def _correct_and_check(
    search: Any,
    claim: Claim,
    scale: ScoreScale,
    problem: EstimationProblem,
    audit_options: AuditOptions,
) -> tuple[CorrectedRisk, list[Finding]]:
    """Compute the honest risk of a search, and findings on rows, columns and splits."""
    data = problem.data
    findings = [*problem.findings, *candidate_count_findings(data, len(claim.candidates))]
    if audit_options.checks:
        columns = column_view(data.X)
        findings += [*column_findings(data, columns), *selection_findings(data, columns)]
    search_splits = _splits_of_search(claim, data, audit_options.level)
    if search_splits is not None:
        findings += split_findings(data, search_splits)
    corrected_risk = correct_claim(search, claim, scale, problem, search_splits, audit_options)
    findings += corrected_risk.findings
    corrected_risk = replace(
        corrected_risk,
        honest_risk=None
        if corrected_risk.honest_risk is None
        else add_findings(corrected_risk.honest_risk, problem.findings),
        choice_risk=None
        if corrected_risk.choice_risk is None
        else add_findings(corrected_risk.choice_risk, problem.findings),
    )
    if corrected_risk.honest_risk is not None:
        findings += corrected_risk.honest_risk.findings
        claimed_risk = scale.risk(claim.score)
        findings += risk_findings(
            claimed_risk,
            corrected_risk.honest_risk,
            scale.result_scale,
            corrected_risk.mixed_kind is not None,
        )
    return corrected_risk, findings


def _splits_of_search(claim: Claim, data: Data, level: str) -> Plan | None:
    """Return the search's own splits, or None if they are unknown.

    Level "bbc" needs the splits, so it raises Refusal instead.
    """
    try:
        return claim.plan(data)
    except Refusal:
        if level == "bbc":
            raise
        return None


def _to_audit(
    claim: Claim,
    scale: ScoreScale,
    positive: Any,
    level: str,
    corrected_risk: CorrectedRisk,
    findings: list[Finding],
    confidence_level: float,
) -> Audit:
    params = dict(claim.best_params)
    result_scale, score_name = scale.result_scale, scale.printed_name
    claimed_outcome = DeclaredOutcome(
        scale.reported_value(claim.score),
        f"{claim.search_name}: {claim.name}",
        params=params,
        scoring=score_name,
        perfect=result_scale.perfect,
        positive=to_json_value(positive),
    )
    rough_risk = rough_corrected_risk(claim, scale)
    rough_outcome = None
    if rough_risk is not None:
        notes = ("rough estimate: it may be too large or too small", *claim.notes)
        rough_outcome = replace(
            claimed_outcome,
            value=result_scale.value(rough_risk),
            method="tibshirani-tibshirani (rough)",
            notes=notes,
        )
    honest_risk, choice_risk = (
        None
        if corrected_estimate is None
        else corrected_estimate.on_scale(
            result_scale, scoring=score_name, positive=claimed_outcome.positive
        )
        for corrected_estimate in (corrected_risk.honest_risk, corrected_risk.choice_risk)
    )
    uses_scores_only = level == "scores" and corrected_risk.mixed_kind is None
    audit_result = Audit(
        search=claim.search_name,
        level=level,
        claimed=claimed_outcome,
        honest=rough_outcome if uses_scores_only else honest_risk,
        rough=rough_outcome,
        choosing=rough_outcome if level == "scores" and not uses_scores_only else choice_risk,
        mixes=corrected_risk.mixed_kind,
        why=corrected_risk.reason,
        findings=sort_by_severity(findings),
        within_one_error=candidates_within_std_error(claim),
        n_candidates=len(claim.candidates),
        confidence_level=confidence_level,
        settings=claim.candidates,
        chosen=claim.best_candidate,
        risks=tuple(
            scale.reported_value(mean_score) if np.isfinite(mean_score) else None
            for mean_score in (() if claim.means is None else claim.means)
        ),
        conclusion="",
        versions=package_versions(),
    )
    is_reported_as_loss = scale.errors and not claim.errors
    claimed_name = (
        loss_name_of_score(claim.name, scale.perfect) if is_reported_as_loss else claim.name
    )
    return replace(audit_result, conclusion=write_conclusion(audit_result, claimed_name))


class AuditCheck:
    """Audit the search in a skore `EstimatorReport`, on its training rows.

    `options` are the options of `tr.audit`, such as ``level`` and ``groups``. skore recognises a
    check by its attributes, so that skore itself is needed only if a report holds no search and has
    to be skipped.

    >>> check = AuditCheck(level="scores")
    >>> check.code, check.severity
    ('TRAUDIT', 'issue')
    """

    code = "TRAUDIT"
    title = "Score of the search"
    report_types: ClassVar[list[str]] = ["estimator"]
    docs_url = None
    severity = "issue"

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.slow = options.get("level", DEFAULT_LEVEL) != "scores"

    def check_function(self, report: Any) -> str | None:
        """Return the audit's conclusion and findings as a text, or None if there are no findings.

        Findings with severity "note" do not count.
        """
        X, y = report.X_train, report.y_train
        if X is None or y is None:
            raise _not_applicable_error("the report holds no training rows to audit the search on.")
        try:
            audit_result = audit(report.estimator_, X, y, **self.options)
        except TrueRiskError as error:
            raise _not_applicable_error(str(error)) from error
        findings = [str(finding) for finding in audit_result.findings if finding.severity != "note"]
        return " ".join([audit_result.conclusion, *findings]) if findings else None


def _not_applicable_error(reason: str) -> Exception:
    """Return the exception that skore expects from a check that cannot run."""
    try:
        skore = import_module("skore")
    except ImportError:
        return MissingExtra(f"the audit cannot run here, and skore is not installed: {reason}")
    return skore.CheckNotApplicable(reason)
