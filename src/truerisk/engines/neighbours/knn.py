"""Engine for k nearest neighbours: one sorted list per row serves every k, fit and flipped label.

The list holds a row's nearest rows by exact distance. To predict the row in a fit, the engine
follows the list, skips rows that are not in the training set, and predicts with all k in one pass.
Leave-one-out, K-fold, bootstrap samples, nested plans and flipped labels therefore share one
search. Pipeline steps that learn from the rows (such as a scaler) are fitted once per training set,
and one search serves all k of that fit.

If rows at equal distances around rank k have different labels, the prediction depends on the search
algorithm. scikit-learn's estimator is then fitted, so that the predictions agree in this case too.

For plans of randomly drawn training sets, the rows are ranked by distance, and closed forms
(`laws.py`) give the probability of each rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from numbers import Integral, Real
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.neighbours.distances import MetricSettings, find_nearest
from truerisk.engines.neighbours.laws import count_ranks_needed, expected_costs
from truerisk.engines.neighbours.walk import (
    MAX_CLASSES,
    CheckedPredictions,
    predict_in_all_fits,
    predict_in_one_fit,
)
from truerisk.engines.prepared import (
    as_doubles,
    call_or_none,
    plain_array,
)
from truerisk.engines.running.listed_draws import expected_losses_refusal
from truerisk.engines.settings import NOT_IN_GROUP, Group, group_candidates
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.losses.loss import RowLoss
from truerisk.plan.blocks import select_lists
from truerisk.plan.extras.counted import CountCollector
from truerisk.plan.extras.laws import Laws, distribution_of_fit
from truerisk.plan.plan import Plan

WEIGHTINGS = ("uniform", "distance")
METRICS_BEYOND_EUCLIDEAN = {
    "manhattan",
    "cityblock",
    "l1",
    "chebyshev",
    "cosine",
    "minkowski",
    "canberra",
}
SEARCH_ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree")
LARGEST_SAFE_CELL, SMALLEST_SAFE_CELL = (
    1e140,
    1e-140,
)  # Squares of cells between SMALLEST_SAFE_CELL and LARGEST_SAFE_CELL neither overflow nor vanish.
MAX_LIST_ENTRIES = 1 << 22  # Largest number of list entries that are held in memory at once.
# Equal distances are looked for up to N_EXTRA_RANKS ranks beyond the last rank that matters.
N_EXTRA_RANKS = 16
TIE_NOTE = (
    "rows with neighbours of both classes at equal distances: {}; of such neighbours the one with "
    "the lower row number counts as nearer"
)


@frozen
class NearestNeighbours(OnePass):
    """Engine for KNeighborsClassifier and KNeighborsRegressor, alone or in a pipeline.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.engines.names : List the names of engines.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> engine = tr.engines.NearestNeighbours()
    >>> tr.estimate_risk(KNeighborsClassifier(), X, y, engine=engine).engine
    'knn'
    """

    name: ClassVar[str] = "knn"
    along: ClassVar[tuple[str, ...]] = ("n_neighbors",)
    serves: ClassVar[frozenset[str]] = frozenset({"flips", "laws", "counted"})
    compiled: ClassVar[bool] = True
    weighted: ClassVar[bool] = False

    @override
    def learners(self) -> Sequence[type]:
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

        return KNeighborsClassifier, KNeighborsRegressor

    @override
    def rounds(self, group: Group) -> bool:
        return False

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        from sklearn.neighbors import VALID_METRICS

        k, metric, p = setting["n_neighbors"], setting["metric"], setting["p"]
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            return f"n_neighbors={k!r} is no number of neighbours."
        if not isinstance(setting["weights"], str) or setting["weights"] not in WEIGHTINGS:
            return f"weights={setting['weights']!r} is no weighting that it knows."
        if setting["metric_params"] is not None:
            return "metric_params are given."
        if not isinstance(metric, str):
            return "the metric is a function."
        if metric == "braycurtis":
            return (
                "braycurtis is no metric, so scikit-learn's trees pass over rows that are nearer."
            )
        if metric not in METRICS_BEYOND_EUCLIDEAN | {"euclidean", "l2"}:
            return f"metric '{metric}' is not one that it knows."
        if isinstance(p, bool) or not isinstance(p, Real) or not float(p) >= 1:
            return f"p={p!r} is no Minkowski distance."
        # The three cases below are those in which scikit-learn's search fails.
        # In all other cases, the search algorithm affects only the order of rows at equal
        # distances.
        algorithm, leaf_size = setting["algorithm"], setting["leaf_size"]
        if not isinstance(algorithm, str) or algorithm not in SEARCH_ALGORITHMS:
            return f"algorithm={algorithm!r} is no search that it knows."
        if algorithm.endswith("_tree") and metric not in VALID_METRICS[algorithm]:
            return f"algorithm={algorithm!r} does not search by metric {metric!r}."
        if isinstance(leaf_size, bool) or not isinstance(leaf_size, Integral) or leaf_size < 1:
            return f"leaf_size={leaf_size!r} is no size."
        return None

    @override
    def single_refusal(self, family: Family) -> str | None:
        if any(metric_settings.needs_float64 for metric_settings in _metric_settings(family)):
            return "scikit-learn computes distances in single precision here."
        return None

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        if data.n_classes > MAX_CLASSES:
            return f"y has {data.n_classes} classes, more than it tells apart ({MAX_CLASSES})."
        if data.form is not None and data.form[0].kind == "f":
            return "y is in single precision, and scikit-learn averages it in that."
        if plan.has_drawn_fits:
            return random_draws_refusal(
                self, group_candidates(family, self.along), data, plan, request
            )
        if "counted" in plan.needs and any(
            metric_settings.has_distance_weights for metric_settings in _metric_settings(family)
        ):
            return (
                "weights='distance' may rest on fewer rows than n_neighbors, and they are counted."
            )
        largest_k = int(max(map(itemgetter("n_neighbors"), family.settings)))
        # The lower bound on training sizes is known without computation, and usually suffices.
        if largest_k > plan.least_train_sizes.min():
            smallest_train_size = int(plan.train_sizes.min())
            if largest_k > smallest_train_size:
                return (
                    f"n_neighbors={largest_k} is more than the {smallest_train_size} rows of the "
                    "smallest fit."
                )
        if request.response == "score" and not _every_fit_has_all_classes(data, plan):
            return "a train set lacks a class, and then a score has another meaning."
        return None

    def costs(self, family: Family, data: Data, plan: Plan) -> tuple[float, float] | None:
        """Predict the run times of this engine and of separate fits by scikit-learn.

        The engine computes all distances once for all k, while scikit-learn searches a tree for
        each k. A tree search skips most rows if there are few columns; the more columns there are,
        the more rows it reads.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The training and test rows of all fits.

        Returns
        -------
        tuple of float or None
            The seconds that this engine takes, and the seconds that separate fits by scikit-learn
            take.
        """
        p, train_sizes = int(np.shape(data.X)[1]), plan.least_train_sizes.astype(np.float64)
        groups = group_candidates(family, self.along)
        for group in groups:
            largest_k = int(group.values("n_neighbors").max())
            if MetricSettings.from_group(group).computes_all_distances(
                p, int(train_sizes.max()), largest_k
            ):
                return None
        n_test_rows = np.bincount(plan.fit, plan.test_sizes, plan.n_fits)
        search_seconds = 1.6e-6 * 1.4 ** (p - 1) * (train_sizes / 1e4) ** max(0.0, 1 - 3 / p)
        sklearn_seconds = (
            len(family) * (2e-3 + 4e-7 * train_sizes + search_seconds * n_test_rows).sum()
        )
        distances_per_fit = float((train_sizes * n_test_rows).sum())
        distances_per_group = (
            min(distances_per_fit, data.n_rows**2)
            if candidate_group.preparation is None
            else distances_per_fit
            for candidate_group in groups
        )
        return 1e-3 + 1.3e-9 * sum(distances_per_group), float(sklearn_seconds)

    def fits(self, numbers: Any) -> bool:
        """Return True if sums of squared cells neither overflow nor vanish.

        This is judged from the largest cell. If another column has large cells, a column of small
        cells has no influence on distances, so that it does not matter whether its squares vanish.

        Parameters
        ----------
        numbers : array
            Numbers of a table or of targets.

        Returns
        -------
        bool
            True if the engine can compute with these numbers.

        Examples
        --------
        >>> from truerisk.engines import NearestNeighbours
        >>> NearestNeighbours().fits(np.array([[1e100, 1e-150]]))
        True
        >>> NearestNeighbours().fits(np.array([[1e-150]]))
        False
        """
        largest_cell = float(np.abs(numbers).max(initial=0.0))
        return largest_cell == 0.0 or SMALLEST_SAFE_CELL <= largest_cell <= LARGEST_SAFE_CELL

    @override
    def read(self, group: Group, table: Any) -> np.ndarray:
        needs_float64 = MetricSettings.from_group(group).needs_float64
        return as_doubles(plain_array(table) if needs_float64 else table, self.fits)

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        is_computed = np.ones(task.plan.n_fits, dtype=bool)
        if task.plan.has_drawn_fits:
            store_expected_losses(task)
        elif task.X is None:
            return ~is_computed
        elif task.places is None or (task.places != NOT_IN_GROUP).any():
            _store_predictions(task, predict_in_all_fits(task))
        return is_computed

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        checked_predictions = predict_in_one_fit(task, group, shown, np.vstack(tests))
        task.leave_open(shown.fit, group.candidates[checked_predictions.is_unresolved.any(axis=1)])
        split_points = np.cumsum([len(test_table) for test_table in tests])[:-1]
        predictions_by_test_set, gathered_counts = (
            np.split(checked_predictions.predictions, split_points, axis=1),
            CountCollector.from_holder(task.collected),
        )
        for test_set_number, test_set_predictions in zip(
            task.questions(shown.fit), predictions_by_test_set, strict=True
        ):
            if gathered_counts is not None:
                gathered_counts.store_counts(
                    int(test_set_number),
                    task.lines_of(group),
                    _count_neighbours(test_set_predictions, group),
                )
        return [
            _to_response(task, test_set_predictions)
            for test_set_predictions in predictions_by_test_set
        ]


def _metric_settings(family: Family) -> list[MetricSettings]:
    return [
        MetricSettings.from_group(group)
        for group in group_candidates(family, NearestNeighbours.along)
    ]


def _every_fit_has_all_classes(data: Data, plan: Plan) -> bool:
    assert data.codes is not None
    for fit in range(plan.n_fits):
        rows, _ = plan.train_rows(fit)
        if len(np.unique(data.codes[rows])) < data.n_classes:
            return False
    return True


def _to_response(task: Task, neighbour_predictions: np.ndarray) -> np.ndarray:
    """Convert predictions from neighbours to the kind of prediction that is requested.

    Given are labels, class shares or means of the neighbours' targets.
    """
    response = task.request.response
    if response == "label" and neighbour_predictions.ndim == 3:
        return neighbour_predictions.argmax(
            axis=2
        )  # In ties the lowest class wins, as in scikit-learn.
    if response == "score":
        return neighbour_predictions[:, :, -1]
    if response == "value":
        return neighbour_predictions.reshape(
            *neighbour_predictions.shape[:2], *task.data.y.shape[1:]
        )
    return neighbour_predictions


def _count_neighbours(class_shares: np.ndarray, group: Group) -> np.ndarray:
    """Return the number of neighbours of each class among the k, `(candidate, row, class)`."""
    return np.rint(class_shares * group.values("n_neighbors")[:, None, None])


def _store_predictions(task: Task, checked_predictions: CheckedPredictions) -> None:
    """Store the predictions of all fits, except those that depend on distance ties.

    scikit-learn computes the latter.
    """
    plan, candidate_of_fit, candidates = task.plan, task.places, task.group.candidates
    predictions = _to_response(task, checked_predictions.predictions)
    fit_of_position = np.repeat(plan.fit, plan.test_sizes)
    if candidate_of_fit is None:
        task.collected.values[candidates] = predictions
    elif (candidate_of_fit != NOT_IN_GROUP).all():
        task.collected.values[0] = predictions[0]
    else:
        has_candidate = candidate_of_fit[fit_of_position] != NOT_IN_GROUP
        task.collected.values[0, has_candidate] = predictions[0, has_candidate]
    if task.collected.extra is not None:
        _store_counts(task, checked_predictions.predictions, fit_of_position)
    for fit in np.unique(fit_of_position[checked_predictions.is_unresolved.any(axis=0)]).tolist():
        is_unresolved = checked_predictions.is_unresolved[:, fit_of_position == fit].any(axis=1)
        task.leave_open(
            fit,
            candidates[is_unresolved if candidate_of_fit is None else candidate_of_fit[fit, None]],
        )


def _store_counts(task: Task, class_shares: np.ndarray, fit_of_position: np.ndarray) -> None:
    """Store for each prediction how many of the k neighbours belong to each class.

    This is done for the test sets that request these counts.
    """
    plan, candidate_of_fit, group = task.plan, task.places, task.group
    gathered_counts = CountCollector.from_holder(task.collected)
    if gathered_counts is None:
        return
    counted_positions = select_lists(plan.test_offsets, gathered_counts.counted_test_sets)[1]
    if candidate_of_fit is None:
        gathered_counts.values[group.candidates] = _count_neighbours(
            class_shares[:, counted_positions], group
        )
        return
    candidate_indices = candidate_of_fit[fit_of_position[counted_positions]]
    has_candidate = candidate_indices != NOT_IN_GROUP
    k_values = group.values("n_neighbors")[candidate_indices[has_candidate], None]
    gathered_counts.values[0, has_candidate] = np.rint(
        class_shares[0, counted_positions[has_candidate]] * k_values
    )


# ---------------------------------------------------------------- randomly drawn training sets


def random_draws_refusal(
    engine: NearestNeighbours, groups: list[Group], data: Data, plan: Plan, request: Request
) -> str | None:
    """Return why the engine has no formula for the mean loss over random training sets, or None."""
    reason = expected_losses_refusal(plan, request)
    if reason is not None:
        return reason
    sample_distributions = Laws.from_holder(plan)
    assert sample_distributions is not None
    largest_k = max(int(k) for group in groups for k in group.values("n_neighbors"))
    smallest_train_size = int(sample_distributions.size.min())
    if data.n_classes != 2:
        return "the closed form of drawn train sets is for two classes."
    if request.loss is None or request.loss.response not in ("label", "probability"):
        return "the loss needs other answers than labels or probabilities."
    if any(MetricSettings.from_group(group).has_distance_weights for group in groups):
        return "weights='distance' have no closed form over drawn train sets."
    if any(group.preparation is not None for group in groups):
        return "a step before the neighbours learns from each drawn train set."
    if largest_k > smallest_train_size:
        return (
            f"n_neighbors={largest_k} is more than the {smallest_train_size} rows of a train set."
        )
    tables = [call_or_none(partial(engine.table, group, data)) for group in groups]
    if any(X is None for X in tables):
        return "a step before the neighbours fails."
    if not all(map(engine.fits, tables)):
        return "squares of the cells overflow or vanish."
    for fit in range(plan.n_fits):
        if not np.isin(_tested_rows(plan, fit), plan.train_rows(fit)[0]).all():
            return "rows are asked about that are not among those drawn from."
    return None


def store_expected_losses(task: Task) -> None:
    """Store the expected loss of each row over random training sets.

    Add a note if distance ties affect the losses.
    """
    for fit in range(task.plan.n_fits):
        group = task.of_fit(fit)
        if group is not None:
            expected_losses, n_tied_rows = _expected_losses_of_fit(task, group, fit)
            test_set_numbers = task.questions(fit)
            split_points = np.cumsum(task.plan.test_sizes[test_set_numbers])[:-1]
            for test_set_number, test_set_losses in zip(
                test_set_numbers, np.split(expected_losses, split_points, axis=1), strict=True
            ):
                task.place(int(test_set_number), group, test_set_losses)
            if n_tied_rows:
                task.measure(TIE_NOTE, n_tied_rows)


def _expected_losses_of_fit(task: Task, group: Group, fit: int) -> tuple[np.ndarray, int]:
    """Return expected losses `(k, row)` of a fit, and the number of rows that ties affect.

    Ties are equal distances.
    """
    plan, loss = task.plan, task.request.loss
    draw_distribution, source_rows, test_rows = (
        distribution_of_fit(plan, fit),
        plan.train_rows(fit)[0],
        _tested_rows(plan, fit),
    )
    assert draw_distribution is not None
    assert isinstance(loss, RowLoss)
    k_values = group.values("n_neighbors").astype(np.int64)
    losses_by_votes = [_loss_by_votes(int(k), task.data, test_rows, loss) for k in k_values]
    labels_by_rank, n_tied_rows = _rank_labels(
        task,
        source_rows,
        test_rows,
        count_ranks_needed(draw_distribution, len(source_rows) - 1, k_values),
    )
    return expected_costs(
        labels_by_rank, len(source_rows) - 1, draw_distribution, k_values, losses_by_votes
    ), n_tied_rows


def _tested_rows(plan: Plan, fit: int) -> np.ndarray:
    """Return the concatenated row numbers of all test sets of a fit."""
    test_set_order, test_set_starts = plan.questions_of
    return np.concatenate(
        [
            plan.test_rows(int(test_set_number))[0]
            for test_set_number in test_set_order[test_set_starts[fit] : test_set_starts[fit + 1]]
        ]
    )


def _loss_by_votes(k: int, data: Data, rows: np.ndarray, loss: RowLoss) -> np.ndarray:
    """Return each row's loss for every number of neighbours with label 1, from 0 to k.

    The shape of the result is `(k + 1, n_rows)`.
    """
    n_ones = np.arange(k + 1)
    if loss.response == "label":
        labels = np.broadcast_to((2 * n_ones > k)[:, None], (k + 1, len(rows))).astype(np.int8)
        return loss.of_rows(data, rows, labels)
    probabilities = np.stack([(k - n_ones) / k, n_ones / k], axis=1)
    return loss.of_rows(data, rows, np.repeat(probabilities[:, None], len(rows), axis=1))


def _rank_labels(
    task: Task, source_rows: np.ndarray, test_rows: np.ndarray, n_ranks: int
) -> tuple[np.ndarray, int]:
    """Return the labels of other rows by distance rank, and the number of rows that ties affect."""
    assert task.data.codes is not None
    X, codes, metric_settings = task.X, task.data.codes, MetricSettings.from_group(task.group)
    n_searched = min(n_ranks + N_EXTRA_RANKS, len(source_rows) - 1)
    labels_by_rank = np.empty((len(test_rows), n_ranks), dtype=np.int8)
    block_size, n_tied_rows = max(16, MAX_LIST_ENTRIES // (n_searched + 1)), 0
    for first_row in range(0, len(test_rows), block_size):
        block_rows = test_rows[first_row : first_row + block_size]
        nearest_rows = find_nearest(metric_settings, X[block_rows], X[source_rows], n_searched + 1)
        neighbour_rows = source_rows[nearest_rows.index]
        is_other_row = neighbour_rows != block_rows[:, None]
        # If copies of a row fill its list, the row itself is not in it, and the last copy is
        # dropped.
        is_other_row[is_other_row.all(axis=1), -1] = False
        labels = codes[neighbour_rows[is_other_row]].reshape(len(block_rows), n_searched)
        squared_distances = nearest_rows.squared_distances[is_other_row].reshape(
            len(block_rows), n_searched
        )
        is_equal_distance = np.diff(squared_distances, axis=1) <= nearest_rows.tie_bounds[:, None]
        is_tied = is_equal_distance & (np.diff(labels, axis=1) != 0)
        is_tied[:, n_ranks:] &= np.logical_and.accumulate(
            is_equal_distance[:, n_ranks - 1 :], axis=1
        )[:, 1:]
        n_tied_rows += int(is_tied.any(axis=1).sum())
        labels_by_rank[first_row : first_row + block_size] = labels[:, :n_ranks]
    return labels_by_rank, n_tied_rows
