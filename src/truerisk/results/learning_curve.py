"""The learning curve: risks at several numbers of training rows, and predictions at others.

The curve of a loss follows the power law a + b n^−c; its uncertainty is computed at measured sizes
and beyond.

The risks at several sizes are taken as normal about the law with a known covariance. The exponent c
can be determined from a long curve only, and a fitted exponent is seldom reliable. Therefore no c
is chosen: all exponents between `SLOWEST` and `FASTEST` are averaged by how well they fit, with a ≥
the least loss, b ≥ 0, and a flat prior on the last risk and on the fall from the first to the last.
For given c and b the law is linear in a, so that the posterior of the risk at n is a mixture of
truncated normals: exact except for the sums over c and b, and without random numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.arguments import is_number, shown
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.tables import frame_of
from truerisk.results.door import load_from_above
from truerisk.results.interval import Interval, OnScale, Scale
from truerisk.results.records import (
    FINITE,
    LARGEST_COUNT,
    UNWRITTEN,
    Column,
    Finite,
    Perfect,
    Range,
    Record,
    Share,
)
from truerisk.results.results import RiskEstimate

N_PLACES = 16  # number of sizes at which the law is evaluated for a figure
# relative to the largest size: the range in which the band was validated (docs/learning-curves.md)
FURTHEST = 4.0


@frozen
class ExpectedRisk(OnScale):
    """The expected risk of a learner that is trained on `n_train` rows.

    `extrapolated` is True if all measured sizes are smaller. `value` and `perfect` as in
    `RiskEstimate`.
    """

    n_train: float
    value: float
    interval: Interval
    extrapolated: bool
    perfect: Perfect | None = None

    def __str__(self) -> str:
        return f"with {self.n_train:g} rows expect {formats.risk(self.value)} {self.interval}"


@frozen(eq=False)
class LearningCurve(Record):
    """Result of `learning_curve`: risks at several training sizes, and the law that they follow.

    Losses follow a + b n^−c. `law` is None if this law does not fit or has no covariance; `lacking`
    then gives the reason, and the curve has no band and is not extrapolated.

    Parameters
    ----------
    sizes : array of float
        The mean numbers of training rows of the fits.
    estimates : tuple of RiskEstimate
        The risks at these sizes, on the same tested rows.
    covariance : array or None
        The covariance matrix of the errors of these risks; None if `lacking` gives a reason.
    confidence_level : float
        The nominal coverage of the intervals and of the band.
    lower : float or None, default=0.0
        The smallest possible loss.
    upper : float, optional
        The largest possible loss.
    lacking : str, optional
        The reason why there is no law.

    See Also
    --------
    learning_curve : Measure a learning curve.
    plan_sample : Plan test rows, from a learning curve.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_difficult(80, random_state=0)
    >>> curve = tr.learning_curve(GaussianNB(), X, y, sizes=[10, 20, 40, 64])
    >>> curve.sizes.tolist(), curve.values.shape
    ([10.0, 20.0, 40.0, 64.0], (4,))
    """

    schema: ClassVar[str] = "truerisk.learning-curve/2"
    derived: ClassVar[Mapping[str, str]] = {"law": "law", "expected": "_written_expected"}

    sizes: Annotated[np.ndarray, Column("sizes", least=1, numbers=Range(1, LARGEST_COUNT))]
    estimates: Annotated[tuple[RiskEstimate, ...], Column("sizes")]
    covariance: Annotated[np.ndarray, Column("sizes", n_axes=2, numbers=FINITE)] | None
    confidence_level: Share
    lower: Finite | None = 0.0
    upper: Finite | None = None
    lacking: str | None = None

    @property
    def flaw(self) -> tuple[str | int, ...] | None:
        """Place and requirement of an invalid field in a record read from a file, or None."""
        if (np.diff(self.sizes) <= 0).any():
            return "sizes", "ascending"
        n = len(self.sizes)
        if self.covariance is not None and self.covariance.shape != (n, n):
            return "covariance", f"{n} lines of {n} numbers"
        if self.law is None:
            return ("lacking", "the reason for no law") if self.lacking is None else None
        for place, estimate in enumerate(self.estimates):
            loss = estimate.loss_value
            if loss is None:
                return "estimates", place, "value", "a number, as there is a law"
            if self.lower is not None and loss < self.lower:
                return "estimates", place, "value", f"a loss of {self.lower:g} or more"
            if self.upper is not None and loss > self.upper:
                return "estimates", place, "value", f"a loss of {self.upper:g} or less"
        if n < FEWEST_SIZES:
            return "sizes", f"{FEWEST_SIZES} or more, as there is a law"
        if self.estimates[-1].n_rows < self.sizes[-1]:
            return "estimates", n - 1, "n_rows", f"{self.sizes[-1]:g} or more, the training rows"
        return None if self.law.is_defined else ("covariance", "one by which a law can be told")

    @cached_property
    def values(self) -> np.ndarray:
        """The value at each size, on the scale of the estimates."""
        return np.array([each.value for each in self.estimates], dtype=float)

    @cached_property
    def law(self) -> PowerLaw | None:
        """The law that the risks follow, with its uncertainty, or None."""
        if self.covariance is None or self.lacking is not None:
            return None
        losses = self.scale.values(self.values)
        return PowerLaw(self.sizes, losses, self.covariance, self.lower, self.scale.perfect)

    @property
    def scale(self) -> Scale:
        """The scale of the reported numbers."""
        return self.estimates[-1].scale

    @cached_property
    def expected(self) -> tuple[ExpectedRisk, ...]:
        """Predictions of the law from the first size to twice the rows; empty without a law."""
        if self.law is None:
            return ()
        n, first = float(self.estimates[-1].n_rows), float(self.sizes[0])
        last = min(2 * n, FURTHEST * float(self.sizes[-1]))
        places = np.union1d(np.geomspace(first, last, N_PLACES), [min(n, last)])
        return tuple(self.at(float(place)) for place in places)

    @property
    def _written_expected(self) -> list[dict[str, float]]:
        return [
            {"n_train": at.n_train, "value": at.value, "low": at.interval.low}
            | {"high": at.interval.high}
            for at in self.expected
        ]

    def at(self, n: float) -> ExpectedRisk:
        """Return the expected risk with `n` training rows, up to four times the measured sizes.

        Its interval is the band of the law at `n`, for the mean risk over training sets.

        Parameters
        ----------
        n : float
            The number of training rows.

        Returns
        -------
        ExpectedRisk
            The expected risk with its interval.
        """
        if not is_number(n) or not n > 0:
            raise BadArgument(f"curve.at({shown(n)}): give a number of training rows.")
        if self.law is None:
            raise Refusal(f"the learning curve has no law that predicts a risk: {self.lacking}")
        low, high = float(self.sizes[0]), float(self.sizes[-1])
        if not low <= n <= FURTHEST * high:
            raise Refusal(
                f"curve.at({n:.15g}): the curve was measured from {low:g} to {high:g} training "
                f"rows, and is extrapolated to {FURTHEST * high:g} at most."
            )
        ends = self.law.interval(float(n), self.confidence_level)
        least, most = self._least_risk, np.inf if self.upper is None else self.upper
        ends = max(least, ends[0]), min(most, ends[1])
        interval = Interval(float(ends[0]), float(ends[1]), "power-law", self.confidence_level)
        mean = min(most, self.law.mean(float(n)))
        return ExpectedRisk(n, mean, interval, n > high).on_scale(self.scale)

    @property
    def _least_risk(self) -> float:
        return -np.inf if self.lower is None else self.lower

    def __len__(self) -> int:
        return len(self.sizes)

    def to_frame(self) -> Any:
        """Return a frame with a row per size: value, error, interval, and the band of the law.

        Returns
        -------
        DataFrame
            A frame of pandas, or of polars if only that is installed.
        """
        band = [None if self.law is None else self.at(size) for size in self.sizes]
        estimates = self.estimates
        return frame_of(
            {
                "n_train": self.sizes.tolist(),
                "value": [e.value for e in estimates],
                "std_error": [e.std_error for e in estimates],
                "low": [e.interval and e.interval.low for e in estimates],
                "high": [e.interval and e.interval.high for e in estimates],
                "law": [b and b.value for b in band],
                "law_low": [b and b.interval.low for b in band],
                "law_high": [b and b.interval.high for b in band],
                "n_fits": [e.n_fits for e in estimates],
            }
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the risks, the law and its band (needs matplotlib), up to `to` training rows.

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
        return load_from_above("learning-curve")(self, ax=ax, **options)

    def __str__(self) -> str:
        return "\n".join([tables.text_table(self._head, self._rows()), *self._last_line()])

    @override
    def blocks(self) -> list[tables.Block]:
        return [tables.Block("; ".join(self._last_line()), self._head, self._rows())]

    @property
    def _head(self) -> list[str]:
        what = self.estimates[-1]
        return ["training rows", what.scale.head(what.named_scoring), "interval", "law"]

    def _rows(self) -> list[list[str]]:
        rows = []
        for size, estimate in zip(self.sizes, self.estimates, strict=True):
            band = "–"
            if self.law is not None:
                band = str(self.at(float(size))).partition(" expect ")[2]
            value = "–" if estimate.value is None else formats.risk(estimate.value)
            rows.append([f"{size:g}", value, str(estimate.interval or "–"), band])
        return rows

    def _last_line(self) -> list[str]:
        if self.law is None:
            return [f"note: {self.lacking}"]
        law, further = self.law, self.at(round(2 * float(self.sizes[-1])))
        sign = "+" if law.perfect is None else "-"
        return [f"law {law.a:.4g} {sign} {law.b:.4g} n^-{law.c:.4g}; {further}"]


SLOWEST, FASTEST = 0.25, 2.0
FEWEST_SIZES = 4  # fitting a, b and c requires one size more
N_EXPONENTS, N_SLOPES, REACH = 36, 161, 8.0
CLOSE = 1e-9  # maximum error of a quantile in standard errors
NUGGET = 0.2  # share added to each variance, because the law is an approximation
UNLIKELY = 0.01  # the law is refused if a fit this bad has a smaller probability


@frozen(eq=False)
class PowerLaw:
    """The law behind the losses `values` at `sizes`, ascending, with this `covariance` of errors.

    `lower` is the least possible loss, or None. With `perfect`, as in `RiskEstimate`, the losses
    are those of a score; `a` is then the limit of the score, and the score is a − b n^−c. `a`, `b`
    and `c` describe the law by one curve: it passes through the expected risks at the largest size
    and at twice that size, and among all such laws it is nearest to the expected risks at the other
    sizes.

    >>> sizes = np.array([10.0, 20.0, 40.0, 80.0])
    >>> law = PowerLaw(sizes, 0.1 + 1 / sizes, np.eye(4) * 1e-8, 0.0)
    >>> [round(float(one), 2) for one in (law.a, law.b, law.c)]
    [0.1, 1.0, 1.0]
    """

    derived: ClassVar[tuple[str, ...]] = ("a", "b", "c")

    sizes: np.ndarray = field(metadata=UNWRITTEN)
    values: np.ndarray = field(metadata=UNWRITTEN)
    covariance: np.ndarray = field(metadata=UNWRITTEN)
    lower: float | None = field(default=0.0, metadata=UNWRITTEN)
    perfect: float | None = field(default=None, metadata=UNWRITTEN)

    @property
    def a(self) -> float:
        """The limit for many rows; for a score, the limit of the score."""
        return Scale(self.perfect).value(self._parameters[0])

    @property
    def b(self) -> float:
        """Factor of n^(−c) in the curve."""
        return self._parameters[1]

    @property
    def c(self) -> float:
        """Exponent of the curve: the excess loss falls as n^(−c)."""
        return self._parameters[2]

    @property
    def is_defined(self) -> bool:
        """True if the covariance is positive definite and the posterior has a positive weight."""
        if not (np.diag(self.covariance) > 0).all():
            return False
        try:
            with np.errstate(all="ignore"):
                precise = np.isfinite(np.linalg.cholesky(self._precision)).all()
                parts = (*self._mixture, self._best) if precise else ((),)
                return all(len(part) > 0 and bool(np.isfinite(part).all()) for part in parts)
        except (np.linalg.LinAlgError, ValueError):  # The matrix is singular, or all weights are 0.
            return False

    def check(self) -> None:
        """Refuse a curve that the law does not fit, such as one with an increasing risk."""
        from scipy.special import chdtrc

        misfit, spare = self._best[3], len(self.sizes) - 3
        if float(chdtrc(spare, misfit)) >= UNLIKELY:
            return
        low = int(self.values.argmin())
        rises = low < len(self.sizes) - 1
        worse, better = ("rises", "falls") if self.perfect is None else ("falls", "rises")
        first, last = Scale(self.perfect).values(self.values)[[low, -1]]
        what = (
            f"it {worse} from {first:.4g} at {self.sizes[low]:g} rows to {last:.4g} at "
            f"{self.sizes[-1]:g}"
            if rises
            else f"it {better}, but not by a power law"
        )
        law = "a + b n^-c" if self.perfect is None else "a - b n^-c"
        raise Refusal(
            f"{law} does not fit this learning curve ({what}; chi-square {misfit:.3g} with "
            f"{spare} degrees of freedom): it has no band and is not extrapolated to other sizes."
        )

    def mean(self, n: float) -> float:
        """Return the expected loss with n rows."""
        centres, scale, weights = self._posterior_at(n)
        low = (self._least_risk - self._a_means) / scale
        return float(weights @ (centres + scale * _mills(low)))

    def interval(self, n: float, level: float) -> tuple[float, float]:
        """Return the equal-tailed interval, by bisection of the posterior distribution function."""
        tails = (1 - level) / 2, (1 + level) / 2
        low, high = (self._quantile(n, tail) for tail in tails)
        return low, high

    def _quantile(self, n: float, tail: float) -> float:
        from scipy.special import ndtr

        centres, scale, weights = self._posterior_at(n)
        floor = (self._least_risk - self._a_means) / scale
        allowed = np.maximum(ndtr(-floor), np.finfo(float).tiny)
        first = self._least_risk - self._a_means + centres  # values at the smallest possible a
        low, high = float((centres - 12 * scale).min()), float((centres + 12 * scale).max())
        cut = ndtr(floor)
        while high - low > CLOSE * scale:
            middle = (low + high) / 2
            if not low < middle < high:  # adjacent floating-point numbers, if risks are huge
                break
            below = (ndtr((middle - centres) / scale) - cut) / allowed
            share = float(weights @ np.where(middle > first, below, 0.0))
            low, high = (low, middle) if share >= tail else (middle, high)
        return high

    # -- the posterior ----------------------------------------------------------------------

    @property
    def _least_risk(self) -> float:
        return -np.inf if self.lower is None else self.lower

    @cached_property
    def _precision(self) -> np.ndarray:
        """Precision of the risks, whose variances are first smoothed by a line in log size.

        A size at which few rows happen to be wrong has a small estimated variance as well. Weighted
        by it, highly correlated risks would pull the law below all of them.
        """
        variances, x = np.diag(self.covariance), np.log(self.sizes)
        smooth = np.exp(np.polyval(np.polyfit(x, np.log(variances), 1), x))
        ratio = np.sqrt(smooth / variances)
        covariance = self.covariance * np.outer(ratio, ratio)
        return np.linalg.inv(covariance + NUGGET * np.diag(smooth))

    def _posterior_at(self, n: float) -> tuple[np.ndarray, float, np.ndarray]:
        """Return centre, spread and weight of a + b n^−c for each (c, b), with a unbounded."""
        exponents, slopes, a_means, weights = self._mixture
        centres = a_means + slopes * (n / self.sizes[-1]) ** -exponents
        return centres, float(self._precision.sum()) ** -0.5, weights

    @property
    def _a_means(self) -> np.ndarray:
        return self._mixture[2]

    @cached_property
    def _mixture(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Exponents, slopes (at the last size), means of a and weights, which sum to 1."""
        from scipy.special import log_ndtr

        W, r, one = self._precision, self.values, np.ones(len(self.sizes))
        total = float(one @ W @ one)
        exponents, slopes, means, logs = [], [], [], []
        for c in np.linspace(SLOWEST, FASTEST, N_EXPONENTS):
            x = (self.sizes / self.sizes[-1]) ** -c
            centred = x - one @ W @ x / total  # x minus its weighted mean
            curvature = centred @ W @ x
            centre, spread = centred @ W @ r / curvature, curvature**-0.5
            low, high = max(0.0, centre - REACH * spread), max(0.0, centre) + REACH * spread
            b = np.linspace(low, high, N_SLOPES)
            a = (one @ W @ r - b * (one @ W @ x)) / total
            rest = r[:, None] - a - b * x[:, None]
            log = -0.5 * ((W @ rest) * rest).sum(axis=0) + np.log((high - low) * (x[0] - 1))
            logs.append(log + log_ndtr((a - self._least_risk) * total**0.5))
            exponents.append(np.full(N_SLOPES, c))
            slopes.append(b)
            means.append(a)
        log = np.concatenate(logs)
        weights = np.exp(log - log.max())
        heavy = weights > 1e-12
        parts = (np.concatenate(one)[heavy] for one in (exponents, slopes, means))
        return (*parts, weights[heavy] / weights[heavy].sum())

    @cached_property
    def _parameters(self) -> tuple[float, float, float]:
        """The a, b and c of the law through the expected risks at the last size and twice it."""
        last = float(self.sizes[-1])
        sizes = np.array([*self.sizes, 2 * last, FURTHEST * last])
        means = np.array([self.mean(float(n)) for n in sizes])
        now, twice = means[-3], means[-2]

        def through(c: float) -> tuple[float, float, float]:
            b = (now - twice) / (1 - 2.0**-c)  # at the last size
            return now - b, b * last**c, c

        laws = [through(float(c)) for c in np.linspace(SLOWEST, FASTEST, 8 * N_EXPONENTS)]
        allowed = [law for law in laws if law[0] >= self._least_risk] or laws[-1:]
        return min(
            allowed, key=lambda law: ((law[0] + law[1] * sizes ** -law[2] - means) ** 2).sum()
        )

    @cached_property
    def _best(self) -> tuple[float, float, float, float]:
        """The a, b and c of the best fit, and its misfit."""
        return min(
            (self._fitted(c) for c in np.linspace(SLOWEST, FASTEST, 8 * N_EXPONENTS)),
            key=lambda fit: fit[3],
        )

    def _fitted(self, c: float) -> tuple[float, float, float, float]:
        """Fit by generalised least squares for one exponent, within the bounds of a and b."""
        W, r = self._precision, self.values
        X = np.stack([np.ones(len(r)), self.sizes**-c], axis=1)
        a, b = np.linalg.solve(X.T @ W @ X, X.T @ W @ r)
        tried = [(a, b)]
        if a < self._least_risk or b < 0:
            x = X[:, 1]
            flat = max(self._least_risk, float(W.sum(axis=0) @ r / W.sum()))
            tried = [(flat, 0.0)]
            if np.isfinite(self._least_risk):
                rest = r - self._least_risk
                tried.append((self._least_risk, max(0.0, float(x @ W @ rest / (x @ W @ x)))))
        fits = [(float(a), float(b), float(c), self._misfit(r - a - b * X[:, 1])) for a, b in tried]
        return min(fits, key=lambda fit: fit[3])

    def _misfit(self, rest: np.ndarray) -> float:
        return float(rest @ self._precision @ rest)


def _mills(low: np.ndarray) -> np.ndarray:
    """Return the mean of a standard normal variable that is at least `low`."""
    from scipy.special import log_ndtr

    log = -0.5 * low**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(-low)
    return np.exp(np.where(np.isneginf(low), -np.inf, log))
