"""One data set: the true risk, all estimates, all intervals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.calibration import usual
from benchmarks.calibration.battery import Cell
from benchmarks.calibration.learners import learner
from benchmarks.calibration.problems import PROBLEMS
from benchmarks.calibration.rating import Drawn, asked, without_average
from benchmarks.calibration.tables import TABLES
from benchmarks.calibration.usual import Said
from truerisk.contracts import Method, Terms
from truerisk.core.family import Family
from truerisk.estimation.problem import EstimationProblem, problem_from_arguments
from truerisk.estimation.run import Computation, compute_risks, to_risk_curve
from truerisk.intervals.bootstrapped_choice import correct_risk_by_splits
from truerisk.methods import (
    BootstrapBiasCorrected,
    KFold,
    Nested,
    NestedInterval,
    PairedHalves,
    Pairs,
)
from truerisk.plan.answers import Answers
from truerisk.results.evaluation import Tested
from truerisk.results.interval import Interval

__all__ = ["run"]

K, REPEATS, INNER_K = 10, 10, 5
INNER = f"{INNER_K}-fold"
DRAWING = 6  # of the data sets; earlier drawings served to choose the default interval
POPULATIONS = {**PROBLEMS, **TABLES}


def run(cell: Cell, seed: int) -> dict[str, Any]:
    """What is to be stored of one data set."""
    problem = POPULATIONS[cell.problem]
    key = [DRAWING, seed, cell.n, *cell.problem.encode()]
    drawn = problem.draw(cell.n, np.random.default_rng(key))
    model, grid = learner(cell.learner, problem.task, cell.n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posed = problem_from_arguments(
            Family.from_grid(model, grid),
            drawn.X,
            drawn.y,
            groups=drawn.groups,
            sample_weight=drawn.weights,
            random_state=seed,
            scoring=_asked(cell, drawn.y) if cell.loss else None,
        )
        in_pairs, best = _of_pairs(posed)
        if cell.loss:
            rule = _fitted(posed, best, drawn)
            found = {
                loss: {
                    "truth": float(drawn.risk(rule, without_average(loss))),
                    "estimates": estimates,
                }
                for loss, estimates in zip((cell.loss, *cell.scores), in_pairs, strict=True)
            }
            scores = {score: found[score] for score in cell.scores}
            return {**found[cell.loss], **({"scores": scores} if scores else {})}
        tuned = compute_risks(posed, BootstrapBiasCorrected(INNER_K))
        best = to_risk_curve(tuned).best
        truth = drawn.risk(_fitted(posed, best, drawn), "")
        nested = compute_risks(posed, Nested(NestedInterval(K, repeats=REPEATS), INNER))
        halves = compute_risks(posed, Nested(PairedHalves(5, pairs=6), INNER))
        estimates = {**_of_selection(tuned, best), **_of_nested(posed, nested)}
        estimates["conservative-z"] = _said(halves.procedure)
        estimates |= in_pairs[0]
        facts = _facts(posed, nested)
    return {"truth": truth, "estimates": estimates, "facts": facts}


def _fitted(posed: EstimationProblem, best: int, drawn: Drawn) -> Any:
    """The setting that was chosen, fitted to all rows."""
    weights = {} if drawn.weights is None else {"sample_weight": drawn.weights}
    return posed.family.make(best, None).fit(drawn.X, drawn.y, **weights)


def _asked(cell: Cell, y: Any) -> Any:
    """Return the scoring of a cell that names its loss."""
    each = [asked(word, y) for word in (cell.loss, *cell.scores)]
    return each if cell.scores else each[0]


def _of_pairs(posed: EstimationProblem) -> tuple[list[dict[str, Said]], int]:
    """What is said of the loss and of each score with both numbers of folds, and who was chosen."""
    found: list[dict[str, Said]] = [{} for _ in posed.losses]
    best = 0
    for k in (5, K):
        computed = compute_risks(posed, Pairs(KFold(k)))
        best = to_risk_curve(computed).best
        for one, each in zip(found, (computed, *computed.score_computations.values()), strict=True):
            one |= _of_folds(each, "" if k == K else f", K={k}")
    return found, best


def _of_folds(computed: Computation, which: str) -> dict[str, Said]:
    """The default interval, that of one drawing without pairs, and what is usual for scores."""
    posed, answers, procedure = computed.problem, computed.answers, computed.procedure
    assert answers is not None
    assert procedure is not None
    assert isinstance(computed.method, Pairs)
    terms = Terms(0.95, posed.rule)
    once = computed.method.risk(answers, None, posed.data, posed.loss, terms)
    found = {f"default{which}": _said(procedure), f"one drawing{which}": _said(once)}
    if not posed.loss.per_row:
        found[f"influences{which}"] = usual.influences(procedure, posed.loss)
        found[f"corrected-t{which}"] = usual.corrected_t(procedure, posed.loss)
    if posed.loss.name == "auc" and posed.data.sample_weight is None:
        found[f"cvAUC{which}"] = usual.cvauc(procedure, answers, posed.data)
    return found


def _said(tested: Tested | None) -> Said:
    """Value, low and high; None where there is no interval."""
    assert tested is not None
    interval: Interval | None = tested.interval
    ends = (None, None) if interval is None else (interval.low, interval.high)
    return [float(tested.value), *ends]


def _of_selection(tuned: Computation, best: int) -> dict[str, list[float | None]]:
    tested = tuned.tested
    splits = np.array([one.split_risks for one in tested])
    return {
        "selected": _said(tested[best]),
        "bbc-choice": _said(tuned.procedure),
        "tt": [correct_risk_by_splits(splits, best), None, None],
    }


def _of_nested(posed: EstimationProblem, nested: Computation) -> dict[str, list[float | None]]:
    """Everything that the fits of nested cross-validation say, those of plain K-fold included."""
    answers = nested.answers
    assert answers is not None
    plan = answers.plan
    outer = plan.fold % (K + 1) == 0
    once = answers.select(np.flatnonzero(outer & (plan.repeat == 0)))
    often = answers.select(np.flatnonzero(outer))
    binary = posed.loss.binary

    def said(method: Method, given: Answers, word: str) -> list[float | None]:
        terms = Terms(0.95, posed.rule, interval=word)
        return _said(method.reduce(given, posed.data, posed.loss, terms)[0])

    kfold, undebiased = KFold(K), NestedInterval(K, bias=None)
    found = {
        "wald": said(kfold, once, "wald"),
        "bbc": said(kfold, once, "bbc"),
        "corrected-t": said(kfold, once, "corrected-t"),
        "corrected-t, 10x": said(kfold, often, "corrected-t"),
        "ncv": said(NestedInterval(K), answers, "ncv"),
        "ncv, mlr3inferr": said(NestedInterval(K, bias="mlr3inferr"), answers, "ncv"),
        "ncv, not debiased": said(undebiased, answers, "ncv"),
    }
    calibrated = "beta-cv" if binary else "log-cv"
    found["ten drawings"] = said(kfold, often, calibrated)
    if binary:
        found["beta"] = said(kfold, once, "beta")
        found["beta-ncv"] = said(undebiased, answers, "beta-ncv")
    return found


def _facts(posed: EstimationProblem, nested: Computation) -> dict[str, Any]:
    """The numbers that intervals are made of."""
    from truerisk.methods.ncv import summarise_left_out_pairs
    from truerisk.methods.parts.averages import prediction_weights, row_losses

    answers = nested.answers
    assert answers is not None
    losses = row_losses(answers, posed.data, posed.loss)
    weights = prediction_weights(posed.data, answers.plan)
    spread = summarise_left_out_pairs(losses, answers.plan, posed.data, weights)
    outer = answers.plan.fold % (K + 1) == 0
    folds = spread.risks_by_test_set[0][outer].reshape(REPEATS, K)
    place = np.repeat(outer & (answers.plan.repeat == 0), answers.plan.test_sizes)
    once = losses[0, place]
    whole = nested.procedure
    assert whole is not None
    assert whole.losses is not None
    return {
        "outer": float(spread.kfold_risks[0]),
        "inner": float(spread.inner_risks[0]),
        "surplus": float(spread.excess_variance[0]),
        "floor2": float(spread.min_variance[0]),
        "repeats": folds.mean(axis=1).tolist(),
        "folds": folds[0].tolist(),
        "moments": [float(once.mean()), float(once.var(ddof=1)), float(_skewness(once))],
        "rows_var": float(whole.losses.var(ddof=1)),
        "engine": nested.engine,
        "seconds": round(nested.seconds, 3),
        "shares": np.bincount(posed.data.codes).tolist() if posed.data.codes is not None else [],
    }


def _skewness(values: np.ndarray) -> float:
    centred = values - values.mean()
    scale = float((centred**2).mean()) ** 1.5
    return float((centred**3).mean()) / scale if scale > 0 else 0.0
