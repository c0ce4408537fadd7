"""The correlated Bayesian t test with a region of practical equivalence."""

from __future__ import annotations

from typing import ClassVar

from truerisk.api.comparing.contract import PairedTest, Tolerance
from truerisk.api.comparing.nadeau_bengio import NO_SPREAD, Correlated
from truerisk.api.comparing.pairing import Pairs
from truerisk.api.comparing.result import Comparison
from truerisk.core.interval import Interval

__all__ = ["CorrelatedBayes"]


class CorrelatedBayes(PairedTest):
    r"""Posterior of the mean difference: Student t, J − 1 degrees of freedom, the corrected error.

    Corani and Benavoli (2015); Benavoli, Corani, Demšar and Zaffalon (2017). With a flat prior on
    the mean and 1/σ on the spread it is centred at the mean difference with the scale of Nadeau and
    Bengio. `better` is P(a − b < −rope), `worse` P(a − b > rope).
    """

    word = "bayes"
    per_split: ClassVar[bool] = True

    def of(self, pairs: Pairs, asked: Tolerance) -> Comparison:
        found, rope = Correlated.of(pairs), asked.rope
        region = f"risks within {rope:g} (in units of the loss) are practically the same"
        assumed = (found.assumed, "flat prior of the mean difference", region)
        if found.error is None:
            return Comparison(
                self.word,
                found.mean,
                found.j,
                pairs.loss,
                rope=rope,
                assumed=assumed,
                notes=(NO_SPREAD,),
            )
        from scipy.special import stdtr, stdtrit

        df = found.j - 1
        better = float(stdtr(df, (-rope - found.mean) / found.error))
        worse = float(stdtr(df, (found.mean - rope) / found.error))
        half = float(stdtrit(df, (1 + asked.confidence_level) / 2)) * found.error
        low, high = found.mean - half, found.mean + half
        return Comparison(
            test=self.word,
            difference=found.mean,
            n_pairs=found.j,
            loss=pairs.loss,
            std_error=found.error,
            df=df,
            interval=Interval(low, high, "posterior", asked.confidence_level),
            rope=rope,
            better=better,
            equivalent=max(1 - better - worse, 0.0),
            worse=worse,
            assumed=assumed,
        )
