"""K-fold cross-validation, repeated, stratified, grouped; reversed; leave-one-out."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import NINE, checked, normal_rows
from tests.support.plans import drawn, sets_of

import truerisk as tr
from truerisk.methods import KFold, ReversedKFold

N = 43
X, _, NUMBERS = normal_rows(N, 3, seed=11)
RNG = np.random.default_rng(11)
Y = RNG.integers(3, size=N)
WEIGHTS = RNG.random(N)
GROUPS = RNG.integers(12, size=N)


def labels_of(method, data) -> list[np.ndarray]:
    """Read the fold numbers that a method draws from its plan."""
    plan = drawn(method, data)
    labels = [np.full(data.n_rows, -1) for _ in range(method.repeats)]
    for q in range(plan.n_questions):
        labels[plan.repeat[q]][plan.test_rows(q)[0]] = plan.fold[q]
    return labels


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize("average", ["pooled", "fold"])
@pytest.mark.parametrize(("k", "repeats"), [(5, 1), (4, 3)])
@pytest.mark.parametrize(
    ("model", "y"), [(DecisionTreeClassifier(max_depth=2, random_state=0), Y), (Ridge(), NUMBERS)]
)
def test_kfold_is_a_plain_loop_over_its_folds(model, y, k, repeats, average, groups, weights):
    method = KFold(k, repeats=repeats, average=average)
    given = {"groups": groups, "sample_weight": weights, "random_state": 0}
    found = tr.estimate_risk(model, X, y, cv=method, **given)
    losses, of_fold, means = [], [], []
    for labels in labels_of(method, checked(X, y, groups=groups)):
        for fold in range(k):
            inside, outside = labels != fold, labels == fold
            if groups is not None:
                assert not set(groups[inside]) & set(groups[outside])
            weight = None if weights is None else weights[inside]
            fitted = clone(model).fit(X[inside], y[inside], sample_weight=weight)
            away = fitted.predict(X[outside]) - y[outside]
            losses.append((away != 0) * 1.0 if y is Y else away**2)
            of_fold.append(np.ones(outside.sum()) if weights is None else weights[outside])
            means.append(np.average(losses[-1], weights=of_fold[-1]))
    pooled = np.average(np.concatenate(losses), weights=np.concatenate(of_fold))
    expected = pooled if average == "pooled" else np.mean(means)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.split_risks == pytest.approx(means, abs=1e-12)
    assert found.n_fits <= k * repeats


def test_kfold_gives_a_class_missing_from_training_probability_zero():
    """Rows of a class that the model never saw cost −log ε."""
    method = KFold(folds=np.r_[np.arange(20) % 2, [2] * 3])
    y = np.repeat([0, 1, 2], [10, 10, 3])
    found = tr.estimate_risk(LogisticRegression(), X[:23], y, cv=method, scoring="log")
    assert found.losses[20:] == pytest.approx(-np.log(np.finfo(float).eps))
    assert np.isfinite(found.value)


@pytest.mark.parametrize(
    "folds",
    [
        (np.arange(N) % 3).astype(np.uint8),
        np.array(["x", "y", "z"])[np.arange(N) % 3],
        (np.arange(N) % 3).tolist(),
        [np.arange(N) % 3, np.arange(N) % 2],
    ],
    ids=["uint8", "text", "list", "repeated"],
)
def test_kfold_uses_given_folds_as_they_are(folds):
    plan = drawn(KFold(folds=folds), checked(X, Y))
    expected = [
        (repeat, np.flatnonzero(labels == v).tolist())
        for repeat, labels in enumerate(np.atleast_2d(folds))
        for v in sorted(set(labels.tolist()))
    ]
    assert list(zip(plan.repeat, (test for _, test in sets_of(plan)))) == expected


def test_reversed_kfold_trains_on_one_fold_and_tests_on_the_others():
    labels = labels_of(KFold(4), checked(X, NUMBERS))[0]
    expected = []
    for fold in range(4):
        fitted = Ridge().fit(X[labels == fold], NUMBERS[labels == fold])
        away = fitted.predict(X[labels != fold]) - NUMBERS[labels != fold]
        expected.append((away**2).mean())
    found = tr.estimate_risk(Ridge(), X, NUMBERS, cv=ReversedKFold(4))
    assert found.value == pytest.approx(np.mean(expected), abs=1e-12)
    assert found.method == "reversed 4-fold"


def test_leave_one_out_has_the_predictions_of_cross_val_predict():
    """Row by row; for the AUC all answers are one test set, since a single row has none."""
    rows, y = NINE
    predicted = cross_val_predict(Ridge(), rows, y * 1.5, cv=LeaveOneOut())
    found = tr.estimate_risk(Ridge(), rows, y * 1.5, cv="loo")
    assert found.losses == pytest.approx((predicted - y * 1.5) ** 2, abs=1e-12)
    given = {"cv": LeaveOneOut(), "method": "decision_function"}
    scores = cross_val_predict(LogisticRegression(), rows, y, **given)
    area = tr.estimate_risk(LogisticRegression(), rows, y, cv="loo", scoring="auc").value
    assert area == pytest.approx(roc_auc_score(y, scores), abs=1e-12)
