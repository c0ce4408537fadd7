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
from truerisk.methods.holdout import ThreeWay
from truerisk.methods.kfold import KFold, LeaveOneOut
from truerisk.methods.parts.set_risks import split_risks
from truerisk.papers.evaluating import answered, evaluated, values_of
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.report import Findings, PaperTable, mean_row
from truerisk.papers.statements import Claim, Quantity, Statement

__all__ = ["MehtaThreeWay", "mehta_three_way"]

N, N_TEST = 100, 4000  # rows of a sample; rows that only measure the true risk
KS = range(1, 32, 2)
FIXED = 4  # the candidate (k = 9) whose risk is estimated without any choice
NEAR = 0.1  # of the true risk: what counts as estimating it
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
    return (*_on_three_parts(draws), *_on_folds(draws["fixed"], draws["true of fixed"]))


def _on_three_parts(draws: Draws) -> tuple[Statement, ...]:
    risk, test = draws["risk"], draws["test"]
    squares = (test - risk[:, 0]) ** 2 - (draws["least"][:, 1] - risk[:, 1]) ** 2
    near = NEAR * float(risk[:, 0].mean())
    return (
        Statement(
            "the validation error of the selected rule is no unbiased estimate: it flatters",
            (Quantity.mean("true risk − validation error", risk[:, 0] - draws["validation"]),),
        ),
        Statement(
            "the test error of the refitted rule estimates its true risk: within a tenth of it",
            (Quantity.mean("test error − true risk", test - risk[:, 0], Claim.near(0.0, near)),),
        ),
        Statement(
            "divided into three parts the data may not suffice to fit the models",
            (
                Quantity.mean(
                    "true risk − that of the rule 10-fold selects and fits on all rows",
                    risk[:, 0] - risk[:, 1],
                ),
            ),
        ),
        Statement(
            "nor to obtain a good estimate of the test error",
            (
                Quantity.mean(
                    "squared error of the test error − that of the least 10-fold error, selection "
                    "included",
                    squares,
                    digits=5,
                ),
            ),
        ),
    )


def _on_folds(fixed: np.ndarray, own: np.ndarray) -> tuple[Statement, ...]:
    """Of k = 9, nothing being selected.

    `fixed` are its 10-fold and its leave-one-out error, `own` is its true risk in each sample.
    """
    deviation = (fixed - fixed.mean(axis=0)) ** 2
    away = (fixed - own.mean()) ** 2
    nearer = ((fixed - own[:, None]) ** 2 - away).mean(axis=1)

    def one(name: str, values: np.ndarray, digits: int = 5) -> tuple[Quantity, ...]:
        return (Quantity.mean(name, values, digits=digits),)

    return (
        Statement(
            "10-fold cross-validation may be pessimistic, for its smaller training sets",
            one("10-fold − true risk of the rule on all rows", fixed[:, 0] - own, 4),
        ),
        Statement(
            "leave-one-out may have the higher variance",
            one("variance of leave-one-out − that of 10-fold", deviation[:, 1] - deviation[:, 0]),
        ),
        Statement(
            "10-fold tends to provide the better estimate",
            one("squared error of leave-one-out − that of 10-fold", away[:, 1] - away[:, 0]),
        ),
        Statement(
            "both estimate the mean over training sets better than the risk of the given rule",
            one("squared error for its own risk − that for the mean risk", nearer),
        ),
    )


mehta_three_way = MehtaThreeWay()
