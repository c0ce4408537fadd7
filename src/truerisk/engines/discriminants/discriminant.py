"""The linear discriminant engine: all shrinkages and all left-out rows from one decomposition.

The scatter of a training set is inverted once: by Cholesky without shrinkage, and by its
eigenvectors for any number of shrinkages, which do not change the eigenvectors. Many fits of few
columns are answered together (`weighted_samples.py`), and so are all fits on all rows but one
(`left_out.py`). If scikit-learn would have to decide a rank, or if too few digits are known, the
learner of scikit-learn is fitted itself.

Shrunk linear discriminants, and how far the learner's own rounding may move their scores:

In all directions that are orthogonal to the training rows, the shrunk covariance C = (1 − s) A + s
tr(A)/p I has the same eigenvalue s tr(A)/p. If there are more columns than rows, the computation
uses as many columns as there are rows (`turned.py`), and no p × p matrix is formed. scikit-learn
forms this matrix, and solves for the class means without centring them: its rounding moves a score
of a row x about the class mean m by up to

    ε λ |C⁻¹x| |C⁻¹m|

where λ is the largest eigenvalue of C. A label whose margin is smaller is left to the learner. The
rounding error has no preferred direction, and of p directions each of the two that matter gets a
share of 1/√p: no score was ever seen to move by more than 3/√p of the bound. If this would affect
digits that are requested, the learner is fitted as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.core.overrides import override
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.engines.discriminants.left_out import LeftOut, Without
from truerisk.engines.discriminants.rule import (
    DOUBT,
    DiscriminantRule,
    respond,
    setting_refusal,
    shrinkage_of,
    shrunk_solution,
    undecided,
)
from truerisk.engines.discriminants.scatter import Classes, ScatterSpectrum, spectrum_of
from truerisk.engines.discriminants.weighted_samples import answer_samples
from truerisk.engines.settings import ELSEWHERE, Group
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.engines.templates.turned import Turned, is_wide, turned_about_mean
from truerisk.kernels.spectral import EPS
from truerisk.plan.plan import Plan


@frozen
class LinearDiscriminants(OnePass):
    """Engine for LinearDiscriminantAnalysis and LinearDiscriminant, alone or last in a pipeline.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.engines.QuadraticDiscriminants : Engine for quadratic discriminant analysis.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> engine = tr.engines.LinearDiscriminants()
    >>> tr.estimate_risk(tr.models.LinearDiscriminant(), X, y, engine=engine).engine
    'discriminant'
    """

    name: ClassVar[str] = "discriminant"
    along: ClassVar[tuple[str, ...]] = ("shrinkage", "tol")
    weighted: ClassVar[bool] = False

    @override
    def learners(self) -> Sequence[type]:
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        check_present("truerisk.models.discriminant_analysis")
        from truerisk.models.discriminant_analysis import LinearDiscriminant

        return LinearDiscriminantAnalysis, LinearDiscriminant

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        return setting_refusal(setting)

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        settings = family.settings
        lengths = {len(s["priors"]) for s in settings if s["priors"] is not None}
        if lengths - {data.n_classes}:
            return f"there are {min(lengths)} priors, and y has {data.n_classes} classes."
        if family.is_piped or any(shrinkage_of(s) for s in settings):
            return None
        n, p = data.n_rows, np.shape(data.X)[1]
        if n - data.n_classes < p:
            return f"a {p} x {p} scatter of {n} rows has no inverse, and it is not shrunk."
        return None

    @override
    def shares_work(self, group: Group) -> bool:
        return super().shares_work(group) or not all(map(shrinkage_of, group.settings))

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        done = np.zeros(task.plan.n_fits, dtype=bool)
        rest = ~done if task.places is None else task.places != ELSEWHERE
        if not rest.any() or (X := _shared_rows(task)) is None:
            return done
        out = LeftOut.from_plan(task.plan)
        rest[out.fits] = False
        done |= answer_samples(task, X, rest)
        if task.X is None:  # The remaining fits have no scaler of their own.
            for fit in np.flatnonzero(rest & ~done):
                self.answer_fit(replace(task, X=X), int(fit))
            done |= rest
        if not len(out.fits):
            return done
        classes = Classes.from_rows(X, task.data.class_codes)
        without = Without(classes, DiscriminantRule.from_settings(task.group.settings))
        for c in np.flatnonzero(classes.sizes > 1):
            mine = out.take(classes.member[out.rows] == c)
            fine = np.ones(task.plan.n_fits, dtype=bool)
            for place in range(len(task.group.settings)):
                fine &= ~_left_to_fit(
                    task, place, mine.take(mine.asks(task, place)), without, int(c)
                )
            done[mine.fits] = fine[mine.fits]
        return done

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        rule = DiscriminantRule.from_settings(group.settings)
        fit = _Fit.from_training(shown, rule, [shrinkage_of(setting) for setting in group.settings])
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


@frozen(eq=False)
class _Fit:
    """One training set: slopes without shrinkage (None: left open), and the fit with shrinkage."""

    rule: DiscriminantRule
    classes: Classes
    shrinkages: list[float]
    plain: np.ndarray | None
    shrunk: ShrunkFit | None

    @classmethod
    def from_training(
        cls, shown: Shown, rule: DiscriminantRule, shrinkages: list[float]
    ) -> _Fit | None:
        """Fit one training set. Return None if scikit-learn would fail or warn."""
        shrinks = [s for s in shrinkages if s]
        table = turned_about_mean(shown.X) if shrinks and is_wide(shown.X) else None
        classes = Classes.from_rows(shown.X if table is None else table.shown, shown.y, shown.times)
        means = classes.means if table is None else classes.means - table.origin
        quiet = rule.has_covariances(classes.sizes) and rule.tells_means(means)
        if not (quiet and rule.can_fit(classes.sizes, shown.X.shape[1])):
            return None
        plain = rule.plain_slopes(classes) if len(shrinks) < len(shrinkages) else None
        shrunk = (
            ShrunkFit.from_rows(shown.X, table, classes, rule, min(shrinks)) if shrinks else None
        )
        return cls(rule, classes, shrinkages, plain, shrunk)

    def scores(self, rows: np.ndarray, request: Request) -> tuple[np.ndarray, np.ndarray]:
        """Return scores `(candidate, row, class)`, and a mask of candidates that are left open."""
        scores = np.zeros((len(self.shrinkages), len(rows), len(self.classes.present)))
        open_ = np.zeros(len(self.shrinkages), dtype=bool)
        for place, s in enumerate(self.shrinkages):
            if s and self.shrunk is not None:
                shrunk_scores = self.shrunk.scores(rows, s)
                open_[place] = shrunk_scores is None
                if shrunk_scores is not None:
                    scores[place] = shrunk_scores[0]
                    open_[place] = moved_by_rounding(*shrunk_scores, rows.shape[1], request).any()
            elif self.plain is not None:
                scores[place] = self.rule.scores(self.classes, self.plain, rows)
            else:
                open_[place] = True
        return scores, open_ | undecided(scores, request).any(axis=1)


def _left_to_fit(
    task: Task, place: int, requested: LeftOut, without: Without, c: int
) -> np.ndarray:
    """Answer one candidate without each row of a class. Return the fits that remain."""
    remain = np.zeros(task.plan.n_fits, dtype=bool)
    if not len(requested.fits):
        return remain
    scored = without.scores(requested.rows, c, shrinkage_of(task.group.settings[place]))
    if scored is None:
        for fit in requested.fits:
            task.leave_open(fit, task.group.candidates[place : place + 1])
        return remain
    scores, sound = scored
    requested.take(sound).answer(task, place, scores[sound], without.classes.present)
    remain[requested.fits[~sound]] = True
    return remain


def _shared_rows(task: Task) -> np.ndarray | None:
    """Return X in the form in which all fits may share it, or None.

    A StandardScaler is fitted on every training set, but without shrinkage the result does not
    depend on it.
    """
    shared: np.ndarray | None = task.X
    if shared is not None:
        return shared
    steps = [step for _, step in task.group.preparation.steps]
    scales = all(is_exactly(step, "sklearn.preprocessing:StandardScaler") for step in steps)
    if not scales or any(shrinkage_of(setting) for setting in task.group.settings):
        return None
    return task.prepared_by_all_rows()


SHARE = 4.0  # Scores of p columns are taken to move by SHARE/√p of the bound on rounding.


@frozen(eq=False)
class ShrunkFit:
    """Class means and the spectrum of the scatter, of rotated rows if there is a `table`."""

    classes: Classes
    rule: DiscriminantRule
    spectrum: ScatterSpectrum
    table: Turned | None
    farthest: float

    @classmethod
    def from_rows(
        cls, X: np.ndarray, table: Turned | None, classes: Classes, rule: DiscriminantRule, s: float
    ) -> ShrunkFit:
        """Decompose the scatter; `s` is the smallest shrinkage in use, X holds unrotated rows."""
        rows, factor = classes.rows(rule.of_classes(classes.sizes))
        p = X.shape[1]
        added = s / p * factor * float(np.einsum("ij,ij->", rows, rows))
        spectrum = spectrum_of(rows, factor, n_features=p, added=added)
        farthest = classes.farthest if table is None else float(np.abs(X).max())
        return cls(classes, rule, spectrum, table, farthest)

    def scores(self, requested: np.ndarray, s: float) -> tuple[np.ndarray, np.ndarray] | None:
        """Return scores of rows, and the module's rounding bound for each (0: no score moves).

        The result is None if too few digits are known.
        """
        classes = self.classes
        origin: Any = 0.0 if self.table is None else self.table.origin
        slopes = self._solved(classes.means - classes.means.mean(axis=0), s)
        means = self._solved(classes.means - origin, s)
        if slopes is None or means is None:
            return None
        rows, across = (requested, 0.0) if self.table is None else self.table.turn(requested)
        scores = self.rule.scores(classes, slopes[0], rows)
        if self.table is None and self.rule.rounds_little(means[1], self.farthest, means[0]):
            return scores, np.zeros(len(requested))
        solution = self._solved(rows - origin, s)
        # The means were solved, so that the rows can be solved as well.
        assert solution is not None
        added = s * self.spectrum.trace / self.spectrum.n_features
        largest = (1 - s) * self.spectrum.values.max() + added
        of_rows = np.hypot(np.sqrt((solution[0] ** 2).sum(axis=1)), across / added)
        of_means = np.sqrt((means[0] ** 2).sum(axis=1).max())
        doubts: np.ndarray = EPS * largest * (of_rows + of_means) * of_means
        return scores, doubts

    def _solved(self, rows: np.ndarray, s: float) -> tuple[np.ndarray, float] | None:
        return shrunk_solution(self.spectrum, rows, s, self.farthest)


def moved_by_rounding(
    scores: np.ndarray, doubts: np.ndarray, n_features: int, request: Request
) -> np.ndarray:
    """Return a mask of rows whose label or digits scikit-learn may compute differently."""
    top = np.partition(scores, -2, axis=-1)[..., -2:]
    gap = top[..., 1] - top[..., 0]
    if request.response == "label":
        moved: np.ndarray = (gap <= 2 * doubts) & (doubts > 0)
    else:
        moved = min(1.0, SHARE / n_features**0.5) * doubts > DOUBT * (1 + gap)
    return moved
