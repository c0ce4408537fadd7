"""Nested cross-validation of Bates, Hastie and Tibshirani: the error of K-fold itself."""

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
    mean_by_question,
    means_by_row,
    position_weights,
    row_losses,
    tested_with,
)
from truerisk.plan.answers import Answers
from truerisk.plan.partitions import leave_pairs_out
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target, Tested
from truerisk.results.interval import Basis
from truerisk.splitting.folds import fold_numbers

POWERS = {"bates": 1.5, "mlr3inferr": 1.0}


@frozen(eq=False)
class PairSpread:
    """Summaries of the answers to `leave_pairs_out`, one entry per candidate.

    `outer` is the K-fold mean. `inner` is the mean over the fits that lack two folds. `surplus` is
    the mean of (inner mean − fold mean)² minus the variance of the fold mean. `floor2` is the
    variance of a mean of n independent inner losses.
    """

    k: int
    n: int
    by_question: np.ndarray
    is_outer: np.ndarray
    outer: np.ndarray
    inner: np.ndarray
    surplus: np.ndarray
    floor2: np.ndarray

    def values(self, correction: str | None) -> np.ndarray:
        """Return the K-fold means, extrapolated to n rows by one of the published factors."""
        if correction is None:
            return self.outer
        factor = 1 + ((self.k - 2) / self.k) ** POWERS[correction]
        return self.inner - factor * (self.inner - self.outer)

    def nested_errors(self, candidate: int) -> NestedErrors:
        """Return the standard error of one candidate, between the floor and √K times the floor."""
        floor2 = float(self.floor2[candidate])
        mse = max(0.0, float(self.surplus[candidate])) * (self.k - 1) / self.k
        error = float(np.clip(mse, floor2, self.k * floor2)) ** 0.5
        return NestedErrors(error, floor2**0.5, float(self.inner[candidate]), self.n)


def spread_of_pairs(
    losses: np.ndarray, plan: Plan, data: Data, weights: np.ndarray | None
) -> PairSpread:
    """Return the spread, from `losses` (candidate, position) and `weights` per position."""
    n_repeats = int(plan.repeat.max()) + 1
    k = round((plan.n_questions / n_repeats) ** 0.5)
    code = plan.fold.astype(np.int64)
    tested, also_out = code // k, code % k
    is_outer = tested == also_out
    means = mean_by_question(losses, plan, data)
    starts = plan.test_offsets[:-1]
    mass = plan.test_sizes.astype(float) if weights is None else np.add.reduceat(weights, starts)
    cube, masses = np.empty((len(losses), n_repeats, k, k)), np.empty((n_repeats, k, k))
    cube[:, plan.repeat, tested, also_out] = means
    masses[plan.repeat, tested, also_out] = mass
    diagonal = np.einsum("crii->cri", cube)
    own = np.einsum("rii->ri", masses)
    between = masses * (1 - np.eye(k))
    about = np.einsum("crij,rij->crj", cube, between) / between.sum(axis=1)
    inner = np.einsum("crij,rij->c", cube, between) / between.sum()
    outer = np.einsum("cri,ri->c", diagonal, own) / own.sum()
    variances = _variances_of_means(losses, means, plan, data, weights, is_outer)
    surplus = ((about - diagonal) ** 2).mean(axis=(1, 2)) - variances.mean(axis=1)
    units = np.arange(data.n_rows) if data.groups is None else data.groups
    if data.sample_weight is not None:
        units = units[data.sample_weight > 0]
    return PairSpread(
        k=k,
        n=len(np.unique(units)),
        by_question=means,
        is_outer=is_outer,
        outer=outer,
        inner=inner,
        surplus=surplus,
        floor2=_floors(losses, plan, data, weights, is_outer, outer),
    )


def _variances_of_means(
    losses: np.ndarray,
    means: np.ndarray,
    plan: Plan,
    data: Data,
    weights: np.ndarray | None,
    is_outer: np.ndarray,
) -> np.ndarray:
    """Return the variance of the mean of each singly left-out fold, from its rows or groups."""
    questions = np.flatnonzero(is_outer)
    place = np.repeat(is_outer, plan.test_sizes)
    question = np.repeat(np.arange(len(questions)), plan.test_sizes[questions])
    residuals = losses[:, place] - means[:, questions][:, question]
    w = np.ones(len(question)) if weights is None else weights[place]
    sums, units = _squares(residuals, w, question, plan, data, place)
    total = np.bincount(question, w)
    return sums * units / np.maximum(units - 1, 1) / total**2


def _squares(
    residuals: np.ndarray,
    w: np.ndarray,
    part: np.ndarray,
    plan: Plan,
    data: Data,
    place: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return sums of squares per part (ascending), summed by group first, and the numbers of units.

    Only units with a positive weight are counted.
    """
    weighted = residuals * w
    if data.groups is not None:
        member = np.unique(data.groups, return_inverse=True)[1].ravel()[plan.positions[0][place]]
        keys, unit = np.unique(part * (member.max() + 1) + member, return_inverse=True)
        weighted = np.stack([np.bincount(unit.ravel(), row) for row in weighted])
        w = np.bincount(unit.ravel(), w)
        part = keys // (member.max() + 1)
    starts = np.flatnonzero(np.diff(part, prepend=-1))
    return np.add.reduceat(weighted**2, starts, axis=1), np.bincount(part, w > 0)


def _floors(
    losses: np.ndarray,
    plan: Plan,
    data: Data,
    weights: np.ndarray | None,
    is_outer: np.ndarray,
    outer: np.ndarray,
) -> np.ndarray:
    """Return the variance of a mean of n independent losses, or of K-fold means by groups.

    Without groups it is s²/n, where s² is the variance of the inner losses (times Σw²/(Σw)² · n if
    they are weighted). With groups it is the variance of a repetition's K-fold mean, computed by
    groups.
    """
    outside = np.repeat(is_outer, plan.test_sizes)
    repeat = np.repeat(plan.repeat, plan.test_sizes)
    w = np.ones(len(outside)) if weights is None else weights
    if data.groups is None:
        starts, inside = plan.test_offsets[:-1], ~is_outer
        moved = losses - losses[:, :1]  # Equal losses become exactly 0.
        mass = np.add.reduceat(w, starts)[inside].sum()
        first = np.add.reduceat(w * moved, starts, axis=1)[:, inside].sum(axis=1) / mass
        second = np.add.reduceat(w * moved**2, starts, axis=1)[:, inside].sum(axis=1) / mass
        count = int(np.count_nonzero(w) - np.count_nonzero(w[outside]))
        one = w[outside & (repeat == repeat[0])]
        variance: np.ndarray = np.maximum(second - first**2, 0.0) * count / max(count - 1, 1)
        return variance * float((one**2).sum() / one.sum() ** 2)
    part = repeat[outside]
    order = np.argsort(part, kind="stable")
    residuals, w = losses[:, outside] - outer[:, None], w[outside]
    sums, units = _squares(
        residuals[:, order], w[order], part[order], plan, data, np.flatnonzero(outside)[order]
    )
    total = np.bincount(part, w)
    return (sums * units / np.maximum(units - 1, 1) / total**2).mean(axis=1)


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
        given = {"k": k, "repeats": repeats, "folds": folds, "correction": bias}
        for name, value in {**given, "stratify": stratify}.items():
            object.__setattr__(self, name, value)

    @property
    @override
    def name(self) -> str:
        drawn = f"{self.repeats}x{self.k}-fold" if self.folds is None else "given folds"
        return f"ncv ({drawn})"

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
        counts = {len(np.unique(row)) for row in labels}
        if len(counts) > 1 or min(counts) < 3:
            raise BadData(
                f"nested cross-validation needs three or more folds, as many in every repetition; "
                f"these have {', '.join(map(str, sorted(counts)))}."
            )
        units = np.arange(data.n_rows) if data.groups is None else data.groups
        for row in labels:
            names, sizes = np.unique(row, return_counts=True)
            if data.groups is not None:
                sizes = np.array([len(np.unique(units[row == name])) for name in names])
            if sizes.min() < 2:
                what = "row" if data.groups is None else "group"
                raise BadData(
                    f"a fold holds a single {what}, which has no spread: nested cross-validation "
                    f"needs two {what}s in every fold; use fewer than {len(names)} folds."
                )
        return leave_pairs_out(data.n_rows, labels)

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        if not isinstance(loss, RowLoss):
            raise Refusal(f"method 'ncv' needs losses of single rows; '{loss.name}' has none.")
        plan = answers.plan
        losses = row_losses(answers, data, loss)
        spread = spread_of_pairs(losses, plan, data, position_weights(data, plan))
        values = spread.values(self.correction)
        outer = np.repeat(spread.is_outer, plan.test_sizes)
        only = plan.select(np.flatnonzero(spread.is_outer))
        shares = np.ones(int(outer.sum())) / outer.sum()
        rows, per_row, _, _ = means_by_row(losses[:, outer], shares, only)
        bounds = [NONE] * len(values)
        if terms.with_errors:
            evidence = PairEvidence(
                values=values,
                loss=loss,
                terms=terms,
                groups=None if data.groups is None else data.groups[rows],
                pairs=[spread.nested_errors(c) for c in range(len(values))],
            )
            bounds = if_independent(as_form(terms.interval or "ncv"), evidence, data)
        found = infinite_findings(answers, data, loss)
        return tested_with(
            bounds, answers, values, spread.by_question, per_row, rows, findings=found
        )
