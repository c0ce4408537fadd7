"""Scores of an estimator's own, functions of the user, and several scores of one search."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.metrics import accuracy_score, make_scorer, recall_score, zero_one_loss
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from tests.support.data import normal_rows

import truerisk as tr
from truerisk.exceptions import MissingResult
from truerisk.extend import BadArgument, Refusal

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
        (KernelDensity(), BANDWIDTHS, Y, {"scoring": by_width}),
        (KMeans(n_init=1, random_state=0), {"n_clusters": [2, 3]}, None, {}),
        (KMeans(n_init=1, random_state=0), {"n_clusters": [2, 3]}, Y, {"scoring": "rand_score"}),
        (LocalOutlierFactor(novelty=True), {"n_neighbors": [5, 10]}, 1 - 2 * (Y > 1), SCORE),
        (make_pipeline(KernelDensity()), {"kerneldensity__bandwidth": [1, 2]}, None, {}),
        (PoissonRegressor(), {"alpha": [0.1, 10.0]}, Y, {}),
        (LogisticRegression(), {"C": [0.1, 1.0]}, Y, {"scoring": rightly}),
        (LogisticRegression(), {"C": [0.1, 1.0]}, Y, {"scoring": make_scorer(accuracy_score)}),
    ],
)
def test_search_scores_are_those_of_grid_search(model, grid, y, options):
    theirs = GridSearchCV(model, grid, cv=FOLDS, **options).fit(X, y)
    ours = tr.HonestSearchCV(model, grid, cv=FOLDS, **options).fit(X, y)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    found = ours.cv_results_["mean_test_score"]
    assert found == pytest.approx(theirs.cv_results_["mean_test_score"])
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))
    assert np.isfinite(ours.risk_.value)


def test_search_risk_of_density_is_its_score():
    search = GridSearchCV(KernelDensity(), BANDWIDTHS, cv=FOLDS)
    ours = tr.HonestSearchCV(KernelDensity(), BANDWIDTHS, cv=FOLDS, outer=FOLDS).fit(X)
    given = tr.HonestSearchCV(search, outer=FOLDS).fit(X)
    assert ours.risk_.greater_is_better
    assert ours.risk_.perfect == np.inf
    scores = [clone(search).fit(X[train]).score(X[test]) for train, test in FOLDS.split(X)]
    assert ours.risk_.value == pytest.approx(np.mean(scores))
    assert given.risk_.value == pytest.approx(np.mean(scores))


def test_search_scored_by_accuracy_has_zero_one_loss_of_rows():
    pipe = make_pipeline(StandardScaler(), KNeighborsClassifier())
    for model, grid in (
        (LogisticRegression(), {"C": [0.1, 1.0]}),
        (pipe, {"kneighborsclassifier__n_neighbors": [1, 3]}),
    ):
        ours = tr.HonestSearchCV(model, grid, cv=5).fit(X, Y)
        assert ours.risk_.scoring == "zero-one"
        assert ours.risk_.interval is not None
    assert ours.risk_.engine == "knn"


def test_scoring_refuses_metric_that_is_larger_for_better_answers():
    by_errors = tr.HonestSearchCV(LogisticRegression(), {"C": [1.0]}, scoring=zero_one_loss)
    assert by_errors.fit(X, Y).best_score_ == pytest.approx(-by_errors.selected_risk_.value)
    with pytest.raises(Refusal, match=r"is 1 for right answers, as a score is.*make_scorer"):
        by_errors.set_params(scoring=accuracy_score).fit(X, Y)


@pytest.mark.parametrize("score", ["f1", "neg_mean_squared_error", "rand_score", tr.losses.AUC()])
def test_scoring_of_predictions_is_refused_for_model_without_any(score):
    search = tr.HonestSearchCV(
        KMeans(n_init=1, random_state=0), {"n_clusters": [2]}, scoring=["zero-one", score]
    )
    with pytest.raises(Refusal, match="this model makes no predictions of y: rate it by scoring="):
        search.fit(X, Y)


TABLE, _, NUMBERS = normal_rows(90, 3, seed=2)
LABELS = (NUMBERS > 0.3).astype(int)
GRID = {"n_neighbors": [1, 5, 9]}
SEVERAL = ["accuracy", "roc_auc", "f1", "neg_brier_score", "average_precision", "jaccard"]


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


@pytest.mark.parametrize("refit", SEVERAL[:3])
def test_scores_of_several_names_are_those_of_grid_search(refit):
    theirs, ours = both(
        KNeighborsClassifier(),
        TABLE,
        LABELS,
        GRID,
        scoring=SEVERAL,
        refit=refit,
        return_train_score=True,
    )
    same_results(theirs, ours)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert ours.score(TABLE, LABELS) == pytest.approx(theirs.score(TABLE, LABELS))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_scoring_function_may_give_several_scores(n_jobs):
    words = {"scoring": recall_and_accuracy, "refit": "recall", "n_jobs": n_jobs}
    grid = {"C": [0.1, 1.0]}
    rule = LinearSVC(random_state=0)
    theirs = GridSearchCV(rule, grid, cv=3, **{**words, "n_jobs": None}).fit(TABLE, LABELS)
    ours = honest(rule, grid, cv=3, **words).fit(TABLE, LABELS)
    same_results(theirs, ours)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    calls.clear()
    honest(rule, grid, cv=3, **{**words, "n_jobs": None}).fit(TABLE, LABELS)
    assert calls.count(30) == 6  # once for each fit; the rest is of a rule that is always right


def test_scores_have_honest_estimates_of_the_search_by_refit():
    search = tr.HonestSearchCV(
        KNeighborsClassifier(), GRID, cv=3, scoring=["roc_auc", "f1"], refit="roc_auc"
    ).fit(TABLE, LABELS)
    alone = tr.HonestSearchCV(KNeighborsClassifier(), GRID, cv=3, scoring="roc_auc").fit(
        TABLE, LABELS
    )
    assert search.risk_.interval == alone.risk_.interval
    assert list(search.scores_) == ["f1"]
    assert search.scores_["f1"].interval.method == "logit-cv"
    assert search.risk_.n_fits == alone.risk_.n_fits
    first, second = str(search.risk_).splitlines()  # the one that chooses is said once
    assert first == str(alone.risk_)
    assert second.startswith("f1 of class 1 ")
    assert "roc_auc of class 1, interval" not in search.risk_.blocks()[0].rows[3]


@pytest.mark.parametrize("refit", [True, False])
def test_refit_chooses_by_first_score_if_it_names_none(refit):
    theirs = GridSearchCV(KNeighborsClassifier(), GRID, cv=3, scoring=SEVERAL, refit="accuracy")
    ours = honest(KNeighborsClassifier(), GRID, cv=3, scoring=SEVERAL, refit=refit).fit(
        TABLE, LABELS
    )
    same_results(theirs.fit(TABLE, LABELS), ours)
    assert (ours.best_index_, ours.best_score_) == (theirs.best_index_, theirs.best_score_)
    assert hasattr(ours, "best_estimator_") == refit
    honest_one = tr.HonestSearchCV(KNeighborsClassifier(), GRID, scoring=SEVERAL, refit=refit)
    assert honest_one.fit(TABLE, LABELS).risk_.scoring == "accuracy"
    named = {"ranks": "roc_auc", "errors": "accuracy"}
    assert (
        honest(KNeighborsClassifier(), GRID, scoring=named).fit(TABLE, LABELS).loss_.name == "ranks"
    )


def test_scoring_list_may_mix_words_losses_and_functions():
    asked = ["zero-one", tr.losses.Brier(), zero_one_loss]
    search = honest(KNeighborsClassifier(), GRID, cv=3, scoring=asked).fit(TABLE, LABELS)
    keys = [key for key in search.cv_results_ if key.startswith("mean_test_")]
    assert keys == ["mean_test_zero-one", "mean_test_brier", "mean_test_zero_one_loss"]
    errors = search.cv_results_["mean_test_zero_one_loss"]
    assert errors == pytest.approx(search.cv_results_["mean_test_zero-one"] - 1)


def least_spread(results):
    return int(np.argmin(results["std_test_f1"]))


def test_scores_of_dict_and_refit_function_are_those_of_grid_search():
    scoring = {"square": "neg_mean_squared_error", "share": "r2", "far": "neg_max_error"}
    words = {"scoring": scoring, "refit": "share"}
    theirs, ours = both(Ridge(), TABLE, NUMBERS, {"alpha": [0.1, 10.0]}, **words)
    same_results(theirs, ours)
    assert ours.best_params_ == theirs.best_params_
    words = {"scoring": SEVERAL, "refit": least_spread}
    theirs, ours = both(KNeighborsClassifier(), TABLE, LABELS, GRID, **words)
    assert ours.best_index_ == theirs.best_index_
    with pytest.raises(MissingResult, match="none of them is the score of this search"):
        ours.score(TABLE, LABELS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"scoring": []}, "at least one"),
        ({"scoring": ["f1", "f1"]}, "names a score twice"),
        ({"scoring": ["brier", tr.losses.Brier()]}, "names a score twice"),
        ({"scoring": ["f1", 3]}, "give a list of scores"),
        ({"scoring": ["f1", None]}, "give a list of scores"),
        ({"scoring": [[0, 1], [5, 0]]}, "given as scoring=tr.losses.Cost"),
        ({"scoring": SEVERAL, "refit": "f2"}, "none of the scores .*first one, 'accuracy', does"),
        ({"scoring": SEVERAL, "refit": None}, "none of the scores .*first one, 'accuracy', does"),
        ({"scoring": recall_and_accuracy, "refit": "f2"}, "refit='f2' is none of the scores"),
    ],
)
def test_scoring_and_refit_of_several_scores_are_checked(words, said):
    with pytest.raises(BadArgument, match=said):
        honest(LogisticRegression(), {}, **words).fit(TABLE, LABELS)
