"""Hypothesis strategies: small data with and without ties, and plans of every kind.

Hypothesis is imported when a strategy is made, so that the other checks run without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from truerisk.core.errors import MissingExtra
from truerisk.data.data import Data, TaskWord
from truerisk.plan.blocks import ALL, RowSets
from truerisk.plan.builder import PlanBuilder, RowSet, leave_out
from truerisk.plan.extras.flips import flips_of
from truerisk.plan.pairs import with_pairs
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


class NestingBuilder(PlanBuilder):
    """A builder that also adds the questions of other plans, on a subset of the rows."""

    def __init__(self, n_rows: int) -> None:
        super().__init__(n_rows)
        self._trained: list[RowSet] = []

    def ask(self, train: RowSet, test: RowSet, **given: Any) -> None:
        """Add a question like every builder, and store its training set."""
        self._trained.append(train)
        super().ask(train, test, **given)

    def trained(self, question: int) -> RowSet:
        """Return the training set of the fit that answers an earlier question."""
        return self._trained[question]

    def embed(self, plan: Plan, rows: np.ndarray, inside: RowSet, *, part: str, unit: int) -> None:
        """Add all questions of a plan for `rows`, within the set `inside` that they came from.

        A training set "all but b" becomes "`inside` but b": no row leaves or enters, and the copies
        of a bootstrap sample stay together, since blocks hold distinct rows.
        """
        names, counts, offsets = [], plan.blocks.counts, plan.blocks.offsets
        for b in range(len(plan.blocks)):
            mine = np.asarray(rows)[plan.blocks[b]]
            times = 1 if counts is None else counts[offsets[b] : offsets[b + 1]]
            names.append(self.block(np.repeat(mine, times)))
        for q in range(plan.n_questions):
            fit = int(plan.fit[q])
            flipped, codes = flips_of(plan, fit)
            self.ask(
                _translate(plan.train, fit, names, inside),
                _translate(plan.test, q, names, inside),
                part=part,
                repeat=int(plan.repeat[q]),
                fold=int(plan.fold[q]),
                unit=unit,
                flips=[(int(rows[r]), int(c)) for r, c in zip(flipped, codes, strict=True)],
            )


def _translate(sets: RowSets, s: int, names: Sequence[int], inside: RowSet) -> RowSet:
    minus = tuple(names[int(block)] for block in sets.without(s))
    if int(sets.base[s]) == ALL:
        return inside[0], (*inside[1], *minus)
    return names[int(sets.base[s])], minus


Drawn = TypeVar("Drawn")


def hypothesis() -> Any:
    """Return the hypothesis library, or raise with a sentence on how to install it."""
    try:
        import hypothesis.strategies

        return hypothesis
    except ImportError:
        raise MissingExtra(
            "the checks of engines draw their plans with hypothesis, which is not installed: "
            "pip install hypothesis."
        ) from None


def data_sets(
    task: TaskWord = "classification",
    *,
    ties: bool = False,
    n_classes: int | None = None,
    n_columns: int | None = None,
    weight: str | None = None,
) -> SearchStrategy[Data]:
    """Return data of 6 to 10 rows and `n_columns` (1 to 3) columns of small numbers.

    Without `ties` all cells of a column differ; with them there are equal cells and equal rows.
    Classes are numbers or words, 2 or 3 of them unless `n_classes` is given. `weight` names the fit
    parameter for drawn sample weights.
    """

    def draw_one(draw: Any) -> Data:
        st = hypothesis().strategies
        n, p = draw(st.integers(6, 10)), n_columns or draw(st.integers(1, 3))
        column = st.lists(st.integers(0, 2), min_size=n, max_size=n)
        columns = [draw(column if ties else st.permutations(range(n))) for _ in range(p)]
        X = np.array(columns, dtype=np.float64).T / 4 + (0 if ties else 0.01)
        y = _numbers(draw, n) if task == "regression" else _labels(draw, n, n_classes)
        weights = None
        if weight is not None:
            weights = np.array(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)), float)
        fit_params = {} if weight is None else {weight: weights}
        return Data.check(
            np.ascontiguousarray(X), y, task=task, sample_weight=weights, fit_params=fit_params
        )

    return _made(draw_one)


def _numbers(draw: Any, n: int) -> np.ndarray:
    """Draw one target, or two."""
    st = hypothesis().strategies
    values = st.lists(st.integers(-8, 8), min_size=n, max_size=n)
    if draw(st.sampled_from([1, 1, 2])) == 1:
        return np.array(draw(values), dtype=np.float64)
    return np.array([draw(values), draw(values)], dtype=np.float64).T


def _labels(draw: Any, n: int, n_classes: int | None) -> np.ndarray:
    st = hypothesis().strategies
    k = n_classes or draw(st.sampled_from([2, 2, 3]))
    rest = draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))
    names = draw(st.sampled_from([[0, 1, 2], [-1, 1, 7], ["a", "bb", "c"]]))
    return np.array(names)[draw(st.permutations([*range(k), *rest]))]


def folds(n_rows: int) -> SearchStrategy[Plan]:
    """Return K-fold plans with any K, folds of any size, and up to two repetitions."""

    def draw_one(draw: Any) -> Plan:
        builder = PlanBuilder(n_rows)
        for repeat in range(draw(hypothesis().strategies.integers(1, 2))):
            for fold, block in enumerate(builder.partition(_fold_labels(draw, n_rows))):
                builder.ask((ALL, (block,)), (block, ()), repeat=repeat, fold=fold)
        return builder.build()

    return _made(draw_one)


def _fold_labels(draw: Any, n_rows: int) -> np.ndarray:
    """Draw the labels of at least two folds."""
    st = hypothesis().strategies
    if draw(st.booleans()):
        return np.arange(n_rows)
    k = draw(st.integers(2, min(5, n_rows)))
    rest = draw(st.lists(st.integers(0, k - 1), min_size=n_rows - k, max_size=n_rows - k))
    return np.array(draw(st.permutations([*range(k), *rest])))


def subsets(n_rows: int) -> SearchStrategy[Plan]:
    """Return plans of fits on any rows, also minus others, with up to three questions each."""

    def draw_one(draw: Any) -> Plan:
        st = hypothesis().strategies
        some = st.sets(st.integers(0, n_rows - 1), min_size=1)
        builder = PlanBuilder(n_rows)
        pool = [draw(some) for _ in range(draw(st.integers(2, 5)))]
        blocks = [builder.block(np.array(sorted(rows))) for rows in pool]
        everything = set(range(n_rows))
        for _ in range(draw(st.integers(1, 5))):
            base, minus = draw(st.integers(-1, len(pool) - 1)), draw(st.integers(0, len(pool) - 1))
            left = (everything if base == ALL else pool[base]) - pool[minus]
            seen = blocks[base] if base != ALL else ALL
            train = (seen, (blocks[minus],)) if len(left) else (seen, ())
            builder.ask(train, (blocks[draw(st.integers(0, len(pool) - 1))], ()))
            if draw(st.booleans()):
                builder.ask((ALL, ()), (ALL, ()), part="apparent")
        return builder.build()

    return _made(draw_one)


def copies(n_rows: int) -> SearchStrategy[Plan]:
    """Return plans of bootstrap samples, tested on the rows not drawn and on copies."""

    def draw_one(draw: Any) -> Plan:
        st = hypothesis().strategies
        sample = st.lists(st.integers(0, n_rows - 1), min_size=n_rows, max_size=n_rows)
        builder = PlanBuilder(n_rows)
        for repeat in range(draw(st.integers(1, 3))):
            drawn = builder.block(np.array(draw(sample)))
            builder.ask((drawn, ()), (drawn, ()), part="apparent", repeat=repeat)
            builder.ask((drawn, ()), (ALL, ()), part="all", repeat=repeat)
        return builder.build()

    return _made(draw_one)


def replaced_labels(data: Data) -> SearchStrategy[Plan]:
    """Return folds, and fits on all rows, in which some rows get another class."""

    def draw_one(draw: Any) -> Plan:
        st = hypothesis().strategies
        builder = PlanBuilder(data.n_rows)
        row, code = st.integers(0, data.n_rows - 1), st.integers(0, data.n_classes - 1)
        blocks = builder.partition(_fold_labels(draw, data.n_rows))
        flips = st.dictionaries(row, code, min_size=1, max_size=3)
        for fold, block in enumerate(blocks):
            changed = draw(flips).items()
            builder.ask((ALL, (block,)), (block, ()), fold=fold, flips=changed)
            builder.ask((ALL, ()), (ALL, ()), fold=fold, part="all", flips=changed)
        return builder.build()

    return _made(draw_one)


def nested(n_rows: int) -> SearchStrategy[Plan]:
    """Return outer folds, with folds within the training rows of the first two of them."""

    def draw_one(draw: Any) -> Plan:
        builder = NestingBuilder(n_rows)
        outer = draw(folds(n_rows))
        builder.embed(outer, np.arange(n_rows), (ALL, ()), part="outer", unit=-1)
        for unit in range(min(outer.n_questions, 2)):
            rows, _ = outer.train_rows(int(outer.fit[unit]))
            if len(rows) >= 2:
                inner = draw(folds(len(rows)))
                builder.embed(inner, rows, builder.trained(unit), part="inner", unit=unit)
        return builder.build()

    return _made(draw_one)


def pairs(n_rows: int) -> SearchStrategy[Plan]:
    """Return plans that leave out three or four folds of any size, alone and two at a time."""

    def draw_one(draw: Any) -> Plan:
        st = hypothesis().strategies
        k = draw(st.integers(3, 4))
        rest = draw(st.lists(st.integers(0, k - 1), min_size=n_rows - k, max_size=n_rows - k))
        labels = np.array(draw(st.permutations([*range(k), *rest])))
        return with_pairs(leave_out(n_rows, [labels]))

    return _made(draw_one)


def plans(data: Data) -> SearchStrategy[Plan]:
    """Return any of the plans of this file."""
    n = data.n_rows
    kinds = [folds(n), subsets(n), copies(n), nested(n), pairs(n)]
    if data.classes is not None:
        kinds.append(replaced_labels(data))
    return hypothesis().strategies.one_of(kinds)


def _made(draw_one: Callable[[Any], Drawn]) -> SearchStrategy[Drawn]:
    """Return the strategy of a function of `draw`."""
    return hypothesis().strategies.composite(draw_one)()
