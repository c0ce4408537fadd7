"""Learning curve: risks at several numbers of training rows, and predictions for other numbers.

The curve of a loss follows the power law a + b n^−c, where n is the number of training rows. Its
uncertainty is computed at measured sizes and beyond.

The risks at several sizes are taken as normal about the power law with a known covariance. The
exponent c can be determined from a long curve only, and a fitted exponent is seldom reliable.
Therefore no c is chosen: all exponents between `MIN_EXPONENT` and `MAX_EXPONENT` are averaged by
how well they fit, with a ≥ the least loss, b ≥ 0, and a flat prior on the last risk and on the fall
from the first risk to the last. For given c and b the power law is linear in a, so that the
posterior of the risk at n is a mixture of truncated normals. It is exact except for the sums over c
and b, and needs no random numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.arguments import is_number, repr_on_one_line
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.tables import frame_from_columns
from truerisk.results.door import load_from_package
from truerisk.results.interval import Interval, ResultOnScale, Scale
from truerisk.results.records import (
    FINITE_RANGE,
    LARGEST_COUNT,
    UNWRITTEN,
    Column,
    FiniteFloat,
    PerfectScore,
    Range,
    Record,
    Share,
)
from truerisk.results.results import RiskEstimate

N_DRAWN_SIZES = 16  # Number of training sizes at which a figure shows the power law.
# A learning curve is extrapolated to at most this multiple of the largest measured size.
# The coverage of the band was validated up to this multiple (docs/learning-curves.md).
MAX_EXTRAPOLATION_FACTOR = 4.0


@frozen
class ExpectedRisk(ResultOnScale):
    """The expected risk of a learner that is trained on `n_train` rows.

    `extrapolated` is True if all measured sizes are smaller. `value` and `perfect` have the same
    meaning as in `RiskEstimate`.
    """

    n_train: float
    value: float
    interval: Interval
    extrapolated: bool
    perfect: PerfectScore | None = None

    def __str__(self) -> str:
        return (
            f"with {self.n_train:g} rows expect {formats.format_risk(self.value)} {self.interval}"
        )


@frozen(eq=False)
class LearningCurve(Record):
    """Result of `learning_curve`: risks at several training sizes, and a power law for them.

    Losses follow the power law a + b n^−c. `law` is None if it does not fit or has no covariance;
    `lacking` then gives the reason, and the curve has no band and is not extrapolated.

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
        The reason why there is no power law.

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
    covariance: Annotated[np.ndarray, Column("sizes", n_axes=2, numbers=FINITE_RANGE)] | None
    confidence_level: Share
    lower: FiniteFloat | None = 0.0
    upper: FiniteFloat | None = None
    lacking: str | None = None

    @property
    def flaw(self) -> tuple[str | int, ...] | None:
        """Path and requirement of an invalid field, or None if all fields are valid.

        A field of a record that was read from a file may be invalid.
        """
        if (np.diff(self.sizes) <= 0).any():
            return "sizes", "ascending"
        n = len(self.sizes)
        if self.covariance is not None and self.covariance.shape != (n, n):
            return "covariance", f"{n} lines of {n} numbers"
        if self.law is None:
            return ("lacking", "the reason for no law") if self.lacking is None else None
        for index, estimate in enumerate(self.estimates):
            loss = estimate.loss_value
            if loss is None:
                return "estimates", index, "value", "a number, as there is a law"
            if self.lower is not None and loss < self.lower:
                return "estimates", index, "value", f"a loss of {self.lower:g} or more"
            if self.upper is not None and loss > self.upper:
                return "estimates", index, "value", f"a loss of {self.upper:g} or less"
        if n < MIN_N_SIZES:
            return "sizes", f"{MIN_N_SIZES} or more, as there is a law"
        if self.estimates[-1].n_rows < self.sizes[-1]:
            return "estimates", n - 1, "n_rows", f"{self.sizes[-1]:g} or more, the training rows"
        return None if self.law.is_defined else ("covariance", "one by which a law can be told")

    @cached_property
    def values(self) -> np.ndarray:
        """The risk or score at each training size, on the scale of the estimates."""
        return np.array([estimate.value for estimate in self.estimates], dtype=float)

    @cached_property
    def law(self) -> PowerLaw | None:
        """The power law fitted to the losses, with its uncertainty, or None if there is none."""
        if self.covariance is None or self.lacking is not None:
            return None
        losses = self.scale.values(self.values)
        return PowerLaw(self.sizes, losses, self.covariance, self.lower, self.scale.perfect)

    @property
    def scale(self) -> Scale:
        """The scale of the estimates: a loss or a score."""
        return self.estimates[-1].scale

    @cached_property
    def expected(self) -> tuple[ExpectedRisk, ...]:
        """Risks that the power law predicts, from the smallest size to twice the number of rows.

        The tuple is empty if there is no power law.
        """
        if self.law is None:
            return ()
        n_rows, smallest_size = float(self.estimates[-1].n_rows), float(self.sizes[0])
        largest_size = min(2 * n_rows, MAX_EXTRAPOLATION_FACTOR * float(self.sizes[-1]))
        sizes = np.union1d(
            np.geomspace(smallest_size, largest_size, N_DRAWN_SIZES), [min(n_rows, largest_size)]
        )
        return tuple(self.at(float(train_size)) for train_size in sizes)

    @property
    def _written_expected(self) -> list[dict[str, float]]:
        return [
            {
                "n_train": expected_risk.n_train,
                "value": expected_risk.value,
                "low": expected_risk.interval.low,
            }
            | {"high": expected_risk.interval.high}
            for expected_risk in self.expected
        ]

    def at(self, n: float) -> ExpectedRisk:
        """Return the expected risk with `n` training rows.

        `n` is at most four times the largest measured size.

        The interval of the risk is the band of the power law at `n`, for the mean risk over
        training sets.

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
            raise BadArgument(f"curve.at({repr_on_one_line(n)}): give a number of training rows.")
        if self.law is None:
            raise Refusal(f"the learning curve has no law that predicts a risk: {self.lacking}")
        smallest_size, largest_size = float(self.sizes[0]), float(self.sizes[-1])
        if not smallest_size <= n <= MAX_EXTRAPOLATION_FACTOR * largest_size:
            raise Refusal(
                f"curve.at({n:.15g}): the curve was measured from {smallest_size:g} to "
                f"{largest_size:g} training rows, and is extrapolated to "
                f"{MAX_EXTRAPOLATION_FACTOR * largest_size:g} at most."
            )
        loss_limits = self.law.interval(float(n), self.confidence_level)
        least_loss, greatest_loss = self._least_risk, np.inf if self.upper is None else self.upper
        loss_limits = max(least_loss, loss_limits[0]), min(greatest_loss, loss_limits[1])
        interval = Interval(
            float(loss_limits[0]), float(loss_limits[1]), "power-law", self.confidence_level
        )
        mean_loss = min(greatest_loss, self.law.mean(float(n)))
        return ExpectedRisk(n, mean_loss, interval, n > largest_size).on_scale(self.scale)

    @property
    def _least_risk(self) -> float:
        return -np.inf if self.lower is None else self.lower

    def __len__(self) -> int:
        return len(self.sizes)

    def to_frame(self) -> Any:
        """Return a frame with a row per training size: risk, interval, and band of the power law.

        Returns
        -------
        DataFrame
            A frame of pandas, or of polars if only that is installed.
        """
        law_risks = [None if self.law is None else self.at(train_size) for train_size in self.sizes]
        estimates = self.estimates
        return frame_from_columns(
            {
                "n_train": self.sizes.tolist(),
                "value": [estimate.value for estimate in estimates],
                "std_error": [estimate.std_error for estimate in estimates],
                "low": [estimate.interval and estimate.interval.low for estimate in estimates],
                "high": [estimate.interval and estimate.interval.high for estimate in estimates],
                "law": [law_risk and law_risk.value for law_risk in law_risks],
                "law_low": [law_risk and law_risk.interval.low for law_risk in law_risks],
                "law_high": [law_risk and law_risk.interval.high for law_risk in law_risks],
                "n_fits": [estimate.n_fits for estimate in estimates],
            }
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the risks and the power law with its band (needs matplotlib).

        The option `to` is the largest number of training rows that is drawn.

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
        return load_from_package("learning-curve")(self, ax=ax, **options)

    def __str__(self) -> str:
        return "\n".join([tables.text_table(self._header, self._rows()), *self._law_lines()])

    @override
    def blocks(self) -> list[tables.Block]:
        return tables.blocks_with_caption(self._law_lines(), self._header, self._rows())

    @property
    def _header(self) -> list[str]:
        last_estimate = self.estimates[-1]
        return [
            "training rows",
            last_estimate.scale.column_heading(last_estimate.named_scoring),
            "interval",
            "law",
        ]

    def _rows(self) -> list[list[str]]:
        rows = []
        for train_size, estimate in zip(self.sizes, self.estimates, strict=True):
            band_text = "–"
            if self.law is not None:
                band_text = str(self.at(float(train_size))).partition(" expect ")[2]
            value_text = "–" if estimate.value is None else formats.format_risk(estimate.value)
            rows.append([f"{train_size:g}", value_text, str(estimate.interval or "–"), band_text])
        return rows

    def _law_lines(self) -> list[str]:
        if self.law is None:
            return [f"note: {self.lacking}"]
        power_law, expected = self.law, self.at(round(2 * float(self.sizes[-1])))
        sign = "+" if power_law.perfect is None else "-"
        return [f"law {power_law.a:.4g} {sign} {power_law.b:.4g} n^-{power_law.c:.4g}; {expected}"]


MIN_EXPONENT, MAX_EXPONENT = 0.25, 2.0
# Minimum number of training sizes. It is one more than the number of parameters a, b and c.
MIN_N_SIZES = 4
N_EXPONENTS, N_SLOPES, SLOPE_REACH_IN_STD_ERRORS = 36, 161, 8.0
# Maximum numerical error of a computed quantile, as a multiple of the standard error.
QUANTILE_TOLERANCE = 1e-9
NUGGET_SHARE = (
    0.2  # Each variance of a risk is increased by this share, since the power law is approximate.
)
SMALLEST_P_VALUE = (
    0.01  # A power law is refused if the p-value of its goodness-of-fit test is smaller.
)


@frozen(eq=False)
class PowerLaw:
    """Power law a + b n^−c of the losses `values` at ascending training `sizes`.

    `covariance` is the covariance matrix of the errors of the losses. `lower` is the least possible
    loss, or None. With `perfect`, as in `RiskEstimate`, the losses are those of a score; `a` is
    then the limit of the score, and the score is a − b n^−c. `a`, `b` and `c` describe the
    posterior by one curve: it passes through the expected risks at the largest size and at twice
    that size, and among all such curves it is nearest to the expected risks at the other sizes.

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
        """The limit of the loss, or of the score, for infinitely many training rows."""
        return Scale(self.perfect).value(self._parameters[0])

    @property
    def b(self) -> float:
        """Coefficient of n^(−c) in the power law a + b n^(−c)."""
        return self._parameters[1]

    @property
    def c(self) -> float:
        """Exponent of the power law: the excess loss b n^(−c) falls with n at this rate."""
        return self._parameters[2]

    @property
    def is_defined(self) -> bool:
        """True if the posterior of the power law can be computed.

        The covariance matrix of the risks must be positive definite, and at least one mixture
        weight positive.
        """
        if not (np.diag(self.covariance) > 0).all():
            return False
        try:
            with np.errstate(all="ignore"):
                is_precise = np.isfinite(np.linalg.cholesky(self._precision)).all()
                arrays = (*self._mixture, self._best_fit) if is_precise else ((),)
                return all(len(array) > 0 and bool(np.isfinite(array).all()) for array in arrays)
        # The posterior does not exist if the covariance is singular or all mixture weights are 0.
        except (np.linalg.LinAlgError, ValueError):
            return False

    def check(self) -> None:
        """Raise Refusal if the power law does not fit the measured risks.

        Risks that rise with the number of training rows are an example.
        """
        from scipy.special import chdtrc

        misfit, degrees = self._best_fit[3], len(self.sizes) - 3
        if float(chdtrc(degrees, misfit)) >= SMALLEST_P_VALUE:
            return
        lowest_index = int(self.values.argmin())
        is_rising = lowest_index < len(self.sizes) - 1
        worse_verb, better_verb = ("rises", "falls") if self.perfect is None else ("falls", "rises")
        lowest_value, last_value = Scale(self.perfect).values(self.values)[[lowest_index, -1]]
        shape_text = (
            f"it {worse_verb} from {lowest_value:.4g} at {self.sizes[lowest_index]:g} rows to "
            f"{last_value:.4g} at {self.sizes[-1]:g}"
            if is_rising
            else f"it {better_verb}, but not by a power law"
        )
        formula = "a + b n^-c" if self.perfect is None else "a - b n^-c"
        raise Refusal(
            f"{formula} does not fit this learning curve ({shape_text}; chi-square {misfit:.3g} "
            f"with {degrees} degrees of freedom): it has no band and is not extrapolated to other "
            "sizes."
        )

    def mean(self, n: float) -> float:
        """Return the posterior mean of the loss with n training rows."""
        means, std, weights = self._posterior_at(n)
        lower_bounds = (self._least_risk - self._a_means) / std
        return float(weights @ (means + std * _truncated_normal_mean(lower_bounds)))

    def interval(self, n: float, level: float) -> tuple[float, float]:
        """Return the equal-tailed credible interval of the loss with n training rows."""
        tail_probabilities = (1 - level) / 2, (1 + level) / 2
        low, high = (self._quantile(n, tail_probability) for tail_probability in tail_probabilities)
        return low, high

    def _quantile(self, n: float, probability: float) -> float:
        from scipy.special import ndtr

        centres, std, weights = self._posterior_at(n)
        lower_bounds = (self._least_risk - self._a_means) / std
        allowed_mass = np.maximum(ndtr(-lower_bounds), np.finfo(float).tiny)
        # The least losses are those of the mixture components at the smallest possible value of a.
        least_losses = self._least_risk - self._a_means + centres
        low, high = float((centres - 12 * std).min()), float((centres + 12 * std).max())
        mass_below_bounds = ndtr(lower_bounds)
        while high - low > QUANTILE_TOLERANCE * std:
            midpoint = (low + high) / 2
            # Huge risks: stop if no floating-point number lies between low and high.
            if not low < midpoint < high:
                break
            conditional_cdf = (ndtr((midpoint - centres) / std) - mass_below_bounds) / allowed_mass
            cdf = float(weights @ np.where(midpoint > least_losses, conditional_cdf, 0.0))
            low, high = (low, midpoint) if cdf >= probability else (midpoint, high)
        return high

    # -- the posterior ----------------------------------------------------------------------

    @property
    def _least_risk(self) -> float:
        return -np.inf if self.lower is None else self.lower

    @cached_property
    def _precision(self) -> np.ndarray:
        """Inverse covariance matrix of the risks, after log variances are smoothed over log size.

        A size at which few rows happen to be wrong has a small estimated variance as well. Weighted
        by it, highly correlated risks would pull the law below all of them.
        """
        variances, log_sizes = np.diag(self.covariance), np.log(self.sizes)
        smooth_variances = np.exp(
            np.polyval(np.polyfit(log_sizes, np.log(variances), 1), log_sizes)
        )
        std_ratios = np.sqrt(smooth_variances / variances)
        covariance = self.covariance * np.outer(std_ratios, std_ratios)
        return np.linalg.inv(covariance + NUGGET_SHARE * np.diag(smooth_variances))

    def _posterior_at(self, n: float) -> tuple[np.ndarray, float, np.ndarray]:
        """Return the posterior of the loss with n training rows, which is a mixture of normals.

        The result holds their centres, their common standard deviation and their weights.

        Each pair of c and b is a component, with a unbounded.
        """
        exponents, slopes, a_means, weights = self._mixture
        centres = a_means + slopes * (n / self.sizes[-1]) ** -exponents
        return centres, float(self._precision.sum()) ** -0.5, weights

    @property
    def _a_means(self) -> np.ndarray:
        return self._mixture[2]

    @cached_property
    def _mixture(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Posterior of the power law, as a weighted mixture of power laws.

        The arrays are the exponents, the slopes at the largest size, the means of a, and the
        weights.

        The weights sum to 1.
        """
        from scipy.special import log_ndtr

        precision, losses, ones = self._precision, self.values, np.ones(len(self.sizes))
        total_precision = float(ones @ precision @ ones)
        exponents, slopes, a_means, all_log_weights = [], [], [], []
        for c in np.linspace(MIN_EXPONENT, MAX_EXPONENT, N_EXPONENTS):
            scaled_sizes = (self.sizes / self.sizes[-1]) ** -c
            centred_sizes = (
                scaled_sizes - ones @ precision @ scaled_sizes / total_precision
            )  # Subtract the precision-weighted mean of the scaled sizes.
            curvature = centred_sizes @ precision @ scaled_sizes
            slope_mean, slope_std_error = (
                centred_sizes @ precision @ losses / curvature,
                curvature**-0.5,
            )
            low, high = (
                max(0.0, slope_mean - SLOPE_REACH_IN_STD_ERRORS * slope_std_error),
                max(0.0, slope_mean) + SLOPE_REACH_IN_STD_ERRORS * slope_std_error,
            )
            b = np.linspace(low, high, N_SLOPES)
            a = (
                ones @ precision @ losses - b * (ones @ precision @ scaled_sizes)
            ) / total_precision
            residuals = losses[:, None] - a - b * scaled_sizes[:, None]
            log_weights = -0.5 * ((precision @ residuals) * residuals).sum(axis=0) + np.log(
                (high - low) * (scaled_sizes[0] - 1)
            )
            all_log_weights.append(
                log_weights + log_ndtr((a - self._least_risk) * total_precision**0.5)
            )
            exponents.append(np.full(N_SLOPES, c))
            slopes.append(b)
            a_means.append(a)
        log_weights = np.concatenate(all_log_weights)
        weights = np.exp(log_weights - log_weights.max())
        has_weight = weights > 1e-12
        components = (np.concatenate(arrays)[has_weight] for arrays in (exponents, slopes, a_means))
        return (*components, weights[has_weight] / weights[has_weight].sum())

    @cached_property
    def _parameters(self) -> tuple[float, float, float]:
        """Parameters a, b and c of a power law through two expected risks.

        These are the expected risks at the largest size and at twice the largest size.
        """
        last_size = float(self.sizes[-1])
        sizes = np.array([*self.sizes, 2 * last_size, MAX_EXTRAPOLATION_FACTOR * last_size])
        means = np.array([self.mean(float(n)) for n in sizes])
        risk_at_largest, risk_at_double = means[-3], means[-2]

        def curve_through(c: float) -> tuple[float, float, float]:
            b = (risk_at_largest - risk_at_double) / (
                1 - 2.0**-c
            )  # The slope b is the slope at the largest training size.
            return risk_at_largest - b, b * last_size**c, c

        curves = [
            curve_through(float(c))
            for c in np.linspace(MIN_EXPONENT, MAX_EXPONENT, 8 * N_EXPONENTS)
        ]
        allowed_curves = [curve for curve in curves if curve[0] >= self._least_risk] or curves[-1:]
        return min(
            allowed_curves,
            key=lambda curve: ((curve[0] + curve[1] * sizes ** -curve[2] - means) ** 2).sum(),
        )

    @cached_property
    def _best_fit(self) -> tuple[float, float, float, float]:
        """Parameters a, b and c fitted by generalised least squares, and the fit's chi-square."""
        return min(
            (
                self._fit_exponent(c)
                for c in np.linspace(MIN_EXPONENT, MAX_EXPONENT, 8 * N_EXPONENTS)
            ),
            key=lambda fit: fit[3],
        )

    def _fit_exponent(self, c: float) -> tuple[float, float, float, float]:
        """Fit a and b of the power law for one exponent by generalised least squares.

        The parameters are kept within their bounds.
        """
        precision, losses = self._precision, self.values
        design = np.stack([np.ones(len(losses)), self.sizes**-c], axis=1)
        a, b = np.linalg.solve(design.T @ precision @ design, design.T @ precision @ losses)
        a_b_pairs = [(a, b)]
        if a < self._least_risk or b < 0:
            x = design[:, 1]
            constant_loss = max(
                self._least_risk, float(precision.sum(axis=0) @ losses / precision.sum())
            )
            a_b_pairs = [(constant_loss, 0.0)]
            if np.isfinite(self._least_risk):
                excess_losses = losses - self._least_risk
                a_b_pairs.append(
                    (
                        self._least_risk,
                        max(0.0, float(x @ precision @ excess_losses / (x @ precision @ x))),
                    )
                )
        fits = [
            (float(a), float(b), float(c), self._misfit(losses - a - b * design[:, 1]))
            for a, b in a_b_pairs
        ]
        return min(fits, key=lambda fit: fit[3])

    def _misfit(self, residuals: np.ndarray) -> float:
        return float(residuals @ self._precision @ residuals)


def _truncated_normal_mean(low: np.ndarray) -> np.ndarray:
    """Return the mean of a standard normal variable that is truncated to values above `low`."""
    from scipy.special import log_ndtr

    log_ratio = -0.5 * low**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(-low)
    return np.exp(np.where(np.isneginf(low), -np.inf, log_ratio))
