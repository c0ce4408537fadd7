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
from truerisk.intervals.form import NO_INTERVAL, compute_if_independent
from truerisk.intervals.refitted import NestedCVError, PairEvidence
from truerisk.losses.loss import Loss, RowLoss
from truerisk.losses.row_losses import find_infinite_losses
from truerisk.methods.parts.averages import (
    make_estimates,
    mean_by_test_set,
    means_by_row,
    prediction_weights,
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
    """Summary of the losses from fits without one fold and from fits without two folds.

    It holds mean losses and their variances. All arrays but `is_outer` have one entry per
    candidate. `kfold_risks` is the K-fold mean. `inner_risks` is the mean over the fits that lack
    two folds. `excess_variance` is the mean of (inner mean − fold mean)² minus the variance of the
    fold mean. `min_variance` is the variance of a mean of n independent inner losses.
    """

    k: int
    n: int
    risks_by_test_set: np.ndarray
    is_outer: np.ndarray
    kfold_risks: np.ndarray
    inner_risks: np.ndarray
    excess_variance: np.ndarray
    min_variance: np.ndarray

    def values(self, correction: str | None) -> np.ndarray:
        """Return each candidate's K-fold risk, extrapolated to n training rows if requested.

        `correction` names the published factor of the extrapolation. None stands for no
        extrapolation.
        """
        if correction is None:
            return self.kfold_risks
        extrapolation_factor = 1 + ((self.k - 2) / self.k) ** EXTRAPOLATION_POWERS[correction]
        return self.inner_risks - extrapolation_factor * (self.inner_risks - self.kfold_risks)

    def nested_errors(self, candidate: int) -> NestedCVError:
        """Return the nested standard error of one candidate's risk, bounded from below and above.

        The lower limit is the standard error of a mean of n independent losses, and the upper limit
        is √K times the lower one.
        """
        min_variance = float(self.min_variance[candidate])
        mean_squared_error = (
            max(0.0, float(self.excess_variance[candidate])) * (self.k - 1) / self.k
        )
        std_error = float(np.clip(mean_squared_error, min_variance, self.k * min_variance)) ** 0.5
        return NestedCVError(
            std_error, min_variance**0.5, float(self.inner_risks[candidate]), self.n
        )


def summarise_left_out_pairs(
    losses: np.ndarray, plan: Plan, data: Data, weights: np.ndarray | None
) -> LeftOutPairSummary:
    """Summarise the losses from fits without one fold and from fits without two folds.

    `losses` has one row per candidate and one column per predicted row, and `weights` one entry per
    predicted row.
    """
    n_repeats = int(plan.repeat.max()) + 1
    k = round((plan.n_questions / n_repeats) ** 0.5)
    pair_codes = plan.fold.astype(np.int64)
    tested_fold, second_fold = pair_codes // k, pair_codes % k
    is_outer = tested_fold == second_fold
    means = mean_by_test_set(losses, plan, data)
    test_set_starts = plan.test_offsets[:-1]
    total_weights = (
        plan.test_sizes.astype(float)
        if weights is None
        else np.add.reduceat(weights, test_set_starts)
    )
    mean_losses, pair_weights = (
        np.empty((len(losses), n_repeats, k, k)),
        np.empty((n_repeats, k, k)),
    )
    mean_losses[:, plan.repeat, tested_fold, second_fold] = means
    pair_weights[plan.repeat, tested_fold, second_fold] = total_weights
    fold_means = np.einsum("crii->cri", mean_losses)
    fold_weights = np.einsum("rii->ri", pair_weights)
    inner_weights = pair_weights * (1 - np.eye(k))
    inner_means = np.einsum("crij,rij->crj", mean_losses, inner_weights) / inner_weights.sum(axis=1)
    inner_risks = np.einsum("crij,rij->c", mean_losses, inner_weights) / inner_weights.sum()
    kfold_risks = np.einsum("cri,ri->c", fold_means, fold_weights) / fold_weights.sum()
    variances = _variances_of_means(losses, means, plan, data, weights, is_outer)
    excess_variance = ((inner_means - fold_means) ** 2).mean(axis=(1, 2)) - variances.mean(axis=1)
    unit_ids = np.arange(data.n_rows) if data.groups is None else data.groups
    if data.sample_weight is not None:
        unit_ids = unit_ids[data.sample_weight > 0]
    return LeftOutPairSummary(
        k=k,
        n=len(np.unique(unit_ids)),
        risks_by_test_set=means,
        is_outer=is_outer,
        kfold_risks=kfold_risks,
        inner_risks=inner_risks,
        excess_variance=excess_variance,
        min_variance=_independent_variances(losses, plan, data, weights, is_outer, kfold_risks),
    )


def _variances_of_means(
    losses: np.ndarray,
    means: np.ndarray,
    plan: Plan,
    data: Data,
    weights: np.ndarray | None,
    is_outer: np.ndarray,
) -> np.ndarray:
    """Return the variance of the mean loss on each fold, tested by the fit without this fold alone.

    The variance is computed from the rows, or from sums over groups if there are groups.
    """
    outer_test_sets = np.flatnonzero(is_outer)
    is_outer_prediction = np.repeat(is_outer, plan.test_sizes)
    test_set_of_loss = np.repeat(np.arange(len(outer_test_sets)), plan.test_sizes[outer_test_sets])
    residuals = losses[:, is_outer_prediction] - means[:, outer_test_sets][:, test_set_of_loss]
    loss_weights = (
        np.ones(len(test_set_of_loss)) if weights is None else weights[is_outer_prediction]
    )
    sums_of_squares, n_units = _sums_of_squares(
        residuals, loss_weights, test_set_of_loss, plan, data, is_outer_prediction
    )
    total_weights = np.bincount(test_set_of_loss, loss_weights)
    return sums_of_squares * n_units / np.maximum(n_units - 1, 1) / total_weights**2


def _sums_of_squares(
    residuals: np.ndarray,
    loss_weights: np.ndarray,
    part_numbers: np.ndarray,
    plan: Plan,
    data: Data,
    prediction_indices: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of squared weighted residuals in each part of the predictions.

    The number of units in each part is returned as well. The units are rows, or groups whose
    residuals are summed before they are squared. Only units with a positive weight are counted.
    `part_numbers` holds ascending part numbers.
    """
    weighted_residuals = residuals * loss_weights
    if data.groups is not None:
        group_numbers = np.unique(data.groups, return_inverse=True)[1].ravel()[
            plan.positions[0][prediction_indices]
        ]
        part_groups, unit_numbers = np.unique(
            part_numbers * (group_numbers.max() + 1) + group_numbers, return_inverse=True
        )
        weighted_residuals = np.stack(
            [
                np.bincount(unit_numbers.ravel(), candidate_losses)
                for candidate_losses in weighted_residuals
            ]
        )
        loss_weights = np.bincount(unit_numbers.ravel(), loss_weights)
        part_numbers = part_groups // (group_numbers.max() + 1)
    part_starts = np.flatnonzero(np.diff(part_numbers, prepend=-1))
    return np.add.reduceat(weighted_residuals**2, part_starts, axis=1), np.bincount(
        part_numbers, loss_weights > 0
    )


def _independent_variances(
    losses: np.ndarray,
    plan: Plan,
    data: Data,
    weights: np.ndarray | None,
    is_outer: np.ndarray,
    kfold_risks: np.ndarray,
) -> np.ndarray:
    """Return each candidate's variance of the mean loss as if all losses were independent.

    Without groups it is s²/n, where s² is the variance of the inner losses (times Σw²/(Σw)² · n if
    they are weighted). With groups it is the variance of a repetition's K-fold mean, computed by
    groups.
    """
    is_outer_prediction = np.repeat(is_outer, plan.test_sizes)
    repeat_numbers = np.repeat(plan.repeat, plan.test_sizes)
    loss_weights = np.ones(len(is_outer_prediction)) if weights is None else weights
    if data.groups is None:
        test_set_starts, is_inner = plan.test_offsets[:-1], ~is_outer
        shifted_losses = losses - losses[:, :1]  # Losses that are all equal become exactly 0.
        inner_weight = np.add.reduceat(loss_weights, test_set_starts)[is_inner].sum()
        mean_loss = (
            np.add.reduceat(loss_weights * shifted_losses, test_set_starts, axis=1)[
                :, is_inner
            ].sum(axis=1)
            / inner_weight
        )
        mean_square = (
            np.add.reduceat(loss_weights * shifted_losses**2, test_set_starts, axis=1)[
                :, is_inner
            ].sum(axis=1)
            / inner_weight
        )
        n_inner_losses = int(
            np.count_nonzero(loss_weights) - np.count_nonzero(loss_weights[is_outer_prediction])
        )
        first_repeat_weights = loss_weights[
            is_outer_prediction & (repeat_numbers == repeat_numbers[0])
        ]
        variance: np.ndarray = (
            np.maximum(mean_square - mean_loss**2, 0.0)
            * n_inner_losses
            / max(n_inner_losses - 1, 1)
        )
        return variance * float((first_repeat_weights**2).sum() / first_repeat_weights.sum() ** 2)
    repeat_of_prediction = repeat_numbers[is_outer_prediction]
    repeat_order = np.argsort(repeat_of_prediction, kind="stable")
    residuals, loss_weights = (
        losses[:, is_outer_prediction] - kfold_risks[:, None],
        loss_weights[is_outer_prediction],
    )
    sums_of_squares, n_units = _sums_of_squares(
        residuals[:, repeat_order],
        loss_weights[repeat_order],
        repeat_of_prediction[repeat_order],
        plan,
        data,
        np.flatnonzero(is_outer_prediction)[repeat_order],
    )
    total_weights = np.bincount(repeat_of_prediction, loss_weights)
    return (sums_of_squares * n_units / np.maximum(n_units - 1, 1) / total_weights**2).mean(axis=1)


BiasCorrection = Literal["bates", "mlr3inferr"]


@dataclass(frozen=True, init=False)
class NestedInterval(Method):
    r"""K-fold cross-validation whose standard error comes from fits without each pair of folds.

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
    correction: BiasCorrection | None
    stratify: bool

    target: ClassVar[Target] = "Err"
    gives: ClassVar[frozenset[Basis]] = frozenset({Basis.PAIRS})

    def __init__(
        self,
        k: int = 10,
        repeats: int = 50,
        folds: Any = None,
        bias: BiasCorrection | None = "bates",
        *,
        stratify: bool = True,
    ) -> None:
        if folds is None:
            check_count("k", k, 3, "fits without two folds need a whole number K >= 3")
        check_count("repeats", repeats)
        check_flag("stratify", stratify)
        if bias not in (None, "bates", "mlr3inferr"):
            raise UnknownName(f"bias={bias!r} is unknown; use 'bates', 'mlr3inferr' or None.")
        field_values = {"k": k, "repeats": repeats, "folds": folds, "correction": bias}
        for name, value in {**field_values, "stratify": stratify}.items():
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
        labels_by_repeat = fold_numbers(
            data, self.folds, self.k, self.repeats, rng, stratify=self.stratify
        )
        fold_counts = {len(np.unique(fold_labels)) for fold_labels in labels_by_repeat}
        if len(fold_counts) > 1 or min(fold_counts) < 3:
            raise BadData(
                f"nested cross-validation needs three or more folds, as many in every repetition; "
                f"these have {', '.join(map(str, sorted(fold_counts)))}."
            )
        unit_ids = np.arange(data.n_rows) if data.groups is None else data.groups
        for fold_labels in labels_by_repeat:
            distinct_folds, fold_sizes = np.unique(fold_labels, return_counts=True)
            if data.groups is not None:
                fold_sizes = np.array(
                    [len(np.unique(unit_ids[fold_labels == fold])) for fold in distinct_folds]
                )
            if fold_sizes.min() < 2:
                unit_name = "row" if data.groups is None else "group"
                raise BadData(
                    f"a fold holds a single {unit_name}, which has no spread: nested "
                    f"cross-validation needs two {unit_name}s in every fold; use fewer than "
                    f"{len(distinct_folds)} folds."
                )
        return leave_pairs_out(data.n_rows, labels_by_repeat)

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        if not isinstance(loss, RowLoss):
            raise Refusal(f"method 'ncv' needs losses of single rows; '{loss.name}' has none.")
        plan = answers.plan
        losses = row_losses(answers, data, loss)
        pair_summary = summarise_left_out_pairs(losses, plan, data, prediction_weights(data, plan))
        values = pair_summary.values(self.correction)
        is_outer_prediction = np.repeat(pair_summary.is_outer, plan.test_sizes)
        outer_plan = plan.select(np.flatnonzero(pair_summary.is_outer))
        row_weights = np.ones(int(is_outer_prediction.sum())) / is_outer_prediction.sum()
        rows, row_means, _, _ = means_by_row(
            losses[:, is_outer_prediction], row_weights, outer_plan
        )
        intervals = [NO_INTERVAL] * len(values)
        if terms.with_errors:
            evidence = PairEvidence(
                values=values,
                loss=loss,
                terms=terms,
                groups=None if data.groups is None else data.groups[rows],
                nested_errors=[
                    pair_summary.nested_errors(candidate) for candidate in range(len(values))
                ],
            )
            intervals = compute_if_independent(as_form(terms.interval or "ncv"), evidence, data)
        findings = find_infinite_losses(answers, data, loss)
        return make_estimates(
            intervals,
            answers,
            values,
            pair_summary.risks_by_test_set,
            row_means,
            rows,
            findings=findings,
        )
