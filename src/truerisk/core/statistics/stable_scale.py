r"""A scale on which the noise of a risk hardly depends on how large the risk is.

Of a share p of its bound the variance is about :math:`p(1-p)/n`; on the scale
:math:`\theta = \arcsin\sqrt p` it is :math:`1/(4n)` whatever p is (Efron and Morris, 1975, take it
for batting averages). A score of ranks, whose errors become far smaller towards its end, has the
logit, as its interval does; a loss without a bound that is never negative :math:`\theta = \log r`.
Weights by the variances of the risks themselves would favour those that came out small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["StableScale"]

ENDS = 1e-4  # of the bound: no score is nearer to perfect where its logit is taken


@dataclass(frozen=True)
class StableScale:
    """For risks from `lower` to `upper`, None where there is no bound; the `logit` where asked.

    >>> scale = StableScale(0.0, 1.0)
    >>> theta = scale.of(np.array([0.0, 0.25, 1.0]))
    >>> scale.back(theta).round(6).tolist()
    [0.0, 0.25, 1.0]
    """

    lower: float | None
    upper: float | None
    logit: bool = False

    def of(self, values: np.ndarray) -> np.ndarray:
        """The risks on this scale."""
        if self.lower is None or (self.upper is None and self.lower != 0):
            return values
        if self.upper is None:
            return np.log(values)
        shares = np.clip(self._shares(values), 0, 1)
        if self.logit:
            shares = np.clip(shares, ENDS, 1 - ENDS)
            return np.asarray(np.log(shares / (1 - shares)))
        return np.asarray(np.arcsin(np.sqrt(shares)))

    def back(self, theta: np.ndarray) -> np.ndarray:
        """From this scale to risks."""
        if self.lower is None or (self.upper is None and self.lower != 0):
            return theta
        if self.upper is None:
            return np.exp(theta)
        angles = np.sin(np.clip(theta, 0, np.pi / 2)) ** 2
        shares = 1 / (1 + np.exp(-theta)) if self.logit else angles
        return np.asarray(self.lower + (self.upper - self.lower) * shares)

    def slope(self, values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """By how much a risk's error is multiplied; `sizes` keep risks of few rows off the ends."""
        if self.lower is None or (self.upper is None and self.lower != 0):
            return np.ones(len(values))
        if self.upper is None:
            return np.asarray(1 / values)
        shares = (sizes * self._shares(values) + 1) / (sizes + 2)
        spread = shares * (1 - shares) if self.logit else 2 * np.sqrt(shares * (1 - shares))
        return np.asarray(1 / (spread * (self.upper - self.lower)))

    def _shares(self, values: np.ndarray) -> np.ndarray:
        assert self.lower is not None
        assert self.upper is not None
        return np.asarray((values - self.lower) / (self.upper - self.lower))
