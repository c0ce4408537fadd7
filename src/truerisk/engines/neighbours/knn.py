"""The kNN engine: every k, every fold, every flipped label from one sorted list per row.

The list holds a row's nearest rows by exact distance. A fit is answered by walking it and skipping
the rows that the fit does not see, all k in one pass; so leave-one-out, K-fold, bootstrap counts,
nested plans and flipped labels cost one search together. Steps before the neighbours that learn
from the rows (a scaler) are fitted once per train set, and one search serves all k of that fit.

Where equal distances at the boundary of k rows say different things, the answer is up to the
searcher; scikit-learn itself is asked for these, so the engine equals it there as well.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import Engine, Request, RunOptions
from truerisk.core.family import Family
from truerisk.core.plan.plan import Plan, spread
from truerisk.core.progress import tell
from truerisk.core.table.data import Data
from truerisk.engines.neighbours.drawn import answer_drawn, drawn_refusal
from truerisk.engines.neighbours.family import Group, groups_of, refusal
from truerisk.engines.neighbours.search import Found, Want, found_per_fit, found_together
from truerisk.engines.running.fitting import (
    empty_counts,
    empty_values,
    error_of,
    fit_pieces,
    place_counts,
)
from truerisk.engines.settings import response_refusal
from truerisk.kernels import why_not
from truerisk.kernels.walk import MOST_CLASSES, Said

__all__ = ["NearestNeighbours"]


@dataclass(frozen=True)
class NearestNeighbours(Engine):
    """Serves scikit-learn's KNeighborsClassifier and KNeighborsRegressor, also in a pipeline."""

    word: ClassVar[str] = "knn"
    serves: ClassVar[frozenset[str]] = frozenset({"laws", "counted"})

    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        reason = refusal(family) or why_not()
        if reason is not None:
            return reason
        if data.fit_params:
            return f"fit parameters ({', '.join(data.fit_params)}) are given."
        reason = response_refusal(family, data, request) or _data_refusal(family, data)
        if reason is not None or plan.laws is not None:
            return reason or drawn_refusal(family, data, plan, request)
        return _plan_refusal(family, data, plan, request)

    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        started = time.perf_counter()
        tell(0, plan.n_fits)
        values = empty_values(data, plan, request, len(family) if run.only is None else 1)
        counts = empty_counts(data, plan, len(values))
        notes: tuple[str, ...] = ()
        if plan.laws is not None:
            notes = answer_drawn(values, family, data, plan, request, run.only)
        for group in groups_of(family) if plan.laws is None else ():
            only = None if run.only is None else _only(group, run.only)
            if only is None or (only >= 0).any():
                found = _found(group, data, plan, request, only)
                _place(values, found, group, plan, data, request, only)
                _place_counts(counts, found, group, plan, only)
                self._ask_scikit_learn(
                    values, counts, found, group, family, data, plan, request, run, only
                )
        spent = time.perf_counter() - started
        tell(plan.n_fits, plan.n_fits)
        shape = len(values), plan.n_fits  # of one pass: each fit has its share of the seconds
        share = np.broadcast_to(spent / (len(values) * plan.n_fits), shape)
        return Answers(
            plan=plan,
            response=request.response,
            values=values,
            answered=np.ones((len(values), plan.n_questions), dtype=bool),
            engine=self.word,
            fit_seconds=np.broadcast_to(0.0, shape),
            answer_seconds=share,
            n_fits=len(values) * plan.n_fits,
            counts=counts,
            notes=notes,
        )

    def _ask_scikit_learn(
        self,
        values: np.ndarray,
        counts: np.ndarray | None,
        found: Found,
        group: Group,
        family: Family,
        data: Data,
        plan: Plan,
        request: Request,
        run: RunOptions,
        only: np.ndarray | None,
    ) -> None:
        """Real fits for every (fit, candidate) with an answer that equal distances leave open."""
        if not found.open.any():
            return
        fit_of = np.repeat(plan.fit, plan.test_sizes)
        order, starts = plan.questions_of
        for fit in np.unique(fit_of[found.open.any(axis=0)]):
            mine = found.open[:, fit_of == fit].any(axis=1)
            places = np.flatnonzero(mine) if only is None else np.array([only[fit]])
            jobs = [(int(fit), [int(group.candidates[place]) for place in places])]
            for piece, place in zip(
                fit_pieces(family, data, plan, request, run.seed, True, jobs), places, strict=True
            ):
                if piece.failure is not None:
                    raise error_of(piece)
                row = group.candidates[place] if only is None else 0
                for question, answer in zip(
                    order[starts[fit] : starts[fit + 1]], piece.answers, strict=True
                ):
                    part = slice(*plan.test_offsets[question : question + 2])
                    values[row, part] = answer
                place_counts(counts, plan, piece, int(row))


def _data_refusal(family: Family, data: Data) -> str | None:
    X = data.X
    if hasattr(X, "tocsr"):
        return "X is sparse."
    if data.n_classes > MOST_CLASSES:
        return f"y has {data.n_classes} classes, more than it tells apart ({MOST_CLASSES})."
    dtype = np.asarray(X).dtype
    if dtype.kind not in "biuf":
        return "X holds more than numbers."
    if dtype.itemsize < 8 and dtype.kind == "f" and any(g.needs_doubles for g in groups_of(family)):
        return "scikit-learn computes distances in single precision here."
    if len(np.shape(X)) != 2:
        return "X is no table."
    return "X has cells that are not finite." if data.non_finite else None


def _plan_refusal(family: Family, data: Data, plan: Plan, request: Request) -> str | None:
    groups = groups_of(family)
    if plan.counted is not None and any(group.by_distance for group in groups):
        return "weights='distance' may rest on fewer rows than n_neighbors, and they are counted."
    largest = max(int(group.ks.max()) for group in groups)
    if largest > plan.least_train_sizes.min():  # a lower bound, had for nothing
        smallest = int(plan.train_sizes.min())
        if largest > smallest:
            return f"n_neighbors={largest} is more than the {smallest} rows of the smallest fit."
    if request.response == "score" and not _all_classes_everywhere(data, plan):
        return "a train set lacks a class, and then a score has another meaning."
    return None


def _all_classes_everywhere(data: Data, plan: Plan) -> bool:
    assert data.codes is not None
    for fit in range(plan.n_fits):
        rows, _ = plan.train_rows(fit)
        if len(np.unique(data.codes[rows])) < data.n_classes:
            return False
    return True


def _only(group: Group, only: np.ndarray) -> np.ndarray:
    """For each fit the place of its candidate in the group, -1 where it is in another."""
    place = {int(candidate): i for i, candidate in enumerate(group.candidates)}
    return np.array([place.get(int(candidate), -1) for candidate in only], dtype=np.int32)


def _found(
    group: Group, data: Data, plan: Plan, request: Request, only: np.ndarray | None
) -> Found:
    codes = data.codes
    if codes is not None:
        said = Said(codes, None, data.n_classes)
    else:
        said = Said(None, data.y.reshape(data.n_rows, -1))
    want: Want = "labels" if request.response == "label" and plan.counted is None else "shares"
    find = found_together if group.preparation is None else found_per_fit
    return find(group, data, plan, said, want, only)


def _place(
    values: np.ndarray,
    found: Found,
    group: Group,
    plan: Plan,
    data: Data,
    request: Request,
    only: np.ndarray | None,
) -> None:
    """Put what was found into the answers' shape."""
    answers = found.answers
    if request.response == "label" and answers.ndim == 3:
        answers = answers.argmax(axis=2)  # of equal shares the lowest class, as scikit-learn
    elif request.response == "score":
        answers = answers[:, :, -1]
    elif request.response == "value":
        answers = answers.reshape(*answers.shape[:2], *data.y.shape[1:])
    if only is None:
        values[group.candidates] = answers
    elif (only >= 0).all():
        values[0] = answers[0]
    else:
        mine = np.repeat((only >= 0)[plan.fit], plan.test_sizes)
        values[0, mine] = answers[0, mine]


def _place_counts(
    counts: np.ndarray | None, found: Found, group: Group, plan: Plan, only: np.ndarray | None
) -> None:
    """How many neighbours of each class the answers of counted questions rest on."""
    if counts is None or plan.counted is None:
        return
    at = spread(plan.test_offsets, plan.counted)[1]
    if only is None:
        counts[group.candidates] = np.rint(found.answers[:, at] * group.ks[:, None, None])
        return
    place = only[np.repeat(plan.fit, plan.test_sizes)[at]]
    mine = place >= 0
    counts[0, mine] = np.rint(found.answers[0, at[mine]] * group.ks[place[mine], None])
