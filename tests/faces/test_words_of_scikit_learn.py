"""`cv`, `scoring` and `n_jobs` mean in every call what they mean in scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import make_scorer, matthews_corrcoef
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.errors import BadArgument, UnknownName

X, Y = tr.datasets.make_difficult(90, random_state=2)
LABELS = np.where(Y == 1, "ill", "healthy")
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
PAIRS = list(KFold(4).split(X))
SPLITS = [5, KFold(3, shuffle=True, random_state=1), ShuffleSplit(4, random_state=0), PAIRS]
SCORES = [
    "accuracy",
    "roc_auc",
    "f1_macro",
    "neg_log_loss",
    "balanced_accuracy",
    make_scorer(matthews_corrcoef),
]


@pytest.mark.parametrize("cv", SPLITS, ids=lambda cv: type(cv).__name__)
@pytest.mark.parametrize("scoring", SCORES, ids=str)
def test_the_score_is_that_of_cross_val_score(cv, scoring):
    """The mean over folds, unshuffled, sign included."""
    ours = tr.estimate_risk(TREE, X, LABELS, cv=cv, scoring=scoring)
    theirs = cross_val_score(TREE, X, LABELS, cv=cv, scoring=scoring).mean()
    assert ours.value == pytest.approx(theirs, abs=1e-12)


def test_folds_are_not_stratified_for_numbers():
    """As `check_cv` has it for regressors."""
    score = "neg_mean_squared_error"
    ours = tr.estimate_risk(LinearRegression(), X, X[:, 0] ** 2 + Y, cv=4, scoring=score)
    theirs = cross_val_score(LinearRegression(), X, X[:, 0] ** 2 + Y, cv=4, scoring=score).mean()
    assert ours.value == pytest.approx(theirs)


def test_groups_reach_the_splitter():
    """`GroupKFold` is given the groups of the call."""
    groups = np.arange(90) // 3
    ours = tr.estimate_risk(TREE, X, Y, cv=GroupKFold(5), groups=groups, scoring="accuracy")
    theirs = cross_val_score(TREE, X, Y, cv=GroupKFold(5), groups=groups).mean()
    assert ours.value == pytest.approx(theirs)


def test_settings_are_rated_as_grid_search_rates_them():
    """`risk_curve` and `assess` by the same means, and they choose the same setting."""
    grid = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 8]}
    words = {"cv": 4, "scoring": "roc_auc"}
    theirs = GridSearchCV(TREE, grid, **words).fit(X, Y)
    curve = tr.risk_curve(TREE, grid, X, Y, **words)
    learner = tr.assess({"tree": (TREE, grid)}, X, Y, **words).learners["tree"]
    scores = theirs.cv_results_["mean_test_score"]
    assert curve.values == pytest.approx(scores)
    assert learner.curve.values == pytest.approx(scores)
    assert curve.best_params == theirs.best_params_


def test_several_scores_are_told_and_the_first_is_the_risk():
    """A list, a dict and a set, which is put in order."""
    for scoring in (["roc_auc", "accuracy"], {"roc_auc": "roc_auc", "accuracy": "accuracy"}):
        risk = tr.estimate_risk(TREE, X, Y, cv=5, scoring=scoring)
        assert (risk.scoring, list(risk.scores)) == ("roc_auc", ["accuracy"])
    assert tr.estimate_risk(TREE, X, Y, cv=5, scoring={"roc_auc", "accuracy"}).scoring == "accuracy"


def test_workers_do_not_move_the_score():
    """`n_jobs` counts as joblib does."""
    words = {"cv": 5, "scoring": "roc_auc", "engine": "generic"}
    alone = tr.estimate_risk(TREE, X, Y, **words)
    assert tr.estimate_risk(TREE, X, Y, **words, n_jobs=-1).value == alone.value


def test_a_learning_curve_ends_with_the_same_score():
    """All training rows of the folds of `cv`."""
    words = {"cv": 5, "scoring": "accuracy"}
    curve = tr.learning_curve(TREE, X, Y, sizes=[20, 30, 40, 72], **words)
    assert curve.values[-1] == pytest.approx(cross_val_score(TREE, X, Y, cv=5).mean())


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ({"scoring": ["accuracy", "accuracy"]}, BadArgument),
        ({"scoring": []}, BadArgument),
        ({"cv": 1}, BadArgument),
        ({"cv": "five"}, UnknownName),
        ({"n_jobs": 0}, UnknownName),
        ({"scoring": "acuracy"}, UnknownName),
    ],
)
def test_words_that_say_nothing_are_refused(words, error):
    """Twice the same score, no score, no folds, no jobs, unknown words."""
    with pytest.raises(error):
        tr.estimate_risk(TREE, X, Y, **words)
