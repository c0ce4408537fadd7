"""Nested cross-validation of Bates, Hastie and Tibshirani: K-fold with a valid standard error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from truerisk.contracts import Method, Streams, Terms
from truerisk.core.arguments import check_count, check_flag
from truerisk.core.errors import BadData, Refusal, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.intervals import as_form
from truerisk.intervals.form import NONE, if_independent
from truerisk.intervals.refitted import NestedErrors, PairEvidence
from truerisk.losses.loss import Loss, RowLoss
from truerisk.losses.row_losses import infinite_findings
from truerisk.methods.parts.averages import (
    estimates_with,
    mean_by_test_set,
    means_by_row,
    position_weights,
    row_losses,
)
from truerisk.plan.answers import Answers
from truerisk.plan.partitions import leave_pairs_out
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target, Tested
from truerisk.results.interval import Basis
from truerisk.splitting.folds import fold_numbers

EXTRAPOLATION_POWERS = {"bates": 1.5, "mlr3inferr": 1.0}


@frozen(eq=False)
class LeftOutPairSummary:
    """Mean losses and their variances if each fold and each pair of folds is left out.

    All arrays but `is_outer` have one entry per candidate. `outer` is the K-fold mean. `inner` is
    the mean over the fits that lack two folds. `excess_variance` is the mean of (inner mean − fold
    mean)² minus the variance of the fold mean. `min_variance` is the variance of a mean of n
    independent
    inner losses.
    """

    k: int
    n: int
    by_question: np.ndarray
    is_outer: np.ndarray
    outer: np.ndarray
    inner: np.ndarray
    excess_variance: np.ndarray
    min_variance: np.ndarray

    def values(self, correction: str | None) -> np.ndarray:
        """Return the K-fold means, extrapolated to n training rows by a published factor."""
        if correction is None:
            return self.outer
        factor = 1 + ((self.k - 2) / self.k) ** EXTRAPOLATION_POWERS[correction]
        return self.inner - factor * (self.inner - self.outer)

    def nested_errors(self, candidate: int) -> NestedErrors:
        """Return one candidate's standard error, limited from below and above.

        The lower limit is the standard error of a mean of n independent losses, and the upper limit
        is √K times the lower one.
        """
        floor2 = float(self.min_variance[candidate])
        mse = max(0.0, float(self.excess_variance[candidate])) * (self.k - 1) / self.k
        std_error = float(np.clip(mse, floor2, self.k * floor2)) ** 0.5
        return NestedErrors(std_error, floor2**0.5, float(self.inner[candidate]), self.n)


def spread_of_pairs(
    losses: np.ndarray, plan: Plan, data: Data, weights: np.ndarray | None
) -> LeftOutPairSummary:
    """Summarise the losses of the test rows if each fold and each pair of folds is left out.

    `losses` has one row per candidate and one column per predicted row, and `weights` one entry per
    predicted row.
    """
    n_repeats = int(plan.repeat.max()) + 1
    k = round((plan.n_questions / n_repeats) ** 0.5)
    pair_code = plan.fold.astype(np.int64)
    tested_fold, second_fold = pair_code // k, pair_code % k
    is_outer = tested_fold == second_fold
    means = mean_by_test_set(losses, plan, data)
    starts = plan.test_offsets[:-1]
    total_weights = (
        plan.test_sizes.astype(float) if weights is None else np.add.reduceat(weights, starts)
    )
    mean_losses, pair_weights = (
        np.empty((len(losses), n_repeats, k, k)),
        np.empty((n_repeats, k, k)),
    )
    mean_losses[:, plan.repeat, tested_fold, second_fold] = means
    pair_weights[plan.repeat, tested_fold, second_fold] = total_weights
    fold_means = np.einsum("crii->cri", mean_losses)
    fold_weights = np.einsum("rii->ri", pair_weights)
    off_diagonal = pair_weights * (1 - np.eye(k))
    inner_means = np.einsum("crij,rij->crj", mean_losses, off_diagonal) / off_diagonal.sum(axis=1)
    inner = np.einsum("crij,rij->c", mean_losses, off_diagonal) / off_diagonal.sum()
    outer = np.einsum("cri,ri->c", fold_means, fold_weights) / fold_weights.sum()
    variances = _variances_of_means(losses, means, plan, data, weights, is_outer)
    surplus = ((inner_means - fold_means) ** 2).mean(axis=(1, 2)) - variances.mean(axis=1)
    units = np.arange(data.n_rows) if data.groups is None else data.groups
    if data.sample_weight is not None:
        units = units[data.sample_weight > 0]
    return LeftOutPairSummary(
        k=k,
        n=len(np.unique(units)),
        by_question=means,
        is_outer=is_outer,
        outer=outer,
        inner=inner,
        excess_variance=surplus,
        min_variance=_independent_variances(losses, plan, data, weights, is_outer, outer),
    )


def _variances_of_means(
    losses: np.ndarray,
    means: np.ndarray,
    plan: Plan,
    data: Data,
    weights: np.ndarray | None,
    is_outer: np.ndarray,
) -> np.ndarray:
    """Return the variance of each fold's mean loss, if this fold alone is left out.

    The variance is computed from the rows, or from sums over groups if there are groups.
    """
    questions = np.flatnonzero(is_outer)
    is_outer_position = np.repeat(is_outer, plan.test_sizes)
    question_of_loss = np.repeat(np.arange(len(questions)), plan.test_sizes[questions])
    residuals = losses[:, is_outer_position] - means[:, questions][:, question_of_loss]
    loss_weights = np.ones(len(question_of_loss)) if weights is None else weights[is_outer_position]
    sums_of_squares, n_units = _sums_of_squares(
        residuals, loss_weights, question_of_loss, plan, data, is_outer_position
    )
    total_weights = np.bincount(question_of_loss, loss_weights)
    return sums_of_squares * n_units / np.maximum(n_units - 1, 1) / total_weights**2


def _sums_of_squares(
    residuals: np.ndarray,
    loss_weights: np.ndarray,
    part: np.ndarray,
    plan: Plan,
    data: Data,
    positions: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of squared weighted residuals of each part of the rows, and its unit count.

    The units are rows, or groups whose residuals are summed before they are squared. Only units
    with a positive weight are counted. `part` holds ascending part numbers.
    """
    weighted = residuals * loss_weights
    if data.groups is not None:
        group_number = np.unique(data.groups, return_inverse=True)[1].ravel()[
            plan.positions[0][positions]
        ]
        part_groups, unit_number = np.unique(
            part * (group_number.max() + 1) + group_number, return_inverse=True
        )
        weighted = np.stack(
            [np.bincount(unit_number.ravel(), candidate_losses) for candidate_losses in weighted]
        )
        loss_weights = np.bincount(unit_number.ravel(), loss_weights)
        part = part_groups // (group_number.max() + 1)
    starts = np.flatnonzero(np.diff(part, prepend=-1))
    return np.add.reduceat(weighted**2, starts, axis=1), np.bincount(part, loss_weights > 0)


def _independent_variances(
    losses: np.ndarray,
    plan: Plan,
    data: Data,
    weights: np.ndarray | None,
    is_outer: np.ndarray,
    outer: np.ndarray,
) -> np.ndarray:
    """Return each candidate's variance of the mean loss as if all losses were independent.

    Without groups it is s²/n, where s² is the variance of the inner losses (times Σw²/(Σw)² · n if
    they are weighted). With groups it is the variance of a repetition's K-fold mean, computed by
    groups.
    """
    is_outer_position = np.repeat(is_outer, plan.test_sizes)
    repeat = np.repeat(plan.repeat, plan.test_sizes)
    loss_weights = np.ones(len(is_outer_position)) if weights is None else weights
    if data.groups is None:
        starts, is_inner = plan.test_offsets[:-1], ~is_outer
        shifted_losses = losses - losses[:, :1]  # If all losses are equal, they become exactly 0.
        inner_weight = np.add.reduceat(loss_weights, starts)[is_inner].sum()
        mean_loss = (
            np.add.reduceat(loss_weights * shifted_losses, starts, axis=1)[:, is_inner].sum(axis=1)
            / inner_weight
        )
        mean_square = (
            np.add.reduceat(loss_weights * shifted_losses**2, starts, axis=1)[:, is_inner].sum(
                axis=1
            )
            / inner_weight
        )
        n_inner = int(
            np.count_nonzero(loss_weights) - np.count_nonzero(loss_weights[is_outer_position])
        )
        first_repeat_weights = loss_weights[is_outer_position & (repeat == repeat[0])]
        variance: np.ndarray = (
            np.maximum(mean_square - mean_loss**2, 0.0) * n_inner / max(n_inner - 1, 1)
        )
        return variance * float((first_repeat_weights**2).sum() / first_repeat_weights.sum() ** 2)
    part_number = repeat[is_outer_position]
    repeat_order = np.argsort(part_number, kind="stable")
    residuals, loss_weights = (
        losses[:, is_outer_position] - outer[:, None],
        loss_weights[is_outer_position],
    )
    sums_of_squares, n_units = _sums_of_squares(
        residuals[:, repeat_order],
        loss_weights[repeat_order],
        part_number[repeat_order],
        plan,
        data,
        np.flatnonzero(is_outer_position)[repeat_order],
    )
    total_weights = np.bincount(part_number, loss_weights)
    return (sums_of_squares * n_units / np.maximum(n_units - 1, 1) / total_weights**2).mean(axis=1)


Bias = Literal["bates", "mlr3inferr"]


@dataclass(frozen=True, init=False)
class NestedInterval(Method):
    r"""K-fold cross-validation with the error of its mean, from fits without each pair of folds.

    Fold i is tested by the fit on all other folds (mean :math:`\bar e_i`, variance :math:`v_i`).
    The other folds are tested by fits that lack fold i as well (mean :math:`\bar e_{-i}`). The
    squared difference of the two means exceeds :math:`v_i` on average, and the excess is the error
    of cross-validation:

    .. math:: \mathrm{se}^2 = \frac{K-1}{K} \cdot \frac{1}{RK} \sum_{r,i}
              \left[(\bar e_{-i} - \bar e_i)^2 - v_i\right]

    This is limited to between s²/n and K times s²/n, where s² is the variance of all inner losses.
    The value is the inner mean minus ``(1 + f) (inner mean − K-fold mean)``, which extrapolates the
    K-fold risk to n rows. The factor f is ((K−2)/K)^1.5 in the authors' code (``bias="bates"``),
    and (K−2)/K in their paper and in mlr3inferr (``bias="mlr3inferr"``). With ``bias=None`` the
    value is the K-fold mean.

    The fit without folds i and j tests both, so that a repetition needs K + K(K−1)/2 fits. Its
    K-fold mean comes from the same fits. If there are groups, each group stays within one fold, and
    every variance sums the losses of a group first. Weights are used in all means. `folds` gives
    the fold numbers instead of drawing them: `(n,)` or `(repeats, n)`. `split_risks` holds K² risks
    per repetition: entry i K + j is the risk in fold i of the fit without folds i and j.

    Parameters
    ----------
    k : int, default=10
        The number of folds.
    repeats : int, default=50
        How often new folds are drawn.
    folds : array, shape (n_rows,) or (repeats, n_rows), optional
        The fold numbers of the rows, instead of drawn ones.
    bias : {"bates", "mlr3inferr"} or None, default="bates"
        How the value is extrapolated to all rows; None leaves the K-fold mean.
    stratify : bool, default=True
        If True, each part has about the same shares of the classes.

    See Also
    --------
    truerisk.methods.KFold : K-fold cross-validation.
    truerisk.methods.PairedHalves : Random splits with an interval from disjoint halves.

    References
    ----------
    Bates, Hastie and Tibshirani (2023), Cross-validation: what does it estimate and how well does
    it do it? Journal of the American Statistical Association.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv=tr.methods.NestedInterval(5, repeats=3)))
    risk 0.1053 (zero-one, ncv (3x5-fold)), 95 % interval [0.0000, 0.2590] (ncv)
    """

    k: int
    repeats: int
    folds: Any = field(repr=False)
    correction: Bias | None
    stratify: bool

    target: ClassVar[Target] = "Err"
    gives: ClassVar[frozenset[Basis]] = frozenset({Basis.PAIRS})

    def __init__(
        self,
        k: int = 10,
        repeats: int = 50,
        folds: Any = None,
        bias: Bias | None = "bates",
        *,
        stratify: bool = True,
    ) -> None:
        if folds is None:
            check_count("k", k, 3, "fits without two folds need a whole number K >= 3")
        check_count("repeats", repeats)
        check_flag("stratify", stratify)
        if bias not in (None, "bates", "mlr3inferr"):
            raise UnknownName(f"bias={bias!r} is unknown; use 'bates', 'mlr3inferr' or None.")
        fields = {"k": k, "repeats": repeats, "folds": folds, "correction": bias}
        for name, value in {**fields, "stratify": stratify}.items():
            object.__setattr__(self, name, value)

    @property
    @override
    def name(self) -> str:
        folds_text = f"{self.repeats}x{self.k}-fold" if self.folds is None else "given folds"
        return f"ncv ({folds_text})"

    @property
    @override
    def bias(self) -> str:
        if self.correction is None:
            return "slightly pessimistic: each model lacks a fold"
        return f"almost none: extrapolated from fits without two folds and one ({self.correction})"

    @override
    def check(self, data: Data, loss: Loss) -> None:
        if not loss.per_row:
            raise Refusal(
                f"method 'ncv' needs losses of single rows, and loss '{loss.name}' has none: use "
                "a loss such as 'zero-one' or 'brier', or interval='conservative-z'."
            )

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        rng = streams.get("folds")
        labels = fold_numbers(data, self.folds, self.k, self.repeats, rng, stratify=self.stratify)
        fold_counts = {len(np.unique(fold_labels)) for fold_labels in labels}
        if len(fold_counts) > 1 or min(fold_counts) < 3:
            raise BadData(
                f"nested cross-validation needs three or more folds, as many in every repetition; "
                f"these have {', '.join(map(str, sorted(fold_counts)))}."
            )
        units = np.arange(data.n_rows) if data.groups is None else data.groups
        for fold_labels in labels:
            folds, fold_sizes = np.unique(fold_labels, return_counts=True)
            if data.groups is not None:
                fold_sizes = np.array(
                    [len(np.unique(units[fold_labels == fold])) for fold in folds]
                )
            if fold_sizes.min() < 2:
                unit_name = "row" if data.groups is None else "group"
                raise BadData(
                    f"a fold holds a single {unit_name}, which has no spread: nested "
                    "cross-validation "
                    f"needs two {unit_name}s in every fold; use fewer than {len(folds)} folds."
                )
        return leave_pairs_out(data.n_rows, labels)

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        if not isinstance(loss, RowLoss):
            raise Refusal(f"method 'ncv' needs losses of single rows; '{loss.name}' has none.")
        plan = answers.plan
        losses = row_losses(answers, data, loss)
        pair_spread = spread_of_pairs(losses, plan, data, position_weights(data, plan))
        values = pair_spread.values(self.correction)
        is_outer_position = np.repeat(pair_spread.is_outer, plan.test_sizes)
        outer_plan = plan.select(np.flatnonzero(pair_spread.is_outer))
        row_weights = np.ones(int(is_outer_position.sum())) / is_outer_position.sum()
        rows, per_row, _, _ = means_by_row(losses[:, is_outer_position], row_weights, outer_plan)
        bounds = [NONE] * len(values)
        if terms.with_errors:
            evidence = PairEvidence(
                values=values,
                loss=loss,
                terms=terms,
                groups=None if data.groups is None else data.groups[rows],
                pairs=[pair_spread.nested_errors(candidate) for candidate in range(len(values))],
            )
            bounds = if_independent(as_form(terms.interval or "ncv"), evidence, data)
        findings = infinite_findings(answers, data, loss)
        return estimates_with(
            bounds, answers, values, pair_spread.by_question, per_row, rows, findings=findings
        )
