"""Means and variances of nested cross-validation, of all candidates at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms.evidence import NestedErrors
from truerisk.methods.parts.set_risks import mean_by_question

__all__ = ["PairSpread", "spread_of_pairs"]

POWERS = {"bates": 1.5, "mlr3inferr": 1.0}


@dataclass(frozen=True, eq=False)
class PairSpread:
    """What the questions of `leave_pairs_out` say, one entry per candidate.

    `outer` is the K-fold mean, `inner` that of the fits that lack two folds, `surplus` the mean of
    (inner mean − fold mean)² less the variance of the fold mean, `floor2` the variance of a mean of
    n independent inner losses.
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
        """The K-fold means, carried on to n rows by one of the published factors."""
        if correction is None:
            return self.outer
        factor = 1 + ((self.k - 2) / self.k) ** POWERS[correction]
        return self.inner - factor * (self.inner - self.outer)

    def of(self, candidate: int) -> NestedErrors:
        """The standard error of one candidate, kept between the floor and √K times it."""
        floor2 = float(self.floor2[candidate])
        mse = max(0.0, float(self.surplus[candidate])) * (self.k - 1) / self.k
        error = float(np.clip(mse, floor2, self.k * floor2)) ** 0.5
        return NestedErrors(error, floor2**0.5, float(self.inner[candidate]), self.n)


def spread_of_pairs(
    losses: np.ndarray, plan: Plan, data: Data, weights: np.ndarray | None
) -> PairSpread:
    """The spread from `losses` of all candidates and positions; `weights` are of positions."""
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
    return PairSpread(
        k=k,
        n=_units_that_count(data),
        by_question=means,
        is_outer=is_outer,
        outer=outer,
        inner=inner,
        surplus=surplus,
        floor2=_floors(losses, plan, data, weights, is_outer, inner, outer),
    )


def _units_that_count(data: Data) -> int:
    """Rows, or groups, that have a weight."""
    units = np.arange(data.n_rows) if data.groups is None else data.groups
    if data.sample_weight is not None:
        units = units[data.sample_weight > 0]
    return len(np.unique(units))


def _variances_of_means(
    losses: np.ndarray,
    means: np.ndarray,
    plan: Plan,
    data: Data,
    weights: np.ndarray | None,
    is_outer: np.ndarray,
) -> np.ndarray:
    """The variance of the mean of each fold that was left out alone, from its rows or groups."""
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
    """Sums of squares in each part (ascending), groups added up first; its units with a weight."""
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
    inner: np.ndarray,
    outer: np.ndarray,
) -> np.ndarray:
    """The variance of a mean of n independent losses; of K-fold means by groups, if there are any.

    Without groups it is s²/n, s² the variance of the inner losses (times Σw²/(Σw)² · n if they are
    weighted). With groups it is the variance by groups of a repetition's K-fold mean.
    """
    outside = np.repeat(is_outer, plan.test_sizes)
    repeat = np.repeat(plan.repeat, plan.test_sizes)
    w = np.ones(len(outside)) if weights is None else weights
    if data.groups is None:
        starts, inside = plan.test_offsets[:-1], ~is_outer
        moved = losses - losses[:, :1]  # equal losses are 0, exactly
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
