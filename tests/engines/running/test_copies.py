"""A learner that splits its own rows keeps the copies of a bootstrap sample together."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LassoCV, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.support.searches import Silent

import truerisk as tr
from truerisk.core.errors import FitFailed, Refusal
from truerisk.engines.running.copies import keep_copies_together
from truerisk.methods import Bootstrap

RNG = np.random.default_rng(0)
N = 60
X, Y = RNG.normal(size=(N, 3)), np.arange(N) % 2
NUMBERS = X[:, 0] + RNG.normal(size=N)
GRID = {"n_neighbors": [1, 3, 5, 7, 9, 11, 15]}
DRAWN = np.sort(RNG.integers(N, size=N))
ROWS, COPY_OF = np.unique(DRAWN, return_inverse=True)


class Spy(KNeighborsClassifier):
    """Remembers, by their first cell, the rows it was fitted on and asked about."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.trained_ = set(X[:, 0])
        return super().fit(X, y)

    def predict(self, X):
        Spy.seen.append((self.trained_, set(X[:, 0])))
        return super().predict(X)


def search(cv=5, model=None):
    """A grid search over the number of neighbours."""
    return GridSearchCV(model or KNeighborsClassifier(), GRID, cv=cv)


def test_a_search_that_does_not_say_it_splits_as_what_it_tunes() -> None:
    """A number of folds is stratified for a classifier."""
    model = Silent(KNeighborsClassifier(), cv=5)
    keep_copies_together(model, np.arange(N))
    (_, test), *_ = model.cv.split(X, np.sort(Y))
    expected = next(iter(StratifiedKFold(5).split(X, np.sort(Y))))[1]
    np.testing.assert_array_equal(test, expected)


@pytest.mark.parametrize("cv", [None, 4, KFold(3, shuffle=True, random_state=0), "group"])
def test_no_copy_is_on_both_sides(cv) -> None:
    """In no inner split is a row asked about that was trained on; all rows are asked about."""
    from sklearn.model_selection import GroupKFold

    Spy.seen.clear()
    model = search(GroupKFold(3) if cv == "group" else cv, Spy())
    keep_copies_together(model, COPY_OF)
    params = {"groups": DRAWN} if cv == "group" else {}
    model.fit(X[DRAWN], Y[DRAWN], **params)
    assert len(Spy.seen) == model.n_splits_ * 7
    assert all(not trained & asked for trained, asked in Spy.seen)
    assert set().union(*(asked for _, asked in Spy.seen)) == set(X[ROWS, 0])


def test_splits_are_those_of_the_distinct_rows() -> None:
    """The user's own splitter is asked about the distinct rows, and its sides are kept."""
    model = search(StratifiedKFold(4))
    keep_copies_together(model, COPY_OF)
    found = list(model.cv.split(X[DRAWN], Y[DRAWN]))
    wanted = list(StratifiedKFold(4).split(X[ROWS], Y[ROWS]))
    for (train, test), sides in zip(found, wanted, strict=True):
        for rows, side in zip((train, test), sides, strict=True):
            assert set(COPY_OF[rows]) == set(side)
        assert sorted([*train, *test]) == list(range(N))
    assert model.cv.get_n_splits(X[DRAWN], Y[DRAWN]) == 4


@pytest.mark.parametrize("place", ["alone", "pipeline", "randomized"])
def test_a_foreign_search_in_pure_noise(place) -> None:
    """Its risk out of bag is about ½; with copies on both sides it would choose one neighbour."""
    model = search()
    if place == "pipeline":
        model = make_pipeline(StandardScaler(), model)
    if place == "randomized":
        model = RandomizedSearchCV(KNeighborsClassifier(), GRID, n_iter=4, cv=3, random_state=0)
    found = tr.estimate_risk(model, X, Y, cv=Bootstrap("oob", replicates=8))
    assert any("copies of a row stayed together" in note for note in found.notes)
    assert 0.3 < found.value < 0.7


def test_folds_of_copies_would_choose_one_neighbour() -> None:
    """Pure noise, over ten samples: split copies say < .3 inside, rows about .42."""
    leaky, honest, ones = [], [], 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rows, drawn = rng.normal(size=(N, 3)), rng.integers(N, size=N)
        plain, kept = (search(StratifiedKFold(5, shuffle=True, random_state=0)) for _ in range(2))
        keep_copies_together(kept, np.unique(drawn, return_inverse=True)[1])
        leaky.append(1 - plain.fit(rows[drawn], Y[drawn]).best_score_)
        honest.append(1 - kept.fit(rows[drawn], Y[drawn]).best_score_)
        ones += plain.best_params_ == {"n_neighbors": 1}
    assert ones >= 8
    assert np.mean(leaky) < 0.3
    assert np.mean(honest) == pytest.approx(0.42, abs=0.04)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (LassoCV(cv=3), NUMBERS),
        (RidgeCV(cv=4), NUMBERS),
        (CalibratedClassifierCV(GaussianNB(), cv=3), Y),
        (RFECV(DecisionTreeClassifier(random_state=0), cv=3), Y),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_learners_that_split(model, y) -> None:
    """Whatever has a `cv` is served the same way."""
    model = make_pipeline(StandardScaler(), model)
    found = tr.estimate_risk(model, X, y, cv=Bootstrap("oob", replicates=2))
    assert np.isfinite(found.value)
    assert any("copies of a row stayed together" in note for note in found.notes)


def test_our_own_search_gets_its_rows_as_groups() -> None:
    """HonestSearchCV as a model: no inner fold of the sample sees a copy of what it is asked."""
    Spy.seen.clear()
    model = tr.HonestSearchCV(Spy(), GRID, cv="3-fold", outer=None, scoring="accuracy")
    more = keep_copies_together(model, COPY_OF)
    assert more["groups"].tolist() == COPY_OF.tolist()
    model.fit(X[DRAWN], Y[DRAWN], **more)
    assert len(Spy.seen) == 3 * 7
    found = tr.estimate_risk(
        make_pipeline(StandardScaler(), tr.HonestSearchCV(Spy(), GRID, outer=None)),
        X,
        Y,
        cv=Bootstrap("oob", replicates=3),
    )
    assert np.isfinite(found.value)
    assert all(not trained & asked for trained, asked in Spy.seen)


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (RidgeCV(), NUMBERS, "RidgeCV without cv leaves out one row at a time"),
        (search([(np.arange(30), np.arange(30, 60))]), Y, "does not say how to split the distinct"),
    ],
)
def test_what_cannot_keep_copies_together_is_refused(model, y, message) -> None:
    """Leave-one-out by formula, and splits given as row numbers."""
    with pytest.raises(Refusal, match=message):
        tr.estimate_risk(model, X, y, cv=Bootstrap("oob", replicates=2))
    assert tr.estimate_risk(model, X, y, cv="apparent").value is not None


def test_rows_changed_on_the_way_are_an_error() -> None:
    """A sample of other size cannot be told apart into copies, which is said."""
    from sklearn.ensemble import BaggingClassifier

    model = BaggingClassifier(search(3), 2, max_samples=0.5, random_state=0)
    with pytest.raises(FitFailed, match="a step before changed them"):
        tr.estimate_risk(model, X, Y, cv=Bootstrap("oob", replicates=2))


def test_plans_without_copies_say_nothing() -> None:
    """Folds hold each row once: the search splits as it always does."""
    found = tr.estimate_risk(search(3), X, Y, cv="3-fold")
    assert not any("copies" in note for note in found.notes)


@pytest.mark.parametrize(
    "model",
    [
        StackingClassifier([("search", GridSearchCV(Spy(), GRID, cv=3))], cv=3),
        GridSearchCV(CalibratedClassifierCV(GaussianNB(), cv=2), {"method": ["sigmoid"]}, cv=3),
    ],
    ids=["stack", "search"],
)
def test_splits_within_splits_are_refused(model) -> None:
    """The inner one is shown a part of the sample, and does not know which rows are copies."""
    with pytest.raises(Refusal, match=r"splits the rows .* inside splits what .*'10-fold'"):
        tr.estimate_risk(model, X, Y, cv=Bootstrap("oob", replicates=2))
    assert np.isfinite(tr.estimate_risk(model, X, Y, cv="3-fold").value)


def test_searches_side_by_side_are_served() -> None:
    """A vote of tuned parts: each of them is fitted on the whole sample."""
    Spy.seen.clear()
    parts = [(name, GridSearchCV(Spy(), GRID, cv=3)) for name in "ab"]
    found = tr.estimate_risk(VotingClassifier(parts), X, Y, cv=Bootstrap("oob", replicates=2))
    assert np.isfinite(found.value)
    assert all(not trained & asked for trained, asked in Spy.seen)
