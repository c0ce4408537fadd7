"""The kNN engine: one sorted list per row answers every k, every fold and every flipped label.

The list holds a row's nearest rows by exact distance. To answer a fit, the engine walks along the
list, skips the rows that are not in the training set, and answers all k in one pass. Leave-one-out,
K-fold, bootstrap counts, nested plans and flipped labels therefore share one search. Steps before
the learner that learn from the rows (such as a scaler) are fitted once per training set, and one
search serves all k of that fit.

If rows at equal distances around rank k have different labels, the answer depends on the search
algorithm. scikit-learn itself is then fitted, so that the engine equals it there as well.

For plans of randomly drawn training sets the rows are ranked, and closed forms (`laws.py`) weight
the ranks.
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
from truerisk.engines.neighbours.distances import Measure, nearest
from truerisk.engines.neighbours.laws import expected_costs, ranks_needed
from truerisk.engines.neighbours.walk import (
    MOST_CLASSES,
    NearestAnswers,
    answers_in_pass,
    answers_together,
)
from truerisk.engines.prepared import (
    as_doubles,
    plain_array,
    unless_it_fails,
)
from truerisk.engines.running.listed_draws import law_refusal
from truerisk.engines.settings import ELSEWHERE, Group, groups_along
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.losses.loss import RowLoss
from truerisk.plan.blocks import spread
from truerisk.plan.extras.counted import GatheredCounts
from truerisk.plan.extras.laws import Laws, law_of
from truerisk.plan.plan import Plan

WEIGHTS = ("uniform", "distance")
OTHERS = {"manhattan", "cityblock", "l1", "chebyshev", "cosine", "minkowski", "canberra"}
SEARCHES = ("auto", "brute", "kd_tree", "ball_tree")
FAR, NEAR = 1e140, 1e-140  # a distance squares a number once, and adds up the columns
BLOCK = 1 << 22  # number of list entries that are held at once
# number of ranks beyond the last one that matters that are searched for equal distances
BEYOND = 16
TIED = (
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
        if not isinstance(setting["weights"], str) or setting["weights"] not in WEIGHTS:
            return f"weights={setting['weights']!r} is no weighting that it knows."
        if setting["metric_params"] is not None:
            return "metric_params are given."
        if not isinstance(metric, str):
            return "the metric is a function."
        if metric == "braycurtis":
            return (
                "braycurtis is no metric, so scikit-learn's trees pass over rows that are nearer."
            )
        if metric not in OTHERS | {"euclidean", "l2"}:
            return f"metric '{metric}' is not one that it knows."
        if isinstance(p, bool) or not isinstance(p, Real) or not float(p) >= 1:
            return f"p={p!r} is no Minkowski distance."
        # scikit-learn's search fails in three cases; otherwise the algorithm affects ties only.
        algorithm, leaf_size = setting["algorithm"], setting["leaf_size"]
        if not isinstance(algorithm, str) or algorithm not in SEARCHES:
            return f"algorithm={algorithm!r} is no search that it knows."
        if algorithm.endswith("_tree") and metric not in VALID_METRICS[algorithm]:
            return f"algorithm={algorithm!r} does not search by metric {metric!r}."
        if isinstance(leaf_size, bool) or not isinstance(leaf_size, Integral) or leaf_size < 1:
            return f"leaf_size={leaf_size!r} is no size."
        return None

    @override
    def single_refusal(self, family: Family) -> str | None:
        if any(measure.needs_doubles for measure in _measures(family)):
            return "scikit-learn computes distances in single precision here."
        return None

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        if data.n_classes > MOST_CLASSES:
            return f"y has {data.n_classes} classes, more than it tells apart ({MOST_CLASSES})."
        if data.form is not None and data.form[0].kind == "f":
            return "y is in single precision, and scikit-learn averages it in that."
        if plan.has_drawn_fits:
            return drawn_refusal(self, groups_along(family, self.along), data, plan, request)
        if "counted" in plan.needs and any(measure.by_distance for measure in _measures(family)):
            return (
                "weights='distance' may rest on fewer rows than n_neighbors, and they are counted."
            )
        largest = int(max(map(itemgetter("n_neighbors"), family.settings)))
        if largest > plan.least_train_sizes.min():  # a lower bound that needs no computation
            smallest = int(plan.train_sizes.min())
            if largest > smallest:
                return (
                    f"n_neighbors={largest} is more than the {smallest} rows of the smallest fit."
                )
        if request.response == "score" and not _all_classes_everywhere(data, plan):
            return "a train set lacks a class, and then a score has another meaning."
        return None

    def costs(self, family: Family, data: Data, plan: Plan) -> tuple[float, float] | None:
        """Compare all distances, computed once for every k, with one tree search for each k.

        A tree skips most rows if there are few columns; with more columns it reads more and more of
        them.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The fits and the questions that they answer.

        Returns
        -------
        tuple of float or None
            The seconds of this engine and of scikit-learn's own fits.
        """
        p, n = int(np.shape(data.X)[1]), plan.least_train_sizes.astype(np.float64)
        groups = groups_along(family, self.along)
        for group in groups:
            most = int(group.values("n_neighbors").max())
            if Measure.from_group(group).searches_all(p, int(n.max()), most):
                return None
        n_tested = np.bincount(plan.fit, plan.test_sizes, plan.n_fits)
        search = 1.6e-6 * 1.4 ** (p - 1) * (n / 1e4) ** max(0.0, 1 - 3 / p)
        theirs = len(family) * (2e-3 + 4e-7 * n + search * n_tested).sum()
        each = float((n * n_tested).sum())
        cells = (min(each, data.n_rows**2) if g.preparation is None else each for g in groups)
        return 1e-3 + 1.3e-9 * sum(cells), float(theirs)

    def fits(self, numbers: Any) -> bool:
        """Return True if squares of the largest cell neither overflow nor vanish, even when summed.

        A column of small cells has no influence on distances if another column is large, so that it
        does not matter.

        Parameters
        ----------
        numbers : array
            The numbers.

        Returns
        -------
        bool
            True if the engine can compute with them.

        Examples
        --------
        >>> from truerisk.engines import NearestNeighbours
        >>> NearestNeighbours().fits(np.array([[1e100, 1e-150]]))
        True
        >>> NearestNeighbours().fits(np.array([[1e-150]]))
        False
        """
        largest = float(np.abs(numbers).max(initial=0.0))
        return largest == 0.0 or NEAR <= largest <= FAR

    @override
    def read(self, group: Group, table: Any) -> np.ndarray:
        needs_doubles = Measure.from_group(group).needs_doubles
        return as_doubles(plain_array(table) if needs_doubles else table, self.fits)

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        done = np.ones(task.plan.n_fits, dtype=bool)
        if task.plan.has_drawn_fits:
            answer_drawn(task)
        elif task.X is None:
            return ~done
        elif task.places is None or (task.places != ELSEWHERE).any():
            _place(task, answers_together(task))
        return done

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        answered = answers_in_pass(task, group, shown, np.vstack(tests))
        task.leave_open(shown.fit, group.candidates[answered.open.any(axis=1)])
        cuts = np.cumsum([len(test) for test in tests])[:-1]
        parts, counts = (
            np.split(answered.answers, cuts, axis=1),
            GatheredCounts.from_holder(task.collected),
        )
        for question, part in zip(task.questions(shown.fit), parts, strict=True):
            if counts is not None:
                counts.count(int(question), task.lines_of(group), _counted(part, group))
        return [_responded(task, part) for part in parts]


def _measures(family: Family) -> list[Measure]:
    return [Measure.from_group(group) for group in groups_along(family, NearestNeighbours.along)]


def _all_classes_everywhere(data: Data, plan: Plan) -> bool:
    assert data.codes is not None
    for fit in range(plan.n_fits):
        rows, _ = plan.train_rows(fit)
        if len(np.unique(data.codes[rows])) < data.n_classes:
            return False
    return True


def _responded(task: Task, answers: np.ndarray) -> np.ndarray:
    """Return the found answers in the form of the response."""
    response = task.request.response
    if response == "label" and answers.ndim == 3:
        return answers.argmax(axis=2)  # ties go to the lowest class, as in scikit-learn
    if response == "score":
        return answers[:, :, -1]
    if response == "value":
        return answers.reshape(*answers.shape[:2], *task.data.y.shape[1:])
    return answers


def _counted(shares: np.ndarray, group: Group) -> np.ndarray:
    """Return the number of neighbours of each class behind an answer, `(candidate, row, class)`."""
    return np.rint(shares * group.values("n_neighbors")[:, None, None])


def _place(task: Task, found: NearestAnswers) -> None:
    """Store the answers to all fits, and leave those open that depend on equal distances."""
    plan, places, candidates = task.plan, task.places, task.group.candidates
    answers = _responded(task, found.answers)
    fit_of = np.repeat(plan.fit, plan.test_sizes)
    if places is None:
        task.collected.values[candidates] = answers
    elif (places != ELSEWHERE).all():
        task.collected.values[0] = answers[0]
    else:
        mine = places[fit_of] != ELSEWHERE
        task.collected.values[0, mine] = answers[0, mine]
    if task.collected.extra is not None:
        _place_counts(task, found.answers, fit_of)
    for fit in np.unique(fit_of[found.open.any(axis=0)]).tolist():
        open_ = found.open[:, fit_of == fit].any(axis=1)
        task.leave_open(fit, candidates[open_ if places is None else places[fit, None]])


def _place_counts(task: Task, shares: np.ndarray, fit_of: np.ndarray) -> None:
    """Store the counts of the neighbours behind the answers to counted questions."""
    plan, places, group = task.plan, task.places, task.group
    counts = GatheredCounts.from_holder(task.collected)
    if counts is None:
        return
    at = spread(plan.test_offsets, counts.counted_questions)[1]
    if places is None:
        counts.values[group.candidates] = _counted(shares[:, at], group)
        return
    place = places[fit_of[at]]
    mine = place != ELSEWHERE
    ks = group.values("n_neighbors")[place[mine], None]
    counts.values[0, mine] = np.rint(shares[0, at[mine]] * ks)


# ---------------------------------------------------------------- drawn train sets


def drawn_refusal(
    engine: NearestNeighbours, groups: list[Group], data: Data, plan: Plan, request: Request
) -> str | None:
    """Return why the mean over drawn training sets has no closed form here, or None if it has."""
    reason = law_refusal(plan, request)
    if reason is not None:
        return reason
    laws = Laws.from_holder(plan)
    assert laws is not None
    largest = max(int(k) for group in groups for k in group.values("n_neighbors"))
    smallest = int(laws.size.min())
    if data.n_classes != 2:
        return "the closed form of drawn train sets is for two classes."
    if request.loss is None or request.loss.response not in ("label", "probability"):
        return "the loss needs other answers than labels or probabilities."
    if any(Measure.from_group(group).by_distance for group in groups):
        return "weights='distance' have no closed form over drawn train sets."
    if any(group.preparation is not None for group in groups):
        return "a step before the neighbours learns from each drawn train set."
    if largest > smallest:
        return f"n_neighbors={largest} is more than the {smallest} rows of a train set."
    tables = [unless_it_fails(partial(engine.table, group, data)) for group in groups]
    if any(X is None for X in tables):
        return "a step before the neighbours fails."
    if not all(map(engine.fits, tables)):
        return "squares of the cells overflow or vanish."
    for fit in range(plan.n_fits):
        if not np.isin(_tested_rows(plan, fit), plan.train_rows(fit)[0]).all():
            return "rows are asked about that are not among those drawn from."
    return None


def answer_drawn(task: Task) -> None:
    """Store the expected losses, and add a note if equal distances affect them."""
    for fit in range(task.plan.n_fits):
        group = task.of_fit(fit)
        if group is not None:
            losses, tied = _of_fit(task, group, fit)
            questions = task.questions(fit)
            cuts = np.cumsum(task.plan.test_sizes[questions])[:-1]
            for question, part in zip(questions, np.split(losses, cuts, axis=1), strict=True):
                task.place(int(question), group, part)
            if tied:
                task.measure(TIED, tied)


def _of_fit(task: Task, group: Group, fit: int) -> tuple[np.ndarray, int]:
    """Return expected losses `(k, row)`, and the number of rows that depend on equal distances."""
    plan, loss = task.plan, task.request.loss
    law, seen, rows = law_of(plan, fit), plan.train_rows(fit)[0], _tested_rows(plan, fit)
    assert law is not None
    assert isinstance(loss, RowLoss)
    ks = group.values("n_neighbors").astype(np.int64)
    costs = [_costs(int(k), task.data, rows, loss) for k in ks]
    ones, tied = _ranked(task, seen, rows, ranks_needed(law, len(seen) - 1, ks))
    return expected_costs(ones, len(seen) - 1, law, ks, costs), tied


def _tested_rows(plan: Plan, fit: int) -> np.ndarray:
    """Return the rows of a fit's test sets, one set after the other."""
    order, starts = plan.questions_of
    return np.concatenate(
        [plan.test_rows(int(question))[0] for question in order[starts[fit] : starts[fit + 1]]]
    )


def _costs(k: int, data: Data, rows: np.ndarray, loss: RowLoss) -> np.ndarray:
    """Return the loss of each row if 0 … k of its k neighbours have label 1, `(k + 1, n_rows)`."""
    ones = np.arange(k + 1)
    if loss.response == "label":
        labels = np.broadcast_to((2 * ones > k)[:, None], (k + 1, len(rows))).astype(np.int8)
        return loss.of_rows(data, rows, labels)
    shares = np.stack([(k - ones) / k, ones / k], axis=1)
    return loss.of_rows(data, rows, np.repeat(shares[:, None], len(rows), axis=1))


def _ranked(task: Task, seen: np.ndarray, rows: np.ndarray, length: int) -> tuple[np.ndarray, int]:
    """Return the nearest other rows' labels by rank, and the number of rows that depend on ties."""
    assert task.data.codes is not None
    X, codes, measure = task.X, task.data.codes, Measure.from_group(task.group)
    beyond = min(length + BEYOND, len(seen) - 1)
    ones = np.empty((len(rows), length), dtype=np.int8)
    step, tied = max(16, BLOCK // (beyond + 1)), 0
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        near = nearest(measure, X[block], X[seen], beyond + 1)
        index = seen[near.index]
        others = index != block[:, None]
        # If copies of the row fill the list, the last one is dropped in place of the row itself.
        others[others.all(axis=1), -1] = False
        labels = codes[index[others]].reshape(len(block), beyond)
        squared = near.squared[others].reshape(len(block), beyond)
        equal = np.diff(squared, axis=1) <= near.ties[:, None]
        apart = equal & (np.diff(labels, axis=1) != 0)
        apart[:, length:] &= np.logical_and.accumulate(equal[:, length - 1 :], axis=1)[:, 1:]
        tied += int(apart.any(axis=1).sum())
        ones[start : start + step] = labels[:, :length]
    return ones, tied
