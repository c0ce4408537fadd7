"""A learner that splits its own rows keeps the copies of a bootstrap sample together."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LassoCV, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.support.searches import Silent

import truerisk as tr
from truerisk.engines.running.copies import keep_copies_together
from truerisk.exceptions import FitFailed
from truerisk.extend import Refusal
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


def bootstrap_risk(model, y=Y, replicates=2):
    return tr.estimate_risk(model, X, y, cv=Bootstrap("oob", replicates=replicates))


@pytest.mark.parametrize(
    ("model", "groups"),
    [
        (search(None, Spy()), False),
        (search(4, Spy()), False),
        (search(KFold(3, shuffle=True, random_state=0), Spy()), False),
        (search(GroupKFold(3), Spy()), True),
        # our own search gets its rows as groups
        (tr.HonestSearchCV(Spy(), GRID, cv="3-fold", outer=None, scoring="accuracy"), False),
    ],
    ids=["None", "4", "KFold", "groups", "ours"],
)
def test_copies_are_on_one_side_of_every_inner_split(model, groups):
    """In none is a row asked about that was trained on; all rows are asked about."""
    Spy.seen.clear()
    more = keep_copies_together(model, COPY_OF)
    params = {"groups": DRAWN} if groups else more
    model.fit(X[DRAWN], Y[DRAWN], **params)
    assert len(Spy.seen) == getattr(model, "n_splits_", 3) * 7
    assert all(not trained & asked for trained, asked in Spy.seen)
    assert set().union(*(asked for _, asked in Spy.seen)) == set(X[ROWS, 0])


def test_copies_are_split_as_the_distinct_rows():
    """The user's own splitter is asked about these, and its sides are kept."""
    model = search(StratifiedKFold(4))
    keep_copies_together(model, COPY_OF)
    found = list(model.cv.split(X[DRAWN], Y[DRAWN]))
    wanted = list(StratifiedKFold(4).split(X[ROWS], Y[ROWS]))
    for (train, test), sides in zip(found, wanted, strict=True):
        for rows, side in zip((train, test), sides, strict=True):
            assert set(COPY_OF[rows]) == set(side)
        assert sorted([*train, *test]) == list(range(N))
    assert model.cv.get_n_splits(X[DRAWN], Y[DRAWN]) == 4
    silent = Silent(KNeighborsClassifier(), cv=5)  # which does not say whether it classifies
    keep_copies_together(silent, np.arange(N))
    (_, test), *_ = silent.cv.split(X, np.sort(Y))
    assert test.tolist() == next(iter(StratifiedKFold(5).split(X, np.sort(Y))))[1].tolist()


def test_copies_on_both_sides_would_choose_one_neighbour():
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
    "model",
    [
        search(),
        make_pipeline(StandardScaler(), search()),
        RandomizedSearchCV(KNeighborsClassifier(), GRID, n_iter=4, cv=3, random_state=0),
    ],
    ids=["alone", "pipeline", "randomized"],
)
def test_copies_let_a_search_in_pure_noise_find_its_risk(model):
    """Out of bag it is about ½; folds hold each row once, and nothing is said of them."""
    found = bootstrap_risk(model, replicates=8)
    assert any("copies of a row stayed together" in note for note in found.notes)
    assert 0.3 < found.value < 0.7
    folds = tr.estimate_risk(model, X, Y, cv="3-fold")
    assert not any("copies" in note for note in folds.notes)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (LassoCV(cv=3), NUMBERS),
        (RidgeCV(cv=4), NUMBERS),
        (CalibratedClassifierCV(GaussianNB(), cv=3), Y),
        (RFECV(DecisionTreeClassifier(random_state=0), cv=3), Y),
        (tr.HonestSearchCV(Spy(), GRID, outer=None), Y),
        # a vote of tuned parts: each of them is fitted on the whole sample
        (VotingClassifier([(name, GridSearchCV(Spy(), GRID, cv=3)) for name in "ab"]), Y),
    ],
    ids=lambda value: type(value).__name__,
)
def test_copies_stay_together_in_whatever_has_a_cv(model, y):
    Spy.seen.clear()
    found = bootstrap_risk(make_pipeline(StandardScaler(), model), y)
    assert np.isfinite(found.value)
    told = any("copies of a row stayed together" in note for note in found.notes)
    assert told or isinstance(model, tr.HonestSearchCV)
    assert all(not trained & asked for trained, asked in Spy.seen)


WITHIN = r"splits the rows .* inside splits what .*'10-fold'"
ONES = CalibratedClassifierCV(GaussianNB(), cv=2)


@pytest.mark.parametrize(
    ("model", "y", "error", "message"),
    [
        (RidgeCV(), NUMBERS, Refusal, "RidgeCV without cv leaves out one row at a time"),
        (
            search([(np.arange(30), np.arange(30, 60))]),
            Y,
            Refusal,
            "how to split the distinct",
        ),
        # a part of the sample does not tell which rows are copies
        (StackingClassifier([("s", GridSearchCV(Spy(), GRID, cv=3))], cv=3), Y, Refusal, WITHIN),
        (GridSearchCV(ONES, {"method": ["sigmoid"]}, cv=3), Y, Refusal, WITHIN),
        (
            BaggingClassifier(search(3), 2, max_samples=0.5, random_state=0),
            Y,
            FitFailed,
            "a step before changed them",
        ),
    ],
)
def test_copies_that_cannot_stay_together_are_refused(model, y, error, message):
    with pytest.raises(error, match=message):
        bootstrap_risk(model, y)
    assert np.isfinite(tr.estimate_risk(model, X, y, cv="apparent").value)
