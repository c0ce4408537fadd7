"""The setting as the model was given is compared with the tuned one on the same fits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import truerisk as tr
from truerisk.core.family import Family
from truerisk.search.as_given import number_as_given

KNN = KNeighborsClassifier()
GRID = {"n_neighbors": [1, 3, 5, 9, 15]}
HELPS = {"n_neighbors": [1, 41]}
SAID = "uning is not shown to help: the untuned setting"


def overlapping(n=300):
    """Two classes that overlap so much that one neighbour is far worse than many."""
    return tr.datasets.make_simple(n, random_state=1)


def by_hand(model, X, y):
    """Mean loss of the model as it stands minus that of the tuned one, on the folds of both."""
    search = tr.HonestSearchCV(model, GRID).fit(X, y)
    given = tr.estimate_risk(model, X, y)
    differences = given.losses - search.risk_.losses
    return search, given, differences


def test_the_difference_is_that_of_the_losses_on_the_same_folds(simple):
    """Its mean and standard error by hand, in the note of the search."""
    search, given, d = by_hand(KNN, *simple)
    assert search.best_params_ != {"n_neighbors": 5}
    said = next(note for note in search.risk_.notes if SAID in note)
    error = d.std(ddof=1) / np.sqrt(len(d))
    assert f"(n_neighbors=5) has a risk of {given.value:.4f} on the same rows" in said
    assert f"({d.mean():+.4f}, paired standard error {error:.4f})" in said


def test_an_assessment_concludes_it(simple):
    """In the conclusion and on the page; of the best learner only."""
    found = tr.assess({"knn": (KNN, GRID)}, *simple)
    assert f"T{SAID} (n_neighbors=5)" in found.conclusion
    assert f"T{SAID} (n_neighbors=5)" in found.to_html()
    assert found.learners["knn"].as_given.suffices(0.95)


def test_where_tuning_helps_nothing_is_said():
    """One neighbour, as given, is shown to be worse than what is chosen."""
    one = KNeighborsClassifier(1)
    search = tr.HonestSearchCV(one, HELPS).fit(*overlapping())
    assert search.best_params_ == {"n_neighbors": 41}
    assert not any(SAID in note for note in search.risk_.notes)
    found = tr.assess({"knn": (one, HELPS)}, *overlapping())
    assert found.learners["knn"].as_given.gain.exceeds_noise(0.95)
    assert SAID not in found.conclusion


def test_the_level_is_that_of_the_intervals():
    """What is beyond noise at 95 % need not be at 99.99…9 %."""
    sure = {"confidence_level": 1 - 1e-12}
    search = tr.HonestSearchCV(KNeighborsClassifier(1), HELPS, **sure).fit(*overlapping())
    assert any(SAID in note for note in search.risk_.notes)


@pytest.mark.parametrize(
    "options",
    [
        {"outer": "4-fold"},  # other fits
        {"scoring": "auc"},  # no losses of rows
    ],
    ids=str,
)
def test_where_the_same_fits_tell_nothing_nothing_is_said(simple, options):
    """No fit is made for it."""
    search = tr.HonestSearchCV(KNN, GRID, **options).fit(*simple)
    assert not any(SAID in note for note in search.risk_.notes)


def test_the_chosen_setting_is_not_compared_with_itself():
    """Where it was given so."""
    given = KNeighborsClassifier(41)
    search = tr.HonestSearchCV(given, HELPS).fit(*overlapping())
    assert search.best_params_ == {"n_neighbors": 41}
    assert not any(SAID in note for note in search.risk_.notes)


def test_learners_of_no_use_are_not_said_to_need_no_tuning(noise):
    """Where nothing beats guessing, that is the sentence."""
    found = tr.assess({"knn": (KNN, GRID)}, *noise)
    assert "not shown to beat" in found.conclusion
    assert SAID not in found.conclusion


@pytest.mark.parametrize(
    ("model", "grid", "place"),
    [
        (KNN, {"n_neighbors": [1, 5]}, 1),
        (KNN, {"n_neighbors": [1, 7]}, None),
        (KNN, {"n_neighbors": [5]}, None),  # nothing is chosen
        (SVC(C=10), {"C": [1, 10.0]}, 1),
        (SVC(), {"C": np.array([1, 10]), "gamma": ["scale", 0.1]}, 0),
        (SVC(), [{"C": [2.0]}, {"gamma": ["scale"]}], 1),
        (SVC(), {"shrinking": [1, 0]}, None),  # 1 is no flag
        (RandomForestRegressor(), {"max_features": [1, 2]}, None),  # one feature, not all of them
        (RandomForestRegressor(), {"max_features": [0.5, 1.0]}, 1),
        (RandomForestRegressor(min_samples_leaf=1), {"min_samples_leaf": [1, 5]}, 0),
        (
            make_pipeline(StandardScaler(), LogisticRegression()),
            {"logisticregression__C": [9, 1]},
            1,
        ),
    ],
    ids=str,
)
def test_which_setting_is_the_given_one(model, grid, place):
    """By value: 1 and 1.0 are the same, unless one of them is a share."""
    assert number_as_given(Family.of(model, grid)) == place
