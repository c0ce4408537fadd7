"""The one road: checked input, a replayable plan, papers that name what was done."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from truerisk.contracts import Streams
from truerisk.core.errors import BadArgument, UnknownName
from truerisk.core.family import Family
from truerisk.estimation.problem import pose
from truerisk.estimation.run import compute, curve_of
from truerisk.methods import KFold, Nested
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = (X[:, 0] + RNG.normal(size=40) > 0).astype(int)
FAMILY = Family.of(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]})


@pytest.mark.parametrize("method", [KFold(4), Nested("4-fold", "3-fold")], ids=["flat", "nested"])
def test_a_stored_plan_is_replayed(method) -> None:
    """A plan that went through JSON gives the same risks under any seed."""
    problem = pose(FAMILY, X, Y, random_state=7)
    first = compute(problem, method)
    stored = Plan.from_dict(json.loads(json.dumps(first.plan.to_dict())))
    other = pose(FAMILY, X, Y, random_state=99)
    again = compute(other, method, plan=stored)
    assert curve_of(again).values.tolist() == curve_of(first).values.tolist()
    prints = [c.plan.fingerprint for c in (first, again)]
    assert prints[0] == prints[1] != compute(other, method).plan.fingerprint


def test_the_best_candidate_is_the_rules() -> None:
    """`best` is chosen by the rule, ties to the first or the simplest, and the curve says so."""
    for rule in ("min", "1-se"):
        curve = curve_of(compute(pose(FAMILY, X, Y, rule=rule), "5-fold"))
        assert (curve.rule, bool(curve.ties)) == (rule, True)
        errors = curve.std_errors if rule == "1-se" else np.zeros(3)
        lowest = int(curve.values.argmin())
        good = np.flatnonzero(curve.values <= curve.values[lowest] + errors[lowest])
        assert curve.best == good[-1 if rule == "1-se" else 0]  # more neighbours are simpler


def test_the_procedure_has_the_setting_it_tested() -> None:
    """Where every outer split chose one setting it is shown, else none."""
    curve = curve_of(
        compute(
            pose(Family.of(DecisionTreeClassifier(max_depth=1), {"max_depth": [1, 1]}), X, Y),
            Nested("3-fold", "3-fold"),
        )
    )
    assert curve.procedure.params == {"max_depth": 1}
    many = curve_of(compute(pose(FAMILY, X, Y, random_state=1), Nested("8-fold", "4-fold")))
    chosen = {u.candidate for u in many.evaluation.units}
    assert (many.procedure.params == {}) == (len(chosen) > 1)


@pytest.mark.parametrize("level", [0, 1, -1, 95, float("nan")])
def test_a_level_lies_between_0_and_1(level) -> None:
    """95 is no level; .95 is."""
    with pytest.raises(BadArgument, match="use a level between 0 and 1"):
        pose(FAMILY, X, Y, confidence_level=level)


@pytest.mark.parametrize(
    "state", [None, 3, np.int64(3), np.random.default_rng(0), np.random.RandomState(0)]
)
def test_the_seed_is_reported(state) -> None:
    """Whatever gives the randomness, the seed in the result repeats the result."""
    problem = pose(FAMILY, X, Y, random_state=state)
    first = curve_of(compute(problem, "4-fold"))
    again = curve_of(compute(pose(FAMILY, X, Y, random_state=first[0].seed), "4-fold"))
    assert again.values.tolist() == first.values.tolist()


@pytest.mark.parametrize("state", [-1, "a", 1.5, True])
def test_what_is_no_seed_is_refused(state) -> None:
    """A negative number, a word, a fraction."""
    with pytest.raises(UnknownName, match="seed"):
        pose(FAMILY, X, Y, random_state=state)


def test_streams_are_independent_by_name() -> None:
    """Each name has its own stream; children have theirs; the same name is the same stream."""
    streams = Streams(0)
    draws = [
        int(s.get(name).integers(2**62))
        for s in (streams, streams.child("a"), streams.child("b"), Streams(1))
        for name in ("x", "y", "xy")
    ]
    assert len(set(draws)) == 12
    assert int(Streams(0).get("x").integers(2**62)) == draws[0]


def test_number_of_jobs_of_a_later_call_stands_before_that_of_the_search() -> None:
    """One job is this process; nothing said leaves the place of the search."""
    problem = pose(FAMILY, X, Y, n_jobs=3)
    assert [problem.by(n_jobs).executor for n_jobs in (None, 1, 2)] == [3, None, 2]


def test_compute_accepts_a_subclass_of_evaluation():
    """A method of a user's own may return more fields; those of every Evaluation are kept."""

    @dataclass(frozen=True, eq=False)
    class Timed(Evaluation):
        seconds_of_folds: tuple[float, ...] = ()

    @dataclass(frozen=True)
    class TimedFolds(KFold):
        def evaluate(self, *args):
            return Timed(**vars(super().evaluate(*args)), seconds_of_folds=(1.0,))

    problem = pose(FAMILY, X, Y)
    own, plain = (compute(problem, method(5)) for method in (TimedFolds, KFold))
    assert curve_of(own).values.tolist() == curve_of(plain).values.tolist()
