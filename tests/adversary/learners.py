"""Which learners are drawn, with their grids: all that fast engines know, and one more."""

from dataclasses import dataclass, field

import numpy as np
from tests.adversary.writing import Call

__all__ = ["LEARNERS", "Drawn", "Kind", "draw_learner"]

Texts = tuple[str, ...]
Grid = tuple[tuple[str, Texts], ...]
FLAGS = ("True", "False")
DEPTHS = ("1", "2", "3", "None")
LEAVES = ("1", "2", "5", "0.2")
PENALTIES = ("0", "1e-12", "1e-3", "0.1", "1.0", "10.0", "1e6")
METRICS = (
    "'euclidean'", "'manhattan'", "'chebyshev'", "'cosine'", "'minkowski'", "'sqeuclidean'",
    "'braycurtis'", "'canberra'", "'correlation'", "'hamming'",
)  # fmt: skip
KERNELS = ("'linear'", "'rbf'", "'poly'", "'laplacian'", "'sigmoid'", "'cosine'")
BALANCED = ("'balanced'",)
SEEDED = ("0", "1")
INNER = (
    "LogisticRegression()", "KNeighborsClassifier(3)", "SVC()",
    "DecisionTreeClassifier(max_depth=1, random_state=0)",
    "GridSearchCV(SVC(), {'C': [1, 10]}, cv=2)",
)  # fmt: skip
LINEAR = ("LogisticRegression()", "RidgeClassifier()")


@dataclass(frozen=True)
class Kind:
    """A class, what it does, the arguments that it may be given, and what may stand in its grid."""

    task: str
    given: dict[str, Texts] = field(default_factory=dict)
    tuned: dict[str, Texts] = field(default_factory=dict)
    widest: int | None = None  # columns
    classes: int | None = None  # at most
    orderless: bool = False  # whether the order of its columns changes rounding alone
    weighted: bool = True  # whether it takes weights of rows
    shares: bool = True  # whether it gives probabilities


@dataclass(frozen=True)
class Drawn:
    """One learner with its grid."""

    call: Call
    grid: Grid
    kind: Kind


TREE = {
    "max_depth": DEPTHS, "min_samples_leaf": LEAVES, "min_samples_split": ("2", "4", "0.3"),
    "max_leaf_nodes": ("None", "2", "5"), "min_impurity_decrease": ("0.0", "0.05"),
    "random_state": SEEDED,
}  # fmt: skip
PRUNED = {"ccp_alpha": ("0.0", "1e-3", "0.02", "0.1", "1.0"), "max_depth": DEPTHS}
FOREST = {
    "max_depth": DEPTHS, "bootstrap": FLAGS, "min_samples_leaf": LEAVES,
    "max_features": ("1.0", "'sqrt'", "1"), "random_state": SEEDED,
}  # fmt: skip
MEMBERS = {"n_estimators": ("1", "2", "5", "8")}
BOOST = {
    "max_depth": ("1", "2"), "learning_rate": ("0.1", "1.0"), "subsample": ("1.0", "0.5"),
    "random_state": SEEDED,
}  # fmt: skip
BAG = {"max_samples": ("1.0", "0.5"), "bootstrap_features": FLAGS, "random_state": SEEDED}
ALWAYS = {"estimator", "regressor", "n_estimators", "cv"}
NEAREST = {
    "weights": ("'uniform'", "'distance'"), "metric": METRICS, "p": ("1", "2", "3"),
    "algorithm": ("'brute'", "'kd_tree'"),
}  # fmt: skip
NEIGHBOURS = {"n_neighbors": ("1", "2", "3", "5", "8", "15"), "weights": NEAREST["weights"]}
KERNEL = {"gamma": ("0.1", "1.0"), "degree": ("2", "3"), "coef0": ("0", "1.0")}
RIDGE = {"fit_intercept": FLAGS, "solver": ("'auto'", "'svd'", "'cholesky'"), "positive": ("True",)}
C, R = "classification", "regression"

LEARNERS: dict[str, Kind] = {
    "KNeighborsClassifier": Kind(C, NEAREST, NEIGHBOURS, weighted=False),
    "KNeighborsRegressor": Kind(R, NEAREST, NEIGHBOURS, weighted=False),
    "LinearDiscriminantAnalysis": Kind(
        C,
        {
            "solver": ("'svd'", "'lsqr'", "'eigen'"),
            "tol": ("1e-4", "1e-2"),
            "shrinkage": ("'auto'", "0.3"),
            "n_components": ("1",),
        },
        {"shrinkage": ("None", "0.0", "0.1", "0.5", "1.0", "'auto'")},
        orderless=True,
        weighted=False,
    ),
    "LinearDiscriminant": Kind(
        C,
        {"solver": ("'svd'", "'lsqr'", "'eigen'"), "divisor": ("'n'", "'n-K'")},
        {"shrinkage": ("None", "0.1", "0.9")},
        orderless=True,
        weighted=False,
    ),
    "QuadraticDiscriminantAnalysis": Kind(
        C,
        {"tol": ("1e-4", "1e-2"), "store_covariance": FLAGS},
        {"reg_param": ("0.0", "0.01", "0.5", "1.0")},
        orderless=True,
        weighted=False,
    ),
    "QuadraticDiscriminant": Kind(
        C,
        {"tol": ("1e-4",)},
        {"reg_param": ("0.0", "0.1", "0.9")},
        orderless=True,
        weighted=False,
    ),
    "FisherClassifier": Kind(
        C, {}, {"threshold": ("'least-squares'", "'balanced'")}, classes=2, shares=False
    ),
    "IntervalClassifier": Kind(
        C, {}, {"k": ("1", "2", "3", "7")}, widest=1, classes=2, weighted=False
    ),
    "ParzenClassifier": Kind(
        C, {"per_class": FLAGS}, {"width": ("0.1", "1.0", "5.0", "'lissack-fu'")}, weighted=False
    ),
    "LogisticPath": Kind(
        C,
        {"standardize": FLAGS, "n_lambdas": ("10", "30")},
        {"l1_ratio": ("0.0", "0.5", "1.0")},
        classes=2,
    ),
    "LogisticRegression": Kind(
        C,
        {
            "fit_intercept": FLAGS,
            "class_weight": BALANCED,
            "max_iter": ("20", "500"),
            "solver": ("'lbfgs'", "'liblinear'", "'newton-cg'"),
            "tol": ("1e-4", "1e-8"),
        },
        {"C": ("1e-4", "0.01", "1.0", "100.0", "1e6")},
    ),
    "SVC": Kind(
        C,
        {
            "kernel": ("'linear'", "'rbf'", "'poly'", "'sigmoid'"),
            "class_weight": BALANCED,
            "decision_function_shape": ("'ovo'", "'ovr'"),
            "tol": ("1e-3", "1e-8"),
        }
        | KERNEL,
        {"C": ("1e-3", "0.1", "1.0", "100.0"), "gamma": ("'scale'", "'auto'", "0.01", "1.0")},
        shares=False,
    ),
    "DecisionTreeClassifier": Kind(
        C, TREE | {"criterion": ("'gini'", "'entropy'"), "class_weight": BALANCED}, PRUNED
    ),
    "DecisionTreeRegressor": Kind(
        R, TREE | {"criterion": ("'squared_error'", "'absolute_error'")}, PRUNED
    ),
    "RandomForestClassifier": Kind(C, FOREST, MEMBERS),
    "RandomForestRegressor": Kind(R, FOREST, MEMBERS),
    "ExtraTreesClassifier": Kind(C, FOREST, MEMBERS),
    "ExtraTreesRegressor": Kind(R, FOREST, MEMBERS),
    "BaggingClassifier": Kind(C, BAG | {"estimator": ("None", *INNER)}, MEMBERS),
    "BaggingRegressor": Kind(R, BAG, MEMBERS),
    "AdaBoostClassifier": Kind(
        C, {"random_state": SEEDED, "estimator": ("None", *LINEAR)}, MEMBERS, shares=False
    ),
    "CalibratedClassifierCV": Kind(
        C, {"estimator": INNER, "cv": ("2", "3"), "method": ("'isotonic'",), "ensemble": FLAGS}
    ),
    "OneVsRestClassifier": Kind(C, {"estimator": INNER[:4]}, weighted=False, shares=False),
    "RFE": Kind(
        C,
        {"estimator": LINEAR},
        {"n_features_to_select": ("1", "0.5")},
        weighted=False,
        shares=False,
    ),
    "TransformedTargetRegressor": Kind(
        R,
        {
            "regressor": (
                "Ridge()",
                "KNeighborsRegressor()",
                "GridSearchCV(Ridge(), {'alpha': [1]})",
            ),
            "transformer": ("StandardScaler()",),
        },
        weighted=False,
    ),
    "GradientBoostingClassifier": Kind(C, BOOST, MEMBERS),
    "GradientBoostingRegressor": Kind(R, BOOST, MEMBERS),
    "SVR": Kind(R, {"kernel": ("'linear'", "'rbf'")}, {"C": ("0.1", "1.0", "100.0")}),
    "LinearRegression": Kind(
        R, {"fit_intercept": FLAGS, "positive": ("True",)}, {}, orderless=True
    ),
    "Ridge": Kind(R, RIDGE, {"alpha": PENALTIES}, orderless=True),
    "RidgeClassifier": Kind(
        C,
        {"fit_intercept": FLAGS, "class_weight": BALANCED},
        {"alpha": PENALTIES},
        orderless=True,
        shares=False,
    ),
    "ElasticNet": Kind(
        R,
        {"fit_intercept": FLAGS, "positive": ("True",), "tol": ("1e-2", "1e-8")},
        {"alpha": ("1e-6", "0.01", "1.0", "100.0"), "l1_ratio": ("0.1", "0.5", "1.0")},
    ),
    "Lasso": Kind(R, {"max_iter": ("3",)}, {"alpha": ("1e-6", "0.01", "1.0", "100.0")}),
    "KernelRidge": Kind(
        R, {"kernel": KERNELS} | KERNEL, {"alpha": PENALTIES, "gamma": ("0.1", "1.0")}
    ),
    "GaussianNB": Kind(C, {}, {"var_smoothing": ("1e-9", "0.1")}, orderless=True),
    "own.KNeighborsClassifier": Kind(C, {}, {"n_neighbors": ("1", "3", "5")}, weighted=False),
    "own.LinearDiscriminantAnalysis": Kind(
        C, {"solver": ("'lsqr'",)}, {"shrinkage": ("0.1", "0.9")}, weighted=False
    ),
    "own.Ridge": Kind(R, {}, {"alpha": PENALTIES}),
}


def draw_learner(rng: np.random.Generator, only: str | None = None) -> Drawn:
    """A learner, some arguments that are not as usual, and a grid of up to two parameters.

    A tenth has no grid; what would stand in it may then be an argument.
    """
    name = only or str(rng.choice(list(LEARNERS)))
    kind = LEARNERS[name]
    names = [one for one in kind.tuned if rng.random() < 0.8 or one in ALWAYS][:2]
    names = names if rng.random() < 0.9 else []
    grid = tuple((one, _some(rng, kind.tuned[one])) for one in names)
    given = tuple(
        (one, str(rng.choice(texts)))
        for one, texts in (kind.given | kind.tuned).items()
        if one not in names
        and (one in ALWAYS or rng.random() < (0.9 if one == "random_state" else 0.35))
    )
    return Drawn(Call(name, given), grid, kind)


def _some(rng: np.random.Generator, texts: Texts) -> Texts:
    """One to four of the values, in any order."""
    size = int(rng.integers(1, min(4, len(texts)) + 1))
    return tuple(str(one) for one in rng.choice(texts, size=size, replace=False))
