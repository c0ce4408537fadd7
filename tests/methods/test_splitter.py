"""Any splitter and any list of splits gives cross_val_score's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import model_selection as ms
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadData
from truerisk.data.data import Data

RNG = np.random.default_rng(2)
N = 60
X = RNG.normal(size=(N, 4))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
MANY = np.digitize(X[:, 0] + 0.5 * RNG.normal(size=N), [-0.5, 0.5])
NUMBERS = X[:, 0] + RNG.normal(size=N)
GROUPS = np.arange(N) // 4

SPLITTERS = [
    ms.KFold(5),
    ms.KFold(4, shuffle=True, random_state=1),
    ms.StratifiedKFold(3, shuffle=True, random_state=0),
    ms.RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    ms.GroupKFold(4),
    ms.LeavePGroupsOut(1),
    ms.PredefinedSplit(np.arange(N) % 3),
    ms.TimeSeriesSplit(3),
]


def scores_of(model, y, splitter, scoring):
    groups = GROUPS if "Group" in type(splitter).__name__ else None
    theirs = ms.cross_val_score(model, X, y, cv=splitter, groups=groups, scoring=scoring)
    if groups is not None:
        ours = tr.estimate_risk(model, X, y, cv=splitter, scoring=scoring, groups=groups)
    else:
        ours = tr.estimate_risk(model, X, y, cv=splitter, scoring=scoring)
    return theirs, ours


@pytest.mark.parametrize(
    "splitter", SPLITTERS, ids=lambda s: type(s).__name__ + str(s.get_n_splits(X, MANY, GROUPS))
)
@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro", "neg_log_loss", "roc_auc_ovr"])
def test_splitters_of_classes(splitter, scoring) -> None:
    """The mean is that of cross_val_score, and so is every split, as 1 − score (or −score)."""
    if isinstance(splitter, ms.LeavePGroupsOut):
        scoring = "accuracy"  # four rows need not hold every class
    theirs, ours = scores_of(LogisticRegression(), MANY, splitter, scoring)
    perfect = 0 if scoring.startswith("neg") else 1
    assert perfect - ours.split_risks == pytest.approx(theirs, abs=1e-12)
    assert ours.value == pytest.approx(theirs.mean(), abs=1e-12)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_brier_score", "average_precision"])
@pytest.mark.parametrize(
    "model", [SVC(), DecisionTreeClassifier(max_depth=2, random_state=0)], ids=["svc", "tree"]
)
def test_models_with_scores_or_probabilities(model, scoring) -> None:
    """Scorers take decision values or probabilities as the model has them."""
    if scoring == "neg_brier_score" and isinstance(model, SVC):
        model = LogisticRegression()
    theirs, ours = scores_of(model, Y, ms.StratifiedKFold(4), scoring)
    perfect = 0 if scoring.startswith("neg") else 1
    assert perfect - ours.split_risks == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(
    ("word", "scoring"),
    [
        ("zero-one", "accuracy"),
        ("auc", "roc_auc"),
        ("log", "neg_log_loss"),
        ("brier", "neg_brier_score"),
    ],
)
@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), DecisionTreeClassifier(max_depth=2, random_state=0)],
    ids=["logistic", "tree"],
)
def test_own_losses_are_their_scorers(model, word, scoring) -> None:
    """Our losses and scikit-learn's scorers give the same risks, split by split."""
    splitter = ms.StratifiedKFold(5)
    ours, theirs = (tr.estimate_risk(model, X, Y, cv=splitter, scoring=w) for w in (word, scoring))
    assert ours.split_risks == pytest.approx(theirs.split_risks, abs=1e-12)


@pytest.mark.parametrize(
    "splitter",
    SPLITTERS[:2] + SPLITTERS[4:],
    ids=lambda s: type(s).__name__ + str(s.get_n_splits(X, MANY, GROUPS)),
)
@pytest.mark.parametrize(
    "scoring",
    ["r2", "neg_mean_absolute_error", "neg_mean_squared_error", "neg_median_absolute_error"],
)
def test_splitters_of_numbers(splitter, scoring) -> None:
    """Regression scorers, split by split."""
    theirs, ours = scores_of(Ridge(), NUMBERS, splitter, scoring)
    perfect = 1 if scoring == "r2" else 0
    assert perfect - ours.split_risks == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("scorer", [None, "absolute"])
def test_given_splits_are_used_as_they_are(scorer) -> None:
    """Lists, arrays and masks, overlapping, with rows left out and rows repeated in training."""
    mask = np.arange(N) % 3 == 0
    pairs = [
        (np.arange(30), np.arange(30, 40)),
        (list(range(10, N)), [0, 1, 2]),
        (~mask, mask),
        (np.repeat(np.arange(20), 3), np.arange(20, N)),
    ]
    found = tr.estimate_risk(KNeighborsRegressor(4), X, NUMBERS, cv=pairs, scoring=scorer)
    expected = []
    for train, test in pairs:
        predicted = KNeighborsRegressor(4).fit(X[train], NUMBERS[train]).predict(X[test])
        error = predicted - NUMBERS[test]
        expected.append(np.mean(error**2 if scorer is None else abs(error)))
    assert found.split_risks == pytest.approx(expected, abs=1e-12)
    assert found.method == "4 given splits"


def test_repeated_training_rows_that_add_up_to_n_are_not_the_rest() -> None:
    """Copies in a training set do not stand for rows that were left out."""
    pairs = [(np.array([0, 0, 1, 1]), np.arange(4, N))]
    method = tr.methods.as_method(pairs)
    plan = method.plan(Data.check(X, NUMBERS, task="regression"), Streams(0))
    rows, counts = plan.train_rows(0)
    assert (rows.tolist(), counts.tolist()) == ([0, 1], [2, 2])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "the list of splits is empty"),
        ([(np.arange(5), [])], "split 0 of 1 given splits has no test rows"),
        ([([1], [2]), ([], [1])], "split 1 of 2 given splits has no training rows"),
        ([([0, 1], [N])], f"test rows are not row numbers 0 … {N - 1}"),
        ([([-1, 1], [2])], "training rows are not row numbers"),
        ([([0.5, 1], [2])], "training rows are not row numbers"),
        ([1, 2], "split 0 is no .train, test. pair"),
    ],
)
def test_bad_splits_are_named(pairs, message) -> None:
    """Which split, which side, and what is wrong with it."""
    with pytest.raises(BadData, match=message):
        tr.estimate_risk(Ridge(), X, NUMBERS, cv=pairs)


@pytest.mark.parametrize("splitter", [ms.KFold(N + 1), ms.GroupKFold(3), ms.LeavePOut(N + 1)])
def test_a_splitter_that_cannot_split_is_named(splitter) -> None:
    """The splitter's own reason is passed on."""
    with pytest.raises(BadData, match="the splitter .* cannot split these rows: "):
        tr.estimate_risk(Ridge(), X, NUMBERS, cv=splitter)


def test_a_generator_of_splits_is_read_once() -> None:
    """An iterable that can be read once only serves several candidates."""
    pairs = (pair for pair in ms.KFold(3).split(X))
    curve = tr.risk_curve(Ridge(), {"alpha": [1, 2]}, X, NUMBERS, cv=pairs)
    assert len(curve[0].split_risks) == 3
