"""Standard errors and intervals, each with the formula that justifies it, or None with a reason."""

from __future__ import annotations

import numpy as np

from truerisk.core.contracts import Setting
from truerisk.core.interval import Interval
from truerisk.core.losses import Loss
from truerisk.core.plan import Plan
from truerisk.core.posterior import ErrorPosterior

__all__ = ["NO_SPREAD", "Sureness", "beta", "corrected_t", "wald"]

Sureness = tuple[float | None, Interval | None, tuple[str, ...]]

NO_SPREAD = (
    "every row has the same loss: their spread is 0 and says nothing about the error of the mean."
)


def wald(
    value: float,
    losses: np.ndarray,
    weights: np.ndarray,
    groups: np.ndarray | None,
    loss: Loss,
    setting: Setting,
) -> Sureness:
    r"""Normal interval from the losses of rows that were each tested once.

    se² = m/(m−1) · Σ_g (Σ_{i∈g} w_i (ℓ_i − value))² with Σ w = 1, over the m groups, or over the m
    rows where there are none. Bayle et al. (2020) show it to be valid for cross-validation of
    stable learners; it ignores that folds share training rows.
    """
    name = "wald" if groups is None else "wald-grouped"
    residuals: np.ndarray = weights * (losses - value)
    if groups is not None:
        residuals = np.bincount(np.unique(groups, return_inverse=True)[1], residuals)
    m = len(residuals) if groups is not None else int(np.count_nonzero(weights))
    if m < 2:
        return None, None, ("one tested row has no spread: there is no standard error.",)
    error = float(np.sqrt(m / (m - 1) * (residuals**2).sum()))
    if error <= 1e-12 * max(1.0, abs(value)):
        return None, None, (NO_SPREAD,)
    from scipy.special import ndtri

    return error, _clipped(value, float(ndtri(_upper(setting))) * error, name, loss, setting), ()


def corrected_t(
    value: float, by_split: np.ndarray, plan: Plan, loss: Loss, setting: Setting
) -> Sureness:
    r"""Corrected resampled t of Nadeau and Bengio (2003) over J splits that test rows repeatedly.

    se² = s² (1/J + n_test/n_train) with s² the variance of the split risks; t with J−1 degrees of
    freedom. The second term pays for training sets that overlap.
    """
    j = len(by_split)
    if j < 2:
        return None, None, ("one split has no spread: there is no standard error.",)
    ratio = float(plan.test_sizes.mean() / plan.train_sizes[plan.fit].mean())
    error = float(by_split.std(ddof=1) * np.sqrt(1 / j + ratio))
    if error <= 1e-12 * max(1.0, abs(value)):
        return None, None, ("every split has the same risk: their spread is 0 and says nothing.",)
    from scipy.special import stdtrit

    half = float(stdtrit(j - 1, _upper(setting))) * error
    return error, _clipped(value, half, "corrected-t", loss, setting), ()


def beta(losses: np.ndarray, setting: Setting) -> Sureness:
    """Equal-tailed interval of the flat-prior posterior of one fitted rule's error rate.

    The rows are independent tests of one rule, so the number of errors is binomial.
    """
    posterior = ErrorPosterior(float(losses.sum()), len(losses))
    share = losses.mean()
    error = float(np.sqrt(share * (1 - share) / (len(losses) - 1))) if len(losses) > 1 else 0.0
    notes = () if error > 0 else (NO_SPREAD,)
    return error or None, posterior.interval(setting.confidence_level), notes


def _upper(setting: Setting) -> float:
    return (1 + setting.confidence_level) / 2


def _clipped(value: float, half: float, name: str, loss: Loss, setting: Setting) -> Interval:
    """Cut to the values the loss can take."""
    low = value - half if loss.lower is None else max(value - half, loss.lower)
    high = value + half if loss.upper is None else min(value + half, loss.upper)
    return Interval(float(low), float(high), name, setting.confidence_level)
