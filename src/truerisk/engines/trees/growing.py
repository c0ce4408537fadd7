"""Fits of decision trees by the compiled builder: many fits in one call, without model objects.

It serves plain `DecisionTreeClassifier`s, and `DecisionTreeRegressor`s of integer targets (sums of
other targets depend on the order of the rows), on a table of finite numbers in this process. The
tree may follow other steps in a pipeline: these are fitted once per training set, for all settings
of the tree. The predictions equal those of scikit-learn's fits to the bit. All other fits are made
by scikit-learn.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.contracts import Request, RunOptions
from truerisk.core.family import Family, random_states_for
from truerisk.core.progress import report_progress
from truerisk.data.data import Data
from truerisk.engines.prepared import (
    Begin,
    OwnArithmetic,
    as_dense,
    is_bearable,
    unless_it_fails,
)
from truerisk.engines.running.doors import known_steps
from truerisk.engines.running.fit_warnings import FitWarning, WarningCounts, collect_warnings
from truerisk.engines.settings import Group, family_refusal, fit_steps, steps_key, why_not_apart
from truerisk.engines.trees.compiled import Growth, RowLists, TreeTable, exact_sums, grow_trees
from truerisk.engines.trees.pruning import nodes_at
from truerisk.engines.trees.recipes import Recipe, equality_gap, recipe_of, splitter_seed
from truerisk.plan.answers import Answers, empty_values, with_extras
from truerisk.plan.blocks import select_lists
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.engines.running.shared_steps import FittedStepTrees

# Approximate duration of a call of the builder in seconds.
# Progress and interruptions are handled between two calls of the builder.
SECONDS_PER_CALL = 0.1


def tree_builder_for(
    groups: list[Group], family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
) -> TreeBuilder | None:
    """Return the tree builder for this plan, or None if scikit-learn has to fit the trees."""
    if run.fit_store is not None or not _builder_serves(groups, family, data, plan):
        return None
    table = None
    if has_no_steps(family):
        X = in_single_precision(data.X)
        if X is None:
            return None
        table = TreeTable.from_rows(X)
    elif not can_fit_steps_apart(family):
        return None
    return TreeBuilder(groups, table, family, data, plan, request, run)


def _builder_serves(groups: list[Group], family: Family, data: Data, plan: Plan) -> bool:
    """Return True if the compiled builder can grow trees with these settings and targets."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    learner, is_regression = type(family.last), data.codes is None
    if learner is not (DecisionTreeRegressor if is_regression else DecisionTreeClassifier):
        return False
    recipes = [recipe_of(group.settings[0], 1, is_regression=is_regression) for group in groups]
    are_known = all(
        recipe is not None and equality_gap(recipe.criterion) is not None for recipe in recipes
    )
    return are_known and _is_plain(data, plan)


class TreeBuilder:
    """Builder of the trees of all candidates on one plan, which stores their predictions.

    Without a `table` each fit has its own table, which is the output of the steps before the tree.
    """

    def __init__(
        self,
        groups: list[Group],
        table: TreeTable | None,
        family: Family,
        data: Data,
        plan: Plan,
        request: Request,
        run: RunOptions,
    ) -> None:
        self.groups, self.table, self.family, self.data = groups, table, family, data
        self.plan, self.request, self.run = plan, request, run
        n_value_rows = len(family) if run.only is None else 1
        self.values = [
            empty_values(data, plan, one_request.response, n_value_rows)
            for one_request in request.all_requests
        ]
        self.fit_seconds = np.zeros((n_value_rows, plan.n_fits))
        self.answer_seconds = np.zeros((n_value_rows, plan.n_fits))
        self.done = 0
        self.warned: list[FitWarning] = []

    def answers(self, engine: str) -> Answers | None:
        """Grow all trees and return their predictions, or None if scikit-learn has to fit them.

        None means that the output of a step before the tree is unsuitable for the builder.
        """
        n_fits = self.fit_seconds.size
        report_progress(0, n_fits)
        if self.table is not None:
            for group in self.groups:
                # The first calls of the builder make few fits.
                # The duration of a call determines how many fits the next call makes.
                batch_size, fits = 1, self._fits_of_group(group)
                while len(fits):
                    next_fits, fits = fits[:batch_size], fits[batch_size:]
                    start_time = time.perf_counter()
                    self._grow_and_predict(self.table, group, next_fits)
                    call_seconds = max(time.perf_counter() - start_time, 1e-6)
                    batch_size = max(
                        1,
                        min(2 * batch_size, int(len(next_fits) * SECONDS_PER_CALL / call_seconds)),
                    )
        elif unless_it_fails(self._grow_after_steps) is None:
            return None
        if self.warned:
            WarningCounts(self.warned).issue_all(n_fits)
        predictions = Answers(
            plan=self.plan,
            response=self.request.response,
            values=self.values[0],
            answered=np.ones((len(self.fit_seconds), self.plan.n_questions), dtype=bool),
            engine=engine,
            fit_seconds=self.fit_seconds,
            answer_seconds=self.answer_seconds,
            n_fits=n_fits,
        )
        return with_extras(predictions, self.request.responses, self.values)

    def _grow_after_steps(self) -> bool:
        """Grow trees fit by fit, after fitting the steps before them.

        The steps are fitted once for all groups that share them.
        """
        for groups in self._groups_by_steps():
            fits_of_groups = [set(self._fits_of_group(group).tolist()) for group in groups]
            fits = sorted(set().union(*fits_of_groups))
            step_data = groups[0], self.family, self.data, self.plan, fits, self.run.steps
            for fit, table, step_warnings in tables_after_steps(*step_data):
                for group, group_fits in zip(groups, fits_of_groups, strict=True):
                    if fit in group_fits:
                        n_replaced = self._grow_and_predict(table, group, np.array([fit]))
                        self.warned.extend(step_warnings * n_replaced)
        return True

    def _groups_by_steps(self) -> list[list[Group]]:
        groups_by_key: dict[str, list[Group]] = {}
        for group in self.groups:
            groups_by_key.setdefault(steps_key(self.family, int(group.candidates[0])), []).append(
                group
            )
        return list(groups_by_key.values())

    def _fits_of_group(self, group: Group) -> np.ndarray:
        """Return the numbers of the fits that need a candidate of the group."""
        candidate_of_fit = self.run.only
        if candidate_of_fit is None:
            return np.arange(self.plan.n_fits)
        return np.flatnonzero(np.isin(candidate_of_fit, group.candidates))

    def _grow_and_predict(self, table: TreeTable, group: Group, fits: np.ndarray) -> int:
        """Grow the trees of some fits and store their predictions.

        Return the number of fits of candidates that this replaces.
        """
        start_time = time.perf_counter()
        test_rows, row_ends, prediction_positions = self._test_rows_of_fits(fits)
        growth = self._grow_trees(table, group, fits, RowLists(test_rows, row_ends))
        growth_end_time = time.perf_counter()
        nodes = self._predicting_nodes(group, growth, fits, row_ends)
        value_rows = group.candidates if self.run.only is None else np.zeros(1, dtype=np.int64)
        for one_request, values in zip(self.request.all_requests, self.values, strict=True):
            values[value_rows[:, None], prediction_positions] = _node_predictions(
                growth, one_request
            )[nodes]
        fit_cells, n_replaced = np.ix_(value_rows, fits), len(value_rows) * len(fits)
        self.fit_seconds[fit_cells] = (growth_end_time - start_time) / n_replaced
        self.answer_seconds[fit_cells] = (time.perf_counter() - growth_end_time) / n_replaced
        self.done += n_replaced
        report_progress(self.done, self.fit_seconds.size)
        return n_replaced

    def _test_rows_of_fits(self, fits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return some fits' test rows, the offsets of each fit, and the predictions' positions."""
        test_set_order, fit_starts = self.plan.questions_of
        fit_offsets, order_positions = select_lists(fit_starts, fits)
        row_offsets, prediction_positions = select_lists(
            self.plan.test_offsets, test_set_order[order_positions]
        )
        return (
            self.plan.positions[0][prediction_positions].astype(np.int32),
            row_offsets[fit_offsets],
            prediction_positions,
        )

    def _grow_trees(
        self, table: TreeTable, group: Group, fits: np.ndarray, rows_to_predict: RowLists
    ) -> Growth:
        is_regression = self.data.codes is None
        recipe = recipe_of(group.settings[0], len(table.columns), is_regression=is_regression)
        assert recipe is not None
        row_sets = [self.plan.train_rows(int(fit)) for fit in fits]
        copies = [np.ones(len(r), np.int32) if counts is None else counts for r, counts in row_sets]
        n_rows = [int(fit_copies.sum()) for fit_copies in copies]
        limits = {n: recipe.limits(n) for n in set(n_rows)}
        closest_gap = equality_gap(recipe.criterion)
        assert closest_gap is not None
        return grow_trees(
            table,
            self.data.y if self.data.codes is None else self.data.codes,
            max(1, self.data.n_classes),
            RowLists.from_lists([rows for rows, _ in row_sets]),
            np.concatenate(copies),
            rows_to_predict,
            np.array([self._generator_seed(recipe, int(fit)) for fit in fits], dtype=np.uint32),
            [limits[n] for n in n_rows],
            n_tried=recipe.n_tried,
            criterion=recipe.criterion,
            close=closest_gap,
        )

    def _generator_seed(self, recipe: Recipe, fit: int) -> int:
        """Return the seed of the tree's random number generator in a fit.

        If `random_state` is None, the seed is drawn from the number of the fit.
        """
        seed = recipe.seed
        return splitter_seed(
            random_states_for((self.run.seed, fit), 1)[0] if seed is None else seed
        )

    def _predicting_nodes(
        self, group: Group, growth: Growth, fits: np.ndarray, row_ends: np.ndarray
    ) -> np.ndarray:
        """Return the node that predicts each test row, as an array `(candidate, test row)`.

        Nodes are numbered across all trees.
        """
        alphas = group.values("ccp_alpha").astype(np.float64)
        n_value_rows = len(alphas) if self.run.only is None else 1
        if not alphas.any():
            leaves = growth.leaves + np.repeat(growth.offsets[:-1], np.diff(row_ends))
            return np.tile(leaves, (n_value_rows, 1))
        nodes = np.empty((n_value_rows, len(growth.leaves)), dtype=np.int64)
        for fit_position, fit in enumerate(fits):
            fit_rows = slice(*row_ends[fit_position : fit_position + 2])
            fit_alphas = (
                alphas if self.run.only is None else alphas[group.candidates == self.run.only[fit]]
            )
            leaves = nodes_at(growth.tree(fit_position), fit_alphas, growth.leaves[fit_rows])
            nodes[:, fit_rows] = leaves + growth.offsets[fit_position]
        return nodes


def _node_predictions(growth: Growth, request: Request) -> np.ndarray:
    """Return the prediction that each node would make if it were a leaf."""
    counts = growth.nodes.counts
    shares: np.ndarray = counts / growth.nodes.weighted_n_node_samples[:, None]
    if request.response == "label":
        return shares.argmax(axis=1)
    if request.response == "value":
        return shares[:, 0]
    return shares if request.response == "probability" else shares[:, 1]


def _is_plain(data: Data, plan: Plan) -> bool:
    """Return True if fits use only rows and targets, and scikit-learn would not warn of them."""
    if data.fit_params or plan.extra is not None:
        return False
    smallest_train_size = int(plan.least_train_sizes.min(initial=0 if not plan.n_fits else 2**31))
    if smallest_train_size < 1:
        return False
    if data.codes is None:
        return exact_sums(data.y, int(plan.train_sizes.max()))
    # scikit-learn warns of more than two classes if they are at least half as many as the rows.
    return not (
        data.n_classes > 2 and 2 * data.n_classes >= smallest_train_size
    ) and _are_classification_targets(data.y)


def _are_classification_targets(y: np.ndarray) -> bool:
    from sklearn.utils.multiclass import check_classification_targets

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_classification_targets(y)
    except Exception:  # noqa: BLE001  scikit-learn's fits report the problem themselves.
        return False
    return True


def has_no_steps(family: Family) -> bool:
    """Return True if no step precedes the tree: it is no pipeline, or the pipeline's only step."""
    if not family.is_piped:
        return True
    names_learner_only = all(name.startswith(family.prefix) for name in family.named)
    return len(family.estimator.steps) == 1 and names_learner_only and why_not_apart(family) is None


def can_fit_steps_apart(family: Family) -> bool:
    """Return True if the steps before a tree may be fitted separately from it.

    The seed of the tree must be its own, or the only one that is drawn for the pipeline.
    """
    if family_refusal(family, [type(family.last)]) is not None:
        return False
    models = map(family.make, range(len(family)))
    names = (name for model in models for name in family.random_parameters(model))
    return all(name.startswith(family.prefix) for name in names)


def tables_after_steps(
    group: Group,
    family: Family,
    data: Data,
    plan: Plan,
    fits: Sequence[int],
    fitted_step_trees: FittedStepTrees | None,
) -> Iterator[tuple[int, TreeTable, list[FitWarning]]]:
    """Yield each fit with its transformed table and the warnings of its steps.

    If successive fits have equal tables, the table is sorted only once.
    """
    last_X: np.ndarray | None = None
    begin_known_steps = known_steps(
        fitted_step_trees, family, group.steps, int(group.candidates[0])
    )
    for fit in fits:
        with collect_warnings() as step_warnings:
            X = _table_after_steps(group, data, plan, fit, begin_known_steps(plan, fit))
        if last_X is None or not np.array_equal(X, last_X):
            last_X, table = X, TreeTable.from_rows(X)
        yield fit, table, step_warnings


def _table_after_steps(
    group: Group, data: Data, plan: Plan, fit: int, begin: Begin | None
) -> np.ndarray:
    """Return a table with the transformed training and test rows of a fit.

    Rows that the fit neither trains on nor predicts have meaningless cells.
    """
    rows, copies = plan.train_rows(fit)
    test_set_order, fit_starts = plan.questions_of
    test_rows = [
        plan.test_rows(int(test_set))[0]
        for test_set in test_set_order[fit_starts[fit] : fit_starts[fit + 1]]
    ]
    y = data.y if data.codes is None else data.codes
    X, test_tables = fit_steps(
        group.steps, data, (rows, copies), y[rows], test_rows, _in_single_precision_or_raise, begin
    )
    table = np.repeat(X[:1], data.n_rows, axis=0)
    table[rows] = X
    is_filled = np.zeros(data.n_rows, dtype=bool)
    is_filled[rows] = True
    for rows_of_test, values in zip(test_rows, test_tables, strict=True):
        if not np.array_equal(
            table[rows_of_test][is_filled[rows_of_test]], values[is_filled[rows_of_test]]
        ):
            raise OwnArithmetic("a row that it was fitted on is another when it is asked about")
        table[rows_of_test] = values
        is_filled[rows_of_test] = True
    return table


def _in_single_precision_or_raise(table: Any) -> np.ndarray:
    float32_table = in_single_precision(table)
    if float32_table is None:
        raise OwnArithmetic("what scikit-learn treats otherwise")
    return float32_table


def in_single_precision(X: Any) -> np.ndarray | None:
    """Return X in single precision, or None if scikit-learn treats it differently or refuses it.

    For a sparse table scikit-learn grows the same tree as for the dense one.
    """
    if is_bearable(X):
        X = as_dense(X)
    if type(X) is not np.ndarray:
        X = _cells_of_frame(X)
    if X is None or X.ndim != 2 or not X.size or X.dtype.kind not in "biuf" or X.itemsize > 8:
        return None
    with np.errstate(over="ignore"):
        float32_table = X.astype(np.float32, order="F", copy=False)
    return float32_table if np.isfinite(float32_table).all() else None


def _cells_of_frame(X: Any) -> np.ndarray | None:
    """Return the cells of a numeric data frame as an array, or None for any other table.

    The column names must all be strings, or none of them may be a string.
    """
    dtypes = getattr(X, "dtypes", None)
    if not hasattr(X, "iloc") or not hasattr(X, "columns") or dtypes is None:
        return None
    is_numeric = all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in dtypes)
    if not is_numeric or len({isinstance(name, str) for name in X.columns}) != 1:
        return None
    return np.asarray(X)
