"""Any splitter and any list of splits gives cross_val_score's numbers."""

import numpy as np
import pytest
from sklearn import model_selection as ms
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import checked, normal_rows
from tests.support.plans import drawn

import truerisk as tr

N = 60
X, Y, NUMBERS = normal_rows(N, 4, seed=2)
MANY = np.digitize(NUMBERS, [-0.5, 0.5])
GROUPS = np.arange(N) // 4
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


def same_as_cross_val_score(model, y, splitter, scoring):
    """Return True if value and splits are those of scikit-learn, as 1 − score or as −score."""
    given = {"cv": splitter, "scoring": scoring}
    given["groups"] = GROUPS if "Group" in type(splitter).__name__ else None
    theirs = ms.cross_val_score(model, X, y, **given)
    ours = tr.estimate_risk(model, X, y, **given)
    perfect = 0 if scoring.startswith("neg") else 1
    assert ours.value == pytest.approx(theirs.mean(), abs=1e-12)
    return perfect - ours.split_risks == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(
    "splitter",
    [
        ms.KFold(5),
        ms.KFold(4, shuffle=True, random_state=1),
        ms.StratifiedKFold(3, shuffle=True, random_state=0),
        ms.RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        ms.GroupKFold(4),
        ms.LeavePGroupsOut(1),
        ms.PredefinedSplit(np.arange(N) % 3),
        ms.TimeSeriesSplit(3),
    ],
    ids=lambda s: type(s).__name__ + str(s.get_n_splits(X, MANY, GROUPS)),
)
def test_splitter_of_scikit_learn_gives_its_scores(splitter):
    assert same_as_cross_val_score(GaussianNB(), MANY, splitter, "accuracy")
    if "Stratified" not in type(splitter).__name__:
        assert same_as_cross_val_score(Ridge(), NUMBERS, splitter, "neg_mean_squared_error")


@pytest.mark.parametrize(
    ("model", "y", "scorings"),
    [
        (LogisticRegression(), MANY, ["f1_macro", "neg_log_loss", "roc_auc_ovr"]),
        (LogisticRegression(), Y, ["neg_brier_score"]),
        (SVC(), Y, ["accuracy", "roc_auc", "average_precision"]),
        (TREE, Y, ["accuracy", "roc_auc", "neg_brier_score", "average_precision"]),
        (Ridge(), NUMBERS, ["r2", "neg_mean_absolute_error", "neg_median_absolute_error"]),
    ],
)
def test_scorers_take_labels_probabilities_or_decision_values(model, y, scorings):
    splitter = ms.KFold(4) if y is NUMBERS else ms.StratifiedKFold(4)
    assert all(same_as_cross_val_score(model, y, splitter, scoring) for scoring in scorings)


@pytest.mark.parametrize(
    ("word", "scoring"),
    [
        ("zero-one", "accuracy"),
        ("auc", "roc_auc"),
        ("log", "neg_log_loss"),
        ("brier", "neg_brier_score"),
    ],
)
@pytest.mark.parametrize("model", [LogisticRegression(), TREE], ids=["logistic", "tree"])
def test_losses_by_word_are_the_scorers_of_scikit_learn(model, word, scoring):
    splitter = ms.StratifiedKFold(5)
    ours, theirs = (tr.estimate_risk(model, X, Y, cv=splitter, scoring=w) for w in (word, scoring))
    assert ours.split_risks == pytest.approx(theirs.split_risks, abs=1e-12)


def test_given_splits_are_used_as_they_are():
    """Lists, arrays and masks, overlapping, with rows left out and rows repeated in training."""
    mask = np.arange(N) % 3 == 0
    pairs = [
        (np.arange(30), np.arange(30, 40)),
        (list(range(10, N)), [0, 1, 2]),
        (~mask, mask),
        (np.repeat(np.arange(20), 3), np.arange(20, N)),
    ]
    found = tr.estimate_risk(KNeighborsRegressor(4), X, NUMBERS, cv=pairs)
    expected = []
    for train, test in pairs:
        predicted = KNeighborsRegressor(4).fit(X[train], NUMBERS[train]).predict(X[test])
        expected.append(np.mean((predicted - NUMBERS[test]) ** 2))
    assert found.split_risks == pytest.approx(expected, abs=1e-12)
    assert found.method == "4 given splits"


def test_given_splits_with_as_many_copies_as_rows_are_not_the_rest():
    method = tr.methods.as_method([(np.array([0, 0, 1, 1]), np.arange(4, N))])
    rows, counts = drawn(method, checked(X, NUMBERS)).train_rows(0)
    assert (rows.tolist(), counts.tolist()) == ([0, 1], [2, 2])


def test_given_splits_of_a_generator_serve_several_candidates():
    pairs = (pair for pair in ms.KFold(3).split(X))
    curve = tr.risk_curve(Ridge(), {"alpha": [1, 2]}, X, NUMBERS, cv=pairs)
    assert len(curve[0].split_risks) == 3
