r"""Test if the columns were selected with these very labels before the search saw them.

One column is no evidence: a good column is associated with y, too. Many columns are. Let
:math:`t_j` be the t statistic of column j with :math:`\nu` degrees of freedom and

.. math:: z_j = \sqrt{2\nu}\,\operatorname{asinh}\left(|t_j| / \sqrt{2\nu}\right),

which has variance 1 whatever the effect of the column. Columns that were not selected by y have
:math:`z_j = \delta_j + \varepsilon_j`: however strong and however similar their effects are, the
z's spread at least as much as their noise. Columns that were selected because their z is large are
truncated at the selection threshold, and noise truncated at 2 or 3 has only a third of that spread.
So the columns are suspect if all of them are associated with y and their z's are nevertheless *more
alike* than chance allows.

:math:`Q = \sum_j (z_j - \bar z)^2` is compared with the scaled chi-squared distribution that has
its mean :math:`\operatorname{tr}(CR)` and its variance :math:`2\operatorname{tr}(CRCR)` for equal
effects, where C is the centring matrix and R holds the correlations of the columns given y. Unequal
effects make Q larger, so the false alarm rate is at most `LEVEL`, up to the approximation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from truerisk.checks.columns import ColumnView
from truerisk.core.formats import number
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.results.finding import Finding

LEVEL = 1e-3
WEAK = 0.1  # The p-values of nine of ten columns must be below this number.
FEWEST = 5  # fewest columns that are tested
MOST = 1000  # largest number of columns that are tested, evenly spaced


@frozen
class Spread:
    """Spread of the columns' z's: observed, expected, and the p-value of so small a spread."""

    n_columns: int
    weakest: float
    observed: float
    expected: float
    chance: float

    @property
    def is_doubtful(self) -> bool:
        """Return True if so small a spread has a p-value below `LEVEL`."""
        return self.chance < LEVEL


def selection_findings(data: Data, columns: ColumnView | None) -> Iterator[Finding]:
    """Yield a finding if the columns are associated with y and too similar in their association."""
    if columns is None or data.y.ndim != 1:
        return
    spread = spread_of(columns.numbers, data)
    if spread is None or not spread.is_doubtful:
        return
    yield Finding(
        "selection-outside",
        f"Nine of ten columns are associated with y (p < {number(spread.weakest)}), and all about "
        f"equally: their z-scores spread by {spread.observed:.2f} where their noise alone makes "
        f"{spread.expected:.2f}. Columns look like that when they were selected with these y's "
        "before the search saw them; no level of the audit can undo it.",
        "Put the selection into the pipeline, make_pipeline(SelectKBest(k=…), model), and give "
        "the search all columns.",
    )


def spread_of(X: np.ndarray, data: Data) -> Spread | None:
    """Compare the spread of the columns' z's with its null distribution.

    Return None if there are too few columns or rows.
    """
    varied = np.flatnonzero(np.ptp(X, axis=0) > 0)
    if len(varied) > MOST:
        varied = varied[np.linspace(0, len(varied) - 1, MOST).astype(int)]
    df = data.n_classes - 1 if data.codes is not None else 1
    rest = data.n_rows - 1 - df
    if len(varied) < FEWEST or rest < 3:
        return None
    X = X[:, varied]
    left = _residuals(X, data)
    squares, p = _tests(X, left, df, rest)
    weakest = float(np.quantile(p, 0.9))
    if weakest >= WEAK:
        return Spread(len(p), weakest, 1.0, 1.0, 1.0)
    z = np.sqrt(2 * rest) * np.arcsinh(np.sqrt(squares / (2 * rest)))
    return _against_chance(z, weakest, left, _variance(squares, df), X, data)


def _tests(X: np.ndarray, left: np.ndarray, df: int, rest: int) -> tuple[np.ndarray, np.ndarray]:
    """Return t² (for classes df · F) of every column, and the p-values of its F test."""
    from scipy.special import fdtrc

    within = np.maximum((left**2).sum(axis=0), np.finfo(float).tiny)
    total = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    with np.errstate(over="ignore"):  # A column that separates the classes perfectly overflows.
        squares = np.maximum(total - within, 0.0) / (within / rest)
    return squares, np.asarray(fdtrc(df, rest, squares / df))


def _variance(squares: np.ndarray, df: int) -> float:
    """Return the variance of the square root of a non-central chi-squared variable.

    It has df degrees of freedom, and the variance is 1 for df = 1.
    """
    if df == 1:
        return 1.0
    beyond = max(float(squares.mean()) - df, 0.0)
    return (df + 2 * beyond) / (2 * (df + beyond))


def _against_chance(
    z: np.ndarray, weakest: float, left: np.ndarray, variance: float, X: np.ndarray, data: Data
) -> Spread:
    from scipy.special import chdtr

    p = len(z)
    unit = left / np.sqrt(np.maximum((left**2).sum(axis=0), np.finfo(float).tiny))
    target = data.y if data.codes is None else data.codes
    signs = np.sign((target - target.mean()) @ (X - X.mean(axis=0)))
    # The z's are absolute values, so a column with its sign reversed is equivalent.
    unit = unit * np.where(signs == 0, 1.0, signs)
    R = unit.T @ unit
    CR = R - R.mean(axis=0)
    mean = variance * max(float(np.trace(CR)), 1e-12)
    spread = variance**2 * max(2 * float((CR * CR.T).sum()), 1e-12)
    Q = float(((z - z.mean()) ** 2).sum())
    scale, degrees = spread / (2 * mean), 2 * mean**2 / spread
    chance = float(chdtr(degrees, Q / scale))
    return Spread(p, weakest, float(np.sqrt(Q / (p - 1))), float(np.sqrt(mean / (p - 1))), chance)


def _residuals(X: np.ndarray, data: Data) -> np.ndarray:
    """Return the residuals of the columns given y."""
    if data.codes is not None:
        sums = np.zeros((data.n_classes, X.shape[1]))
        np.add.at(sums, data.codes, X)
        sizes = np.maximum(data.class_sizes, 1)
        return np.asarray(X - (sums / sizes[:, None])[data.codes])
    target = data.y - data.y.mean()
    centred = X - X.mean(axis=0)
    size = float(target @ target)
    return centred if size == 0 else np.asarray(centred - np.outer(target, target @ centred / size))
