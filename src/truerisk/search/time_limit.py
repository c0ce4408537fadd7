"""`time_limit`: compute the risks of as many candidates as possible within a time, in grid order.

A candidate is rated completely, on all rows and inside the outer splits, before the next one
begins. When the time is over, the rated candidates form a grid of their own, and the honest risk is
that of choosing among them. The risk depends on their number, but not on the clock.
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
from truerisk.core.progress import Listener, Progress, count_fits, listen, listener
from truerisk.estimation.problem import Problem, draw_plan
from truerisk.estimation.run import Computed, tuning_problem, with_note
from truerisk.methods.parts.procedure import Procedure
from truerisk.plan.answers import Answers, joined
from truerisk.plan.builder import with_training_rows
from truerisk.plan.plan import Plan
from truerisk.search.stored_search import StoredSearch

BATCH_SHARE = 10  # Candidates that start together may take 1/10 of the remaining time.
BATCH_GROWTH = 2  # Each batch has at most twice as many candidates as the previous one.


@frozen(eq=False)
class TimedSearch:
    """Problem of the candidates that were rated in time, with the predictions of each pass."""

    problem: Problem
    tuning: tuple[Answers | None, ...] = ()
    testing: tuple[Answers | None, ...] = ()
    note: str = ""
    seconds: tuple[float, float] = (0.0, 0.0)  # seconds that tuning and testing took
    refusals: dict[str, str] = field(default_factory=dict)

    def known_answers(self, tuning_run: Computed) -> tuple[Answers | None, ...]:
        """Return the known predictions of each testing pass.

        The first pass may repeat the fits of the search, whose predictions are then used.
        """
        first_pass, later_passes = self.testing[:1], self.testing[1:]
        return (
            first_pass[0] if first_pass and first_pass[0] is not None else tuning_run.answers,
            *later_passes,
        )

    def tuned(self, tuning_run: Computed) -> Computed:
        """Return the tuning result with the total seconds and a note on omitted candidates."""
        return self._with_first_part(tuning_run, self.seconds[0])

    def tested(self, testing_run: Computed) -> Computed:
        """Return the honest risk with the total seconds and a note on omitted candidates."""
        return self._with_first_part(testing_run, self.seconds[1])

    def _with_first_part(self, last_run: Computed, earlier_seconds: float) -> Computed:
        refusals = self.refusals | dict(last_run.refusals)
        last_run = replace(last_run, seconds=last_run.seconds + earlier_seconds, refusals=refusals)
        return with_note(last_run, self.note) if self.note else last_run


def try_in_time(
    problem: Problem,
    seconds_limit: float,
    stored_search: StoredSearch | None,
    *,
    trained: bool = False,
    refit: bool = True,
) -> TimedSearch:
    """Rate candidates in grid order until the time is over.

    With `trained`, fits are also tested on their training rows. The remaining work is completed
    within the time as well, as far as its duration can be predicted: the fit on all rows, and the
    fits of the chosen candidates in outer splits.
    """
    testing, n_later_fits = problem.testing, 0
    passes = [_tuning_pass(tuning_problem(problem), problem.select_by, trained=trained)]
    if isinstance(testing, Procedure):
        plan = draw_plan(problem, testing)[2]
        passes += _passes_of_testing(problem, testing, plan, passes[0].plan)
        n_later_fits = 0 if testing.shares_folds else plan.questions("outer").size
    rating = _TimedRating(
        problem, passes, float(seconds_limit), stored_search, n_later_fits, refit=refit
    )
    return rating.run()


@frozen(eq=False)
class _Pass:
    """Plan of the fits that all candidates need, and the computation's pass that makes them."""

    problem: Problem
    plan: Plan
    number: int = 0
    extras: bool = True
    tests: bool = False


def _tuning_pass(problem: Problem, method: Method | None, *, trained: bool) -> _Pass:
    problem, tuning_method, plan = draw_plan(problem, method)
    if type(tuning_method).evaluate is not Method.evaluate:
        raise Refusal(
            f"'{tuning_method.name}' compares settings with each other as it goes, and a "
            "time_limit tries them one after the other: leave out time_limit, or choose by folds, "
            f"such as {mention('cv', '10-fold')}."
        )
    return _Pass(problem, with_training_rows(plan) if trained else plan)


def _passes_of_testing(
    problem: Problem, testing: Procedure, plan: Plan, tuning_plan: Plan
) -> list[_Pass]:
    """Return the testing passes that are needed before the choice.

    A pass whose predictions are known from the search is left out.
    """
    inner_plan = plan.part_named("inner")
    if not testing.shares_folds:
        return [_Pass(problem, inner_plan, 0, extras=False, tests=True)]
    outer_plan = plan.part_named("outer")
    passes_of_outer_splits = (
        [] if _is_known(outer_plan, tuning_plan) else [_Pass(problem, outer_plan, 0, tests=True)]
    )
    return [*passes_of_outer_splits, _Pass(problem, inner_plan, 1, tests=True)]


def _is_known(outer_plan: Plan, tuning_plan: Plan) -> bool:
    """Return True if the search's plan contains the outer questions, and maybe training rows."""
    return tuning_plan.n_questions >= outer_plan.n_questions and outer_plan.asks_like(
        tuning_plan.select(np.arange(outer_plan.n_questions))
    )


class _TimeIsOver(BaseException):
    """Exception that is raised when the time is over; it is not a failure of a fit."""


class _TimedRating:
    """Rating of candidates one after the other, or a few at once if that is fast."""

    def __init__(
        self,
        problem: Problem,
        passes: Sequence[_Pass],
        limit: float,
        stored_search: StoredSearch | None,
        n_remaining_fits: int,
        *,
        refit: bool,
    ) -> None:
        self.problem, self.passes, self.limit, self.stored = problem, passes, limit, stored_search
        self.n_remaining_fits, self.refit = n_remaining_fits, refit
        self.clock: Callable[[], float] = time.monotonic
        self.started = self.clock()
        self.answers: list[list[Answers]] = [[] for _ in passes]
        self.seconds = [0.0 for _ in passes]
        self.refusals: dict[str, str] = {}
        self.n_tried = self.n_fits = 0

    def run(self) -> TimedSearch:
        n_candidates = len(self.problem.family)
        n_fits_per_candidate = sum(asked_pass.plan.n_fits for asked_pass in self.passes)
        with listen(self._watch(listener())), count_fits(n_candidates * n_fits_per_candidate):
            try:
                while self.n_tried < n_candidates:
                    self._rate(min(self._batch_size(), n_candidates - self.n_tried))
            except _TimeIsOver:
                pass
        if not self.n_tried:
            progress_text = (
                f"{n_fits_per_candidate} fits, and {self.n_fits} of them were made in that time"
            )
            raise Refusal(
                f"time_limit={self.limit:.15g}: the first setting takes {progress_text}. Give more "
                "time, or ask less of a setting: fewer folds, or fewer rows."
            )
        return self._tried()

    def _rate(self, n_candidates: int) -> None:
        """Rate the next `n_candidates` candidates; they count once their last fit is made."""
        family = self._part(self.n_tried, self.n_tried + n_candidates)
        answers_of_passes, seconds_by_pass = [], []
        for current_pass in self.passes:
            start_time = self.clock()
            problem = replace(current_pass.problem, family=family)
            asking = problem.asking(fit_store=self._fit_store, passes=current_pass.number)
            answers_of_passes.append(asking(current_pass.plan, extras=current_pass.extras))
            self.refusals |= asking.refusals
            seconds_by_pass.append(self.clock() - start_time)
        for pass_index, (pass_answers, pass_seconds) in enumerate(
            zip(answers_of_passes, seconds_by_pass, strict=True)
        ):
            self.answers[pass_index].append(pass_answers)
            self.seconds[pass_index] += pass_seconds
        self.n_tried += n_candidates

    @property
    def _fit_store(self) -> FitStore | None:
        return None if self.stored is None else self.stored.fit_store

    def _part(self, first_candidate: int, end_candidate: int) -> Family:
        """Return a family of some candidates; a store keeps their fits under the whole grid."""
        whole_family, chosen_slice = self.problem.family, slice(first_candidate, end_candidate)
        family = Family(whole_family.estimator, whole_family.candidates[chosen_slice])
        if self.stored is not None:
            self.stored.part(family, whole_family, chosen_slice)
        return family

    def _watch(self, listener: Listener | None) -> Listener:
        """Return a listener that passes progress on, and raises _TimeIsOver when the time is up."""

        def watch(progress: Progress) -> None:
            self.n_fits = progress.done
            if listener is not None:
                listener(progress)
            if self._seconds_left() <= 0:
                raise _TimeIsOver

        return watch

    def _seconds_left(self) -> float:
        """Return the seconds until the fits that follow the choice of a candidate must begin."""
        seconds_left = self.started + self.limit - self.clock()
        if not self.n_tried:
            return seconds_left
        n_fits_made = sum(
            batch_answers.n_fits for pass_answers in self.answers for batch_answers in pass_answers
        )
        seconds_left -= self.n_remaining_fits * sum(self.seconds) / n_fits_made
        if self.refit:
            seconds_left -= max(
                float(batch_answers.fit_seconds.mean()) for batch_answers in self.answers[0]
            )
        return seconds_left

    def _batch_size(self) -> int:
        """Return how many candidates to rate next, so that they take a small part of the time left.

        The number is small at the beginning. With a store it is 1, because stored fits say nothing
        about the speed of missing ones.
        """
        if not self.n_tried or self.stored is not None:
            return 1
        seconds_per_candidate = sum(self.seconds) / self.n_tried
        last_batch = self.answers[0][-1].n_candidates
        return max(
            1,
            min(
                BATCH_GROWTH * last_batch,
                int(self._seconds_left() / (BATCH_SHARE * seconds_per_candidate)),
            ),
        )

    def _tried(self) -> TimedSearch:
        n_candidates, n_tried = len(self.problem.family), self.n_tried
        joined_answers = [joined(batches_of_answers) for batches_of_answers in self.answers]
        testing_answers = [
            (rating_pass.number, pass_answers)
            for rating_pass, pass_answers in zip(self.passes, joined_answers, strict=True)
            if rating_pass.tests
        ]
        answers_by_pass = dict(testing_answers)
        return TimedSearch(
            problem=replace(self.problem, family=self._part(0, n_tried)),
            tuning=(joined_answers[0],),
            testing=tuple(
                answers_by_pass.get(pass_number)
                for pass_number in range(max(answers_by_pass, default=-1) + 1)
            ),
            note=""
            if n_tried == n_candidates
            else f"stopped after {self.limit:.15g} s: {n_tried} of {n_candidates} settings were "
            "tried, in grid order.",
            seconds=(self.seconds[0], sum(self.seconds[1:])),
            refusals=self.refusals,
        )
