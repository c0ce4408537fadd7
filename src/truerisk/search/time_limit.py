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
from truerisk.estimation.problem import EstimationProblem, draw_plan
from truerisk.estimation.run import Computation, tuning_problem, with_note
from truerisk.methods.parts.procedure import Procedure
from truerisk.plan.answers import Answers, append_candidates
from truerisk.plan.builder import add_training_row_test_sets
from truerisk.plan.plan import Plan
from truerisk.search.stored_search import StoredSearch

# Candidates that are rated together may take the remaining time divided by this number.
BATCH_TIME_DIVISOR = 10
BATCH_GROWTH = 2  # Each batch has at most twice as many candidates as the previous one.


@frozen(eq=False)
class TimedSearch:
    """Estimation problem of the candidates that were rated before the time limit.

    It holds the predictions of each pass, where a pass makes the fits of one plan.
    """

    problem: EstimationProblem
    tuning_answers: tuple[Answers | None, ...] = ()
    testing_answers: tuple[Answers | None, ...] = ()
    note: str = ""
    # Seconds that tuning took, and seconds that testing took.
    seconds: tuple[float, float] = (0.0, 0.0)
    refusals: dict[str, str] = field(default_factory=dict)

    def known_answers(self, tuning_run: Computation) -> tuple[Answers | None, ...]:
        """Return, for each pass that tests models, the predictions that were already computed.

        The first pass may repeat the fits of the search, whose predictions are then used.
        """
        first_answers, later_answers = self.testing_answers[:1], self.testing_answers[1:]
        return (
            first_answers[0]
            if first_answers and first_answers[0] is not None
            else tuning_run.answers,
            *later_answers,
        )

    def complete_tuning_run(self, tuning_run: Computation) -> Computation:
        """Return the result of tuning, with the total time and a note on candidates not rated."""
        return self._add_earlier_totals(tuning_run, self.seconds[0])

    def complete_testing_run(self, testing_run: Computation) -> Computation:
        """Return the honest risk, with the total time and a note on candidates not rated."""
        return self._add_earlier_totals(testing_run, self.seconds[1])

    def _add_earlier_totals(self, last_run: Computation, seconds_so_far: float) -> Computation:
        refusals = self.refusals | dict(last_run.refusals)
        last_run = replace(last_run, seconds=last_run.seconds + seconds_so_far, refusals=refusals)
        return with_note(last_run, self.note) if self.note else last_run


def try_in_time(
    problem: EstimationProblem,
    seconds_limit: float,
    stored_search: StoredSearch | None,
    *,
    trained: bool = False,
    refit: bool = True,
) -> TimedSearch:
    """Rate the candidates in grid order until the time limit is reached.

    With `trained`, fits are also tested on their training rows. The remaining work is completed
    within the time as well, as far as its duration can be predicted: the fit on all rows, and the
    fits of the chosen candidates in outer splits.
    """
    testing, n_remaining_fits = problem.testing_method, 0
    rating_passes = [_tuning_pass(tuning_problem(problem), problem.tuning_method, trained=trained)]
    if isinstance(testing, Procedure):
        plan = draw_plan(problem, testing)[2]
        rating_passes += _testing_passes(problem, testing, plan, rating_passes[0].plan)
        n_remaining_fits = 0 if testing.shares_folds else plan.questions("outer").size
    timed_rating = _TimedRating(
        problem, rating_passes, float(seconds_limit), stored_search, n_remaining_fits, refit=refit
    )
    return timed_rating.run()


@frozen(eq=False)
class _RatingPass:
    """Pass of the computation: a plan of fits that are made for every candidate."""

    problem: EstimationProblem
    plan: Plan
    pass_number: int = 0
    has_extra_outputs: bool = True
    is_for_testing: bool = False


def _tuning_pass(
    problem: EstimationProblem, method: Method | None, *, trained: bool
) -> _RatingPass:
    problem, tuning_method, plan = draw_plan(problem, method)
    if type(tuning_method).evaluate is not Method.evaluate:
        raise Refusal(
            f"'{tuning_method.name}' compares settings with each other as it goes, and a "
            "time_limit tries them one after the other: leave out time_limit, or choose by folds, "
            f"such as {mention('cv', '10-fold')}."
        )
    return _RatingPass(problem, add_training_row_test_sets(plan) if trained else plan)


def _testing_passes(
    problem: EstimationProblem, testing: Procedure, plan: Plan, tuning_plan: Plan
) -> list[_RatingPass]:
    """Return the passes that test models and whose fits are needed before a candidate is chosen.

    A pass whose predictions are known from the search is left out.
    """
    inner_plan = plan.part_named("inner")
    if not testing.shares_folds:
        return [_RatingPass(problem, inner_plan, 0, has_extra_outputs=False, is_for_testing=True)]
    outer_plan = plan.part_named("outer")
    outer_passes = (
        []
        if _is_answered_by_tuning(outer_plan, tuning_plan)
        else [_RatingPass(problem, outer_plan, 0, is_for_testing=True)]
    )
    return [*outer_passes, _RatingPass(problem, inner_plan, 1, is_for_testing=True)]


def _is_answered_by_tuning(outer_plan: Plan, tuning_plan: Plan) -> bool:
    """Return True if tuning has already made the fits of the outer splits.

    The tuning plan must begin with the same questions, and may also predict training rows.
    """
    return tuning_plan.n_questions >= outer_plan.n_questions and outer_plan.asks_like(
        tuning_plan.select(np.arange(outer_plan.n_questions))
    )


class _TimeLimitReached(BaseException):
    """Exception that is raised when the time limit is reached; it is not a failure of a fit."""


class _TimedRating:
    """Rating of candidates one after the other, or of several together if they are fast."""

    def __init__(
        self,
        problem: EstimationProblem,
        passes: Sequence[_RatingPass],
        limit: float,
        stored_search: StoredSearch | None,
        n_remaining_fits: int,
        *,
        refit: bool,
    ) -> None:
        self.problem, self.passes, self.seconds_limit, self.stored = (
            problem,
            passes,
            limit,
            stored_search,
        )
        self.n_remaining_fits, self.refit = n_remaining_fits, refit
        self.clock: Callable[[], float] = time.monotonic
        self.started = self.clock()
        self.answers: list[list[Answers]] = [[] for _ in passes]
        self.seconds = [0.0 for _ in passes]
        self.refusals: dict[str, str] = {}
        self.n_tried = self.n_fits = 0

    def run(self) -> TimedSearch:
        n_candidates = len(self.problem.family)
        n_fits_per_candidate = sum(rating_pass.plan.n_fits for rating_pass in self.passes)
        with (
            listen(self._wrap_listener(listener())),
            count_fits(n_candidates * n_fits_per_candidate),
        ):
            try:
                while self.n_tried < n_candidates:
                    self._rate_next_batch(min(self._batch_size(), n_candidates - self.n_tried))
            except _TimeLimitReached:
                pass
        if not self.n_tried:
            fit_count_text = (
                f"{n_fits_per_candidate} fits, and {self.n_fits} of them were made in that time"
            )
            raise Refusal(
                f"time_limit={self.seconds_limit:.15g}: the first setting takes {fit_count_text}. "
                "Give more "
                "time, or ask less of a setting: fewer folds, or fewer rows."
            )
        return self._make_result()

    def _rate_next_batch(self, n_candidates: int) -> None:
        """Rate the next `n_candidates` candidates.

        They count as rated only after the last of their fits.
        """
        batch_family = self._select_candidates(self.n_tried, self.n_tried + n_candidates)
        answers_by_pass, seconds_by_pass = [], []
        for current_pass in self.passes:
            start_time = self.clock()
            problem = replace(current_pass.problem, family=batch_family)
            compute_answers = problem.create_asking(
                fit_store=self._fit_store, passes=current_pass.pass_number
            )
            answers_by_pass.append(
                compute_answers(current_pass.plan, extras=current_pass.has_extra_outputs)
            )
            self.refusals |= compute_answers.refusals
            seconds_by_pass.append(self.clock() - start_time)
        for pass_index, (pass_answers, pass_seconds) in enumerate(
            zip(answers_by_pass, seconds_by_pass, strict=True)
        ):
            self.answers[pass_index].append(pass_answers)
            self.seconds[pass_index] += pass_seconds
        self.n_tried += n_candidates

    @property
    def _fit_store(self) -> FitStore | None:
        return None if self.stored is None else self.stored.fit_store

    def _select_candidates(self, first_candidate: int, end_candidate: int) -> Family:
        """Return a family that contains only some of the candidates.

        A store keeps their fits under the key of the whole grid.
        """
        whole_family, candidate_slice = self.problem.family, slice(first_candidate, end_candidate)
        family = Family(whole_family.estimator, whole_family.candidates[candidate_slice])
        if self.stored is not None:
            self.stored.register_candidates(family, whole_family, candidate_slice)
        return family

    def _wrap_listener(self, listener: Listener | None) -> Listener:
        """Return a progress listener that raises _TimeLimitReached at the time limit.

        Before the limit it passes the progress on to `listener`.
        """

        def watch(progress: Progress) -> None:
            self.n_fits = progress.done
            if listener is not None:
                listener(progress)
            if self._seconds_left() <= 0:
                raise _TimeLimitReached

        return watch

    def _seconds_left(self) -> float:
        """Return the seconds left for rating candidates.

        Then the fits that follow the choice of a candidate must begin.
        """
        seconds_left = self.started + self.seconds_limit - self.clock()
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

        These candidates are rated together.

        The number is small at the beginning. With a store it is 1, because stored fits say nothing
        about the speed of missing ones.
        """
        if not self.n_tried or self.stored is not None:
            return 1
        seconds_per_candidate = sum(self.seconds) / self.n_tried
        last_batch_size = self.answers[0][-1].n_candidates
        return max(
            1,
            min(
                BATCH_GROWTH * last_batch_size,
                int(self._seconds_left() / (BATCH_TIME_DIVISOR * seconds_per_candidate)),
            ),
        )

    def _make_result(self) -> TimedSearch:
        n_candidates, n_tried = len(self.problem.family), self.n_tried
        joined_answers = [append_candidates(batch_answers) for batch_answers in self.answers]
        testing_answers = [
            (rating_pass.pass_number, pass_answers)
            for rating_pass, pass_answers in zip(self.passes, joined_answers, strict=True)
            if rating_pass.is_for_testing
        ]
        answers_by_pass = dict(testing_answers)
        return TimedSearch(
            problem=replace(self.problem, family=self._select_candidates(0, n_tried)),
            tuning_answers=(joined_answers[0],),
            testing_answers=tuple(
                answers_by_pass.get(pass_number)
                for pass_number in range(max(answers_by_pass, default=-1) + 1)
            ),
            note=""
            if n_tried == n_candidates
            else f"stopped after {self.seconds_limit:.15g} s: {n_tried} of {n_candidates} "
            "settings were "
            "tried, in grid order.",
            seconds=(self.seconds[0], sum(self.seconds[1:])),
            refusals=self.refusals,
        )
