"""`plan_comparison`: the number of rows that show a difference between two learners."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, ClassVar

import numpy as np
from scipy.special import stdtrit
from scipy.stats import nct

from truerisk.core import formats, tables
from truerisk.core.arguments import (
    check_flag,
    check_level,
    check_number,
    is_count,
    is_number,
    mention,
)
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.results.evaluation import FOLD_VARIANCE_FACTOR
from truerisk.results.records import FINITE_RANGE, Count, Record, Share

MOST_ROWS = 10**9
FEWEST_ROWS = 3


@frozen
class ComparisonPlan(Record):
    """Result of `plan_comparison`: rows and power of a paired comparison of two learners.

    Parameters
    ----------
    difference : float
        The difference of the two risks.
    sd : float
        The standard deviation, over the rows, of the difference between the two losses of a row.
    n : int
        The number of rows.
    power : float
        The probability that the interval of the difference excludes 0.
    confidence_level : float
        The confidence level of that interval.
    cross_validated : bool
        True if the learners are compared by cross-validation on the same rows.
    half_width : float
        The expected half width of the interval.

    See Also
    --------
    plan_comparison : Compute this plan.
    compare : Compare two learners.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.plan_comparison(0.02, disagreement=0.1, cross_validated=False).n
    1957
    """

    schema: ClassVar[str] = "truerisk.comparison-plan/2"

    difference: float
    sd: float
    n: Count
    power: Share
    confidence_level: Share
    cross_validated: bool
    half_width: float

    def __str__(self) -> str:
        by = "cross-validation" if self.cross_validated else "a test set"
        return (
            f"{self.n} rows: a difference of {formats.format_number(self.difference)} is "
            f"shown by {by} "
            f"with probability {self.power:.2f}; its "
            f"{formats.format_percent(self.confidence_level)} "
            f"interval has a half width of about {formats.format_number(self.half_width)}."
        )

    @override
    def blocks(self) -> list[tables.Block]:
        row = [
            str(self.n),
            formats.format_number(self.difference),
            formats.format_number(self.sd),
            f"{self.power:.3f}",
            formats.format_number(self.half_width),
        ]
        header = ["rows", "difference", "sd of a row", "power", "half width"]
        return [tables.Block(str(self), header, [row])]


def plan_comparison(
    difference: float,
    *,
    sd: float | None = None,
    disagreement: float | None = None,
    n: int | None = None,
    power: float | None = None,
    cross_validated: bool = True,
    confidence_level: float = 0.95,
) -> ComparisonPlan:
    r"""Plan how many rows are needed to show that one of two learners is better.

    Both learners are tested on the same rows. The interval of the mean paired difference excludes 0
    with the probability `power`.

    Parameters
    ----------
    difference : float
        The difference of the two risks that should be found, such as 0.02.
    sd : float, optional
        The standard deviation, over the rows, of the difference between the two losses of a row.
    disagreement : float, optional
        For the zero-one loss instead of `sd`: the share of rows on which exactly one of the two
        learners errs.
    n : int, optional
        If given, compute the power of this number of rows, instead of the number of rows.
    power : float, optional
        The probability of finding the difference. The default is 0.8.
    cross_validated : bool, default=True
        True if the learners are compared by cross-validation, as `compare` does. The variance of
        the mean difference is then 1.8 times that of independent rows, because the models of the
        folds share training rows. False for finished models on a test set.
    confidence_level : float, default=0.95
        The confidence level of the interval.

    Returns
    -------
    ComparisonPlan
        The number of rows, the power, and the expected half width of the interval.

    See Also
    --------
    plan_sample : Plan a test set for the error of one model.
    compare : Compare two learners.

    Notes
    -----
    With n rows and the factor f (1.8, or 1 without cross-validation), the paired test has
    :math:`n/f - 1` degrees of freedom and the noncentrality

    .. math:: \delta \, / \, (\text{sd} \sqrt{f/n}) .

    The smallest n whose power by the noncentral t distribution reaches `power` is returned. For the
    zero-one loss with a share d of rows on which one learner errs,
    :math:`\text{sd}^2 = d - \delta^2`. For cross-validated labels, `compare` computes its
    interval as if in two more rows exactly one learner erred, once the one and once the other. The
    half width is therefore multiplied by :math:`\sqrt{1 + 2 / (n \, \text{sd}^2)}`.

    Examples
    --------
    >>> import truerisk as tr
    >>> plan = tr.plan_comparison(0.02, disagreement=0.1)
    >>> plan.n, round(plan.power, 2), round(plan.half_width, 3)
    (3536, 0.8, 0.014)
    """
    check_level("confidence_level", confidence_level)
    check_flag("cross_validated", cross_validated)
    if power is not None:
        check_level("power", power)
        if n is not None:
            raise BadArgument(f"give {mention('n')} or {mention('power')}, not both.")
    requirement = f"give a number other than 0, of {FINITE_RANGE.high:g} at most"
    check_number("difference", difference, FINITE_RANGE.low, FINITE_RANGE.high, requirement)
    if difference == 0:
        raise BadArgument(f"{mention('difference', difference)}: {requirement}.")
    distance = abs(float(difference))
    row_sd = _checked_sd(distance, sd, disagreement)
    factor = FOLD_VARIANCE_FACTOR if cross_validated else 1.0
    # For cross-validated labels, `compare` adds one row in which only the first learner errs, and
    # one in which only the second errs.
    extra_rows = 2.0 if cross_validated and disagreement is not None else 0.0
    fewest = int(np.ceil(FEWEST_ROWS * factor))

    def plan(n_rows: int) -> ComparisonPlan:
        degrees, std_error = n_rows / factor - 1, row_sd * (factor / n_rows) ** 0.5
        quantile = float(stdtrit(degrees, (1 + confidence_level) / 2))
        # The square of a very small standard deviation is 0.
        bound = quantile * (1 + extra_rows / n_rows / row_sd / row_sd) ** 0.5
        return ComparisonPlan(
            float(difference),
            row_sd,
            n_rows,
            _probability_beyond(bound, degrees, distance / std_error),
            confidence_level,
            bool(cross_validated),
            bound * std_error,
        )

    if n is not None:
        if not is_count(n) or not fewest <= n <= MOST_ROWS:
            raise BadArgument(
                f"{mention('n', n)}: give a number of rows from {fewest} to {MOST_ROWS:,}."
            )
        return plan(int(n))
    least_power, counts = (0.8 if power is None else power), range(fewest, MOST_ROWS)
    result = plan(fewest + bisect_left(counts, least_power, key=lambda count: plan(count).power))
    if result.power < least_power:
        raise Refusal(
            f"more than {MOST_ROWS:,} rows: the difference {distance:g} is too small beside the "
            f"standard deviation {row_sd:g} of a row."
        )
    return result


def _checked_sd(difference: float, sd: Any, disagreement: Any) -> float:
    """Return the standard deviation of the difference of two learners' losses on one row."""
    if (sd is None) == (disagreement is None):
        raise BadArgument(
            f"give either {mention('sd')}, the standard deviation of the paired differences of "
            f"rows, or {mention('disagreement')}, the share of rows on which one learner errs."
        )
    if disagreement is not None:
        requirement = (
            f"two learners whose errors differ by {difference:g} disagree on a share of rows "
            f"between {difference:g} and 1"
        )
        check_number("disagreement", disagreement, difference, 1, requirement)
        sd = (float(disagreement) - difference**2) ** 0.5
        if sd == 0:
            raise BadArgument(
                f"{mention('disagreement', disagreement)}: one learner errs on every row and the "
                "other on none, which a single row shows; give a smaller difference."
            )
    if not is_number(sd) or not 0 < sd <= FINITE_RANGE.high:
        raise BadArgument(
            f"{mention('sd', sd)}: give a number above 0, of {FINITE_RANGE.high:g} at most."
        )
    return float(sd)


def _probability_beyond(bound: float, degrees: float, noncentrality: float) -> float:
    """Return the probability that a noncentral t lies outside of ± bound."""
    above = float(nct.sf(bound, degrees, noncentrality))
    below = float(nct.cdf(-bound, degrees, noncentrality))
    # scipy returns NaN where the probability is 0 or 1 within rounding.
    power = np.nan_to_num(above, nan=1.0 if noncentrality > bound else 0.0) + np.nan_to_num(below)
    return float(min(1.0, power))
