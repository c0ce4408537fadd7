"""Bolstered error of any rule: points are drawn around each training row, and counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.arguments import as_array, check_count, check_flag
from truerisk.core.contracts import Method, Streams, Target, Terms
from truerisk.core.errors import BadData
from truerisk.core.evaluation import Tested
from truerisk.core.losses import Loss
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import ALL, Plan
from truerisk.core.plan.special_fits import Moves
from truerisk.core.table.data import Data
from truerisk.methods.bayesian_error import check_rows
from truerisk.methods.parts.averages import failure_notes
from truerisk.methods.parts.bolstering_width import kernel_width

__all__ = ["UNSURE", "BolsteredBySampling"]

UNSURE = "no formula is stated for the standard error of a bolstered error."


@dataclass(frozen=True)
class BolsteredBySampling(Method):
    r"""Bolstered resubstitution by Monte Carlo, for any classifier and any number of classes.

    .. math:: \frac{1}{n m} \sum_i \sum_{j=1}^m
        1\{f(x_i + \sigma_{y_i} z_{ij}) \ne y_i\},\qquad z_{ij} \sim N(0, I)

    with the kernel widths of `Bolstered`, from distances between the rows of X themselves, and m
    `points` around each row, the same for all candidates. The notes state what the sampling alone
    leaves open. X holds numbers, in an array or a pandas frame.

    References
    ----------
    Braga-Neto and Dougherty (2004), Bolstered error estimation, Pattern Recognition 37.
    """

    points: int = 100
    standardize: bool = True

    target: ClassVar[Target] = "Err_XY"
    splits: ClassVar[bool] = False
    perfect_is_0: ClassVar[bool] = False
    bias = "optimistic where the rule follows its training rows; smoothing makes up for part of it"

    def __post_init__(self) -> None:
        check_count("points", self.points, 2, "draw a whole number, at least 2, around each row")
        check_flag("standardize", self.standardize)

    @property
    def word(self) -> str:
        told = "" if self.standardize else ", not standardised"
        return f"bolstered ({self.points} points{told})"

    def check(self, data: Data, loss: Loss) -> None:
        check_rows(self.word, data, loss)

    def plan(self, data: Data, streams: Streams) -> Plan:
        X = _numbers(data)
        scale = X.std(axis=0) if self.standardize else np.ones(X.shape[1])
        scale[np.ptp(X, axis=0) == 0] = 0.0 if self.standardize else 1.0
        kept = scale > 0
        sizes = np.empty(data.n_rows)
        for code in range(data.n_classes):
            mine = data.class_codes == code
            if mine.any():
                sizes[mine] = kernel_width(X[np.ix_(mine, kept)] / scale[kept])
        builder = PlanBuilder(data.n_rows)
        for repeat in range(self.points):
            builder.ask(train=(ALL, ()), test=(ALL, ()), part="apparent", repeat=repeat)
        seeds = streams.get("points").integers(2**62, size=self.points)
        moves = Moves(np.arange(self.points, dtype=np.int32), seeds, sizes, scale)
        return replace(builder.build(), moves=moves)

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        moves = answers.plan.moves
        if moves is None:
            raise BadData(f"this is no plan of '{self.word}': it asks about no points around rows.")
        rows = answers.plan.test_rows(0)[0]
        shape = len(moves.question), len(rows)
        codes = data.codes_of(rows)
        widths = ", ".join(f"{moves.row_scale[rows[codes == c][0]]:.6g}" for c in np.unique(codes))
        tested = []
        for c, labels in enumerate(answers.values):
            if not answers.answered[c].all():
                tested.append(Tested(np.nan, notes=failure_notes(answers, c)))
                continue
            shares = (labels.reshape(shape) != codes).mean(axis=0)
            open_ = np.sqrt((shares * (1 - shares)).sum() / (len(moves.question) - 1)) / len(rows)
            value = float(shares.mean())
            sampled = f"{len(moves.question)} points around each row: the sampling alone"
            notes = (
                f"kernel widths {widths} of the classes",
                f"{sampled} has a standard error of {open_:.2g}",
                UNSURE,
            )
            tested.append(
                Tested(
                    value,
                    losses=shares,
                    loss_rows=rows,
                    split_risks=np.array([value]),
                    notes=notes + failure_notes(answers, c),
                )
            )
        return tested


def _numbers(data: Data) -> np.ndarray:
    given = data.X
    if not (isinstance(given, np.ndarray) or hasattr(given, "iloc")):
        raise BadData(
            f"points are drawn around rows of an array or a pandas frame, and X is a "
            f"{type(given).__name__}: give X.toarray(), or use '10-fold'."
        )
    try:
        X = as_array(given, np.float64)
    except ValueError as error:
        raise BadData(f"points are drawn around rows of numbers: {error}.") from error
    if X.ndim != 2 or not np.isfinite(X).all():
        raise BadData("points are drawn around rows of finite numbers: impute or leave rows out.")
    return X
