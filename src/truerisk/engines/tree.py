"""The tree engine: all prunings of a decision tree from one unpruned tree per train set.

`ccp_alpha` takes no part in growing a tree: scikit-learn grows the whole tree and prunes it then.
Whatever drew random numbers or made ties while growing is therefore the same for every value, and
the answer at x is that of the highest node on x's path that is a leaf after pruning.

`max_depth` is not read off a deeper tree. The builder goes depth first and draws the order in which
it tries features in every node, so the nodes below the limit shift the random numbers of all that
come after them, and equally good splits (common in small nodes) fall otherwise. Each depth is grown
by itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from truerisk.core.contracts import Request
from truerisk.core.data import Data
from truerisk.core.family import Family
from truerisk.engines.answering import Asked, coded
from truerisk.engines.one_fit import OneFit
from truerisk.engines.pruning import standing_nodes
from truerisk.engines.settings import Group

__all__ = ["Trees"]


@dataclass(frozen=True)
class Trees(OneFit):
    """Serves scikit-learn's decision trees over any `ccp_alpha`."""

    word: ClassVar[str] = "tree"

    def learners(self) -> Sequence[type]:
        from sklearn import tree

        return (
            tree.DecisionTreeClassifier,
            tree.DecisionTreeRegressor,
            tree.ExtraTreeClassifier,
            tree.ExtraTreeRegressor,
        )

    def path_of(self, family: Family) -> str:
        return "ccp_alpha"

    def whole(self, values: Sequence[Any]) -> Any:
        return 0.0

    def value_refusal(self, value: Any) -> str | None:
        if not isinstance(value, Real) or not 0 <= float(value) < math.inf:
            return f"ccp_alpha={value!r} is no price of a leaf."
        return None

    def read(
        self, model: Any, group: Group, asked: Asked, data: Data, request: Request
    ) -> np.ndarray:
        alphas = group.values("ccp_alpha").astype(np.float64)
        nodes = standing_nodes(model.tree_, alphas)[:, model.apply(asked.X)]
        answers: np.ndarray = _of_nodes(model, data, asked, request)[nodes]
        return answers


def _of_nodes(model: Any, data: Data, asked: Asked, request: Request) -> np.ndarray:
    """What each node would answer, were it a leaf."""
    values = model.tree_.value
    if request.response == "value":
        means: np.ndarray = values[:, :, 0].reshape(-1, *asked.y.shape[1:])
        return means
    shares = values[:, 0, :]
    codes = coded(model.classes_, data)
    if request.response == "label":
        labels: np.ndarray = codes[shares.argmax(axis=1)]
        return labels
    full = np.zeros((len(shares), data.n_classes))
    full[:, codes[codes >= 0]] = shares[:, codes >= 0]
    return full if request.response == "probability" else full[:, 1]
