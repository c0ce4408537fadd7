"""The claim of a learner with one setting: its own score, or the reason why there is none.

Cross-validation of a single setting minimises nothing. Its result is not a selected risk, and its
difference from the honest risk is the noise of the folds. A search that tunes inside its own fit
minimised the error behind its own score, which is read as in the audit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truerisk.core.errors import Refusal, is_failure
from truerisk.core.formats import clean
from truerisk.data.data import Data
from truerisk.estimation.problem import Problem
from truerisk.losses.loss import Loss
from truerisk.results.finding import without_checks
from truerisk.results.results import RiskEstimate
from truerisk.search.claim import Claim, known_by, scale_of
from truerisk.search.reading import read_claim


def claimed_by(problem: Problem, like: RiskEstimate) -> RiskEstimate | str:
    """Return the claim after one fit on all rows, on the scale of its score, or why there is none.

    `like` has the provenance of an estimate of this learner.
    """
    family, data = problem.family, problem.data
    name = type(family.last).__name__
    model = family.make(0, (problem.seed, 0) if family.is_random else None)
    try:
        with without_checks():
            model = model.fit(data.X, *data.targets(data.y), **data.fit_params)
    except BaseException as error:  # A model may raise anything; it then makes no claim.
        if not is_failure(error):
            raise
        return f"{name} cannot be fitted on all rows: {clean(str(error), 160)}"
    fitted = model[-1] if family.is_piped else model
    try:
        claim = claim_of(fitted)
    except Refusal:
        return f"{name} tunes or splits inside its own fit and keeps no score of it."
    if claim is None:
        return f"{name} tunes inside its own fit and does not say in which score its best one is."
    return as_risk(claim, data, like)


def claim_of(fitted: Any) -> Claim | None:
    """Return the claim of a search as the audit reads it; None if its score is unknown."""
    try:
        return read_claim(fitted)
    except Refusal:
        if not hasattr(fitted, "best_score_"):
            if hasattr(fitted, "cv_results_"):
                raise
            raise Refusal(
                f"{type(fitted).__name__} keeps no score of the setting that it chose "
                "(best_score_), so that there is no selected risk to set beside the honest one: "
                "tr.estimate_risk(search, X, y) gives the honest one."
            ) from None
    if not hasattr(fitted, "scoring"):
        return None
    return Claim(
        search=type(fitted).__name__,
        name="best_score_",
        score=float(fitted.best_score_),
        best=0,
        candidates=(dict(getattr(fitted, "best_params_", {})),),  # a threshold is not a parameter
        estimator=getattr(fitted, "estimator", fitted),
        scoring=fitted.scoring,
        cv=None,
    )


def as_risk(claim: Claim, data: Data, like: RiskEstimate) -> RiskEstimate:
    """Return a search's claim on the scale of its score, with another estimate's provenance."""
    scale = known_by(scale_of(claim), data)
    alike = scale.word == like.scoring
    shown, risk = like.scale if alike else scale.shown, float(scale.risk(claim.score))
    return replace(
        like,
        value=scale.reported(claim.score) if shown == scale.shown else shown.value(risk),
        std_error=None,
        interval=None,
        method=f"{claim.search}: {claim.name}",
        bias="optimistic: the best of several scores",
        scoring=like.scoring if alike else scale.called,
        perfect=shown.perfect,
        positive=scale.whole.label(data) if isinstance(scale.whole, Loss) else None,
        losses=None,
        loss_rows=None,
        split_risks=None,
        splits=None,
        table=None,
        n_fits=1,
        notes=("what the search itself claims, fitted on all rows; its splits are its own",),
    )
