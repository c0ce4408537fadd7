"""What is done once and what each fit adds are told apart, by a clock that the tests turn."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.assessment.pace import (
    Pace,
    _shares_no_work,
    mean_seconds,
    measure_pace,
    seconds_once_and_each,
)
from truerisk.contracts import Engine
from truerisk.engines.generic import Generic
from truerisk.estimation.problem import problem_from_arguments
from truerisk.extend import Answers, Family, Request, Streams
from truerisk.methods import as_method

X, Y = tr.datasets.make_simple(40, random_state=0)
GRID = {"var_smoothing": [1e-9, 1e-6, 1e-3, 1e-2, 1e-1]}


class Clock:
    """Stands still but for what engines add."""

    now = 0.0

    def __call__(self):
        return self.now


def nothing(plan):
    """Answers that nobody reads."""
    seconds = np.zeros((1, plan.n_fits))
    answered = np.ones((1, plan.n_questions), dtype=bool)
    return Answers(plan, "label", np.zeros((1, 0)), answered, "fake", seconds, seconds)


@dataclass(frozen=True)
class OnePass(Engine):
    """Does something once, something for each fit, and little for each setting."""

    clock: Clock
    once: float
    each: float
    by_setting: float = 0.0
    name = "fake"

    def refuse(self, family, data, plan, request):
        return None

    def run(self, family, data, plan, request, run):
        settings = 1 if run.candidate_by_fit is not None else len(family)
        self.clock.now += self.once + plan.n_fits * (self.each + settings * self.by_setting)
        return nothing(plan)


@dataclass(frozen=True)
class Single(Generic):
    """A fit of setting c takes `seconds[c]`."""

    clock: Clock | None = None
    seconds: tuple[float, ...] = ()

    def run(self, family, data, plan, request, run):
        self.clock.now += sum(self.seconds[c] for c in run.candidate_by_fit)
        return nothing(plan)


@dataclass(frozen=True)
class Stepped(Generic):
    """Steps once in every fit, and a learner for every setting."""

    clock: Clock | None = None
    steps: float = 0.3
    learner: float = 0.01

    def run(self, family, data, plan, request, run):
        settings = 1 if run.candidate_by_fit is not None else len(family)
        self.clock.now += plan.n_fits * (self.steps + settings * self.learner)
        return nothing(plan)


def problem(engine, word="loo", family=None, **options):
    """A problem, and a plan of its method."""
    family = family or Family.from_grid(GaussianNB(), GRID)
    found = problem_from_arguments(family, X, Y, engine=engine, **options)
    return found, as_method(word).plan(found.data, Streams(0))


@pytest.mark.parametrize(
    ("once", "each"),
    [
        *product((0.0, 0.02, 3.0), (1e-4, 0.01, 2.0)),
        *((0.5, 0.02), (0.0, 30.0), (40.0, 0.001)),
    ],
)
def test_pace_does_not_multiply_what_is_done_once_and_takes_little_time(once, each):
    clock = Clock()
    asked, plan = problem(OnePass(clock, once, each))
    pace = measure_pace(asked, plan, clock=clock)
    assert pace.seconds(plan.n_fits) == pytest.approx(once + 40 * each)
    assert pace.seconds(400) == pytest.approx(once + 400 * each, rel=1e-6)
    assert clock.now <= max(3.0, 4 * (once + each))


STEPS = Family.from_grid(
    make_pipeline(StandardScaler(), GaussianNB()),
    {f"gaussiannb__{name}": values for name, values in GRID.items()},
)
PLAIN = Family.from_grid(GaussianNB(), GRID)


@pytest.mark.parametrize(
    ("family", "engine", "each", "of_winners"),
    [
        pytest.param(PLAIN, OnePass(Clock(), 0.0, 0.1, by_setting=0.01), 0.15, 0.11, id="pass"),
        pytest.param(STEPS, Stepped(clock=Clock()), 0.35, 0.31, id="shared steps"),
    ],
)
def test_pace_adds_settings_to_what_is_done_once_in_every_fit(family, engine, each, of_winners):
    clock = engine.clock
    asked, plan = problem(engine, family=family)
    first = measure_pace(asked, plan, clock=clock)
    assert first.seconds_each == pytest.approx(each)
    assert first.seconds(plan.n_fits) == pytest.approx(plan.n_fits * each)
    for earlier in (None, first):
        winners = measure_pace(asked, plan, is_winners_only=True, earlier_pace=earlier, clock=clock)
        assert winners.seconds_each == pytest.approx(of_winners)
        assert winners.seconds(plan.n_fits) == pytest.approx(plan.n_fits * of_winners)


@pytest.mark.parametrize("scale", [1e-5, 0.05, 20.0])
def test_pace_averages_cheap_and_dear_settings(scale):
    clock = Clock()
    seconds = tuple(scale * s for s in (1.0, 2.0, 4.0, 8.0, 16.0))
    asked, plan = problem(Single(clock=clock, seconds=seconds))
    pace = measure_pace(asked, plan, clock=clock)
    true = plan.n_fits * sum(seconds)
    assert true / 2 < pace.seconds(plan.n_fits) < 2 * true
    winners = measure_pace(asked, plan, is_winners_only=True, clock=clock).seconds(plan.n_fits)
    assert winners == pytest.approx(pace.seconds(plan.n_fits) / 5)


def test_line_of_ignores_a_short_first_timing_and_is_never_negative():
    seen = []

    def timing(n):
        seen.append(n)
        return 0.01 * n + (0.2 if len(seen) == 1 else 0.0)

    assert seconds_once_and_each(timing, 100) == (
        pytest.approx(0.0, abs=1e-12),
        pytest.approx(0.01),
    )
    assert seen[:2] == [1, 1]
    seen.clear()
    assert mean_seconds(timing, 100, 3) == pytest.approx(0.01)
    times = iter([0.1, 0.1, 0.05, 0.3])
    assert min(seconds_once_and_each(lambda n: next(times), 16)) >= 0


def test_pace_divides_fits_and_not_passes_among_workers():
    clock = Clock()
    engines = Single(clock=clock, seconds=(1.0,) * 5), OnePass(clock, 0.0, 1.0)
    for engine, times in zip(engines, (4, 1)):
        asked, plan = problem(engine)
        alone = measure_pace(asked, plan, clock=clock).seconds_each
        shared = measure_pace(replace(asked, executor=4), plan, clock=clock).seconds_each
        assert alone == pytest.approx(times * shared)


def test_pace_of_real_engine_is_positive():
    rng = np.random.default_rng(0)
    y = X[:, 0] + rng.normal(size=40)
    asked = problem_from_arguments(Family.from_grid(Ridge(), {"alpha": [0.1, 1.0]}), X, y)
    for word in ("loo", "5-fold", ".632"):
        pace = measure_pace(asked, as_method(word).plan(asked.data, Streams(0)))
        assert isinstance(pace, Pace)
        assert pace.engine == "least-squares"
        assert 0 < pace.seconds(100) < 60


# A long fit is timed once more, and a very long one is not made again.
@pytest.mark.parametrize(
    ("once", "each", "again"), [(0, 30, 0), (40, 0.5, 0), (4, 4, 8), (0.05, 0.01, 0.06)]
)
def test_pace_of_next_pass_needs_one_timing_at_most(once, each, again):
    clock = Clock()
    asked, plan = problem(OnePass(clock, once, each))
    first = measure_pace(asked, plan, clock=clock)
    spent = clock.now
    second = measure_pace(asked, plan, earlier_pace=first, clock=clock)
    assert clock.now - spent == pytest.approx(again)
    assert (second.seconds_once, second.seconds_each) == pytest.approx((once, each), abs=1e-9)


@pytest.mark.parametrize("each", [0.01, 0.3, 5.0, 60.0])
def test_pace_of_next_pass_repeats_only_short_single_fits(each):
    clock = Clock()
    asked, plan = problem(Single(clock=clock, seconds=(each,) * 5))
    first, spent = measure_pace(asked, plan, clock=clock), clock.now
    if each == 0.01:
        second = measure_pace(asked, plan, earlier_pace=first, clock=clock)
        assert clock.now - spent == pytest.approx(4 * each)
        assert second.seconds_each == pytest.approx(first.seconds_each)
        return
    fewer = as_method("10-fold").plan(asked.data, Streams(0))
    second = measure_pace(asked, fewer, earlier_pace=first, clock=clock)
    winners = measure_pace(asked, fewer, is_winners_only=True, earlier_pace=first, clock=clock)
    assert clock.now == spent <= 4 * each
    assert second.seconds_each == pytest.approx(5 * each * (36 / 39) ** 2)
    assert winners.seconds_each == pytest.approx(second.seconds_each / 5)


@pytest.mark.parametrize(("each", "fits"), [(0.1, 6), (0.3, 2), (1.9, 2), (8.0, 1)])
def test_pace_of_fits_that_share_nothing_needs_few_fits(each, fits, monkeypatch):
    clock = Clock()
    asked, plan = problem(OnePass(clock, 0.0, each))
    monkeypatch.setattr("truerisk.assessment.pace._shares_no_work", lambda *_: True)
    pace = measure_pace(asked, plan, clock=clock)
    assert clock.now == pytest.approx(fits * each)
    assert (pace.seconds_once, pace.seconds_each) == pytest.approx((0.0, each))


SCALED = {
    "shrunk": (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.1, 0.2]}, False),
    "plain": (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.0, 0.2]}, True),
    "neighbours": (KNeighborsClassifier(), {"n_neighbors": [1, 3]}, False),
    "ridge": (RidgeClassifier(), {"alpha": [0.1, 1.0]}, False),
    "least squares": (LinearRegression(), {"positive": [False]}, True),
}


@pytest.mark.parametrize("word", SCALED)
def test_shares_nothing_is_true_only_of_scaled_fits_without_shared_work(word):
    model, grid, shares = SCALED[word]
    for scaled in (False, True):
        named = {f"{'model__' * scaled}{name}": values for name, values in grid.items()}
        steps = Pipeline([("scale", StandardScaler()), ("model", model)])
        y = Y if is_classifier(model) else X[:, 0]
        asked = problem_from_arguments(Family.from_grid(steps if scaled else model, named), X, y)
        plan = as_method("5-fold").plan(asked.data, Streams(0))
        engine = asked.create_asking().choose(plan, Request.from_plan(asked.loss, plan))
        assert _shares_no_work(engine, asked) == (scaled and not shares)
