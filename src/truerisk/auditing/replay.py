"""Replay of a search: out-of-fold losses of every candidate, and the cost of choosing by them.

The splits are those of the search, so that the candidates' scores must be equal to those that the
search reports. This is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil

import numpy as np

from truerisk.contracts import Streams
from truerisk.core.arguments import mention
from truerisk.core.errors import Refusal
from truerisk.core.formats import number
from truerisk.core.frozen import frozen
from truerisk.core.progress import stage, tell
from truerisk.data.data import Data
from truerisk.estimation.problem import Problem
from truerisk.estimation.run import Computed, compute, curve_of
from truerisk.intervals.bootstrapped_choice import Corrected, corrected_by_bootstrap, drawn_counts
from truerisk.intervals.form import NO_SPREAD, dependence
from truerisk.losses.loss import RowLoss
from truerisk.losses.row_losses import infinite_findings
from truerisk.methods.parts.averages import row_losses
from truerisk.methods.words import by_splitter
from truerisk.plan.answers import Answers
from truerisk.plan.leaks import ORDERED
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Tested
from truerisk.results.finding import Finding
from truerisk.results.interval import tied
from truerisk.results.results import RiskCurve, RiskEstimate, to_estimate
from truerisk.search.claim import Claim, ScoreScale

EXACT = 1e-7  # relative difference that another order of summation may cause
# relative difference of scores between solutions that stopped at different iterations
ALONG_A_PATH = 0.02


@frozen(eq=False)
class Replayed:
    """Losses of all candidates on the tested rows, on the scale of the claim.

    `losses[c, i]` is the mean over the splits that test row `rows[i]`, and `weights` is the weight
    of the row in the search's own average of its splits. `risks[c, k]` is the risk in split k. AUC
    is not a sum of row losses, so that `scores` hold the predictions of the candidates instead.
    Other scores of whole test sets have neither. `answers` are those of the fits, if any were made.
    """

    losses: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    risks: np.ndarray
    common: RiskEstimate
    scores: Answers | None = None
    infinite: Sequence[tuple[Finding, ...]] = ()
    answers: Answers | None = None

    @property
    def tells_rows(self) -> bool:
        """True if the candidates can be compared on a subset of the rows."""
        return self.scores is not None or len(self.losses) > 0

    def risks_without(self, tested: np.ndarray, data: Data | None) -> np.ndarray:
        """Return the risk of every candidate on all other rows; NaN where there is none."""
        if self.scores is None:
            apart = ~np.isin(self.rows, tested)
            risks: np.ndarray = self.losses[:, apart] @ self.weights[apart]
            return risks
        assert data is not None  # The classes of the data are needed for ranks.
        rows, _ = self.scores.plan.positions
        sets = [slice(a, b) for a, b in pairwise(self.scores.plan.test_offsets)]
        apart = (~np.isin(rows, tested)).astype(np.float64)
        return _risks(self.scores.values, data.codes_of(rows) == 1, sets, apart[None])[0]


def refuse_bootstrap(scale: ScoreScale) -> None:
    """Raise if the bootstrap bias correction is requested for a score that is no mean over rows."""
    if not scale.by_rows and scale.word != "auc":
        raise Refusal(
            f"'{scale.word}' is no mean over rows, and the bootstrap bias correction draws rows: "
            f"use {mention('level', 'pairs')}, the default, which tests the choice in the folds of "
            f"the search, or {mention('level', 'nested')}."
        )


def replay(claim: Claim, scale: ScoreScale, problem: Problem, plan: Plan) -> Replayed:
    """Fit every candidate in every split of the search again, by the fastest exact engine."""
    if claim.curve is not None:
        claim.refuse_other_rows(problem.data)
        return _from_stored(claim.curve)
    method = by_splitter(claim.splitter(problem.data.y), average="fold")
    with stage("replaying the search"):
        computed = compute(problem, method, plan=plan)
    if not scale.by_rows:
        tested, answers = computed.tested, computed.all_answers
        risks = np.array([t.split_risks for t in tested])
        rows = np.unique(answers.plan.positions[0])
        common = curve_of(computed).common
        none, scores = np.empty((0, len(rows))), answers if scale.word == "auc" else None
        return Replayed(none, rows, np.ones(len(rows)), risks, common, scores, answers=answers)
    plain = _by_row(claim, scale, computed, None)
    weight = problem.data.fit_params.get("sample_weight")
    if weight is None or _agrees(claim, scale, plain):
        return plain
    weighed = _by_row(claim, scale, computed, np.asarray(weight, dtype=np.float64))
    return weighed if _agrees(claim, scale, weighed) else plain


def _from_stored(curve: RiskCurve) -> Replayed:
    """Return the out-of-fold losses that our own search has stored, without any fit."""
    assert curve.evaluation is not None
    tested = curve.evaluation.tested
    rows = tested[0].loss_rows
    if rows is None or any(t.losses is None or t.split_risks is None for t in tested):
        raise Refusal(
            f"method '{curve.common.method}' that chose the setting has no losses of single rows: "
            f"use {mention('level', 'pairs')} or {mention('level', 'nested')}."
        )
    losses = np.array([t.losses for t in tested])
    risks = np.array([t.split_risks for t in tested])
    common, infinite = replace(curve.common, n_fits=0), [one.findings for one in tested]
    return Replayed(losses, rows, np.ones(len(rows)), risks, common, infinite=infinite)


def _by_row(
    claim: Claim, scale: ScoreScale, computed: Computed, weight: np.ndarray | None
) -> Replayed:
    """Return losses per row and split, scaled like the scorer, averaged over the splits.

    `weight` is for a scorer that weights the rows: newer versions of scikit-learn pass the
    `sample_weight` of fit on to it, older ones do not, and the scores show which.
    """
    answers, data = computed.all_answers, computed.problem.data
    loss = computed.problem.loss
    assert isinstance(loss, RowLoss)
    losses = row_losses(answers, data, loss)
    plan = answers.plan
    positions, _ = plan.positions
    sets = [slice(0, len(positions))]
    if not claim.pooled:
        sets = [slice(a, b) for a, b in pairwise(plan.test_offsets)]
    own = np.ones(len(positions)) if weight is None else weight[positions]
    factor = np.concatenate([scale.factor(data, positions[part]) for part in sets])
    weights = np.concatenate([own[part] / own[part].sum() for part in sets]) / len(sets)
    if not np.isfinite(factor).all():
        raise Refusal(
            "y does not vary in a test set, so R² does not exist there; use larger folds or "
            f"{mention('scoring', 'neg_mean_squared_error')}."
        )
    losses = losses * factor
    starts = [part.start for part in sets]
    risks = np.add.reduceat(losses * weights, starts, axis=1) * len(sets)
    rows, member = np.unique(positions, return_inverse=True)
    shares = np.bincount(member, weights)
    summed = np.array([np.bincount(member, weights * row) for row in losses])
    common = replace(curve_of(computed).common, scoring=scale.word)
    counted = np.asarray(shares * len(rows), dtype=np.float64)
    infinite = infinite_findings(answers, data, loss)
    return Replayed(
        summed / shares, rows, counted, risks, common, infinite=infinite, answers=answers
    )


def bias_corrected(
    claim: Claim, replayed: Replayed, problem: Problem, replicates: int
) -> RiskEstimate:
    """Return the risk of choosing the best candidate, by the bootstrap bias correction."""
    data = problem.data
    rng = Streams(problem.seed).get("bbc")
    with stage("bias correction"):
        if replayed.scores is not None:
            corrected = corrected_ranks(replayed.scores, data, rng, replicates)
        else:
            corrected = corrected_by_bootstrap(
                replayed.losses,
                rng,
                replicates=replicates,
                groups=None if data.groups is None else data.groups[replayed.rows],
                weights=replayed.weights,
            )
    why = _no_interval(corrected, problem, replayed.common.ordered)
    share = corrected.frequencies[claim.best] / corrected.frequencies.sum()
    pairs = zip(replayed.infinite, corrected.frequencies, strict=False)
    infinite = [finding for found, times in pairs if times for finding in found]
    tested = Tested(
        corrected.value,
        findings=tuple(infinite[:1]),
        interval=None if why else corrected.interval(problem.confidence_level),
        notes=(
            f"{share:.0%} of the bootstrap samples chose the same setting",
            *claim.notes,
            *([why] if why else []),
        ),
    )
    common = replace(
        replayed.common,
        method="bbc",
        target="Err",
        bias="slightly pessimistic: each model sees a part of the rows, each choice 63 % of them",
    )
    return to_estimate(tested, common, claim.best_params)


def _no_interval(corrected: Corrected, problem: Problem, ordered: bool) -> str | None:
    """Return why percentiles of the samples would not be a valid interval, or None."""
    if ordered and problem.data.time is None:
        return ORDERED
    n, least = len(corrected.replicates), ceil(2 / (1 - problem.confidence_level) - 1e-9)
    if n < least:
        return (
            f"{n} bootstrap samples have no {problem.confidence_level:.4g} percentiles: "
            f"replicates={least} at least."
        )
    return NO_SPREAD if np.ptp(corrected.replicates) == 0 else dependence(problem.data)


def replay_findings(
    claim: Claim, scale: ScoreScale, replayed: Replayed, again: Callable[[], Replayed]
) -> list[Finding]:
    """Return findings if the replayed scores differ from those of the search.

    In this case `again` replays with other seeds. If the scores change once more, the models use
    random numbers without a seed.
    """
    if claim.curve is not None or _agrees(claim, scale, replayed):
        return []
    gap, _, what = _gap(claim, scale, replayed)
    size = f"by up to {number(gap)} ({what})"
    if not np.array_equal(again().risks, replayed.risks, equal_nan=True):
        return [
            Finding(
                "random-model",
                f"The models draw at random without a seed, so a replay differs {size}.",
                "Give the estimator a random_state; the honest value is that of the replay.",
            )
        ]
    return [
        Finding(
            "replay-differs",
            f"The same splits give other scores than the search kept, {size}: other rows, other "
            "fit parameters, or a model that keeps state.",
            "Audit with the X, y, groups and fit_params that fit was given.",
        )
    ]


def _agrees(claim: Claim, scale: ScoreScale, replayed: Replayed) -> bool:
    gap, size, _ = _gap(claim, scale, replayed)
    return gap <= (EXACT if claim.exact else ALONG_A_PATH) * size


def _gap(claim: Claim, scale: ScoreScale, replayed: Replayed) -> tuple[float, float, str]:
    """Return the largest difference of stored and replayed scores, their size, and their kind."""
    means = replayed.risks.mean(axis=1)
    if claim.scores is None:
        own, again = np.array([claim.score]), scale.score(means[[claim.best]])
        what = "the claimed score"
    elif claim.pooled or not claim.exact:
        own, again, what = claim.scores.mean(axis=1), scale.score(means), "mean score of a setting"
    else:
        own, again, what = claim.scores, scale.score(replayed.risks), "score of a split"
    scored = np.isfinite(own) & np.isfinite(again)
    gap = float(np.abs(own - again)[scored].max(initial=0.0))
    return gap, max(1.0, float(np.abs(own[scored]).max(initial=0.0))), what


def corrected_ranks(
    answers: Answers, data: Data, rng: np.random.Generator, replicates: int
) -> Corrected:
    """Return the risk of choosing by AUC, from all candidates' scores of all tested rows."""
    rows, _ = answers.plan.positions
    sets = [slice(a, b) for a, b in pairwise(answers.plan.test_offsets)]
    positive = data.codes_of(rows) == 1
    whole = _risks(answers.values, positive, sets, np.ones((1, len(rows))))[0]
    tested, chosen, done = [], [], 0
    for drawn in drawn_counts(data.n_rows, data.groups, replicates, len(rows), rng):
        tell(done, replicates, "samples")
        done += len(drawn)
        counts = drawn[:, rows]
        choice = _smallest(_risks(answers.values, positive, sets, counts))
        chosen.append(choice)
        outside = (counts == 0).astype(np.float64)
        risks = np.full(len(choice), np.nan)
        for c in np.unique(choice[choice >= 0]):
            mine = choice == c
            risks[mine] = _risks(answers.values[[c]], positive, sets, outside[mine])[:, 0]
        tested.append(risks)
    risks, choices = np.concatenate(tested), np.concatenate(chosen)
    usable = np.isfinite(risks)
    if not usable.any():
        raise Refusal(
            "no test set keeps both classes in a bootstrap sample: use fewer folds, or "
            f"{mention('level', 'pairs')}."
        )
    return Corrected(
        value=float(risks[usable].mean()),
        selected=float(np.nanmin(whole)),
        replicates=risks[usable],
        frequencies=np.bincount(choices[usable], minlength=len(answers.values)),
    )


def weighted_auc_risk(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return 1 − AUC of one set for every row of `weights`; NaN if a class has no weight.

    >>> scores, positive = np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True])
    >>> weighted_auc_risk(scores, positive, np.array([[1.0, 1, 1, 1], [1, 0, 1, 0]])).tolist()
    [0.125, 0.0]
    """
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.diff(scores[order], prepend=np.nan) != 0)
    sorted_weights = weights[:, order]
    P = np.add.reduceat(sorted_weights * positive[order], starts, axis=1)
    N = np.add.reduceat(sorted_weights * ~positive[order], starts, axis=1)
    below = np.cumsum(N, axis=1) - N / 2
    pairs = P.sum(axis=1) * N.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        risk: np.ndarray = 1 - (P * below).sum(axis=1) / pairs
    return risk


def _risks(
    values: np.ndarray, positive: np.ndarray, sets: list[slice], weights: np.ndarray
) -> np.ndarray:
    """Return `(samples, candidates)` means over the sets in which the AUC exists."""
    total = np.zeros((len(weights), len(values)))
    counts = np.zeros_like(total)
    for part in sets:
        for c, scores in enumerate(values[:, part]):
            risk = weighted_auc_risk(scores, positive[part], weights[:, part])
            there = np.isfinite(risk)
            total[there, c] += risk[there]
            counts[there, c] += 1
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(counts > 0, total / counts, np.nan))


def _smallest(risks: np.ndarray) -> np.ndarray:
    """Return the first candidate with the smallest risk in each sample; −1 if none has a risk."""
    lost = np.isnan(risks).all(axis=1)
    filled = np.where(np.isnan(risks), np.inf, risks)
    least = filled.min(axis=1, keepdims=True)
    return np.where(lost, -1, tied(filled, least).argmax(axis=1))
