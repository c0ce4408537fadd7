"""An assessment as plain values: the versioned JSON that reports are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from truerisk.api.assessing.tested_learners import TestedLearners
from truerisk.api.assessing.tuned_learner import TunedLearner
from truerisk.api.auditing.finding import Finding
from truerisk.api.risk_over_time import risk_over_time
from truerisk.comparing.paired import of_score
from truerisk.core import present
from truerisk.core.errors import BadData, Refusal
from truerisk.core.results import RiskCurve, RiskEstimate
from truerisk.core.statistics.error_posterior import ErrorPosterior
from truerisk.run.problem import Problem
from truerisk.validation.validation import Validation

__all__ = ["SCHEMA", "recorded"]

SCHEMA = "truerisk.assessment/1"
MOST_NAMES = 10_000  # of columns; the fingerprint covers them all


def recorded(
    found: TestedLearners, findings: Sequence[Finding], *, rows: bool = True
) -> dict[str, Any]:
    """Plain values, under a versioned schema name; `docs/report.md` says what each is.

    Losses and risks of single rows and splits, which no page shows, are None with `rows=False`.
    """
    roc, calibration, best = found.roc, found.calibration, found.risks[found.best]
    ranked = {name: found.learners[name] for name in found.ranking}
    return {
        "schema": SCHEMA,
        "best": found.best,
        "best_params": present.plain(found.best_params),
        "conclusion": found.conclusion,
        "loss": found.loss,
        "positive": found.problem.loss.label(found.problem.data),
        "task": found.problem.data.task,
        "tuned_by": found.tuned_by,
        "tested_by": found.tested_by,
        "rule": found.problem.rule.word,
        "interval": found.problem.interval,
        "confidence_level": found.problem.confidence_level,
        "n_rows": found.n_rows,
        "columns": list(found.column_names[:MOST_NAMES]) or _columns(found.problem),
        "classes": _classes(found.problem),
        "seed": found.seed,
        "source": found.source,
        "command": found.command,
        "given": dict(found.given),
        "baseline": found.baseline,
        "baseline_rule": None if found.constant is None else found.constant.rule,
        "not_assessed": list(found.missing),
        "findings": [
            {"code": f.code, "severity": f.severity, "sentence": f.sentence, "remedy": f.remedy}
            for f in findings
        ],
        "choice": None if found.choice is None else _estimate(found.choice, rows),
        "best_set": found.usual_best_set,
        "differences": _differences(found),
        "posterior": _posterior(best),
        "roc": None if roc is None else roc.to_dict(),
        "ranks": {
            word: of_score(found.risks[found.best], name).named_loss
            for word, name in found.ranks.items()
        },
        "no_roc": found.learners[found.best].no_roc,
        "calibration": None if calibration is None else calibration.to_dict(),
        "validation": None if found.validation is None else _validation(found.validation, rows),
        "no_validation": found.no_validation,
        "monte_carlo": present.plain(found.monte_carlo),
        "learners": {
            name: {**_learner(one, rows), **_over_time(one.risk, found)}
            for name, one in ranked.items()
        },
    }


def _learner(one: TunedLearner, rows: bool) -> dict[str, Any]:
    return {
        "setting": present.plain(one.curve.best_params),
        "apparent": None if one.apparent is None else _estimate(one.apparent, rows),
        "selected": None if one.selected is None else _estimate(one.selected, rows),
        "no_selected": one.no_selected,
        "risk": _estimate(one.risk, rows),
        "optimism": one.optimism,
        "stability": present.plain(one.stability),
        "outer": [present.plain(dict(fold)) for fold in one.outer],
        "curve": _curve(one.curve, rows),
        "criteria": {word: _curve(curve, rows) for word, curve in one.criteria.items()},
        "learning_curve": _learning_curve(one, rows),
        "no_learning_curve": one.no_learning_curve,
        "n_fits": one.n_fits,
        "seconds": one.seconds,
    }


def _learning_curve(one: TunedLearner, rows: bool) -> dict[str, Any] | None:
    """The curve, and what its law says up to twice the rows."""
    curve = one.learning_curve
    if curve is None:
        return None
    if not rows:
        curve = replace(curve, estimates=tuple(_short(risk) for risk in curve.estimates))
    expected = [
        {"n_train": at.n_train, "value": at.value, "low": at.interval.low, "high": at.interval.high}
        for at in one.expected
    ]
    return {**curve.to_dict(), "expected": expected}


def _validation(found: Validation, rows: bool) -> dict[str, Any]:
    return (found if rows else replace(found, risk=_short(found.risk))).to_dict()


def _over_time(risk: RiskEstimate, found: TestedLearners) -> dict[str, Any]:
    """The course of a risk in stretches of time, where rows have times."""
    time = found.problem.data.time
    if time is None:
        return {"over_time": None, "no_over_time": None}
    try:
        return {"over_time": risk_over_time(risk, time).to_dict(), "no_over_time": None}
    except (BadData, Refusal) as error:
        return {"over_time": None, "no_over_time": str(error)}


def _estimate(risk: RiskEstimate, rows: bool) -> dict[str, Any]:
    return (risk if rows else _short(risk)).to_dict()


def _short(risk: RiskEstimate) -> RiskEstimate:
    """The estimate, and its scores, without the losses of single rows and splits."""
    scores = {name: _short(one) for name, one in risk.scores.items()}
    return replace(risk, losses=None, loss_rows=None, split_risks=None, scores=scores)


def _curve(curve: RiskCurve, rows: bool) -> dict[str, Any]:
    if rows:
        return curve.to_dict()
    common = _short(curve.common)
    tested = [
        replace(one, losses=None, loss_rows=None, split_risks=None)
        for one in curve.evaluation.tested
    ]
    evaluation = replace(curve.evaluation, tested=tuple(tested))
    told = replace(curve, common=common, evaluation=evaluation, procedure=None, scores={})
    return told.to_dict()


def _differences(found: TestedLearners) -> list[dict[str, Any]]:
    """Paired differences of the risks, each learner minus the best one."""
    others = [name for name in found.ranking if name != found.best]
    known = [name for name in others if found.risks[name].value is not None]
    paired = {name: found.difference(name, found.best) for name in known}
    return [
        {
            "learner": name,
            "mean": one.value,
            "std_error": one.std_error,
            "exceeds_noise": one.exceeds_noise,
            **{name: value for name, value in one.to_dict().items() if name != "schema"},
        }
        for name, one in paired.items()
        if one.test != "none"
    ]


def _posterior(risk: RiskEstimate) -> dict[str, Any] | None:
    """Errors and tested rows behind the posterior of the error; None where it has none."""
    try:
        posterior = ErrorPosterior.of_estimate(risk)
    except Refusal:
        return None
    return {"errors": posterior.errors, "n": posterior.n, "of": posterior.of}


def _columns(problem: Problem) -> list[str]:
    """Names of the columns, where the table has names."""
    names = getattr(problem.data.X, "columns", None)
    return [] if names is None else [str(name) for name in list(names)[:MOST_NAMES]]


def _classes(problem: Problem) -> list[str]:
    """Names of the classes, in the order of their codes."""
    data = problem.data
    return [str(data.label(code)) for code in range(data.n_classes)]
