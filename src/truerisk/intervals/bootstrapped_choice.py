"""Bootstrap-bias-corrected cross-validation: the cost of choosing the best of many candidates.

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
from truerisk.data.row_marks import summed_by
from truerisk.intervals.form import (
    NO_SPREAD,
    OF_ROWS,
    IntervalForm,
    Needs,
    RowEvidence,
    Sureness,
    is_none,
)
from truerisk.results.interval import Basis, Interval, tied

SEED = 20180501  # seed of the samples if no generator is given

CELLS = 1 << 22  # cells in a block of replicates, about 32 MB


@frozen(eq=False)
class Corrected:
    """The risk of a choice: `value` of "choose, then test elsewhere", `selected` of the winner.

    `replicates` are the risks of the candidates chosen by the bootstrap samples, on the rows that
    each sample missed. `frequencies[c]` is the number of samples that chose candidate c.
    """

    value: float
    selected: float
    replicates: np.ndarray = field(repr=False)
    frequencies: np.ndarray = field(repr=False)

    @property
    def optimism(self) -> float:
        """Difference between the corrected risk and the smallest mean loss."""
        return self.value - self.selected

    def interval(self, confidence_level: float = 0.95) -> Interval:
        """Return the interval between percentiles of the replicates."""
        tails = np.array([1 - confidence_level, 1 + confidence_level]) / 2
        low, high = np.quantile(self.replicates, tails)
        return Interval(float(low), float(high), "bbc", confidence_level)


def corrected_by_bootstrap(
    losses: Any,
    rng: np.random.Generator,
    *,
    replicates: int = 1000,
    groups: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    rule: Rule | None = None,
) -> Corrected:
    r"""Compute BBC-CV of Tsamardinos et al. (2018) from `losses`, candidates times rows.

    .. math:: \frac{1}{B} \sum_b \frac{1}{|O_b|} \sum_{i \in O_b} \ell_{c_b, i}, \qquad
              c_b = \arg\min_c \sum_i n_{bi} \, \ell_{c,i}

    with :math:`n_{bi}` the copies of row i in sample b and :math:`O_b` the rows without a copy. The
    losses must be out of fold: each row's losses come from models that have not seen it. The mean
    over several repetitions of K-fold is valid as well. With `groups`, whole groups are drawn. A
    candidate with a NaN is not chosen. `rule` chooses in each sample; None takes the smallest mean,
    and the first of equal ones.

    >>> losses = np.random.default_rng(0).integers(0, 2, size=(50, 40))  # guesses, all of them
    >>> corrected = corrected_by_bootstrap(losses, np.random.default_rng(1))
    >>> float(corrected.selected), round(corrected.value, 2)
    (0.325, 0.53)
    """
    losses = np.atleast_2d(np.asarray(losses, dtype=np.float64))
    n_rows = losses.shape[1]
    share = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    member = None if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    check_count("replicates", replicates)
    if (n_rows if member is None else int(member.max()) + 1) < 2:
        raise BadData("a bootstrap that tests on what it missed needs two rows or groups.")
    if not np.isfinite(losses).all(axis=1).any():
        raise Refusal("every candidate has a failed fit: there is nothing to choose from.")
    known = np.isfinite(losses).all(axis=1)
    finite = np.where(known[:, None], losses, 0.0)
    tested, chosen = [], []
    for counts in drawn_counts(n_rows, member, replicates, len(losses), rng):
        usable = counts[((counts == 0) * share).sum(axis=1) > 0]
        usable = usable[(usable * share).sum(axis=1) > 0]
        choice = _choices(finite, known, usable * share, rule)
        outside = (usable == 0) * share
        tested.append((finite[choice] * outside).sum(axis=1) / outside.sum(axis=1))
        chosen.append(choice)
    risks, choices = np.concatenate(tested), np.concatenate(chosen)
    if not len(risks):
        raise Refusal("no bootstrap sample misses a row with a weight: there is nothing to test.")
    whole = _choices(finite, known, share[None, :], rule)[0]
    return Corrected(
        value=float(risks.mean()),
        selected=float(finite[whole] @ share / share.sum()),
        replicates=risks,
        frequencies=np.bincount(choices, minlength=len(losses)),
    )


def corrected_in_any_order(
    losses: np.ndarray,
    weights: np.ndarray,
    groups: np.ndarray | None,
    rule: Rule | None,
    marks: np.ndarray,
) -> Corrected:
    """Run `corrected_by_bootstrap` with a fixed seed, independent of the order of the rows.

    Rows are sorted by their `marks` (`Data.row_marks`; groups by the sum over their rows) before
    samples are drawn. They are not sorted by losses, whose last bits depend on the engine.
    """
    order = np.argsort(marks, kind="stable")
    if groups is not None:
        member = np.unique(groups, return_inverse=True)[1].ravel()
        by_group = np.argsort(summed_by(member, marks), kind="stable")
        groups = np.argsort(by_group)[member]
    return corrected_by_bootstrap(
        losses[:, order],
        np.random.default_rng(SEED),
        groups=None if groups is None else groups[order],
        weights=weights[order],
        rule=rule,
    )


def drawn_counts(
    n_rows: int, member: np.ndarray | None, replicates: int, width: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield the copies of every row in each bootstrap sample, in blocks of samples."""
    n_units = n_rows if member is None else int(member.max()) + 1
    block = max(1, CELLS // max(n_rows, width))
    for start in range(0, replicates, block):
        size = min(block, replicates - start)
        drawn = rng.integers(n_units, size=(size, n_units))
        drawn += n_units * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n_units).reshape(size, n_units)
        yield (counts if member is None else counts[:, member]).astype(np.float64)


def _choices(
    losses: np.ndarray, known: np.ndarray, counts: np.ndarray, rule: Rule | None
) -> np.ndarray:
    """Return the candidate chosen by each row of `counts`, which holds weights of the rows."""
    totals = counts.sum(axis=1, keepdims=True)
    means = counts @ losses.T / totals
    means[:, ~known] = np.inf
    if rule is None:
        least = means.min(axis=1, keepdims=True)
        return tied(means, least).argmax(axis=1)
    means[:, ~known] = np.nan
    errors = np.full_like(means, np.nan)
    if rule.needs_std_errors:
        spread = np.maximum(counts @ (losses**2).T / totals - means**2, 0.0)
        errors = np.sqrt(spread / totals)
    return np.array([rule.choose(m, e) for m, e in zip(means, errors, strict=True)], dtype=np.int64)


def corrected_by_splits(split_risks: Any, chosen: int | None = None) -> float:
    r"""Return the correction of Tibshirani and Tibshirani (2009) from the risks in single splits.

    .. math:: \bar e_{\hat c} + \frac{1}{K} \sum_k \left(e_{k, \hat c} - \min_c e_{k,c}\right)

    It needs only the scores of the splits, and it is rough: it errs in both directions (too much
    for small test sets and many candidates, too little for few and correlated candidates).

    >>> corrected_by_splits([[0.1, 0.3], [0.2, 0.1]])
    0.2
    """
    risks = np.atleast_2d(np.asarray(split_risks, dtype=np.float64))
    means = risks.mean(axis=1)
    if np.isnan(means).all():
        raise Refusal("every candidate has a failed split: there is nothing to choose from.")
    best = int(tied(means, np.nanmin(means)).argmax()) if chosen is None else chosen
    return float(means[best] + (risks[best] - np.nanmin(risks, axis=0)).mean())


class Percentiles(IntervalForm[RowEvidence]):
    """Percentiles of the losses of bootstrapped rows; each sample is tested on the rows it missed.

    For the candidate that the rule chose, every sample chooses again among all candidates
    (bootstrap-bias-corrected cross-validation, Tsamardinos et al., 2018). The interval is therefore
    that of the choice, and may lie above the chosen value. For the other candidates it is the
    interval of one setting. If there are groups, whole groups are drawn. There are 1000 samples,
    with a fixed seed.
    """

    name: ClassVar[str] = "bbc"
    counts_choice: ClassVar[bool] = True
    needs: ClassVar[Needs] = {**OF_ROWS, Basis.LOSSES: "use a K-fold word such as '10-fold'"}
    reference: ClassVar[str] = (
        "Tsamardinos I, Greasidou E, Borboudakis G (2018). Bootstrapping the out-of-sample "
        "predictions for efficient and accurate cross-validation. Machine Learning 107:1895–1922."
    )

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        losses = evidence.losses if c == evidence.best else evidence.losses[c : c + 1]
        rule = evidence.terms.rule if len(losses) > 1 else None
        corrected = corrected_in_any_order(
            losses, evidence.weights, evidence.groups, rule, evidence.marks
        )
        error = float(corrected.replicates.std(ddof=1))
        if is_none(error, float(evidence.values[c])):
            return None, None, (NO_SPREAD,)
        if len(losses) == 1:
            return error, corrected.interval(evidence.terms.confidence_level), ()
        scale = evidence.loss.scale
        note = (
            f"the interval counts the choice among {len(losses)} settings; the {scale.noun} of the "
            f"choice is about {scale.value(corrected.value):.4g} (bootstrap-bias-corrected)."
        )
        return error, corrected.interval(evidence.terms.confidence_level), (note,)
