"""Least squares on all rows but one, or with one label flipped: all such fits from a single one.

The leverages determine the effect of removing or changing a row (`engines/linear/leverage.py`). A
row that alone determines a coefficient has leverage 1. The fit on all rows then says nothing about
the fit without it, so that this fit is made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.linear.fit import DOUBT, Coding, TrainSet, location_doubts
from truerisk.engines.linear.leverage import LeftOutErrors, leave_out_dual, leave_out_primal
from truerisk.engines.linear.shared_rows import Part, SharedRows
from truerisk.engines.settings import ELSEWHERE
from truerisk.engines.templates.fits_of_one_table import place_singles
from truerisk.kernels.spectral import Spectrum, answers_at, doubts_at, doubts_of_cholesky, from_rows
from truerisk.plan.extras.flips import Flips

LEAST = 1e-3  # Rows whose 1 − leverage is smaller are left out by a fit of their own.
ALONE = 1e-10
WELL = 1e-6


@frozen(eq=False)
class Singles:
    """Fits, marked in `single`, that lack or change only the row `row`, and are tested on it."""

    table: SharedRows
    single: np.ndarray
    row: np.ndarray
    # True if each fit scales its columns by itself; then every column has to count.
    scaled: bool = False

    def answer(self) -> np.ndarray:
        """Return a mask of answered fits.

        Fits with a prediction that rounding could move remain.
        """
        table, task = self.table, self.table.task
        done = np.zeros_like(self.single)
        y = task.data.y if task.data.codes is None else task.data.codes
        coding = Coding.from_data(task.data, task.request.response, y)
        if coding is None or not table.weights.any() or table.n == table.task.X.shape[1]:
            return done  # Without one of its rows such a table is wide, and its rounding differs.
        part = Part.from_table(table, table.weights, coding.numbers(y), table.n)
        left_out = self._by_product(part)
        if self.scaled:
            if (
                part.wide
                or left_out is None
                or part.spectrum.values[0] < WELL * part.spectrum.values[-1]
            ):
                return done
        elif left_out is None or self._hopeless(left_out).any():
            left_out = self._by_rows(part, coding.numbers(y)) or left_out
        if left_out is None:
            return done
        fits = np.flatnonzero(self.single)
        numbers, stable = self._numbers(part, left_out, coding, fits)
        self._note(part, left_out)
        if coding.present is not None:  # Without its only row a class is absent.
            stable &= np.bincount(y, minlength=coding.n_classes)[y[self.row[fits]]] > 1
        done[fits] = self._place(fits, coding, numbers, stable, self._hopeless(left_out))
        return done

    def _note(self, part: Part, found: LeftOutErrors) -> None:
        """Note which rows alone determine a coefficient; with a penalty no row does."""
        if part.wide or self.table.manner.penalised:
            return
        is_tested = np.isin(part.rows, self.row[self.single])
        rows = part.rows[is_tested & (found.rest[0] < ALONE)]
        if len(rows):
            shown = ", ".join(map(str, rows[:3])) + (", ..." if len(rows) > 3 else "")
            self.table.task.collected.notes.append(
                f"leverage 1 in {len(rows)} row(s) ({shown}): without such a row the others leave "
                "a coefficient open, and its prediction is that of the shortest solution."
            )

    def _hopeless(self, found: LeftOutErrors) -> np.ndarray:
        """Return a mask of penalties at which rounding could move every row."""
        return found.doubts.min(axis=1) > DOUBT

    def _by_product(self, part: Part) -> LeftOutErrors | None:
        penalties, spectrum = self.table.penalties, part.spectrum
        if part.wide:
            if not part.is_accurate(penalties):
                return None
            back = spectrum.vectors
            if part.reflecting is not None:
                v = part.reflecting
                back = np.vstack([np.zeros(back.shape[1]), back])
                back -= np.multiply.outer(v, v[1:] @ spectrum.vectors)
            left_out = leave_out_dual(back, spectrum, penalties, part.scale)
            far = location_doubts(spectrum, part.far, penalties, part.scale)
            return self._over_roots(left_out, part.root, far)
        smallest, largest = spectrum.values.min(initial=np.inf), spectrum.values.max(initial=0.0)
        if (smallest + penalties <= 1e-13 * largest).any():
            return None
        left = part.turned(None if self.table.task.weights is None else part.root)
        doubts = part.doubts(part.turned(None), penalties)
        left_out = leave_out_primal(
            left, part.targets, self._of_mean(part), spectrum, penalties, doubts
        )
        if not part.is_accurate(penalties, _least_own_share(left_out.rest)):
            return None
        return self._over_roots(left_out, part.root, np.zeros(len(penalties)))

    def _of_mean(self, part: Part) -> np.ndarray | float:
        """Return the contribution of the weighted mean to each row's leverage."""
        return part.weights[part.rows] / part.total if self.table.manner.intercept else 0.0

    def _by_rows(self, part: Part, Y: np.ndarray) -> LeftOutErrors | None:
        """Leave rows out with the rows themselves, which keeps digits that their product loses."""
        table, manner, penalties = self.table, self.table.manner, self.table.penalties
        X = table.task.X
        train = TrainSet.from_rows(X, Y, table.weights, table.n, manner.intercept)
        if train is None or train.wide:
            return None
        spectrum, singular = from_rows(train.Z, train.T, cutoff=manner.cutoff, noise=train.shifted)
        if not manner.rank_is_clear(singular, null=False):
            return None
        left = train.Z @ spectrum.vectors
        own, length = left / train.root[:, None], train.Z / train.root[:, None]
        doubts = self._row_doubts(train, spectrum, own, length)
        smallest, largest = singular[-1] ** 2, singular[0] ** 2
        left_out = leave_out_primal(left, train.T, self._of_mean(part), spectrum, penalties, doubts)
        rest = _least_own_share(left_out.rest)
        unsure = ~manner.works_on(smallest * rest, largest, table.n, penalties)
        unsure |= ~spectrum.stands(penalties, rest)
        bent = singular.copy()
        bent[1:] *= rest**0.5
        if not manner.rank_is_clear(bent, null=False):
            return None
        doubts = np.where(unsure[:, None], np.inf, left_out.doubts)
        left_out = replace(left_out, doubts=doubts)
        return self._over_roots(left_out, train.root, np.zeros(len(penalties)))

    def _row_doubts(
        self, train: TrainSet, spectrum: Spectrum, own: np.ndarray, test_rows: np.ndarray
    ) -> np.ndarray:
        manner, penalties, scale = self.table.manner, self.table.penalties, train.scale
        length = float(np.sqrt((test_rows**2).sum(axis=1).max(initial=0.0)))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            doubts = doubts_at(own, length, spectrum, penalties, scale)
            doubts += location_doubts(spectrum, train.far, penalties, scale)
            if manner.penalised and not manner.by_rows:
                diagonal = (train.Z**2).sum(axis=0)
                doubts += doubts_of_cholesky(
                    own, test_rows, diagonal, spectrum, penalties, scale, wide=False
                )
        return doubts

    def _over_roots(self, found: LeftOutErrors, root: np.ndarray, far: np.ndarray) -> LeftOutErrors:
        """Convert results for weighted rows to unweighted ones, by the roots of the weights."""
        doubts = found.doubts + far[:, None] if far.any() else found.doubts
        if self.table.task.weights is None:
            return replace(found, doubts=doubts)
        doubts = doubts / root
        return replace(found, missed=found.missed / root[:, None], doubts=doubts)

    def _numbers(
        self, part: Part, found: LeftOutErrors, coding: Coding, fits: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return `(penalty, fit, target)` and a mask of `(penalty, fit)` that are certain."""
        row = self.row[fits]
        place = np.full(self.table.n, -1)
        place[part.rows] = np.arange(len(part.rows))
        at: Any = place[row]
        if np.array_equal(at, np.arange(len(part.rows))):
            at = slice(None)  # Every row is taken in its order, so that nothing has to be gathered.
        Y = part.Y[row]
        flipped, to = self._flips(fits)
        missed = found.missed[:, at]
        # If every row is used once, the buffer may be overwritten.
        spent = len(fits) == self.table.n and not len(flipped)
        numbers = np.subtract(Y + part.mean_y, missed, out=missed if spent else None)
        stable = found.doubts[:, at] <= DOUBT
        if not part.wide:  # For wide tables nothing is subtracted from 1.
            stable &= found.rest[:, at] >= LEAST
        if len(flipped):
            step = coding.numbers(to) - part.mean_y - Y[flipped]
            changed = place[row[flipped]]
            fitted = Y[flipped] - found.residual[:, changed]
            moved = fitted + found.leverage[:, changed, None] * step
            numbers[:, flipped] = moved + part.mean_y
        outside = np.flatnonzero(place[row] < 0)
        if len(outside):  # Leaving out rows of weight 0 changes nothing.
            left = part.left(row[outside])
            penalties = self.table.penalties
            numbers[:, outside] = answers_at(left, part.spectrum, penalties) + part.mean_y
            stable[:, outside] = part.is_accurate(penalties)
            stable[:, outside] &= (part.doubts(left, penalties) <= DOUBT)[:, None]
        return numbers, stable

    def _flips(self, fits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of fits that replace their row's label, and the new class codes."""
        flips = Flips.from_holder(self.table.task.plan)
        if flips is None:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        at = np.searchsorted(fits, flips.fit)
        ours = fits[np.minimum(at, len(fits) - 1)] == flips.fit
        return at[ours], flips.code[ours].astype(np.int64)

    def _place(
        self,
        fits: np.ndarray,
        coding: Coding,
        numbers: np.ndarray,
        is_certain: np.ndarray,
        hopeless: np.ndarray,
    ) -> np.ndarray:
        """Store the predictions; return a mask of the fits that need no fit of their own."""
        task = self.table.task
        answers, tied = coding.answers(numbers)
        settled = is_certain | hopeless[:, None]
        if task.places is None:
            done: np.ndarray = settled.all(axis=0)
        else:
            line = task.places[fits]
            done = settled[line, np.arange(len(fits))] | (line == ELSEWHERE)
        place_singles(task, fits, answers, (tied | hopeless[:, None]) & done)
        return done


def _least_own_share(rest: np.ndarray) -> float:
    """Return the smallest 1 − leverage among the rows that are not left out by their own fits."""
    least = float(rest.min(initial=1.0))
    return least if least >= LEAST else float(rest[rest >= LEAST].min(initial=1.0))
