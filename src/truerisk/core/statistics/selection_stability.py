r"""Whether several fits selected the same features: Nogueira's index and its interval.

Row i of Z marks which of d features the i-th of M fits selected; :math:`\hat p_f` is the share of
fits that selected feature f, :math:`k_i` the number that fit i selected and :math:`\bar k` their
mean. The index is

.. math::
    \hat\Phi = 1 - \frac{\frac{1}{d} \sum_f \frac{M}{M-1} \hat p_f (1 - \hat p_f)}
                        {\frac{\bar k}{d} \left(1 - \frac{\bar k}{d}\right)},

1 where all fits selected the same and 0, on average, where each draws its features at random.
With :math:`c = \frac{\bar k}{d} (1 - \frac{\bar k}{d})` and

.. math::
    \hat\Phi_i = \frac{1}{c} \left[\frac{1}{d} \sum_f z_{if} \hat p_f - \frac{k_i \bar k}{d^2} +
      \frac{\hat\Phi}{2} \left(\frac{2 k_i \bar k}{d^2} - \frac{k_i}{d} - \frac{\bar k}{d} +
      1\right)\right]

its variance is :math:`\frac{4}{M^2} \sum_i (\hat\Phi_i - \bar\Phi)^2`, and the interval is normal.

Nogueira S, Sechidis K, Brown G (2018). On the stability of feature selection algorithms. Journal
of Machine Learning Research 18(174):1–54. Twice :math:`\hat\Phi_i` is, up to a constant, what a
little more weight on fit i does to the index; the authors' Python program agrees, and their R
program, with a minus before :math:`\hat\Phi/2`, where all fits select equally many features.
"""

from __future__ import annotations

import numpy as np

__all__ = ["stability_index"]


def stability_index(selected: np.ndarray) -> tuple[float, float] | str:
    """The index and its standard error, or a sentence on why there is none.

    >>> marks = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
    >>> [round(number, 4) for number in stability_index(marks)]
    [0.3333, 0.1814]
    """
    z = np.asarray(selected, dtype=float)
    m, d = z.shape
    if m < 2:
        return "one fit alone shows no stability: it takes two or more."
    shares, sizes = z.mean(axis=0), z.sum(axis=1) / d
    size = float(sizes.mean())
    if size == 0:
        return "no fit selected a feature: there is nothing to agree on."
    if size == 1:
        return f"every fit used all {d} features: nothing was selected."
    chance = size * (1 - size)
    index = 1 - m / (m - 1) * float((shares * (1 - shares)).mean()) / chance
    each = z @ shares / d - sizes * size + index / 2 * (2 * sizes * size - sizes - size + 1)
    variance = 4 / m**2 * float((((each - each.mean()) / chance) ** 2).sum())
    return index, variance**0.5
