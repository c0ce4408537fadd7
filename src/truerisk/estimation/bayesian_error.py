"""`bayesian_error`: the posterior distribution of a linear rule's error, given its coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Literal

import numpy as np

from truerisk.core.arguments import as_array, check_level, mention
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.formats import escape_and_truncate, format_risk, format_uncertainty
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.losses.row_losses import ZeroOne
from truerisk.methods.bayesian.rule_errors import ErrorDistribution, errors_by_class_pair
from truerisk.methods.bayesian.scaled_rows import ScaledRows
from truerisk.methods.bayesian_error import BayesianError
from truerisk.plan.extras.linear_rules import LinearRules
from truerisk.results.interval import Interval
from truerisk.results.records import DisplayedResult


@frozen
class RulePosterior(DisplayedResult):
    """Posterior distribution of the error of a linear rule.

    `value` is the posterior mean and `log_value` its logarithm, which is finite even if `value`
    underflows. `per_class` holds the mean error of each of `classes`, and `gamma` the prior
    probabilities of the classes. With more than two classes `value` is the pairwise error, and
    `per_class` adds up the pairs that a class belongs to; there is then no standard error and no
    interval. Neither exists if the prior makes the variance along the rule more than 1 + 1/√N times
    the variance of the N rows of a class, as "flat" and "jeffreys" do with many features.
    `why_none` then gives this reason.
    """

    value: float
    log_value: float
    per_class: tuple[float, ...]
    classes: tuple[Any, ...]
    gamma: tuple[float, ...]
    std_error: float | None
    prior: str
    law: ErrorDistribution | None = field(default=None, repr=False)
    why_none: str | None = None

    def interval(self, level: float = 0.95) -> Interval:
        """Return the equal-tailed credible interval of the exact posterior distribution."""
        check_level("level", level)
        return Interval(*self._require_distribution("interval").interval(level), "credible", level)

    def cdf(self, e: float) -> float:
        """Return the posterior probability that the error is at most `e`."""
        return self._require_distribution("distribution").cdf(float(e))

    def __str__(self) -> str:
        error_text = format_uncertainty(
            self.std_error, None if self.law is None else self.interval()
        )
        class_errors = zip(self.classes, self.per_class, strict=True)
        classes = ", ".join(
            f"{escape_and_truncate(str(name), 40)} {format_risk(error)}"
            for name, error in class_errors
        )
        interval_note = (
            "" if self.why_none is None else f"\nnote: no interval is stated: {self.why_none}"
        )
        return (
            f"error {format_risk(self.value)}{error_text}, prior {self.prior}; by class "
            f"{classes}{interval_note}"
        )

    def _require_distribution(self, requested_name: str) -> ErrorDistribution:
        if self.why_none is not None:
            raise Refusal(f"no {requested_name} is stated: {self.why_none}.")
        if self.law is None:
            raise Refusal(
                f"no {requested_name} is stated for the pairwise error of {len(self.classes)} "
                "classes: it serves to choose among rules; for its uncertainty hold rows out."
            )
        return self.law


def bayesian_error(
    coef: Any,
    intercept: Any,
    X: Any,
    y: Any,
    *,
    prior: Literal["proper", "improper", "flat", "jeffreys", "empirical"] = "proper",
    gamma: float | Sequence[float] | None = None,
    standardize: bool = True,
    kappa: Any = None,
    nu: Any = None,
    scale: Any = None,
    mean: Any = None,
) -> RulePosterior:
    """Return the Bayesian error estimate of a linear rule from the rows it was trained on.

    Parameters
    ----------
    coef : array, shape (n_features,), (1, n_features) or (n_classes, n_features)
        One score, which is positive for the second class in sorted order, or one score per class.
    intercept : float or array
        One intercept for each score.
    X : array, shape (n_rows, n_features)
        The rows that the error is estimated from: the training rows of the rule, as with cv="bee",
        or other rows. With other rows the interval has its nominal coverage if the classes are
        normally distributed. With its own training rows, a rule of many features has an estimate
        that is too small.
    y : array, shape (n_rows,)
        The labels of these rows.
    prior : {"proper", "improper", "flat", "jeffreys", "empirical"}, default="proper"
        The prior, as in `tr.methods.BayesianError`.
    gamma : float or sequence, optional
        The prior probability of the first of two classes, or of every class. By default the class
        frequencies in y are used.
    standardize : bool, default=True
        Scale each feature of X to mean 0 and variance 1 and convert the rule accordingly, so that
        its predictions do not change. The proper prior assumes features on this scale.
    kappa : float or mapping, optional
        The degrees of freedom of the inverse Wishart prior, for all classes or by class label.
    nu : float or mapping, optional
        The number of rows that the prior of a mean is worth, for all classes or by class label.
    scale : float, array of shape (n_features, n_features), or mapping, optional
        The scale matrix of the inverse Wishart prior, or a multiple of the identity.
    mean : float, array of shape (n_features,), or mapping, optional
        The mean of the prior of the class means.

    Returns
    -------
    RulePosterior
        The posterior of the error of the rule: its mean, its standard deviation, its interval, and
        the errors of the classes.

    See Also
    --------
    truerisk.methods.BayesianError : The same estimate as a method for `cv`.
    ErrorPosterior : Posterior of an error rate from counted test errors.

    Examples
    --------
    >>> import truerisk as tr
    >>> X = [(0, 0), (1, 2), (2, 1), (-1, 1), (3, 2), (2, 4), (4, 3)]
    >>> y = [0, 0, 0, 0, 1, 1, 1]
    >>> b = tr.bayesian_error([1, 0.5], -2.5, X, y, standardize=False)
    >>> round(b.value, 6), [round(e, 6) for e in b.per_class]
    (0.152668, [0.109991, 0.209572])
    >>> print(b.interval(0.95))
    [0.0269, 0.3653]
    """
    data = Data.check(X, y, task="classification")
    method = BayesianError(prior, gamma, standardize, kappa, nu, scale, mean)
    method.check(data, ZeroOne())
    slopes = _as_coefficients("coef", coef, 2)
    intercepts = _as_coefficients("intercept", intercept, 1).ravel()
    n_scores = 1 if data.n_classes == 2 else data.n_classes
    if slopes.ndim != 2 or slopes.shape[0] != n_scores or intercepts.shape != (n_scores,):
        raise BadData(
            f"coef has shape {np.shape(coef)} and intercept {np.shape(intercept)}; y has "
            f"{data.n_classes} classes, so give {n_scores} score(s), each with its intercept."
        )
    if not (np.isfinite(slopes).all() and np.isfinite(intercepts).all()):
        raise BadData("coef and intercept must be finite numbers.")
    if data.non_finite is not None:
        raise BadData(data.non_finite)
    class_codes = tuple(range(data.n_classes))
    rules = LinearRules(0, np.zeros(1, np.intp), slopes[None], intercepts[None], class_codes)
    rows = ScaledRows.from_array(data.X, data.class_codes, standardize=standardize)
    if rows.X.shape[1] != rules.coefficients.shape[2]:
        raise BadData(
            f"coef has {rules.coefficients.shape[2]} features and X {rows.X.shape[1]} columns."
        )
    class_priors = method.shares(rows, rules)
    errors_of_pairs = errors_by_class_pair(
        rows, rules, class_priors, method.priors(rows, rules, data)
    )
    log_value = float(np.logaddexp.reduce([pair.log_means() for pair in errors_of_pairs])[0])
    why_none = errors_of_pairs[0].no_interval_reason(0) if len(errors_of_pairs) == 1 else None
    only_pair = errors_of_pairs[0] if len(errors_of_pairs) == 1 and why_none is None else None
    per_class = np.zeros(data.n_classes)
    for (first_class, second_class), pair in zip(rules.class_pairs(), errors_of_pairs, strict=True):
        per_class[[first_class, second_class]] += [
            float(errors.mean()[0]) for errors in pair.classes
        ]
    return RulePosterior(
        value=float(np.exp(log_value)),
        log_value=log_value,
        per_class=tuple(per_class.tolist()),
        classes=tuple(data.class_labels.tolist()),
        gamma=tuple(class_priors.values()),
        std_error=None if only_pair is None else float(np.sqrt(only_pair.variances[0])) or None,
        prior=prior,
        law=None if only_pair is None else only_pair.error_distribution(0),
        why_none=why_none,
    )


def _as_coefficients(name: str, coefficients: Any, ndmin: int) -> np.ndarray:
    try:
        return np.array(as_array(coefficients, np.float64), ndmin=ndmin)
    except ValueError:
        raise BadArgument(
            f"{mention(name, coefficients)} holds no numbers: give those of a fitted linear rule, "
            f"model.{name}_."
        ) from None
