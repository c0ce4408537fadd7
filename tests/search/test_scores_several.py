"""Several scores, of which one chooses: the words of GridSearchCV, and its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, recall_score, zero_one_loss
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

import truerisk as tr
from truerisk.core.errors import BadArgument, MissingResult

RNG = np.random.default_rng(2)
X = RNG.normal(size=(90, 3))
NUMBERS = X[:, 0] + RNG.normal(size=90)
Y = (NUMBERS > 0.3).astype(int)
GRID = {"n_neighbors": [1, 5, 9]}
SCORES = ["accuracy", "roc_auc", "f1", "neg_brier_score", "average_precision", "jaccard"]


def recall_and_accuracy(model, X, y):
    """A function that gives several scores."""
    said = model.predict(X)
    calls.append(len(X))
    return {"recall": recall_score(y, said), "accuracy": accuracy_score(y, said)}


calls = []


def both(model, X, y, grid, **words):
    """The same search by both classes."""
    return [search(model, grid, cv=3, **words).fit(X, y) for search in (GridSearchCV, honest)]


def honest(model, grid, **words):
    """Without the honest risk, as GridSearchCV is."""
    return tr.HonestSearchCV(model, grid, outer=None, **words)


def same_results(theirs, ours):
    """Every key, and every number but seconds."""
    assert set(theirs.cv_results_) == set(ours.cv_results_)
    for key, values in theirs.cv_results_.items():
        if "time" not in key and "param" not in key:
            np.testing.assert_allclose(
                ours.cv_results_[key].astype(float), values.astype(float), atol=1e-12, err_msg=key
            )
    assert ours.multimetric_ is theirs.multimetric_ is True
    assert callable(theirs.scorer_) or set(ours.scorer_) == set(theirs.scorer_)


@pytest.mark.parametrize("refit", SCORES)
def test_names_are_those_of_grid_search_with_its_numbers(refit):
    """Every score of every split, also on the training rows; the named one chooses."""
    theirs, ours = both(
        KNeighborsClassifier(), X, Y, GRID, scoring=SCORES, refit=refit, return_train_score=True
    )
    same_results(theirs, ours)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y))


def test_a_dict_of_scorers_of_a_regression():
    """Names of the user's own."""
    scoring = {"square": "neg_mean_squared_error", "share": "r2", "far": "neg_max_error"}
    theirs, ours = both(Ridge(), X, NUMBERS, {"alpha": [0.1, 10.0]}, scoring=scoring, refit="share")
    same_results(theirs, ours)
    assert ours.best_params_ == theirs.best_params_


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_function_may_give_several(n_jobs):
    """It is called once for a model and a test set, whatever it gives."""
    words = {"scoring": recall_and_accuracy, "refit": "recall", "n_jobs": n_jobs}
    grid = {"C": [0.1, 1.0]}
    rule = LinearSVC(random_state=0)
    theirs = GridSearchCV(rule, grid, cv=3, **{**words, "n_jobs": None}).fit(X, Y)
    ours = honest(rule, grid, cv=3, **words).fit(X, Y)
    same_results(theirs, ours)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    calls.clear()
    honest(rule, grid, cv=3, **{**words, "n_jobs": None}).fit(X, Y)
    assert calls.count(30) == 6  # once for each fit; the rest is of a rule that is always right


def test_each_score_has_its_honest_estimate():
    """Of the procedure that the named score chooses by; the other scores do not choose."""
    search = tr.HonestSearchCV(
        KNeighborsClassifier(), GRID, cv=3, scoring=["roc_auc", "f1"], refit="roc_auc"
    ).fit(X, Y)
    alone = tr.HonestSearchCV(KNeighborsClassifier(), GRID, cv=3, scoring="roc_auc").fit(X, Y)
    assert search.risk_.interval == alone.risk_.interval
    assert list(search.scores_) == ["f1"]
    assert search.scores_["f1"].interval.method == "logit-cv"
    assert search.risk_.n_fits == alone.risk_.n_fits
    first, second = str(search.risk_).splitlines()  # the one that chooses is said once
    assert first == str(alone.risk_)
    assert second.startswith("f1 of 1 ")
    assert "roc_auc of 1, interval" not in search.risk_.blocks()[0].rows[3]


@pytest.mark.parametrize("refit", ["f2", None])
def test_a_refit_that_is_no_score_is_refused(refit):
    """With the scores that there are."""
    with pytest.raises(BadArgument, match="none of the scores .*the first one, 'accuracy', does"):
        honest(KNeighborsClassifier(), GRID, scoring=SCORES, refit=refit).fit(X, Y)
    with pytest.raises(BadArgument, match="refit='f2' is none of the scores"):
        honest(LogisticRegression(), {}, scoring=recall_and_accuracy, refit="f2").fit(X, Y)


@pytest.mark.parametrize("refit", [True, False])
def test_the_first_score_chooses_where_refit_names_none(refit):
    """Of a list, of a dict and of a function; the results are those of GridSearchCV."""
    theirs = GridSearchCV(KNeighborsClassifier(), GRID, cv=3, scoring=SCORES, refit="accuracy")
    ours = honest(KNeighborsClassifier(), GRID, cv=3, scoring=SCORES, refit=refit).fit(X, Y)
    same_results(theirs.fit(X, Y), ours)
    assert (ours.best_index_, ours.best_score_) == (theirs.best_index_, theirs.best_score_)
    assert hasattr(ours, "best_estimator_") == refit
    honest_one = tr.HonestSearchCV(KNeighborsClassifier(), GRID, scoring=SCORES, refit=refit)
    assert honest_one.fit(X, Y).risk_.scoring == "accuracy"
    named = {"ranks": "roc_auc", "errors": "accuracy"}
    assert honest(KNeighborsClassifier(), GRID, scoring=named).fit(X, Y).loss_.word == "ranks"


def test_words_losses_and_functions_may_stand_in_one_list():
    """A loss object has its own word for a name."""
    asked = ["zero-one", tr.losses.Brier(), zero_one_loss]
    search = honest(KNeighborsClassifier(), GRID, cv=3, scoring=asked).fit(X, Y)
    keys = [key for key in search.cv_results_ if key.startswith("mean_test_")]
    assert keys == ["mean_test_zero-one", "mean_test_brier", "mean_test_zero_one_loss"]
    errors = search.cv_results_["mean_test_zero_one_loss"]
    assert errors == pytest.approx(search.cv_results_["mean_test_zero-one"] - 1)


def test_a_function_of_the_results_may_choose():
    """By any of the scores; then none of them is the score of the search."""

    def least_spread(results):
        return int(np.argmin(results["std_test_f1"]))

    theirs, ours = both(KNeighborsClassifier(), X, Y, GRID, scoring=SCORES, refit=least_spread)
    assert ours.best_index_ == theirs.best_index_
    with pytest.raises(MissingResult, match="none of them is the score of this search"):
        ours.score(X, Y)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"scoring": []}, "at least one"),
        ({"scoring": ["f1", "f1"]}, "names a score twice"),
        ({"scoring": ["f1", 3]}, "give a list of scores"),
        ({"scoring": ["f1", None]}, "give a list of scores"),
        ({"scoring": ["brier", tr.losses.Brier()]}, "names a score twice"),
        ({"scoring": [[0, 1], [5, 0]]}, "given as scoring=tr.losses.Cost"),
    ],
)
def test_other_words_are_refused(words, said):
    """Before anything is fitted."""
    with pytest.raises(BadArgument, match=said):
        tr.HonestSearchCV(KNeighborsClassifier(), GRID, **words).fit(X, Y)


def test_what_a_search_without_refit_lacks_is_said():
    """`hasattr` says no, and who asks all the same learns why."""
    search = honest(KNeighborsClassifier(), GRID, refit=False).fit(X, Y)
    assert not hasattr(search, "predict")
    with pytest.raises(AttributeError) as caught:
        search.predict(X)
    assert "predict is available only after refitting" in str(caught.value.__cause__)
