"""`tr.audit`: the claim of a fitted search, the honest risk, and what is wrong."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadArgument, BadData, LeakWarning, Refusal, UnknownName
from truerisk.core.progress import listen
from truerisk.intervals.bootstrapped_choice import corrected_by_bootstrap

GRID = {"n_neighbors": [1, 3, 5, 9, 15]}


@pytest.fixture(scope="module")
def rows():
    """60 rows of two overlapping classes."""
    return tr.datasets.make_simple(60, random_state=3)


@pytest.fixture(scope="module")
def search(rows):
    """A fitted grid search."""
    return GridSearchCV(KNeighborsClassifier(), GRID, cv=5).fit(*rows)


@pytest.mark.parametrize("k", [5, 7])
def test_the_honest_value_is_the_bootstrap_of_the_replay(rows, k):
    """The number is BBC of the out-of-fold losses, from the stream of that name.

    Rows count as the search counts them: each fold alike, so the rows of a small one more.
    """
    X, y = rows
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=k).fit(X, y)
    losses = [
        cross_val_predict(KNeighborsClassifier(n), X, y, cv=k) != y for n in GRID["n_neighbors"]
    ]
    weights = np.empty(60)
    for _, test in StratifiedKFold(k).split(X, y):
        weights[test] = 60 / (k * len(test))
    expected = corrected_by_bootstrap(losses, Streams(7).get("bbc"), weights=weights)
    assert expected.selected == pytest.approx(1 - search.best_score_)
    u = tr.audit(search, X, y, level="bbc", random_state=7)
    assert u.honest.loss_value == pytest.approx(expected.value, abs=1e-12)
    assert u.honest.value == 1 - u.honest.loss_value
    assert u.honest.method == "bbc"
    assert u.honest.loss_interval.low == pytest.approx(expected.interval().low)
    assert u.honest.loss_interval.high == pytest.approx(expected.interval().high)


def test_the_same_seed_is_the_same_number(search, rows):
    """Also with workers."""
    first = tr.audit(search, *rows, level="bbc", random_state=1).honest
    again = tr.audit(search, *rows, level="bbc", random_state=1, n_jobs=2).honest
    assert again.value == first.value
    assert tr.audit(search, *rows, level="bbc", random_state=2).honest.value != first.value


def test_rows_are_needed_to_fit_again(search, rows):
    """Level scores works without; the others say what they need."""
    assert tr.audit(search, level="scores").claimed.value == search.best_score_
    with pytest.raises(Refusal, match="needs the rows"):
        tr.audit(search)
    with pytest.raises(BadData, match="y is missing"):
        tr.audit(search, rows[0])


def test_options_are_checked(search, rows):
    """An unknown level, a level of confidence that is none, too few columns."""
    with pytest.raises(UnknownName, match="did you mean 'bbc'"):
        tr.audit(search, *rows, level="bcc")
    with pytest.raises(BadArgument, match="between 0 and 1"):
        tr.audit(search, *rows, confidence_level=95)
    with pytest.raises(BadArgument, match="confidence_level='95'"):
        tr.audit(search, *rows, confidence_level="95")
    with pytest.raises(BadData, match="X has 1 columns and the search was fitted on 2"):
        tr.audit(search, rows[0][:, :1], rows[1])


def test_the_level_of_confidence_is_used(search, rows):
    """A narrower interval for a lower level."""
    wide, narrow = (
        tr.audit(search, *rows, confidence_level=level).honest.interval for level in (0.95, 0.5)
    )
    assert narrow.width < wide.width
    assert narrow.confidence_level == 0.5


def test_the_search_and_the_rows_stay_as_they_were(rows):
    """Nothing that was handed over is changed."""
    X, y = (np.array(part) for part in rows)
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=5).fit(X, y)
    before = {name: repr(value) for name, value in vars(search).items()}
    for level in ("scores", "bbc", "pairs", "nested"):
        tr.audit(search, X, y, level=level)
    assert {name: repr(value) for name, value in vars(search).items()} == before
    assert np.array_equal(X, rows[0])
    assert np.array_equal(y, rows[1])


def test_copies_are_a_finding_and_no_warning(rows):
    """What is a finding is not said twice."""
    X, y = np.repeat(rows[0], 2, axis=0), np.repeat(rows[1], 2)
    order = np.random.default_rng(0).permutation(120)
    X, y = X[order], y[order]
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=5).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LeakWarning)
        assert "duplicate-rows" in tr.audit(search, X, y).codes


def test_it_says_what_it_is_doing(search, rows):
    """Progress names the stage."""
    stages = []
    with listen(lambda progress: stages.append(progress.stage)):
        tr.audit(search, *rows, engine="generic")
    assert "replaying the search" in stages


def test_noise_selected_outside_is_flagged_and_inside_is_not():
    """2000 features of noise, 50 rows: with the selection in the pipeline nothing is found."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2000)), np.arange(50) % 2
    outside = SelectKBest(k=30).fit_transform(X, y)
    naive = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3, 5, 9]}, cv=5).fit(outside, y)
    u = tr.audit(naive, outside, y)
    assert "selection-outside" in u.codes
    assert "selected before the search" in u.conclusion
    assert u.honest.value > 0.65  # far above the truth, .5: no resampling can see it
    pipeline = make_pipeline(SelectKBest(k=30), KNeighborsClassifier())
    honest = GridSearchCV(pipeline, {"kneighborsclassifier__n_neighbors": [3, 5, 9]}, cv=5)
    inside = tr.audit(honest.fit(X, y), X, y)
    assert "selection-outside" not in inside.codes
    assert inside.honest.value < 0.65


def test_pure_noise_with_many_settings_is_optimistic():
    """The best of 40 settings on noise: the claim is above a half, the corrected score is not."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 40)), np.arange(60) % 2

    class Column(KNeighborsClassifier):
        """The sign of one column."""

        def __init__(self, j=0, n_neighbors=5):
            super().__init__(n_neighbors)
            self.j = j

        def fit(self, X, y):
            super().fit(X[:, [self.j]], y)
            self.n_features_in_ = X.shape[1]
            return self

        def predict(self, X):
            return np.where(X[:, self.j] > 0, 1, 0)

    search = GridSearchCV(Column(), {"j": list(range(40))}, cv=5, scoring="accuracy").fit(X, y)
    u = tr.audit(search, X, y)
    assert u.claimed.value > 0.6
    assert u.honest.value == pytest.approx(0.5, abs=0.1)
    assert "optimism-large" in u.codes


def test_regression_is_audited(rows):
    """R² by default: the numbers and the conclusion are those of R²."""
    X, _ = rows
    y = X[:, 0] + np.random.default_rng(0).normal(size=60)
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, cv=4).fit(X, y)
    u = tr.audit(search, X, y)
    assert u.claimed.value == search.best_score_
    assert u.conclusion.startswith(f"best_score_ {search.best_score_:.4f}")
