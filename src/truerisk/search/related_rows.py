"""Outer splits that keep related rows apart, for searches whose own splits mix them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from truerisk.contracts import Method
from truerisk.data.data import Data
from truerisk.methods.words import method_from_name
from truerisk.plan.leaks import find_leaks
from truerisk.plan.plan import Plan

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
