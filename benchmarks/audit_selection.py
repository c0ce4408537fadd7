"""How often the audit suspects a selection outside the folds, rightly and wrongly.

python -m benchmarks.audit_selection [tables]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product

import numpy as np
from scipy.stats import rankdata

from truerisk.checks.selected_columns import measure_z_spread
from truerisk.data.data import Data

Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]
ROWS, POOL = 50, 2000


def flagged(draw: Draw, tables: int, rng: np.random.Generator) -> int:
    """How many of the tables are suspected."""
    count = 0
    for _ in range(tables):
        X, y = draw(rng)
        spread = measure_z_spread(X, Data.check(X, y, task="classification"))
        count += spread is not None and spread.is_too_small
    return count


def selected(kept: int, by: str, share: float = 0.0) -> Draw:
    """The best columns of a pool of noise, in blocks of ten with this correlation."""

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        y = np.arange(ROWS) % 2
        blocks = rng.normal(size=(ROWS, POOL // 10)).repeat(10, axis=1)
        X = np.sqrt(share) * blocks + np.sqrt(1 - share) * rng.normal(size=(ROWS, POOL))
        values = rankdata(X, axis=0) if by == "AUC" else X
        size = np.abs(values[y == 1].mean(axis=0) - values[y == 0].mean(axis=0))
        if by == "F":
            size = size / np.sqrt(X[y == 1].var(axis=0) + X[y == 0].var(axis=0))
        return X[:, np.argsort(-size)[:kept]], y

    return draw


def equally_good(p: int, effect: float, spread: float, share: float, n_classes: int) -> Draw:
    """Columns with effects of so many standard errors, alike or spread, correlated."""

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        y = np.arange(48) % n_classes
        X = np.sqrt(share) * rng.normal(size=(48, 1)) + np.sqrt(1 - share) * rng.normal(
            size=(48, p)
        )
        effects = np.abs(effect + spread * rng.normal(size=p)) * 2 / np.sqrt(48)
        return X + np.outer(y, effects), y

    return draw


def noise(p: int) -> Draw:
    """Columns that nobody selected."""
    return lambda rng: (rng.normal(size=(ROWS, p)), np.arange(ROWS) % 2)


def main() -> None:
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    rng = np.random.default_rng(0)
    for by, share in (("F", 0.0), ("difference", 0.0), ("AUC", 0.0), ("F", 0.8)):
        found = [flagged(selected(k, by, share), tables, rng) for k in (8, 10, 20, 50, 100)]
        print(f"best 8, 10, 20, 50, 100 by {by}, correlation {share}: {found} of {tables}")
    found = [flagged(noise(p), 5 * tables, rng) for p in (5, 20, 100)]
    print(f"noise, 5, 20, 100 columns: {sum(found)} of {15 * tables}")
    good = list(
        product(
            (8, 20, 50),
            (2, 2.5, 3, 4, 6, 10, 20),
            ((0, 0), (1, 0), (0, 0.9), (0, 0.99)),
            (2, 4),
        )
    )
    wrong = sum(flagged(equally_good(p, e, *s, k), tables, rng) for p, e, s, k in good)
    print(f"equally good columns: {wrong} of {tables * len(good)}")


if __name__ == "__main__":
    main()
