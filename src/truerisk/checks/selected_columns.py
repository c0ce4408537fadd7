r"""Test if the columns were selected with these very labels before the search saw them.

One column is no evidence: a good column is associated with y, too. Many columns are. Let
:math:`t_j` be the t statistic of column j with :math:`\nu` degrees of freedom and

.. math:: z_j = \sqrt{2\nu}\,\operatorname{asinh}\left(|t_j| / \sqrt{2\nu}\right),

which has variance 1 whatever the effect of the column. Columns that were not selected by y have
:math:`z_j = \delta_j + \varepsilon_j`: however strong and however similar their effects are, the
z's spread at least as much as their noise. Columns that were selected because their z is large are
truncated at the selection threshold, and noise truncated at 2 or 3 has only a third of that spread.
So the columns are suspect if all of them are associated with y and their z's are nevertheless *more
similar* than chance allows.

:math:`Q = \sum_j (z_j - \bar z)^2` is compared with the scaled chi-squared distribution that has
its mean :math:`\operatorname{tr}(CR)` and its variance :math:`2\operatorname{tr}(CRCR)` for equal
effects, where C is the centring matrix and R holds the correlations of the columns given y. Unequal
effects make Q larger, so the false alarm rate is at most `SIGNIFICANCE_LEVEL`, up to the
approximation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from truerisk.checks.columns import ColumnView
from truerisk.core.formats import format_number
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.results.finding import Finding

SIGNIFICANCE_LEVEL = 1e-3  # significance level of the test
LARGEST_P_VALUE = 0.1  # Nine of ten columns must have a smaller p-value for a finding.
FEWEST_COLUMNS = 5  # fewest columns for which the test is made
MOST_COLUMNS = (
    1000  # largest number of tested columns; from a larger table, evenly spaced columns are tested
)


@frozen
class ZScoreSpread:
    """Observed and expected spread of the columns' z statistics, with a p-value."""

    n_columns: int
    p_value_quantile: float
    observed_spread: float
    expected_spread: float
    p_value: float

    @property
    def is_too_small(self) -> bool:
        """True if the observed spread of the z statistics is too small to be due to chance.

        The probability of so small a spread is then below `SIGNIFICANCE_LEVEL`.
        """
        return self.p_value < SIGNIFICANCE_LEVEL


def selection_findings(data: Data, columns: ColumnView | None) -> Iterator[Finding]:
    """Yield a finding if all columns are associated with y by nearly the same strength."""
    if columns is None or data.y.ndim != 1:
        return
    spread_of_z = measure_z_spread(columns.numbers, data)
    if spread_of_z is None or not spread_of_z.is_too_small:
        return
    yield Finding(
        "selection-outside",
        f"Nine of ten columns are associated with y (p < "
        f"{format_number(spread_of_z.p_value_quantile)}), and all "
        f"about equally: their z-scores spread by {spread_of_z.observed_spread:.2f} where their "
        "noise "
        f"alone makes {spread_of_z.expected_spread:.2f}. Columns look like that when they were "
        "selected "
        "with these y's before the search saw them; no level of the audit can undo it.",
        "Put the selection into the pipeline, make_pipeline(SelectKBest(k=…), model), and give "
        "the search all columns.",
    )


def measure_z_spread(X: np.ndarray, data: Data) -> ZScoreSpread | None:
    """Compare the spread of the columns' z statistics with its null distribution.

    Return None if there are too few columns or rows.
    """
    varying_columns = np.flatnonzero(np.ptp(X, axis=0) > 0)
    if len(varying_columns) > MOST_COLUMNS:
        varying_columns = varying_columns[
            np.linspace(0, len(varying_columns) - 1, MOST_COLUMNS).astype(int)
        ]
    numerator_df = data.n_classes - 1 if data.codes is not None else 1
    residual_df = data.n_rows - 1 - numerator_df
    if len(varying_columns) < FEWEST_COLUMNS or residual_df < 3:
        return None
    X = X[:, varying_columns]
    residuals = _residuals(X, data)
    t_squared, p_values = _f_tests(X, residuals, numerator_df, residual_df)
    p_value_quantile = float(np.quantile(p_values, 0.9))
    if p_value_quantile >= LARGEST_P_VALUE:
        return ZScoreSpread(len(p_values), p_value_quantile, 1.0, 1.0, 1.0)
    z_scores = np.sqrt(2 * residual_df) * np.arcsinh(np.sqrt(t_squared / (2 * residual_df)))
    return _compare_with_chance(
        z_scores, p_value_quantile, residuals, _variance_of_z(t_squared, numerator_df), X, data
    )


def _f_tests(
    X: np.ndarray, residuals: np.ndarray, numerator_df: int, residual_df: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the F test of each column: t² and the p-value.

    With several classes, t² stands for the numerator degrees of freedom times F.
    """
    from scipy.special import fdtrc

    residual_squares = np.maximum((residuals**2).sum(axis=0), np.finfo(float).tiny)
    total_squares = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    with np.errstate(over="ignore"):  # The t² of a perfect separation of classes overflows.
        t_squared = np.maximum(total_squares - residual_squares, 0.0) / (
            residual_squares / residual_df
        )
    return t_squared, np.asarray(fdtrc(numerator_df, residual_df, t_squared / numerator_df))


def _variance_of_z(t_squared: np.ndarray, df: int) -> float:
    """Return the variance of the square root of a non-central chi-squared variable.

    The variable has df degrees of freedom. For df = 1 the result is 1.
    """
    if df == 1:
        return 1.0
    noncentrality = max(float(t_squared.mean()) - df, 0.0)
    return (df + 2 * noncentrality) / (2 * (df + noncentrality))


def _compare_with_chance(
    z_scores: np.ndarray,
    p_value_quantile: float,
    residuals: np.ndarray,
    z_variance: float,
    X: np.ndarray,
    data: Data,
) -> ZScoreSpread:
    from scipy.special import chdtr

    n_columns = len(z_scores)
    unit_residuals = residuals / np.sqrt(
        np.maximum((residuals**2).sum(axis=0), np.finfo(float).tiny)
    )
    numeric_y = data.y if data.codes is None else data.codes
    signs_of_association = np.sign((numeric_y - numeric_y.mean()) @ (X - X.mean(axis=0)))
    # The z's are absolute values, so a column with its sign reversed has the same z.
    unit_residuals = unit_residuals * np.where(signs_of_association == 0, 1.0, signs_of_association)
    R = unit_residuals.T @ unit_residuals
    CR = R - R.mean(axis=0)
    mean_of_Q = z_variance * max(float(np.trace(CR)), 1e-12)
    variance_of_Q = z_variance**2 * max(2 * float((CR * CR.T).sum()), 1e-12)
    Q = float(((z_scores - z_scores.mean()) ** 2).sum())
    chi2_scale, degrees_of_freedom = (
        variance_of_Q / (2 * mean_of_Q),
        2 * mean_of_Q**2 / variance_of_Q,
    )
    p_value = float(chdtr(degrees_of_freedom, Q / chi2_scale))
    return ZScoreSpread(
        n_columns,
        p_value_quantile,
        float(np.sqrt(Q / (n_columns - 1))),
        float(np.sqrt(mean_of_Q / (n_columns - 1))),
        p_value,
    )


def _residuals(X: np.ndarray, data: Data) -> np.ndarray:
    """Return the residuals of each column after regression on y."""
    if data.codes is not None:
        sums_by_class = np.zeros((data.n_classes, X.shape[1]))
        np.add.at(sums_by_class, data.codes, X)
        class_sizes = np.maximum(data.class_sizes, 1)
        return np.asarray(X - (sums_by_class / class_sizes[:, None])[data.codes])
    centred_y = data.y - data.y.mean()
    centred_columns = X - X.mean(axis=0)
    squared_norm = float(centred_y @ centred_y)
    return (
        centred_columns
        if squared_norm == 0
        else np.asarray(
            centred_columns - np.outer(centred_y, centred_y @ centred_columns / squared_norm)
        )
    )
