"""`cv_results_`, `refit`, `verbose` and `error_score` as in GridSearchCV, and what is missing."""

import re
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import truerisk as tr
from truerisk.exceptions import FitFailed, MissingResult
from truerisk.exceptions import FitFailedWarning as OurFitFailedWarning
from truerisk.extend import BadArgument, BadData, Refusal

NEAREST = (KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]})
LINES = (LogisticRegression(), {"C": [1.0, -1.0, 1e-3]})  # a penalty is not negative
X, Y = load_wine(return_X_y=True)
FEW = tr.datasets.make_simple(40, random_state=0)


@pytest.mark.parametrize(
    "cv", [5, RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), ShuffleSplit(3)]
)
@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "f1_macro"])
def test_train_scores_are_those_of_grid_search(cv, scoring):
    cv = list(ShuffleSplit(3, random_state=0).split(X)) if isinstance(cv, ShuffleSplit) else cv
    theirs = GridSearchCV(*NEAREST, cv=cv, scoring=scoring, return_train_score=True).fit(X, Y)
    options = {"cv": cv, "scoring": scoring, "outer": None}
    ours = tr.HonestSearchCV(*NEAREST, **options, return_train_score=True).fit(X, Y)
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    for name in (name for name in theirs.cv_results_ if name.endswith("_score")):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-12)
    plain = tr.HonestSearchCV(*NEAREST, **options).fit(X, Y)
    assert plain.selected_risk_.plan_fingerprint == ours.selected_risk_.plan_fingerprint
    assert "mean_train_score" not in plain.cv_results_


def test_train_scores_change_no_risk():
    table, grid = load_diabetes(return_X_y=True), {"alpha": [0.01, 1.0]}
    plain = tr.HonestSearchCV(Ridge(), grid, cv=4).fit(*table)
    ours = tr.HonestSearchCV(Ridge(), grid, cv=4, return_train_score=True).fit(*table)
    assert ours.risk_.value == pytest.approx(plain.risk_.value)
    assert ours.selected_risk_.value == pytest.approx(plain.selected_risk_.value)


@pytest.mark.parametrize("verbose", [0, 1, 2, 3])
@pytest.mark.parametrize("trained", [False, True])
def test_verbose_prints_number_of_fits_then_lines_then_scores(capsys, verbose, trained):
    words = {"cv": 4, "outer": None, "verbose": verbose, "return_train_score": trained}
    tr.HonestSearchCV(*NEAREST, **words).fit(X, Y)
    said = capsys.readouterr().out
    assert ("Fitting 4 folds for each of 3 candidates, totalling 12 fits" in said) == (verbose > 0)
    assert len(re.findall(r"\[CV \d/4\] END n_neighbors=\d; .*total time=", said)) == (
        12 if verbose > 1 else 0
    )
    score = r"score=\(train=[\d.]+, test=[\d.]+\)" if trained else r"score=[\d.]+"
    assert len(re.findall(score, said)) == (12 if verbose > 2 else 0)


def worst(results):
    return int(results["mean_test_score"].argmin())


def test_refit_function_chooses_as_in_grid_search():
    theirs = GridSearchCV(*NEAREST, cv=5, refit=worst).fit(X, Y)
    ours = tr.HonestSearchCV(*NEAREST, cv=5, refit=worst, outer=None).fit(X, Y)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_estimator_.n_neighbors == theirs.best_estimator_.n_neighbors
    assert ours.curve_.best == ours.best_index_ == theirs.best_index_
    assert not hasattr(ours, "best_score_")
    assert 0 <= ours.refit_time_ < 60
    named = tr.HonestSearchCV(*NEAREST, cv=5, scoring="f1_macro", refit="f1_macro", outer=None)
    assert named.fit(X, Y).best_estimator_.n_neighbors == named.best_params_["n_neighbors"]


PLAIN = {"outer": None}
REFUSED = [
    ({"refit": lambda results: None, **PLAIN}, TypeError, "returned is not an integer"),
    ({"refit": lambda results: 3, **PLAIN}, IndexError, "index out of range.*3 settings"),
    ({"refit": lambda results: -1, **PLAIN}, IndexError, "best_index_ index out of range"),
    ({"refit": "auc", **PLAIN}, BadArgument, "refit='auc': use True, False, or a function"),
    ({"refit": worst}, BadArgument, "use a rule=.*or outer=None"),
    ({"return_train_score": "yes"}, BadArgument, "return_train_score='yes'"),
    ({"return_train_score": True, "cv": "exact-oob", **PLAIN}, Refusal, "return_train_score=False"),
    ({"error_score": "ignore"}, BadArgument, "error_score='ignore': use 'raise', or the score"),
    ({"error_score": True}, BadArgument, "error_score=True: use"),
    ({"error_score": 0.0}, BadArgument, "use error_score=numpy.nan.*or outer=None"),
    ({"error_score": np.nan, "engine": "knn"}, BadArgument, "needs the engine 'generic'"),
    ({"verbose": "a"}, BadArgument, "verbose='a': use 0, or 1 for the number of fits"),
    ({"verbose": -1}, BadArgument, "verbose=-1: use 0"),
    ({"cv": "nested"}, Refusal, "use cv='5-fold' with outer='5-fold'"),
    ({"cv": "nested", **PLAIN}, Refusal, "use cv='5-fold' with outer='5-fold'"),
]


@pytest.mark.parametrize(("options", "kind", "message"), REFUSED)
def test_search_options_are_refused_with_remedy(options, kind, message):
    with pytest.raises(kind, match=message):
        tr.HonestSearchCV(*NEAREST, **{"cv": 5, **options}).fit(X, Y)


def test_search_refuses_missing_y():
    with pytest.raises(BadData, match="y is None"):
        tr.HonestSearchCV(*NEAREST).fit(np.zeros((4, 2)))


@pytest.mark.parametrize("name", ["risk_", "optimism_", "outer_", "stability_", "best_estimator_"])
def test_missing_result_says_how_to_get_it_also_after_refit(name):
    search = tr.HonestSearchCV(*NEAREST, cv="2-fold", outer="2-fold")
    with pytest.raises(MissingResult, match=f"no {name} before it is fitted"):
        getattr(search, name)
    search.fit(X[::2], Y[::2]).set_params(outer=None, refit=False).fit(X[::2], Y[::2])
    option = "refit=True" if name == "best_estimator_" else "outer='10-fold'"
    with pytest.raises(AttributeError, match=f"no {name}: make it with {option}, and fit again"):
        getattr(search, name)
    assert not hasattr(search, "predict")
    with pytest.raises(AttributeError) as caught:
        search.predict(X)
    assert "predict is available only after refitting" in str(caught.value.__cause__)
    assert "use refit=True" in str(caught.value.__cause__)


# ---------------- fits that fail


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize("score", [np.nan, 0.0, 0.99])
def test_error_score_counts_as_in_grid_search(score):
    theirs = GridSearchCV(*LINES, cv=5, error_score=score, refit=False)
    ours = tr.HonestSearchCV(*LINES, cv=5, error_score=score, outer=None, refit=False)
    said = r"5 fits failed out of a total of 15.*5 fits failed with the following error"
    with pytest.warns(FitFailedWarning):
        theirs.fit(*FEW)
    with pytest.warns(FitFailedWarning, match=f"(?s){said}.*C"):
        ours.fit(*FEW)
    assert ours.best_index_ == theirs.best_index_
    assert (ours.best_index_ == 1) == (score == 0.99)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    for name in ("mean_test_score", "std_test_score", "rank_test_score", "split4_test_score"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name])


@pytest.mark.filterwarnings("ignore::truerisk.exceptions.FitFailedWarning")
def test_error_score_nan_leaves_setting_out_of_outer_splits():
    options = {"cv": 5, "outer": "pairs"}
    ours = tr.HonestSearchCV(*LINES, error_score=np.nan, **options).fit(*FEW)
    other = tr.HonestSearchCV(LogisticRegression(), {"C": [1.0, 1e-3]}, **options).fit(*FEW)
    assert ours.risk_.value == other.risk_.value


HEARD = {"engine": tr.engines.Generic(error="warn"), "outer": "2-fold"}
SCORED = {"cv": 5, "error_score": 0.0, "outer": None}
NEGATIVE = (LogisticRegression(), {"C": [-1.0, -2.0]})


@pytest.mark.parametrize(
    ("search", "options", "error", "message"),
    [
        (
            (NEAREST[0], {"n_neighbors": [50]}),
            HEARD,
            Refusal,
            "only candidate has a failed fit.*n_neighbors=50",
        ),
        # Thirty neighbours are there in nine tenths of forty rows, and not in half of them.
        (
            (NEAREST[0], {"n_neighbors": [30]}),
            HEARD,
            Refusal,
            "chosen candidate has a failed fit in an outer split",
        ),
        (NEGATIVE, SCORED, ValueError, "All the 10 fits failed.*error_score='raise'"),
        (NEGATIVE, {**SCORED, "error_score": "raise"}, FitFailed, "C=-1"),
    ],
    ids=["one setting", "one setting in an outer split", "all settings", "first fit"],
)
def test_search_fails_if_no_setting_can_be_fitted(search, options, error, message):
    heard = pytest.warns(OurFitFailedWarning) if options is HEARD else nullcontext()
    with heard, pytest.raises(error, match=message):
        tr.HonestSearchCV(*search, **options).fit(*FEW)


def test_search_that_failed_in_an_outer_split_is_not_fitted():
    numbers = np.arange(12.0)
    search = tr.HonestSearchCV(KNeighborsRegressor(), {"n_neighbors": [1, 8]}, cv=5, outer="2-fold")
    with pytest.raises(FitFailed):
        search.fit(numbers[:, None], numbers)
    assert not [name for name in vars(search) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        search.predict(numbers[:, None])
