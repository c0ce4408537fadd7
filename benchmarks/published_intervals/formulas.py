"""The arithmetic of the published intervals that truerisk has not: arrays in, three numbers out.

Each as in the code of Schulz-Kümpel et al.; none is cut to what the loss can be.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

__all__ = ["Found", "around", "case_percentiles", "five_by_two", "jackknife", "plus", "replaced",
           "shifted"]  # fmt: skip

Rows = np.ndarray


class Found(NamedTuple):
    """A value and the two ends around it."""

    value: float
    low: float
    high: float


def around(value: float, error: float, level: float) -> Found:
    """Value ± z · error."""
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return Found(float(value), float(value - half), float(value + half))


def replaced(value: float, half: float, others: Rows, level: float) -> Found:
    """Variance Σ (half − others)² / 4 of one half's risk, with each of its rows exchanged in turn.

    Austern and Zhou (2020), Asymptotics of cross-validation, formula 27 with ½ for the pairs.
    """
    return around(value, np.sqrt(np.square(half - others).sum() / 4), level)


def five_by_two(risks: Rows, level: float) -> Found:
    """The first of the `(5, 2)` risks, ± t with 5 degrees of freedom (Dietterich, 1998)."""
    from scipy.stats import t

    spread = np.sqrt(np.square(risks - risks.mean(axis=1, keepdims=True)).sum() / 5)
    half = t.ppf((1 + level) / 2, 5) * spread
    return Found(*(float(risks[0, 0] + side * half) for side in (0, -1, 1)))


def jackknife(times: Rows, losses: Rows) -> tuple[float, float]:
    """Err₁ and its standard error by the infinitesimal jackknife (Efron and Tibshirani, 1997).

    `times[b, i]` says how often sample b holds row i, `losses[b, i]` counts where it does not.
    """
    n, out = times.shape[1], times == 0
    known = out.any(axis=0)
    drawn, out, lost = times[:, known], out[:, known], np.where(out, losses, 0.0)
    of_rows = lost[:, known].sum(axis=0) / out.sum(axis=0)
    err = of_rows.mean()
    moved = (drawn - drawn.mean(axis=0)).T @ (lost.sum(axis=1) / n) / out.sum(axis=0)
    directions = (2 + 1 / (n - 1)) * (of_rows - err) / n + moved
    return float(err), float(np.sqrt(n / known.sum() * np.square(directions).sum()))


def plus(out: float, own: float, gamma: float) -> float:
    """The .632+ estimate, its weight cut nowhere; NaN where no information costs no more."""
    if gamma == own:
        return float("nan")
    weight = 0.632 / (1 - 0.368 * (out - own) / (gamma - own))
    return (1 - weight) * own + weight * out


def shifted(value: float, own: float, of_samples: Rows, level: float) -> Found:
    """Quantiles of the samples' apparent risks, moved by what the apparent risk misses.

    Noma, Shinozaki, Iba, Teramukai and Furukawa (2021), Confidence intervals of prediction accuracy
    measures for multivariable prediction models based on the bootstrap-based optimism correction.
    """
    low, high = np.nanquantile(of_samples, [(1 - level) / 2, (1 + level) / 2]) + value - own
    return Found(float(value), float(low), float(high))


def case_percentiles(risks: Rows, level: float) -> Found:
    """Quantiles of risks over bootstrap samples (Jiang, Varma and Simon, 2008)."""
    return shifted(float(risks.mean()), float(risks.mean()), risks, level)
