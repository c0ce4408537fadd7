"""Hypothesis strategies that draw small data sets, with and without ties, and plans of every kind.

The hypothesis library is imported when a strategy is built, so all checks that need no strategy run
without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from truerisk.core.errors import MissingExtra
from truerisk.data.data import Data, TaskName
from truerisk.plan.blocks import ALL, RowSets
from truerisk.plan.builder import PlanBuilder, RowSet, plan_leave_one_fold_out
from truerisk.plan.extras.flips import get_label_flips
from truerisk.plan.pairs import add_pair_fits
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


class NestingBuilder(PlanBuilder):
    """Plan builder that can also embed another plan in a subset of the rows."""

    def __init__(self, n_rows: int) -> None:
        super().__init__(n_rows)
        self._trained: list[RowSet] = []

    def ask(self, train: RowSet, test: RowSet, **given: Any) -> None:
        """Add a training set and its test set, as PlanBuilder does, and store the training set."""
        self._trained.append(train)
        super().ask(train, test, **given)

    def get_training_set(self, question_number: int) -> RowSet:
        """Return the training set of the fit that the test set with this number tests."""
        return self._trained[question_number]

    def embed_plan(
        self, plan: Plan, embedded_rows: np.ndarray, outer_set: RowSet, *, part: str, unit: int
    ) -> None:
        """Add all fits and test sets of a plan for rows of the set `outer_set`.

        Every training set stays within `outer_set`: "all rows except block b" becomes "`outer_set`
        except block b". No row is added or lost. The copies of a bootstrap sample stay together,
        since blocks hold distinct rows.
        """
        new_block_numbers, row_copies, block_offsets = [], plan.blocks.counts, plan.blocks.offsets
        for block_number in range(len(plan.blocks)):
            block_rows = np.asarray(embedded_rows)[plan.blocks[block_number]]
            n_copies = (
                1
                if row_copies is None
                else row_copies[block_offsets[block_number] : block_offsets[block_number + 1]]
            )
            new_block_numbers.append(self.block(np.repeat(block_rows, n_copies)))
        for question_number in range(plan.n_questions):
            fit_number = int(plan.fit[question_number])
            flipped_rows, flipped_codes = get_label_flips(plan, fit_number)
            self.ask(
                _translate_row_set(plan.train, fit_number, new_block_numbers, outer_set),
                _translate_row_set(plan.test, question_number, new_block_numbers, outer_set),
                part=part,
                repeat=int(plan.repeat[question_number]),
                fold=int(plan.fold[question_number]),
                unit=unit,
                flips=[
                    (int(embedded_rows[row_number]), int(class_code))
                    for row_number, class_code in zip(flipped_rows, flipped_codes, strict=True)
                ],
            )


def _translate_row_set(
    row_sets: RowSets, set_number: int, new_block_numbers: Sequence[int], outer_set: RowSet
) -> RowSet:
    removed_blocks = tuple(
        new_block_numbers[int(block_number)]
        for block_number in row_sets.get_removed_blocks(set_number)
    )
    if int(row_sets.base[set_number]) == ALL:
        return outer_set[0], (*outer_set[1], *removed_blocks)
    return new_block_numbers[int(row_sets.base[set_number])], removed_blocks


DrawnValue = TypeVar("DrawnValue")


def import_hypothesis() -> Any:
    """Return the hypothesis library; raise MissingExtra if it is not installed."""
    try:
        import hypothesis.strategies

        return hypothesis
    except ImportError:
        raise MissingExtra(
            "the checks of engines draw their plans with hypothesis, which is not installed: "
            "pip install hypothesis."
        ) from None


def data_sets(
    task: TaskName = "classification",
    *,
    ties: bool = False,
    n_classes: int | None = None,
    n_columns: int | None = None,
    weight: str | None = None,
) -> SearchStrategy[Data]:
    """Return a strategy for data of 6 to 10 rows and `n_columns` (1 to 3) columns of small numbers.

    Without `ties` all cells of a column differ; with `ties` there are equal cells and equal rows.
    Classes are numbers or strings, 2 or 3 of them unless `n_classes` is given. `weight` names the
    fit parameter for drawn sample weights.
    """

    def draw_one(draw: Any) -> Data:
        st = import_hypothesis().strategies
        n_rows, n_drawn_columns = draw(st.integers(6, 10)), n_columns or draw(st.integers(1, 3))
        column_strategy = st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)
        columns = [
            draw(column_strategy if ties else st.permutations(range(n_rows)))
            for _ in range(n_drawn_columns)
        ]
        X = np.array(columns, dtype=np.float64).T / 4 + (0 if ties else 0.01)
        y = (
            _draw_targets(draw, n_rows)
            if task == "regression"
            else _draw_labels(draw, n_rows, n_classes)
        )
        sample_weight = None
        if weight is not None:
            sample_weight = np.array(
                draw(st.lists(st.integers(1, 4), min_size=n_rows, max_size=n_rows)), float
            )
        fit_params = {} if weight is None else {weight: sample_weight}
        return Data.check(
            np.ascontiguousarray(X),
            y,
            task=task,
            sample_weight=sample_weight,
            fit_params=fit_params,
        )

    return _make_strategy(draw_one)


def _draw_targets(draw: Any, n_rows: int) -> np.ndarray:
    """Draw a numeric target with one column, or with two."""
    st = import_hypothesis().strategies
    value_strategy = st.lists(st.integers(-8, 8), min_size=n_rows, max_size=n_rows)
    if draw(st.sampled_from([1, 1, 2])) == 1:
        return np.array(draw(value_strategy), dtype=np.float64)
    return np.array([draw(value_strategy), draw(value_strategy)], dtype=np.float64).T


def _draw_labels(draw: Any, n_rows: int, n_classes: int | None) -> np.ndarray:
    st = import_hypothesis().strategies
    n_drawn_classes = n_classes or draw(st.sampled_from([2, 2, 3]))
    further_labels = draw(
        st.lists(
            st.integers(0, n_drawn_classes - 1),
            min_size=n_rows - n_drawn_classes,
            max_size=n_rows - n_drawn_classes,
        )
    )
    class_names = draw(st.sampled_from([[0, 1, 2], [-1, 1, 7], ["a", "bb", "c"]]))
    return np.array(class_names)[draw(st.permutations([*range(n_drawn_classes), *further_labels]))]


def fold_plans(n_rows: int) -> SearchStrategy[Plan]:
    """Return a strategy for K-fold plans with any K, any fold sizes, and one or two repetitions."""

    def draw_one(draw: Any) -> Plan:
        builder = PlanBuilder(n_rows)
        for repeat in range(draw(import_hypothesis().strategies.integers(1, 2))):
            for fold, fold_block in enumerate(builder.partition(_draw_fold_numbers(draw, n_rows))):
                builder.ask((ALL, (fold_block,)), (fold_block, ()), repeat=repeat, fold=fold)
        return builder.build()

    return _make_strategy(draw_one)


def _draw_fold_numbers(draw: Any, n_rows: int) -> np.ndarray:
    """Draw the fold number of each row; there are at least two folds."""
    st = import_hypothesis().strategies
    if draw(st.booleans()):
        return np.arange(n_rows)
    n_folds = draw(st.integers(2, min(5, n_rows)))
    further_fold_numbers = draw(
        st.lists(st.integers(0, n_folds - 1), min_size=n_rows - n_folds, max_size=n_rows - n_folds)
    )
    return np.array(draw(st.permutations([*range(n_folds), *further_fold_numbers])))


def subset_plans(n_rows: int) -> SearchStrategy[Plan]:
    """Return a strategy for plans with arbitrary training sets and up to three test sets each.

    A training set is all rows or a random subset, with or without the rows of another subset.
    """

    def draw_one(draw: Any) -> Plan:
        st = import_hypothesis().strategies
        row_strategy = st.sets(st.integers(0, n_rows - 1), min_size=1)
        builder = PlanBuilder(n_rows)
        row_subsets = [draw(row_strategy) for _ in range(draw(st.integers(2, 5)))]
        blocks = [builder.block(np.array(sorted(rows))) for rows in row_subsets]
        all_rows = set(range(n_rows))
        for _ in range(draw(st.integers(1, 5))):
            base_index, removed_index = (
                draw(st.integers(-1, len(row_subsets) - 1)),
                draw(st.integers(0, len(row_subsets) - 1)),
            )
            remaining_rows = (
                all_rows if base_index == ALL else row_subsets[base_index]
            ) - row_subsets[removed_index]
            base_block = blocks[base_index] if base_index != ALL else ALL
            train_set = (
                (base_block, (blocks[removed_index],)) if len(remaining_rows) else (base_block, ())
            )
            builder.ask(train_set, (blocks[draw(st.integers(0, len(row_subsets) - 1))], ()))
            if draw(st.booleans()):
                builder.ask((ALL, ()), (ALL, ()), part="apparent")
        return builder.build()

    return _make_strategy(draw_one)


def bootstrap_plans(n_rows: int) -> SearchStrategy[Plan]:
    """Return a strategy for bootstrap plans: fits on samples with repeated rows.

    Each fit is tested on its own sample, copies included, and on all rows.
    """

    def draw_one(draw: Any) -> Plan:
        st = import_hypothesis().strategies
        sample_strategy = st.lists(st.integers(0, n_rows - 1), min_size=n_rows, max_size=n_rows)
        builder = PlanBuilder(n_rows)
        for repeat in range(draw(st.integers(1, 3))):
            sample_block = builder.block(np.array(draw(sample_strategy)))
            builder.ask((sample_block, ()), (sample_block, ()), part="apparent", repeat=repeat)
            builder.ask((sample_block, ()), (ALL, ()), part="all", repeat=repeat)
        return builder.build()

    return _make_strategy(draw_one)


def label_flip_plans(data: Data) -> SearchStrategy[Plan]:
    """Return a strategy for plans in which some training rows get another class.

    Each fold has one fit without its rows, and one fit on all rows.
    """

    def draw_one(draw: Any) -> Plan:
        st = import_hypothesis().strategies
        builder = PlanBuilder(data.n_rows)
        row_strategy, class_code_strategy = (
            st.integers(0, data.n_rows - 1),
            st.integers(0, data.n_classes - 1),
        )
        blocks = builder.partition(_draw_fold_numbers(draw, data.n_rows))
        label_flip_strategy = st.dictionaries(
            row_strategy, class_code_strategy, min_size=1, max_size=3
        )
        for fold, fold_block in enumerate(blocks):
            label_flips = draw(label_flip_strategy).items()
            builder.ask((ALL, (fold_block,)), (fold_block, ()), fold=fold, flips=label_flips)
            builder.ask((ALL, ()), (ALL, ()), fold=fold, part="all", flips=label_flips)
        return builder.build()

    return _make_strategy(draw_one)


def nested_plans(n_rows: int) -> SearchStrategy[Plan]:
    """Return a strategy for nested plans: the first two outer folds have inner folds.

    The inner folds divide the training rows of the outer fold.
    """

    def draw_one(draw: Any) -> Plan:
        builder = NestingBuilder(n_rows)
        outer_plan = draw(fold_plans(n_rows))
        builder.embed_plan(outer_plan, np.arange(n_rows), (ALL, ()), part="outer", unit=-1)
        for outer_fold in range(min(outer_plan.n_questions, 2)):
            training_rows, _ = outer_plan.train_rows(int(outer_plan.fit[outer_fold]))
            if len(training_rows) >= 2:
                inner_plan = draw(fold_plans(len(training_rows)))
                builder.embed_plan(
                    inner_plan,
                    training_rows,
                    builder.get_training_set(outer_fold),
                    part="inner",
                    unit=outer_fold,
                )
        return builder.build()

    return _make_strategy(draw_one)


def pair_plans(n_rows: int) -> SearchStrategy[Plan]:
    """Return a strategy for plans that leave out each of three or four folds, and each pair."""

    def draw_one(draw: Any) -> Plan:
        st = import_hypothesis().strategies
        n_folds = draw(st.integers(3, 4))
        further_fold_numbers = draw(
            st.lists(
                st.integers(0, n_folds - 1), min_size=n_rows - n_folds, max_size=n_rows - n_folds
            )
        )
        fold_numbers = np.array(draw(st.permutations([*range(n_folds), *further_fold_numbers])))
        return add_pair_fits(plan_leave_one_fold_out(n_rows, [fold_numbers]))

    return _make_strategy(draw_one)


def any_plans(data: Data) -> SearchStrategy[Plan]:
    """Return a strategy that draws a plan of any kind in this module."""
    n_rows = data.n_rows
    plan_strategies = [
        fold_plans(n_rows),
        subset_plans(n_rows),
        bootstrap_plans(n_rows),
        nested_plans(n_rows),
        pair_plans(n_rows),
    ]
    if data.classes is not None:
        plan_strategies.append(label_flip_plans(data))
    return import_hypothesis().strategies.one_of(plan_strategies)


def _make_strategy(draw_one: Callable[[Any], DrawnValue]) -> SearchStrategy[DrawnValue]:
    """Return the hypothesis strategy that draws its values by calling `draw_one`."""
    return import_hypothesis().strategies.composite(draw_one)()
