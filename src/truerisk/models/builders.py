"""One learner per name: the estimator, and a small grid that fits the size of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal

from truerisk.core.errors import MissingExtra
from truerisk.core.frozen import frozen

TaskWord = Literal["classification", "regression", "survival"]
Levels = Literal["indicators", "codes", "objects"]
Grid = dict[str, list[Any]]

_SEED = 0  # Trees break ties at random, and the same data must give the same tree.
_MANY_ITERATIONS = 5_000


@frozen
class Size:
    """The properties of the data on which a grid depends; `n_classes` is 0 without classes.

    A training set has at least one of `parts` equal parts of the rows: half of them in 2-fold
    cross-validation, a sixth if five forecasts follow each other. `indicators` says whether text
    columns are converted to indicators, which sum to 1 for each of them. Otherwise `n_levels` is
    the number of categorical columns, which come last.
    """

    n_rows: int
    n_features: int
    n_classes: int
    indicators: bool = False
    n_levels: int = 0
    parts: int = 2

    @property
    def levels(self) -> tuple[int, ...]:
        """Positions of the categorical columns in the learner's input."""
        return tuple(range(self.n_features - self.n_levels, self.n_features))

    @property
    def smallest_fold(self) -> int:
        """Minimum number of rows of a training set."""
        return max(1, self.n_rows // self.parts)


Builder = Callable[[TaskWord, Size], tuple[Any, Grid]]


@frozen
class Learner:
    """Entry of the registry of learners: tasks, preparation, and a function that builds it.

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

    tasks: tuple[TaskWord, ...]
    scale: bool
    build: Builder
    levels: Levels = "indicators"


def _knn(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    model = KNeighborsClassifier() if task == "classification" else KNeighborsRegressor()
    # More neighbours than training rows would be an error.
    most = max(1, size.n_rows // size.parts**2)
    return model, {"n_neighbors": _up_to((1, 3, 5, 7, 9, 13, 19, 27, 39), most)}


def _lda(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    from truerisk.models.discriminant_analysis import LinearDiscriminant

    shrinkages = [0.01, 0.03, 0.1, 0.3, 0.6, 0.9]
    # scikit-learn's class would form a p × p matrix to shrink it.
    if size.n_features > size.n_rows:
        return LinearDiscriminant(solver="auto", divisor="n"), {"shrinkage": shrinkages}
    # With a singular scatter, least squares returns rounding noise, which changes labels.
    inverts = size.smallest_fold - size.n_classes >= size.n_features and not size.indicators
    # The default is no shrinkage, which 0 says in a number.
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.0 if inverts else None)
    return model, {"shrinkage": [*[0.0] * inverts, *shrinkages]}


def _logistic(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    from sklearn.linear_model import LogisticRegression

    # The default is a ridge penalty; naming it is deprecated from scikit-learn 1.8 on. With a
    # smaller tol, rounding errors accumulate over more steps: at C = 100 two orders of the same
    # rows give visibly different results.
    model = LogisticRegression(max_iter=_MANY_ITERATIONS)
    return model, {"C": [0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0, 100.0]}


def _svm(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    from sklearn.svm import SVC, SVR

    widths = [float(f"{factor / size.n_features:.3g}") for factor in (0.1, 0.3, 1.0)]
    costs = [0.1, 1.0, 10.0]
    usual = widths[-1]  # The default "scale" is 1/p for standardised columns.
    if task == "classification":
        return SVC(kernel="rbf", gamma=usual), {"C": costs, "gamma": widths}
    return _standardised_target(SVR(kernel="rbf", gamma=usual)), {
        "regressor__C": costs,
        "regressor__gamma": widths,
    }


def _tree(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if task == "classification" else DecisionTreeRegressor
    leaves = _up_to((1, 2, 3, 5, 8, 13, 20, 30), size.smallest_fold // 2)
    return kind(random_state=_SEED), {"min_samples_leaf": leaves}


def _forest(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if task == "classification" else RandomForestRegressor
    p = size.n_features
    # These are the defaults "sqrt" and 1.0.
    usual = max(1, int(p**0.5)) if task == "classification" else p
    tried = sorted({max(1, n) for n in (round(p**0.5 / 2), int(p**0.5), p // 3, p)})
    model = kind(n_estimators=100, max_features=usual, random_state=_SEED)
    return model, {"max_features": tried}


def _ridge(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    from sklearn.linear_model import Ridge

    return Ridge(), {"alpha": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]}


def _lasso(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    from sklearn.linear_model import Lasso

    model = _standardised_target(Lasso(max_iter=_MANY_ITERATIONS))
    return model, {"regressor__alpha": [0.003, 0.01, 0.03, 0.1, 0.3, 1.0]}


def _cox(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    package = imported("cox", "sksurv.linear_model", "survival")
    # The default penalty is small: without a penalty, indicators, which sum to 1, have no unique
    # solution.
    model = package.CoxPHSurvivalAnalysis(alpha=0.1)
    return model, {"alpha": [0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0]}


def _cox_lasso(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    package = imported("cox-lasso", "sksurv.linear_model", "survival")
    # The path depends on the rows, from the penalty that leaves one feature down to a share of it:
    # a single penalty can leave no feature, which is refused, or overflow. A survival curve is
    # fitted, too.
    usual = {"l1_ratio": 1.0, "n_alphas": 10, "alpha_min_ratio": 0.05}
    model = package.CoxnetSurvivalAnalysis(**usual, fit_baseline_model=True)
    few = [0.02] * (4 * size.n_features <= size.smallest_fold)
    return model, {"alpha_min_ratio": [0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.05, *few]}


def _survival_forest(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    package = imported("survival-forest", "sksurv.ensemble", "survival")
    p = size.n_features
    # Unlike `forest`, it does not try all features: a fit takes as many times longer as it tries
    # more features.
    tried = sorted({max(1, n) for n in (round(p**0.5 / 2), int(p**0.5), p // 3)})
    usual = max(1, int(p**0.5))  # This is the default "sqrt".
    model = package.RandomSurvivalForest(n_estimators=100, max_features=usual, random_state=_SEED)
    return model, {"max_features": tried}


def imported(name: str, module: str, extra: str) -> Any:
    """Return the module that a learner needs, or raise with the command that installs it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(
            f"the learner {name!r} needs a package: pip install 'truerisk[{extra}]'."
        ) from None


def _standardised_target(model: Any) -> Any:
    """Return the model with standardised y, for learners whose settings have y's unit."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler

    return TransformedTargetRegressor(regressor=model, transformer=StandardScaler())


def _up_to(values: Sequence[int], most: int) -> list[int]:
    """Return the values that do not exceed `most`, but always the first one."""
    return [value for value in values if value <= max(most, values[0])]


# Boosters handle text as categories and accept missing values, so that neither is encoded or
# imputed before them. The numbers of trees in a grid are read from one fit, so that the grid takes
# as long as its largest number. The packages use one thread each: an executor runs fits in
# parallel, and threads of several fits that wait for each other cost far more time than they save.

TREES = [25, 50, 100, 200]
LEAVES = [7, 31]
DEPTHS = [3, 6]
RATE = 0.1  # Half of this rate needs twice the trees, with a similar result.
LEAST_LEAF = 20  # Minimum number of rows of a leaf, as in the packages …
LEAVES_OF_FOLD = 8  # … if a fold has at least this many times as many rows.


def _boosting(task: TaskWord, size: Size) -> tuple[Any, Grid]:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    classes = task == "classification"
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    # An early-stopping set would be taken from the few rows of a fold.
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
    # These are its choices for 200 trees. It chooses differently for fewer, and the fits would
    # differ.
    steps = 10 if size.n_classes == 2 else 1
    given = {"learning_rate": RATE, "leaf_estimation_iterations": steps, "thread_count": 1}
    quiet = {"verbose": 0, "allow_writing_files": False}
    model = kind(random_state=_SEED, **given, **quiet, **levels)
    return model, {"iterations": TREES, "depth": DEPTHS}


def _least_leaf(size: Size) -> int:
    """Return the minimum number of rows of a leaf, reduced if a fold would allow no split."""
    return max(1, min(LEAST_LEAF, size.smallest_fold // LEAVES_OF_FOLD))


_CLASSES: tuple[TaskWord, ...] = ("classification",)
_NUMBERS: tuple[TaskWord, ...] = ("regression",)
_BOTH: tuple[TaskWord, ...] = ("classification", "regression")
_IN_TIME: tuple[TaskWord, ...] = ("survival",)

knn = Learner(_BOTH, scale=True, build=_knn)
lda = Learner(_CLASSES, scale=True, build=_lda)
logistic = Learner(_CLASSES, scale=True, build=_logistic)
ridge = Learner(_NUMBERS, scale=True, build=_ridge)
lasso = Learner(_NUMBERS, scale=True, build=_lasso)
svm = Learner(_BOTH, scale=True, build=_svm)
tree = Learner(_BOTH, scale=False, build=_tree)
forest = Learner(_BOTH, scale=False, build=_forest)
cox = Learner(_IN_TIME, scale=True, build=_cox)
cox_lasso = Learner(_IN_TIME, scale=True, build=_cox_lasso)
survival_forest = Learner(_IN_TIME, scale=False, build=_survival_forest)
boosting = Learner(_BOTH, scale=False, build=_boosting, levels="codes")
xgboost = Learner(_BOTH, scale=False, build=_xgboost, levels="codes")
lightgbm = Learner(_BOTH, scale=False, build=_lightgbm, levels="codes")
catboost = Learner(_BOTH, scale=False, build=_catboost, levels="objects")
