"""Permute labels, compute the risks of a procedure on them, and hold the test's result."""

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
from truerisk.core.progress import listen, report_progress
from truerisk.data.data import Data
from truerisk.engines.running.executors import count_workers, run_batches
from truerisk.estimation.problem import EstimationProblem
from truerisk.plan.leaks import find_split_order
from truerisk.results.interval import Scale, are_tied
from truerisk.results.records import (
    FINITE_RANGE,
    Column,
    Count,
    FiniteFloat,
    NonNegative,
    PerfectScore,
    Record,
)

SHIFTS_IN_TIME = "shifts in time"
# Minimum number of times at which shifting labels gives a valid test.
# With 100 rows and an autocorrelation of .9, p < .05 occurred in 8 of 100 cases without a relation.
MIN_TIMES_FOR_SHIFTS = 200


@frozen(eq=False)
class LabelPermutations:
    """Random permutations of the labels: row i gets the label of row `permutation(k)[i]`.

    Labels are exchangeable between rows, or between groups if there are groups. If all rows of a
    group have the same label, the labels of groups are exchanged (`permutation_kind` is "labels of
    groups"). If labels differ within groups, all labels of a group go to another group of the same
    size, in their order ("groups of equal size"). Labels of rows in the order of time are not
    exchangeable. They are shifted as a whole by some rows, with the last labels moved to the front
    ("shifts in time"), which preserves their dependence on earlier labels. Each permutation number
    k has its own stream of random numbers.
    """

    permutation_kind: str
    unit_of_row: np.ndarray  # number of the unit (row or group) to which each row belongs
    rows_by_unit: np.ndarray  # The first row of each unit, or else all rows sorted by unit.
    exchangeable_units: tuple[
        np.ndarray, ...
    ]  # Sets of units whose labels are exchanged with each other.
    seed: int

    @classmethod
    def from_data(cls, data: Data, seed: int) -> LabelPermutations:
        """Return the permutations that the data allow; raise if no labels can be exchanged."""
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
            return cls._from_times(data, seed)
        if data.groups is None:
            all_rows = np.arange(data.n_rows)
            return cls("rows", all_rows, all_rows, (all_rows,), seed)
        group_names, first_rows, group_index = np.unique(
            data.groups, return_index=True, return_inverse=True
        )
        group_index = group_index.ravel()
        if (data.y == data.y[first_rows[group_index]]).all():
            return cls(
                "labels of groups", group_index, first_rows, (np.arange(len(group_names)),), seed
            )
        return cls._from_equal_groups(group_index, seed)

    @classmethod
    def _from_times(cls, data: Data, seed: int) -> LabelPermutations:
        """Return permutations that shift labels in time; raise if times are equal or too few."""
        assert data.time is not None
        if data.groups is not None:
            raise Refusal(
                "groups and times: labels shifted in time would change their group, and labels "
                "shifted between groups their time, so no order is as likely as y. Give one."
            )
        time_order = np.argsort(data.time, kind="stable")
        sorted_times = data.time[time_order]
        tied_positions = np.flatnonzero(sorted_times[1:] == sorted_times[:-1])
        if len(tied_positions):
            first_row, second_row = sorted(
                time_order[tied_positions[0] : tied_positions[0] + 2].tolist()
            )
            raise Refusal(
                f"rows {first_row} and {second_row} have one time "
                f"({sorted_times[tied_positions[0]]}): which of their "
                "labels comes first is not known, so labels cannot be shifted in time. Give one "
                "row for each time."
            )
        if len(time_order) < MIN_TIMES_FOR_SHIFTS:
            raise Refusal(
                f"{len(time_order)} times: with fewer than {MIN_TIMES_FOR_SHIFTS} the break where "
                "the last "
                "label meets the first counts for too much."
            )
        return cls(
            SHIFTS_IN_TIME, np.argsort(time_order), time_order, (np.arange(len(time_order)),), seed
        )

    @classmethod
    def _from_equal_groups(cls, group_index: np.ndarray, seed: int) -> LabelPermutations:
        """Return permutations in which groups of equal size exchange all their labels."""
        group_sizes = np.bincount(group_index)
        exchangeable_units = tuple(
            np.flatnonzero(group_sizes == group_size) for group_size in np.unique(group_sizes)
        )
        if all(len(units) == 1 for units in exchangeable_units):
            raise BadData(
                f"the {len(group_sizes)} groups all differ in size and hold several labels each, "
                "so no group can take over the labels of another one and there is nothing to "
                "permute: test without groups only where rows are independent."
            )
        rows_by_group = np.argsort(group_index, kind="stable")
        return cls("groups of equal size", group_index, rows_by_group, exchangeable_units, seed)

    @property
    def n_units(self) -> int:
        """Number of rows or groups that can exchange their labels with another one."""
        return sum(len(units) for units in self.exchangeable_units if len(units) > 1)

    def permutation(self, permutation_number: int) -> np.ndarray:
        """Return for each row the row whose label it gets in the permutation with this number.

        Permutations are numbered from 0 on.
        """
        rng = Streams(self.seed).get(f"permutation {permutation_number}")
        if self.permutation_kind == SHIFTS_IN_TIME:
            shifted_rows = np.roll(self.rows_by_unit, int(rng.integers(len(self.rows_by_unit))))
            return np.asarray(shifted_rows[self.unit_of_row])
        source_units = np.empty(sum(map(len, self.exchangeable_units)), dtype=np.int64)
        for units in self.exchangeable_units:
            source_units[units] = rng.permutation(units)
        if self.permutation_kind != "groups of equal size":
            source_rows: np.ndarray = self.rows_by_unit[source_units[self.unit_of_row]]
            return source_rows
        group_sizes = np.bincount(self.unit_of_row)
        group_starts = np.cumsum(group_sizes) - group_sizes
        # The rows of each group are numbered from 0 on, in their order in the table.
        position_in_group = np.empty(len(self.unit_of_row), dtype=np.int64)
        position_in_group[self.rows_by_unit] = (
            np.arange(len(self.unit_of_row)) - group_starts[self.unit_of_row[self.rows_by_unit]]
        )
        return np.asarray(
            self.rows_by_unit[group_starts[source_units[self.unit_of_row]] + position_in_group]
        )


BATCHES_PER_WORKER = 4  # Each worker process gets BATCHES_PER_WORKER batches of permutations.
N_PROGRESS_REPORTS = 100  # Without worker processes, progress is reported N_PROGRESS_REPORTS times.


@frozen(eq=False)
class RepeatedProcedure:
    """Procedure whose risk is computed with the original labels and with each permutation."""

    problem: EstimationProblem
    label_permutations: LabelPermutations

    def observed_risk(self) -> tuple[float, str]:
        """Return the risk with the original labels, and the engine that computed it."""
        return self._compute_risk(self.problem)

    def permuted_risk(self, number: int) -> float:
        """Return the risk with permuted labels, with splits and tuning repeated."""
        data = self.problem.data.with_targets_of(self.label_permutations.permutation(number))
        return self._compute_risk(replace(self.problem, data=data))[0]

    def _compute_risk(self, problem: EstimationProblem) -> tuple[float, str]:
        """Return the risk of a problem and the name of the engine that computed it.

        Raise Refusal if the splits of the problem forbid permutations.
        """
        test_method, data = problem.testing_method, problem.data
        assert test_method is not None
        plan = test_method.plan(data, Streams(problem.seed))
        if (
            self.label_permutations.permutation_kind != SHIFTS_IN_TIME
            and find_split_order(plan) is not None
        ):
            raise Refusal(
                "the splits go forward in time, and rows in the order of time are not "
                "exchangeable: permuted labels would have another dependence than y has. With "
                f"{mention('time')} labels are shifted in time instead."
            )
        asking = problem.create_asking(scores=(), executor=None)
        confidence_level, rule, n_settings = (
            problem.confidence_level,
            problem.rule,
            len(problem.family),
        )
        reporting_terms = Terms(confidence_level, rule, n_settings, with_errors=False)
        evaluation = test_method.evaluate(asking, data, problem.loss, plan, reporting_terms)
        tested_risk = evaluation.tested[0] if evaluation.procedure is None else evaluation.procedure
        if not np.isfinite(tested_risk.value):
            raise Refusal(
                f"a fit failed, so there is no risk to count. {' '.join(tested_risk.notes)}"
            )
        return float(tested_risk.value), asking.engine

    def null_risks(self, n_permutations: int, executor: Any) -> np.ndarray:
        """Return the risks of permutations 0, 1, ..., which are the same with every executor."""
        permuted_risks = np.empty(n_permutations)
        n_workers = count_workers(executor)
        n_batches = N_PROGRESS_REPORTS if n_workers is None else BATCHES_PER_WORKER * n_workers
        batches = np.array_split(np.arange(n_permutations), min(n_batches, n_permutations))
        report_progress(0, n_permutations, "permutations")
        n_done = 0
        with closing(run_batches(executor, _risks, (self,), batches)) as finished_batches:
            for batch_number, risks in finished_batches:
                permuted_risks[batches[batch_number]] = risks
                n_done += len(risks)
                report_progress(n_done, n_permutations, "permutations")
        return permuted_risks


def _risks(procedure: RepeatedProcedure, permutation_numbers: np.ndarray) -> list[float]:
    """Return the risks of the permutations with these numbers, with all warnings suppressed.

    The run with the original labels has shown the warnings already.
    """
    with listen(None), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            procedure.permuted_risk(int(permutation_number))
            for permutation_number in permutation_numbers
        ]


@frozen(eq=False)
class PermutationTest(Record):
    """Result of `permutation_test`: the risk of a procedure and its risks with permuted labels.

    Parameters
    ----------
    observed : float
        The honest risk with the original labels, on the requested scale.
    null : array of float
        The honest risk with each permutation of the labels, on the same scale.
    permuted : str
        What was permuted: "rows", "labels of groups", "groups of equal size", or "shifts in time".
    n_units : int
        The number of rows or groups whose labels were permuted.
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

    observed: FiniteFloat
    null: Annotated[np.ndarray, Column(least=1, numbers=FINITE_RANGE)] = field(repr=False)
    permuted: str
    n_units: Count
    scoring: str
    method: str
    engine: str
    seed: int
    search_seed: int
    seconds: NonNegative
    data_fingerprint: str
    notes: tuple[str, ...] = ()
    perfect: PerfectScore | None = None

    @property
    def scale(self) -> Scale:
        """Scale of the reported numbers: a loss, or a score with its perfect value."""
        return Scale(self.perfect)

    @property
    def n_permutations(self) -> int:
        """Number of permutations, not counting the original order of the labels."""
        return len(self.null)

    @property
    def n_as_good(self) -> int:
        """Number of permutations with a risk as good as that of the original labels, or better."""
        sign = 1.0 if self.perfect is None else -1.0
        return int(np.count_nonzero(are_tied(sign * self.null, sign * self.observed)))

    @property
    def p_value(self) -> float:
        """The p-value (1 + n_as_good)/(1 + n_permutations), which counts the original order."""
        return (1 + self.n_as_good) / (1 + self.n_permutations)

    def __str__(self) -> str:
        text_lines = [f"p = {self.p_value:.4g}: {self._count_sentence}", *self._risk_sentences]
        return "\n".join(text_lines + [f"  note: {note}" for note in self.notes])

    @override
    def blocks(self) -> list[tables.Block]:
        rows = [["p-value", f"{self.p_value:.4g}"], ["permutations", self._count_sentence]]
        rows += [risk_text.strip().split(": ", 1) for risk_text in self._risk_sentences]
        rows += [["note", note] for note in self.notes]
        return [tables.Block("Permutation test", ["", ""], rows)]

    @property
    def _count_sentence(self) -> str:
        comparison_text = {"lower": "risk as small", "larger": "score as large"}[self.scale.better]
        return (
            f"{self.n_as_good} of {self.n_permutations} permutations ({self.permuted}) have a "
            f"{comparison_text}"
        )

    @property
    def _risk_sentences(self) -> list[str]:
        scale_noun, permuted_risks = self.scale.noun, self.null
        summary_values = (
            float(summary_value)
            for summary_value in (permuted_risks.mean(), permuted_risks.min(), permuted_risks.max())
        )
        mean, smallest_risk, largest_risk = map(formats.format_risk, summary_values)
        scoring_and_method = f"{formats.escape_and_truncate(self.scoring, 40)}, {self.method}"
        return [
            f"  observed: {scale_noun} {formats.format_risk(self.observed)} ({scoring_and_method})",
            f"  permuted: {scale_noun} {mean} on average, {smallest_risk} to {largest_risk}",
        ]
