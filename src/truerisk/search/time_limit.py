"""`time_limit`: rate as many settings as possible within a time, in grid order.

A setting is rated completely before the next one begins: on all rows and inside the outer splits.
Whenever the time is over, the rated settings form a grid of their own, and the honest risk is that
of choosing among them. It depends on their number, but not on the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field, replace

import numpy as np

from truerisk.contracts import FitStore, Method
from truerisk.core.arguments import mention
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.progress import Listener, Progress, counting, listen, listener
from truerisk.estimation.problem import Problem, draw_plan
from truerisk.estimation.run import Computed, tuning_problem, with_note
from truerisk.methods.parts.procedure import Procedure
from truerisk.plan.answers import Answers, joined
from truerisk.plan.builder import with_training_rows
from truerisk.plan.plan import Plan
from truerisk.search.stored_search import StoredSearch

SHARE = 10  # settings that start together may take 1/10 of the remaining time
GROWTH = 2  # each batch is at most twice as large as the previous one


@frozen(eq=False)
class Tried:
    """The settings that were rated, and their known answers, pass by pass."""

    problem: Problem
    tuning: tuple[Answers | None, ...] = ()
    testing: tuple[Answers | None, ...] = ()
    note: str = ""
    seconds: tuple[float, float] = (0.0, 0.0)  # for tuning and for testing
    refusals: dict[str, str] = field(default_factory=dict)

    def known_answers(self, selected: Computed) -> tuple[Answers | None, ...]:
        """Return the answers known for testing, whose first pass may repeat that of the search."""
        first, rest = self.testing[:1], self.testing[1:]
        return (first[0] if first and first[0] is not None else selected.answers, *rest)

    def tuned(self, computed: Computed) -> Computed:
        """Return the search with its seconds and with a note on omitted settings."""
        return self._with_first_part(computed, self.seconds[0])

    def tested(self, computed: Computed) -> Computed:
        """Return the honest risk with its seconds and with a note on omitted settings."""
        return self._with_first_part(computed, self.seconds[1])

    def _with_first_part(self, computed: Computed, seconds: float) -> Computed:
        refusals = self.refusals | dict(computed.refusals)
        computed = replace(computed, seconds=computed.seconds + seconds, refusals=refusals)
        return with_note(computed, self.note) if self.note else computed


def try_in_time(
    problem: Problem,
    limit: float,
    stored: StoredSearch | None,
    *,
    trained: bool = False,
    refit: bool = True,
) -> Tried:
    """Rate settings in grid order until the time is over.

    With `trained`, fits are also tested on their training rows. The remaining work is completed
    within the time as well, as far as its duration can be predicted: the fit on all rows, and the
    fits of the winners in outer splits.
    """
    testing, rest = problem.testing, 0
    passes = [_tuning_pass(tuning_problem(problem), problem.select_by, trained=trained)]
    if isinstance(testing, Procedure):
        plan = draw_plan(problem, testing)[2]
        passes += _passes_of_testing(problem, testing, plan, passes[0].plan)
        rest = 0 if testing.shares_folds else plan.questions("outer").size
    course = _Course(problem, passes, float(limit), stored, rest, refit=refit)
    return course.run()


@frozen(eq=False)
class _Pass:
    """Fits that all settings need: their plan, and their pass number in the computation."""

    problem: Problem
    plan: Plan
    number: int = 0
    extras: bool = True
    tests: bool = False


def _tuning_pass(problem: Problem, method: Method | None, *, trained: bool) -> _Pass:
    problem, chosen, plan = draw_plan(problem, method)
    if type(chosen).evaluate is not Method.evaluate:
        raise Refusal(
            f"'{chosen.name}' compares settings with each other as it goes, and a time_limit tries "
            "them one after the other: leave out time_limit, or choose by folds, such as "
            f"{mention('cv', '10-fold')}."
        )
    return _Pass(problem, with_training_rows(plan) if trained else plan)


def _passes_of_testing(
    problem: Problem, testing: Procedure, plan: Plan, tuned: Plan
) -> list[_Pass]:
    """Return the passes before the choice, without answers known from the search."""
    inner = plan.part_named("inner")
    if not testing.shares_folds:
        return [_Pass(problem, inner, 0, extras=False, tests=True)]
    outer = plan.part_named("outer")
    first = [] if _is_known(outer, tuned) else [_Pass(problem, outer, 0, tests=True)]
    return [*first, _Pass(problem, inner, 1, tests=True)]


def _is_known(outer: Plan, tuned: Plan) -> bool:
    """Return True if the search asks the outer questions, possibly with training rows too."""
    return tuned.n_questions >= outer.n_questions and outer.asks_like(
        tuned.select(np.arange(outer.n_questions))
    )


class _Over(BaseException):
    """Raised when the time is over; it is not a failure of a fit."""


class _Course:
    """Rates settings one after the other, or a few at once if that is fast."""

    def __init__(
        self,
        problem: Problem,
        passes: Sequence[_Pass],
        limit: float,
        stored: StoredSearch | None,
        rest: int,
        *,
        refit: bool,
    ) -> None:
        self.problem, self.passes, self.limit, self.stored = problem, passes, limit, stored
        self.rest, self.refit = rest, refit
        self.clock: Callable[[], float] = time.monotonic
        self.started = self.clock()
        self.answers: list[list[Answers]] = [[] for _ in passes]
        self.seconds = [0.0 for _ in passes]
        self.refusals: dict[str, str] = {}
        self.n_tried = self.n_fits = 0

    def run(self) -> Tried:
        settings = len(self.problem.family)
        fits = sum(asked_pass.plan.n_fits for asked_pass in self.passes)
        with listen(self._watch(listener())), counting(settings * fits):
            try:
                while self.n_tried < settings:
                    self._rate(min(self._at_once(), settings - self.n_tried))
            except _Over:
                pass
        if not self.n_tried:
            made = f"{fits} fits, and {self.n_fits} of them were made in that time"
            raise Refusal(
                f"time_limit={self.limit:.15g}: the first setting takes {made}. Give more time, or "
                "ask less of a setting: fewer folds, or fewer rows."
            )
        return self._tried()

    def _rate(self, n: int) -> None:
        """Rate the next n settings completely; they count once their last fit is made."""
        family = self._part(self.n_tried, self.n_tried + n)
        answers_of_passes, seconds = [], []
        for this in self.passes:
            begun = self.clock()
            problem = replace(this.problem, family=family)
            asking = problem.asking(fit_store=self._fit_store, passes=this.number)
            answers_of_passes.append(asking(this.plan, extras=this.extras))
            self.refusals |= asking.refusals
            seconds.append(self.clock() - begun)
        for number, (answers, spent) in enumerate(zip(answers_of_passes, seconds, strict=True)):
            self.answers[number].append(answers)
            self.seconds[number] += spent
        self.n_tried += n

    @property
    def _fit_store(self) -> FitStore | None:
        return None if self.stored is None else self.stored.fit_store

    def _part(self, first: int, end: int) -> Family:
        """Return some of the settings; a store keeps their fits under the whole grid."""
        whole, part = self.problem.family, slice(first, end)
        family = Family(whole.estimator, whole.candidates[part])
        if self.stored is not None:
            self.stored.part(family, whole, part)
        return family

    def _watch(self, listener: Listener | None) -> Listener:
        """Return a listener that passes on the progress, and stops the work between two fits."""

        def watch(progress: Progress) -> None:
            self.n_fits = progress.done
            if listener is not None:
                listener(progress)
            if self._seconds_left() <= 0:
                raise _Over

        return watch

    def _seconds_left(self) -> float:
        """Return the seconds until the work after the choice has to begin."""
        left = self.started + self.limit - self.clock()
        if not self.n_tried:
            return left
        made = sum(answers.n_fits for each in self.answers for answers in each)
        left -= self.rest * sum(self.seconds) / made
        if self.refit:
            left -= max(float(answers.fit_seconds.mean()) for answers in self.answers[0])
        return left

    def _at_once(self) -> int:
        """Return a number of settings that take a small part of the remaining time.

        The number is small at the beginning. With a store it is 1, because stored fits say nothing
        about the speed of missing ones.
        """
        if not self.n_tried or self.stored is not None:
            return 1
        each = sum(self.seconds) / self.n_tried
        last = self.answers[0][-1].n_candidates
        return max(1, min(GROWTH * last, int(self._seconds_left() / (SHARE * each))))

    def _tried(self) -> Tried:
        settings, n = len(self.problem.family), self.n_tried
        every = [joined(answers) for answers in self.answers]
        testing = [(p.number, a) for p, a in zip(self.passes, every, strict=True) if p.tests]
        parts = dict(testing)
        return Tried(
            problem=replace(self.problem, family=self._part(0, n)),
            tuning=(every[0],),
            testing=tuple(parts.get(number) for number in range(max(parts, default=-1) + 1)),
            note=""
            if n == settings
            else f"stopped after {self.limit:.15g} s: {n} of {settings} settings were tried, in "
            "grid order.",
            seconds=(self.seconds[0], sum(self.seconds[1:])),
            refusals=self.refusals,
        )
