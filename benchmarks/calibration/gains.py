"""Count gains that are shown and do not exist: `python -m benchmarks.calibration.gains [--sets N]`.

The sentence of a decision curve names thresholds at which a model gains more than treating
everybody and nobody. A data set counts as false if it names one at which the model gains nothing.

The first cells are pure noise: predictions that depend on nothing, near the share of events, all
over [0, 1] or nearly constant, and models that are tested in folds. No model gains anywhere. In the
`edge` cells predictions p are uniform below one half and the event has the probability 2p. Then the
rows with p < t hold the share t of events: at every threshold the model gains exactly as much as
treating everybody, and much more than treating nobody, so that an error is likeliest there. In the
`groups` cells of noise the events of a group of ten are correlated by .3, and so are the
predictions. About ten minutes of one core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from benchmarks.calibration.validated import rate_cells
from benchmarks.machine import one_blas_thread
from truerisk.validation.discrimination import net_benefits
from truerisk.validation.gain import gain_interval
from truerisk.validation.outcomes import Outcomes

__all__ = ["main"]

THRESHOLDS = np.arange(1, 100) / 100
Draw = Callable[[int, float, np.random.Generator], Outcomes]


def noise_of(learner: Callable[[int], object]) -> Draw:
    """Return a function that draws held-out answers of a learner about labels without a cause."""

    def draw(n: int, share: float, rng: np.random.Generator) -> Outcomes:
        X, y = rng.standard_normal((n, 5)), rng.permutation(np.arange(n) < share * n).astype(int)
        model = learner(int(rng.integers(1 << 30)))
        return Outcomes.from_predictions(
            y, cross_val_predict(model, X, y, cv=5, method="predict_proba")[:, 1]
        )

    return draw


def unrelated(kind: str) -> Draw:
    """Return a function that draws predictions of this kind, and events independent of them."""

    def draw(n: int, share: float, rng: np.random.Generator) -> Outcomes:
        noise = rng.standard_normal(n)
        p = {
            "spread": 1 / (1 + np.exp(-np.log(share / (1 - share)) - noise / 2)),
            "uniform": rng.random(n),
            "narrow": np.clip(share + 0.02 * noise, 0, 1),
        }[kind]
        return Outcomes.from_predictions(rng.random(n) < share, p)

    return draw


def edge(n: int, share: float, rng: np.random.Generator) -> Outcomes:
    """Draw answers of a finished model whose gain over treating everybody is 0 everywhere."""
    p = share * rng.random(n)
    return Outcomes.from_predictions(rng.random(n) < np.minimum(2 * p, 1), p)


def groups(n: int, share: float, rng: np.random.Generator) -> Outcomes:
    """Draw correlated events in groups of ten, and predictions that depend on the group alone."""
    group = np.arange(n) // 10
    rate = rng.beta(share * 7 / 3, (1 - share) * 7 / 3, group[-1] + 1)  # correlation .3
    noise = rng.standard_normal((2, group[-1] + 1))[0][group] + 0.3 * rng.standard_normal(n)
    p = 1 / (1 + np.exp(-np.log(share / (1 - share)) - noise / 2))
    return Outcomes.from_predictions(rng.random(n) < rate[group], p, members=group)


@dataclass(frozen=True)
class Cell:
    """Drawings of n rows, of which a share has the event."""

    name: str
    draw: Draw
    n: int
    share: float

    def __str__(self) -> str:
        return f"{self.name}, {self.n} rows, {self.share:g} events"


REGRESSION = noise_of(lambda _: LogisticRegression())
FOREST = noise_of(lambda seed: RandomForestClassifier(30, random_state=seed))
SIZES = [(n, share) for n in (100, 300, 2000) for share in (0.05, 0.2, 0.5)]
CELLS = (
    *(
        Cell(f"noise, {kind} predictions", unrelated(kind), *size)
        for kind in ("spread", "uniform", "narrow")
        for size in SIZES
    ),
    *(Cell("noise, logistic regression", REGRESSION, n, 0.3) for n in (100, 300, 1000)),
    *(Cell("noise, forest", FOREST, n, 0.3) for n in (100, 300)),
    *(Cell("edge", edge, n, 0.5) for n in (100, 300, 1000, 3000)),
    *(Cell("noise in groups", groups, n, 0.3) for n in (200, 500, 1000)),
)


def rate(cell: Cell, n_sets: int, seed: int) -> None:
    """Print in how many drawings of a cell a gain is shown, and where values alone are larger."""
    rng = np.random.default_rng([seed, *str(cell).encode()])  # no two cells share a data set
    shown, larger = [], []
    for _ in range(n_sets):
        outcomes = cell.draw(cell.n, cell.share, rng)
        honest, everybody = (
            net_benefits(outcomes, THRESHOLDS, everybody=every)[0] for every in (False, True)
        )
        larger.append(int((honest > np.maximum(everybody, 0) + 1e-12).sum()))
        shown.append(bool((gain_interval(outcomes, THRESHOLDS, 0.95)[0] > 0).any()))
    values = f"values larger at {np.mean(larger):.1f} of 99 thresholds"
    print(f"{cell}: {values}; a gain is shown in {sum(shown)} of {n_sets}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Rate every cell."""
    rate_cells(CELLS, rate, arguments, __doc__, n_sets=300)


if __name__ == "__main__":
    one_blas_thread()
    main()
