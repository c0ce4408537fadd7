"""`error_score`: what fails counts with a score, as in GridSearchCV."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor

import truerisk as tr
from truerisk.core.errors import BadArgument, FitFailed

X, Y = tr.datasets.make_simple(40, random_state=0)
LINES = (LogisticRegression(), {"C": [1.0, -1.0, 1e-3]})  # a penalty is not negative


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize("score", [np.nan, 0.0, 0.99])
def test_a_failing_fit_has_the_score_that_was_given(score) -> None:
    """Scores, ranks, choice and the kind of the warning are those of GridSearchCV."""
    theirs = GridSearchCV(*LINES, cv=5, error_score=score, refit=False)
    ours = tr.HonestSearchCV(*LINES, cv=5, error_score=score, outer=None, refit=False)
    said = r"5 fits failed out of a total of 15.*5 fits failed with the following error"
    with pytest.warns(FitFailedWarning):
        theirs.fit(X, Y)
    with pytest.warns(FitFailedWarning, match=f"(?s){said}.*C"):
        ours.fit(X, Y)
    assert ours.best_index_ == theirs.best_index_
    assert (ours.best_index_ == 1) == (score == 0.99)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    for name in ("mean_test_score", "std_test_score", "rank_test_score", "split4_test_score"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name])


@pytest.mark.filterwarnings("ignore::truerisk.core.errors.FitFailedWarning")
def test_nan_leaves_a_setting_out_of_the_outer_splits_too() -> None:
    """No outer split chooses it, so the risk is that of the search among the others."""
    options = {"cv": 5, "outer": "pairs"}
    ours = tr.HonestSearchCV(*LINES, error_score=np.nan, **options).fit(X, Y)
    other = tr.HonestSearchCV(LogisticRegression(), {"C": [1.0, 1e-3]}, **options).fit(X, Y)
    assert ours.risk_.value == other.risk_.value


def test_where_all_fits_fail_there_is_nothing_to_choose() -> None:
    """The error counts the reasons."""
    options = {"cv": 5, "error_score": 0.0, "outer": None}
    search = tr.HonestSearchCV(LogisticRegression(), {"C": [-1.0, -2.0]}, **options)
    with pytest.raises(ValueError, match="All the 10 fits failed.*error_score='raise'"):
        search.fit(X, Y)
    with pytest.raises(FitFailed, match="C=-1"):
        search.set_params(error_score="raise").fit(X, Y)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"error_score": "ignore"}, "error_score='ignore': use 'raise', or the score"),
        ({"error_score": True}, "error_score=True: use"),
        ({"error_score": 0.0}, "use error_score=numpy.nan.*or outer=None"),
        ({"error_score": np.nan, "engine": "knn"}, "needs the engine 'generic'"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence(given, said) -> None:
    """A word that is none, a score in an honest risk, an engine that stops where a fit fails."""
    with pytest.raises(BadArgument, match=said):
        tr.HonestSearchCV(*LINES, cv=5, **given).fit(X, Y)


def test_a_search_that_failed_is_not_fitted() -> None:
    """Also where only an outer split failed: no choice is left without its risk."""
    X, y = np.arange(12.0)[:, None], np.arange(12.0)
    search = tr.HonestSearchCV(KNeighborsRegressor(), {"n_neighbors": [1, 8]}, cv=5, outer="2-fold")
    with pytest.raises(FitFailed):
        search.fit(X, y)
    assert not [name for name in vars(search) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        search.predict(X)
