"""Score that a learner with a single setting reports of itself, or the reason why it has none.

Cross-validation of a single setting minimises nothing. Its result is not a selected risk, and its
difference from the honest risk is the noise of the folds. A search that tunes inside its own fit
minimised the error that its score reports. That score is read as in the audit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truerisk.core.errors import Refusal, is_failure
from truerisk.core.formats import escape_and_truncate
from truerisk.data.data import Data
from truerisk.estimation.problem import EstimationProblem
from truerisk.losses.loss import Loss
from truerisk.results.finding import disable_checks
from truerisk.results.results import RiskEstimate
from truerisk.search.claim import Claim, complete_scorer_scale, make_score_scale
from truerisk.search.reading import read_claim


def claimed_risk(problem: EstimationProblem, provenance: RiskEstimate) -> RiskEstimate | str:
    """Fit a model on all rows, and return the risk according to the best score that it reports.

    If the model reports no score, the result is a text with the reason.

    The risk is on the scale of the model's own score. `provenance` is an estimate of this learner,
    whose other fields are copied.
    """
    family, data = problem.family, problem.data
    class_name = type(family.last).__name__
    model = family.make(0, (problem.seed, 0) if family.is_random else None)
    try:
        with disable_checks():
            model = model.fit(data.X, *data.targets(data.y), **data.fit_params)
    except BaseException as error:  # A model may raise anything.
        if not is_failure(error):
            raise
        return f"{class_name} cannot be fitted on all rows: {escape_and_truncate(str(error), 160)}"
    fitted_learner = model[-1] if family.is_piped else model
    try:
        claim = read_claim_or_none(fitted_learner)
    except Refusal:
        return f"{class_name} tunes or splits inside its own fit and keeps no score of it."
    if claim is None:
        return (
            f"{class_name} tunes inside its own fit and does not say in which score its best one "
            "is."
        )
    return claim_to_estimate(claim, data, provenance)


def read_claim_or_none(fitted_search: Any) -> Claim | None:
    """Return the best score that a fitted search reports, or None if its scorer is unknown."""
    try:
        return read_claim(fitted_search)
    except Refusal:
        if not hasattr(fitted_search, "best_score_"):
            if hasattr(fitted_search, "cv_results_"):
                raise
            raise Refusal(
                f"{type(fitted_search).__name__} keeps no score of the setting that it chose "
                "(best_score_), so that there is no selected risk to set beside the honest one: "
                "tr.estimate_risk(search, X, y) gives the honest one."
            ) from None
    if not hasattr(fitted_search, "scoring"):
        return None
    return Claim(
        search_name=type(fitted_search).__name__,
        name="best_score_",
        score=float(fitted_search.best_score_),
        best_candidate=0,
        # A search for a threshold tunes no parameter, so it may lack best_params_.
        candidates=(dict(getattr(fitted_search, "best_params_", {})),),
        estimator=getattr(fitted_search, "estimator", fitted_search),
        scoring=fitted_search.scoring,
        cv=None,
    )


def claim_to_estimate(claim: Claim, data: Data, provenance: RiskEstimate) -> RiskEstimate:
    """Convert a search's best score to a risk estimate, with the provenance of another estimate."""
    score_scale = complete_scorer_scale(make_score_scale(claim), data)
    is_same_score = score_scale.risk_name == provenance.scoring
    result_scale, risk = (
        provenance.scale if is_same_score else score_scale.result_scale,
        float(score_scale.risk(claim.score)),
    )
    return replace(
        provenance,
        value=score_scale.reported_value(claim.score)
        if result_scale == score_scale.result_scale
        else result_scale.value(risk),
        std_error=None,
        interval=None,
        method=f"{claim.search_name}: {claim.name}",
        bias="optimistic: the best of several scores",
        scoring=provenance.scoring if is_same_score else score_scale.printed_name,
        perfect=result_scale.perfect,
        positive=score_scale.test_set_loss.label(data)
        if isinstance(score_scale.test_set_loss, Loss)
        else None,
        losses=None,
        loss_rows=None,
        split_risks=None,
        splits=None,
        table=None,
        n_fits=1,
        notes=("what the search itself claims, fitted on all rows; its splits are its own",),
    )
