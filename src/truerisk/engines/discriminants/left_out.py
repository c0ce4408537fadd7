"""Linear discriminants without one row, for all rows at once.

Without row i of class c, with d = x − m_c, the scatter is A − γ d d' and the mean of c moves by
−d/(n_c − 1). With t = d'A⁻¹d, u_k = d'A⁻¹(x − m_k) and v_k = (x − m_k)'A⁻¹(x − m_k), the squared
distances to the other means and to its own mean are (Sherman and Morrison)

    D_k = v_k + γ u_k² / (1 − γ t),   D_c = (n_c/(n_c − 1))² t / (1 − γ t).

Shrinkage adds a multiple of the mean variance, which differs between rows: the eigenvectors of A do
not change, and every row has its own eigenvalues.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.discriminants.rule import (
    NOISE,
    WORST,
    DiscriminantRule,
    respond,
    shrunk_solution,
    spreads,
    undecided,
)
from truerisk.engines.discriminants.scatter import (
    FLAT,
    Classes,
    Root,
    ScatterSpectrum,
    lengths,
    root_of,
    spectrum_of,
)
from truerisk.engines.templates.fits_of_one_table import single_row_fits
from truerisk.engines.templates.task import Task
from truerisk.plan.extras.flips import Flips
from truerisk.plan.plan import Plan

LEAST_REMAINDER = 1e-5  # Minimum of 1 − leverage. At 0 the scatter without the row has no inverse.


class Without:
    """Discriminants of the training set without one row of a class."""

    def __init__(self, classes: Classes, rule: DiscriminantRule) -> None:
        self.classes, self.rule = classes, rule
        self._roots: dict[int, Root | None] = {}
        self._spectra: dict[int, ScatterSpectrum] = {}

    def scores(
        self, rows: np.ndarray, c: int, shrinkage: float
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return each row's scores by the fit without it, and a mask of reliable ones.

        The rows are from class c. The result is None if no such fit has an inverse.
        """
        sizes = self.sizes(c)
        quiet = self.rule.has_covariances(sizes)
        if not (quiet and self.rule.can_fit(sizes, self.classes.n_features)):
            return np.zeros((len(rows), len(sizes))), np.zeros(len(rows), dtype=bool)
        centred = self.classes.centred_rows(rows, c)
        products = self._shrunk(centred, c, shrinkage) if shrinkage else self._plain(centred, c)
        if products is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            sound = products.sound & (products.complement > LEAST_REMAINDER)
            distances = products.distances(c, float(self.classes.sizes[c]))
            if self.rule.solver != "lsqr":
                sound &= products.tells_means(c, float(self.classes.sizes[c]))
            if products.gaps is not None and self.rule.solver == "svd" and len(sizes) > 2:
                sound &= self._means_spread(products, products.gaps, c)
        scores = self.rule.log_priors(sizes) - self.rule.factor(sizes) * distances / 2
        return np.where(sound[:, None], scores, 0), sound

    def sizes(self, c: int) -> np.ndarray:
        """Return the number of rows of each class after removing a row of class c."""
        sizes = self.classes.sizes.copy()
        sizes[c] -= 1
        return sizes

    def _own_part(self, c: int) -> float:
        """Return γ, the factor of d d'."""
        n_c = self.classes.sizes[c]
        return float(self.rule.of_classes(self.sizes(c))[c] * n_c / (n_c - 1))

    def _rows(self, c: int) -> tuple[np.ndarray, float]:
        return self.classes.rows(self.rule.of_classes(self.sizes(c)))

    def _spectrum(self, c: int) -> ScatterSpectrum:
        key = c if self.rule.weighs_classes else 0
        if key not in self._spectra:
            self._spectra[key] = spectrum_of(*self._rows(c))
        return self._spectra[key]

    def _gaps(self, c: int) -> np.ndarray:
        """Return the vectors from each class mean to that of class c."""
        return self.classes.means[c] - self.classes.means

    def _plain(self, centred: np.ndarray, c: int) -> _Products | None:
        """Compute the products without shrinkage, from the root of the scatter."""
        key = c if self.rule.weighs_classes else 0
        if key not in self._roots:
            flat = self.classes.has_flat_columns
            self._roots[key] = None if flat else root_of(*self._rows(c))
        root = self._roots[key]
        if root is None:
            return None
        white, gaps = root.whiten(centred), root.whiten(self._gaps(c))
        own, part = lengths(white), self._own_part(c)
        between = gaps @ gaps.T
        complement = 1 - part * own
        sound = self.rule.has_full_rank(root.least_eigenvalue_bound * complement)
        condition = root.total / (root.least_unscaled * np.maximum(complement, LEAST_REMAINDER))
        solved, farthest = root.solve(self.classes.means), self.classes.farthest
        sound &= self.rule.rounds_little(condition, farthest, solved)
        return _Products(
            own,
            white @ gaps.T,
            np.broadcast_to(np.diag(between), (len(centred), len(gaps))),
            part,
            sound & self.rule.keeps_all(root.least_unscaled * complement, root.total),
            between,
        )

    def _shrunk(self, centred: np.ndarray, c: int, s: float) -> _Products:
        """Compute the products with shrinkage, from the spectrum of the scatter."""
        spectrum, part, gaps = self._spectrum(c), self._own_part(c), self._gaps(c)
        squares = np.einsum("ij,ij->i", centred, centred)
        trace = np.maximum(spectrum.trace - part * squares, 0)[:, None]
        added = s * trace / centred.shape[1]
        turned, gaps_turned = centred @ spectrum.vectors, gaps @ spectrum.vectors
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = 1 / ((1 - s) * spectrum.values + added)
            weighted = inverse * turned
            own = np.einsum("ij,ij->i", weighted, turned)
            across, between = weighted @ gaps_turned.T, inverse @ (gaps_turned**2).T
            # This term is needed for δ only, since d lies in the span of the eigenvectors.
            if spectrum.has_rest:
                between += ((gaps**2).sum(axis=1) - (gaps_turned**2).sum(axis=1)) / added
        lowest = 0.0 if spectrum.has_rest else spectrum.values.min()
        highest = (1 - s) * spectrum.values.max() + added
        sound = highest[:, 0] < WORST * ((1 - s) * lowest + added)[:, 0]
        sound &= (FLAT * self.classes.farthest) ** 2 <= added[:, 0]
        farthest = self.classes.farthest
        solved = shrunk_solution(spectrum, self.classes.means, s, farthest)
        # The fit on all rows represents those without one row, which resemble it.
        sound &= solved is not None and bool(
            self.rule.rounds_little(solved[1], farthest, solved[0])
        )
        return _Products(own, across, between, (1 - s) * part, sound)

    def _means_spread(self, found: _Products, gaps: np.ndarray, c: int) -> np.ndarray:
        """Return a mask of removed rows without which scikit-learn keeps all directions.

        These are the directions of the class means.
        """
        remainder, across = found.complement[:, None], found.across
        products = gaps + found.part * (
            across[:, :, None] * across[:, None, :] / remainder[:, None]
        )
        less = self.classes.sizes[c] - 1  # The mean of class c itself moves by −d/less.
        products[:, c, :] = products[:, :, c] = across / (less * remainder)
        products[:, c, c] = found.own / (less**2 * found.complement)
        shares = np.exp(self.rule.log_priors(self.sizes(c)))
        return spreads(products, np.broadcast_to(shares, across.shape), self.rule.tol)


@frozen(eq=False)
class _Products:
    """The products t, d'A⁻¹δ_k and δ_k'A⁻¹δ_k of every row, where δ_k = m_c − m_k, and γ.

    `sound` marks reliable rows. `gaps` holds all products of the δ if the rows share them.
    """

    own: np.ndarray
    across: np.ndarray
    between: np.ndarray
    part: float
    sound: np.ndarray
    gaps: np.ndarray | None = None

    @cached_property
    def complement(self) -> np.ndarray:
        """1 − leverage of every row."""
        return 1 - self.part * self.own

    def distances(self, c: int, n_c: float) -> np.ndarray:
        """Return the squared distances D_k of the module's docstring."""
        u = self.own[:, None] + self.across
        v = self.own[:, None] + 2 * self.across + self.between
        distances: np.ndarray = v + self.part * u**2 / self.complement[:, None]
        distances[:, c] = (n_c / (n_c - 1)) ** 2 * self.own / self.complement
        return distances

    def tells_means(self, c: int, n_c: float) -> np.ndarray:
        """Return True if the mean of class c without the row differs from another class mean.

        Without the row this mean moves by −d/(n_c − 1).
        """
        own = self.own[:, None] / (n_c - 1) ** 2
        apart = self.between - 2 * self.across / (n_c - 1) + own
        apart[:, c] = 0
        distinct: np.ndarray = apart.max(axis=1) > NOISE * (self.between + own).max(axis=1)
        return distinct


NOWHERE = -1


@frozen(eq=False)
class LeftOut:
    """Fits that leave out one row: `fits[j]` is trained on all rows but `rows[j]`."""

    fits: np.ndarray
    rows: np.ndarray

    @classmethod
    def from_plan(cls, plan: Plan) -> LeftOut:
        """Return all such fits of a plan, except those with a replaced label."""
        single, row = single_row_fits(plan)
        if (flips := Flips.from_holder(plan)) is not None:
            single[flips.fit] = False
        fits = np.flatnonzero(single)
        return cls(fits, row[fits])

    def take(self, which: np.ndarray) -> LeftOut:
        """Select fits by their positions."""
        return LeftOut(self.fits[which], self.rows[which])

    def asks(self, task: Task, place: int) -> np.ndarray:
        """Return a mask of the fits in which the candidate at this place of the group is needed."""
        return task.asks(self.fits, place)

    def answer(self, task: Task, place: int, scores: np.ndarray, present: np.ndarray) -> None:
        """Answer each fit's questions from its row's scores; leave open what rounding decides."""
        plan, candidate = task.plan, int(task.group.candidates[place])
        answers = respond(scores, present, task.request, task.data.n_classes)
        here = np.full(plan.n_fits, NOWHERE)
        here[self.fits] = np.arange(len(self.fits))
        of_question = here[plan.fit]
        ours = np.flatnonzero(of_question != NOWHERE)
        line, at = task.line_of(candidate), plan.test_offsets[ours]
        task.collected.values[line, at] = answers[of_question[ours]]
        for fit in self.fits[undecided(scores, task.request)]:
            task.leave_open(fit, [candidate])
