"""Outer splits that keep related rows apart, for searches whose own splits mix them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Literal

import numpy as np

from truerisk.contracts import Method, Streams, Terms
from truerisk.core.arguments import mention
from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.intervals.choice import adapt_method_to_interval
from truerisk.losses.loss import Loss
from truerisk.methods.nested import Nested
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.words import method_from_name
from truerisk.plan.answers import Ask
from truerisk.plan.leaks import find_leaks
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation
from truerisk.results.interval import Basis
from truerisk.results.sentences import RELATED_ROWS_BY_RELATION

RelationKind = Literal["time", "space", "groups"]

MAX_FOLDS = 10


def find_mixed_relation(data: Data, plan: Plan) -> tuple[RelationKind, int] | None:
    """Return by which given relation a plan mixes rows, and the number of such rows; else None.

    The relations are times, places and groups. The rows are those that were tested by models that
    were trained on related rows.
    """
    leaks = find_leaks(data, plan, "late", "near", "groups")
    n_rows_by_leak = {leak: len(rows) for leak, rows in leaks.items()}
    if n_rows_by_leak["late"]:
        return "time", n_rows_by_leak["late"]
    if 2 * n_rows_by_leak["near"] > n_rows_by_leak["apart"]:
        return "space", n_rows_by_leak["near"]
    return ("groups", n_rows_by_leak["groups"]) if n_rows_by_leak["groups"] else None


def method_with_rows_apart(data: Data, n_splits: int) -> Method:
    """Return the method whose test sets are whole parts of related rows.

    It respects all known relations between the rows. It has as many test sets as the search has
    splits, but at most ten, so that models are trained on about as many rows.
    """
    n_folds = min(max(n_splits, 2), MAX_FOLDS)
    name = f"purged-{n_folds}"
    if data.time is None and data.places is not None:
        name = f"blocks-{n_folds}"
    elif data.time is None and data.groups is not None:
        name = f"{max(min(n_folds, len(np.unique(data.groups))), 2)}-fold"
    return method_from_name(name, {"average": "fold"})


def keep_related_rows_apart(
    testing_method: Procedure, tuning_method: Method, data: Data, seed: int
) -> Procedure:
    """Return a testing method that keeps related rows apart, also if the tuning method mixes them.

    Pairs of the folds that tune would test rows by models that were trained on related rows, so
    they are replaced by nested validation. Outer splits that the user named remain as they are.
    """
    if not isinstance(testing_method, Pairs) or testing_method.folds is not tuning_method:
        return testing_method
    # A method that respects places may test a few rows by models that saw the row beside them.
    visible_data = replace(data, block=None) if tuning_method.respects_space else data
    # A copy draws the splits, since drawing may change the state of a user's splitter.
    plan = deepcopy(tuning_method).plan(data, Streams(seed))
    mixed_relation = find_mixed_relation(visible_data, plan)
    if mixed_relation is None:
        return testing_method
    kind, n_rows = mixed_relation
    outer_method = method_with_rows_apart(data, plan.n_questions)
    if testing_method.average is not None:
        outer_method = replace(outer_method, average=testing_method.average)  # type: ignore[type-var]
    if tuning_method.spares_fits:
        raise Refusal(
            f"'{tuning_method.name}' tests {n_rows} rows by models that saw "
            f"{RELATED_ROWS_BY_RELATION[kind]}, and a race is tested in the pairs of its own "
            "folds, so its risk would be too good: compare by folds, such as "
            f"{mention('cv', '10-fold')}, or leave the risk out by {mention('outer', None)}."
        )
    return NestedWithRowsApart(
        outer_method, tuning_method, testing_method.compare, kind=kind, n_mixed_rows=n_rows
    )


@frozen
class NestedWithRowsApart(Nested):
    """Nested validation in the place of pairs of folds that mix rows of one `kind`.

    A note of the risk says so, with the number of rows that the splits of the search mix.
    """

    kind: RelationKind = "groups"
    n_mixed_rows: int = 0

    @override
    def giving(self, need: Basis, interval: str) -> Method:
        return replace(self, outer=adapt_method_to_interval(self.outer_method, interval))

    @override
    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        evaluation = super().evaluate(ask, data, loss, plan, terms)
        scores = tuple(map(self._add_note, evaluation.scores))
        return self._add_note(replace(evaluation, scores=scores))

    def _add_note(self, evaluation: Evaluation) -> Evaluation:
        assert evaluation.procedure is not None
        note = (
            f"the outer splits are '{self.outer_method.name}' and not pairs of folds, because the "
            f"splits of the search, '{self.inner_method.name}', test {self.n_mixed_rows} rows by "
            f"models that saw {RELATED_ROWS_BY_RELATION[self.kind]}."
        )
        procedure = replace(evaluation.procedure, notes=(note, *evaluation.procedure.notes))
        return replace(evaluation, procedure=procedure)
