"""Claims that searches of scikit-learn, ours and Optuna's make."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import ElasticNetCV, LassoCV, LogisticRegressionCV, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    check_cv,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from tests.support.data import checked

import truerisk as tr
from truerisk.auditing.on_scores import score_findings
from truerisk.extend import Refusal
from truerisk.search.claim import make_score_scale
from truerisk.search.reading import (
    read_claim,
    read_grid_search,
    read_lasso,
    read_logistic,
    read_ridge,
    read_study,
)

GRID = {"n_neighbors": [1, 3, 5, 9, 15]}


def test_grid_search_claim_is_that_of_cv_results(grid_search):
    search = grid_search(cv=12)
    claim = read_claim(search)
    assert claim.search_name == "GridSearchCV"
    assert claim.is_exact
    assert claim.score == search.best_score_
    assert claim.best_params == search.best_params_
    assert claim.scores.shape == (5, 12)
    # split10 stands after split9, not after split1.
    assert claim.scores[:, 11].tolist() == search.cv_results_["split11_test_score"].tolist()
    assert claim.means == pytest.approx(search.cv_results_["mean_test_score"], abs=1e-15)


def test_grid_search_of_several_metrics_claims_the_one_that_chose(grid_search):
    search = grid_search(scoring=["accuracy", "roc_auc"], refit="roc_auc")
    claim = read_grid_search(search)
    assert claim.score == search.best_score_
    assert "several-metrics" in [f.code for f in claim.findings]
    assert "several-metrics" not in [f.code for f in read_grid_search(grid_search()).findings]
    assert make_score_scale(claim).risk_name == "auc"


def test_grid_search_with_refit_function_claims_mean_of_its_choice(grid_search):
    claim = read_grid_search(
        grid_search(refit=lambda results: int(results["mean_test_score"].argmin()))
    )
    assert claim.score == pytest.approx(claim.means.min())
    found = score_findings(claim, make_score_scale(claim), np.nan)
    assert "choice-differs" in [f.code for f in found]


def test_halving_search_claim_is_of_its_last_round(simple):
    X, y = simple
    search = HalvingGridSearchCV(
        KNeighborsClassifier(), GRID, random_state=0, cv=3, min_resources=30, factor=2
    ).fit(X, y)
    claim = read_grid_search(search)
    last = np.asarray(search.cv_results_["iter"]) == search.n_iterations_ - 1
    assert len(claim.candidates) == last.sum() < len(last)
    assert claim.score == search.best_score_
    plan = claim.plan(checked(X, y))
    used = plan.train_sizes[plan.fit[0]] + plan.test_sizes[0]
    assert used == pytest.approx(search.n_resources_[-1], abs=1)
    assert "halving" in claim.notes[0]


def test_honest_search_claim_keeps_its_curve(simple):
    search = tr.HonestSearchCV(KNeighborsClassifier(), GRID, outer=None).fit(*simple)
    claim = read_grid_search(search)
    assert claim.curve is search.curve_
    assert claim.score == search.best_score_


SEVERAL = {"scoring": ["accuracy", "f1"]}


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (lambda _: GridSearchCV(KNeighborsClassifier(), GRID), r"is not fitted.*Call fit"),
        (lambda _: GridSearchCV, "is no search"),
        (lambda _: "search", "is no search"),
        (lambda _: None, "is no search"),
        (lambda _: PCA().fit(np.eye(3)), r"holds nothing to audit.*HonestSearchCV"),
        (lambda fitted: fitted(**SEVERAL, refit=False), "no single score is claimed"),
        (lambda fitted: fitted(**SEVERAL, refit=lambda results: 0), "no single score is claimed"),
    ],
    ids=["not fitted", "class", "text", "none", "no search", "several", "several and a function"],
)
def test_read_claim_refuses_what_makes_no_single_claim(grid_search, thing, message):
    given = thing(grid_search)
    with pytest.raises(Refusal, match=message):
        read_claim(given)


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
def test_logistic_path_claim_is_best_mean_score_and_is_replayed(simple):
    search = LogisticRegressionCV(Cs=[0.01, 0.1, 1.0, 10.0], cv=3)
    u = audited(search, *simple)
    claim = read_logistic(search)
    assert claim.score == np.mean(search.scores_[1], axis=0).max()
    assert claim.best_params["C"] == search.C_[0]
    assert "replay-differs" not in u.codes
    assert u.honest.interval is not None


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", "r2"])
def test_ridge_claim_by_leave_one_out_is_replayed(diabetes, scoring):
    u = audited(RidgeCV(ALPHAS, scoring=scoring), *diabetes)
    assert "replay-differs" not in u.codes
    assert u.honest.engine == "least-squares"
    assert u.rough is None
    again = audited(RidgeCV(ALPHAS, scoring=scoring), *diabetes, level="pairs")
    assert again.honest.method == "nested (5-fold, RidgeCV cloned)"


def test_ridge_claim_by_folds_is_replayed(diabetes):
    u = audited(RidgeCV(ALPHAS, cv=5), *diabetes)
    assert "replay-differs" not in u.codes
    with pytest.raises(Refusal, match=r"keeps no scores.*store_cv_results"):
        tr.audit(RidgeCV(ALPHAS, cv=5).fit(*diabetes), level="scores")


def test_ridge_claim_reads_stored_errors_as_scores(diabetes):
    search = RidgeCV(ALPHAS, store_cv_results=True).fit(*diabetes)
    claim = read_ridge(search)
    assert claim.scores.shape == (5, 80)
    assert claim.means.max() == pytest.approx(search.best_score_)
    assert tr.audit(search, level="scores").honest is None


@pytest.mark.parametrize(
    "search",
    [LassoCV(alphas=ALPHAS, cv=3), ElasticNetCV(alphas=ALPHAS, l1_ratio=[0.3, 0.8], cv=3)],
    ids=["lasso", "elastic net"],
)
def test_lasso_path_claim_is_smallest_mean_error_and_is_replayed(diabetes, search):
    u = audited(search, *diabetes)
    claim = read_lasso(search)
    assert -claim.score == pytest.approx(search.mse_path_.mean(axis=-1).min())
    assert claim.best_params["alpha"] == search.alpha_
    assert "replay-differs" not in u.codes
    assert u.claimed.value == -claim.score
    assert f"{u.claimed.value:.4g} (the smallest mean of mse_path_)," in u.conclusion


@pytest.mark.usefixtures("quiet")
def test_linear_searches_with_several_claims_are_refused(simple, diabetes):
    logistic = LogisticRegressionCV(Cs=[0.1, 1.0], cv=3).fit(*simple)
    logistic.scores_ = {0: np.ones((3, 2)), 1: np.zeros((3, 2))}
    with pytest.raises(Refusal, match="one C per class"):
        read_logistic(logistic)
    X, y = diabetes
    ridge = RidgeCV(ALPHAS, alpha_per_target=True).fit(X, np.c_[y, -y])
    with pytest.raises(Refusal, match="one target"):
        read_ridge(ridge)


class StudySearch(BaseEstimator):
    """Tries n_neighbors 1, 3, 5, ...; keeps what OptunaSearchCV keeps, and says no more."""

    def __init__(self, estimator, n_trials=5, cv=5, scoring=None, study=None, subsample=1.0):
        self.estimator = estimator
        self.n_trials = n_trials
        self.cv = cv
        self.scoring = scoring
        self.study = study
        self.subsample = subsample

    def fit(self, X, y):
        """Run the trials on a share of the rows."""
        drawn = np.random.default_rng(0).permutation(len(y))[: int(len(y) * self.subsample)]
        self.sample_indices_ = np.sort(drawn)
        X, y = X[self.sample_indices_], y[self.sample_indices_]
        splitter = check_cv(self.cv, y, classifier=True)
        self.study_ = self.study or SimpleNamespace(trials=[])
        for _ in range(self.n_trials):
            number = len(self.study_.trials)
            params = {"n_neighbors": 2 * number + 1}
            model = clone(self.estimator).set_params(**params)
            scores = cross_val_score(model, X, y, cv=splitter, scoring=self.scoring)
            kept = {f"split{k}_test_score": score for k, score in enumerate(scores)}
            self.study_.trials.append(
                SimpleNamespace(
                    number=number,
                    params=params,
                    value=float(scores.mean()),
                    user_attrs=kept,
                    state=SimpleNamespace(name="COMPLETE"),
                )
            )
        best = max(self.study_.trials, key=lambda trial: trial.value)
        self.best_index_, self.best_score_ = best.number, best.value
        self.classes_ = np.unique(y)
        self.model_ = clone(self.estimator).set_params(**best.params).fit(X, y)
        return self

    def predict(self, X):
        """Labels of the best model."""
        return self.model_.predict(X)


@pytest.fixture
def study_search(simple):
    """A fitted double."""

    def made(**options):
        return StudySearch(KNeighborsClassifier(), **options).fit(*simple)

    return made


def test_study_search_is_audited_at_all_levels(study_search, simple):
    search = study_search()
    assert read_study(search).best_candidate == search.best_index_
    for level in ("scores", "bbc", "nested"):
        u = tr.audit(search, *simple, level=level)
        assert u.claimed.value == pytest.approx(search.best_score_)
        assert "replay-differs" not in u.codes
        assert u.optimism is not None


def test_study_search_with_reused_study_cannot_be_repeated(study_search, simple):
    search = study_search(study=study_search().study_)
    assert "state-survives-clone" in tr.audit(search, *simple, level="bbc").codes
    for level in ("pairs", "nested"):
        with pytest.raises(Refusal, match="study=None"):
            tr.audit(search, *simple, level=level)


def test_study_search_is_replayed_from_what_its_trials_keep(study_search, simple):
    half = study_search(subsample=0.5)
    assert "replay-differs" not in tr.audit(half, *simple).codes
    search = study_search()
    trials = search.study_.trials
    trials[1].user_attrs.clear()
    assert read_study(search).scores is None
    assert "replay-differs" not in tr.audit(search, *simple).codes
    trials[0].state.name = "PRUNED"
    claim = read_study(search)
    assert len(claim.candidates) == 4
    assert "1 trials were pruned" in claim.notes[0]
    trials.clear()
    with pytest.raises(Refusal, match="no finished trial"):
        read_study(search)
