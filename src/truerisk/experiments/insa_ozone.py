"""Experiment on the lecture's practical work: nine learners on the ozone data.

They are tuned by inner folds and tested on outer rows.
"""

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
from truerisk.experiments.experiment import (
    Draws,
    evaluate_method,
    experiment,
    plan_from_splits,
    predict_plan,
    replicate_rng,
)
from truerisk.experiments.figures import FindingParts, Panel, PaperTable, Series
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
# This is the maximum number of iterations of the linear models.
MAX_ITERATIONS = 5000
SEED_ARGUMENT: dict[str, Any] = {"random_state": 0}
# Classes are defined by whether the observed concentration exceeds this threshold.
CONCENTRATION_THRESHOLD = 150
TEST_SHARE = 0.2
N_FOLDS = 5


def _replicate(seed: int, replicate_number: int) -> Draws:
    """Tune all learners by 5-fold cross-validation on 80 % of the rows; test them on the others."""
    X, concentration = _load_ozone_data()
    rng = replicate_rng("insa ozone", seed, replicate_number)
    test, train = np.split(
        rng.permutation(len(concentration)), [round(TEST_SHARE * len(concentration))]
    )
    split = np.sort(train), np.sort(test)
    method, fold_seed = Nested(GivenSplits((split,)), KFold(N_FOLDS)), int(rng.integers(2**63))
    regression_data = Data.check(X, concentration, task="regression")
    classification_data = Data.check(
        X, (concentration > CONCENTRATION_THRESHOLD).astype(int), task="classification"
    )
    plan, true_codes = (
        plan_from_splits(classification_data.n_rows, split),
        classification_data.codes_of(split[1]),
    )
    squared_risks, error_rates = np.empty((2, len(LEARNERS)))
    scores = []
    for learner_index, name in enumerate(LEARNERS):
        for data, loss, risks in (
            (regression_data, Squared(), squared_risks),
            (classification_data, ZeroOne(), error_rates),
        ):
            family = ozone_family(name, data.task)
            evaluation = evaluate_method(method, family, data, loss, fold_seed)
            assert evaluation.procedure is not None
            risks[learner_index] = evaluation.procedure.value
        # The inner folds chose this setting of the classifier.
        best_setting = family.candidates[evaluation.units[0].candidate]
        predictions = predict_plan(
            Family(family.estimator, (best_setting,)), classification_data, AUC(), plan
        )
        scores.append(predictions.values[0])
    auc_values = [
        RocCurve.from_scores(true_codes, learner_scores, positive=1).auc
        for learner_scores in scores
    ]
    return {
        "squared": squared_risks,
        "zero-one": error_rates,
        "1 − AUC": 1 - np.array(auc_values),
        "scores": np.array(scores),
        "truth": true_codes,
    }


@lru_cache(maxsize=1)
def _load_ozone_data() -> tuple[np.ndarray, np.ndarray]:
    """Return X and y; humidity is replaced by its square root, nitrogen oxides by logarithms."""
    data = load("ozone-level")
    X, names = data.X.copy(), list(data.feature_names)
    X[:, names.index("RMH2O")] **= 0.5
    for name in ("NO", "NO2"):
        X[:, names.index(name)] = np.log(X[:, names.index(name)])
    return X, data.y


@experiment(_replicate, replicates=10, quick=2, unit="splits", check=_load_ozone_data)
def insa_ozone(draws: Draws) -> FindingParts:
    """INSA lecture: tuned learners on the ozone data.

    inner {N_FOLDS}-fold, outer Monte-Carlo; the concentration, and whether it exceeds
    {CONCENTRATION_THRESHOLD}

    the lecture shows box plots and ROC curves and prints no numbers.

    the splits overlap, so the standard errors say how far the mean over all splits of these 1041
    rows is known, not the risk on other days.

    rows of one day at five stations are taken as independent, as in the lecture.
    """
    for name, panel_title, unit_text, digits in (
        ("squared", "concentration", ", (µg/m³)²", 1),
        ("zero-one", f"concentration > {CONCENTRATION_THRESHOLD}", "", 4),
        ("1 − AUC", "", "", 4),
    ):
        risks = dict(zip(LEARNERS, draws[name].T, strict=True))
        yield PaperTable.from_values(f"mean test risk ({name})", "document", risks, digits=digits)
        if panel_title:
            yield Panel.box_plot(panel_title, f"test risk ({name}{unit_text})", risks)
    curves = []
    for label, scores in zip(LEARNERS, draws["scores"][0], strict=True):
        roc = RocCurve.from_scores(draws["truth"][0], scores, positive=1)
        curves.append(Series(f"{label}, area {roc.auc:.3f}", roc.fpr, roc.tpr))
    curves.append(Series("chance", np.array([0.0, 1.0]), np.array([0.0, 1.0]), "k:", 0.8))
    title, axis_labels = (
        "ROC on the first test sample",
        ("false positive rate", "true positive rate"),
    )
    yield Panel(title, *axis_labels, tuple(curves))


# ---------------------------------------------------------------- the learners, with their grids


def _l1_logistic() -> LogisticRegression:
    """Return L1 logistic regression, for any version of scikit-learn.

    L1 is requested by the parameter `penalty` before scikit-learn 1.8, and by `l1_ratio` since.
    """
    solver_arguments = {"solver": "liblinear", "max_iter": MAX_ITERATIONS, **SEED_ARGUMENT}
    if LogisticRegression().get_params()["penalty"] == "deprecated":
        return LogisticRegression(l1_ratio=1.0, **solver_arguments)
    return LogisticRegression(penalty="l1", **solver_arguments)


LEAF_GRID = {"min_samples_leaf": [5, 10, 20, 40, 80]}
FEATURE_GRID = {"max_features": [2, 4, 8]}
BOOSTING_GRID = {"n_estimators": [50, 150], "max_depth": [2, 4]}
DECAY_GRID = {"alpha": [0.01, 1.0, 10.0]}
BOOSTING_ARGUMENTS = {"subsample": 0.7, "learning_rate": 0.05, **SEED_ARGUMENT}
NETWORK_ARGUMENTS = {
    "early_stopping": True,
    "learning_rate_init": 0.01,
    "max_iter": 1000,
    **SEED_ARGUMENT,
}
MODELS: dict[str, dict[str, tuple[Any, dict[str, list[Any]]]]] = {
    "classification": {
        # The logistic regression has a small penalty, because station indicators and their squares
        # are collinear.
        "linear": (LogisticRegression(C=1e4, max_iter=MAX_ITERATIONS), {}),
        "lasso": (_l1_logistic(), {"C": [0.01, 0.03, 0.1, 0.3, 1.0]}),
        "SVM": (SVC(), {"C": [0.3, 1.0, 3.0], "gamma": [0.03, 0.1]}),
        "tree": (DecisionTreeClassifier(**SEED_ARGUMENT), LEAF_GRID),
        "forest": (RandomForestClassifier(100, **SEED_ARGUMENT), FEATURE_GRID),
        "boosting": (GradientBoostingClassifier(**BOOSTING_ARGUMENTS), BOOSTING_GRID),
        "neural net": (MLPClassifier(hidden_layer_sizes=(16,), **NETWORK_ARGUMENTS), DECAY_GRID),
    },
    "regression": {
        "linear": (LinearRegression(), {}),
        "lasso": (Lasso(max_iter=MAX_ITERATIONS), {"alpha": [0.03, 0.1, 0.3, 1.0, 3.0]}),
        "SVM": (SVR(epsilon=5.0), {"C": [10.0, 30.0, 100.0], "gamma": [0.03, 0.1]}),
        "tree": (DecisionTreeRegressor(**SEED_ARGUMENT), LEAF_GRID),
        "forest": (RandomForestRegressor(100, **SEED_ARGUMENT), FEATURE_GRID),
        "boosting": (GradientBoostingRegressor(**BOOSTING_ARGUMENTS), BOOSTING_GRID),
        "neural net": (MLPRegressor(hidden_layer_sizes=(16,), **NETWORK_ARGUMENTS), DECAY_GRID),
    },
}


def ozone_family(label: str, task: str) -> Family:
    """Return the family of a learner for a task: its pipeline and its grid of settings.

    Features are standardised except for trees and forests; "interactions" adds their products.
    """
    name, _, interactions = label.partition(", ")
    model, grid = MODELS[task][name]
    steps = [] if name in ("tree", "forest") else [StandardScaler()]
    if interactions:
        steps += [PolynomialFeatures(2, include_bias=False), StandardScaler()]
    pipeline = make_pipeline(*steps, model)
    step_name = pipeline.steps[-1][0]
    return Family.from_grid(
        pipeline, {f"{step_name}__{key}": values for key, values in grid.items()}
    )
