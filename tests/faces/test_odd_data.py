"""Data that look odd and work, and those of which a warning tells more than the number."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.faces.test_refusals import GROUPS, KNN, VERBS, N, X, Y, estimate

import truerisk as tr
from truerisk.exceptions import DuplicateRowsWarning, GroupLeakWarning
from truerisk.extend import BadData, TrueRiskWarning

TREE = DecisionTreeClassifier(random_state=0)
GAP = X.copy()
GAP[5, 2] = np.nan
CONSTANT = np.column_stack([X, np.ones(N), np.zeros(N)])


@pytest.mark.parametrize(
    ("model", "table"),
    [
        (make_pipeline(SimpleImputer(), LogisticRegression()), GAP),
        (TREE, GAP),
        *[(model, CONSTANT) for model in (KNN, GaussianNB(), LogisticRegression(), TREE)],
        (LinearDiscriminantAnalysis(), np.column_stack([X, X])),
        (LinearDiscriminantAnalysis(), np.random.default_rng(0).normal(size=(N, 60))),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_estimate_risk_takes_what_the_model_takes(model, table):
    """Missing cells, columns that never change, more columns than rows or equal ones."""
    assert np.isfinite(estimate(model, table).value)


def test_estimate_risk_warns_of_a_class_too_rare_for_the_folds():
    y = np.array(["common"] * (N - 2) + ["rare"] * 2)
    with pytest.warns(TrueRiskWarning, match="class 'rare' has 2 rows for 5 folds.*fewer folds"):
        assert np.isfinite(estimate(y=y).value)
    assert estimate(cv=tr.methods.KFold(folds=Y)).value == 1  # each fold holds one class


def test_estimate_risk_warns_of_copies_across_folds():
    """The number of rows, the first, and the remedy, once; the value is given."""
    doubled, y = np.repeat(X[: N // 2], 2, axis=0), np.repeat(Y[: N // 2], 2)
    with pytest.warns(DuplicateRowsWarning, match="Remove the copies, or give groups=") as caught:
        assert np.isfinite(estimate(X=doubled, y=y).value)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate(X=doubled, y=y, groups=GROUPS)
        estimate(X=doubled, y=np.arange(N) % 2)  # the rows of a pair have different outcomes
    with pytest.warns(DuplicateRowsWarning, match="^40 of 40 rows are exact copies .rows 0 and 2,"):
        assert estimate(X=np.ones((N, 2))).value == pytest.approx(0.5, abs=0.2)


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_estimate_risk_warns_of_a_splitter_that_ignores_the_groups():
    splitter = KFold(3, shuffle=True, random_state=0)
    with pytest.warns(GroupLeakWarning, match="method 'KFold.*ignores them.*Group splitter"):
        estimate(cv=splitter, groups=GROUPS)


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(C=1e6), SVC(kernel="linear", C=1e6), LinearDiscriminantAnalysis()],
    ids=lambda m: type(m).__name__,
)
def test_interval_of_perfect_separation_is_not_invented(model):
    """Classes that a line separates: risk 0, no standard error, an interval above 0."""
    separated = np.column_stack([np.where(Y == 1, 5.0, -5.0) + 0.1 * X[:, 0], X[:, 1]])
    found = estimate(model, X=separated)
    assert (found.value, found.std_error) == (0, None)
    assert 0 < found.interval.low < found.interval.high < 0.5
    wald = estimate(model, X=separated, interval="wald")
    assert wald.interval is None
    assert any("spread is 0" in note for note in wald.notes)


DAYS = pd.date_range("2024-01-01", periods=N)


@pytest.mark.parametrize(
    "dates", [DAYS, DAYS.astype(str), DAYS.date], ids=["dates", "text", "days"]
)
def test_dates_in_x_are_taken_out(dates):
    """What to write is said, without the words of NumPy; then it works, by a search, too."""
    frame = pd.DataFrame(X, columns=list("abc")).assign(when=dates)
    with pytest.raises(BadData) as caught:
        tr.estimate_risk(Ridge(), frame, X[:, 0])
    told = "X has dates in column 'when': turn them into numbers, such as days since the first; if "
    assert str(caught.value).endswith(
        f"{told}they only say when the rows were taken, take them out of X: time=X.pop('when')."
    )
    search = tr.HonestSearchCV(Ridge(), {"alpha": [1, 2]}, cv="forward-2", outer=None)
    search.fit(frame, X[:, 0], time=frame.pop("when"))
    assert search.predict(frame).shape == (N,)


@pytest.mark.parametrize("verb", ["estimate", "search", "assess", "validate", "learn"])
def test_sample_weight_of_polars_is_that_of_an_array(verb):
    """Weights are cut with the rows whatever holds them."""
    weights = 1 + np.arange(N) % 3
    for model in (TREE, LogisticRegression()):
        found = [VERBS[verb](model, sample_weight=of) for of in (weights, pl.Series(weights))]
        told, again = (re.sub(r"[\d.]+ s", "", str(getattr(one, "risk_", one))) for one in found)
        assert told == again


class Foreign:
    """An array of another library of the array API: NumPy reads it, and cannot index it."""

    dtype = "theirs.float64"

    def __init__(self, values, away=False):
        self.values, self.away, self.shape = values, away, values.shape

    def __array_namespace__(self):
        return None

    def __array__(self, dtype=None, copy=None):
        if self.away:
            raise TypeError("it is on another device")
        return self.values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, rows):
        raise IndexError("an index must be of this library")


def test_arrays_of_another_library_are_read_as_numpy_reads_them():
    """The same numbers, of a memoryview too; one that NumPy cannot read is a sentence."""
    for engine in ("auto", "generic"):
        wanted = estimate(engine=engine).value
        assert estimate(X=Foreign(X), engine=engine).value == wanted
        assert estimate(X=memoryview(X), y=memoryview(Y), engine=engine).value == wanted
    with pytest.raises(BadData, match=r"Foreign that NumPy cannot read \(it is on another device"):
        estimate(KNeighborsClassifier(), X=Foreign(X, away=True))
