"""Checks that require only the scores of the candidates."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Number
from typing import Any

import numpy as np

from truerisk.core.arguments import is_number
from truerisk.core.formats import clean, number, percent
from truerisk.intervals.bootstrapped_choice import corrected_by_splits
from truerisk.results.finding import Finding
from truerisk.results.interval import Scale
from truerisk.results.results import RiskEstimate
from truerisk.search.claim import Claim, ScoreScale

LARGE = 0.1  # Optimism above this share of the honest risk is large.

FEWEST_VALUES = 3  # A parameter with fewer values has no inner values.
SHARES = ("ratio", "subsample", "max_samples", "max_features")  # parameters whose maximum is 1


def score_findings(claim: Claim, scale: ScoreScale, error_score: Any) -> list[Finding]:
    """Return findings on failed fits, the choice, selection bias, grid edges and plateaus."""
    return [
        *claim.findings,
        *_failed(claim, error_score),
        *_chosen(claim),
        *_curse(claim, scale),
        *_edges(claim),
        *_flat(claim),
    ]


def rough_correction(claim: Claim, scale: ScoreScale) -> float | None:
    """Return the risk of Tibshirani and Tibshirani's correction, or None.

    It requires the scores of splits with several test rows.
    """
    if claim.scores is None or claim.is_one_by_one:
        return None
    if not np.isfinite(claim.scores[claim.best]).all():
        return None
    risks = scale.risk(np.where(np.isfinite(claim.scores), claim.scores, np.nan))
    return corrected_by_splits(risks, claim.best)


def within_one_error(claim: Claim) -> tuple[int, ...]:
    """Candidates whose mean score is within one standard error, over splits, of the best."""
    error, means = _error_of_best(claim), claim.means
    if error is None or means is None:
        return ()
    return tuple(int(c) for c in np.flatnonzero(means >= means[claim.best] - error - 1e-12))


def _error_of_best(claim: Claim) -> float | None:
    if claim.scores is None or claim.scores.shape[1] < 2:
        return None
    best = claim.scores[claim.best]
    if not np.isfinite(best).all():
        return None
    return float(best.std(ddof=1) / np.sqrt(len(best)))


def _failed(claim: Claim, error_score: Any) -> Iterator[Finding]:
    if claim.scores is None:
        return
    lost = np.isnan(claim.scores)
    if isinstance(error_score, Number) and np.isfinite(float(error_score)):  # type: ignore[arg-type]
        lost |= claim.scores == float(error_score)  # type: ignore[arg-type]
    if lost.any():
        settings = int(lost.any(axis=1).sum())
        yield Finding(
            "failed-fits",
            f"{int(lost.sum())} of {lost.size} fits failed (no score, or error_score), in "
            f"{settings} of {len(lost)} settings; first: {_named(claim, lost)}.",
            "Fit with error_score='raise' to see the error; a failed setting is not a bad one.",
        )
    infinite = np.isinf(claim.scores)
    if infinite.any():
        yield Finding(
            "non-finite-scores",
            f"{int(infinite.sum())} of {infinite.size} scores are infinite; "
            f"first: {_named(claim, infinite)}.",
            "Find the setting that diverges and leave it out.",
        )


def _named(claim: Claim, where: np.ndarray) -> str:
    candidate, split = (int(v) for v in np.argwhere(where)[0])
    return f"{clean(str(dict(claim.candidates[candidate])), 80)} in split {split}"


def _chosen(claim: Claim) -> Iterator[Finding]:
    means = claim.means
    if means is None or not np.isfinite(means).any():
        return
    top = float(np.nanmax(np.where(np.isinf(means), np.nan, means)))
    if means[claim.best] < top - 1e-9 * max(1.0, abs(top)):
        yield Finding(
            "choice-differs",
            f"The chosen setting scores {number(float(means[claim.best]))} and the best "
            f"{number(top)}: the choice was made by something else than this score.",
            "The audit corrects for taking the best score; repeat your own rule with "
            "level='pairs'.",
        )


def _curse(claim: Claim, scale: ScoreScale) -> Iterator[Finding]:
    rough, error = rough_correction(claim, scale), _error_of_best(claim)
    if rough is None or error is None or len(claim.candidates) < 2:
        return
    flattery = rough - scale.risk(claim.score)
    if flattery > error > 0:
        yield Finding(
            "winners-curse",
            f"The best of {len(claim.candidates)} settings owes about {number(flattery)} of its "
            f"score to having been the best (standard error {number(error)}).",
            "Do not report it; level='pairs' or 'nested' corrects it.",
        )


def _edges(claim: Claim) -> Iterator[Finding]:
    for name in dict.fromkeys(n for params in claim.candidates for n in params):
        tried = {p[name] for p in claim.candidates if is_number(p.get(name))}
        value = claim.best_params.get(name)
        if len(tried) < FEWEST_VALUES or not is_number(value):
            continue
        low, high = value == min(tried), value == max(tried)
        are_whole = all(isinstance(v, int | np.integer) for v in tried)
        ends_below = value == 0 or (are_whole and value == 1)  # No smaller value is possible.
        ends_above = value == 1 and name.endswith(SHARES)  # No larger value is possible.
        if (low and not ends_below) or (high and not ends_above):
            side = "smallest" if low else "largest"
            yield Finding(
                "edge-of-grid",
                f"{clean(name, 60)}={value:.4g} is the {side} of the {len(tried)} values tried: "
                "the best one may lie outside.",
                f"Try {'smaller' if low else 'larger'} values.",
            )


def _flat(claim: Claim) -> Iterator[Finding]:
    near, total = len(within_one_error(claim)), len(claim.candidates)
    if total >= FEWEST_VALUES and near >= max(FEWEST_VALUES, total / 2):
        yield Finding(
            "flat-curve",
            f"{near} of {total} settings are within one standard error of the best.",
            "Take the simplest of them; these rows cannot tell them apart.",
        )


def risk_findings(
    claimed: float, honest: RiskEstimate, scale: Scale, mixes: bool = False
) -> Iterator[Finding]:
    """Yield findings on a claim that the interval refutes, or that is optimistic inside it.

    `claimed` is an error, and `scale` that of the search. `mixes` says that models were tested on
    rows while related rows were in their training sets.
    """
    value, interval, noun = honest.loss_value, honest.loss_interval, scale.noun
    if value is None:
        return
    if interval is not None and claimed not in interval:
        side = "better" if claimed < interval.low else "worse"
        yield Finding(
            "claim-refuted",
            f"The claimed {noun} {number(scale.value(claimed))} is {side} than anything in the "
            f"{percent(interval.confidence_level)} interval {scale.interval(interval)}.",
            f"Report the honest {noun} with its interval.",
        )
    noise = honest.std_error or (0.0 if interval is None else interval.width / 4)
    remedy = "splits that keep such rows apart" if mixes else "more rows or fewer settings"
    if value - claimed > max(LARGE * abs(value), noise / 2):
        yield Finding(
            "optimism-large",
            f"The claimed {noun} {number(scale.value(claimed))} is {number(value - claimed)} "
            f"better than the honest {number(scale.value(value))}.",
            f"Report the honest {noun}; {remedy} make the two alike.",
        )
