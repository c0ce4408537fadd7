"""All trees of a plan by the compiled builder, many fits in one call, without models of them.

It serves plain `DecisionTreeClassifier`s, and `DecisionTreeRegressor`s of whole numbers (sums of
others depend on the order of the rows), on a table of finite numbers, in this process. The answers
are those of scikit-learn's fits to the bit; whatever it does not serve is fitted by scikit-learn.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from truerisk.core.answers import Answers, with_besides
from truerisk.core.contracts import Request, RunOptions
from truerisk.core.family import Family, drawn_states
from truerisk.core.plan.plan import BESIDES, Plan, spread
from truerisk.core.progress import tell
from truerisk.core.table.data import Data
from truerisk.engines.running.fitting import empty_values
from truerisk.engines.settings import Group
from truerisk.engines.trees.agreement import closeness
from truerisk.engines.trees.pruning import nodes_at
from truerisk.engines.trees.recipes import Recipe, recipe_of, start_of
from truerisk.kernels.trees import Growth, RowLists, TreeTable, exact_sums, grow_trees

__all__ = ["Growing", "growing_of"]

SECONDS = 0.1  # about so long a call lasts: progress is told and an interruption seen between them


def growing_of(
    groups: list[Group], family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
) -> Growing | None:
    """The builder at work on this plan, or None where the fits are scikit-learn's."""
    prepared = None if run.keeper is not None else _prepared(groups, family, data, plan)
    if prepared is None:
        return None
    X, grown = prepared
    return Growing(grown, TreeTable.of(X), len(family), data, plan, request, run)


def _prepared(
    groups: list[Group], family: Family, data: Data, plan: Plan
) -> tuple[np.ndarray, list[tuple[Group, Recipe]]] | None:
    """The table and each group with its recipe, or None where scikit-learn must fit."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if not _stands_alone(family):
        return None
    learner, numbers = type(family.last), data.codes is None
    if learner is not (DecisionTreeRegressor if numbers else DecisionTreeClassifier):
        return None
    if not _is_plain(data, plan):
        return None
    X = _numbers(data.X)
    if X is None:
        return None
    recipes = [recipe_of(group.settings[0], X.shape[1], numbers=numbers) for group in groups]
    if not all(
        recipe is not None and closeness(recipe.criterion) is not None for recipe in recipes
    ):
        return None
    return X, [(g, r) for g, r in zip(groups, recipes, strict=True) if r is not None]


class Growing:
    """Groups of candidates, each with the recipe of its trees, on one plan."""

    def __init__(
        self,
        groups: list[tuple[Group, Recipe]],
        table: TreeTable,
        n_candidates: int,
        data: Data,
        plan: Plan,
        request: Request,
        run: RunOptions,
    ) -> None:
        self.groups, self.table, self.data = groups, table, data
        self.plan, self.request, self.run = plan, request, run
        n_lines = n_candidates if run.only is None else 1
        self.values = [empty_values(data, plan, one, n_lines) for one in request.each]
        self.fit_seconds = np.zeros((n_lines, plan.n_fits))
        self.answer_seconds = np.zeros((n_lines, plan.n_fits))

    def answers(self, engine: str) -> Answers:
        """Grow all trees, a few at first and then as many at once as take a moment."""
        total, done, size = self.fit_seconds.size, 0, 1
        tell(0, total)
        for group, recipe in self.groups:
            fits = self._fits_of(group)
            while len(fits):
                some, fits = fits[:size], fits[size:]
                started = time.perf_counter()
                done += self._answer(group, recipe, some)
                tell(done, total)
                took = max(time.perf_counter() - started, 1e-6)
                size = max(1, min(2 * size, int(len(some) * SECONDS / took)))
        found = Answers(
            plan=self.plan,
            response=self.request.response,
            values=self.values[0],
            answered=np.ones((len(self.fit_seconds), self.plan.n_questions), dtype=bool),
            engine=engine,
            fit_seconds=self.fit_seconds,
            answer_seconds=self.answer_seconds,
            n_fits=total,
        )
        return with_besides(found, self.request.responses, self.values)

    def _fits_of(self, group: Group) -> np.ndarray:
        """All fits, or those that ask for a candidate of the group."""
        only = self.run.only
        if only is None:
            return np.arange(self.plan.n_fits)
        return np.flatnonzero(np.isin(only, group.candidates))

    def _answer(self, group: Group, recipe: Recipe, fits: np.ndarray) -> int:
        """Make some fits and put their answers in place; how many candidates' fits that were."""
        started = time.perf_counter()
        asked, ends, places = self._asked(fits)
        grown = self._grow(recipe, fits, RowLists(asked, ends))
        fitted = time.perf_counter()
        nodes = self._nodes(group, grown, fits, ends)
        lines = group.candidates if self.run.only is None else np.zeros(1, dtype=np.int64)
        for one, values in zip(self.request.each, self.values, strict=True):
            values[lines[:, None], places] = _of_nodes(grown, one)[nodes]
        where, share = np.ix_(lines, fits), len(lines) * len(fits)
        self.fit_seconds[where] = (fitted - started) / share
        self.answer_seconds[where] = (time.perf_counter() - fitted) / share
        return share

    def _asked(self, fits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows asked about, where those of each fit end, and the places of their answers."""
        order, starts = self.plan.questions_of
        of_fit, questions = spread(starts, fits)
        of_question, places = spread(self.plan.test_offsets, order[questions])
        return self.plan.positions[0][places].astype(np.int32), of_question[of_fit], places

    def _grow(self, recipe: Recipe, fits: np.ndarray, asked: RowLists) -> Growth:
        sets = [self.plan.train_rows(int(fit)) for fit in fits]
        times = [np.ones(len(r), np.int32) if counts is None else counts for r, counts in sets]
        sizes = [int(one.sum()) for one in times]
        limits = {n: recipe.limits(n) for n in set(sizes)}
        close = closeness(recipe.criterion)
        assert close is not None
        return grow_trees(
            self.table,
            self.data.y if self.data.codes is None else self.data.codes,
            max(1, self.data.n_classes),
            RowLists.of([rows for rows, _ in sets]),
            np.concatenate(times),
            asked,
            np.array([self._start(recipe, int(fit)) for fit in fits], dtype=np.uint32),
            [limits[n] for n in sizes],
            n_tried=recipe.n_tried,
            criterion=recipe.criterion,
            close=close,
        )

    def _start(self, recipe: Recipe, fit: int) -> int:
        """A `random_state` that was left at None comes from the place in the plan, as elsewhere."""
        given = recipe.seed
        return start_of(drawn_states((self.run.seed, fit), 1)[0] if given is None else given)

    def _nodes(self, group: Group, grown: Growth, fits: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """`(candidate, asked row)`: the node that answers, among those of all trees."""
        alphas = group.values("ccp_alpha").astype(np.float64)
        n_lines = len(alphas) if self.run.only is None else 1
        if not alphas.any():  # nothing is pruned
            leaves = grown.leaves + np.repeat(grown.offsets[:-1], np.diff(ends))
            return np.tile(leaves, (n_lines, 1))
        nodes = np.empty((n_lines, len(grown.leaves)), dtype=np.int64)
        for number, fit in enumerate(fits):
            mine = slice(*ends[number : number + 2])
            own = (
                alphas if self.run.only is None else alphas[group.candidates == self.run.only[fit]]
            )
            leaves = nodes_at(grown.tree(number), own, grown.leaves[mine])
            nodes[:, mine] = leaves + grown.offsets[number]
        return nodes


def _of_nodes(grown: Growth, request: Request) -> np.ndarray:
    """What each node would answer, were it a leaf."""
    counts = grown.nodes.counts
    shares: np.ndarray = counts / grown.nodes.weighted_n_node_samples[:, None]
    if request.response == "label":
        return shares.argmax(axis=1)
    if request.response == "value":
        return shares[:, 0]
    return shares if request.response == "probability" else shares[:, 1]


def _stands_alone(family: Family) -> bool:
    """Whether nothing is done before the learner: it is bare, or the one step of a pipeline."""
    from sklearn.pipeline import Pipeline

    estimator = family.estimator
    if type(estimator) is not Pipeline:
        return True
    quiet = not estimator.verbose and getattr(estimator, "transform_input", None) is None
    own = all(name.startswith(family.prefix) for name in family.named)
    return len(estimator.steps) == 1 and quiet and own


def _is_plain(data: Data, plan: Plan) -> bool:
    """Whether the fits see rows and targets and nothing else, and none of them is complained of."""
    if data.fit_params or plan.flips is not None:
        return False
    if any(getattr(plan, name) is not None for name in BESIDES):
        return False
    fewest = int(plan.least_train_sizes.min(initial=0 if not plan.n_fits else 2**31))
    if fewest < 1:
        return False
    if data.codes is None:
        return exact_sums(data.y, int(plan.train_sizes.max()))
    # scikit-learn warns of more than two classes that are as many as half of the rows
    return not (data.n_classes > 2 and 2 * data.n_classes >= fewest) and _unquestioned(data.y)


def _unquestioned(y: np.ndarray) -> bool:
    from sklearn.utils.multiclass import check_classification_targets

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_classification_targets(y)
    except Exception:  # noqa: BLE001  the fits say so themselves
        return False
    return True


def _numbers(X: Any) -> np.ndarray | None:
    """X in single precision, None for what scikit-learn treats otherwise or refuses."""
    if type(X) is not np.ndarray:
        X = _of_frame(X)
    if X is None or X.ndim != 2 or not X.size or X.dtype.kind not in "biuf" or X.itemsize > 8:
        return None
    with np.errstate(over="ignore"):
        single = X.astype(np.float32, order="F", copy=False)
    return single if np.isfinite(single).all() else None


def _of_frame(X: Any) -> np.ndarray | None:
    """The cells of a frame of numbers with proper names."""
    dtypes = getattr(X, "dtypes", None)
    if not hasattr(X, "iloc") or not hasattr(X, "columns") or dtypes is None:
        return None
    numbers = all(isinstance(t, np.dtype) and t.kind in "iuf" for t in dtypes)
    if not numbers or len({isinstance(name, str) for name in X.columns}) != 1:
        return None
    return np.asarray(X)
