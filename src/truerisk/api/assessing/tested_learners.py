"""Tuned learners compared on the same splits: every number that an assessment has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from truerisk.api.assessing.baseline import Constant
from truerisk.api.assessing.paired_difference import Paired, paired_difference
from truerisk.api.assessing.ranking import ranked
from truerisk.api.assessing.tuned_learner import TunedLearner
from truerisk.api.compare import ROPE, difference, of_score
from truerisk.api.road.problem import Problem
from truerisk.core.comparison import Comparison
from truerisk.core.errors import UnknownName
from truerisk.core.registry import closest
from truerisk.core.results import RiskCurve, RiskEstimate
from truerisk.core.statistics.calibration import Calibration
from truerisk.core.statistics.roc import RocCurve

__all__ = ["Kept", "TestedLearners"]


@dataclass(frozen=True)
class Kept:
    """How many fits were found in the store, and how many were added to it."""

    found: int
    added: int


@dataclass(frozen=True, eq=False)
class TestedLearners:
    """Tuned learners compared on the same splits.

    `best` is the learner with the smallest honest risk. That risk is the smallest of several and
    slightly flatters; `choice` is the honest risk of choosing among the learners as well, which is
    the number to report for the whole search. `constant` is the best answer that ignores the
    features, `baseline` its risk. `missing` names learners that an interruption left out; `order`
    says which comes first of equal ones. `source`, `command` and `column_names` say, for a report,
    what the data and their columns are called and what was typed. `kept` says
    what a store spared; no number depends on it.
    """

    best: str
    learners: Mapping[str, TunedLearner]
    choice: RiskEstimate | None
    constant: Constant | None
    tuned_by: str
    tested_by: str
    missing: tuple[str, ...]
    order: tuple[str, ...]
    problem: Problem = field(repr=False)
    conclusion: str = ""
    source: str = ""
    command: str = ""
    column_names: tuple[str, ...] = ()
    kept: Kept | None = None

    @property
    def n_rows(self) -> int:
        return self.problem.data.n_rows

    @property
    def seed(self) -> int:
        return self.problem.seed

    @property
    def loss(self) -> str:
        return self.problem.loss.word

    @property
    def baseline(self) -> float | None:
        """The risk of the best constant answer, such as the commonest class."""
        return None if self.constant is None else self.constant.risk

    @property
    def risks(self) -> dict[str, RiskEstimate]:
        """Honest risk of every tuned learner."""
        return {name: one.risk for name, one in self.learners.items()}

    @property
    def curves(self) -> dict[str, RiskCurve]:
        """Risk curve of every learner, by the method that tuned it."""
        return {name: one.curve for name, one in self.learners.items()}

    @property
    def criteria(self) -> dict[str, Mapping[str, RiskCurve]]:
        """Risk curves by the further methods, per learner."""
        return {name: one.criteria for name, one in self.learners.items()}

    @property
    def roc(self) -> RocCurve | None:
        """The ROC curve of the best learner, of rows without part in its tuning or fit."""
        return self.learners[self.best].roc

    @property
    def calibration(self) -> Calibration | None:
        """The calibration of the best learner, of rows without part in its tuning or fit."""
        return self.learners[self.best].calibration

    @property
    def monte_carlo(self) -> dict[str, np.ndarray]:
        """Risks of the single random splits by which each tuned learner was tested.

        Empty unless `outer` is such a method ("monte-carlo").
        """
        if not self.tested_by.startswith("monte-carlo"):
            return {}
        splits = {name: risk.split_risks for name, risk in self.risks.items()}
        return {name: risks for name, risks in splits.items() if risks is not None}

    @property
    def best_params(self) -> dict[str, Any]:
        """The setting of the best learner."""
        return self.curves[self.best].best_params

    @property
    def ranking(self) -> list[str]:
        """Learners by their honest risk, the smallest first; those without one last."""
        return ranked({name: risk.value for name, risk in self.risks.items()}, self.order)

    def told_scores(self) -> Iterator[tuple[str, str, RiskEstimate | None, RiskEstimate]]:
        """Of every score the name, a learner, and its selected and honest estimate.

        The loss comes first where it is a score; the best learners stand first in each.
        """
        if self.problem.loss.is_score:
            for learner in self.ranking:
                one = self.learners[learner]
                yield self.loss, learner, one.selected if one.tuned else None, one.risk
        for name in self.problem.scores:
            for learner in self.ranking:
                one = self.learners[learner]
                known = one.selected.scores if one.claim is None and one.selected else {}
                if name in one.risk.scores:
                    yield name, learner, known.get(name), one.risk.scores[name]

    @property
    def runner_up(self) -> str | None:
        """The learner with the second smallest honest risk."""
        others = [n for n in self.ranking if n != self.best and self.risks[n].value is not None]
        return others[0] if others else None

    def difference(
        self,
        a: str,
        b: str,
        *,
        loss: str | None = None,
        score: str | None = None,
        rope: float = ROPE,
    ) -> Comparison:
        """The risk of learner a minus that of b, paired: negative favours a.

        `score` (or `loss`) names one of the scores that were asked of the same fits, such as "auc";
        risks that differ by no more than `rope` are practically the same. Where no formula is known
        for the splits, as for those that go forward in time, there is the value and no interval.
        """
        if loss is not None and score is not None:
            raise UnknownName("loss= and score= name the same thing: give one of them.")
        for name in (a, b):
            if name not in self.learners:
                known = ", ".join(self.learners)
                raise UnknownName(
                    f"there is no learner {name!r}{closest(name, self.learners) or '.'} "
                    f"Assessed: {known}."
                )
        first, second = (of_score(self.risks[name], score or loss) for name in (a, b))
        level = self.problem.confidence_level
        found = difference(first, second, rope=rope, confidence_level=level)
        return replace(found, names=(a, b))

    def gain(self) -> Paired | None:
        """Risk of the constant answer minus that of the choice among all learners, paired by row.

        The choice and not its best learner: the smallest of several risks would gain by chance.
        """
        risk = self.learners[self.best].risk if self.choice is None else self.choice
        if risk.losses is None or risk.loss_rows is None or self.constant is None:
            return None
        if risk.ordered:
            return None
        if self.constant.losses is None:
            return None
        rows = risk.loss_rows
        return paired_difference(self.constant.losses[rows], risk.losses, rows, self.problem.data)
