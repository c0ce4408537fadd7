"""The template of engines that answer all candidates of a group in one pass over each train set.

A subclass says which learners it serves, along which parameters one pass answers, and how:
`fit_pass` gets what a fit sees and returns the answers of all candidates of the group. It may
answer many fits together first (`together`: leave-one-out from one decomposition); what is left
goes through `fit_pass`, train set by train set. Where a closed form leaves an answer open (a tie,
a scatter that cannot be inverted), `fit_pass` returns None or calls `Task.leave_open`, and the
learner itself is fitted and asked.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import Engine, Request, RunOptions
from truerisk.core.family import Family
from truerisk.core.linear_rules import LinearRules, gathered
from truerisk.core.plan.plan import Plan
from truerisk.core.progress import tell
from truerisk.core.table.data import Data
from truerisk.engines.running.fit_warnings import Warned, say_once
from truerisk.engines.running.fitting import empty_values, error_of, fit_pieces
from truerisk.engines.settings import (
    Group,
    family_refusal,
    groups_along,
    prefix_of,
    response_refusal,
    settings_of,
)
from truerisk.engines.templates.magnitude import squares_fit
from truerisk.engines.templates.prepared import OwnArithmetic, dense, unless_it_fails
from truerisk.engines.templates.ranking import fits_ranked_by_rounding

__all__ = ["OnePass", "Shown", "Task"]


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
    values: np.ndarray
    open: dict[int, set[int]] = field(default_factory=dict)  # of a fit, the candidates left open
    warned: list[Warned] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # for the reader of the result
    freedom: np.ndarray | None = None  # (line, fit), where the plan asks for it
    rules: list[LinearRules] = field(default_factory=list)  # of the fits that are asked for theirs
    largest: dict[str, float] = field(default_factory=dict)  # of what is measured, by its name

    def of_fit(self, fit: int) -> Group | None:
        """The candidates asked in a fit: all of the group, its one winner, or none of it."""
        if self.run.only is None:
            return self.group
        at = np.flatnonzero(self.group.candidates == self.run.only[fit])
        return self.group.only(int(at[0])) if len(at) else None

    def questions(self, fit: int) -> np.ndarray:
        """The questions put to a fit."""
        order, starts = self.plan.questions_of
        return order[starts[fit] : starts[fit + 1]]

    def place(self, question: int, group: Group, answers: np.ndarray) -> None:
        """Put the answers (one row per candidate of the group) to a question in their place."""
        where = slice(*self.plan.test_offsets[question : question + 2])
        self.values[self.lines_of(group), where] = answers

    def measure(self, what: str, value: float) -> None:
        """The reader of the result is told the largest value of what is measured."""
        self.largest[what] = max(value, self.largest.get(what, value))

    def leave_open(self, fit: int, candidates: Iterable[int]) -> None:
        """Answers of these candidates (as the family numbers them) are to be asked of a fit."""
        self.open.setdefault(int(fit), set()).update(int(c) for c in candidates)

    def all_open(self) -> np.ndarray:
        """Leave every fit open."""
        for fit in range(self.plan.n_fits):
            group = self.of_fit(fit)
            self.leave_open(fit, () if group is None else group.candidates)
        return np.ones(self.plan.n_fits, dtype=bool)

    def ask_the_learner(self) -> None:
        """Fit the learner itself wherever an answer was left open."""
        for fit, candidates in sorted(self.open.items()):
            if candidates:
                self._ask(fit, sorted(candidates))

    def _ask(self, fit: int, candidates: list[int]) -> None:
        jobs = [(fit, candidates)]
        seed = self.run.seed
        for piece in fit_pieces(self.family, self.data, self.plan, self.request, seed, True, jobs):
            if piece.failure is not None:
                raise error_of(piece)
            self.warned.extend(piece.warned)
            line = piece.candidate if self.run.only is None else 0
            if self.freedom is not None and fit in self.plan.free_fits:
                self.freedom[line, fit] = piece.freedom
            for question, answer in zip(self.questions(fit), piece.answers, strict=True):
                where = slice(*self.plan.test_offsets[question : question + 2])
                self.values[line, where] = answer

    def ask_for_ranks(self, asked: Container[tuple[int, int]]) -> None:
        """Ask the learner for scores that rounding would rank, but for those it was asked for."""
        for line, scores in enumerate(self.values):
            for fit in fits_ranked_by_rounding(scores, self.plan, self.data).tolist():
                candidate = line if self.run.only is None else int(self.run.only[fit])
                if (fit, candidate) not in asked:
                    self.leave_open(fit, [candidate])
        self.ask_the_learner()

    def lines_of(self, group: Group) -> Any:
        """Where the candidates of a group stand in `values`."""
        return group.candidates if self.run.only is None else slice(0, 1)

    def labels(self, fit: int) -> np.ndarray:
        """Codes or targets of all rows as the fit is shown them."""
        codes = self.data.y if self.data.codes is None else self.data.codes
        flipped, to = self.plan.flips_of(fit)
        if len(flipped):
            codes = codes.copy()
            codes[flipped] = to
        return codes

    def shown(self, fit: int) -> tuple[Shown, list[np.ndarray]]:
        """What the fit sees, and the rows that each of its questions asks about, prepared."""
        rows, times = self.plan.train_rows(fit)
        asked = [self.plan.test_rows(int(q))[0] for q in self.questions(fit)]
        y = self.labels(fit)[rows]
        weights = None if self.weights is None else self.weights[rows]
        if self.X is not None:
            return Shown(fit, rows, self.X[rows], y, times, weights), [self.X[a] for a in asked]
        return self._prepared(fit, rows, times, y, weights, asked)

    def _prepared(
        self,
        fit: int,
        rows: np.ndarray,
        times: np.ndarray | None,
        y: np.ndarray,
        weights: np.ndarray | None,
        asked: list[np.ndarray],
    ) -> tuple[Shown, list[np.ndarray]]:
        """The steps before the learner are fitted on this train set, copies and all."""
        from sklearn.base import clone

        data, steps = self.data, clone(self.group.preparation)
        every = rows if times is None else np.repeat(rows, times)
        said = y if data.classes is None else data.classes[y]
        said = said if times is None else np.repeat(said, times, axis=0)
        X = dense(steps.fit_transform(data.rows(every), said))
        if times is not None and len(X) == len(every):  # equal rows stay equal
            X = X[np.concatenate([[0], np.cumsum(times)[:-1]])]
        tests = [dense(steps.transform(data.rows(a))) for a in asked]
        if [len(X), *map(len, tests)] != [len(rows), *map(len, asked)]:
            raise OwnArithmetic("other rows than it was given")
        return Shown(fit, rows, X, y, times, weights), tests


class OnePass(Engine):
    """Serves `learners()`; one pass answers all candidates that differ in `along` only."""

    along: ClassVar[tuple[str, ...]]

    @abstractmethod
    def learners(self) -> Sequence[type]:
        """The classes it serves; imported when asked for."""

    @abstractmethod
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        """For each test the answers `(candidate of the group, row, ...)` in the asked response.

        None where the pass cannot say: all candidates of the group are then fitted one by one.
        """

    def rounds(self, group: Group) -> bool:
        """Whether scores may differ from the learner's in the last digits."""
        return True

    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        """Why one setting of the learner is not served, or None."""
        return None

    def settings_refusal(self, settings: Sequence[dict[str, Any]]) -> str | None:
        """Why one of the settings is not served, or None."""
        reasons = map(self.setting_refusal, settings)
        return next((reason for reason in reasons if reason is not None), None)

    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        """What else stands against it; asked last."""
        return None

    def table_refusal(self, family: Family, data: Data) -> str | None:
        """Why X is not served, or None; an engine for sparse X says less, and has its `table`."""
        if hasattr(data.X, "tocsr"):
            return "X is sparse."
        if len(np.shape(data.X)) != 2:
            return "X is no table."
        if not np.shape(data.X)[1]:
            return "X has no columns."
        dtype = np.asarray(data.X).dtype
        if dtype.kind == "f" and dtype.itemsize < 8:
            return "X is in single precision, and scikit-learn would compute in it."
        if dtype.kind not in "biuf" and not family.is_piped:
            return "X holds more than numbers."
        return "X has cells that are not finite." if data.non_finite else None

    def table(self, group: Group, data: Data) -> Any:
        """X after the steps that treat each row by itself."""
        if group.rowwise is None:  # it was looked through before
            return np.ascontiguousarray(data.X, dtype=np.float64)
        every = data.rows(np.arange(data.n_rows))  # a step may write into its rows (copy=False)
        return dense(group.rowwise.fit_transform(every))

    def together(self, task: Task) -> np.ndarray:
        """Answer what can be answered at once; which fits that were."""
        return np.zeros(task.plan.n_fits, dtype=bool)

    def closing_notes(self, task: Task) -> list[str]:
        """What the reader of the result is told once all fits of a group are answered."""
        return []

    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        reason = family_refusal(family, self.learners())
        if reason is None:
            reason = self.settings_refusal(settings_of(family))
        if reason is not None:
            return reason
        return (
            response_refusal(family, data, request)
            or _weights_refusal(family, data)
            or self.table_refusal(family, data)
            or _plan_refusal(plan)
            or self.more_refusals(family, data, plan, request)
        )

    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        started = time.perf_counter()
        values = empty_values(data, plan, request, len(family) if run.only is None else 1)
        groups = groups_along(family, self.along)
        total = plan.n_fits * len(groups)
        tell(0, total)
        warned: list[Warned] = []
        notes: list[str] = []
        rules: list[LinearRules] = []
        largest: dict[str, float] = {}
        asked: set[tuple[int, int]] = set()  # (fit, candidate) that the learner itself answered
        free = None if plan.freedom is None else np.full((len(values), plan.n_fits), np.nan)
        for number, group in enumerate(groups):
            X, everywhere = self._shared(group, data)
            weights = _weights(data)
            task = Task(
                family,
                group,
                data,
                plan,
                request,
                run,
                X,
                weights,
                values,
                freedom=free,
                rules=rules,
                largest=largest,
            )
            done = task.all_open() if everywhere else self.together(task)
            tell(number * plan.n_fits + int(done.sum()), total)
            for count, fit in enumerate(np.flatnonzero(~done), start=1):
                self._answer(task, int(fit))
                tell(number * plan.n_fits + int(done.sum()) + count, total)
            task.ask_the_learner()
            asked |= {(fit, c) for fit, those in task.open.items() for c in those}
            warned += task.warned
            notes += [*task.notes, *self.closing_notes(task)]
        if request.response == "score" and any(map(self.rounds, groups)):
            replace(task, open={}, warned=warned).ask_for_ranks(asked)
        tell(total, total)
        say_once(warned, len(values) * plan.n_fits)
        shape = len(values), plan.n_fits  # of one pass: each fit has its share of the seconds
        share = (time.perf_counter() - started) / (len(values) * plan.n_fits)
        return Answers(
            plan=plan,
            response=request.response,
            values=values,
            answered=np.ones((len(values), plan.n_questions), dtype=bool),
            engine=self.word,
            fit_seconds=np.broadcast_to(share, shape),
            answer_seconds=np.broadcast_to(0.0, shape),
            n_fits=len(values) * plan.n_fits,
            freedom=free,
            rules=None if plan.rules is None else gathered(rules),
            notes=tuple(dict.fromkeys([*notes, *(f"{n}: {v:.1e}" for n, v in largest.items())])),
        )

    def _shared(self, group: Group, data: Data) -> tuple[Any, bool]:
        """X for all fits, if there is one; whether the learner itself is to be asked everywhere."""
        if data.classes is None and not squares_fit(data.y):
            return None, True
        if group.preparation is not None:
            return None, False
        X = unless_it_fails(lambda: self.table(group, data))
        return (X, False) if X is not None and squares_fit(X) else (None, True)

    def _answer(self, task: Task, fit: int) -> None:
        group = task.of_fit(fit)
        if group is None:
            return
        shown = unless_it_fails(lambda: task.shown(fit))
        answers = None if shown is None else self.fit_pass(task, group, *shown)
        if answers is None:
            task.leave_open(fit, group.candidates)
            return
        for question, answer in zip(task.questions(fit), answers, strict=True):
            task.place(int(question), group, answer)


def _weights(data: Data) -> np.ndarray | None:
    """The weights that the learner is fitted with: the only fit parameter that is served."""
    given = list(data.fit_params.values())
    return np.asarray(given[0], dtype=np.float64) if given else None


def _weights_refusal(family: Family, data: Data) -> str | None:
    own = f"{prefix_of(family)}sample_weight"
    others = [name for name in data.fit_params if name != own]
    if others:
        return f"fit parameters ({', '.join(others)}) are given."
    if own in data.fit_params and np.shape(data.fit_params[own]) != (data.n_rows,):
        return f"{own} is not one weight per row."
    return None


def _plan_refusal(plan: Plan) -> str | None:
    if not plan.train_sizes.all() or not plan.test_sizes.all():
        return "a fit sees no rows, or is asked about none."
    return None
