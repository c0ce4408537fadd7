"""The interval engine: all numbers of intervals, left-out rows and flipped labels at once.

Leaving one row out, or flipping its label, changes one place on the line. The optimum to the left
and to the right of the place is known from one pass over all rows in each direction, so that all
such fits are answered together (`fits_of_one_table.py` says which they are). Any other fit takes
one pass for all numbers of intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_plain
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.interval.compiled import labels_after_changes, labels_for_every_k
from truerisk.engines.settings import Group
from truerisk.engines.templates.fits_of_one_table import place_singles, single_row_fits
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.models.interval_classifier import IntervalClassifier, boundaries_between
from truerisk.plan.extras.counted import GatheredCounts, questions_counted
from truerisk.plan.extras.flips import Flips
from truerisk.plan.plan import Plan


@frozen
class Intervals(OnePass):
    """Engine for IntervalClassifier with any candidates `k`.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.models.IntervalClassifier : The learner.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_kearns(60, random_state=0)
    >>> engine = tr.engines.Intervals()
    >>> tr.estimate_risk(tr.models.IntervalClassifier(4), X, y, engine=engine).engine
    'interval'
    """

    name: ClassVar[str] = "interval"
    along: ClassVar[tuple[str, ...]] = ("k",)
    serves: ClassVar[frozenset[str]] = frozenset({"flips", "counted"})
    compiled: ClassVar[bool] = True
    weighted: ClassVar[bool] = False

    @override
    def learners(self) -> Sequence[type]:
        return (IntervalClassifier,)

    @override
    def rounds(self, group: Group) -> bool:
        return False

    @override
    def learner_refusal(self, family: Family) -> str | None:
        if not is_plain(family.estimator, *self.learners()):
            return f"it serves IntervalClassifier, not {type(family.estimator).__name__}."
        return None

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        k = setting["k"]
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            return f"k={k!r} is no number of intervals."
        return None

    @override
    def single_refusal(self, family: Family) -> str | None:
        return None  # The classifier computes in double precision.

    @override
    def table_refusal(self, family: Family, data: Data) -> str | None:
        one = len(np.shape(data.X)) == 2 and np.shape(data.X)[1] == 1
        if not one or super().table_refusal(family, data) is not None:
            return "X is not one column of finite numbers."
        return None

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        if data.n_classes != 2:
            return f"y has {data.n_classes} classes, and intervals alternate between two."
        return None

    def table(self, group: Group, data: Data) -> Any:
        """Return all rows sorted on the line; each fit takes its own rows from them.

        Parameters
        ----------
        group : Group
            Candidates that one pass answers together.
        data : Data
            The checked rows of the call.

        Returns
        -------
        object
            The sorted rows.
        """
        return _SortedRows.from_rows(super().table(group, data))

    @override
    def fits(self, numbers: Any) -> bool:
        # Only the order of the numbers and the middles between them matter, not their size.
        return True

    def answer_together(self, task: Task) -> np.ndarray:
        """Answer the fits that lack one row, or have one flipped label, for that row alone.

        Parameters
        ----------
        task : Task
            The group, the plan and the answers collected so far.

        Returns
        -------
        array of bool, shape (n_fits,)
            True for the fits that are answered.
        """
        plan = task.plan
        single, row = single_row_fits(plan)
        if task.request.response != "label":  # Class shares in an interval require its boundaries.
            single[:] = False
        # Training counts need the interval boundaries too.
        single[plan.fit[questions_counted(plan)]] = False
        fits = np.flatnonzero(single)
        if len(fits):
            labels = _labels_of_singles(task, fits, row[fits])
            place_singles(task, fits, labels, np.zeros(labels.shape, dtype=bool))
        return single

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        line, test_sets = cast("_SortedRows", shown.X), cast("list[_SortedRows]", tests)
        everywhere = line.counts(shown.y, shown.times)
        present = np.flatnonzero(everywhere.sum(axis=1))
        counts, nearest = everywhere[present], line.nearest(present)
        responses = labels = labels_for_every_k(counts, _ks(task, group))
        sizes, response = None, task.request.response
        gathered = GatheredCounts.from_holder(task.collected)
        if response != "label" or (gathered is not None and shown.fit in gathered.fits):
            sizes, shares = rows_of_intervals(labels, counts)
            responses = {"label": labels, "probability": shares}.get(response, shares[..., 1])
        answers = []
        for question, rows in zip(task.questions(shown.fit), test_sets, strict=True):
            groups = nearest[rows.group]
            answers.append(responses[:, groups])
            if sizes is not None and gathered is not None:
                counted = (sizes[..., None] * shares)[:, groups]
                gathered.count(int(question), task.lines_of(group), counted)
        return answers


@frozen(eq=False)
class _SortedRows:
    """Rows on the line: the distinct `x` of all rows (ascending), and the `group` of each row."""

    x: np.ndarray
    group: np.ndarray

    @classmethod
    def from_rows(cls, X: np.ndarray) -> _SortedRows:
        x, group = np.unique(X[:, 0], return_inverse=True)
        return cls(x, group.ravel())

    def __getitem__(self, rows: np.ndarray) -> _SortedRows:
        """Return some of the rows."""
        return _SortedRows(self.x, self.group[rows])

    def counts(self, codes: np.ndarray, times: np.ndarray | None = None) -> np.ndarray:
        """Return the number of rows of each class in each group."""
        places = 2 * self.group + codes
        counted = np.bincount(places, weights=times, minlength=2 * len(self.x))
        return counted.astype(np.int64).reshape(-1, 2)

    def nearest(self, present: np.ndarray) -> np.ndarray:
        """Return, for each group, the index in `present` of the group whose label it gets.

        It is the left neighbour up to the boundary between both neighbours, else the right one. If
        both have the same label there is no boundary, and the choice does not matter.
        """
        after = np.searchsorted(present, np.arange(len(self.x)))
        right = np.minimum(after, len(present) - 1)
        left = np.maximum(after - 1, 0)
        between = (right > left) & (present[right] > np.arange(len(self.x)))
        ends = boundaries_between(self.x[present[left]], self.x[present[right]])
        return np.where(between & (self.x <= ends), left, right)

    def goes_right(self, group: np.ndarray) -> np.ndarray:
        """Return a mask of groups that lie right of the boundary between their neighbours."""
        inner = (group > 0) & (group < len(self.x) - 1)
        if not inner.any():
            return inner
        at = np.where(inner, group, 1)
        return inner & (boundaries_between(self.x[at - 1], self.x[at + 1]) < self.x[at])


def _ks(task: Task, group: Group) -> list[int]:
    """Return the numbers of intervals, of which more than there are rows change nothing."""
    return [min(int(setting["k"]), task.data.n_rows) for setting in group.settings]


def _labels_of_singles(task: Task, fits: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Return `(candidate of the group, fit)` labels of the row that each fit lacks or flips."""
    codes, flips = task.data.class_codes, Flips.from_holder(task.plan)
    line = task.X
    counts, group = line.counts(codes), line.group[row]
    instead = counts[group]
    instead[np.arange(len(fits)), codes[row]] -= 1
    if flips is not None:
        at = np.searchsorted(fits, flips.fit)
        ours = (at < len(fits)) & (fits[np.minimum(at, len(fits) - 1)] == flips.fit)
        instead[at[ours], flips.code[ours]] += 1
    right = (instead.sum(axis=1) == 0) & line.goes_right(group)
    return labels_after_changes(counts, _ks(task, task.group), group, instead, right)


def rows_of_intervals(labels: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of rows in the interval of each group and the class shares, for every k."""
    starts = np.ones(labels.shape, dtype=bool)
    starts[:, 1:] = labels[:, 1:] != labels[:, :-1]
    every = np.tile(counts, (len(labels), 1))
    inside = np.add.reduceat(every, np.flatnonzero(starts), axis=0)
    sizes = inside.sum(axis=1)
    interval = np.cumsum(starts.ravel()).reshape(labels.shape) - 1
    return sizes[interval], (inside / sizes[:, None])[interval]
