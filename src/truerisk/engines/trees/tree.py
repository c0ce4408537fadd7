"""The tree engine: one unpruned decision tree per training set predicts for every `ccp_alpha`.

`ccp_alpha` has no effect on growing a tree: scikit-learn grows the whole tree and prunes it then.
All random numbers and ties during growth are therefore the same for every value, and the prediction
at x is that of the highest node on x's path that is a leaf after pruning. Copies of a row in a
bootstrap sample are given as a weight if this grows the same tree.

`max_depth` cannot be read from a deeper tree. The builder proceeds depth first and draws the order
in which it tries features in every node. The nodes below the limit therefore shift the random
numbers of all later nodes, and equally good splits (common in small nodes) are resolved
differently. Each depth is grown separately.

Plain `DecisionTreeClassifier`s on numeric tables, and `DecisionTreeRegressor`s of integer targets,
are grown by a compiled builder, all fits of a plan in a few calls (`trees/growing.py`). It grows
exactly scikit-learn's trees, including random numbers and ties. To verify this, small trees of both
are compared once per process (`trees/recipes.py`). scikit-learn makes the fits if these differ, if
the compiled module is missing, with a store, and for all other learners, settings and tables: this
gives the same numbers several times more slowly. The builder runs in the calling process; an
executor is used only for scikit-learn's fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request, RunOptions
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.data.rows import take_rows
from truerisk.engines.running.answering import RowsToPredict, encode_classes
from truerisk.engines.running.fitting import FitInput, FitResult
from truerisk.engines.settings import Group, group_candidates
from truerisk.engines.templates.one_fit import OneFit
from truerisk.engines.trees.growing import tree_builder_for
from truerisk.engines.trees.pruning import nodes_after_pruning
from truerisk.plan.answers import Answers
from truerisk.plan.plan import Plan

DEFAULTS_NOT_COUNTING_ROWS = {
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "min_weight_fraction_leaf": 0.0,
    "class_weight": None,
}


@frozen
class Trees(OneFit):
    """Engine for scikit-learn's decision trees with any `ccp_alpha`.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.engines.Ensembles : Engine for forests and boosting.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> engine = tr.engines.Trees()
    >>> tr.estimate_risk(DecisionTreeClassifier(random_state=0), X, y, engine=engine).engine
    'tree'
    """

    name: ClassVar[str] = "tree"
    # No candidate is skipped, because all trees of a call are grown before one is chosen.
    leaves_out: ClassVar[bool] = False

    @override
    def learners(self) -> Sequence[type]:
        from sklearn import tree

        return (
            tree.DecisionTreeClassifier,
            tree.DecisionTreeRegressor,
            tree.ExtraTreeClassifier,
            tree.ExtraTreeRegressor,
        )

    @override
    def path_of(self, family: Family) -> str:
        return "ccp_alpha"

    @override
    def covering_value(self, values: Sequence[Any]) -> Any:
        return 0.0

    @override
    def value_refusal(self, value: Any) -> str | None:
        if not isinstance(value, Real) or not 0 <= float(value) < math.inf:
            return f"ccp_alpha={value!r} is no price of a leaf."
        return None

    @override
    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        groups = group_candidates(family, ["ccp_alpha"])
        builder = tree_builder_for(groups, family, data, plan, request, run)
        predictions = None if builder is None else builder.answers(self.name)
        if predictions is not None:
            return predictions
        return super().run(family, data, plan, request, run)

    @override
    def pieces(
        self,
        family: Family,
        data: Data,
        request: Request,
        given: FitInput,
        requested_rows: Callable[[], list[RowsToPredict]],
        place: tuple[int, int, Group],
    ) -> list[FitResult]:
        if given.original_rows is not None and _can_use_weights_for_copies(family, place[2], data):
            given = _copies_to_weights(given, given.original_rows)
        return super().pieces(family, data, request, given, requested_rows, place)

    @override
    def read(
        self, model: Any, group: Group, enquiry: RowsToPredict, data: Data, request: Request
    ) -> np.ndarray:
        alphas = group.values("ccp_alpha").astype(np.float64)
        nodes = nodes_after_pruning(model.tree_, alphas, model.apply(enquiry.X))
        return _node_predictions(model, data, enquiry, request)[nodes]


def _can_use_weights_for_copies(family: Family, group: Group, data: Data) -> bool:
    """Return True if copies of rows may be replaced by sample weights without any change.

    Sums over classes are then integers, and a node of copies of one row is pure and a leaf.
    Settings that count rows or classes would distinguish copies from weights.
    """
    if data.codes is None or data.fit_params or family.is_piped:
        return False
    setting = group.settings[0]
    return all(setting[name] == default for name, default in DEFAULTS_NOT_COUNTING_ROWS.items())


def _copies_to_weights(fit_input: FitInput, original_rows: np.ndarray) -> FitInput:
    """Return the training set with distinct rows, and the number of copies as sample weights."""
    _, first_copies, copy_counts = np.unique(original_rows, return_index=True, return_counts=True)
    weights = {"sample_weight": copy_counts.astype(np.float64)}
    y = fit_input.y[first_copies]
    return replace(
        fit_input,
        make_features=lambda: take_rows(fit_input.make_features(), first_copies),
        y=y,
        params=weights,
        original_rows=None,
    )


def _node_predictions(
    model: Any, data: Data, rows_to_predict: RowsToPredict, request: Request
) -> np.ndarray:
    """Return the prediction that each node would make if it were a leaf."""
    node_values = model.tree_.value
    if request.response == "value":
        return node_values[:, :, 0].reshape(-1, *rows_to_predict.y.shape[1:])
    class_shares = node_values[:, 0, :]
    codes = encode_classes(model.classes_, data)
    if request.response == "label":
        return codes[class_shares.argmax(axis=1)]
    probabilities = np.zeros((len(class_shares), data.n_classes))
    probabilities[:, codes[codes >= 0]] = class_shares[:, codes >= 0]
    return probabilities if request.response == "probability" else probabilities[:, 1]
