"""The interval engine: every number of intervals, every row left out, every label flipped at once.

Leaving one row out, or flipping its label, changes one place on the line. What is left and right
of the place is known from one pass each way over all rows, so all such fits are answered together
(`single_row.py` says which they are). Any other fit takes one pass for all numbers of intervals.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import Engine, Request, RunOptions
from truerisk.core.family import Family
from truerisk.core.identity import is_plain
from truerisk.core.plan.plan import Plan
from truerisk.core.progress import tell
from truerisk.core.table.data import Data
from truerisk.engines.running.fitting import empty_values
from truerisk.engines.settings import response_refusal
from truerisk.engines.templates.single_row import single_row_fits
from truerisk.kernels import labels_after_changes, labels_for_every_k, why_not
from truerisk.models.interval_classifier import IntervalClassifier, boundaries_between

__all__ = ["Intervals"]


@dataclass(frozen=True)
class Intervals(Engine):
    """Serves IntervalClassifier over any candidates `k`."""

    word: ClassVar[str] = "interval"
    serves: ClassVar[frozenset[str]] = frozenset({"counted"})

    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        reason = _family_refusal(family) or response_refusal(family, data, request) or why_not()
        if reason is not None:
            return reason if reason.endswith(".") else f"{reason}."
        if data.fit_params:
            return f"fit parameters ({', '.join(data.fit_params)}) are given."
        if data.n_classes != 2:
            return f"y has {data.n_classes} classes, and intervals alternate between two."
        if _column(data.X) is None:
            return "X is not one column of finite numbers."
        if not plan.train_sizes.all() or not plan.test_sizes.all():
            return "a fit sees no rows, or is asked about none."
        return None

    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        total = plan.n_fits * (len(family) if run.only is None else 1)
        tell(0, total)
        ks = [min(int(k), data.n_rows) for k in _every_k(family)]
        line = _Line(data, plan, request, ks, run.only)
        single, row = single_row_fits(plan)
        if request.response != "label":  # shares of an interval need its boundaries
            single[:] = False
        if plan.counted is not None:  # and so do its rows
            single[plan.fit[plan.counted]] = False
        line.answer_single(np.flatnonzero(single), row)
        tell(int(single.sum()) * len(line.values), total)
        for done, fit in enumerate(np.flatnonzero(~single), start=int(single.sum()) + 1):
            line.answer(int(fit))
            tell(done * len(line.values), total)
        return Answers(
            plan=plan,
            response=request.response,
            values=line.values,
            answered=np.ones((len(line.values), plan.n_questions), dtype=bool),
            engine=self.word,
            fit_seconds=line.seconds,
            answer_seconds=np.zeros_like(line.seconds),
            n_fits=total,
            counts=line.counts,
        )


class _Line:
    """The rows in groups of equal x, and the answers found so far."""

    def __init__(
        self, data: Data, plan: Plan, request: Request, ks: list[int], only: np.ndarray | None
    ) -> None:
        self.plan, self.ks, self.only = plan, ks, only
        self.response = request.response
        self.codes = data.class_codes
        column = _column(data.X)
        assert column is not None
        self.x, group = np.unique(column, return_inverse=True)
        self.group = group.ravel()
        self.values = empty_values(data, plan, request, len(ks) if only is None else 1)
        self.seconds = np.zeros((len(self.values), plan.n_fits))
        self.counted = np.empty(0, np.int32) if plan.counted is None else plan.counted
        self.counts: np.ndarray | None = None
        if plan.counted is not None:
            self.counts = np.full((len(self.values), int(plan.counted_offsets[-1]), 2), np.nan)

    def answer_single(self, fits: np.ndarray, row: np.ndarray) -> None:
        """Fits on all rows but one, or with one label flipped, asked about that row alone."""
        if not len(fits):
            return
        started = time.perf_counter()
        counts = self._counts(np.arange(len(self.codes)), None, self.codes)
        group = self.group[row[fits]]
        instead = counts[group]
        instead[np.arange(len(fits)), self.codes[row[fits]]] -= 1
        if self.plan.flips is not None:
            at = np.searchsorted(fits, self.plan.flips.fit)
            ours = (at < len(fits)) & (fits[np.minimum(at, len(fits) - 1)] == self.plan.flips.fit)
            instead[at[ours], self.plan.flips.code[ours]] += 1
        right = (instead.sum(axis=1) == 0) & self._nearer_to_the_right(group)
        labels = labels_after_changes(counts, self.ks, group, instead, right)
        self._place_single(fits, labels)
        self.seconds[:, fits] = (time.perf_counter() - started) / (len(self.values) * len(fits))

    def _nearer_to_the_right(self, group: np.ndarray) -> np.ndarray:
        """Where the boundary between the neighbours of a group lies left of the group."""
        inner = (group > 0) & (group < len(self.x) - 1)
        at = np.where(inner, group, 1) if len(self.x) > 2 else np.zeros_like(group)
        if not inner.any():
            return inner
        return inner & (boundaries_between(self.x[at - 1], self.x[at + 1]) < self.x[at])

    def _place_single(self, fits: np.ndarray, labels: np.ndarray) -> None:
        order, starts = self.plan.questions_of
        times = np.diff(starts)[fits]
        asked = np.repeat(np.arange(len(fits)), times)
        if self.only is not None:
            labels = labels[self.only[fits], np.arange(len(fits))][None]
        mine = np.concatenate([order[starts[f] : starts[f + 1]] for f in fits])
        self.values[:, self.plan.test_offsets[mine]] = labels[:, asked]

    def answer(self, fit: int) -> None:
        """Any fit: one pass over its groups for all numbers of intervals, then its questions."""
        started = time.perf_counter()
        rows, times = self.plan.train_rows(fit)
        flipped, to = self.plan.flips_of(fit)
        codes = self.codes
        if len(flipped):
            codes = codes.copy()
            codes[flipped] = to
        everywhere = self._counts(rows, times, codes)
        present = np.flatnonzero(everywhere.sum(axis=1))
        ks = self.ks if self.only is None else [self.ks[int(self.only[fit])]]
        labels = labels_for_every_k(everywhere[present], ks)
        order, starts = self.plan.questions_of
        questions = order[starts[fit] : starts[fit + 1]]
        self._place(questions, labels, everywhere[present], self._nearest(present))
        self.seconds[:, fit] = (time.perf_counter() - started) / len(self.values)

    def _place(
        self, questions: np.ndarray, labels: np.ndarray, counts: np.ndarray, nearest: np.ndarray
    ) -> None:
        """Answers to the questions of one fit, from the labels of the groups it saw."""
        counting = np.isin(questions, self.counted)
        said = labels
        if self.response != "label" or counting.any():
            sizes, shares = _intervals(labels, counts)
            rest = sizes[..., None] * shares
            said = {"label": labels, "probability": shares}.get(self.response, shares[..., 1])
        for question, is_counted in zip(questions, counting, strict=True):
            asked, _ = self.plan.test_rows(int(question))
            groups = nearest[self.group[asked]]
            where = slice(*self.plan.test_offsets[question : question + 2])
            self.values[:, where] = said[:, groups]
            if is_counted and self.counts is not None:
                place = int(np.searchsorted(self.counted, question))
                where = slice(*self.plan.counted_offsets[place : place + 2])
                self.counts[:, where] = rest[:, groups]

    def _counts(self, rows: np.ndarray, times: np.ndarray | None, codes: np.ndarray) -> np.ndarray:
        """Rows of each class in each group."""
        places = 2 * self.group[rows] + codes[rows]
        counted = np.bincount(places, weights=times, minlength=2 * len(self.x))
        return counted.astype(np.int64).reshape(-1, 2)

    def _nearest(self, present: np.ndarray) -> np.ndarray:
        """For each group the place in `present` of the group that it goes with.

        It is the left neighbour up to the boundary between both, else the right one; where they
        have one label there is no boundary, and it does not matter.
        """
        after = np.searchsorted(present, np.arange(len(self.x)))
        right = np.minimum(after, len(present) - 1)
        left = np.maximum(after - 1, 0)
        between = (right > left) & (present[right] > np.arange(len(self.x)))
        ends = boundaries_between(self.x[present[left]], self.x[present[right]])
        return np.where(between & (self.x <= ends), left, right)


def _intervals(labels: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows in the interval of each group, and shares of the classes among them, for every k."""
    sizes = np.empty(labels.shape, dtype=np.int64)
    shares = np.empty((*labels.shape, 2))
    for i, of_k in enumerate(labels):
        starts = np.concatenate([[0], np.flatnonzero(np.diff(of_k)) + 1])
        lengths = np.diff(np.append(starts, len(of_k)))
        inside = np.add.reduceat(counts, starts, axis=0)
        sizes[i] = np.repeat(inside.sum(axis=1), lengths)
        shares[i] = np.repeat(inside / inside.sum(axis=1, keepdims=True), lengths, axis=0)
    return sizes, shares


def _family_refusal(family: Family) -> str | None:
    if not is_plain(family.estimator, IntervalClassifier):
        return f"it serves IntervalClassifier, not {type(family.estimator).__name__}."
    wrong = next((k for k in _every_k(family) if not _is_number_of_intervals(k)), None)
    return None if wrong is None else f"k={wrong!r} is no number of intervals."


def _every_k(family: Family) -> Sequence[Any]:
    """The k of every candidate."""
    return [candidate.get("k", family.estimator.k) for candidate in family.candidates]


def _is_number_of_intervals(k: Any) -> bool:
    return isinstance(k, int | np.integer) and not isinstance(k, bool) and int(k) >= 1


def _column(X: Any) -> np.ndarray | None:
    """The one column of X as the classifier reads it, or None."""
    if hasattr(X, "tocsr") or len(getattr(X, "shape", ())) != 2 or X.shape[1] != 1:
        return None
    array = np.asarray(X)
    if array.dtype.kind not in "biuf":
        return None
    column = array[:, 0].astype(np.float64)
    return column if np.isfinite(column).all() else None
