"""One group of candidates on one plan: what its fits see, and where their answers go.

A `Task` does not change; what its fits say is gathered in the `Collected` of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.contracts import Request, RunOptions
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.prepared import Begin, dense, unless_it_fails
from truerisk.engines.running.doors import known_steps
from truerisk.engines.running.fit_warnings import Warned
from truerisk.engines.running.fitting import error_of, fit_pieces
from truerisk.engines.settings import ELSEWHERE, Group, fit_steps
from truerisk.plan.plan import Plan

CLOSE = 1e-9  # scores, beside the largest, that rounding may rank
PROBED = 16  # fits, of which the first says which candidates are worth a pass


@dataclass(frozen=True, eq=False)
class Shown:
    """What one fit sees, after the steps before the learner: distinct rows and their weights.

    `y` are class codes or target values, flipped labels replaced. `times` counts copies of a row
    (None: each once), `weights` are the user's (None: none given); `all_weights` is their product.
    """

    fit: int
    rows: np.ndarray
    X: np.ndarray
    y: np.ndarray
    times: np.ndarray | None
    weights: np.ndarray | None

    @property
    def all_weights(self) -> np.ndarray | None:
        if self.times is None:
            return self.weights
        times = self.times.astype(np.float64)
        return times if self.weights is None else times * self.weights


@dataclass(eq=False)
class Collected:
    """What the fits of a run have said until now, and what is left for the learner itself.

    `open` names of a fit the candidates left open, `alike` the (fit, candidate) that warn alike;
    `asked` are the (fit, candidate) that the learner itself answered.
    """

    values: np.ndarray
    extra: Any = None  # a `Gathered`, where the plan asks for more than answers about rows
    open: dict[int, set[int]] = field(default_factory=dict)
    alike: list[tuple[int, int]] = field(default_factory=list)
    asked: set[tuple[int, int]] = field(default_factory=set)
    warned: list[Warned] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # for the reader of the result
    largest: dict[str, float] = field(default_factory=dict)  # of what is measured, by its name


@dataclass(frozen=True, eq=False)
class Task:
    """One group of candidates on one plan; `place` puts answers where they belong."""

    family: Family
    group: Group
    data: Data
    plan: Plan
    request: Request
    run: RunOptions
    X: Any  # after the rowwise steps; None where a step learns from the rows
    weights: np.ndarray | None
    collected: Collected
    places: np.ndarray | None = None  # `group.places_of(run.only)`, None where all are asked
    read: Callable[[Any], np.ndarray] = dense  # what a step gives out, as the engine takes it

    def prepared_by_all_rows(self) -> np.ndarray | None:
        """X after steps that are fitted on all rows; None where they fail."""
        from sklearn.base import clone

        steps, every = clone(self.group.preparation), self.data.rows(np.arange(self.data.n_rows))
        return unless_it_fails(lambda: dense(steps.fit_transform(every)))

    def of_fit(self, fit: int) -> Group | None:
        """The candidates asked in a fit: all of the group, its one winner, or none of it."""
        if self.places is None:
            return self.group
        place = int(self.places[fit])
        return None if place == ELSEWHERE else self.group.part(np.array([place]))

    def worth_trying(self, fit: int) -> Group | None:
        """The candidates asked in a fit, less those that the first of PROBED fits left open.

        What left one open, a solver that does not end, a scatter that cannot be inverted, lies
        mostly in the table: the learner is asked at once then, and not after a pass for nothing.
        """
        group, first = self.of_fit(fit), fit - fit % PROBED
        if group is None or fit == first or not self.collected.open.get(first):
            return group
        open_ = np.isin(group.candidates, list(self.collected.open[first]))
        self.leave_open(fit, group.candidates[open_])
        return None if open_.all() else group.part(np.flatnonzero(~open_))

    def asks(self, fits: np.ndarray, place: int) -> np.ndarray:
        """In which of these fits the candidate at a place of the group is asked."""
        return np.ones(len(fits), dtype=bool) if self.places is None else self.places[fits] == place

    def questions(self, fit: int) -> np.ndarray:
        """The questions put to a fit."""
        order, starts = self.plan.questions_of
        return order[starts[fit] : starts[fit + 1]]

    def place(self, question: int, group: Group, answers: np.ndarray) -> None:
        """Write the answers to a question, one row per candidate of the group, into `values`."""
        where = slice(*self.plan.test_offsets[question : question + 2])
        self.collected.values[self.lines_of(group), where] = answers

    def measure(self, what: str, value: float) -> None:
        """The reader is told the largest value of what is measured: a sentence with a place."""
        largest = self.collected.largest
        largest[what] = max(value, largest.get(what, value))

    def leave_open(self, fit: int, candidates: Iterable[int]) -> None:
        """Answers of these candidates (as the family numbers them) are to be asked of a fit."""
        self.collected.open.setdefault(int(fit), set()).update(map(int, candidates))

    def warn_alike(self, fit: int, candidates: Iterable[int]) -> None:
        """The learner is fitted for the first of all that warn alike, whose sentence is theirs."""
        self.collected.alike.extend((int(fit), int(c)) for c in candidates)

    def all_open(self) -> np.ndarray:
        """Leave every fit open."""
        for fit in range(self.plan.n_fits):
            group = self.of_fit(fit)
            self.leave_open(fit, () if group is None else group.candidates)
        return np.ones(self.plan.n_fits, dtype=bool)

    def ask_the_learner(self) -> None:
        """Fit the learner itself wherever an answer was left open, and for a warning of many."""
        collected = self.collected
        for fit, candidate in collected.alike[:1]:
            self.leave_open(fit, [candidate])
        for fit, candidates in sorted(collected.open.items()):
            if candidates:
                self._ask(fit, sorted(candidates))
            collected.asked.update((fit, candidate) for candidate in candidates)
        collected.open.clear()
        collected.alike.clear()

    def _ask(self, fit: int, candidates: list[int]) -> None:
        jobs, seed, collected = [(fit, candidates)], self.run.seed, self.collected
        for piece in fit_pieces(self.family, self.data, self.plan, self.request, seed, True, jobs):
            if piece.failure is not None:
                raise error_of(piece)
            first = (fit, piece.candidate) in collected.alike[:1]
            collected.warned.extend(piece.warned * (len(collected.alike) if first else 1))
            line = self.line_of(piece.candidate)
            if collected.extra is not None:
                collected.extra.correct(fit, line, piece.extra)
            for question, answer in zip(self.questions(fit), piece.answers, strict=True):
                where = slice(*self.plan.test_offsets[question : question + 2])
                collected.values[line, where] = answer

    def ask_for_ranks(self) -> None:
        """Ask the learner for scores that rounding would rank, but for those it was asked for."""
        for line, scores in enumerate(self.collected.values):
            for fit in fits_ranked_by_rounding(scores, self.plan, self.data).tolist():
                candidate = line if self.run.only is None else int(self.run.only[fit])
                if (fit, candidate) not in self.collected.asked:
                    self.leave_open(fit, [candidate])
        self.ask_the_learner()

    def lines_of(self, group: Group) -> Any:
        """Where the candidates of a group stand in `values`."""
        return group.candidates if self.run.only is None else slice(0, 1)

    def line_of(self, candidate: int) -> int:
        """Where one candidate stands in `values`."""
        return candidate if self.run.only is None else 0

    @cached_property
    def _known_steps(self) -> Callable[[Plan, int], Begin | None]:
        candidate = int(self.group.candidates[0])
        return known_steps(self.run.steps, self.family, self.group.preparation, candidate)

    def labels(self, fit: int) -> np.ndarray:
        """Codes or targets of all rows as the fit is shown them."""
        codes = self.data.y if self.data.codes is None else self.data.codes
        return codes if self.plan.extra is None else self.plan.extra.labels(fit, codes)

    def shown(self, fit: int) -> tuple[Shown, list[np.ndarray]]:
        """What the fit sees, and the rows that each of its questions asks about, prepared."""
        rows, times = self.plan.train_rows(fit)
        asked = [self.plan.test_rows(int(q))[0] for q in self.questions(fit)]
        y = self.labels(fit)[rows]
        weights = None if self.weights is None else self.weights[rows]
        if self.X is not None:
            return Shown(fit, rows, self.X[rows], y, times, weights), [self.X[a] for a in asked]
        of = self.group.preparation, self.data, (rows, times), y
        X, tests = fit_steps(*of, asked, self.read, self._known_steps(self.plan, fit))
        return Shown(fit, rows, X, y, times, weights), tests


def fits_ranked_by_rounding(scores: np.ndarray, plan: Plan, data: Data) -> np.ndarray:
    """The fits of which some score is as good as equal to that of a row of the other class.

    A rule whose slope is 0 gives every row one score, but for the last digits; which row comes
    first is then up to the arithmetic, the learner's or the engine's. It matters between rows of
    two classes that are ranked together: those of one repetition, inside or outside.
    """
    sizes = plan.test_sizes
    together = np.stack([plan.part, plan.repeat, plan.unit], axis=1)
    of_question = np.unique(together, axis=0, return_inverse=True)[1].ravel()
    ranked = np.repeat(of_question, sizes)
    order = np.lexsort((scores, ranked))
    near = CLOSE * (1 + np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
    with np.errstate(invalid="ignore", over="ignore"):
        apart = (np.diff(ranked[order]) != 0) | ~(np.diff(scores[order]) <= near)
    starts = np.concatenate([[0], np.flatnonzero(apart) + 1])
    codes = data.class_codes[plan.positions[0][order]]
    mixed = np.maximum.reduceat(codes, starts) > np.minimum.reduceat(codes, starts)
    tied = order[np.repeat(mixed, np.diff(np.append(starts, len(order))))]
    return np.unique(np.repeat(plan.fit, sizes)[tied])
