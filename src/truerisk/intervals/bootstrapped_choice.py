"""Bootstrap-bias-corrected cross-validation, which counts the cost of choosing the best candidate.

The rows of the out-of-fold losses of all candidates are drawn repeatedly with replacement. Each
sample chooses a candidate, and the rows that it missed test the choice. No model is fitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Rule
from truerisk.core.arguments import check_count
from truerisk.core.errors import BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.row_marks import sum_hashes_by_class
from truerisk.intervals.form import (
    NO_SPREAD,
    ROW_NEEDS,
    IntervalForm,
    Needs,
    RowEvidence,
    Sureness,
    is_zero_error,
)
from truerisk.results.interval import Basis, Interval, are_tied

BOOTSTRAP_SEED = 20180501  # Seed of the bootstrap samples if no generator is given.

# Maximum number of array entries in a batch of bootstrap samples, which takes about 32 MB.
MAX_CELLS_PER_BATCH = 1 << 22


@frozen(eq=False)
class BiasCorrectedRisk:
    """Bias-corrected risk of the candidate with the smallest mean loss.

    `value` is the corrected risk, from choosing on a bootstrap sample and testing on other rows;
    `selected_mean_loss` is the mean loss of the chosen candidate. `bootstrap_risks` are the risks
    of the candidates chosen by the bootstrap samples, on the rows that each sample missed.
    `selection_counts[c]` is the number of samples that chose candidate c.
    """

    value: float
    selected_mean_loss: float
    bootstrap_risks: np.ndarray = field(repr=False)
    selection_counts: np.ndarray = field(repr=False)

    @property
    def optimism(self) -> float:
        """Corrected risk minus the smallest mean loss of the candidates."""
        return self.value - self.selected_mean_loss

    def interval(self, confidence_level: float = 0.95) -> Interval:
        """Return the interval between percentiles of the bootstrap replicates."""
        quantile_levels = np.array([1 - confidence_level, 1 + confidence_level]) / 2
        lower_limit, upper_limit = np.quantile(self.bootstrap_risks, quantile_levels)
        return Interval(float(lower_limit), float(upper_limit), "bbc", confidence_level)


def correct_risk_by_bootstrap(
    losses: Any,
    rng: np.random.Generator,
    *,
    replicates: int = 1000,
    groups: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    rule: Rule | None = None,
) -> BiasCorrectedRisk:
    r"""Compute the bias-corrected risk of Tsamardinos et al. (2018) from `losses` (candidate, row).

    .. math:: \frac{1}{B} \sum_b \frac{1}{|O_b|} \sum_{i \in O_b} \ell_{c_b, i}, \qquad
              c_b = \arg\min_c \sum_i n_{bi} \, \ell_{c,i}

    with :math:`n_{bi}` the copies of row i in sample b and :math:`O_b` the rows without a copy. The
    losses must be out of fold: each row's losses come from models that have not seen it. The mean
    over several repetitions of K-fold is valid as well. With `groups`, whole groups are drawn. A
    candidate with a NaN is not chosen. `rule` chooses in each sample; None takes the smallest mean,
    and the first of equal ones.

    >>> losses = np.random.default_rng(0).integers(0, 2, size=(50, 40))  # losses of random guesses
    >>> corrected = correct_risk_by_bootstrap(losses, np.random.default_rng(1))
    >>> float(corrected.selected_mean_loss), round(corrected.value, 2)
    (0.325, 0.53)
    """
    losses = np.atleast_2d(np.asarray(losses, dtype=np.float64))
    n_rows = losses.shape[1]
    row_weights = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    group_numbers = None if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    check_count("replicates", replicates)
    if (n_rows if group_numbers is None else int(group_numbers.max()) + 1) < 2:
        raise BadData("a bootstrap that tests on what it missed needs two rows or groups.")
    if not np.isfinite(losses).all(axis=1).any():
        raise Refusal("every candidate has a failed fit: there is nothing to choose from.")
    has_finite_losses = np.isfinite(losses).all(axis=1)
    finite_losses = np.where(has_finite_losses[:, None], losses, 0.0)
    risk_batches, choice_batches = [], []
    for row_counts in draw_row_counts(n_rows, group_numbers, replicates, len(losses), rng):
        usable_row_counts = row_counts[((row_counts == 0) * row_weights).sum(axis=1) > 0]
        usable_row_counts = usable_row_counts[(usable_row_counts * row_weights).sum(axis=1) > 0]
        sample_choices = _choices(
            finite_losses, has_finite_losses, usable_row_counts * row_weights, rule
        )
        test_weights = (usable_row_counts == 0) * row_weights
        risk_batches.append(
            (finite_losses[sample_choices] * test_weights).sum(axis=1) / test_weights.sum(axis=1)
        )
        choice_batches.append(sample_choices)
    risks, chosen_candidates = np.concatenate(risk_batches), np.concatenate(choice_batches)
    if not len(risks):
        raise Refusal("no bootstrap sample misses a row with a weight: there is nothing to test.")
    selected_candidate = _choices(finite_losses, has_finite_losses, row_weights[None, :], rule)[0]
    return BiasCorrectedRisk(
        value=float(risks.mean()),
        selected_mean_loss=float(
            finite_losses[selected_candidate] @ row_weights / row_weights.sum()
        ),
        bootstrap_risks=risks,
        selection_counts=np.bincount(chosen_candidates, minlength=len(losses)),
    )


def order_free_corrected_risk(
    losses: np.ndarray,
    weights: np.ndarray,
    groups: np.ndarray | None,
    rule: Rule | None,
    row_hashes: np.ndarray,
) -> BiasCorrectedRisk:
    """Run `correct_risk_by_bootstrap` with a fixed seed, independently of the order of the rows.

    Rows are sorted by their `row_hashes` (of the data; groups by the sum over their rows) before
    samples are drawn. They are not sorted by losses, whose last bits depend on the engine.
    """
    row_order = np.argsort(row_hashes, kind="stable")
    if groups is not None:
        group_numbers = np.unique(groups, return_inverse=True)[1].ravel()
        group_order = np.argsort(sum_hashes_by_class(group_numbers, row_hashes), kind="stable")
        groups = np.argsort(group_order)[group_numbers]
    return correct_risk_by_bootstrap(
        losses[:, row_order],
        np.random.default_rng(BOOTSTRAP_SEED),
        groups=None if groups is None else groups[row_order],
        weights=weights[row_order],
        rule=rule,
    )


def draw_row_counts(
    n_rows: int,
    group_numbers: np.ndarray | None,
    replicates: int,
    n_candidates: int,
    rng: np.random.Generator,
) -> Iterator[np.ndarray]:
    """Yield the number of copies of every row in each bootstrap sample, in batches of samples."""
    n_units = n_rows if group_numbers is None else int(group_numbers.max()) + 1
    max_batch_size = max(1, MAX_CELLS_PER_BATCH // max(n_rows, n_candidates))
    for first_replicate in range(0, replicates, max_batch_size):
        batch_size = min(max_batch_size, replicates - first_replicate)
        drawn_units = rng.integers(n_units, size=(batch_size, n_units))
        drawn_units += n_units * np.arange(batch_size)[:, None]
        counts = np.bincount(drawn_units.ravel(), minlength=batch_size * n_units).reshape(
            batch_size, n_units
        )
        yield (counts if group_numbers is None else counts[:, group_numbers]).astype(np.float64)


def _choices(
    losses: np.ndarray, has_finite_losses: np.ndarray, counts: np.ndarray, rule: Rule | None
) -> np.ndarray:
    """Return the candidate that each bootstrap sample chooses.

    Each row of `counts` holds the weights of the rows of X in one sample.
    """
    total_weights = counts.sum(axis=1, keepdims=True)
    mean_losses = counts @ losses.T / total_weights
    mean_losses[:, ~has_finite_losses] = np.inf
    if rule is None:
        smallest_means = mean_losses.min(axis=1, keepdims=True)
        return are_tied(mean_losses, smallest_means).argmax(axis=1)
    mean_losses[:, ~has_finite_losses] = np.nan
    std_errors = np.full_like(mean_losses, np.nan)
    if rule.needs_std_errors:
        variances = np.maximum(counts @ (losses**2).T / total_weights - mean_losses**2, 0.0)
        std_errors = np.sqrt(variances / total_weights)
    return np.array(
        [
            rule.choose(sample_means, sample_errors)
            for sample_means, sample_errors in zip(mean_losses, std_errors, strict=True)
        ],
        dtype=np.int64,
    )


def correct_risk_by_splits(split_risks: Any, chosen_candidate: int | None = None) -> float:
    r"""Return the corrected risk of the selected candidate from the risks of the splits.

    The correction is that of Tibshirani and Tibshirani (2009).

    .. math:: \bar e_{\hat c} + \frac{1}{K} \sum_k \left(e_{k, \hat c} - \min_c e_{k,c}\right)

    It needs only the scores of the splits, and it is rough: it errs in both directions (too much
    for small test sets and many candidates, too little for few and correlated candidates).

    >>> correct_risk_by_splits([[0.1, 0.3], [0.2, 0.1]])
    0.2
    """
    risks = np.atleast_2d(np.asarray(split_risks, dtype=np.float64))
    means = risks.mean(axis=1)
    if np.isnan(means).all():
        raise Refusal("every candidate has a failed split: there is nothing to choose from.")
    best_candidate = (
        int(are_tied(means, np.nanmin(means)).argmax())
        if chosen_candidate is None
        else chosen_candidate
    )
    return float(means[best_candidate] + (risks[best_candidate] - np.nanmin(risks, axis=0)).mean())


class Percentiles(IntervalForm[RowEvidence]):
    """Interval between percentiles of bootstrapped mean losses.

    In each bootstrap sample, the mean loss is that of the rows that the sample missed. For the
    candidate that the rule chose, every sample chooses again among all candidates
    (bootstrap-bias-corrected cross-validation, Tsamardinos et al., 2018). The interval is therefore
    that of the choice, and may lie above the chosen value. For the other candidates it is the
    interval of one setting. If there are groups, whole groups are drawn. There are 1000 samples,
    with a fixed seed.
    """

    name: ClassVar[str] = "bbc"
    counts_choice: ClassVar[bool] = True
    needs: ClassVar[Needs] = {**ROW_NEEDS, Basis.LOSSES: "use a K-fold word such as '10-fold'"}
    reference: ClassVar[str] = (
        "Tsamardinos I, Greasidou E, Borboudakis G (2018). Bootstrapping the out-of-sample "
        "predictions for efficient and accurate cross-validation. Machine Learning 107:1895–1922."
    )

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        losses = evidence.losses if c == evidence.best else evidence.losses[c : c + 1]
        rule = evidence.terms.rule if len(losses) > 1 else None
        corrected_risk = order_free_corrected_risk(
            losses, evidence.weights, evidence.groups, rule, evidence.marks
        )
        error = float(corrected_risk.bootstrap_risks.std(ddof=1))
        if is_zero_error(error, float(evidence.values[c])):
            return None, None, (NO_SPREAD,)
        if len(losses) == 1:
            return error, corrected_risk.interval(evidence.terms.confidence_level), ()
        loss_scale = evidence.loss.scale
        choice_note = (
            f"the interval counts the choice among {len(losses)} settings; the {loss_scale.noun} "
            "of the "
            f"choice is about {loss_scale.value(corrected_risk.value):.4g} "
            "(bootstrap-bias-corrected)."
        )
        return error, corrected_risk.interval(evidence.terms.confidence_level), (choice_note,)
