"""Checks of a search that require only the scores of its candidates, and no rows."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Number
from typing import Any

import numpy as np

from truerisk.core.arguments import is_number
from truerisk.core.formats import escape_and_truncate, format_number, format_percent
from truerisk.intervals.bootstrapped_choice import correct_risk_by_splits
from truerisk.results.finding import Finding
from truerisk.results.interval import Scale
from truerisk.results.results import RiskEstimate
from truerisk.search.claim import Claim, ScoreScale

MIN_RELATIVE_OPTIMISM = 0.1  # Optimism of less than this share of the honest risk is no finding.

MIN_PARAMETER_VALUES = (
    3  # With fewer values of a parameter, all values are at the edge of the grid.
)
# A parameter whose name ends with one of these words cannot be larger than 1.
SHARE_PARAMETER_SUFFIXES = ("ratio", "subsample", "max_samples", "max_features")


def score_findings(claim: Claim, scale: ScoreScale, error_score: Any) -> list[Finding]:
    """Return the findings that follow from the scores of a search alone.

    They concern failed fits, the choice and its bias, edges of the grid, and flat risk curves.
    """
    return [
        *claim.findings,
        *_failed_fit_findings(claim, error_score),
        *_choice_findings(claim),
        *_selection_bias_findings(claim, scale),
        *_edge_findings(claim),
        *_flat_curve_findings(claim),
    ]


def rough_corrected_risk(claim: Claim, scale: ScoreScale) -> float | None:
    """Correct the claimed risk by Tibshirani and Tibshirani's method; return None if impossible.

    The correction requires the scores of splits with several test rows.
    """
    if claim.scores is None or claim.has_single_row_test_sets:
        return None
    if not np.isfinite(claim.scores[claim.best_candidate]).all():
        return None
    risks = scale.risk(np.where(np.isfinite(claim.scores), claim.scores, np.nan))
    return correct_risk_by_splits(risks, claim.best_candidate)


def candidates_within_std_error(claim: Claim) -> tuple[int, ...]:
    """Return the candidates whose mean score is within one standard error of the best score.

    The standard error is computed over the splits.
    """
    std_error, means = _std_error_of_best(claim), claim.means
    if std_error is None or means is None:
        return ()
    return tuple(
        int(candidate)
        for candidate in np.flatnonzero(means >= means[claim.best_candidate] - std_error - 1e-12)
    )


def _std_error_of_best(claim: Claim) -> float | None:
    if claim.scores is None or claim.scores.shape[1] < 2:
        return None
    best_scores = claim.scores[claim.best_candidate]
    if not np.isfinite(best_scores).all():
        return None
    return float(best_scores.std(ddof=1) / np.sqrt(len(best_scores)))


def _failed_fit_findings(claim: Claim, error_score: Any) -> Iterator[Finding]:
    if claim.scores is None:
        return
    has_failed = np.isnan(claim.scores)
    if isinstance(error_score, Number) and np.isfinite(float(error_score)):  # type: ignore[arg-type]
        has_failed |= claim.scores == float(error_score)  # type: ignore[arg-type]
    if has_failed.any():
        n_settings = int(has_failed.any(axis=1).sum())
        yield Finding(
            "failed-fits",
            f"{int(has_failed.sum())} of {has_failed.size} fits failed (no score, or error_score), "
            f"in {n_settings} of {len(has_failed)} settings; first: "
            f"{_describe_first_affected(claim, has_failed)}.",
            "Fit with error_score='raise' to see the error; a failed setting is not a bad one.",
        )
    is_infinite = np.isinf(claim.scores)
    if is_infinite.any():
        yield Finding(
            "non-finite-scores",
            f"{int(is_infinite.sum())} of {is_infinite.size} scores are infinite; "
            f"first: {_describe_first_affected(claim, is_infinite)}.",
            "Find the setting that diverges and leave it out.",
        )


def _describe_first_affected(claim: Claim, is_affected: np.ndarray) -> str:
    candidate, split = (int(index) for index in np.argwhere(is_affected)[0])
    return f"{escape_and_truncate(str(dict(claim.candidates[candidate])), 80)} in split {split}"


def _choice_findings(claim: Claim) -> Iterator[Finding]:
    means = claim.means
    if means is None or not np.isfinite(means).any():
        return
    best_mean = float(np.nanmax(np.where(np.isinf(means), np.nan, means)))
    if means[claim.best_candidate] < best_mean - 1e-9 * max(1.0, abs(best_mean)):
        yield Finding(
            "choice-differs",
            f"The chosen setting scores {format_number(float(means[claim.best_candidate]))} and "
            "the best "
            f"{format_number(best_mean)}: the choice was made by something else than this score.",
            "The audit corrects for taking the best score; repeat your own rule with "
            "level='pairs'.",
        )


def _selection_bias_findings(claim: Claim, scale: ScoreScale) -> Iterator[Finding]:
    corrected_risk, std_error = rough_corrected_risk(claim, scale), _std_error_of_best(claim)
    if corrected_risk is None or std_error is None or len(claim.candidates) < 2:
        return
    optimism = corrected_risk - scale.risk(claim.score)
    if optimism > std_error > 0:
        yield Finding(
            "winners-curse",
            f"About {format_number(optimism)} of the best score is due to the choice of the best "
            "of "
            f"{len(claim.candidates)} settings (standard error {format_number(std_error)}).",
            "Do not report this score; level='pairs' or level='nested' corrects it.",
        )


def _edge_findings(claim: Claim) -> Iterator[Finding]:
    for name in dict.fromkeys(param_name for params in claim.candidates for param_name in params):
        tried_values = {
            setting[name] for setting in claim.candidates if is_number(setting.get(name))
        }
        chosen_value = claim.best_params.get(name)
        if len(tried_values) < MIN_PARAMETER_VALUES or not is_number(chosen_value):
            continue
        is_lowest, is_highest = chosen_value == min(tried_values), chosen_value == max(tried_values)
        are_integers = all(isinstance(value, int | np.integer) for value in tried_values)
        is_least_possible = chosen_value == 0 or (
            are_integers and chosen_value == 1
        )  # No smaller value of the parameter is possible.
        is_largest_possible = chosen_value == 1 and name.endswith(
            SHARE_PARAMETER_SUFFIXES
        )  # No larger value of the parameter is possible.
        if (is_lowest and not is_least_possible) or (is_highest and not is_largest_possible):
            side_text = "smallest" if is_lowest else "largest"
            yield Finding(
                "edge-of-grid",
                f"{escape_and_truncate(name, 60)}={chosen_value:.4g} is the {side_text} of the "
                f"{len(tried_values)} values tried: the best one may lie outside.",
                f"Try {'smaller' if is_lowest else 'larger'} values.",
            )


def _flat_curve_findings(claim: Claim) -> Iterator[Finding]:
    n_near_best, n_candidates = len(candidates_within_std_error(claim)), len(claim.candidates)
    if n_candidates >= MIN_PARAMETER_VALUES and n_near_best >= max(
        MIN_PARAMETER_VALUES, n_candidates / 2
    ):
        yield Finding(
            "flat-curve",
            f"{n_near_best} of {n_candidates} settings are within one standard error of the best.",
            "Take the simplest of them; these rows cannot tell them apart.",
        )


def risk_findings(
    claimed_risk: float, honest_estimate: RiskEstimate, scale: Scale, has_mixed_splits: bool = False
) -> Iterator[Finding]:
    """Yield findings if the honest interval refutes the claim, or if the claim is too optimistic.

    `claimed_risk` is an error, and `scale` is the scale of the search's score. `has_mixed_splits`
    says that models were tested on rows while related rows were in their training sets.
    """
    value, interval, risk_noun = (
        honest_estimate.loss_value,
        honest_estimate.loss_interval,
        scale.noun,
    )
    if value is None or not np.isfinite(claimed_risk):
        return
    if interval is not None and claimed_risk not in interval:
        side_text = "better" if claimed_risk < interval.low else "worse"
        yield Finding(
            "claim-refuted",
            f"The claimed {risk_noun} {format_number(scale.value(claimed_risk))} is {side_text} "
            "than anything "
            f"in the {format_percent(interval.confidence_level)} interval "
            f"{scale.interval(interval)}.",
            f"Report the honest {risk_noun} with its interval.",
        )
    approx_std_error = honest_estimate.std_error or (
        0.0 if interval is None else interval.width / 4
    )
    remedy = (
        "splits that keep such rows apart" if has_mixed_splits else "more rows or fewer settings"
    )
    if value - claimed_risk > max(MIN_RELATIVE_OPTIMISM * abs(value), approx_std_error / 2):
        yield Finding(
            "optimism-large",
            f"The claimed {risk_noun} {format_number(scale.value(claimed_risk))} is "
            f"{format_number(value - claimed_risk)} "
            f"better than the honest {format_number(scale.value(value))}.",
            f"Report the honest {risk_noun}; {remedy} make the two alike.",
        )
