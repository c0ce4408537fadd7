"""K-fold cross-validation, repeated, stratified, grouped; reversed; leave-one-out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadData, Refusal
from truerisk.data.data import Data

GOLDEN_X = np.array([1, 2, 4, 8, 13, 21, 31, 45, 66.0])[:, None]
GOLDEN_Y = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])
RNG = np.random.default_rng(11)
N = 43
X = RNG.normal(size=(N, 3))
Y = RNG.integers(3, size=N)
NUMBERS = X[:, 0] + RNG.normal(size=N)
WEIGHTS = RNG.random(N)
GROUPS = RNG.integers(12, size=N)


def labels_of(method, data) -> list[np.ndarray]:
    """The fold numbers that a method draws, read from its plan."""
    plan = method.plan(data, Streams(0))
    labels = [np.full(data.n_rows, -1) for _ in range(method.repeats)]
    for q in range(plan.n_questions):
        labels[plan.repeat[q]][plan.test_rows(q)[0]] = plan.fold[q]
    return labels


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize("average", ["pooled", "fold"])
@pytest.mark.parametrize(("k", "repeats"), [(5, 1), (4, 3)])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_it_is_a_plain_loop_over_the_same_folds(task, k, repeats, average, groups, weights) -> None:
    """Weights, repeats, groups and both averages, against a loop that shares no code."""
    y = Y if task == "classification" else NUMBERS
    model = DecisionTreeClassifier(max_depth=2, random_state=0) if y is Y else Ridge()
    method = tr.methods.KFold(k, repeats=repeats, average=average)
    found = tr.estimate_risk(
        model, X, y, cv=method, groups=groups, sample_weight=weights, random_state=0
    )
    data = Data.check(X, y, task=task, groups=groups)
    losses, of_fold, means = [], [], []
    for labels in labels_of(method, data):
        for fold in range(k):
            inside, outside = labels != fold, labels == fold
            if groups is not None:
                assert not set(groups[inside]) & set(groups[outside])
            weight = None if weights is None else weights[inside]
            fitted = clone(model).fit(X[inside], y[inside], sample_weight=weight)
            predicted = fitted.predict(X[outside])
            loss = (predicted != y[outside]) * 1.0 if y is Y else (predicted - y[outside]) ** 2
            losses.append(loss)
            of_fold.append(np.ones(outside.sum()) if weights is None else weights[outside])
            means.append(np.average(loss, weights=of_fold[-1]))
    pooled = np.average(np.concatenate(losses), weights=np.concatenate(of_fold))
    expected = pooled if average == "pooled" else np.mean(means)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.split_risks == pytest.approx(means, abs=1e-12)
    assert found.n_fits == method.plan(data, Streams(0)).n_fits <= k * repeats


@pytest.mark.parametrize("loss", ["log", "brier", "auc"])
def test_probabilities_and_scores_of_a_plain_loop(loss) -> None:
    """Losses of probabilities and of scores equal a loop over scikit-learn's own metrics."""
    from sklearn import metrics

    y, method = Y == 1, tr.methods.KFold(4, average="fold")
    found = tr.estimate_risk(LogisticRegression(), X, y, cv=method, scoring=loss)
    labels = labels_of(method, Data.check(X, y, task="classification"))[0]
    expected = []
    for fold in range(4):
        inside, outside = labels != fold, labels == fold
        p = LogisticRegression().fit(X[inside], y[inside]).predict_proba(X[outside])[:, 1]
        expected.append(
            {
                "log": metrics.log_loss(y[outside], p),
                "brier": metrics.brier_score_loss(y[outside], p),
                "auc": 1 - metrics.roc_auc_score(y[outside], p),
            }[loss]
        )
    assert found.split_risks == pytest.approx(expected, abs=1e-12)


def test_a_class_missing_from_a_training_set_has_probability_zero() -> None:
    """Rows of a class that the model never saw cost −log ε, not an error of shapes."""
    y = np.repeat([0, 1, 2], [10, 10, 3])
    folds = np.concatenate([np.arange(20) % 2, [2] * 3])
    method = tr.methods.KFold(folds=folds)
    found = tr.estimate_risk(LogisticRegression(), X[:23], y, cv=method, scoring="log")
    assert found.losses[20:] == pytest.approx(-np.log(np.finfo(float).eps))
    assert np.isfinite(found.value)


@pytest.mark.parametrize(
    "folds",
    [
        np.arange(N) % 3,
        (np.arange(N) % 3).astype(np.uint8),
        np.array(["x", "y", "z"])[np.arange(N) % 3],
        (np.arange(N) % 3).tolist(),
        [np.arange(N) % 3, np.arange(N) % 2],
    ],
    ids=["int", "uint8", "text", "list", "repeated"],
)
def test_folds_can_be_given(folds) -> None:
    """Fold labels of any type, once or per repetition, are used as they are."""
    method = tr.methods.KFold(folds=folds)
    plan = method.plan(Data.check(X, Y, task="classification"), Streams(0))
    expected = [
        (repeat, np.flatnonzero(labels == v).tolist())
        for repeat, labels in enumerate(np.atleast_2d(folds))
        for v in sorted(set(labels.tolist()))
    ]
    found = [(int(plan.repeat[q]), plan.test_rows(q)[0].tolist()) for q in range(plan.n_questions)]
    assert found == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 1}, "K >= 2"),
        ({"k": 3, "repeats": 0}, "at least one"),
    ],
)
def test_impossible_settings_are_refused(arguments, message) -> None:
    """One fold, or no repeat."""
    with pytest.raises(BadData, match=message):
        tr.methods.KFold(**arguments)


@pytest.mark.parametrize(
    ("folds", "message"),
    [(np.zeros(N, int), "single fold"), ([0, 1], r"folds has shape \(2,\)")],
)
def test_impossible_folds_are_refused(folds, message) -> None:
    """All rows in one fold, or a list of another length."""
    with pytest.raises(BadData, match=message):
        tr.estimate_risk(Ridge(), X, NUMBERS, cv=tr.methods.KFold(folds=folds))


@pytest.mark.parametrize("k", [1, 3])
def test_reversed_golden(k) -> None:
    """Reversed CV of the golden set with folds i mod 3: .6667 for 1 and for 3 neighbours."""
    method = tr.methods.ReversedKFold(folds=np.arange(9) % 3)
    found = tr.estimate_risk(KNeighborsClassifier(k), GOLDEN_X, GOLDEN_Y, cv=method)
    assert found.value == pytest.approx(2 / 3, abs=1e-12)


def test_reversed_trains_on_one_fold() -> None:
    """Each model sees one fold and is tested on the others; the risk is the mean over folds."""
    method = tr.methods.ReversedKFold(4)
    labels = labels_of(tr.methods.KFold(4), Data.check(X, NUMBERS, task="regression"))[0]
    expected = []
    for fold in range(4):
        inside, outside = labels == fold, labels != fold
        predicted = Ridge().fit(X[inside], NUMBERS[inside]).predict(X[outside])
        expected.append(((predicted - NUMBERS[outside]) ** 2).mean())
    found = tr.estimate_risk(Ridge(), X, NUMBERS, cv=method)
    assert found.value == pytest.approx(np.mean(expected), abs=1e-12)
    assert found.method == "reversed 4-fold"


def test_reversed_2_fold_is_2_fold() -> None:
    """K = 2 is ordinary 2-fold cross-validation, split by split."""
    one, two = (
        tr.estimate_risk(Ridge(), X, NUMBERS, cv=m)
        for m in (tr.methods.KFold(2, average="fold"), tr.methods.ReversedKFold(2))
    )
    assert one.value == pytest.approx(two.value, abs=1e-14)
    assert one.split_risks == pytest.approx(two.split_risks[::-1], abs=1e-14)


X_OUT = np.array([1, 2, 4, 8, 13, 21, 31, 45, 66.0])[:, None]
Y_OUT = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])


def test_golden() -> None:
    """METHODS §2: LOO risks of 1, 3, 5 and 7 neighbours."""
    curve = tr.risk_curve(
        KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7]}, X_OUT, Y_OUT, cv="loo"
    )
    assert curve.values == pytest.approx([5 / 9, 4 / 9, 7 / 9, 7 / 9], abs=1e-12)
    assert curve[0].n_fits == 36


def test_it_is_cross_val_predict() -> None:
    """Row by row the losses of scikit-learn's leave-one-out predictions."""
    predicted = cross_val_predict(Ridge(), X_OUT, Y_OUT * 1.5, cv=LeaveOneOut())
    found = tr.estimate_risk(Ridge(), X_OUT, Y_OUT * 1.5, cv="loo")
    assert found.losses == pytest.approx((predicted - Y_OUT * 1.5) ** 2, abs=1e-12)


def test_auc_is_of_all_answers_together() -> None:
    """A single row has no AUC: all n answers are rated as one test set."""
    scores = cross_val_predict(
        LogisticRegression(), X_OUT, Y_OUT, cv=LeaveOneOut(), method="decision_function"
    )
    found = tr.estimate_risk(LogisticRegression(), X_OUT, Y_OUT, cv="loo", scoring="auc")
    assert found.value == pytest.approx(roc_auc_score(Y_OUT, scores), abs=1e-12)


def test_groups_are_refused() -> None:
    """Leave-one-out would ignore the groups; the remedy is named."""
    with pytest.raises(Refusal, match="would ignore the groups.*LeaveOneGroupOut"):
        tr.estimate_risk(Ridge(), X_OUT, Y_OUT, cv="loo", groups=Y_OUT)


def test_one_row_leaves_nothing() -> None:
    """One row cannot be left out."""
    with pytest.raises(BadData, match="nothing to train on"):
        tr.estimate_risk(Ridge(), X_OUT[:1], Y_OUT[:1], cv="loo")
