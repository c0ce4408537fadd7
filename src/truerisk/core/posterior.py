"""The posterior of a true error rate after a test: Beta, exact in its tails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.core.errors import BadData
from truerisk.core.interval import Interval

__all__ = ["ErrorPosterior"]


@dataclass(frozen=True)
class ErrorPosterior:
    r"""What `errors` in `n` independent *test* rows say about the true error.

    With the prior Beta(a, b) the posterior is Beta(errors + a, n − errors + b); the default prior
    is flat. Wallman's four measures of a rule are `upper(.95)`, `mass_above(.5)`,
    `second_moment()` and `errors / n`. (His text says n is the training size; it is the test
    size. His "exponentially increasing cost" is quadratic: E[error²].)

    >>> post = ErrorPosterior(6, 60)
    >>> round(post.mean, 6), round(post.upper(0.95), 9), f"{post.mass_above(0.5):.6e}"
    (0.112903, 0.184929799, '2.690307e-11')
    """

    errors: float
    n: float
    prior: tuple[float, float] = (1, 1)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.n) and np.isfinite(self.errors) and 0 <= self.errors <= self.n):
            raise BadData(
                f"{self.errors} errors in {self.n} test rows: errors must lie between 0 and n."
            )
        if not all(np.isfinite(p) and p > 0 for p in self.prior):
            raise BadData(f"prior {self.prior} is no Beta prior: both parameters must be positive.")

    @property
    def _parameters(self) -> tuple[float, float]:
        return self.errors + self.prior[0], self.n - self.errors + self.prior[1]

    @property
    def mean(self) -> float:
        a, b = self._parameters
        return a / (a + b)

    @property
    def std(self) -> float:
        a, b = self._parameters
        return float(np.sqrt(a * b / (a + b + 1)) / (a + b))

    def second_moment(self) -> float:
        """E[error²], the expected quadratic cost."""
        a, b = self._parameters
        return a * (a + 1) / ((a + b) * (a + b + 1))

    def cdf(self, e: Any) -> Any:
        """P(error ≤ e)."""
        from scipy.special import betainc

        return betainc(*self._parameters, np.clip(e, 0, 1))[()]

    def mass_above(self, e: float) -> float:
        """P(error > e), computed in its own tail: exact where it is 1e-26."""
        from scipy.special import betainc

        a, b = self._parameters
        return float(betainc(b, a, np.clip(1 - e, 0, 1)))

    def pdf(self, e: Any) -> Any:
        """The density at e."""
        from scipy.special import betaln, xlog1py, xlogy

        a, b = self._parameters
        e = np.asarray(e, dtype=float)
        inside = (e >= 0) & (e <= 1)
        safe = np.where(inside, e, 0.5)
        density = np.exp(xlogy(a - 1, safe) + xlog1py(b - 1, -safe) - betaln(a, b))
        return np.where(inside, density, 0.0)[()]

    def quantile(self, probability: float) -> float:
        """The error that is not exceeded with this probability."""
        from scipy.special import betaincinv

        if not 0 <= probability <= 1:
            raise BadData(f"probability {probability} is not between 0 and 1.")
        return float(betaincinv(*self._parameters, probability))

    def upper(self, level: float = 0.95) -> float:
        """One-sided bound: the true error lies below it with this probability."""
        return self.quantile(level)

    def interval(self, level: float = 0.95) -> Interval:
        """Equal-tailed credible interval."""
        tail = (1 - level) / 2
        return Interval(self.quantile(tail), self.quantile(1 - tail), "beta", level)
