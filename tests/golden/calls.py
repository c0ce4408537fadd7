"""The calls: each verb with the learners, methods, losses and rows that change its answer."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, RepeatedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr

__all__ = ["calls"]

Call = Callable[[], Any]

# The last bits of drawn numbers are the processor's, and fingerprints and marks of rows are made of
# bits: rounded numbers have the same ones everywhere.
X, Y = tr.datasets.make_difficult(80, random_state=0)
X = X.round(10)
_RNG = np.random.default_rng(0)
AMOUNT = (X @ np.array([1.0, -0.5]) + _RNG.normal(size=80)).round(10)
KIND = np.digitize(X[:, 0] + 0.3 * _RNG.normal(size=80), [-0.5, 0.8])
WEIGHTS = _RNG.uniform(0.5, 2.0, 80)
GROUPS = np.arange(80) // 2
TIME = np.arange(80)
SIDE = np.arange(80) // 16
COSTS = {"cost": tr.losses.Cost([[0, 1], [4, 0]])}

KNN = KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}
LDA = LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.0, 0.5]}
BAYES = GaussianNB(), {"var_smoothing": [1e-9, 0.1]}
TREE = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}
LINE = make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 1.0]}
SVM = SVC(), {"C": [0.5, 2.0], "gamma": [0.1, 1.0]}
FOREST = RandomForestClassifier(10, random_state=0), {"max_features": [1, 2]}
RIDGE = Ridge(), {"alpha": [0.1, 10.0]}
LASSO = make_pipeline(StandardScaler(), Lasso()), {"lasso__alpha": [0.01, 0.1]}
NEAR = KNeighborsRegressor(), {"n_neighbors": [1, 5]}

CLASSIFIERS = {"knn": KNN, "lda": LDA, "bayes": BAYES, "tree": TREE, "line": LINE, "svm": SVM,
               "forest": FOREST}  # fmt: skip
REGRESSORS = {"ridge": RIDGE, "lasso": LASSO, "near": NEAR}
METHODS = (
    "apparent", "holdout", "5-fold", "3x4-fold", "loo", "monte-carlo", "reversed 4-fold",
    "three-way", "complete", "oob", "bootstrap", ".632", ".632+", "optimism", "exact-oob",
    "swapping", "bee", "bee-improper", "bolstered", "ncv", "bbc", "paired-halves", "pairs",
    "racing", "nested",
)  # fmt: skip
CRITERIA = ("cp", "gcv", "aic", "aicc", "bic", "ebic", "alo")
LOSSES = ("zero-one", "log", "brier", "auc", "f1", "mcc", "balanced-accuracy", "kappa",
          "average-precision", "jaccard", "neg_log_loss", "cost")  # fmt: skip
ROWS: dict[str, dict[str, Any]] = {
    "weights": {"sample_weight": WEIGHTS},
    "groups": {"groups": GROUPS},
    "time": {"time": TIME},
    "block": {"block": SIDE},
}


def calls() -> dict[str, Call]:
    """Every call by its name."""
    return dict([*_estimates(), *_searches(), *_assessments(), *_further()])


def _estimates() -> Iterator[tuple[str, Call]]:
    lda, knn, line = LDA[0], KNN[0], LINE[0]
    for word in METHODS:
        yield f"estimate lda {word}", lambda word=word: tr.estimate_risk(lda, X, Y, cv=word)
        if word not in ("bee", "bee-improper", "bolstered", "swapping", "ncv"):
            yield (
                f"curve knn {word}",
                lambda word=word: tr.risk_curve(*KNN, X, Y, cv=word),
            )
    for word in CRITERIA:
        yield (
            f"estimate ridge {word}",
            lambda word=word: tr.estimate_risk(LinearRegression(), X, AMOUNT, cv=word),
        )
        yield f"curve ridge {word}", lambda word=word: tr.risk_curve(*RIDGE, X, AMOUNT, cv=word)
    for loss in LOSSES:
        yield (
            f"estimate line {loss}",
            lambda loss=loss: tr.estimate_risk(line, X, Y, scoring=COSTS.get(loss, loss)),
        )
        yield (
            f"estimate of three classes {loss}",
            lambda loss=loss: tr.estimate_risk(line, X, KIND, scoring=COSTS.get(loss, loss)),
        )
    for loss in ("squared", "absolute", "r2", "neg_mean_absolute_percentage_error"):
        yield (
            f"estimate near {loss}",
            lambda loss=loss: tr.estimate_risk(NEAR[0], X, AMOUNT, scoring=loss),
        )
    for word in tr.intervals.names():
        for method in ("5-fold", "2x5-fold", "pairs"):
            yield (
                f"interval {word} of {method}",
                lambda word=word, method=method: tr.estimate_risk(
                    knn, X, Y, cv=method, interval=word
                ),
            )
    for word, rows in {"forward-3": "time", "purged-4": "time", "blocks-4": "block"}.items():
        yield (
            f"curve knn {word}",
            lambda word=word, rows=rows: tr.risk_curve(*KNN, X, Y, cv=word, **ROWS[rows]),
        )
    yield (
        "estimate groups apart",
        lambda: tr.estimate_risk(
            knn, X, Y, cv=RepeatedKFold(n_splits=4, n_repeats=2, random_state=0), groups=GROUPS
        ),
    )
    for name, rows in ROWS.items():
        yield (
            f"estimate with {name}",
            lambda rows=rows: tr.estimate_risk(GaussianNB(), X, Y, **rows),
        )
    yield (
        "estimate scores",
        lambda: tr.estimate_risk(line, X, Y, scoring=["zero-one", "auc", "log", "f1"]),
    )
    yield "estimate of a search", lambda: tr.estimate_risk(GridSearchCV(*KNN), X, Y)
    yield (
        "estimate repeated splitter",
        lambda: tr.estimate_risk(
            knn, X, Y, cv=RepeatedKFold(n_splits=4, n_repeats=2, random_state=0)
        ),
    )


def _search(learner: Any, X: Any, y: Any, rows: dict[str, Any], **words: Any) -> dict[str, Any]:
    search = tr.HonestSearchCV(*learner, **words).fit(X, y, **rows)
    names = ("best_params_", "best_score_", "risk_", "selected_risk_", "optimism_", "stability_")
    return {name: getattr(search, name) for name in names if hasattr(search, name)} | {
        f"scores_ {name}": score for name, score in getattr(search, "scores_", {}).items()
    }


def _searches() -> Iterator[tuple[str, Call]]:
    for name, learner in CLASSIFIERS.items():
        for word in ("pairs", "4-fold"):
            yield (
                f"search {name} outer {word}",
                lambda learner=learner, word=word: _search(learner, X, Y, {}, outer=word),
            )
        yield (
            f"search {name} by auc, cv=5",
            lambda learner=learner: _search(learner, X, Y, {}, cv=5, scoring="roc_auc"),
        )
    for name, learner in REGRESSORS.items():
        yield f"search {name}", lambda learner=learner: _search(learner, X, AMOUNT, {})
        yield (
            f"search {name} by r2, cv=4",
            lambda learner=learner: _search(learner, X, AMOUNT, {}, cv=4, scoring="r2"),
        )
    for name, rows in ROWS.items():
        yield f"search with {name}", lambda rows=rows: _search(BAYES, X, Y, rows)
    for word in ("10-fold", "3x4-fold", "loo", ".632+", "racing", "swapping", "bbc"):
        yield f"search by {word}", lambda word=word: _search(KNN, X, Y, {}, cv=word)
    yield "search 1-se", lambda: _search(KNN, X, Y, {}, rule="1-se")
    yield (
        "search scores",
        lambda: _search(LINE, X, Y, {}, scoring=["zero-one", "auc", "log", "brier", "f1"]),
    )


def _assessments() -> Iterator[tuple[str, Call]]:
    yield "assess", lambda: tr.assess({"knn": KNN, "lda": LDA, "tree": TREE}, X, Y)
    yield (
        "assess by brier",
        lambda: tr.assess({"line": LINE, "bayes": BAYES}, X, Y, scoring="brier"),
    )
    yield (
        "assess scores",
        lambda: tr.assess(
            {"line": LINE, "knn": KNN}, X, Y, scoring=["zero-one", "auc", "f1"], positive=0
        ),
    )
    yield (
        "assess nested",
        lambda: tr.assess({"knn": KNN, "tree": TREE}, X, Y, cv=["4-fold", "loo"], outer="3-fold"),
    )
    yield "assess amounts", lambda: tr.assess(REGRESSORS, X, AMOUNT)
    yield "assess three classes", lambda: tr.assess({"knn": KNN, "bayes": BAYES}, X, KIND)
    yield "assess words", lambda: tr.assess(["knn", "lda"], X, Y)
    for name, rows in ROWS.items():
        yield (
            f"assess with {name}",
            lambda rows=rows: tr.assess({"tree": TREE, "bayes": BAYES}, X, Y, **rows),
        )
    yield (
        "assess learning curve",
        lambda: tr.assess({"knn": KNN, "lda": LDA}, X, Y, learning_curve="cheap"),
    )
    yield (
        "assess validate",
        lambda: tr.assess({"line": LINE, "bayes": BAYES}, X, Y, validate={"replicates": 5}),
    )


def _further() -> Iterator[tuple[str, Call]]:
    for level in ("scores", "bbc", "pairs", "nested"):
        yield (
            f"audit {level}",
            lambda level=level: tr.audit(GridSearchCV(*KNN).fit(X, Y), X, Y, level=level),
        )
    yield "audit amounts", lambda: tr.audit(GridSearchCV(*RIDGE).fit(X, AMOUNT), X, AMOUNT)
    for name, learner in {"line": LINE, "knn": KNN}.items():
        yield (
            f"validate {name}",
            lambda learner=learner: tr.validate(
                tr.HonestSearchCV(*learner), X, Y, replicates=5, clip=0.01
            ),
        )
    yield "validate amounts", lambda: tr.validate(Ridge(), X, AMOUNT, replicates=5)
    yield (
        "validate subgroups",
        lambda: tr.validate(LogisticRegression(), X, Y, replicates=5, subgroups={"side": SIDE}),
    )
    for word in ("paired-cv", "nadeau-bengio", "bayes", "mcnemar"):
        yield f"compare {word}", lambda word=word: _compared(word)
    yield "learning curve", lambda: tr.learning_curve(GaussianNB(), X, Y)
    yield (
        "learning curve of a search",
        lambda: tr.learning_curve(tr.HonestSearchCV(*BAYES), X, Y, sizes=[16, 24, 36, 64]),
    )
    yield "plan of a curve", lambda: tr.plan_sample(tr.learning_curve(GaussianNB(), X, Y), n=200)
    yield (
        "rows to develop a model",
        lambda: tr.plan_development(parameters=24, prevalence=0.174, auc=0.89),
    )
    yield (
        "rows to validate a model",
        lambda: tr.plan_validation(prevalence=0.1, auc=0.75, threshold=0.1),
    )
    yield "plan by width", lambda: tr.plan_sample(0.2, width=0.1)
    yield "permutation test", lambda: tr.permutation_test(LDA[0], X, Y, n_permutations=19)
    yield (
        "permutation test of a search",
        lambda: tr.permutation_test(tr.HonestSearchCV(*BAYES), X, Y, n_permutations=9),
    )


def _compared(word: str) -> Any:
    method = "pairs" if word == "paired-cv" else "5-fold"
    a, b = (tr.estimate_risk(one, X, Y, cv=method) for one in (KNN[0], LDA[0]))
    return tr.compare(a, b, test=word)
