"""Bolstered error: each training row is spread over a Gaussian before errors are counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import Method, Streams, Target, Terms
from truerisk.core.errors import BadData
from truerisk.core.evaluation import Tested
from truerisk.core.linear_rules import LinearRules
from truerisk.core.losses import Loss
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.bayesian.scaled_rows import ScaledRows, scaled_rows
from truerisk.methods.bayesian_error import check_rows, ruled_plan
from truerisk.methods.bolstered_sampling import UNSURE, BolsteredBySampling
from truerisk.methods.parts.averages import failure_notes
from truerisk.methods.parts.bolstering_width import kernel_width

__all__ = ["Bolstered"]


@dataclass(frozen=True)
class Bolstered(Method):
    r"""Bolstered resubstitution (Braga-Neto and Dougherty 2004).

    Row i of class c becomes a Gaussian with covariance :math:`\sigma_c^2 I`, and counts as the
    share of it that the rule takes for another class. For a linear rule of two classes that is
    :math:`\Phi(-c\, g(x_i) / (\sigma_c \lVert\beta\rVert))`, without any sampling. For other rules
    and for several classes `BolsteredBySampling` takes its place, with `points` drawn around each
    row; the result says so.

    The width is theirs: :math:`\sigma_c = \hat d_c / \chi_p`, with :math:`\hat d_c` the mean
    distance of a row of class c to the nearest other row of its class and :math:`\chi_p` the
    median of the chi distribution with p degrees of freedom, p being the number of features. So a
    point of the kernel lies, in the median, as far away as the nearest neighbour does. Distances
    are taken between standardised features unless `standardize` is False.

    One fit.

    References
    ----------
    Braga-Neto and Dougherty (2004), Bolstered error estimation, Pattern Recognition 37.
    """

    standardize: bool = True
    points: int = 100

    target: ClassVar[Target] = "Err_XY"
    splits: ClassVar[bool] = False
    perfect_is_0: ClassVar[bool] = False
    bias = "optimistic where the rule follows its training rows; smoothing makes up for part of it"

    def __post_init__(self) -> None:
        BolsteredBySampling(self.points, self.standardize)  # refuses what neither can serve

    @property
    def word(self) -> str:
        return "bolstered" if self.standardize else "bolstered (not standardised)"

    def check(self, data: Data, loss: Loss) -> None:
        check_rows(self.word, data, loss)

    def plan(self, data: Data, streams: Streams) -> Plan:
        if data.n_classes > 2:
            return self.sampling.plan(data, streams)
        return ruled_plan(data.n_rows)

    @property
    def sampling(self) -> BolsteredBySampling:
        """What takes its place where there is no closed form."""
        return BolsteredBySampling(self.points, self.standardize)

    def instead(self, reason: str) -> Method:
        return self.sampling

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        if answers.plan.moves is not None:
            return self.sampling.reduce(answers, data, loss, terms)
        if answers.rules is None or answers.plan.n_questions != 1:
            raise BadData(f"this is no plan of '{self.word}': it asks for no linear rules.")
        tested = [
            Tested(np.nan, notes=failure_notes(answers, c)) for c in range(answers.n_candidates)
        ]
        for rules in answers.rules:
            rows = scaled_rows(answers, rules, data, self.word, standardize=self.standardize)
            values, widths = _errors(rows, rules)
            shown = ", ".join(f"{width:.6g}" for width in widths)
            for c, value in zip(rules.candidates, values, strict=True):
                notes = (f"kernel widths {shown} of the classes", UNSURE)
                tested[int(c)] = replace(
                    tested[int(c)],
                    value=float(value),
                    split_risks=np.array([value]),
                    notes=notes + tested[int(c)].notes,
                )
        return tested


def _errors(rows: ScaledRows, rules: LinearRules) -> tuple[np.ndarray, list[float]]:
    """The bolstered error of every rule, and the kernel widths of both classes."""
    from scipy.special import ndtr

    slopes, intercepts = rules.between(*rules.codes)
    lengths = np.sqrt((rows.slopes(slopes) ** 2).sum(axis=1))
    total, widths = np.zeros(len(slopes)), []
    for code, sign in zip(rules.codes, (-1, 1), strict=True):
        width = kernel_width(_scaled(rows, code))
        margins = sign * rows.scores(slopes, intercepts, code)
        spread = (width * lengths)[:, None]
        wrong = margins < 0 if sign < 0 else margins <= 0  # the boundary is the first class's
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(spread > 0, ndtr(-margins / spread), wrong)
        total += shares.sum(axis=1)
        widths.append(width)
    return total / len(rows.codes), widths


def _scaled(rows: ScaledRows, code: int) -> np.ndarray:
    table: Any = rows.rows_of(code)
    dense = table.toarray() if hasattr(table, "toarray") else table
    kept = rows.scale > 0
    return (dense[:, kept] - rows.centre[kept]) / rows.scale[kept]
