"""A model, or a search, as a problem, and the methods that test it with fewer rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from truerisk.api.road.default_interval import default_word
from truerisk.api.road.problem import Problem, pose
from truerisk.api.search import HonestSearchCV
from truerisk.api.searching.grid_search_words import compared_by, worded
from truerisk.api.searching.posed import posed
from truerisk.api.searching.routing import route
from truerisk.api.searching.stored_search import check_store
from truerisk.api.searching.tuning import as_grid_search_averages
from truerisk.core.arguments import shown
from truerisk.core.contracts import Method, Streams
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.family import Family
from truerisk.core.interval import Basis
from truerisk.core.plan.plan import Plan
from truerisk.methods.nested import Nested
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.averages import Averaged
from truerisk.methods.subsampled import Subsampled
from truerisk.methods.words import as_method

__all__ = ["TestedLearner", "as_learner"]

USUAL = "10-fold"
UNSAID: Mapping[str, Any] = {
    "loss": None,
    "confidence_level": 0.95,
    "engine": "auto",
    "executor": None,
    "random_state": 0,
    "store": None,
}
"""What `learning_curve` is given where a user says nothing."""


@dataclass(frozen=True, eq=False)
class TestedLearner:
    """A problem, the splits that test it, and how its settings are compared inside, if at all."""

    problem: Problem
    method: Averaged
    select_by: Method | None = None
    store: Any = None

    @property
    def n_inner(self) -> int:
        """How many folds compare the settings inside a training set; 0 where nothing is tuned."""
        if self.select_by is None or len(self.problem.family) == 1:
            return 0
        return int(getattr(self.select_by, "k", 10))

    def whole(self) -> Plan:
        """The splits with all of their training rows."""
        return self._drawn(self.method)

    def cut(self, n_train: int) -> Plan:
        """The splits with so many training rows."""
        return self._drawn(Subsampled(n_train, self.method))

    def _drawn(self, method: Method) -> Plan:
        streams = Streams(self.problem.seed)
        if self.select_by is not None:
            streams = streams.child("outer")  # where `Nested` draws them
        return method.plan(self.problem.data, streams)

    def at(self, n_train: int) -> tuple[Problem, Method]:
        """What is asked, of fits on so many rows."""
        cut = Subsampled(n_train, self.method)
        problem = replace(
            self.problem, interval=default_word(cut, self.problem.loss, self.problem.data)
        )
        return problem, cut if self.select_by is None else Nested(cut, self.select_by)


def as_learner(
    model: Any,
    X: Any,
    y: Any,
    *,
    method: Any,
    store: Any,
    groups: Any,
    sample_weight: Any,
    **asked: Any,
) -> TestedLearner:
    """The learner of a model; a search of ours brings its settings and words."""
    rows = {"groups": groups, "sample_weight": sample_weight}
    if not isinstance(model, HonestSearchCV):
        check_store(store, asked["random_state"])
        tested_by = _testing(USUAL if method is None else method)
        return TestedLearner(pose(Family.of(model), X, y, **rows, **asked), tested_by, store=store)
    _refuse_words(model, {**asked, "store": store})
    check_store(model.store, model.random_state)
    words = worded(model, y)
    problem, _ = posed(model, X, y, words, route(model, groups, {"sample_weight": sample_weight}))
    select_by = as_grid_search_averages(compared_by(model, y))
    problem = replace(problem, scores={}, interval=None)
    return TestedLearner(problem, _outer(model, select_by, method), select_by, model.store)


def _refuse_words(search: HonestSearchCV, asked: Mapping[str, Any]) -> None:
    """What the search says itself is not said twice, and what nobody could keep is refused."""
    for name, given in asked.items():
        if given is not UNSAID[name] and given != UNSAID[name]:
            raise BadArgument(
                f"{name}={shown(given)}: the search has {name}={shown(getattr(search, name))}; "
                "say it there."
            )
    if search.time_limit is not None:
        raise BadArgument(
            f"time_limit={shown(search.time_limit)} would compare fewer settings where a fit has "
            "more rows, and the curve would be of another search at each size: leave it out."
        )
    if callable(search.refit):
        raise BadArgument(
            "refit as a function chooses on all rows alone, and here settings are chosen in every "
            "training set: choose by rule=."
        )


def _outer(search: HonestSearchCV, select_by: Method, method: Any) -> Averaged:
    """The splits that test: those named, or the folds that the search chooses by."""
    if method is not None:
        return _testing(method)
    outer = Pairs() if search.outer is None else as_method(search.outer)
    if not isinstance(outer, Pairs):
        return _testing(outer)
    folds = select_by if outer.folds is None else as_method(outer.folds)
    if isinstance(folds, Averaged) and folds.has_folds:
        return _testing(replace(folds, average=None))  # type: ignore[type-var]
    return _testing(USUAL)


def _testing(method: Any) -> Averaged:
    """The method, if it tests every row equally often and its training sets can be cut."""
    found = Subsampled(1, method).method
    if Basis.EQUALLY_OFTEN not in found.gives:
        raise Refusal(
            f"'{found.word}' does not test all rows equally often (splits that go forward in time "
            "mix more rows with later ones): use folds, such as '10-fold' or '5x10-fold'."
        )
    return found
