"""Checks of rows and splits: copies, groups, classes, sizes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from truerisk.api.findings.finding import Finding
from truerisk.core.plan.leaks import cut_groups, split_copies
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data

__all__ = ["row_findings", "split_findings"]

FEWEST_ROWS = 10


def row_findings(data: Data, n_candidates: int) -> list[Finding]:
    """What rows alone tell."""
    if n_candidates <= data.n_rows / 2:
        return []
    return [
        Finding(
            "many-candidates",
            f"{n_candidates} settings were compared on {data.n_rows} rows.",
            "Try fewer settings; more of them find more luck.",
        )
    ]


def split_findings(data: Data, plan: Plan) -> list[Finding]:
    """What the splits do to the rows."""
    return [*_copies(data, plan), *_groups(data, plan), *_classes(data, plan), *_sizes(plan)]


def _copies(data: Data, plan: Plan) -> Iterator[Finding]:
    leaking = split_copies(data, plan)
    if len(leaking):
        yield Finding(
            "duplicate-rows",
            f"{len(leaking)} of {data.n_rows} rows (first: row {leaking[0]}) have an exact copy in "
            "a training set that they test.",
            "If they are copies of one case, remove them or split by groups.",
        )


def _groups(data: Data, plan: Plan) -> Iterator[Finding]:
    leaking = cut_groups(data, plan)
    if len(leaking):
        yield Finding(
            "groups-split",
            f"{len(leaking)} of {data.n_rows} rows (first: row {leaking[0]}) were tested by models "
            "that saw other rows of their group.",
            "Search with cv=GroupKFold() or StratifiedGroupKFold() and groups in fit.",
        )


def _classes(data: Data, plan: Plan) -> Iterator[Finding]:
    if data.codes is None:
        return
    sizes = np.bincount(data.codes)
    if (plan.test_sizes == 1).all():  # one row left out takes a class away where it is the last
        without, untested = np.flatnonzero(sizes == 1).tolist(), []
    else:
        without = [
            fit
            for fit in range(plan.n_fits)
            if len(np.unique(data.codes[plan.train_rows(fit)[0]])) < data.n_classes
        ]
        common = np.flatnonzero(sizes >= plan.n_questions)
        untested = [
            q
            for q in range(plan.n_questions)
            if not np.isin(common, data.codes[plan.test_rows(q)[0]]).all()
        ]
    if without or untested:
        part = "training" if without else "test"
        yield Finding(
            "class-missing",
            f"{len(without or untested)} of {plan.n_questions} {part} sets lack a class of y.",
            "Stratify: cv=StratifiedKFold(shuffle=True, random_state=0), with fewer folds where a "
            "class has fewer rows than folds.",
        )


def _sizes(plan: Plan) -> Iterator[Finding]:
    smallest = int(plan.test_sizes.min())
    if 1 < smallest < FEWEST_ROWS or (smallest == 1 and int(plan.test_sizes.max()) > 1):
        yield Finding(
            "few-rows-per-fold",
            f"The smallest test set has {smallest} row{'s' if smallest > 1 else ''}: its score "
            "takes few values, and where the best of many settings is taken, it is often the "
            "luckiest.",
            "Use fewer folds, or repeat them (RepeatedStratifiedKFold).",
        )
