"""The linear discriminant engine: every shrinkage, every row left out, from one decomposition.

The scatter of a train set is inverted once: by Cholesky where nothing is shrunk, by its
eigenvectors for any number of shrinkages, which leave them as they are (`shrunk.py`). Many fits of
few columns are answered together (`samples.py`), and so are all fits on all rows but one
(`left_out.py`). Where scikit-learn would decide a
rank, or too few digits are known, scikit-learn itself is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from truerisk.core.contracts import Request
from truerisk.core.family import Family
from truerisk.core.identity import is_exactly
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.engines.discriminants.left_out import Without
from truerisk.engines.discriminants.rule import DiscriminantRule, setting_refusal, shrinkage_of
from truerisk.engines.discriminants.samples import answer_samples
from truerisk.engines.discriminants.scatter import Classes
from truerisk.engines.discriminants.shrunk import ShrunkFit, moved_by_rounding
from truerisk.engines.settings import Group, settings_of
from truerisk.engines.templates.deciding import respond, undecided
from truerisk.engines.templates.left_out import LeftOut
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import ELSEWHERE, Shown, Task
from truerisk.engines.templates.turned import is_wide, turned_about_mean

__all__ = ["LinearDiscriminants"]


@dataclass(frozen=True)
class LinearDiscriminants(OnePass):
    """Serves LinearDiscriminantAnalysis and LinearDiscriminant, alone or last in a pipeline."""

    word: ClassVar[str] = "discriminant"
    along: ClassVar[tuple[str, ...]] = ("shrinkage", "tol")
    weighted: ClassVar[bool] = False

    def learners(self) -> Sequence[type]:
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        from truerisk.models.discriminant import LinearDiscriminant

        return LinearDiscriminantAnalysis, LinearDiscriminant

    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        return setting_refusal(setting)

    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        settings = settings_of(family)
        lengths = {len(s["priors"]) for s in settings if s["priors"] is not None}
        if lengths - {data.n_classes}:
            return f"there are {min(lengths)} priors, and y has {data.n_classes} classes."
        if family.is_piped or any(shrinkage_of(s) for s in settings):
            return None
        n, p = data.n_rows, np.shape(data.X)[1]
        if n - data.n_classes < p:
            return f"a {p} x {p} scatter of {n} rows has no inverse, and it is not shrunk."
        return None

    def shares_work(self, group: Group) -> bool:
        return super().shares_work(group) or not all(map(shrinkage_of, group.settings))

    def together(self, task: Task) -> np.ndarray:
        done = np.zeros(task.plan.n_fits, dtype=bool)
        rest = ~done if task.places is None else task.places != ELSEWHERE
        if not rest.any() or (X := _shared_rows(task)) is None:
            return done
        out = LeftOut.of(task.plan)
        rest[out.fits] = False
        done |= answer_samples(task, X, rest)
        if task.X is None:  # no scaler of their own for the fits that are left
            for fit in np.flatnonzero(rest & ~done):
                self.answer_fit(replace(task, X=X), int(fit))
            done |= rest
        if not len(out.fits):
            return done
        classes = Classes.of(X, task.data.class_codes)
        without = Without(classes, DiscriminantRule.of(task.group.settings))
        for c in np.flatnonzero(classes.sizes > 1):
            mine = out.take(classes.member[out.rows] == c)
            fine = np.ones(task.plan.n_fits, dtype=bool)
            for place in range(len(task.group.settings)):
                fine &= ~_left_to_fit(
                    task, place, mine.take(mine.asks(task, place)), without, int(c)
                )
            done[mine.fits] = fine[mine.fits]
        return done

    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        rule = DiscriminantRule.of(group.settings)
        fit = _Fit.of(shown, rule, [shrinkage_of(setting) for setting in group.settings])
        if fit is None:
            return None
        open_ = np.zeros(len(group.candidates), dtype=bool)
        answers = []
        for rows in tests:
            scores, unsure = fit.scores(rows, task.request)
            open_ |= unsure
            answers.append(respond(scores, fit.classes.present, task.request, task.data.n_classes))
        if open_.any():
            task.leave_open(shown.fit, group.candidates[open_])
        return answers


@dataclass(frozen=True, eq=False)
class _Fit:
    """One train set: the slopes of what is not shrunk (None: left open), the fit of what is."""

    rule: DiscriminantRule
    classes: Classes
    shrinkages: list[float]
    plain: np.ndarray | None
    shrunk: ShrunkFit | None

    @classmethod
    def of(cls, shown: Shown, rule: DiscriminantRule, shrinkages: list[float]) -> _Fit | None:
        """None where scikit-learn would fail, or warn."""
        shrinks = [s for s in shrinkages if s]
        table = turned_about_mean(shown.X) if shrinks and is_wide(shown.X) else None
        classes = Classes.of(shown.X if table is None else table.shown, shown.y, shown.times)
        means = classes.means if table is None else classes.means - table.origin
        quiet = rule.has_covariances(classes.sizes) and rule.tells_means(means)
        if not (quiet and rule.can_fit(classes.sizes, shown.X.shape[1])):
            return None
        plain = rule.plain_slopes(classes) if len(shrinks) < len(shrinkages) else None
        shrunk = ShrunkFit.of(shown.X, table, classes, rule, min(shrinks)) if shrinks else None
        return cls(rule, classes, shrinkages, plain, shrunk)

    def scores(self, rows: np.ndarray, request: Request) -> tuple[np.ndarray, np.ndarray]:
        """`(candidate, row, class)`, and which candidates are left open."""
        scores = np.zeros((len(self.shrinkages), len(rows), len(self.classes.present)))
        open_ = np.zeros(len(self.shrinkages), dtype=bool)
        for place, s in enumerate(self.shrinkages):
            if s and self.shrunk is not None:
                found = self.shrunk.scores(rows, s)
                open_[place] = found is None
                if found is not None:
                    scores[place] = found[0]
                    open_[place] = moved_by_rounding(*found, rows.shape[1], request).any()
            elif self.plain is not None:
                scores[place] = self.rule.scores(self.classes, self.plain, rows)
            else:
                open_[place] = True
        return scores, open_ | undecided(scores, request).any(axis=1)


def _left_to_fit(task: Task, place: int, asked: LeftOut, without: Without, c: int) -> np.ndarray:
    """Answer one candidate without each row of a class; which fits remain."""
    remain = np.zeros(task.plan.n_fits, dtype=bool)
    if not len(asked.fits):
        return remain
    found = without.scores(asked.rows, c, shrinkage_of(task.group.settings[place]))
    if found is None:
        for fit in asked.fits:
            task.leave_open(fit, task.group.candidates[place : place + 1])
        return remain
    scores, sound = found
    asked.take(sound).answer(task, place, scores[sound], without.classes.present)
    remain[asked.fits[~sound]] = True
    return remain


def _shared_rows(task: Task) -> np.ndarray | None:
    """X as all fits may share it, or None.

    A StandardScaler is fitted on every train set, but what is not shrunk does not depend on it.
    """
    shared: np.ndarray | None = task.X
    if shared is not None:
        return shared
    steps = [step for _, step in task.group.preparation.steps]
    scales = all(is_exactly(step, "sklearn.preprocessing:StandardScaler") for step in steps)
    if not scales or any(shrinkage_of(setting) for setting in task.group.settings):
        return None
    return task.prepared_by_all_rows()
