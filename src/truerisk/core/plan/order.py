"""Whether the splits of a plan go forward in time: what the rows of a plan tell, not a name."""

from __future__ import annotations

import numpy as np

from truerisk.core.plan.plan import Plan

__all__ = ["IN_TIME", "ORDERED", "is_in_row_order", "is_ordered"]

ORDERED = (
    "the splits are ordered: models train on rows that come before those they test, later ones on "
    "rows that earlier ones tested. Such rows are not independent tests of one procedure, so no "
    "standard error is justified. With time= there is one of losses that depend on each other."
)

IN_TIME = (
    "the rows were tested in the order of time, and a row may depend on those before it: what "
    "rests on independent rows is not justified."
)


def is_ordered(plan: Plan) -> bool:
    """Whether models are tested on what comes after their training rows, one after the other.

    That is so where several models each see only rows above, or each only rows below, those they
    test; and, however the rows stand, where rows that one split tests train the model of another
    one, and never conversely. In K-fold cross-validation, and in random splits, they do both.

    >>> from truerisk.core.plan.builder import split_plan
    >>> rows = np.arange(6)
    >>> is_ordered(split_plan(6, [(rows[:2], rows[2:4]), (rows[:4], rows[4:])]))
    True
    >>> is_ordered(split_plan(6, [(rows[3:], rows[:3]), (rows[:3], rows[3:])]))
    False
    """
    return _splits_rows(plan) and (is_in_row_order(plan) or _among_splits(plan))


def _splits_rows(plan: Plan) -> bool:
    """Whether there are several models, and each is asked something."""
    if plan.laws is not None or len(np.unique(plan.fit)) < 2:
        return False
    return len(plan.positions[0]) > 0 and bool(plan.test_sizes.min() > 0)


def is_in_row_order(plan: Plan) -> bool:
    """Whether all train sets end before their test sets start, or all start after these end.

    Then the rows stand in the order of time, or in the reverse one.
    """
    if not _splits_rows(plan):
        return False
    before = after = True
    for q in range(plan.n_questions):
        train, test = plan.train_rows(int(plan.fit[q]))[0], plan.test_rows(q)[0]
        if not len(train):
            return False
        before, after = before and train[-1] < test[0], after and train[0] > test[-1]
        if not (before or after):
            return False
    return True


def _among_splits(plan: Plan) -> bool:
    """Whether some test set has rows in another's train set, and no two have it of each other."""
    rows, starts = plan.positions[0], plan.test_offsets[:-1]
    trained: list[np.ndarray] = []  # [q][s]: the model of q saw rows that s tests
    for q in range(plan.n_questions):
        seen = np.zeros(plan.n_rows, dtype=bool)
        seen[plan.train_rows(int(plan.fit[q]))[0]] = True
        trained.append(np.logical_or.reduceat(seen[rows], starts))
        if any(trained[q][s] and trained[s][q] for s in range(q + 1)):  # or rows that it saw itself
            return False
    return any(bool(line.any()) for line in trained)
