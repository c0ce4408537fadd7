"""The lecture's practical work: learners on the ozone data, tuned inside, tested outside."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from truerisk import RocCurve
from truerisk.datasets import load
from truerisk.experiments.experiment import Draws, answered, evaluated, experiment, plan_of, stream
from truerisk.experiments.figures import Panel, PaperTable, Parts, Series
from truerisk.extend import Data, Family
from truerisk.losses import AUC, Squared, ZeroOne
from truerisk.methods import GivenSplits, KFold, Nested

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
MANY = 5000  # iterations
SEEDED: dict[str, Any] = {"random_state": 0}
THRESHOLD = 150  # threshold of the observed concentration
TEST_SHARE = 0.2
FOLDS = 5


def _replicate(seed: int, number: int) -> Draws:
    """Test a random fifth of the rows, after tuning on the others by 5-fold cross-validation."""
    X, level = _forecasts()
    rng = stream("insa ozone", seed, number)
    test, train = np.split(rng.permutation(len(level)), [round(TEST_SHARE * len(level))])
    split = np.sort(train), np.sort(test)
    method, own = Nested(GivenSplits((split,)), KFold(FOLDS)), int(rng.integers(2**63))
    numbers = Data.check(X, level, task="regression")
    classes = Data.check(X, (level > THRESHOLD).astype(int), task="classification")
    plan, truth = plan_of(classes.n_rows, split), classes.codes_of(split[1])
    squared, wrong = np.empty((2, len(LEARNERS)))
    scores = []
    for place, name in enumerate(LEARNERS):
        for data, loss, risks in ((numbers, Squared(), squared), (classes, ZeroOne(), wrong)):
            family = ozone_family(name, data.task)
            found = evaluated(method, family, data, loss, own)
            assert found.procedure is not None
            risks[place] = found.procedure.value
        winner = family.candidates[found.units[0].candidate]  # The winner among the classifiers.
        ranks = answered(Family(family.estimator, (winner,)), classes, AUC(), plan)
        scores.append(ranks.values[0])
    areas = [RocCurve.from_scores(truth, of, positive=1).auc for of in scores]
    return {
        "squared": squared,
        "zero-one": wrong,
        "1 − AUC": 1 - np.array(areas),
        "scores": np.array(scores),
        "truth": truth,
    }


@lru_cache(maxsize=1)
def _forecasts() -> tuple[np.ndarray, np.ndarray]:
    """Return the data with the square root of the humidity and logarithms of nitrogen oxides."""
    data = load("ozone-level")
    X, names = data.X.copy(), list(data.feature_names)
    X[:, names.index("RMH2O")] **= 0.5
    for name in ("NO", "NO2"):
        X[:, names.index(name)] = np.log(X[:, names.index(name)])
    return X, data.y


@experiment(_replicate, replicates=10, quick=2, unit="splits", check=_forecasts)
def insa_ozone(draws: Draws) -> Parts:
    """INSA lecture: tuned learners on the ozone data.

    inner {FOLDS}-fold, outer Monte-Carlo; the concentration, and whether it exceeds {THRESHOLD}

    the lecture shows box plots and ROC curves and prints no numbers.

    the splits overlap, so the standard errors say how far the mean over all splits of these 1041
    rows is known, not the risk on other days.

    rows of one day at five stations are taken as independent, as in the lecture.
    """
    for name, panel, unit, digits in (
        ("squared", "concentration", ", (µg/m³)²", 1),
        ("zero-one", f"concentration > {THRESHOLD}", "", 4),
        ("1 − AUC", "", "", 4),
    ):
        risks = dict(zip(LEARNERS, draws[name].T, strict=True))
        yield PaperTable.from_values(f"mean test risk ({name})", "document", risks, digits=digits)
        if panel:
            yield Panel.boxes(panel, f"test risk ({name}{unit})", risks)
    curves = []
    for label, scores in zip(LEARNERS, draws["scores"][0], strict=True):
        roc = RocCurve.from_scores(draws["truth"][0], scores, positive=1)
        curves.append(Series(f"{label}, area {roc.auc:.3f}", roc.fpr, roc.tpr))
    curves.append(Series("chance", np.array([0.0, 1.0]), np.array([0.0, 1.0]), "k:", 0.8))
    title, axes = "ROC on the first test sample", ("false positive rate", "true positive rate")
    yield Panel(title, *axes, tuple(curves))


# ---------------------------------------------------------------- the learners, with their grids


def _lasso_of_classes() -> LogisticRegression:
    """Return L1 logistic regression for any version of scikit-learn.

    It uses the parameter `penalty` before scikit-learn 1.8, and `l1_ratio` since.
    """
    options = {"solver": "liblinear", "max_iter": MANY, **SEEDED}
    if LogisticRegression().get_params()["penalty"] == "deprecated":
        return LogisticRegression(l1_ratio=1.0, **options)
    return LogisticRegression(penalty="l1", **options)


OF_LEAVES = {"min_samples_leaf": [5, 10, 20, 40, 80]}
OF_FEATURES = {"max_features": [2, 4, 8]}
OF_STEPS = {"n_estimators": [50, 150], "max_depth": [2, 4]}
OF_DECAY = {"alpha": [0.01, 1.0, 10.0]}
BOOSTED = {"subsample": 0.7, "learning_rate": 0.05, **SEEDED}
NET = {"early_stopping": True, "learning_rate_init": 0.01, "max_iter": 1000, **SEEDED}
MODELS: dict[str, dict[str, tuple[Any, dict[str, list[Any]]]]] = {
    "classification": {
        # A small penalty is needed, because stations and their squares are collinear.
        "linear": (LogisticRegression(C=1e4, max_iter=MANY), {}),
        "lasso": (_lasso_of_classes(), {"C": [0.01, 0.03, 0.1, 0.3, 1.0]}),
        "SVM": (SVC(), {"C": [0.3, 1.0, 3.0], "gamma": [0.03, 0.1]}),
        "tree": (DecisionTreeClassifier(**SEEDED), OF_LEAVES),
        "forest": (RandomForestClassifier(100, **SEEDED), OF_FEATURES),
        "boosting": (GradientBoostingClassifier(**BOOSTED), OF_STEPS),
        "neural net": (MLPClassifier(hidden_layer_sizes=(16,), **NET), OF_DECAY),
    },
    "regression": {
        "linear": (LinearRegression(), {}),
        "lasso": (Lasso(max_iter=MANY), {"alpha": [0.03, 0.1, 0.3, 1.0, 3.0]}),
        "SVM": (SVR(epsilon=5.0), {"C": [10.0, 30.0, 100.0], "gamma": [0.03, 0.1]}),
        "tree": (DecisionTreeRegressor(**SEEDED), OF_LEAVES),
        "forest": (RandomForestRegressor(100, **SEEDED), OF_FEATURES),
        "boosting": (GradientBoostingRegressor(**BOOSTED), OF_STEPS),
        "neural net": (MLPRegressor(hidden_layer_sizes=(16,), **NET), OF_DECAY),
    },
}


def ozone_family(label: str, task: str) -> Family:
    """Return a learner of `LEARNERS`, with standardised features and products."""
    name, _, interactions = label.partition(", ")
    model, grid = MODELS[task][name]
    steps = [] if name in ("tree", "forest") else [StandardScaler()]
    if interactions:
        steps += [PolynomialFeatures(2, include_bias=False), StandardScaler()]
    pipeline = make_pipeline(*steps, model)
    step = pipeline.steps[-1][0]
    return Family.from_grid(pipeline, {f"{step}__{key}": values for key, values in grid.items()})
