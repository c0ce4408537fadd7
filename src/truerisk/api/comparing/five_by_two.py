"""Five times twofold cross-validation: Dietterich's t and Alpaydin's F."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.api.comparing.contract import PairedTest, Tolerance
from truerisk.api.comparing.nadeau_bengio import NO_SPREAD
from truerisk.api.comparing.pairing import Basis, Pairs
from truerisk.core.comparison import Comparison
from truerisk.core.errors import Refusal

__all__ = ["FiveByTwo"]


class FiveByTwo(PairedTest):
    r"""t = p₁⁽¹⁾ / √(⅕ Σ s_i²) with 5 degrees of freedom (Dietterich, 1998).

    p_i⁽¹⁾, p_i⁽²⁾ are the differences of the two folds of repetition i, s_i² their sum of squares
    about their mean. The numerator is the first fold alone; `details` has the F of Alpaydin (1999),
    Σ Σ p² / 2 Σ s² with (10, 5) degrees of freedom, which uses all ten and not their order.
    """

    word = "5x2"
    works_on: ClassVar[Basis] = "splits"

    def of(self, pairs: Pairs, asked: Tolerance) -> Comparison:
        p = _five_by_two(pairs)
        spread = ((p - p.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        mean = float(p.mean())
        assumed = (
            "differences of the two folds of a repetition are independent and normal",
            "the t statistic is that of the first fold, so it depends on the order of the folds",
        )
        if spread.sum() <= (1e-12 * pairs.scale) ** 2:
            return Comparison(self.word, mean, 10, pairs.loss, assumed=assumed, notes=(NO_SPREAD,))
        from scipy.special import fdtrc, stdtr

        t = float(p[0, 0] / np.sqrt(spread.mean()))
        f = float((p**2).sum() / (2 * spread.sum()))
        return Comparison(
            test=self.word,
            difference=mean,
            n_pairs=10,
            loss=pairs.loss,
            statistic=t,
            df=5,
            p_value=float(2 * stdtr(5, -abs(t))),
            details={"combined F": f, "its p-value": float(fdtrc(10, 5, f))},
            assumed=assumed,
        )


def _five_by_two(pairs: Pairs) -> np.ndarray:
    """The differences by repetition and fold; refused unless there are five times two halves."""
    splits, _ = pairs.of_splits()
    n_train, n_test = pairs.sizes()
    repeat = np.repeat(np.arange(5), 2) if pairs.repeat is None else pairs.repeat
    halves = len(splits) == 10 and np.array_equal(repeat, np.repeat(np.arange(5), 2))
    if not halves or (n_train[::2] != n_test[1::2]).any() or (n_test[::2] != n_train[1::2]).any():
        raise Refusal(
            "the 5x2 test is for five repetitions of twofold cross-validation, and these are "
            f"{len(splits)} splits of another kind: use method='5x2-fold', or test='nadeau-bengio'."
        )
    return splits.reshape(5, 2)
