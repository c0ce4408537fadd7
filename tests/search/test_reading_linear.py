"""Searches that are learners themselves."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNetCV, LassoCV, LogisticRegressionCV, RidgeCV

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.search.reading import read_lasso, read_logistic, read_ridge

ALPHAS = np.logspace(-2, 2, 5)


@pytest.fixture(scope="module")
def diabetes():
    """The first 80 rows of diabetes."""
    X, y = load_diabetes(return_X_y=True)
    return X[:80], y[:80]


@pytest.fixture
def quiet():
    """Scikit-learn's announcements of changes to come are not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def audited(search, X, y, **options):
    """The audit at level bbc."""
    return tr.audit(search.fit(X, y), X, y, **{"level": "bbc", **options})


@pytest.mark.usefixtures("quiet")
def test_logistic_regression_is_read_and_replayed(simple):
    """Its best mean of scores_ is the claim, and the replay gives it again."""
    search = LogisticRegressionCV(Cs=[0.01, 0.1, 1.0, 10.0], cv=3)
    u = audited(search, *simple)
    claim = read_logistic(search)
    assert claim.score == np.mean(search.scores_[1], axis=0).max()
    assert claim.best_params["C"] == search.C_[0]
    assert "replay-differs" not in u.codes
    assert u.honest.interval is not None


@pytest.mark.usefixtures("quiet")
def test_one_c_per_class_makes_several_claims(simple):
    """Scores that differ between classes are refused."""
    search = LogisticRegressionCV(Cs=[0.1, 1.0], cv=3).fit(*simple)
    search.scores_ = {0: np.ones((3, 2)), 1: np.zeros((3, 2))}
    with pytest.raises(Refusal, match="one C per class"):
        read_logistic(search)


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", "r2"])
def test_ridge_by_leave_one_out_is_replayed(diabetes, scoring):
    """The replay gives the claimed score; R² is that of all held-out rows together."""
    u = audited(RidgeCV(ALPHAS, scoring=scoring), *diabetes)
    assert "replay-differs" not in u.codes
    assert u.honest.engine == "least-squares"
    assert u.rough is None
    again = audited(RidgeCV(ALPHAS, scoring=scoring), *diabetes, level="pairs")
    assert again.honest.method == "nested (5-fold, RidgeCV cloned)"


def test_ridge_by_folds_is_replayed(diabetes):
    """RidgeCV(cv=5) threw its scores away; the replayed claim is checked all the same."""
    u = audited(RidgeCV(ALPHAS, cv=5), *diabetes)
    assert "replay-differs" not in u.codes
    with pytest.raises(Refusal, match=r"keeps no scores.*store_cv_results"):
        tr.audit(RidgeCV(ALPHAS, cv=5).fit(*diabetes), level="scores")


def test_kept_errors_of_ridge_are_scores(diabetes):
    """store_cv_results keeps the squared error of every row: mean of the best is the claim."""
    search = RidgeCV(ALPHAS, store_cv_results=True).fit(*diabetes)
    claim = read_ridge(search)
    assert claim.scores.shape == (5, 80)
    assert claim.means.max() == pytest.approx(search.best_score_)
    assert tr.audit(search, level="scores").honest is None


def test_one_alpha_per_target_is_refused(diabetes):
    """Several targets, several claims."""
    X, y = diabetes
    search = RidgeCV(ALPHAS, alpha_per_target=True).fit(X, np.c_[y, -y])
    with pytest.raises(Refusal, match="one target"):
        read_ridge(search)


@pytest.mark.parametrize(
    "search",
    [LassoCV(alphas=ALPHAS, cv=3), ElasticNetCV(alphas=ALPHAS, l1_ratio=[0.3, 0.8], cv=3)],
    ids=["lasso", "elastic net"],
)
def test_paths_are_read_and_replayed(diabetes, search):
    """The smallest mean of mse_path_ is the claim; the conclusion speaks of errors."""
    u = audited(search, *diabetes)
    claim = read_lasso(search)
    assert -claim.score == pytest.approx(search.mse_path_.mean(axis=-1).min())
    assert claim.best_params["alpha"] == search.alpha_
    assert "replay-differs" not in u.codes
    assert u.claimed.value == -claim.score
    assert u.conclusion.startswith("the smallest mean of mse_path_ ")
