"""A learner tested with fewer rows: at which sizes, and by which fits."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.api.road.problem import Problem
from truerisk.api.road.run import Run
from truerisk.core.arguments import is_count, shown
from truerisk.core.contracts import Method, Streams
from truerisk.core.errors import BadArgument, BadData, FitFailed, Refusal
from truerisk.core.interval import Basis
from truerisk.core.plan.plan import Plan
from truerisk.core.progress import listen
from truerisk.core.statistics.power_law import FEWEST_SIZES
from truerisk.core.table.data import Data
from truerisk.methods.nested import Nested
from truerisk.methods.parts.averages import Averaged
from truerisk.methods.parts.interval_choice import gives
from truerisk.methods.splitter import refuse_known_rows
from truerisk.methods.subsampled import Subsampled

__all__ = ["TestedLearner", "checked_sizes", "fewest_rows", "testing", "usual_sizes"]


@dataclass(frozen=True, eq=False)
class TestedLearner:
    """A problem, the splits that test it, and how its settings are compared inside, if at all."""

    problem: Problem
    method: Averaged
    select_by: Method | None = None
    store: Any = None

    @property
    def n_inner(self) -> int:
        """How many folds compare the settings inside a training set; 0 where nothing is tuned."""
        if self.select_by is None or len(self.problem.family) == 1:
            return 0
        return int(getattr(self.select_by, "k", 10))

    def whole(self) -> Plan:
        """The splits with all of their training rows, if they test every row equally often."""
        plan = self._drawn(self.method)
        refuse_known_rows(self.method, plan)
        given = gives(self.method, self.problem.data, plan)
        if self.method.respects_time or not {Basis.MEAN, Basis.EQUALLY_OFTEN} <= given:
            raise Refusal(
                f"'{self.method.word}' does not test all rows equally often (splits that go "
                "forward in time mix more rows with later ones): use folds, such as '10-fold' or "
                "'5x10-fold'."
            )
        return plan

    def cut(self, n_train: int) -> Plan:
        """The splits with so many training rows."""
        return self._drawn(Subsampled(n_train, self.method))

    def _drawn(self, method: Method) -> Plan:
        streams = Streams(self.problem.seed)
        if self.select_by is not None:
            streams = streams.child("outer")  # where `Nested` draws them
        return method.plan(self.problem.data, streams)

    def run(self, n_train: int) -> Run:
        """The run of fits on so many rows."""
        cut = Subsampled(n_train, self.method)
        if self.select_by is None:
            return Run(self.problem, self.method, cut)
        return Run(self.problem, self.select_by, Nested(cut, self.select_by))

    def asked(self, n_train: int) -> list[tuple[Plan, int]]:
        """The plans of fits on so many rows, each with the number of settings it is asked for."""
        problem, method = self.problem, self.run(n_train).testing
        assert method is not None
        plan, settings = method.plan(problem.data, Streams(problem.seed)), len(problem.family)
        if not isinstance(method, Nested):
            return [(plan, settings)]
        parts = [(plan.only(plan.questions("outer")), 1)]
        if method.asks_inside(settings):
            parts.append((plan.only(plan.questions("inner")), settings))
        return parts

    def try_fit(self, n_train: int) -> None:
        """Fit every setting once on so many rows, the fewest that one of the fits sees."""
        plan = self.asked(n_train)[-1][0]
        part = plan.only(np.flatnonzero(plan.fit == plan.train_sizes.argmin()))
        with listen(None), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.problem.asking(executor=None)(part, None)


def testing(method: Any) -> Averaged:
    """The method, if its training sets can be cut."""
    return Subsampled(1, method).method


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
