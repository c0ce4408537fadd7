"""The Beta posterior of a true error rate after a test, exact in its tails."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple, overload

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.arguments import as_array, check_level, is_number, mention, repr_on_one_line
from truerisk.core.errors import BadArgument, BadData
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.results.counted_errors import zero_one_losses
from truerisk.results.door import load_from_package
from truerisk.results.interval import Interval
from truerisk.results.records import DisplayedResult
from truerisk.results.results import RiskEstimate
from truerisk.statistics.sample_size import beta_quantile

# Smallest parameter of a Beta prior. For smaller ones, older SciPy releases return NaN quantiles.
SMALLEST_PRIOR_PARAMETER = 1e-12
# Largest number of rows. Floats cannot count more rows exactly, so more are a typing error.
LARGEST_N_ROWS = 10**15
ONE_RULE_LABEL = "one fitted rule"


class Measures(NamedTuple):
    """The four measures of a tested model by Wallman (2005, §3.7), of which lower is better.

    `ub` is the upper bound, `above_half` P(error > ½), `q2` E[error²], and `err` the share of
    errors.
    """

    ub: float
    above_half: float
    q2: float
    err: float


@frozen
class ErrorPosterior(DisplayedResult):
    """Posterior of the true error, given `errors` in `n` independent *test* rows.

    With the prior Beta(a, b) the posterior is Beta(errors + a, n − errors + b); the default prior
    is flat. Wallman's four measures of a rule are `upper(.95)`, `mass_above(.5)`, `second_moment()`
    and `errors / n`. (His text says that n is the training size; it is the test size. His
    "exponentially increasing cost" is quadratic: E[error²].)

    Parameters
    ----------
    errors : float
        The number of errors.
    n : float
        The number of independent test rows.
    prior : tuple of float, default=(1, 1)
        The parameters a and b of the Beta prior.
    of : str, optional
        What the posterior refers to, in words. By default one fixed rule.

    See Also
    --------
    plan_sample : Plan the number of test rows for such an interval.
    bayesian_error : Estimate the error of a linear rule without test rows.

    References
    ----------
    Wallman MC (2005). Performance estimation in small sample parameter and classifier selection.

    Examples
    --------
    >>> post = ErrorPosterior(6, 60)
    >>> round(post.mean, 6), round(post.upper(0.95), 9), f"{post.mass_above(0.5):.6e}"
    (0.112903, 0.184929799, '2.690307e-11')
    """

    errors: float
    n: float
    prior: tuple[float, float] = (1, 1)
    of: str = ONE_RULE_LABEL

    @classmethod
    def of_estimate(
        cls, estimate: RiskEstimate, prior: tuple[float, float] = (1, 1)
    ) -> ErrorPosterior:
        """Return the posterior of the true error, given the errors counted in a risk estimate.

        After a hold-out it is the posterior of this rule's error. After cross-validation every fold
        has a rule of its own, trained on other rows. The errors are then counted as if one rule had
        made them; this is not the posterior of any single rule, and it ignores that the training
        sets overlap. `of` tells which case applies.

        Parameters
        ----------
        estimate : RiskEstimate
            An estimate with zero-one loss.
        prior : tuple of float, default=(1, 1)
            The parameters of the Beta prior.

        Returns
        -------
        ErrorPosterior
            The posterior.

        Examples
        --------
        >>> import truerisk as tr
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = tr.datasets.make_simple(60, random_state=0)
        >>> est = tr.estimate_risk(GaussianNB(), X, y, cv="holdout")
        >>> print(ErrorPosterior.of_estimate(est))
        2 errors in 20 rows, prior Beta(1, 1): mean 0.1364, 95 % interval [0.0305, 0.3038] (beta)
        """
        if not isinstance(estimate, RiskEstimate):
            raise BadArgument(
                f"{mention('estimate', estimate)}: give what `estimate_risk` returned."
            )
        losses = zero_one_losses(estimate)
        return cls(float(losses.sum()), len(losses), prior, _describe_posterior(estimate))

    def __post_init__(self) -> None:
        if not isinstance(self.of, str):
            raise BadArgument(f"{mention('of', self.of)}: say in words what the posterior is of.")
        if not (is_number(self.errors) and is_number(self.n)):
            raise BadData(
                f"{mention('errors', self.errors)}, {mention('n', self.n)}: give two numbers, "
                "how many errors in how many test rows."
            )
        if LARGEST_N_ROWS < max(float(self.n), float(self.errors)) < np.inf:
            raise BadData(
                f"{mention('n', self.n)} test rows are more than {LARGEST_N_ROWS:,}, which nothing "
                "has."
            )
        if not (np.isfinite(self.n) and np.isfinite(self.errors) and 0 <= self.errors <= self.n):
            raise BadData(
                f"{self.errors} errors in {self.n} test rows: errors must lie between 0 and n."
            )
        if _is_beta(self.prior) and max(self.prior) > LARGEST_N_ROWS:
            raise BadData(
                f"prior {repr_on_one_line(self.prior)} is worth more than {LARGEST_N_ROWS:,} rows, "
                "which nothing has."
            )
        if not _is_beta(self.prior):
            raise BadData(
                f"prior {repr_on_one_line(self.prior)} is no Beta prior: both parameters must be "
                f"positive, {SMALLEST_PRIOR_PARAMETER:g} or more."
            )

    @property
    def _parameters(self) -> tuple[float, float]:
        return self.errors + self.prior[0], self.n - self.errors + self.prior[1]

    @property
    def mean(self) -> float:
        """Posterior mean of the true error."""
        a, b = self._parameters
        return a / (a + b)

    @property
    def std(self) -> float:
        """Posterior standard deviation of the true error."""
        a, b = self._parameters
        return float(np.sqrt(a * b / (a + b + 1)) / (a + b))

    def second_moment(self) -> float:
        """Return E[error²], the expected quadratic cost.

        Returns
        -------
        float
            The posterior mean of the squared error.
        """
        a, b = self._parameters
        return a * (a + 1) / ((a + b) * (a + b + 1))

    @overload
    def cdf(self, e: float) -> float: ...
    @overload
    def cdf(self, e: Sequence[float] | np.ndarray) -> np.ndarray: ...
    def cdf(self, e: Any) -> Any:
        """Return the posterior probability that the true error is at most `e`.

        Parameters
        ----------
        e : float or array
            Error rates.

        Returns
        -------
        float or array
            The probability that the true error is at most e.
        """
        from scipy.special import betainc

        return betainc(*self._parameters, np.clip(_to_rates(e), 0, 1))[()]

    @overload
    def mass_above(self, e: float) -> float: ...
    @overload
    def mass_above(self, e: Sequence[float] | np.ndarray) -> np.ndarray: ...
    def mass_above(self, e: Any) -> Any:
        """Return the posterior probability that the true error exceeds `e`.

        It is computed from the upper tail and not as 1 minus the cdf, so that it is exact even at
        1e-26.

        Parameters
        ----------
        e : float or array
            Error rates.

        Returns
        -------
        float or array
            The probability that the true error exceeds e.
        """
        from scipy.special import betainc

        a, b = self._parameters
        return betainc(b, a, np.clip(1 - _to_rates(e), 0, 1))[()]

    @overload
    def pdf(self, e: float) -> float: ...
    @overload
    def pdf(self, e: Sequence[float] | np.ndarray) -> np.ndarray: ...
    def pdf(self, e: Any) -> Any:
        """Return the posterior density of the true error at the error rate `e`.

        Parameters
        ----------
        e : float or array
            Error rates.

        Returns
        -------
        float or array
            The posterior density at e.
        """
        from scipy.special import betaln, xlog1py, xlogy

        a, b = self._parameters
        e = _to_rates(e)
        is_valid_rate = (e >= 0) & (e <= 1)
        valid_rates = np.where(is_valid_rate, e, 0.5)
        density = np.exp(xlogy(a - 1, valid_rates) + xlog1py(b - 1, -valid_rates) - betaln(a, b))
        return np.where(is_valid_rate, density, 0.0)[()]

    def quantile(self, probability: float) -> float:
        """Return the error rate that the true error does not exceed with a given probability.

        Parameters
        ----------
        probability : float
            A probability from 0 to 1.

        Returns
        -------
        float
            The quantile of the true error.
        """
        if not (isinstance(probability, Real) and 0 <= probability <= 1):
            raise BadData(f"probability {probability!r} is not between 0 and 1.")
        return float(beta_quantile(*self._parameters, probability))

    def upper(self, level: float = 0.95) -> float:
        """Return the upper bound below which the true error lies with probability `level`.

        Parameters
        ----------
        level : float, default=0.95
            The probability.

        Returns
        -------
        float
            The bound.
        """
        return self.quantile(level)

    def interval(self, level: float = 0.95) -> Interval:
        """Return the equal-tailed credible interval of the true error.

        Parameters
        ----------
        level : float, default=0.95
            The confidence level.

        Returns
        -------
        Interval
            The interval, with equal probability below and above it.
        """
        check_level("level", level)
        tail_probability = (1 - level) / 2
        return Interval(
            self.quantile(tail_probability), self.quantile(1 - tail_probability), "beta", level
        )

    def measures(self, level: float = 0.95) -> Measures:
        """Return Wallman's four measures of the true error, named ub, 50 %, q2 and err.

        Parameters
        ----------
        level : float, default=0.95
            The probability of the upper bound (ub).

        Returns
        -------
        Measures
            The upper bound, the probability of an error above 50 %, the expected squared error and
            the error rate.

        Examples
        --------
        >>> ErrorPosterior(15, 150).measures().ub < ErrorPosterior(6, 60).measures().ub
        True
        """
        if self.n == 0:
            raise BadData("nothing was tested: there is no share of errors.")
        mass_above_half = float(self.mass_above(0.5))
        return Measures(
            self.upper(level), mass_above_half, self.second_moment(), self.errors / self.n
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the posterior density, and densities of further posteriors (needs matplotlib).

        The option `others` maps names to the further posteriors.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.
        **options
            Further options of the plot.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        return load_from_package("posterior")(self, ax=ax, **options)

    def __str__(self) -> str:
        label = "" if self.of == ONE_RULE_LABEL else f" ({self.of})"
        a, b = self.prior
        return (
            f"{self.errors:.15g} errors in {self.n:.15g} rows, prior Beta({a:.15g}, {b:.15g}): "
            f"mean {self.mean:.4f}{formats.format_uncertainty(None, self.interval())}{label}"
        )

    @override
    def blocks(self) -> list[tables.Block]:
        rows = [
            ["errors", f"{self.errors:.15g} in {self.n:.15g} rows"],
            ["prior", "Beta({:.15g}, {:.15g})".format(*self.prior)],
            ["posterior", "Beta({:g}, {:g})".format(*self._parameters)],
            ["mean", formats.format_number(self.mean)],
            ["95 % interval", str(self.interval())],
            ["95 % upper bound", formats.format_number(self.upper())],
            ["P(error > ½)", f"{self.mass_above(0.5):.4g}"],
            ["E[error²]", formats.format_number(self.second_moment())],
            ["posterior of", self.of],
        ]
        return [tables.Block("Posterior of the error", ["", ""], rows)]


def _is_beta(prior: Any) -> bool:
    """Return True if `prior` is a valid pair of parameters of a Beta distribution.

    Both parameters must be finite and at least `SMALLEST_PRIOR_PARAMETER`.
    """
    parameters = tuple(prior) if np.iterable(prior) else ()
    return len(parameters) == 2 and all(
        isinstance(parameter, Real)
        and not parameter < SMALLEST_PRIOR_PARAMETER
        and parameter < np.inf
        for parameter in parameters
    )


def _to_rates(raw_rates: Any) -> np.ndarray:
    """Convert error rates to an array of floats; raise BadArgument for NaN and for non-numbers."""
    try:
        rates = as_array(raw_rates, float)
    except ValueError:
        raise BadArgument(f"{mention('e', raw_rates)}: give an error rate, or several.") from None
    if np.isnan(rates).any():
        raise BadArgument("e holds NaN: give an error rate, or several.")
    return rates


def _describe_posterior(estimate: RiskEstimate) -> str:
    if estimate.target == "Err_XY":
        return ONE_RULE_LABEL
    return (
        f"the rules of {estimate.method}, each trained on other rows; their errors are counted as "
        "if one rule had made them"
    )
