"""Gradient boosting by word: scikit-learn's, XGBoost, LightGBM, CatBoost, each with its grid.

They take text as levels and leave gaps as they are, so neither is filled or spread out before them.
The numbers of trees of a grid are read off one fit, so they cost what the largest of them costs.
The packages use one thread each: fits run side by side by an executor, and threads of several fits
that wait for each other cost many times what they spare.
"""

from __future__ import annotations

from typing import Any

from truerisk.models.builders import Grid, Learner, Size, TaskWord, imported

_SEED = 0
TREES = [25, 50, 100, 200]
LEAVES = [7, 31]
DEPTHS = [3, 6]
RATE = 0.1  # half of it needs twice the trees, and ends much at the same place
LEAST_LEAF = 20  # rows, as the packages have it …
LEAVES_OF_FOLD = 8  # … where a fold has so many times as many


def _boosting(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    classes = task == "classification"
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    # a part of the rows that ends the fit would be drawn from the few that a fold has
    model = kind(
        learning_rate=RATE,
        min_samples_leaf=_least_leaf(size),
        early_stopping=False,
        categorical_features=list(size.levels) or None,
        random_state=_SEED,
    )
    return model, {"max_iter": TREES, "max_leaf_nodes": LEAVES}


def _xgboost(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    package = imported("xgboost", "xgboost", "xgboost")
    kinds: dict[str, Any] = {"random_state": _SEED, "n_jobs": 1}
    if size.levels:
        kinds["enable_categorical"] = True
        kinds["feature_types"] = ["c" if j in size.levels else "q" for j in range(size.n_features)]
    from truerisk.models.labelled_xgboost import LabelledXGBClassifier

    kind = LabelledXGBClassifier if task == "classification" else package.XGBRegressor
    return kind(learning_rate=RATE, **kinds), {"n_estimators": TREES, "max_depth": DEPTHS}


def _lightgbm(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    imported("lightgbm", "lightgbm", "lightgbm")
    from truerisk.models import levelled_lightgbm as levelled

    classes = task == "classification"
    kind = levelled.LevelledLGBMClassifier if classes else levelled.LevelledLGBMRegressor
    levels = {"categorical_feature": list(size.levels)} if size.levels else {}
    least = _least_leaf(size)
    given = {"learning_rate": RATE, "min_child_samples": least, "n_jobs": 1, "verbose": -1}
    model = kind(random_state=_SEED, **given, **levels)
    return model, {"n_estimators": TREES, "num_leaves": LEAVES}


def _catboost(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    imported("catboost", "catboost", "catboost")
    from truerisk.models import levelled_catboost as levelled

    classes = task == "classification"
    kind = levelled.LevelledCatBoostClassifier if classes else levelled.LevelledCatBoostRegressor
    levels = {"cat_features": list(size.levels)} if size.levels else {}
    # what it chooses for 200 trees: for fewer it chooses otherwise, and the fits would differ
    steps = 10 if size.n_classes == 2 else 1
    given = {"learning_rate": RATE, "leaf_estimation_iterations": steps, "thread_count": 1}
    quiet = {"verbose": 0, "allow_writing_files": False}
    model = kind(random_state=_SEED, **given, **quiet, **levels)
    return model, {"iterations": TREES, "depth": DEPTHS}


def _least_leaf(size: Size) -> int:
    """Rows of a leaf at least: fewer than usual where a fold would make no split."""
    return max(1, min(LEAST_LEAF, size.smallest_fold // LEAVES_OF_FOLD))


_BOTH: tuple[TaskWord, ...] = ("classification", "regression")

boosting = Learner(_BOTH, scale=False, build=_boosting, levels="codes")
xgboost = Learner(_BOTH, scale=False, build=_xgboost, levels="codes")
lightgbm = Learner(_BOTH, scale=False, build=_lightgbm, levels="codes")
catboost = Learner(_BOTH, scale=False, build=_catboost, levels="objects")
