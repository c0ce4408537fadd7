"""Checks of the number of rows, and of the splits: leaks, missing classes and small test sets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from truerisk.data.data import Data
from truerisk.plan.leaks import describe_copies, find_leaks
from truerisk.plan.plan import Plan
from truerisk.results.finding import Finding

FEWEST_TEST_ROWS = 10


def candidate_count_findings(data: Data, n_candidates: int) -> list[Finding]:
    """Return a finding if the number of candidates exceeds half the number of rows."""
    if n_candidates <= data.n_rows / 2:
        return []
    return [
        Finding(
            "many-candidates",
            f"{n_candidates} settings were compared on {data.n_rows} rows.",
            "Try fewer settings: the more there are, the luckier the best one is.",
        )
    ]


def split_findings(data: Data, plan: Plan) -> list[Finding]:
    """Return the findings about the splits: leaks, missing classes and small test sets."""
    return [*_leak_findings(data, plan), *_class_findings(data, plan), *_size_findings(plan)]


def _leak_findings(data: Data, plan: Plan) -> Iterator[Finding]:
    leaking_rows_by_kind = find_leaks(data, plan, "copies", "groups")
    if len(leaking_rows := leaking_rows_by_kind["copies"]):
        yield Finding(
            "duplicate-rows",
            describe_copies(data, leaking_rows),
            "Remove the copies, or give groups=.",
        )
    if len(leaking_rows := leaking_rows_by_kind["groups"]):
        yield Finding(
            "groups-split",
            f"{len(leaking_rows)} of {data.n_rows} rows (first: row {leaking_rows[0]}) were tested "
            "by models that saw other rows of their group.",
            "Search with cv=GroupKFold() or StratifiedGroupKFold() and groups in fit.",
        )


def _class_findings(data: Data, plan: Plan) -> Iterator[Finding]:
    if data.codes is None:
        return
    class_sizes = data.class_sizes
    # In leave-one-out, a training set lacks a class only if the test row is the class's only row.
    if (plan.test_sizes == 1).all():
        train_sets_without_class, test_sets_without_class = (
            np.flatnonzero(class_sizes == 1).tolist(),
            [],
        )
    else:
        train_sets_without_class = [
            fit_number
            for fit_number in range(plan.n_fits)
            if len(np.unique(data.codes[plan.train_rows(fit_number)[0]])) < data.n_classes
        ]
        common_classes = np.flatnonzero(class_sizes >= plan.n_questions)
        test_sets_without_class = [
            test_set_number
            for test_set_number in range(plan.n_questions)
            if not np.isin(common_classes, data.codes[plan.test_rows(test_set_number)[0]]).all()
        ]
    if train_sets_without_class or test_sets_without_class:
        kind_of_set = "training" if train_sets_without_class else "test"
        yield Finding(
            "class-missing",
            f"{len(train_sets_without_class or test_sets_without_class)} "
            f"of {plan.n_questions} {kind_of_set} sets lack a class of y.",
            "Stratify: cv=StratifiedKFold(shuffle=True, random_state=0), with fewer folds where a "
            "class has fewer rows than folds.",
        )


def _size_findings(plan: Plan) -> Iterator[Finding]:
    smallest_test_size = int(plan.test_sizes.min())
    if 1 < smallest_test_size < FEWEST_TEST_ROWS or (
        smallest_test_size == 1 and int(plan.test_sizes.max()) > 1
    ):
        yield Finding(
            "few-rows-per-fold",
            f"The smallest test set has {smallest_test_size} "
            f"row{'s' if smallest_test_size > 1 else ''}: its score "
            "takes few values, so the best of many settings is often the luckiest.",
            "Use fewer folds, or repeat them (RepeatedStratifiedKFold).",
        )
