"""One group of candidates on one plan: the training data of its fits and where answers go.

A `Task` does not change; the results of its fits are gathered in the `Collected` of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.contracts import Request, RunOptions
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.engines.prepared import Begin, dense, unless_it_fails
from truerisk.engines.running.doors import known_steps
from truerisk.engines.running.fit_warnings import Warned
from truerisk.engines.running.fitting import error_of, fit_pieces
from truerisk.engines.settings import ELSEWHERE, Group, fit_steps
from truerisk.plan.plan import Plan

CLOSE = 1e-9  # relative to the largest score: differences this small may be due to rounding
PROBED = 16  # number of successive fits; the first of them shows which candidates are worth a pass


@frozen(eq=False)
class Shown:
    """Training data of one fit after the steps before the learner: distinct rows and their weights.

    Parameters
    ----------
    fit : int
        The number of the fit.
    rows : array of int
        The row numbers.
    X : array
        The features of these rows.
    y : array
        The class codes or target values, after labels have been flipped.
    times : array of int or None
        The number of copies of each row; None if each occurs once.
    weights : array or None
        The user's sample weights; None if none were given.

    See Also
    --------
    truerisk.extend.Task : Returns such rows.

    Examples
    --------
    >>> import numpy as np
    >>> from truerisk.extend import Shown
    >>> y, copies = np.array([0, 1]), np.array([1, 2])
    >>> Shown(0, np.arange(2), np.eye(2), y, copies, None).all_weights.tolist()
    [1.0, 2.0]
    """

    fit: int
    rows: np.ndarray
    X: np.ndarray
    y: np.ndarray
    times: np.ndarray | None
    weights: np.ndarray | None

    @property
    def all_weights(self) -> np.ndarray | None:
        """Product of copies and sample weights, or None if all rows have weight 1."""
        if self.times is None:
            return self.weights
        times = self.times.astype(np.float64)
        return times if self.weights is None else times * self.weights


@dataclass(eq=False)
class Collected:
    """Results of the fits of a run so far, and the answers that the learner has to give.

    `open` maps a fit to the candidates that were left open. `alike` lists pairs (fit, candidate)
    that cause the same warning. `requested` holds pairs (fit, candidate) that the learner itself
    answered.
    """

    values: np.ndarray
    extra: Any = None  # a `Gathered`, if the plan asks for more than predictions of rows
    open: dict[int, set[int]] = field(default_factory=dict)
    alike: list[tuple[int, int]] = field(default_factory=list)
    requested: set[tuple[int, int]] = field(default_factory=set)
    warned: list[Warned] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # for the reader of the result
    # the largest value of each measured quantity
    largest: dict[str, float] = field(default_factory=dict)


@frozen(eq=False)
class Task:
    """One group of candidates on one plan; `place` stores answers where they belong.

    Parameters
    ----------
    family : Family
        The learner and its candidate settings.
    group : Group
        Candidates that one pass answers together.
    data : Data
        The checked rows of the call.
    plan : Plan
        The fits and the questions that they answer.
    request : Request
        The type of answers that the loss needs.
    run : RunOptions
        The executor, the seed, and the fits that are needed.
    X : object
        The features after the steps that treat each row by itself; None if a step learns from the
        rows.
    weights : array or None
        The user's sample weights.
    collected : Collected
        The answers so far.
    places : array of int, optional
        The position in the group of the candidate of each fit; None if every fit answers for all
        candidates.
    read : callable, optional
        Converts the output of a step for the engine.

    See Also
    --------
    truerisk.extend.OnePass : Engine that gets tasks.
    truerisk.extend.Shown : The training rows of a fit.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Ridge
    >>> class Look(tr.engines.LeastSquares):
    ...     def answer_together(self, task):
    ...         print(task.plan.n_fits, task.group.values("alpha").tolist(), task.X.shape)
    ...         return super().answer_together(task)
    >>> X, y = tr.datasets.FieldProblem(task="regression")(60, random_state=0)
    >>> curve = tr.risk_curve(Ridge(), {"alpha": [0.1, 1.0]}, X, y, engine=Look())
    5 [0.1, 1.0] (60, 4)
    """

    family: Family
    group: Group
    data: Data
    plan: Plan
    request: Request
    run: RunOptions
    X: Any  # after the rowwise steps; None if a step learns from the rows
    weights: np.ndarray | None
    collected: Collected
    # `group.places_of(run.only)`; None if every fit answers for all candidates
    places: np.ndarray | None = None
    read: Callable[[Any], np.ndarray] = dense  # converts the output of a step for the engine

    def prepared_by_all_rows(self) -> np.ndarray | None:
        """Return X after steps that are fitted on all rows, or None if they fail.

        Returns
        -------
        array or None
            The prepared X.
        """
        from sklearn.base import clone

        steps, every = clone(self.group.preparation), self.data.rows(np.arange(self.data.n_rows))
        return unless_it_fails(lambda: dense(steps.fit_transform(every)))

    def of_fit(self, fit: int) -> Group | None:
        """Return the candidates that a fit answers for: the whole group, one of it, or None.

        Parameters
        ----------
        fit : int
            The number of the fit.

        Returns
        -------
        Group or None
            The candidates.
        """
        if self.places is None:
            return self.group
        place = int(self.places[fit])
        return None if place == ELSEWHERE else self.group.part(np.array([place]))

    def worth_trying(self, fit: int) -> Group | None:
        """Return the fit's candidates, without those that the first of PROBED fits left open.

        The cause of an open answer, such as a solver that does not converge or a singular scatter
        matrix, usually lies in the table. The learner itself is then fitted at once, instead of
        after a pass in vain.

        Parameters
        ----------
        fit : int
            The number of the fit.

        Returns
        -------
        Group or None
            The candidates.
        """
        group, first = self.of_fit(fit), fit - fit % PROBED
        if group is None or fit == first or not self.collected.open.get(first):
            return group
        open_ = np.isin(group.candidates, list(self.collected.open[first]))
        self.leave_open(fit, group.candidates[open_])
        return None if open_.all() else group.part(np.flatnonzero(~open_))

    def asks(self, fits: np.ndarray, place: int) -> np.ndarray:
        """Return a mask of the fits that answer for the candidate at this place of the group.

        Parameters
        ----------
        fits : array of int
            Numbers of fits.
        place : int
            The position in the group.

        Returns
        -------
        array of bool
            True for the fits that answer for that candidate.
        """
        return np.ones(len(fits), dtype=bool) if self.places is None else self.places[fits] == place

    def questions(self, fit: int) -> np.ndarray:
        """Return the questions (test sets) of a fit.

        Parameters
        ----------
        fit : int
            The number of the fit.

        Returns
        -------
        array of int
            The numbers of the questions.
        """
        order, starts = self.plan.questions_of
        return order[starts[fit] : starts[fit + 1]]

    def place(self, question: int, group: Group, answers: np.ndarray) -> None:
        """Write the answers to a question, one row per candidate of the group, into `values`.

        Parameters
        ----------
        question : int
            The number of the question.
        group : Group
            Candidates that one pass answers together.
        answers : array
            The predictions, one row per candidate of the group.
        """
        where = slice(*self.plan.test_offsets[question : question + 2])
        self.collected.values[self.lines_of(group), where] = answers

    def measure(self, what: str, value: float) -> None:
        """Record the largest value of a quantity; `what` is the note with a placeholder.

        Parameters
        ----------
        what : str
            The note, with a placeholder for the quantity.
        value : float
            The quantity in one fit.
        """
        largest = self.collected.largest
        largest[what] = max(value, largest.get(what, value))

    def leave_open(self, fit: int, candidates: Iterable[int]) -> None:
        """Record that the learner itself has to answer for these candidates in a fit.

        Parameters
        ----------
        fit : int
            The number of the fit.
        candidates : iterable of int
            Numbers of candidates.
        """
        self.collected.open.setdefault(int(fit), set()).update(map(int, candidates))

    def warn_alike(self, fit: int, candidates: Iterable[int]) -> None:
        """Record candidates that warn alike; the learner is fitted for the first of them.

        Parameters
        ----------
        fit : int
            The number of the fit.
        candidates : iterable of int
            Numbers of candidates.
        """
        self.collected.alike.extend((int(fit), int(c)) for c in candidates)

    def all_open(self) -> np.ndarray:
        """Leave every fit open.

        Returns
        -------
        array of bool, shape (n_fits,)
            True for every fit.
        """
        for fit in range(self.plan.n_fits):
            group = self.of_fit(fit)
            self.leave_open(fit, () if group is None else group.candidates)
        return np.ones(self.plan.n_fits, dtype=bool)

    def ask_the_learner(self) -> None:
        """Fit the learner itself for every open answer, and once for a warning that many share."""
        collected = self.collected
        for fit, candidate in collected.alike[:1]:
            self.leave_open(fit, [candidate])
        for fit, candidates in sorted(collected.open.items()):
            if candidates:
                self._ask(fit, sorted(candidates))
            collected.requested.update((fit, candidate) for candidate in candidates)
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
        """Fit the learner for scores that rounding may rank, unless it was fitted already."""
        for line, scores in enumerate(self.collected.values):
            for fit in fits_ranked_by_rounding(scores, self.plan, self.data).tolist():
                candidate = line if self.run.only is None else int(self.run.only[fit])
                if (fit, candidate) not in self.collected.requested:
                    self.leave_open(fit, [candidate])
        self.ask_the_learner()

    def lines_of(self, group: Group) -> Any:
        """Return the rows of `values` that belong to the candidates of a group.

        Parameters
        ----------
        group : Group
            Candidates that one pass answers together.

        Returns
        -------
        array of int or slice
            The rows.
        """
        return group.candidates if self.run.only is None else slice(0, 1)

    def line_of(self, candidate: int) -> int:
        """Return the row of `values` that belongs to one candidate.

        Parameters
        ----------
        candidate : int
            The number of the candidate.

        Returns
        -------
        int
            The row.
        """
        return candidate if self.run.only is None else 0

    @cached_property
    def _known_steps(self) -> Callable[[Plan, int], Begin | None]:
        candidate = int(self.group.candidates[0])
        return known_steps(self.run.steps, self.family, self.group.preparation, candidate)

    def labels(self, fit: int) -> np.ndarray:
        """Return the class codes or targets of all rows as this fit sees them.

        Parameters
        ----------
        fit : int
            The number of the fit.

        Returns
        -------
        array, shape (n_rows,)
            The codes or targets.
        """
        codes = self.data.y if self.data.codes is None else self.data.codes
        return codes if self.plan.extra is None else self.plan.extra.labels(fit, codes)

    def shown(self, fit: int) -> tuple[Shown, list[np.ndarray]]:
        """Return the training data of a fit and its test sets, both preprocessed.

        Parameters
        ----------
        fit : int
            The number of the fit.

        Returns
        -------
        shown : Shown
            The training rows.
        tests : list of arrays
            The rows of each test set.
        """
        rows, times = self.plan.train_rows(fit)
        requested = [self.plan.test_rows(int(q))[0] for q in self.questions(fit)]
        y = self.labels(fit)[rows]
        weights = None if self.weights is None else self.weights[rows]
        if self.X is not None:
            return Shown(fit, rows, self.X[rows], y, times, weights), [self.X[a] for a in requested]
        of = self.group.preparation, self.data, (rows, times), y
        X, tests = fit_steps(*of, requested, self.read, self._known_steps(self.plan, fit))
        return Shown(fit, rows, X, y, times, weights), tests


def fits_ranked_by_rounding(scores: np.ndarray, plan: Plan, data: Data) -> np.ndarray:
    """Find fits in which a score is nearly equal to the score of a row of the other class.

    A rule with slope 0 gives every row the same score except for the last digits. Which row ranks
    first then depends on rounding in the learner or in the engine. This matters between rows of two
    classes that are ranked together, which are those of one repetition, inside or outside.
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
