"""The learners that the lecture compares on the ozone data, with their grids."""

from __future__ import annotations

from typing import Any

from truerisk.core.family import Family
from truerisk.core.table.data import Task

__all__ = ["LEARNERS", "ozone_family"]

LEARNERS = (
    "linear",
    "linear, interactions",
    "lasso",
    "lasso, interactions",
    "SVM",
    "tree",
    "forest",
    "boosting",
    "neural net",
)
SEED = 0
MANY = 5000


def ozone_family(word: str, task: Task) -> Family:
    """A learner of `LEARNERS`; logistic regression stands for linear in classification."""
    name, _, more = word.partition(", ")
    model, grid = _MADE[name](task == "classification")
    steps = _standardised(interactions=bool(more)) if name not in ("tree", "forest") else []
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(*steps, model)
    step = pipeline.steps[-1][0]
    return Family.of(pipeline, {f"{step}__{key}": values for key, values in grid.items()})


def _standardised(*, interactions: bool) -> list[Any]:
    """Mean 0 and variance 1, of squares and products too."""
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    products = [PolynomialFeatures(2, include_bias=False), StandardScaler()]
    return [StandardScaler(), *(products if interactions else [])]


def _linear(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.linear_model import LinearRegression, LogisticRegression

    if classes:  # a trace of penalty: stations and their squares are collinear
        return LogisticRegression(C=1e4, max_iter=MANY), {}
    return LinearRegression(), {}


def _lasso(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.linear_model import Lasso, LogisticRegression

    if classes:
        costs = [0.01, 0.03, 0.1, 0.3, 1.0]
        return _lasso_of_classes(LogisticRegression), {"C": costs}
    return Lasso(max_iter=MANY), {"alpha": [0.03, 0.1, 0.3, 1.0, 3.0]}


def _lasso_of_classes(kind: Any) -> Any:
    """By the word `penalty` before scikit-learn 1.8, by `l1_ratio` since."""
    options = {"solver": "liblinear", "max_iter": MANY, "random_state": SEED}
    if kind().get_params()["penalty"] == "deprecated":
        return kind(l1_ratio=1.0, **options)
    return kind(penalty="l1", **options)


def _svm(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.svm import SVC, SVR

    if classes:
        return SVC(), {"C": [0.3, 1.0, 3.0], "gamma": [0.03, 0.1]}
    return SVR(epsilon=5.0), {"C": [10.0, 30.0, 100.0], "gamma": [0.03, 0.1]}


def _tree(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
    return kind(random_state=SEED), {"min_samples_leaf": [5, 10, 20, 40, 80]}


def _forest(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if classes else RandomForestRegressor
    return kind(100, random_state=SEED), {"max_features": [2, 4, 8]}


def _boosting(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    kind = GradientBoostingClassifier if classes else GradientBoostingRegressor
    model = kind(subsample=0.7, random_state=SEED)
    return model, {"n_estimators": [50, 150], "learning_rate": [0.05], "max_depth": [2, 4]}


def _net(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    kind = MLPClassifier if classes else MLPRegressor
    options = {"early_stopping": True, "learning_rate_init": 0.01, "max_iter": 1000}
    model = kind(hidden_layer_sizes=(16,), random_state=SEED, **options)
    return model, {"alpha": [0.01, 1.0, 10.0]}


_MADE = {
    "linear": _linear,
    "lasso": _lasso,
    "SVM": _svm,
    "tree": _tree,
    "forest": _forest,
    "boosting": _boosting,
    "neural net": _net,
}
