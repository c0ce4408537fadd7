"""Two-class machines of every pair of classes in one train set, and the votes they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from truerisk.core.answers import code_type
from truerisk.core.contracts import Request
from truerisk.engines.margins.gram import Gram
from truerisk.engines.settings import Group
from truerisk.kernels.svm import Machines, support_vectors

__all__ = ["Decisions", "Pair", "Rows", "decisions", "largest_gap", "machines", "shares_of"]

EXACT = 1e-9  # the violation at which a problem counts as solved
SURE = 1e-6  # a decision value this close to 0 is asked of SVC; at least
FAR_OFF = 100.0  # how many violations a decision value may be off
STEPS_PER_ROW = 1000


@dataclass(frozen=True, eq=False)
class Rows:
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
        cls, first: int, second: int, rows: Rows, share: np.ndarray, setting: Mapping[str, Any]
    ) -> Pair:
        mine = (rows.codes == first) | (rows.codes == second)
        sign = np.where(rows.codes[mine] == second, 1.0, -1.0)
        copied = rows.weights is None and setting["class_weight"] is None
        return cls(first, second, rows.places[mine], sign, share[mine], copied)

    def off(self, found: Machines) -> np.ndarray:
        """How far the decision values may be off, for every C."""
        off: np.ndarray = np.maximum(SURE, FAR_OFF * found.violation)
        return off if self.copied else np.maximum(off, found.loose)


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
        votes = np.zeros((*self.values.shape[1:], n_classes), dtype=np.int32)
        doubts = np.zeros_like(votes)
        for (first, second), values, off in zip(self.pairs, self.values, self.off, strict=True):
            unsure = ~(np.abs(values) > off[:, None])
            votes[..., second] += ~unsure & (values > 0)
            votes[..., first] += ~unsure & (values < 0)
            doubts[..., first] += unsure
            doubts[..., second] += unsure
        # votes first, then the lower class: as one number
        rank = votes * n_classes + np.arange(n_classes)[::-1]
        labels = rank.argmax(axis=-1)
        best = rank + doubts * n_classes
        np.put_along_axis(best, labels[..., None], -1, axis=-1)
        open_ = best.max(axis=-1) > rank.max(axis=-1)
        return labels.astype(code_type(n_classes)), open_.any(axis=1)


def decisions(
    gram: Gram, rows: Rows, group: Group, classes: Any, asked: np.ndarray
) -> Decisions | None:
    """Decision values of the asked columns of the Gram matrix; None where SVC must be asked.

    It is where one class is left, or a row counts for nothing.
    """
    present = np.unique(rows.codes)
    share = shares_of(rows, group.settings[0], classes)
    if len(present) < 2 or not (np.isfinite(share).all() and (share > 0).all()):
        return None
    Cs, back = np.unique(group.values("C").astype(np.float64), return_inverse=True)
    values, off, loose, gap = [], [], [], 0.0
    pairs = tuple((int(a), int(b)) for a, b in combinations(present, 2))
    for first, second in pairs:
        pair = Pair.of(first, second, rows, share, group.settings[0])
        found = machines(gram, pair, Cs, group.settings[0])
        with np.errstate(invalid="ignore"):  # of a matrix that overflows: off by NaN
            told = found.beta @ gram.double[np.ix_(pair.rows, asked)] + found.intercept[:, None]
        values.append(told[back])
        off.append(pair.off(found)[back])
        loose.append(found.loose[back])
        gap = max(gap, largest_gap(found))
    return Decisions(pairs, np.array(values), np.array(off), np.array(loose), gap)


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
        tolerance=min(EXACT, setting["tol"]),
        hopeless=setting["tol"],
        max_steps=max(200_000, STEPS_PER_ROW * len(pair.rows)),
        start=start,
    )


def shares_of(rows: Rows, setting: Mapping[str, Any], classes: Any) -> np.ndarray:
    """How much each row counts: its copies, its weight, the weight of its class."""
    share = np.ones(len(rows.codes)) if rows.times is None else rows.times.astype(np.float64)
    if rows.weights is not None:
        share = share * rows.weights
    wanted = setting["class_weight"]
    if wanted is None:
        return share
    from sklearn.utils.class_weight import compute_class_weight

    present, which = np.unique(rows.codes, return_inverse=True)
    said = classes[rows.codes if rows.times is None else np.repeat(rows.codes, rows.times)]
    weights = compute_class_weight(wanted, classes=classes[present], y=said)
    result: np.ndarray = share * weights[which]
    return result
