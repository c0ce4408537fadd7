"""Mehta's three-way split: what validation and test errors estimate, and what rows they cost."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from truerisk.core.family import Family
from truerisk.core.losses import ZeroOne
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.table.data import Data
from truerisk.datasets.simple import make_simple
from truerisk.methods.kfold import KFold
from truerisk.methods.leave_one_out import LeaveOneOut
from truerisk.methods.parts.set_risks import split_risks
from truerisk.methods.three_way import ThreeWay
from truerisk.papers.evaluating import answered, evaluated, values_of
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.report import Findings, PaperTable, Statement, mean_and_error, mean_row, signed

__all__ = ["MehtaThreeWay", "mehta_three_way"]

N, N_TEST = 100, 4000  # rows of a sample; rows that only measure the true risk
KS = range(1, 32, 2)
FIXED = 4  # the candidate (k = 9) whose risk is estimated without any choice
WAYS = ("three-way", "10-fold", "leave-one-out")


class MehtaThreeWay(Experiment):
    """100 rows: half to train, a quarter to validate, a quarter to test; nearest neighbours."""

    word: ClassVar[str] = "mehta-three-way"
    title: ClassVar[str] = "Mehta (2010): the three-way split beside cross-validation"
    document: ClassVar[str] = (
        f"{N} rows of two Gaussians, 50/25/25; k nearest neighbours, odd k up to {max(KS)}"
    )
    replicates: ClassVar[int] = 1000
    quick: ClassVar[int] = 50

    def replicate(self, seed: int, number: int) -> Draws:
        rng = stream("mehta three-way", seed, number)
        own = int(rng.integers(2**63))
        parts = [make_simple(n, random_state=rng) for n in (N, N_TEST)]
        X, y = (np.concatenate(both) for both in zip(*parts, strict=True))
        sample, loss = _data(X[:N], y[:N]), ZeroOne()
        split = evaluated(ThreeWay(), _family(), sample, loss, own)
        assert split.procedure is not None
        unit = split.units[0]
        seen = split.plan.train_rows(int(split.plan.fit[split.plan.questions("outer")[0]]))[0]
        refitted, whole = _true_risks(_data(X, y), seen)
        folds = values_of(evaluated(KFold(10), _family(), sample, loss, own))
        singles = values_of(evaluated(LeaveOneOut(), _family(), sample, loss, own))
        return {
            "validation": unit.inner_risk,
            "test": split.procedure.value,
            "risk": np.array(
                [refitted[unit.candidate], whole[folds.argmin()], whole[singles.argmin()]]
            ),
            "least": np.array([unit.inner_risk, folds.min(), singles.min()]),
            "fixed": np.array([folds[FIXED], singles[FIXED]]),
            "true of fixed": whole[FIXED],
        }

    def findings(self, draws: Draws) -> Findings:
        return Findings(
            tables=(_selected(draws), _fixed(draws)),
            claims=_claims(draws),
            notes=("the document describes procedures and prints no numbers.",),
        )


@lru_cache(maxsize=1)
def _family() -> Family:
    from sklearn.neighbors import KNeighborsClassifier

    return Family.of(KNeighborsClassifier(), {"n_neighbors": KS})


def _data(X: np.ndarray, y: np.ndarray) -> Data:
    return Data(X, y, "classification", np.array([0, 1]), y)


def _true_risks(data: Data, seen: np.ndarray) -> np.ndarray:
    """Every k fitted on the rows seen before the test, and on all of the sample."""
    builder = PlanBuilder(data.n_rows)
    test = builder.block(np.arange(N, data.n_rows))
    for rows in (seen, np.arange(N)):
        builder.ask((builder.block(rows), ()), (test, ()))
    answers = answered(_family(), data, ZeroOne(), builder.build())
    return split_risks(answers, data, ZeroOne()).T


def _selected(draws: Draws) -> PaperTable:
    rows = [
        mean_row("validation error of the selected", draws["validation"]),
        mean_row("test error of the refitted", draws["test"]),
        mean_row("true risk of the refitted", draws["risk"][:, 0]),
        mean_row("10-fold: error of the selected", draws["least"][:, 1]),
        mean_row("10-fold: its true risk, all rows", draws["risk"][:, 1]),
        mean_row("leave-one-out: error of the selected", draws["least"][:, 2]),
        mean_row("leave-one-out: its true risk, all rows", draws["risk"][:, 2]),
    ]
    return PaperTable("the selected rule", "document", tuple(rows))


def _fixed(draws: Draws) -> PaperTable:
    """Estimates of one rule, k = 9, against its mean risk and against its own."""
    rows = []
    mean = draws["true of fixed"].mean()
    for place, name in enumerate(WAYS[1:]):
        value = draws["fixed"][:, place]
        rows.append(mean_row(f"{name}: mean", value))
        rows.append(mean_row(f"{name}: squared error for the mean risk", (value - mean) ** 2))
        own = (value - draws["true of fixed"]) ** 2
        rows.append(mean_row(f"{name}: squared error for its own risk", own))
    rows.append(mean_row("true risk", draws["true of fixed"]))
    k = list(KS)[FIXED]
    return PaperTable(f"k = {k}, nothing selected", "document", tuple(rows), digits=5)


def _claims(draws: Draws) -> tuple[Statement, ...]:
    risk, fixed, own = draws["risk"], draws["fixed"], draws["true of fixed"]
    flattery = mean_and_error(risk[:, 0] - draws["validation"])
    rest = mean_and_error(draws["test"] - risk[:, 0])
    cost = mean_and_error(risk[:, 0] - risk[:, 1])
    loss = ((draws["test"] - risk[:, 0]) ** 2, (draws["least"][:, 1] - risk[:, 1]) ** 2)
    spread = mean_and_error(loss[0] - loss[1])
    deviation = (fixed - fixed.mean(axis=0)) ** 2
    higher = mean_and_error(deviation[:, 1] - deviation[:, 0])
    away = (fixed - own.mean()) ** 2
    better = mean_and_error(away[:, 1] - away[:, 0])
    nearer = mean_and_error(((fixed - own[:, None]) ** 2 - away).mean(axis=1))
    pessimism = mean_and_error(fixed[:, 0] - fixed[:, 1])
    return (
        Statement.judge(
            "the validation error of the selected rule is no unbiased estimate: it flatters",
            *flattery,
            f"true risk − validation error = {signed(*flattery)}",
        ),
        Statement(
            "the test error of the refitted rule estimates its true risk",
            "holds" if abs(rest[0]) <= 3 * rest[1] else "does not hold",
            f"test error − true risk = {signed(*rest)}",
        ),
        Statement.judge(
            "divided into three parts the data may not suffice to fit the models",
            *cost,
            f"true risk − that of the rule 10-fold selects and fits on all rows = {signed(*cost)}",
        ),
        Statement.judge(
            "nor to obtain a good estimate of the test error",
            *spread,
            f"squared error of the test error − that of the least 10-fold error, selection "
            f"included = {signed(*spread, 5)}",
        ),
        Statement.judge(
            "10-fold cross-validation may be pessimistic, for its smaller training sets",
            *pessimism,
            f"10-fold − leave-one-out = {signed(*pessimism)}",
        ),
        Statement.judge(
            "leave-one-out may have the higher variance",
            *higher,
            f"variance of leave-one-out − that of 10-fold = {signed(*higher, 5)}",
        ),
        Statement.judge(
            "10-fold tends to provide the better estimate",
            *better,
            f"squared error of leave-one-out − that of 10-fold = {signed(*better, 5)}",
        ),
        Statement.judge(
            "both estimate the mean over training sets better than the risk of the given rule",
            *nearer,
            f"squared error for its own risk − that for the mean risk = {signed(*nearer, 5)}",
        ),
    )


mehta_three_way = MehtaThreeWay()
