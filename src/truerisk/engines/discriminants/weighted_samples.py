"""Linear discriminants of many samples at once: weighted means and scatters, inverted together.

The scatter of a class is Σ w x x' minus its size times m m', in columns that are centred at their
mean over all rows. Every shrinkage s adds one matrix, (1 − s) A + s tr(A)/p I, for the same
scatters A. Samples in which this loses digits, or in which a class is missing, are left to the
single fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.discriminants.rule import (
    DiscriminantRule,
    respond,
    shrinkage_of,
    spreads,
    undecided,
)
from truerisk.engines.discriminants.scatter import FLAT
from truerisk.engines.templates.fits_of_one_table import (
    MOST_PRODUCTS,
    Samples,
    lacking_blocks,
    products_of,
)
from truerisk.engines.templates.task import Task

LEAST = 1e-5  # share of the mean eigenvalue of scaled columns
# Share of a column's sum of squares that has to remain after subtracting means and blocks.
CANCELLED = 1e-4


def answer_samples(task: Task, X: np.ndarray, open_: np.ndarray) -> np.ndarray:
    """Answer as many fits as possible, for every shrinkage. Return a mask of the answered fits."""
    done = np.zeros(task.plan.n_fits, dtype=bool)
    rule = DiscriminantRule.from_settings(task.group.settings)
    moved, largest = X - X.mean(axis=0), np.maximum(X.max(axis=0), -X.min(axis=0))
    squares = np.einsum("ij,ij->j", moved, moved)
    shrinkages = list(map(shrinkage_of, task.group.settings))
    distinct = list(dict.fromkeys(shrinkages))
    for batch, by_class in _by_class(task, open_, moved, len(distinct)):
        sums = _Sums.from_rows(by_class, rule, largest, squares)
        fitted = {s: sums.fitted(s) for s in distinct}
        fine = np.all([one.sound for one in fitted.values()], axis=0)
        sound = batch.select(np.flatnonzero(fine))
        if not len(sound.positions[0]):
            continue
        for s, one in fitted.items():
            places = [place for place, requested in enumerate(shrinkages) if requested == s]
            _answer(sound, places, one.select(fine).scores(moved, sound))
        done[sound.fits] = True
    return done


def _answer(sound: Samples, places: list[int], scores: np.ndarray) -> None:
    """Store the predictions that follow from scores `(tested row, class)` for each candidate."""
    task, line = sound.task, sound.positions[0]
    present = np.arange(task.data.n_classes)
    answers = respond(scores, present, task.request, len(present))
    close = undecided(scores, task.request)
    for place in places:
        mine = sound.asks(place)
        if mine.all():
            sound.answer(place, answers, close)
        elif mine.any():
            some = mine[line]
            sound.select(np.flatnonzero(mine)).answer(place, answers[some], close[some])


def _by_class(
    task: Task, open_: np.ndarray, X: np.ndarray, settings: int
) -> Iterator[tuple[Samples, list[np.ndarray]]]:
    """Yield batches of the open fits with the column products of their training rows by class.

    The first column is constant, so that it counts rows. For fits on all rows minus blocks of rows,
    the products are added up once per block.
    """
    codes, (n, p), plan = task.data.class_codes, X.shape, task.plan
    classes = range(task.data.n_classes)
    fits = lacking_blocks(plan, open_) if "flips" not in plan.needs else np.empty(0, np.intp)
    used = np.unique(plan.train.take(fits).minus)
    Z = np.column_stack([np.ones(n), X])
    if len(fits) and (1 + len(used)) * len(classes) * p * p <= MOST_PRODUCTS:
        every = [np.arange(n), *(plan.blocks[int(block)] for block in used)]
        sums = np.empty((len(classes), len(every), p + 1, p + 1))
        for c, b in product(classes, range(len(every))):
            part = Z[every[b][codes[every[b]] == c]]
            np.matmul(part.T, part, out=sums[c, b])
        for batch in Samples.some(task, fits, p):
            sets = plan.train.take(batch.fits)
            signs = np.zeros((len(batch.fits), len(every)))
            signs[:, 0] = 1
            lacking = np.repeat(np.arange(len(signs)), np.diff(sets.offsets))
            signs[lacking, 1 + np.searchsorted(used, sets.minus)] = -1
            yield batch, [np.tensordot(signs, of_class, 1) for of_class in sums]
        open_ = open_.copy()
        open_[fits] = False
    table = None
    for batch in Samples.batches(task, open_, p, settings):
        table = products_of(Z) if table is None else table
        weights = batch.times.astype(np.float64)
        members = (np.flatnonzero(codes == c) for c in classes)
        parts = (np.ascontiguousarray(weights[:, rows]) @ table[rows] for rows in members)
        yield batch, [part.reshape(-1, p + 1, p + 1) for part in parts]


@frozen(eq=False)
class _Sums:
    """Class sizes, class means and the scatter of every fit, with a mask of the `sound` fits."""

    rule: DiscriminantRule
    sound: np.ndarray
    sizes: np.ndarray
    means: np.ndarray
    scatter: np.ndarray
    largest: float

    @classmethod
    def from_rows(
        cls,
        by_class: list[np.ndarray],
        rule: DiscriminantRule,
        largest: np.ndarray,
        squares: np.ndarray,
    ) -> _Sums:
        sizes = np.stack([products[:, 0, 0] for products in by_class], axis=1)
        least = sizes[sizes.sum(axis=1).argmin()]
        sound = (sizes > 0).all(axis=1) & rule.can_fit(least, len(largest))
        safe = np.where(sizes > 0, sizes, 1)
        means = np.stack([products[:, 0, 1:] for products in by_class], axis=1) / safe[..., None]
        sound &= rule.has_covariances(sizes) & rule.tells_means(means)
        scatter, within = _scatters(by_class, sizes, means, rule.of_classes(safe))
        flat = safe.sum(axis=1)[:, None] * (10 * FLAT * largest) ** 2
        sound &= ((within > flat) & (within > CANCELLED * squares)).all(axis=1)
        return cls(rule, sound, safe, means, scatter, float(largest.max()))

    def fitted(self, shrinkage: float) -> _Fitted:
        """Return the slopes for this shrinkage, with a mask of those that have enough digits."""
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


@frozen(eq=False)
class _Fitted:
    """Slopes `(fit, class, column)` of the fits, with a mask of the sound ones."""

    rule: DiscriminantRule
    sound: np.ndarray
    sizes: np.ndarray
    means: np.ndarray
    slopes: np.ndarray

    def select(self, which: np.ndarray) -> _Fitted:
        """Return some of the fits."""
        arrays = (self.sound, self.sizes, self.means, self.slopes)
        return _Fitted(self.rule, *(array[which] for array in arrays))

    def scores(self, X: np.ndarray, of: Samples) -> np.ndarray:
        """Return scores `(tested row, class)` as in `DiscriminantRule.scores`."""
        (line, rows, _), (n_fits, n_classes) = of.positions, self.slopes.shape[:2]
        centre = self.means.mean(axis=1, keepdims=True)
        offsets = self.means - centre
        shift = np.einsum("fkj,fkj->fk", centre + offsets / 2, self.slopes)
        factors, priors = self.rule.factor(self.sizes)[:, None], self.rule.log_priors(self.sizes)
        scores = np.empty((len(rows), n_classes))
        ends = np.searchsorted(line, np.arange(n_fits + 1)).tolist()
        for f, (first, end) in enumerate(pairwise(ends)):
            np.matmul(X[rows[first:end]], self.slopes[f].T * factors[f], out=scores[first:end])
        scores += (priors - factors * shift)[line]
        return scores


def _scatters(
    by_class: list[np.ndarray], sizes: np.ndarray, means: np.ndarray, factors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scatter of each fit, and the sums of squares of its columns within classes."""
    n_fits, _, p = means.shape
    scatter, within = np.zeros((n_fits, p, p)), np.zeros((n_fits, p))
    for c, products in enumerate(by_class):
        rooted = np.sqrt(sizes[:, c])[:, None] * means[:, c]
        of_class = products[:, 1:, 1:] - rooted[:, :, None] * rooted[:, None, :]
        within += np.einsum("fjj->fj", of_class)
        scatter += factors[:, c, None, None] * of_class
    return scatter, within


def _inverses(scatter: np.ndarray, sound: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the inverses of sound scatters, and their traces in columns with variance 1."""
    p = scatter.shape[1]
    scale = np.sqrt(np.maximum(np.einsum("fjj->fj", scatter), 0))
    scale = np.where(sound[:, None] & (scale > 0), scale, 1)
    scaled = scatter / (scale[:, :, None] * scale[:, None, :])
    scaled[~sound] = np.eye(p)
    trace = np.full(len(scatter), np.inf)
    try:
        inverse = np.linalg.inv(scaled)
    # One of them is singular, so that the single fits deal with all of them.
    except np.linalg.LinAlgError:
        return np.zeros_like(scaled), trace
    trace[sound] = np.einsum("fjj->f", inverse[sound])
    trace[~(trace > 0)] = np.inf
    return inverse / (scale[:, :, None] * scale[:, None, :]), trace
