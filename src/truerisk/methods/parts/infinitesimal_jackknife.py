r"""The standard error of the leave-one-out bootstrap, from the very samples that gave it.

Efron and Tibshirani (1997, §5) differentiate :math:`\mathrm{Err}_1` along the weight of each row:

.. math:: D_i = \left(2 + \frac{1}{n-1}\right) \frac{E_i - \mathrm{Err}_1}{n}
          + \frac{e_n}{B} \sum_b (N_i^b - \bar N_i)\, q_b, \qquad
          q_b = \frac1n \sum_{i \notin b} \ell_i^b, \quad e_n = \left(1 - \tfrac1n\right)^{-n}

with :math:`N_i^b` the times that sample b holds row i, :math:`E_i` the mean loss of row i over the
samples that miss it. The variance is :math:`\sum_i D_i^2`. The noise of B samples adds to it, on
average :math:`(n-1)\, e_n^2 \sum_b (q_b - \bar q)^2 / B^2`, which is taken off (Wager, Hastie and
Efron, 2014).
"""

from __future__ import annotations

import numpy as np

__all__ = ["directions", "jackknife_error"]


def directions(
    times: np.ndarray, of_rows: np.ndarray, of_samples: np.ndarray, n_samples: int
) -> np.ndarray:
    """D_i of each row, from the times drawn (B, n), E_i (n,) and q_b (B,).

    `n_samples` counts those that missed no row as well; they add nothing to the sums.
    """
    n = times.shape[1]
    centred = times - _mean_times(times, n_samples)
    moved = centred.T @ of_samples * (_inverse_share(n) / n_samples)
    return (2 + 1 / (n - 1)) * (of_rows - of_rows.mean()) / n + moved


def jackknife_error(
    times: np.ndarray, of_rows: np.ndarray, of_samples: np.ndarray, n_samples: int
) -> float | None:
    """The standard error; None where the noise of the samples is larger than what they say."""
    n = times.shape[1]
    moved = directions(times, of_rows, of_samples, n_samples)
    spread = ((of_samples - of_samples.sum() / n_samples) ** 2).sum()
    noise = (n - 1) * (_inverse_share(n) / n_samples) ** 2 * spread
    variance = float((moved**2).sum() - noise)
    return float(np.sqrt(variance)) if variance > 0 else None


def _mean_times(times: np.ndarray, n_samples: int) -> np.ndarray:
    """Mean times drawn; samples that are not among them hold every row once."""
    return (times.sum(axis=0) + (n_samples - len(times))) / n_samples


def _inverse_share(n: int) -> float:
    """One over the share of samples that miss a row."""
    return float((1 - 1 / n) ** -n)
