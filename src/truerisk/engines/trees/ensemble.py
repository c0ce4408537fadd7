"""The ensemble engine: every number of members, from the largest forest or boosting per train set.

The members of an ensemble draw their random numbers from one sequence, so with the same seed
(given, or common to the candidates of a fit) an ensemble of m is the beginning of one of n > m.
Where the number of stages is decided while fitting (early stopping) it is not, and is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from truerisk.core.contracts import Request
from truerisk.core.family import Family
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.engines.running.answering import Enquiry
from truerisk.engines.running.members import bagging, forests, why_no_bags
from truerisk.engines.settings import Group, last_step
from truerisk.engines.templates.one_fit import OneFit
from truerisk.engines.trees.stages import answers_at, boosting, reweighting

__all__ = ["Ensembles"]

STOPS_EARLY = 10_000  # early_stopping="auto" of histogram boosting, in scikit-learn's words


@dataclass(frozen=True)
class Ensembles(OneFit):
    """Serves forests, bagging, AdaBoost and gradient boosting over their number of members."""

    word: ClassVar[str] = "ensemble"
    serves: ClassVar[frozenset[str]] = frozenset({"out_of_bag"})

    def learners(self) -> Sequence[type]:
        return (*forests(), *bagging(), *boosting(), *reweighting())

    def path_of(self, family: Family) -> str:
        return "max_iter" if hasattr(last_step(family), "max_iter") else "n_estimators"

    def whole(self, values: Sequence[Any]) -> Any:
        return max(values)

    def value_refusal(self, value: Any) -> str | None:
        if not isinstance(value, Integral) or value < 1:
            return f"{value!r} is no number of members."
        return None

    def setting_refusal(self, setting: dict[str, Any], plan: Plan, request: Request) -> str | None:
        if setting.get("n_iter_no_change") is not None and "early_stopping" not in setting:
            return "n_iter_no_change ends the fit where a part of the rows says so."
        early = setting.get("early_stopping", False)
        if early is True or (early == "auto" and int(plan.train_sizes.max()) > STOPS_EARLY):
            return "early_stopping ends the fit where a part of the rows says so."
        decides = hasattr(setting.get("estimator"), "decision_function")
        if request.response == "score" and "bootstrap_features" in setting and decides:
            return "decision values are asked for, and it averages probabilities."
        return None

    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        reason = super().refuse(family, data, plan, request)
        if reason is None and plan.out_of_bag is not None:
            reason = why_no_bags(family)
        if reason is None and any(name.endswith("monitor") for name in data.fit_params):
            reason = "a monitor may end the fit."
        return reason

    def read(
        self, model: Any, group: Group, asked: Enquiry, data: Data, request: Request
    ) -> np.ndarray:
        path = "max_iter" if "max_iter" in group.settings[0] else "n_estimators"
        sizes = [int(setting[path]) for setting in group.settings]
        return answers_at(model, sizes, asked, data, request)
