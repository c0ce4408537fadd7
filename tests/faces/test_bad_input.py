"""Bad data: each case says what is wrong, where, and what to do; what should work does."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.errors import (
    BadData,
    DuplicateRowsWarning,
    FitFailed,
    GroupLeakWarning,
    Refusal,
    TrueRiskWarning,
)

RNG = np.random.default_rng(0)
N = 24
X = RNG.normal(size=(N, 3))
Y = np.arange(N) % 2
GROUPS = np.arange(N) // 2
METHODS = ["3-fold", "loo", "holdout", "nested"]
NESTED = tr.methods.Nested("3-fold", "3-fold")


def estimate(model=None, X=X, y=Y, **more):
    return tr.estimate_risk(model or KNeighborsClassifier(3), X, y, **{"cv": "3-fold", **more})


def test_a_class_too_rare_for_the_folds_is_named() -> None:
    """A class with fewer rows than folds: named, with its count; the risk is still there."""
    y = np.array(["common"] * 22 + ["rare"] * 2)
    with pytest.warns(TrueRiskWarning, match="class 'rare' has 2 rows for 3 folds.*fewer folds"):
        assert np.isfinite(estimate(y=y).value)


def test_a_fold_without_one_of_the_classes() -> None:
    """A training set of one class: the model's refusal is named with the split and the rows."""
    method = tr.methods.KFold(folds=Y)  # each fold holds one class only
    with pytest.raises(
        FitFailed, match=r"LogisticRegression .*fold 0\), fit 0 of 2 on 12 rows.*class"
    ):
        estimate(LogisticRegression(), cv=method)
    with pytest.raises(
        Refusal, match="both classes in every test set.*fewer folds, or 'auc pooled'"
    ):
        estimate(KNeighborsClassifier(), cv=method, scoring="auc")
    assert estimate(KNeighborsClassifier(), cv=method).value == 1


@pytest.mark.parametrize("method", METHODS)
def test_one_class_only(method) -> None:
    """There is nothing to get wrong."""
    with pytest.raises(BadData, match="only one class, 'x'.*no risk to estimate. Check the target"):
        estimate(y=["x"] * N, cv=method)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "table", [np.array, pd.DataFrame, sp.csr_matrix], ids=["array", "frame", "sparse"]
)
@pytest.mark.parametrize("method", METHODS)
def test_cells_that_are_no_numbers(bad, table, method) -> None:
    """NaN or infinity: how many, the first one's row and column, and to impute inside the folds."""
    spoiled = X.copy()
    spoiled[5, 2], spoiled[7, 0] = bad, bad
    with pytest.raises(BadData, match=r"2 cells .* in row 5, column .*2.*Impute inside the folds"):
        estimate(X=table(spoiled), cv=method)


def test_missing_cells_that_the_model_can_take() -> None:
    """NaN is no error where the pipeline or the model handles it."""
    spoiled = X.copy()
    spoiled[5, 2] = np.nan
    for model in (make_pipeline(SimpleImputer(), LogisticRegression()), DecisionTreeClassifier()):
        assert np.isfinite(estimate(model, X=spoiled).value)


@pytest.mark.parametrize(
    "y", [[np.nan] + [0.0, 1.0] * 11 + [1.0], [None] + ["a", "b"] * 11 + ["a"]]
)
def test_a_missing_target(y) -> None:
    """The row without a label is named."""
    with pytest.raises(BadData, match="in 1 of 24 rows, first in row 0: leave these rows out"):
        estimate(y=y)


@pytest.mark.parametrize(
    "model",
    [KNeighborsClassifier(3), GaussianNB(), LogisticRegression(), DecisionTreeClassifier()],
    ids=lambda m: type(m).__name__,
)
def test_constant_columns_work(model) -> None:
    """A column that never changes does no harm."""
    constant = np.column_stack([X, np.ones(N), np.zeros(N)])
    assert np.isfinite(estimate(model, X=constant).value)


def test_nothing_but_constant_columns() -> None:
    """If all rows are equal the risk exists, and the copies are named."""
    with pytest.warns(DuplicateRowsWarning, match="24 rows of X"):
        assert estimate(X=np.ones((N, 2))).value == pytest.approx(0.5, abs=0.2)


@pytest.mark.parametrize("method", ["25-fold", "reversed 30-fold", KFold(25)], ids=str)
def test_fewer_rows_than_folds(method) -> None:
    """How many rows there are and how many are needed."""
    with pytest.raises(BadData, match=r"2[45]|30"):
        estimate(cv=method)
    with pytest.raises(BadData, match="13 folds need at least 13 groups and there are 12"):
        estimate(cv="13-fold", groups=GROUPS)


def test_more_neighbours_than_training_rows() -> None:
    """The setting, the split, and how many rows it had."""
    with pytest.raises(
        FitFailed, match=r"\(n_neighbors=20\) .*fold 0\).*on 16 rows.*n_samples_fit = 16"
    ):
        tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [3, 20]}, X, Y, cv="3-fold")


def test_copies_across_folds() -> None:
    """A warning with the number of rows, the first, and the remedy; the value is given."""
    doubled = np.repeat(X[: N // 2], 2, axis=0)
    with pytest.warns(DuplicateRowsWarning, match="Remove the copies, or give groups=") as caught:
        assert np.isfinite(estimate(X=doubled).value)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate(X=doubled, groups=GROUPS)


def test_groups_that_are_ignored() -> None:
    """A splitter that ignores the groups is named; methods that must ignore them refuse."""
    splitter = KFold(3, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The groups parameter is ignored")  # scikit-learn's own
        with pytest.warns(GroupLeakWarning, match="method 'KFold.*ignores them.*Group splitter"):
            estimate(cv=splitter, groups=GROUPS)
    with pytest.raises(Refusal, match="'loo' would ignore the groups"):
        estimate(cv="loo", groups=GROUPS)


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(C=1e6), SVC(kernel="linear", C=1e6), LinearDiscriminantAnalysis()],
    ids=lambda m: type(m).__name__,
)
def test_perfect_separation_works(model) -> None:
    """Classes that a line separates: risk 0, no invented standard error, an interval above 0."""
    separated = np.column_stack([np.where(Y == 1, 5.0, -5.0) + 0.1 * X[:, 0], X[:, 1]])
    found = estimate(model, X=separated)
    assert (found.value, found.std_error) == (0, None)
    assert 0 < found.interval.low < found.interval.high < 0.5
    wald = estimate(model, X=separated, interval="wald")
    assert wald.interval is None
    assert any("spread is 0" in note for note in wald.notes)


def outcome(model, table):
    """The risk, or the sentence on why there is none."""
    try:
        return estimate(model, X=table).value
    except FitFailed as error:
        return str(error)


def test_singular_covariance() -> None:
    """More columns than rows, or equal ones: LDA works; QDA works or is named with its reason."""
    wide = RNG.normal(size=(N, 60))
    doubled = np.column_stack([X, X])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for table in (wide, doubled):
            assert np.isfinite(estimate(LinearDiscriminantAnalysis(), X=table).value)
            found = outcome(QuadraticDiscriminantAnalysis(), table)
            named = "QuadraticDiscriminantAnalysis .* failed in .* covariance"
            assert isinstance(found, float) or re.match(named, found)


@pytest.mark.parametrize(
    "table", [[], np.empty((0, 3)), pd.DataFrame({"a": []}), sp.csr_matrix((0, 3))]
)
def test_no_rows(table) -> None:
    """An empty table is named."""
    with pytest.raises(BadData, match="X has no rows"):
        estimate(X=table, y=[])


def test_no_columns() -> None:
    """A table without columns is named by the model's reason."""
    with pytest.raises(FitFailed, match=r"n_features=0\).*0 feature"):
        estimate(X=np.empty((N, 0)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": Y[:-1]}, "X has 24 rows and y has 23: they must be equally long"),
        ({"y": None}, "y is None"),
        ({"y": Y + 0.5 * (np.arange(N) % 3)}, "holds fractions.*use a regressor or turn y into"),
        ({"y": ["a", 1] * 12}, "mixes int and str; use one type"),
        ({"y": np.array(["a", 1] * 12, dtype=object)}, "mixes int and str; use one type"),
        ({"X": np.arange(24.0)}, "one dimension.*reshape"),
        ({"X": [[1, 2]] * 23 + [[1]]}, "not equally long"),
        ({"groups": GROUPS[:-1]}, r"groups has shape \(23,\); give one group label for each of 24"),
        ({"sample_weight": np.ones(3)}, r"sample_weight has shape \(3,\)"),
        ({"model": KMeans()}, "KMeans is neither a classifier nor a regressor"),
        ({"model": Ridge(), "y": ["a", "b"] * 12}, r"y\[0\] is 'a', not a number"),
    ],
)
def test_what_does_not_fit_together(change, message) -> None:
    """Lengths, types and shapes, in numbers."""
    if "sample_weight" in change:
        change = {"model": LogisticRegression(), **change}
    with pytest.raises(BadData, match=message):
        estimate(**change)


class NeverFitted(KNeighborsClassifier):
    def fit(self, X, y):
        raise AssertionError("a fit was made")


@pytest.mark.parametrize(
    "verb",
    [
        tr.estimate_risk,
        lambda model, X, y: tr.assess({"it": model}, X, y),
        tr.validate,
        tr.learning_curve,
        tr.permutation_test,
        lambda model, X, y: tr.risk_curve(model, {"n_neighbors": [1, 3]}, X, y),
        lambda model, X, y: tr.HonestSearchCV(model, {"n_neighbors": [1, 3]}).fit(X, y),
        lambda model, X, y: tr.HonestSearchCV(GridSearchCV(model, {"p": [1, 2]})).fit(X, y),
    ],
    ids=["risk", "assess", "validate", "learning", "permutation", "curve", "grid", "search"],
)
def test_labels_that_are_no_classes_are_refused_before_any_fit(verb) -> None:
    """In every verb, by one sentence."""
    months = pd.period_range("2024-01", periods=2, freq="M")
    with pytest.raises(BadData, match="holds objects of type Period.*turn them into text"):
        verb(NeverFitted(), X, np.asarray(months)[Y])


DAYS = pd.date_range("2024-01-01", periods=N)


@pytest.mark.parametrize(
    "dates", [DAYS, DAYS.astype(str), DAYS.date], ids=["dates", "text", "days"]
)
def test_dates_in_x_are_taken_out(dates) -> None:
    """What to write is said, without the words of NumPy; then it works, by a search, too."""
    frame = pd.DataFrame(X, columns=list("abc")).assign(when=dates)
    by_name = tr.estimate_risk(Ridge(), frame, X[:, 0], time="when")
    by_hand = tr.estimate_risk(Ridge(), frame.drop(columns="when"), X[:, 0], time=frame["when"])
    assert by_name.value == by_hand.value
    with pytest.raises(BadData) as caught:
        tr.estimate_risk(Ridge(), frame, X[:, 0])
    told = "X has dates in column 'when': turn them into numbers, such as days since the first; if "
    assert str(caught.value).endswith(
        f"{told}they only say when the rows were taken, take them out of X: time=X.pop('when')."
    )
    search = tr.HonestSearchCV(Ridge(), {"alpha": [1, 2]}, cv="forward-2", outer=None)
    search.fit(frame, X[:, 0], time=frame.pop("when"))
    assert search.predict(frame).shape == (N,)
