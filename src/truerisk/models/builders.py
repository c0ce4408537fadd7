"""Build learners by name: each is an estimator with a small grid that depends on the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal

from truerisk.core.errors import MissingExtra
from truerisk.core.frozen import frozen

TaskName = Literal["classification", "regression", "survival"]
LevelEncoding = Literal["indicators", "codes", "objects"]
Grid = dict[str, list[Any]]

# Trees break ties at random. With a fixed seed, the same data give the same tree.
_RANDOM_STATE = 0
_MAX_ITERATIONS = 5_000


@frozen
class DataSize:
    """Properties of the data on which the grid of a learner depends.

    `n_classes` is 0 if the task is no classification. Every training set has at least 1/`n_parts`
    of the rows: half of them in 2-fold cross-validation, a sixth if five forecasts follow each
    other. `has_indicators` is True if text columns are converted to indicators, which sum to 1 for
    each text column. Otherwise `n_categorical_columns` is the number of categorical columns, which
    come last.
    """

    n_rows: int
    n_features: int
    n_classes: int
    has_indicators: bool = False
    n_categorical_columns: int = 0
    n_parts: int = 2

    @property
    def categorical_columns(self) -> tuple[int, ...]:
        """Positions of the categorical columns among the columns that the learner gets."""
        return tuple(range(self.n_features - self.n_categorical_columns, self.n_features))

    @property
    def min_training_rows(self) -> int:
        """Smallest number of rows that a training set can have."""
        return max(1, self.n_rows // self.n_parts)


Builder = Callable[[TaskName, DataSize], tuple[Any, Grid]]


@frozen
class Learner:
    """Learner in the registry: its tasks, the preparation that it needs, and a build function.

    Parameters
    ----------
    tasks : tuple of {"classification", "regression", "survival"}
        The tasks of the learner.
    scale : bool
        True if the learner needs standardised numbers.
    build : callable
        `build(task, size)` returns the estimator and its grid, with parameter names without a step.
    levels : {"indicators", "codes", "objects"}, default="indicators"
        How the learner takes text columns. A learner that takes levels as such also takes missing
        values.

    See Also
    --------
    truerisk.models.learner : Build the pipeline and the grid of a learner.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.models.registry.load("knn").tasks
    ('classification', 'regression')
    """

    tasks: tuple[TaskName, ...]
    scale: bool
    build: Builder
    levels: LevelEncoding = "indicators"


def _build_knn(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    model = KNeighborsClassifier() if task == "classification" else KNeighborsRegressor()
    # A number of neighbours must not exceed the number of rows of any training set.
    max_neighbors = max(1, data_size.n_rows // data_size.n_parts**2)
    return model, {
        "n_neighbors": _select_values_up_to((1, 3, 5, 7, 9, 13, 19, 27, 39), max_neighbors)
    }


def _build_lda(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    from truerisk.models.discriminant_analysis import LinearDiscriminant

    shrinkages = [0.01, 0.03, 0.1, 0.3, 0.6, 0.9]
    # With more columns than rows, scikit-learn's own class would form a large p × p matrix.
    if data_size.n_features > data_size.n_rows:
        return LinearDiscriminant(solver="auto", divisor="n"), {"shrinkage": shrinkages}
    # With a singular scatter matrix, the least-squares solution contains rounding noise.
    # This noise would change predicted labels.
    is_invertible = (
        data_size.min_training_rows - data_size.n_classes >= data_size.n_features
        and not data_size.has_indicators
    )
    # The default (None) and the number 0.0 both mean no shrinkage.
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.0 if is_invertible else None)
    return model, {"shrinkage": [*[0.0] * is_invertible, *shrinkages]}


def _build_logistic(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    from sklearn.linear_model import LogisticRegression

    # The default penalty is ridge. It is not named, because scikit-learn 1.8 deprecates the name.
    # A smaller tol would let rounding errors accumulate over more steps.
    # At C = 100, two orders of the same rows would then give visibly different results.
    model = LogisticRegression(max_iter=_MAX_ITERATIONS)
    return model, {"C": [0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0, 100.0]}


def _build_svm(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    from sklearn.svm import SVC, SVR

    gammas = [float(f"{factor / data_size.n_features:.3g}") for factor in (0.1, 0.3, 1.0)]
    costs = [0.1, 1.0, 10.0]
    # For p standardised columns the default width "scale" equals 1/p.
    default_gamma = gammas[-1]
    if task == "classification":
        return SVC(kernel="rbf", gamma=default_gamma), {"C": costs, "gamma": gammas}
    return _standardise_target(SVR(kernel="rbf", gamma=default_gamma)), {
        "regressor__C": costs,
        "regressor__gamma": gammas,
    }


def _build_tree(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    tree_class = DecisionTreeClassifier if task == "classification" else DecisionTreeRegressor
    min_leaf_sizes = _select_values_up_to(
        (1, 2, 3, 5, 8, 13, 20, 30), data_size.min_training_rows // 2
    )
    return tree_class(random_state=_RANDOM_STATE), {"min_samples_leaf": min_leaf_sizes}


def _build_forest(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest_class = RandomForestClassifier if task == "classification" else RandomForestRegressor
    p = data_size.n_features
    # This is the number of features for which scikit-learn's default ("sqrt" or 1.0) stands.
    default_n_features = max(1, int(p**0.5)) if task == "classification" else p
    feature_counts = sorted({max(1, n) for n in (round(p**0.5 / 2), int(p**0.5), p // 3, p)})
    model = forest_class(
        n_estimators=100, max_features=default_n_features, random_state=_RANDOM_STATE
    )
    return model, {"max_features": feature_counts}


def _build_ridge(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    from sklearn.linear_model import Ridge

    return Ridge(), {"alpha": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]}


def _build_lasso(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    from sklearn.linear_model import Lasso

    model = _standardise_target(Lasso(max_iter=_MAX_ITERATIONS))
    return model, {"regressor__alpha": [0.003, 0.01, 0.03, 0.1, 0.3, 1.0]}


def _build_cox(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    package = import_or_raise("cox", "sksurv.linear_model", "survival")
    # The default penalty is small, but not 0, because indicator columns sum to 1.
    # Without a penalty, their coefficients would have no unique solution.
    model = package.CoxPHSurvivalAnalysis(alpha=0.1)
    return model, {"alpha": [0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0]}


def _build_logistic_path(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    from truerisk.models.logistic_path import LogisticPath

    # A place on the path is a share of the largest penalty, which depends on the training rows. All
    # places of a training set share one path.
    model = LogisticPath(n_lambdas=10, least_ratio=1e-2, at=9)
    return model, {"at": list(range(10))}


def _build_cox_lasso(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    package = import_or_raise("cox-lasso", "sksurv.linear_model", "survival")
    # The first penalty of the path leaves a single feature, so that it depends on the rows.
    # The last penalty is a fixed share of the first one.
    # A path is used because one penalty may select no feature, which is refused, or overflow.
    # The model also fits a baseline survival curve.
    path_parameters = {"l1_ratio": 1.0, "n_alphas": 10, "alpha_min_ratio": 0.05}
    model = package.CoxnetSurvivalAnalysis(**path_parameters, fit_baseline_model=True)
    extra_ratios = [0.02] * (4 * data_size.n_features <= data_size.min_training_rows)
    return model, {"alpha_min_ratio": [0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.05, *extra_ratios]}


def _build_survival_forest(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    package = import_or_raise("survival-forest", "sksurv.ensemble", "survival")
    p = data_size.n_features
    # Unlike the learner `forest`, no setting tries all features at a split.
    # The time of a fit grows with the number of features tried.
    feature_counts = sorted({max(1, n) for n in (round(p**0.5 / 2), int(p**0.5), p // 3)})
    # This is the number of features for which scikit-survival's default "sqrt" stands.
    default_n_features = max(1, int(p**0.5))
    model = package.RandomSurvivalForest(
        n_estimators=100, max_features=default_n_features, random_state=_RANDOM_STATE
    )
    return model, {"max_features": feature_counts}


def import_or_raise(name: str, module: str, extra_name: str) -> Any:
    """Import and return the package that a learner needs.

    If it is missing, raise MissingExtra with the command that installs it.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(
            f"the learner {name!r} needs a package: pip install 'truerisk[{extra_name}]'."
        ) from None


def _standardise_target(model: Any) -> Any:
    """Wrap a model so that y is standardised, because some hyperparameters have the unit of y."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler

    return TransformedTargetRegressor(regressor=model, transformer=StandardScaler())


def _select_values_up_to(values: Sequence[int], limit: int) -> list[int]:
    """Return the values that do not exceed the limit; the first value is always kept."""
    return [value for value in values if value <= max(limit, values[0])]


# Boosting packages handle categories and missing values, so neither is encoded or imputed before.
# One fit with the most trees gives the results for all smaller numbers of trees in a grid.
# Each package uses one thread, because an executor runs fits in parallel.
# Threads of several fits that wait for each other cost far more time than they save.

TREE_COUNTS = [25, 50, 100, 200]
LEAF_COUNTS = [7, 31]
TREE_DEPTHS = [3, 6]
# With half of this learning rate, twice as many trees would give a similar result.
LEARNING_RATE = 0.1
# A leaf has at least this number of rows, which is the default of the boosting packages.
MIN_LEAF_ROWS = 20
# A training set with fewer than this number times MIN_LEAF_ROWS rows may have smaller leaves.
MIN_LEAVES_PER_FOLD = 8


def _build_boosting(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    is_classification = task == "classification"
    booster_class = (
        HistGradientBoostingClassifier if is_classification else HistGradientBoostingRegressor
    )
    # Early stopping would set aside some of the few rows of a fold as validation rows.
    model = booster_class(
        learning_rate=LEARNING_RATE,
        min_samples_leaf=_min_leaf_rows(data_size),
        early_stopping=False,
        categorical_features=list(data_size.categorical_columns) or None,
        random_state=_RANDOM_STATE,
    )
    return model, {"max_iter": TREE_COUNTS, "max_leaf_nodes": LEAF_COUNTS}


def _build_xgboost(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    package = import_or_raise("xgboost", "xgboost", "xgboost")
    model_arguments: dict[str, Any] = {"random_state": _RANDOM_STATE, "n_jobs": 1}
    if data_size.categorical_columns:
        model_arguments["enable_categorical"] = True
        model_arguments["feature_types"] = [
            "c" if j in data_size.categorical_columns else "q" for j in range(data_size.n_features)
        ]
    from truerisk.models.labelled_xgboost import LabelledXGBClassifier

    booster_class = LabelledXGBClassifier if task == "classification" else package.XGBRegressor
    return booster_class(learning_rate=LEARNING_RATE, **model_arguments), {
        "n_estimators": TREE_COUNTS,
        "max_depth": TREE_DEPTHS,
    }


def _build_lightgbm(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    import_or_raise("lightgbm", "lightgbm", "lightgbm")
    from truerisk.models import levelled_lightgbm as levelled

    is_classification = task == "classification"
    booster_class = (
        levelled.CategoricalLGBMClassifier
        if is_classification
        else levelled.CategoricalLGBMRegressor
    )
    column_arguments = (
        {"categorical_feature": list(data_size.categorical_columns)}
        if data_size.categorical_columns
        else {}
    )
    min_leaf_rows = _min_leaf_rows(data_size)
    model_arguments = {
        "learning_rate": LEARNING_RATE,
        "min_child_samples": min_leaf_rows,
        "n_jobs": 1,
        "verbose": -1,
    }
    model = booster_class(random_state=_RANDOM_STATE, **model_arguments, **column_arguments)
    return model, {"n_estimators": TREE_COUNTS, "num_leaves": LEAF_COUNTS}


def _build_catboost(task: TaskName, data_size: DataSize) -> tuple[Any, Grid]:
    import_or_raise("catboost", "catboost", "catboost")
    from truerisk.models import levelled_catboost as levelled

    is_classification = task == "classification"
    booster_class = (
        levelled.CategoricalCatBoostClassifier
        if is_classification
        else levelled.CategoricalCatBoostRegressor
    )
    column_arguments = (
        {"cat_features": list(data_size.categorical_columns)}
        if data_size.categorical_columns
        else {}
    )
    # This is the number of iterations per leaf that CatBoost chooses for 200 trees.
    # With its choice for fewer trees, a fit would differ from the first trees of a longer fit.
    leaf_iterations = 10 if data_size.n_classes == 2 else 1
    model_arguments = {
        "learning_rate": LEARNING_RATE,
        "leaf_estimation_iterations": leaf_iterations,
        "thread_count": 1,
    }
    silent_arguments = {"verbose": 0, "allow_writing_files": False}
    model = booster_class(
        random_state=_RANDOM_STATE, **model_arguments, **silent_arguments, **column_arguments
    )
    return model, {"iterations": TREE_COUNTS, "depth": TREE_DEPTHS}


def _min_leaf_rows(data_size: DataSize) -> int:
    """Return the minimum number of rows of a leaf, which is lower for small training sets.

    With the usual minimum, trees could not split small training sets.
    """
    return max(1, min(MIN_LEAF_ROWS, data_size.min_training_rows // MIN_LEAVES_PER_FOLD))


_CLASSIFICATION: tuple[TaskName, ...] = ("classification",)
_REGRESSION: tuple[TaskName, ...] = ("regression",)
_CLASSIFICATION_AND_REGRESSION: tuple[TaskName, ...] = ("classification", "regression")
_SURVIVAL: tuple[TaskName, ...] = ("survival",)

knn = Learner(_CLASSIFICATION_AND_REGRESSION, scale=True, build=_build_knn)
lda = Learner(_CLASSIFICATION, scale=True, build=_build_lda)
logistic = Learner(_CLASSIFICATION, scale=True, build=_build_logistic)
ridge = Learner(_REGRESSION, scale=True, build=_build_ridge)
lasso = Learner(_REGRESSION, scale=True, build=_build_lasso)
svm = Learner(_CLASSIFICATION_AND_REGRESSION, scale=True, build=_build_svm)
tree = Learner(_CLASSIFICATION_AND_REGRESSION, scale=False, build=_build_tree)
forest = Learner(_CLASSIFICATION_AND_REGRESSION, scale=False, build=_build_forest)
logistic_path = Learner(("classification",), scale=True, build=_build_logistic_path)
cox = Learner(_SURVIVAL, scale=True, build=_build_cox)
cox_lasso = Learner(_SURVIVAL, scale=True, build=_build_cox_lasso)
survival_forest = Learner(_SURVIVAL, scale=False, build=_build_survival_forest)
boosting = Learner(
    _CLASSIFICATION_AND_REGRESSION, scale=False, build=_build_boosting, levels="codes"
)
xgboost = Learner(_CLASSIFICATION_AND_REGRESSION, scale=False, build=_build_xgboost, levels="codes")
lightgbm = Learner(
    _CLASSIFICATION_AND_REGRESSION, scale=False, build=_build_lightgbm, levels="codes"
)
catboost = Learner(
    _CLASSIFICATION_AND_REGRESSION, scale=False, build=_build_catboost, levels="objects"
)
