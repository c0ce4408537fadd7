"""Linear discriminants of many samples at once: means and scatters by weights, inverted together.

The scatter of a class is Σ w x x' less its size times m m', in columns moved to their mean over all
rows. Every shrinkage s is one more matrix, (1 − s) A + s tr(A)/p I, of the same scatters A. Samples
in which this loses digits, or a class is missing, are left for the single fits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from truerisk.engines.discriminants.rule import DiscriminantRule, shrinkage_of, spreads
from truerisk.engines.discriminants.scatter import FLAT
from truerisk.engines.templates.deciding import respond, undecided
from truerisk.engines.templates.samples import Samples, products_of
from truerisk.engines.templates.task import Task

__all__ = ["answer_samples"]

LEAST = 1e-5  # of the mean eigenvalue of scaled columns
CANCELLED = 1e-4  # of a column's squares that may be left after its means are taken away


def answer_samples(task: Task, X: np.ndarray, open_: np.ndarray) -> np.ndarray:
    """Answer what can be, with every shrinkage; which fits that were."""
    done = np.zeros(task.plan.n_fits, dtype=bool)
    rule = DiscriminantRule.of(task.group.settings[0])
    moved, products = X - X.mean(axis=0), None
    shrinkages = list(map(shrinkage_of, task.group.settings))
    distinct = list(dict.fromkeys(shrinkages))
    for batch in Samples.batches(task, open_, X.shape[1], len(distinct)):
        products = products_of(moved) if products is None else products
        sums = _Sums.of(batch, rule, moved, products, np.abs(X).max(axis=0))
        fitted = {s: sums.fitted(s) for s in distinct}
        fine = np.all([one.sound for one in fitted.values()], axis=0)
        sound = batch.only(np.flatnonzero(fine))
        if not len(sound.asked[0]):
            continue
        for s, one in fitted.items():
            places = [place for place, asked in enumerate(shrinkages) if asked == s]
            _answer(sound, places, one.only(fine).scores(moved))
        done[sound.fits] = True
    return done


def _answer(sound: Samples, places: list[int], scores: np.ndarray) -> None:
    """Put the answers that follow from scores `(fit, row, class)` in the places of candidates."""
    task, (line, rows, _) = sound.task, sound.asked
    asked = scores[line, rows]
    present = np.arange(task.data.n_classes)
    answers = respond(asked, present, task.request, len(present))
    close = undecided(asked, task.request)
    for place in places:
        mine = sound.asks(place)
        if mine.all():
            sound.answer(place, answers, close)
        elif mine.any():
            some = mine[line]
            sound.only(np.flatnonzero(mine)).answer(place, answers[some], close[some])


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sizes and means of the classes and the scatter of every fit, and where they are `sound`."""

    rule: DiscriminantRule
    sound: np.ndarray
    sizes: np.ndarray
    means: np.ndarray
    scatter: np.ndarray
    largest: float

    @classmethod
    def of(
        cls,
        batch: Samples,
        rule: DiscriminantRule,
        X: np.ndarray,
        products: np.ndarray,
        largest: np.ndarray,
    ) -> _Sums:
        codes = batch.task.data.class_codes
        n_classes, p = batch.task.data.n_classes, X.shape[1]
        weights = batch.times.astype(np.float64)
        members = [np.flatnonzero(codes == c) for c in range(n_classes)]
        parts = [np.ascontiguousarray(weights[:, rows]) for rows in members]
        sizes = np.stack([part.sum(axis=1) for part in parts], axis=1)
        least = sizes[sizes.sum(axis=1).argmin()]
        sound = (sizes > 0).all(axis=1) & rule.can_fit(least, p)
        safe = np.where(sizes > 0, sizes, 1)
        pairs = list(zip(parts, members, strict=True))
        means = np.stack([part @ X[rows] for part, rows in pairs], axis=1) / safe[..., None]
        sound &= rule.has_covariances(sizes) & rule.tells_means(means)
        by_class = (part @ products[rows] for part, rows in pairs)
        scatter, within, total = _scatters(by_class, sizes, means, rule.of_classes(safe))
        flat = safe.sum(axis=1)[:, None] * (10 * FLAT * largest) ** 2
        sound &= ((within > flat) & (within > CANCELLED * total)).all(axis=1)
        return cls(rule, sound, safe, means, scatter, float(largest.max()))

    def fitted(self, shrinkage: float) -> _Fitted:
        """The slopes with so much shrinkage, and which of them have enough digits."""
        rule, means, scatter = self.rule, self.means, self.scatter
        sound, (n_classes, p) = self.sound.copy(), means.shape[1:]
        if shrinkage:
            added = shrinkage / p * np.einsum("fjj->f", scatter)
            scatter = (1 - shrinkage) * scatter + added[:, None, None] * np.eye(p)
        inverse, trace = _inverses(scatter, sound)
        sound &= trace * LEAST <= p
        sound &= rule.has_full_rank(1 / np.where(sound, trace, 1))
        squares, reach = np.einsum("fjj->fj", scatter), np.einsum("fjj->f", inverse)
        sound &= rule.keeps_all(1 / np.where(sound, reach, 1), squares.sum(axis=1))
        condition = squares.sum(axis=1) * reach
        sound &= rule.rounds_little(condition, self.largest, means @ inverse)
        offsets = means - means.mean(axis=1, keepdims=True)
        slopes = offsets @ inverse
        if rule.solver == "svd" and n_classes > 2:
            shares = np.exp(rule.log_priors(self.sizes))
            sound &= spreads(slopes @ offsets.transpose(0, 2, 1), shares, rule.tol)
        return _Fitted(rule, sound, self.sizes, means, slopes)


@dataclass(frozen=True, eq=False)
class _Fitted:
    """Slopes `(fit, class, column)` of the fits, and which of them are sound."""

    rule: DiscriminantRule
    sound: np.ndarray
    sizes: np.ndarray
    means: np.ndarray
    slopes: np.ndarray

    def only(self, which: np.ndarray) -> _Fitted:
        """Some of the fits."""
        own = (self.sound, self.sizes, self.means, self.slopes)
        return _Fitted(self.rule, *(array[which] for array in own))

    def scores(self, X: np.ndarray) -> np.ndarray:
        """`(fit, row, class)`, as Rule.scores has them."""
        n_fits, n_classes, p = self.slopes.shape
        products = (X @ self.slopes.reshape(-1, p).T).reshape(len(X), n_fits, n_classes)
        centre = self.means.mean(axis=1, keepdims=True)
        offsets = self.means - centre
        shift = np.einsum("fkj,fkj->fk", centre + offsets / 2, self.slopes)
        distances = (products - shift).transpose(1, 0, 2)
        factors, priors = self.rule.factor(self.sizes), self.rule.log_priors(self.sizes)
        return factors[:, None, None] * distances + priors[:, None]


def _scatters(
    by_class: Iterable[np.ndarray],
    sizes: np.ndarray,
    means: np.ndarray,
    factors: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The scatter of each fit; its columns' squares within classes, and before means are taken."""
    n_fits, _, p = means.shape
    scatter, within, total = np.zeros((n_fits, p, p)), np.zeros((n_fits, p)), np.zeros((n_fits, p))
    for c, squares in enumerate(by_class):
        of_class = squares.reshape(n_fits, p, p)
        total += np.einsum("fjj->fj", of_class)
        rooted = np.sqrt(sizes[:, c])[:, None] * means[:, c]
        of_class -= rooted[:, :, None] * rooted[:, None, :]
        within += np.einsum("fjj->fj", of_class)
        scatter += factors[:, c, None, None] * of_class
    return scatter, within, total


def _inverses(scatter: np.ndarray, sound: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverses of the sound ones, and their traces in columns scaled to variance 1."""
    p = scatter.shape[1]
    scale = np.sqrt(np.maximum(np.einsum("fjj->fj", scatter), 0))
    scale = np.where(sound[:, None] & (scale > 0), scale, 1)
    scaled = scatter / (scale[:, :, None] * scale[:, None, :])
    scaled[~sound] = np.eye(p)
    trace = np.full(len(scatter), np.inf)
    try:
        inverse = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:  # one of them is singular: the single fits see to all
        return np.zeros_like(scaled), trace
    trace[sound] = np.einsum("fjj->f", inverse[sound])
    trace[~(trace > 0)] = np.inf
    return inverse / (scale[:, :, None] * scale[:, None, :]), trace
