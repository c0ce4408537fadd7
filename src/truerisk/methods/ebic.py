"""The extended BIC: what BIC charges, and for the choice among all models of a size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.arguments import check_number
from truerisk.core.contracts import Streams, Terms
from truerisk.core.errors import BadData
from truerisk.core.evaluation import Tested
from truerisk.core.linear_rules import LinearRules
from truerisk.core.losses import Loss
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.criteria import BIC

__all__ = ["EBIC"]


@dataclass(frozen=True)
class EBIC(BIC):
    r"""The extended BIC of Chen and Chen, :math:`-2\log L + k\log n + 2\gamma_e \log\binom{P}{D}`.

    k are the degrees of freedom as for `bic`; D of P coefficients are not 0 (a feature is selected
    if the coefficient of any class is not 0). With `gamma` = 0 it is BIC. It needs a linear model,
    and is meant for models with few coefficients, such as those along an L1 path.

    References
    ----------
    Chen and Chen (2008), Extended Bayesian information criteria for model selection with large
    model spaces. Huttunen and Tohka (2015).
    """

    gamma: float = 0.5

    name: ClassVar[str] = "ebic"
    perfect_is_0: ClassVar[bool] = False
    bias = "pessimistic as a risk: it charges for every parameter and for the choice of features"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("gamma", self.gamma, 0, 1, "the price of the choice lies between 0 and 1")

    @property
    def word(self) -> str:
        return super().word if self.gamma == 0.5 else f"{super().word} (gamma={self.gamma:g})"

    def plan(self, data: Data, streams: Streams) -> Plan:
        return replace(super().plan(data, streams), rules=np.zeros(1, np.int32))

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        if answers.rules is None:
            raise BadData(f"this is no plan of '{self.word}': it asks for no linear rules.")
        tested = super().reduce(answers, data, loss, terms)
        unit = 2 * len(answers.plan.positions[0]) if self.per_row else 1
        for rules in answers.rules:
            for candidate, n_selected, n_features in _selections(rules):
                price = 2 * self.gamma * _log_choices(n_features, n_selected)
                one = tested[candidate]
                value = one.value + price / unit
                note = (
                    f"+ {price:.6g} for {n_selected} of {n_features} features with "
                    f"gamma = {self.gamma:g}"
                )
                tested[candidate] = replace(
                    one, value=value, split_risks=np.array([value]), notes=(note, *one.notes)
                )
        return tested


def _selections(rules: LinearRules) -> Iterator[tuple[int, int, int]]:
    """(candidate, its features with a coefficient that is not 0, all features)."""
    used = (rules.coefficients != 0).any(axis=1)
    for candidate, mine in zip(rules.candidates, used, strict=True):
        yield int(candidate), int(mine.sum()), used.shape[1]


def _log_choices(n: int, k: int) -> float:
    """The log of how many sets of k there are among n."""
    from scipy.special import gammaln

    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
