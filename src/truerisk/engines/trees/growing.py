"""All trees of a plan by the compiled builder, many fits in one call, without model objects.

It serves plain `DecisionTreeClassifier`s, and `DecisionTreeRegressor`s of integer targets (sums of
other targets depend on the order of the rows), on a table of finite numbers in this process. They
may follow other steps in a pipeline: these are fitted once per training set, for all settings of
the tree. The predictions equal those of scikit-learn's fits to the bit. All other fits are made by
scikit-learn.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.contracts import Request, RunOptions
from truerisk.core.family import Family, drawn_states
from truerisk.core.progress import tell
from truerisk.data.data import Data
from truerisk.engines.prepared import (
    Begin,
    OwnArithmetic,
    as_dense,
    is_bearable,
    unless_it_fails,
)
from truerisk.engines.running.doors import known_steps
from truerisk.engines.running.fit_warnings import Tally, Warned, collect_warnings
from truerisk.engines.settings import Group, family_refusal, fit_steps, steps_key, why_not_apart
from truerisk.engines.trees.compiled import Growth, RowLists, TreeTable, exact_sums, grow_trees
from truerisk.engines.trees.pruning import nodes_at
from truerisk.engines.trees.recipes import Recipe, closeness, recipe_of, start_of
from truerisk.plan.answers import Answers, empty_values, with_extras
from truerisk.plan.blocks import spread
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.engines.running.shared_steps import Tries

# Approximate duration of a call. Progress and interruptions are handled between calls.
SECONDS = 0.1


def growing_of(
    groups: list[Group], family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
) -> Growing | None:
    """Return the builder for this plan, or None if scikit-learn has to make the fits."""
    if run.fit_store is not None or not _is_served(groups, family, data, plan):
        return None
    table = None
    if stands_alone(family):
        X = in_single_precision(data.X)
        if X is None:
            return None
        table = TreeTable.from_rows(X)
    elif not may_step(family):
        return None
    return Growing(groups, table, family, data, plan, request, run)


def _is_served(groups: list[Group], family: Family, data: Data, plan: Plan) -> bool:
    """Return True if the builder grows such trees for such targets."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    learner, numbers = type(family.last), data.codes is None
    if learner is not (DecisionTreeRegressor if numbers else DecisionTreeClassifier):
        return False
    recipes = [recipe_of(group.settings[0], 1, numbers=numbers) for group in groups]
    known = all(r is not None and closeness(r.criterion) is not None for r in recipes)
    return known and _is_plain(data, plan)


class Growing:
    """Groups of candidates on one plan; without a `table` each fit has its own, after the steps."""

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
        n_lines = len(family) if run.only is None else 1
        self.values = [
            empty_values(data, plan, one.response, n_lines) for one in request.all_requests
        ]
        self.fit_seconds = np.zeros((n_lines, plan.n_fits))
        self.answer_seconds = np.zeros((n_lines, plan.n_fits))
        self.done = 0
        self.warned: list[Warned] = []

    def answers(self, engine: str) -> Answers | None:
        """Grow all trees; return None if the output of a step requires scikit-learn."""
        total = self.fit_seconds.size
        tell(0, total)
        if self.table is not None:
            for group in self.groups:
                # A few fits of a group come first. Then as many fits are made at once as take a
                # moment.
                size, fits = 1, self._fits_of(group)
                while len(fits):
                    some, fits = fits[:size], fits[size:]
                    started = time.perf_counter()
                    self._answer(self.table, group, some)
                    took = max(time.perf_counter() - started, 1e-6)
                    size = max(1, min(2 * size, int(len(some) * SECONDS / took)))
        elif unless_it_fails(self._grow_after_steps) is None:
            return None
        if self.warned:
            Tally(self.warned).say(total)
        answers = Answers(
            plan=self.plan,
            response=self.request.response,
            values=self.values[0],
            answered=np.ones((len(self.fit_seconds), self.plan.n_questions), dtype=bool),
            engine=engine,
            fit_seconds=self.fit_seconds,
            answer_seconds=self.answer_seconds,
            n_fits=total,
        )
        return with_extras(answers, self.request.responses, self.values)

    def _grow_after_steps(self) -> bool:
        """Grow trees fit by fit; steps are fitted once for all groups that share them."""
        for groups in self._beginning_alike():
            mine = [set(self._fits_of(group).tolist()) for group in groups]
            fits = sorted(set().union(*mine))
            of = groups[0], self.family, self.data, self.plan, fits, self.run.steps
            for fit, table, warned in tables_after_steps(*of):
                for group, own in zip(groups, mine, strict=True):
                    if fit in own:
                        n = self._answer(table, group, np.array([fit]))
                        self.warned.extend(warned * n)
        return True

    def _beginning_alike(self) -> list[list[Group]]:
        alike: dict[str, list[Group]] = {}
        for group in self.groups:
            alike.setdefault(steps_key(self.family, int(group.candidates[0])), []).append(group)
        return list(alike.values())

    def _fits_of(self, group: Group) -> np.ndarray:
        """Return all fits, or those that need a candidate of the group."""
        only = self.run.only
        if only is None:
            return np.arange(self.plan.n_fits)
        return np.flatnonzero(np.isin(only, group.candidates))

    def _answer(self, table: TreeTable, group: Group, fits: np.ndarray) -> int:
        """Make some fits and store their predictions; return the number of fits of candidates."""
        started = time.perf_counter()
        requested, ends, places = self._tested_rows(fits)
        grown = self._grow(table, group, fits, RowLists(requested, ends))
        fitted = time.perf_counter()
        nodes = self._nodes(group, grown, fits, ends)
        lines = group.candidates if self.run.only is None else np.zeros(1, dtype=np.int64)
        for one, values in zip(self.request.all_requests, self.values, strict=True):
            values[lines[:, None], places] = _of_nodes(grown, one)[nodes]
        where, share = np.ix_(lines, fits), len(lines) * len(fits)
        self.fit_seconds[where] = (fitted - started) / share
        self.answer_seconds[where] = (time.perf_counter() - fitted) / share
        self.done += share
        tell(self.done, self.fit_seconds.size)
        return share

    def _tested_rows(self, fits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the tested rows, the end of each fit's rows, and the positions of predictions."""
        order, starts = self.plan.questions_of
        of_fit, questions = spread(starts, fits)
        of_question, places = spread(self.plan.test_offsets, order[questions])
        return self.plan.positions[0][places].astype(np.int32), of_question[of_fit], places

    def _grow(
        self, table: TreeTable, group: Group, fits: np.ndarray, requested: RowLists
    ) -> Growth:
        numbers = self.data.codes is None
        recipe = recipe_of(group.settings[0], len(table.columns), numbers=numbers)
        assert recipe is not None
        sets = [self.plan.train_rows(int(fit)) for fit in fits]
        times = [np.ones(len(r), np.int32) if counts is None else counts for r, counts in sets]
        sizes = [int(one.sum()) for one in times]
        limits = {n: recipe.limits(n) for n in set(sizes)}
        close = closeness(recipe.criterion)
        assert close is not None
        return grow_trees(
            table,
            self.data.y if self.data.codes is None else self.data.codes,
            max(1, self.data.n_classes),
            RowLists.from_lists([rows for rows, _ in sets]),
            np.concatenate(times),
            requested,
            np.array([self._start(recipe, int(fit)) for fit in fits], dtype=np.uint32),
            [limits[n] for n in sizes],
            n_tried=recipe.n_tried,
            criterion=recipe.criterion,
            close=close,
        )

    def _start(self, recipe: Recipe, fit: int) -> int:
        """Return the generator's start; a `random_state` of None is drawn by the fit's number."""
        given = recipe.seed
        return start_of(drawn_states((self.run.seed, fit), 1)[0] if given is None else given)

    def _nodes(self, group: Group, grown: Growth, fits: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return `(candidate, tested row)`: the node, among those of all trees, that predicts."""
        alphas = group.values("ccp_alpha").astype(np.float64)
        n_lines = len(alphas) if self.run.only is None else 1
        if not alphas.any():  # All alphas are 0, so that nothing is pruned.
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
    """Return the prediction of each node if it were a leaf."""
    counts = grown.nodes.counts
    shares: np.ndarray = counts / grown.nodes.weighted_n_node_samples[:, None]
    if request.response == "label":
        return shares.argmax(axis=1)
    if request.response == "value":
        return shares[:, 0]
    return shares if request.response == "probability" else shares[:, 1]


def _is_plain(data: Data, plan: Plan) -> bool:
    """Return True if fits use only rows and targets, and scikit-learn warns of none of them."""
    if data.fit_params or plan.extra is not None:
        return False
    fewest = int(plan.least_train_sizes.min(initial=0 if not plan.n_fits else 2**31))
    if fewest < 1:
        return False
    if data.codes is None:
        return exact_sums(data.y, int(plan.train_sizes.max()))
    # scikit-learn warns if there are more than two classes, and at least half as many as rows.
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


def stands_alone(family: Family) -> bool:
    """Return True if nothing precedes the learner: it is bare, or the only step of a pipeline."""
    if not family.is_piped:
        return True
    own = all(name.startswith(family.prefix) for name in family.named)
    return len(family.estimator.steps) == 1 and own and why_not_apart(family) is None


def may_step(family: Family) -> bool:
    """Return True if the steps before a tree may be fitted separately.

    The seed of the tree must be its own, or the only one that is drawn for the pipeline.
    """
    if family_refusal(family, [type(family.last)]) is not None:
        return False
    models = map(family.make, range(len(family)))
    names = (name for model in models for name in family.random_parameters(model))
    return all(name.startswith(family.prefix) for name in names)


def tables_after_steps(
    group: Group, family: Family, data: Data, plan: Plan, fits: Sequence[int], tries: Tries | None
) -> Iterator[tuple[int, TreeTable, list[Warned]]]:
    """Yield the table of each fit and the warnings of its steps; equal tables are sorted once."""
    last: np.ndarray | None = None
    known = known_steps(tries, family, group.steps, int(group.candidates[0]))
    for fit in fits:
        with collect_warnings() as warned:
            X = _after_steps(group, data, plan, fit, known(plan, fit))
        if last is None or not np.array_equal(X, last):
            last, table = X, TreeTable.from_rows(X)
        yield fit, table, warned


def _after_steps(group: Group, data: Data, plan: Plan, fit: int, begin: Begin | None) -> np.ndarray:
    """Return a table with the transformed training and test rows of a fit.

    Other rows are unused.
    """
    rows, times = plan.train_rows(fit)
    order, starts = plan.questions_of
    requested = [plan.test_rows(int(q))[0] for q in order[starts[fit] : starts[fit + 1]]]
    y = data.y if data.codes is None else data.codes
    X, tests = fit_steps(group.steps, data, (rows, times), y[rows], requested, _read, begin)
    table = np.repeat(X[:1], data.n_rows, axis=0)
    table[rows] = X
    seen = np.zeros(data.n_rows, dtype=bool)
    seen[rows] = True
    for where, values in zip(requested, tests, strict=True):
        if not np.array_equal(table[where][seen[where]], values[seen[where]]):
            raise OwnArithmetic("a row that it was fitted on is another when it is asked about")
        table[where] = values
        seen[where] = True
    return table


def _read(table: Any) -> np.ndarray:
    single = in_single_precision(table)
    if single is None:
        raise OwnArithmetic("what scikit-learn treats otherwise")
    return single


def in_single_precision(X: Any) -> np.ndarray | None:
    """Return X in single precision; None if scikit-learn treats it differently or refuses it.

    For a sparse table scikit-learn grows the same tree as for the dense one.
    """
    if is_bearable(X):
        X = as_dense(X)
    if type(X) is not np.ndarray:
        X = _of_frame(X)
    if X is None or X.ndim != 2 or not X.size or X.dtype.kind not in "biuf" or X.itemsize > 8:
        return None
    with np.errstate(over="ignore"):
        single = X.astype(np.float32, order="F", copy=False)
    return single if np.isfinite(single).all() else None


def _of_frame(X: Any) -> np.ndarray | None:
    """Return the cells of a numeric frame with valid names, or None."""
    dtypes = getattr(X, "dtypes", None)
    if not hasattr(X, "iloc") or not hasattr(X, "columns") or dtypes is None:
        return None
    numbers = all(isinstance(t, np.dtype) and t.kind in "iuf" for t in dtypes)
    if not numbers or len({isinstance(name, str) for name in X.columns}) != 1:
        return None
    return np.asarray(X)
