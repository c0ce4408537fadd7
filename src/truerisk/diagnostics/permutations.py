"""Permuted labels: which ones are exchanged, the risks of a procedure on them, and the test."""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import field, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from truerisk.contracts import Streams, Terms
from truerisk.core import formats, tables
from truerisk.core.arguments import mention
from truerisk.core.errors import BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.progress import listen, tell
from truerisk.data.data import Data
from truerisk.engines.running.executors import run_batches, workers_of
from truerisk.estimation.problem import Problem
from truerisk.plan.leaks import order_of
from truerisk.results.interval import Scale, tied
from truerisk.results.records import FINITE, Column, Count, Finite, Perfect, Record, Size

SHIFTS = "shifts in time"
# With 100 rows and an autocorrelation of .9, p < .05 occurred in 8 of 100 cases without a relation.
FEWEST_TIMES = 200


@frozen(eq=False)
class Orders:
    """Permutations of the labels: row i gets the label of row `of_number(number)[i]`.

    Labels are exchangeable between rows, or between groups if there are groups. If all rows of a
    group have the same label, the labels of groups are exchanged (`what` is "labels of groups"). If
    they differ, all labels of a group go to another one of the same size, in their order ("groups
    of equal size"). Labels of rows in the order of time are not exchangeable. They are shifted as a
    whole by some rows, with the last ones moved to the front ("shifts in time"), which preserves
    their dependence on earlier ones. Each `number` has its own stream of random numbers.
    """

    what: str
    labels: np.ndarray  # the unit of each row: the row itself or its group
    first: np.ndarray  # the first row of each unit, or all its rows in turn
    blocks: tuple[np.ndarray, ...]  # units that are exchanged with each other
    seed: int

    @classmethod
    def from_data(cls, data: Data, seed: int) -> Orders:
        """Return the permutations that the data allow; raise if no label can be exchanged."""
        if data.task == "other":
            raise BadData(
                "there is no target to permute: give a classifier or a regressor and its y."
            )
        if (data.y == data.y[:1]).all():
            raise BadData(
                "y has one value only: every permutation of it is y itself, and nothing can be "
                "tested."
            )
        if data.time is not None:
            return cls._in_time(data, seed)
        if data.groups is None:
            every = np.arange(data.n_rows)
            return cls("rows", every, every, (every,), seed)
        names, first, member = np.unique(data.groups, return_index=True, return_inverse=True)
        member = member.ravel()
        if (data.y == data.y[first[member]]).all():
            return cls("labels of groups", member, first, (np.arange(len(names)),), seed)
        return cls._of_equal_groups(member, seed)

    @classmethod
    def _in_time(cls, data: Data, seed: int) -> Orders:
        """Return shifts in time of the rows; raise for equal times or too few rows."""
        assert data.time is not None
        if data.groups is not None:
            raise Refusal(
                "groups and times: labels shifted in time would change their group, and labels "
                "shifted between groups their time, so no order is as likely as y. Give one."
            )
        order = np.argsort(data.time, kind="stable")
        times = data.time[order]
        tied = np.flatnonzero(times[1:] == times[:-1])
        if len(tied):
            first, second = sorted(order[tied[0] : tied[0] + 2].tolist())
            raise Refusal(
                f"rows {first} and {second} have one time ({times[tied[0]]}): which of their "
                "labels comes first is not known, so labels cannot be shifted in time. Give one "
                "row for each time."
            )
        if len(order) < FEWEST_TIMES:
            raise Refusal(
                f"{len(order)} times: with fewer than {FEWEST_TIMES} the break where the last "
                "label meets the first counts for too much."
            )
        return cls(SHIFTS, np.argsort(order), order, (np.arange(len(order)),), seed)

    @classmethod
    def _of_equal_groups(cls, member: np.ndarray, seed: int) -> Orders:
        """Return permutations in which groups pass their labels to others of the same size."""
        sizes = np.bincount(member)
        blocks = tuple(np.flatnonzero(sizes == size) for size in np.unique(sizes))
        if all(len(block) == 1 for block in blocks):
            raise BadData(
                f"the {len(sizes)} groups all differ in size and hold several labels each, so no "
                "group can take over the labels of another one and there is nothing to permute: "
                "test without groups only where rows are independent."
            )
        by_group = np.argsort(member, kind="stable")
        return cls("groups of equal size", member, by_group, blocks, seed)

    @property
    def n_units(self) -> int:
        """Number of rows, or groups, that can be exchanged with others."""
        return sum(len(block) for block in self.blocks if len(block) > 1)

    def of_number(self, number: int) -> np.ndarray:
        """Return for each row the row whose label it gets in permutation `number` (from 0 on)."""
        rng = Streams(self.seed).get(f"permutation {number}")
        if self.what == SHIFTS:
            shifted = np.roll(self.first, int(rng.integers(len(self.first))))
            return np.asarray(shifted[self.labels])
        taken = np.empty(sum(map(len, self.blocks)), dtype=np.int64)
        for block in self.blocks:
            taken[block] = rng.permutation(block)
        if self.what != "groups of equal size":
            found: np.ndarray = self.first[taken[self.labels]]
            return found
        sizes = np.bincount(self.labels)
        starts = np.cumsum(sizes) - sizes
        inside = np.empty(len(self.labels), dtype=np.int64)  # position of a row in its group
        inside[self.first] = np.arange(len(self.labels)) - starts[self.labels[self.first]]
        return np.asarray(self.first[starts[taken[self.labels]] + inside])


BATCHES = 4  # number of batches per worker
STEPS = 100  # number of progress updates in this process


@frozen(eq=False)
class Repeated:
    """The test of a choice and a fit, for each of the permutations of the labels."""

    problem: Problem
    orders: Orders

    def observed(self) -> tuple[float, str]:
        """Return the risk with the original labels, and the engine that computed it."""
        return self._checked_value(self.problem)

    def risk(self, number: int) -> float:
        """Return the risk with permuted labels, with new splits and choices."""
        data = self.problem.data.with_targets_of(self.orders.of_number(number))
        return self._checked_value(replace(self.problem, data=data))[0]

    def _checked_value(self, problem: Problem) -> tuple[float, str]:
        """Return the risk and the engine; raise if the splits do not suit these permutations."""
        testing, data = problem.testing, problem.data
        assert testing is not None
        plan = testing.plan(data, Streams(problem.seed))
        if self.orders.what != SHIFTS and order_of(plan) is not None:
            raise Refusal(
                "the splits go forward in time, and rows in the order of time are not "
                "exchangeable: permuted labels would have another dependence than y has. With "
                f"{mention('time')} labels are shifted in time instead."
            )
        asking = problem.asking(scores=(), executor=None)
        level, rule, settings = problem.confidence_level, problem.rule, len(problem.family)
        terms = Terms(level, rule, settings, with_errors=False)
        evaluation = testing.evaluate(asking, data, problem.loss, plan, terms)
        tested = evaluation.tested[0] if evaluation.procedure is None else evaluation.procedure
        if not np.isfinite(tested.value):
            raise Refusal(f"a fit failed, so there is no risk to count. {' '.join(tested.notes)}")
        return float(tested.value), asking.engine

    def null(self, n_permutations: int, executor: Any) -> np.ndarray:
        """Return the risks of this many permutations, which depend only on their numbers."""
        found = np.empty(n_permutations)
        workers = workers_of(executor)
        size = STEPS if workers is None else BATCHES * workers
        batches = np.array_split(np.arange(n_permutations), min(size, n_permutations))
        tell(0, n_permutations, "permutations")
        done = 0
        with closing(run_batches(executor, _risks, (self,), batches)) as coming:
            for number, risks in coming:
                found[batches[number]] = risks
                done += len(risks)
                tell(done, n_permutations, "permutations")
        return found


def _risks(procedure: Repeated, numbers: np.ndarray) -> list[float]:
    """Return the risks of these permutations, without warnings that were given before."""
    with listen(None), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [procedure.risk(int(j)) for j in numbers]


@frozen(eq=False)
class PermutationTest(Record):
    """Result of `permutation_test`: the risk of a procedure and its risks with permuted labels.

    Parameters
    ----------
    observed : float
        The honest risk with the original labels, on the requested scale.
    null : array of float
        The honest risk of each permutation, on the same scale.
    permuted : str
        What was permuted: "rows", "labels of groups", "groups of equal size", or "shifts in time".
    n_units : int
        The number of units that were permuted.
    scoring : str
        Name of the loss or score.
    method : str
        Name of the method that estimated the risks.
    engine : str
        Name of the engine.
    seed : int
        The seed of the permutations.
    search_seed : int
        The seed of the folds of each search.
    seconds : float
        Duration of the test.
    data_fingerprint : str
        Checksum of the data.
    notes : tuple of str, optional
        Notes for the reader.
    perfect : float, optional
        The score of a perfect model, as in `RiskEstimate`; None for a loss.

    See Also
    --------
    permutation_test : Compute a permutation test.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_difficult(60, random_state=0)
    >>> test = tr.permutation_test(GaussianNB(), X, y, n_permutations=19)
    >>> test.p_value, test.n_permutations, test.permuted
    (0.05, 19, 'rows')
    """

    schema: ClassVar[str] = "truerisk.permutation-test/2"
    derived: ClassVar[tuple[str, ...]] = ("p_value", "n_permutations")

    observed: Finite
    null: Annotated[np.ndarray, Column(least=1, numbers=FINITE)] = field(repr=False)
    permuted: str
    n_units: Count
    scoring: str
    method: str
    engine: str
    seed: int
    search_seed: int
    seconds: Size
    data_fingerprint: str
    notes: tuple[str, ...] = ()
    perfect: Perfect | None = None

    @property
    def scale(self) -> Scale:
        """The scale of the reported numbers."""
        return Scale(self.perfect)

    @property
    def n_permutations(self) -> int:
        """Number of permutations, without the original order."""
        return len(self.null)

    @property
    def n_as_good(self) -> int:
        """Number of permutations that are as good as the original order, ties included."""
        sign = 1.0 if self.perfect is None else -1.0
        return int(np.count_nonzero(tied(sign * self.null, sign * self.observed)))

    @property
    def p_value(self) -> float:
        """The p-value (1 + as good)/(1 + permutations): the original order is one of the orders."""
        return (1 + self.n_as_good) / (1 + self.n_permutations)

    def __str__(self) -> str:
        lines = [f"p = {self.p_value:.4g}: {self._counted}", *self._risks]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])

    @override
    def blocks(self) -> list[tables.Block]:
        rows = [["p-value", f"{self.p_value:.4g}"], ["permutations", self._counted]]
        rows += [line.strip().split(": ", 1) for line in self._risks]
        rows += [["note", note] for note in self.notes]
        return [tables.Block("Permutation test", ["", ""], rows)]

    @property
    def _counted(self) -> str:
        noun = {"lower": "risk as small", "larger": "score as large"}[self.scale.better]
        return (
            f"{self.n_as_good} of {self.n_permutations} permutations ({self.permuted}) have a "
            f"{noun}"
        )

    @property
    def _risks(self) -> list[str]:
        noun, null = self.scale.noun, self.null
        numbers = (float(number) for number in (null.mean(), null.min(), null.max()))
        mean, least, most = map(formats.risk, numbers)
        of = f"{formats.clean(self.scoring, 40)}, {self.method}"
        return [
            f"  observed: {noun} {formats.risk(self.observed)} ({of})",
            f"  permuted: {noun} {mean} on average, {least} to {most}",
        ]
