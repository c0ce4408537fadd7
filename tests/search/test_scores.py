"""Scores whose best is not known: an estimator's own, or a function of the user."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import accuracy_score, make_scorer, zero_one_loss
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.core.errors import Refusal

X, Y = load_wine(return_X_y=True)
X, Y = StandardScaler().fit_transform(X)[::2], Y[::2]
BANDWIDTHS = {"bandwidth": [0.3, 1.0, 3.0]}
FOLDS = KFold(3, shuffle=True, random_state=0)
SCORE = {"scoring": "precision"}


def by_width(estimator, X, y=None) -> float:
    """A scorer that needs no y."""
    return float(np.log(estimator.bandwidth) + len(X))


def rightly(estimator, X, y) -> float:
    """A scorer that cannot rate a rule without error, which has no coefficients."""
    return float(np.abs(estimator.coef_).sum() / len(y))


@pytest.mark.parametrize(
    ("model", "grid", "y", "options"),
    [
        (KernelDensity(), BANDWIDTHS, None, {}),
        (KernelDensity(), BANDWIDTHS, None, {"scoring": by_width}),
        (KMeans(n_init=1, random_state=0), {"n_clusters": [2, 3]}, None, {}),
        (KMeans(n_init=1, random_state=0), {"n_clusters": [2, 3]}, Y, {"scoring": "rand_score"}),
        (LocalOutlierFactor(novelty=True), {"n_neighbors": [5, 10]}, 1 - 2 * (Y > 1), SCORE),
        (make_pipeline(KernelDensity()), {"kerneldensity__bandwidth": [1, 2]}, None, {}),
        (PoissonRegressor(), {"alpha": [0.1, 10.0]}, Y, {}),
        (LogisticRegression(), {"C": [0.1, 1.0]}, Y, {"scoring": rightly}),
        (LogisticRegression(), {"C": [0.1, 1.0]}, Y, {"scoring": make_scorer(accuracy_score)}),
    ],
)
def test_the_scores_are_those_of_grid_search(model, grid, y, options) -> None:
    """With and without y; the risk of the whole search is there as well."""
    theirs = GridSearchCV(model, grid, cv=FOLDS, **options).fit(X, y)
    ours = tr.HonestSearchCV(model, grid, cv=FOLDS, **options).fit(X, y)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    found = ours.cv_results_["mean_test_score"]
    assert found == pytest.approx(theirs.cv_results_["mean_test_score"])
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))
    assert np.isfinite(ours.risk_.value)


def test_the_honest_number_of_a_density_is_its_score() -> None:
    """By the search made anew without the rows of each fold; no best score is known."""
    ours = tr.HonestSearchCV(KernelDensity(), BANDWIDTHS, cv=FOLDS, outer=FOLDS).fit(X)
    assert ours.risk_.greater_is_better
    assert ours.risk_.perfect == np.inf
    by_hand = []
    for train, test in FOLDS.split(X):
        search = GridSearchCV(KernelDensity(), BANDWIDTHS, cv=FOLDS).fit(X[train])
        by_hand.append(search.score(X[test]))
    assert ours.risk_.value == pytest.approx(np.mean(by_hand))


def test_the_usual_scores_stay_losses_of_rows() -> None:
    """The share of right answers and R² are zero-one and squared loss, which have intervals."""
    ours = tr.HonestSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=5).fit(X, Y)
    assert ours.risk_.scoring == "zero-one"
    assert ours.risk_.interval is not None


def test_accuracy_written_anew_is_accuracy() -> None:
    """Nearest neighbours have a `score` method of their own: engine and interval stay."""
    pipe = make_pipeline(StandardScaler(), KNeighborsClassifier())
    ours = tr.HonestSearchCV(pipe, {"kneighborsclassifier__n_neighbors": [1, 3]}, cv=5).fit(X, Y)
    assert (ours.risk_.scoring, ours.risk_.engine) == ("zero-one", "knn")
    assert ours.risk_.interval is not None


def test_a_scorer_may_do_without_y() -> None:
    """(estimator, X, y=None) is a scorer and no metric, also where there is a y."""
    search = tr.HonestSearchCV(KernelDensity(), BANDWIDTHS, cv=FOLDS, scoring=by_width, outer=None)
    assert search.fit(X, Y).best_params_ == {"bandwidth": 3.0}


def test_a_metric_that_is_larger_for_better_answers_is_refused() -> None:
    """It is 1 for right answers, and would be minimised; an error of labels is taken."""
    by_errors = tr.HonestSearchCV(LogisticRegression(), {"C": [1.0]}, scoring=zero_one_loss)
    assert by_errors.fit(X, Y).best_score_ == pytest.approx(-by_errors.selected_risk_.value)
    with pytest.raises(Refusal, match=r"is 1 for right answers, as a score is.*make_scorer"):
        tr.HonestSearchCV(LogisticRegression(), {"C": [1.0]}, scoring=accuracy_score).fit(X, Y)


@pytest.mark.parametrize("score", ["f1", "neg_mean_squared_error", "rand_score", tr.losses.AUC()])
def test_scores_of_predictions_are_not_told_of_a_model_without_any(score) -> None:
    """A clustering has no right answers: a sentence, and what rates it."""
    search = tr.HonestSearchCV(
        KMeans(n_init=1, random_state=0), {"n_clusters": [2]}, scoring=["zero-one", score]
    )
    with pytest.raises(Refusal, match="this model makes no predictions of y: rate it by scoring="):
        search.fit(X, Y)
