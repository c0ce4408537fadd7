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
    LearnerFitNeeded,
    StepFitter,
    as_dense,
    call_or_none,
    can_be_dense,
)
from truerisk.engines.running.doors import known_steps_finder
from truerisk.engines.running.fit_warnings import FitWarning, WarningCounts, collect_warnings
from truerisk.engines.settings import (
    Group,
    family_refusal,
    fit_steps,
    separate_steps_refusal,
    steps_key,
)
from truerisk.engines.trees.compiled import (
    GrownTrees,
    RowLists,
    TreeTable,
    grow_trees,
    has_exact_sums,
)
from truerisk.engines.trees.pruning import nodes_after_pruning
from truerisk.engines.trees.recipes import (
    TreeSettings,
    equality_gap,
    resolve_tree_settings,
    splitter_seed,
)
from truerisk.plan.answers import Answers, add_further_predictions, allocate_predictions
from truerisk.plan.blocks import select_lists
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.engines.running.shared_steps import FittedStepTrees

# Approximate duration of a call of the builder in seconds.
# Progress and interruptions are handled between two calls of the builder.
SECONDS_PER_CALL = 0.1


def tree_builder_for(
    groups: list[Group],
    family: Family,
    data: Data,
    plan: Plan,
    request: Request,
    run_options: RunOptions,
) -> TreeBuilder | None:
    """Return the tree builder for this plan, or None if scikit-learn has to fit the trees."""
    if run_options.fit_store is not None or not _builder_serves(groups, family, data, plan):
        return None
    table = None
    if has_no_steps(family):
        X = to_single_precision(data.X)
        if X is None:
            return None
        table = TreeTable.from_rows(X)
    elif not can_fit_steps_separately(family):
        return None
    return TreeBuilder(groups, table, family, data, plan, request, run_options)


def _builder_serves(groups: list[Group], family: Family, data: Data, plan: Plan) -> bool:
    """Return True if the compiled builder can grow trees with these settings and targets."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    learner, is_regression = type(family.last), data.codes is None
    if learner is not (DecisionTreeRegressor if is_regression else DecisionTreeClassifier):
        return False
    all_tree_settings = [
        resolve_tree_settings(group.settings[0], 1, is_regression=is_regression) for group in groups
    ]
    are_supported = all(
        tree_settings is not None and equality_gap(tree_settings.criterion) is not None
        for tree_settings in all_tree_settings
    )
    return are_supported and _is_plain(data, plan)


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
        n_value_rows = len(family) if run.candidate_by_fit is None else 1
        self.values = [
            allocate_predictions(data, plan, single_request.response, n_value_rows)
            for single_request in request.all_requests
        ]
        self.fit_seconds = np.zeros((n_value_rows, plan.n_fits))
        self.answer_seconds = np.zeros((n_value_rows, plan.n_fits))
        self.n_fits_done = 0
        self.fit_warnings: list[FitWarning] = []

    def answers(self, engine: str) -> Answers | None:
        """Grow all trees and return their predictions, or None if scikit-learn has to fit them.

        None means that the output of a step before the tree is unsuitable for the builder.
        """
        n_fits = self.fit_seconds.size
        report_progress(0, n_fits)
        if self.table is not None:
            for group in self.groups:
                # The first call of the builder grows the trees of one fit. The duration of a call
                # determines the number of fits in the next call.
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
        elif call_or_none(self._grow_after_steps) is None:
            return None
        if self.fit_warnings:
            WarningCounts(self.fit_warnings).issue_all(n_fits)
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
        return add_further_predictions(predictions, self.request.responses, self.values)

    def _grow_after_steps(self) -> bool:
        """Grow trees fit by fit, after fitting the steps before them.

        The steps are fitted once for all groups that share them.
        """
        for groups in self._groups_by_steps():
            fits_of_groups = [set(self._fits_of_group(group).tolist()) for group in groups]
            fits = sorted(set().union(*fits_of_groups))
            step_arguments = groups[0], self.family, self.data, self.plan, fits, self.run.step_cache
            for fit, table, step_warnings in transformed_tables(*step_arguments):
                for group, group_fits in zip(groups, fits_of_groups, strict=True):
                    if fit in group_fits:
                        n_replaced_fits = self._grow_and_predict(table, group, np.array([fit]))
                        self.fit_warnings.extend(step_warnings * n_replaced_fits)
        return True

    def _groups_by_steps(self) -> list[list[Group]]:
        groups_by_key: dict[str, list[Group]] = {}
        for group in self.groups:
            groups_by_key.setdefault(steps_key(self.family, int(group.candidates[0])), []).append(
                group
            )
        return list(groups_by_key.values())

    def _fits_of_group(self, group: Group) -> np.ndarray:
        """Return the numbers of the fits that have to predict for a candidate of the group."""
        candidate_of_fit = self.run.candidate_by_fit
        if candidate_of_fit is None:
            return np.arange(self.plan.n_fits)
        return np.flatnonzero(np.isin(candidate_of_fit, group.candidates))

    def _grow_and_predict(self, table: TreeTable, group: Group, fits: np.ndarray) -> int:
        """Grow the trees of some fits and store their predictions.

        Return the number of scikit-learn fits that this replaces.
        """
        start_time = time.perf_counter()
        test_rows, row_offsets, prediction_positions = self._test_rows_of_fits(fits)
        grown_trees = self._grow_trees(table, group, fits, RowLists(test_rows, row_offsets))
        growth_end_time = time.perf_counter()
        node_numbers = self._find_predicting_nodes(group, grown_trees, fits, row_offsets)
        value_rows = (
            group.candidates if self.run.candidate_by_fit is None else np.zeros(1, dtype=np.int64)
        )
        for one_request, values in zip(self.request.all_requests, self.values, strict=True):
            values[value_rows[:, None], prediction_positions] = _node_predictions(
                grown_trees, one_request
            )[node_numbers]
        seconds_index, n_replaced_fits = np.ix_(value_rows, fits), len(value_rows) * len(fits)
        self.fit_seconds[seconds_index] = (growth_end_time - start_time) / n_replaced_fits
        self.answer_seconds[seconds_index] = (
            time.perf_counter() - growth_end_time
        ) / n_replaced_fits
        self.n_fits_done += n_replaced_fits
        report_progress(self.n_fits_done, self.fit_seconds.size)
        return n_replaced_fits

    def _test_rows_of_fits(self, fits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the test rows of some fits, with offsets and positions in `values`.

        The offsets are those of each fit in the test rows.
        """
        test_sets_by_fit, fit_starts = self.plan.questions_of
        fit_offsets, test_set_positions = select_lists(fit_starts, fits)
        row_offsets, prediction_positions = select_lists(
            self.plan.test_offsets, test_sets_by_fit[test_set_positions]
        )
        return (
            self.plan.positions[0][prediction_positions].astype(np.int32),
            row_offsets[fit_offsets],
            prediction_positions,
        )

    def _grow_trees(
        self, table: TreeTable, group: Group, fits: np.ndarray, rows_to_predict: RowLists
    ) -> GrownTrees:
        is_regression = self.data.codes is None
        tree_settings = resolve_tree_settings(
            group.settings[0], len(table.columns), is_regression=is_regression
        )
        assert tree_settings is not None
        row_sets = [self.plan.train_rows(int(fit)) for fit in fits]
        copy_counts = [
            np.ones(len(train_rows), np.int32) if row_counts is None else row_counts
            for train_rows, row_counts in row_sets
        ]
        n_rows = [int(fit_copies.sum()) for fit_copies in copy_counts]
        limits_by_n_rows = {n: tree_settings.growth_limits(n) for n in set(n_rows)}
        feature_threshold = equality_gap(tree_settings.criterion)
        assert feature_threshold is not None
        return grow_trees(
            table,
            self.data.y if self.data.codes is None else self.data.codes,
            max(1, self.data.n_classes),
            RowLists.from_lists([rows for rows, _ in row_sets]),
            np.concatenate(copy_counts),
            rows_to_predict,
            np.array(
                [self._generator_seed(tree_settings, int(fit)) for fit in fits], dtype=np.uint32
            ),
            [limits_by_n_rows[n] for n in n_rows],
            n_tried=tree_settings.n_tried_columns,
            criterion=tree_settings.criterion,
            close=feature_threshold,
        )

    def _generator_seed(self, tree_settings: TreeSettings, fit: int) -> int:
        """Return the seed of the tree's random number generator in a fit.

        If `random_state` is None, the seed is drawn from the number of the fit.
        """
        seed = tree_settings.seed
        return splitter_seed(
            random_states_for((self.run.seed, fit), 1)[0] if seed is None else seed
        )

    def _find_predicting_nodes(
        self, group: Group, grown_trees: GrownTrees, fits: np.ndarray, row_offsets: np.ndarray
    ) -> np.ndarray:
        """Return the number of the node that predicts each test row for each candidate.

        Nodes are numbered across all trees.
        """
        alphas = group.values("ccp_alpha").astype(np.float64)
        n_value_rows = len(alphas) if self.run.candidate_by_fit is None else 1
        if not alphas.any():
            leaves = grown_trees.leaves + np.repeat(grown_trees.offsets[:-1], np.diff(row_offsets))
            return np.tile(leaves, (n_value_rows, 1))
        node_numbers = np.empty((n_value_rows, len(grown_trees.leaves)), dtype=np.int64)
        for fit_position, fit in enumerate(fits):
            row_slice = slice(*row_offsets[fit_position : fit_position + 2])
            fit_alphas = (
                alphas
                if self.run.candidate_by_fit is None
                else alphas[group.candidates == self.run.candidate_by_fit[fit]]
            )
            leaves = nodes_after_pruning(
                grown_trees.tree(fit_position), fit_alphas, grown_trees.leaves[row_slice]
            )
            node_numbers[:, row_slice] = leaves + grown_trees.offsets[fit_position]
        return node_numbers


def _node_predictions(grown_trees: GrownTrees, request: Request) -> np.ndarray:
    """Return the prediction that each node would make if it were a leaf."""
    node_totals = grown_trees.nodes.counts
    node_values: np.ndarray = node_totals / grown_trees.nodes.weighted_n_node_samples[:, None]
    if request.response == "label":
        return node_values.argmax(axis=1)
    if request.response == "value":
        return node_values[:, 0]
    return node_values if request.response == "probability" else node_values[:, 1]


def _is_plain(data: Data, plan: Plan) -> bool:
    """Return True if fits need nothing but X and y, and scikit-learn would not warn of y."""
    if data.fit_params or plan.extra is not None:
        return False
    smallest_train_size = int(plan.least_train_sizes.min(initial=0 if not plan.n_fits else 2**31))
    if smallest_train_size < 1:
        return False
    if data.codes is None:
        return has_exact_sums(data.y, int(plan.train_sizes.max()))
    # With more than two classes, scikit-learn warns if rows are at most twice as many as classes.
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
    sets_only_learner_params = all(name.startswith(family.prefix) for name in family.named)
    return (
        len(family.estimator.steps) == 1
        and sets_only_learner_params
        and separate_steps_refusal(family) is None
    )


def can_fit_steps_separately(family: Family) -> bool:
    """Return True if the steps before a tree may be fitted separately from it.

    The seed of the tree must be its own, or the only one that is drawn for the pipeline.
    """
    if family_refusal(family, [type(family.last)]) is not None:
        return False
    models = map(family.make, range(len(family)))
    names = (name for model in models for name in family.random_parameters(model))
    return all(name.startswith(family.prefix) for name in names)


def transformed_tables(
    group: Group,
    family: Family,
    data: Data,
    plan: Plan,
    fits: Sequence[int],
    fitted_step_trees: FittedStepTrees | None,
) -> Iterator[tuple[int, TreeTable, list[FitWarning]]]:
    """Yield the number of each fit, its table after the steps, and the warnings of the steps.

    If successive fits have equal tables, the table is sorted only once.
    """
    previous_X: np.ndarray | None = None
    begin_known_steps = known_steps_finder(
        fitted_step_trees, family, group.steps, int(group.candidates[0])
    )
    for fit in fits:
        with collect_warnings() as step_warnings:
            X = _transformed_table(group, data, plan, fit, begin_known_steps(plan, fit))
        if previous_X is None or not np.array_equal(X, previous_X):
            previous_X, table = X, TreeTable.from_rows(X)
        yield fit, table, step_warnings


def _transformed_table(
    group: Group, data: Data, plan: Plan, fit: int, begin_steps: StepFitter | None
) -> np.ndarray:
    """Return a table with the transformed training and test rows of a fit.

    Rows that the fit neither trains on nor predicts have meaningless cells.
    """
    rows, copy_counts = plan.train_rows(fit)
    test_sets_by_fit, fit_starts = plan.questions_of
    test_rows = [
        plan.test_rows(int(test_set))[0]
        for test_set in test_sets_by_fit[fit_starts[fit] : fit_starts[fit + 1]]
    ]
    y = data.y if data.codes is None else data.codes
    X, test_tables = fit_steps(
        group.steps,
        data,
        (rows, copy_counts),
        y[rows],
        test_rows,
        _to_float32_or_raise,
        begin_steps,
    )
    table = np.repeat(X[:1], data.n_rows, axis=0)
    table[rows] = X
    is_filled = np.zeros(data.n_rows, dtype=bool)
    is_filled[rows] = True
    for rows_of_test, values in zip(test_rows, test_tables, strict=True):
        if not np.array_equal(
            table[rows_of_test][is_filled[rows_of_test]], values[is_filled[rows_of_test]]
        ):
            raise LearnerFitNeeded("a row that it was fitted on is another when it is asked about")
        table[rows_of_test] = values
        is_filled[rows_of_test] = True
    return table


def _to_float32_or_raise(table: Any) -> np.ndarray:
    float32_table = to_single_precision(table)
    if float32_table is None:
        raise LearnerFitNeeded("what scikit-learn treats otherwise")
    return float32_table


def to_single_precision(X: Any) -> np.ndarray | None:
    """Return X in single precision, as scikit-learn's trees convert it.

    Return None if scikit-learn treats X differently or refuses it. For a sparse table scikit-learn
    grows the same tree as for the dense one.
    """
    if can_be_dense(X):
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
