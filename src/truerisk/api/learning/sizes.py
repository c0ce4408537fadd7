"""Which numbers of training rows a learning curve is measured at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truerisk.api.learning.tested_learner import TestedLearner
from truerisk.core.arguments import is_count, shown
from truerisk.core.errors import BadArgument, BadData, FitFailed
from truerisk.core.plan.plan import Plan
from truerisk.core.statistics.power_law import FEWEST_SIZES
from truerisk.core.table.data import Data

__all__ = ["checked_sizes", "fewest_rows", "usual_sizes"]

MOST_SIZES = 8
CLOSEST = 1.25  # ratio of two neighbouring sizes
WIDEST = 16  # ratio of the largest to the smallest
FEWEST = 10


def checked_sizes(sizes: Any, whole: Plan) -> list[int]:
    """Sizes that were asked for, ascending, each at most that of the training sets."""
    if isinstance(sizes, str) or not isinstance(sizes, Sequence | np.ndarray):
        raise BadArgument(f"sizes={shown(sizes)}: give a list of numbers of training rows.")
    given = np.asarray(sizes).tolist()
    if not all(is_count(size) for size in given):
        raise BadArgument(
            f"sizes={shown(sizes)}: they are numbers of training rows, whole and at least one."
        )
    found, most = sorted(set(given)), int(whole.train_sizes.max())
    if len(found) < FEWEST_SIZES:
        raise BadArgument(
            f"sizes={shown(sizes)}: the law a + b n^-c has three unknowns, and {len(found)} sizes "
            f"do not tell them: give at least {FEWEST_SIZES}."
        )
    if found[-1] > most:
        raise BadData(
            f"sizes={shown(sizes)}: there are no {found[-1]} training rows. Of {whole.n_rows} rows "
            f"the training sets hold {most} at most, since the others test; "
            "curve.at(n) says what to expect of more."
        )
    return found


def usual_sizes(learner: TestedLearner, whole: Plan) -> list[int]:
    """Eight sizes at most, in a geometric series up to all training rows."""
    most, data = int(whole.train_sizes.max()), learner.problem.data
    least = max(fewest_rows(data, tuned=learner.n_inner), -(-most // WIDEST))
    least = _fitted_from(learner, least, most)
    steps = int(np.log(max(1.0, most / least)) / np.log(CLOSEST) + 1e-9)
    if steps + 1 < FEWEST_SIZES:
        raise BadData(
            f"{most} training rows are too few for a learning curve: the smallest size that keeps "
            f"some rows of every class, group and inner fold is {least}. sizes= of "
            "tr.learning_curve overrides that."
        )
    return [round(size) for size in np.geomspace(least, most, min(MOST_SIZES, steps + 1))]


def _fitted_from(learner: TestedLearner, least: int, most: int) -> int:
    """The smallest size that every setting can be fitted on: 25 neighbours need 25 rows.

    Where so many rows leave too few sizes it is `least`, and its fits say what is wrong.
    """
    size = least
    while size * CLOSEST ** (FEWEST_SIZES - 1) <= most:
        try:
            learner.try_fit(size)
        except FitFailed:
            size = int(np.ceil(size * CLOSEST))
        else:
            return size
    return least


def fewest_rows(data: Data, tuned: int) -> int:
    """Rows that hold some of every class and several groups, two for each of `tuned` inner folds.

    A stratified part of m rows has m times the share of a class of them, to within less than 2.
    """
    least = max(FEWEST, 2 * tuned)
    if data.codes is not None:
        rarest = np.bincount(data.class_codes, minlength=data.n_classes).min()
        least = max(least, -(-(3 if tuned else 2) * data.n_rows // int(max(1, rarest))))
    if data.groups is not None:
        n_groups = len(np.unique(data.groups))
        least = max(least, -(-(tuned + 2) * data.n_rows // n_groups))  # folds hold whole groups
    return int(least)
