"""Do intervals of a finished model hold? `python -m benchmarks.calibration.finished [--sets N]`.

A logistic regression of 100 rows and 6 columns is applied to rows of other people, among whom the
event is rarer or more frequent and depends less on the columns; a ridge regression likewise, with
errors from a normal distribution and from t with 5 degrees of freedom. In the last cells rows are
in a few groups, without any effect and with one that has a standard deviation of 0.5. Each
interval is held to the number of the same model on 20,000 fresh rows. Ten minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

import truerisk as tr
from benchmarks.calibration.validated import rate_cells
from benchmarks.machine import one_blas_thread
from truerisk.validation.calibration import CalibrationLine
from truerisk.validation.calibration_fits import IDENTITY
from truerisk.validation.measures import EVENT_MEASURES, NUMERIC_MEASURES
from truerisk.validation.outcomes import Outcomes
from truerisk.validation.profile import ProfileLayout
from truerisk.validation.updating import ModelUpdates

__all__ = ["main"]

FRESH, DEVELOPED = 20_000, 100
THRESHOLDS = np.array([0.2])


@dataclass(frozen=True)
class Cell:
    """Rows of other people, n of them; `tails` are degrees of freedom of errors, 0 of events.

    Where there are `groups`, rows are in so many of equal size, which have an `effect` on the
    log-odds, drawn from a normal distribution with this standard deviation.
    """

    n: int
    shift: float = 0.0
    tails: float = 0.0
    groups: int = 0
    effect: float = 0.0

    def draw(self, n: int, rng: np.random.Generator, *, own: bool = False) -> tuple[Any, Any]:
        """Rows of the model's `own` people, or of others; many rows are in groups of their own."""
        X = rng.standard_normal((n, 6))
        line = 1.2 * X[:, 0] + 0.6 * X[:, 1]
        line = line if own else self.shift + 0.8 * line
        if self.effect and not own:
            member = np.arange(n) % self.groups if n == self.n else np.arange(n)
            line = line + self.effect * rng.standard_normal(n)[member]
        if self.tails:
            return X, line + rng.standard_t(self.tails, n)
        return X, (rng.random(n) < 1 / (1 + np.exp(-line))).astype(int)

    def fresh(self, model: Any, rng: np.random.Generator) -> Outcomes:
        """What the model says of many rows."""
        X, y = self.draw(FRESH, rng)
        if self.tails:
            return Outcomes.from_predictions(y, model.predict(X), link=IDENTITY)
        return Outcomes.from_predictions(y, model.predict_proba(X)[:, 1])

    def truth(self, fresh: Outcomes) -> dict[str, float]:
        """The measures of a model on many rows."""
        thresholds = np.empty(0) if self.tails else THRESHOLDS
        profile = ProfileLayout(
            np.empty(0), thresholds, NUMERIC_MEASURES if self.tails else EVENT_MEASURES
        )
        numbers = profile.compute_profile(fresh, (CalibrationLine.from_outcomes(fresh), ""))
        told = dict(zip(("net benefit at .2",), profile.extract_net_benefit(numbers), strict=False))
        return {**profile.extract_measures(numbers), **told}


def changes(found: ModelUpdates, fresh: Outcomes) -> dict[str, float]:
    """What each update changes on many rows, against the model as it is."""
    losses = []
    for one in found.updates:
        eta, y = one.intercept + one.slope * fresh.linear_predictions, fresh.observed
        of_rows = (y - eta) ** 2 if fresh.link is IDENTITY else np.logaddexp(0, eta) - y * eta
        losses.append(float(of_rows.mean()))
    return {
        f"update of {one.fits}": loss - losses[0]
        for one, loss in zip(found.updates[1:], losses[1:], strict=True)
    }


CELLS = (
    *(Cell(30, -0.5), Cell(150, -0.5), Cell(500, -0.5), Cell(500, -2.0)),
    *(Cell(150, tails=1e6), Cell(500, tails=5)),
    *(Cell(240, -0.5, groups=2), Cell(240, -0.5, groups=4), Cell(240, -0.5, groups=10)),
    *(Cell(240, -0.5, groups=20), Cell(240, -0.5, groups=40), Cell(200, -0.5, groups=20)),
    *(Cell(200, -0.5, groups=g, effect=0.5) for g in (5, 10, 20, 40)),
)


def rate(cell: Cell, n_sets: int, seed: int) -> None:
    """Draw the data sets of a cell and print how many intervals hold."""
    rng = np.random.default_rng([seed, *str(cell).encode()])  # no two cells share a data set
    held: dict[str, list[bool]] = {}
    for _ in range(n_sets):
        model = (Ridge() if cell.tails else LogisticRegression()).fit(
            *cell.draw(DEVELOPED, rng, own=True)
        )
        X, y = cell.draw(cell.n, rng)
        words = {} if cell.tails else {"thresholds": THRESHOLDS}
        words |= {"groups": np.arange(cell.n) % cell.groups} if cell.groups else {}
        found = tr.validate(model, X, y, prefit=True, **words)
        told = {word: one.interval for word, one in found.measures.items()}
        ends = {w: (i.low, i.high) for w, i in told.items() if i is not None}
        if (benefit := found.net_benefit) is not None:
            ends["net benefit at .2"] = float(benefit.low[0]), float(benefit.high[0])
        fresh = cell.fresh(model, rng)
        truth = cell.truth(fresh)
        if found.updating is not None:
            truth |= changes(found.updating, fresh)
            ends |= {
                f"update of {one.fits}": (one.interval.low, one.interval.high)
                for one in found.updating.updates
                if one.interval is not None
            }
        for word, (low, high) in ends.items():
            held.setdefault(word, []).append(low <= truth[word] <= high)
    print(f"{cell}: {n_sets} sets")
    for word, each in held.items():
        print(f"  {word:30} {np.mean(each):.3f} of {len(each)}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Rate every cell."""
    rate_cells(CELLS, rate, arguments, __doc__, n_sets=400)


if __name__ == "__main__":
    one_blas_thread()
    main()
