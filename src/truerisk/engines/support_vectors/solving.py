"""The minima of every pair of classes in one train set, and the votes they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from truerisk.core.answers import code_type
from truerisk.core.contracts import Request
from truerisk.engines.settings import Group
from truerisk.engines.support_vectors.gram import Gram
from truerisk.kernels.svm import Machines, support_vectors, support_vectors_of_each

__all__ = [
    "Decisions",
    "GramRows",
    "Pair",
    "class_weights",
    "decisions",
    "largest_gap",
    "machines",
    "shares_of",
]

EXACT = 1e-9  # the violation at which a problem counts as solved
SURE = 1e-6  # a decision value this close to 0 is asked of SVC; at least
FAR_OFF = 100.0  # how many violations a decision value may be off
STEPS_PER_ROW = 1000


@dataclass(frozen=True, eq=False)
class GramRows:
    """Distinct rows of a train set by their places in the Gram matrix, with codes of classes."""

    places: np.ndarray
    codes: np.ndarray
    times: np.ndarray | None
    weights: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Pair:
    """The machine that tells class `first` from class `second`: positive means `second`."""

    first: int
    second: int
    rows: np.ndarray  # of the Gram matrix
    sign: np.ndarray
    share: np.ndarray
    copied: bool  # shares are counts of copies

    @classmethod
    def of(
        cls, first: int, second: int, rows: GramRows, share: np.ndarray, setting: Mapping[str, Any]
    ) -> Pair:
        mine = (rows.codes == first) | (rows.codes == second)
        sign = np.where(rows.codes[mine] == second, 1.0, -1.0)
        return cls(first, second, rows.places[mine], sign, share[mine], is_copied(rows, setting))

    def off(self, found: Machines) -> np.ndarray:
        """How far the decision values may be off, for every C."""
        return how_far_off(found, copied=self.copied)


@dataclass(frozen=True, eq=False)
class Decisions:
    """Decision values (pair, candidate, row) and how far each may be off, (pair, candidate).

    Where no row is free the intercept is the middle of a range, `loose` wide, as libsvm has it.
    But its rounding may leave a row a hair inside its box, and then the intercept is that row's.
    Between boxes of unequal sizes that is common, and counts as `off`; else only for scores.
    `gap` is the largest duality gap of the problems that converged, as a part of their objective.
    """

    pairs: tuple[tuple[int, int], ...]
    values: np.ndarray
    off: np.ndarray
    loose: np.ndarray
    gap: float

    def answers(self, request: Request, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
        """What every candidate answers, and which candidates are to be asked of SVC."""
        if request.response == "score":
            return self.values[0], ~(np.maximum(self.off[0], self.loose[0]) <= SURE)
        if len(self.pairs) == 1:
            values, code = self.values[0], code_type(n_classes)
            labels = np.where(values > 0, *np.array(self.pairs[0][::-1], dtype=code))
            return labels, ~(np.abs(values) > self.off[0][:, None]).all(axis=1)
        off = self.off[:, :, None]
        of_second, of_first = self.values > off, self.values < -off
        first, second = np.eye(n_classes)[np.array(self.pairs).T]
        votes = _counted(of_second, second) + _counted(of_first, first)
        doubts = _counted(~(of_second | of_first), first + second)
        # votes first, then the lower class: as one number
        rank = votes * n_classes + np.arange(n_classes)[::-1]
        labels = rank.argmax(axis=-1)
        best = rank + doubts * n_classes
        np.put_along_axis(best, labels[..., None], -1, axis=-1)
        open_ = best.max(axis=-1) > rank.max(axis=-1)
        return labels.astype(code_type(n_classes)), open_.any(axis=1)


def _counted(told: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """How many pairs say so, for every class that is theirs: (candidate, row, class)."""
    flat = told.reshape(len(told), -1).astype(np.float64)
    return (flat.T @ classes).reshape(*told.shape[1:], -1)


def decisions(
    gram: Gram, rows: GramRows, group: Group, classes: Any, asked: np.ndarray
) -> Decisions | None:
    """Decision values of the asked columns of the Gram matrix; None where SVC must be asked.

    It is where one class is left, or a row counts for nothing.
    """
    present = np.unique(rows.codes)
    share = shares_of(rows, group.settings[0], classes)
    if len(present) < 2 or not (np.isfinite(share).all() and (share > 0).all()):
        return None
    Cs, back = np.unique(group.values("C").astype(np.float64), return_inverse=True)
    pairs = tuple((int(a), int(b)) for a, b in combinations(present, 2))
    first, second = np.array(pairs).T[:, :, None]
    which, at = np.nonzero((rows.codes == first) | (rows.codes == second))
    starts = np.concatenate([[0], np.cumsum(np.bincount(which))])
    found = support_vectors_of_each(
        gram.single,
        rows.places[at],
        starts,
        np.where(rows.codes[at] == second[which, 0], 1.0, -1.0),
        share[at],
        Cs,
        max_steps=most_steps(np.diff(starts)),
        **_until(group.settings[0]),
    )
    columns = gram.towards(rows.places, asked)
    values = np.empty((len(pairs), len(Cs), len(asked)))
    with np.errstate(invalid="ignore"):  # of a matrix that overflows: off by NaN
        for p, (start, end) in enumerate(pairwise(starts)):
            beta = found.beta[len(Cs) * start : len(Cs) * end].reshape(len(Cs), -1)
            np.matmul(beta, columns[at[start:end]], out=values[p])
        values += found.intercept[:, :, None]
    off = how_far_off(found, copied=is_copied(rows, group.settings[0]))
    if len(back) != len(Cs) or (back != np.arange(len(Cs))).any():
        values = values[:, back]
    return Decisions(pairs, values, off[:, back], found.loose[:, back], largest_gap(found))


def is_copied(rows: GramRows, setting: Mapping[str, Any]) -> bool:
    """Whether shares are counts of copies."""
    return rows.weights is None and setting["class_weight"] is None


def how_far_off(found: Machines, *, copied: bool) -> np.ndarray:
    """How far the decision values may be off, for every C."""
    off: np.ndarray = np.maximum(SURE, FAR_OFF * found.violation)
    return off if copied else np.maximum(off, found.loose)


def largest_gap(found: Machines) -> float:
    """Of the problems that converged; 0 where none did."""
    return float(found.gap[found.converged].max(initial=0.0))


def machines(
    gram: Gram,
    pair: Pair,
    Cs: np.ndarray,
    setting: Mapping[str, Any],
    start: np.ndarray | None = None,
) -> Machines:
    """The two-class problems of a pair."""
    return support_vectors(
        gram.single,
        pair.rows,
        pair.sign,
        pair.share,
        Cs,
        max_steps=int(most_steps(np.array(len(pair.rows)))),
        start=start,
        **_until(setting),
    )


def most_steps(n_rows: np.ndarray) -> np.ndarray:
    return np.maximum(200_000, STEPS_PER_ROW * n_rows)


def _until(setting: Mapping[str, Any]) -> dict[str, Any]:
    """When a search ends, and when the next one is not begun."""
    return {"tolerance": min(EXACT, setting["tol"]), "hopeless": setting["tol"]}


def shares_of(rows: GramRows, setting: Mapping[str, Any], classes: Any) -> np.ndarray:
    """How much each row counts: its copies, its weight, the weight of its class."""
    share = np.ones(len(rows.codes)) if rows.times is None else rows.times.astype(np.float64)
    if rows.weights is not None:
        share = share * rows.weights
    every = np.arange(len(rows.codes))
    every = every if rows.times is None else np.repeat(every, rows.times)
    found = class_weights(rows.codes[every], setting, classes)
    first = np.unique(every, return_index=True)[1]
    return share * found[first]


def class_weights(codes: np.ndarray, setting: Mapping[str, Any], classes: Any) -> np.ndarray:
    """The weight of its class for each row of a fit, copies and all."""
    if setting["class_weight"] is None:
        return np.ones(len(codes))
    from sklearn.utils.class_weight import compute_class_weight

    present, which = np.unique(codes, return_inverse=True)
    weights: np.ndarray = compute_class_weight(
        setting["class_weight"], classes=classes[present], y=classes[codes]
    )
    return weights[which]
