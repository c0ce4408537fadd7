"""Pipelines of the real imbalanced-learn: rows are resampled inside training sets only."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.exceptions import FitFailed
from truerisk.extend import Data, Refusal, Streams
from truerisk.methods import Bootstrap

imblearn = pytest.importorskip(
    "imblearn", reason="imbalanced-learn is not installed; `make test-partners` installs it"
)
from imblearn.over_sampling import SMOTE, RandomOverSampler  # noqa: E402
from imblearn.pipeline import Pipeline  # noqa: E402
from imblearn.under_sampling import RandomUnderSampler  # noqa: E402

N = 120
RNG = np.random.default_rng(0)
Y = (np.arange(N) % 5 == 0).astype(int)
X = RNG.normal(size=(N, 3)) + Y[:, None]
SPLITS = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, Y))

LEARNERS = {
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
    "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}),
    "discriminant": (LinearDiscriminantAnalysis(), {"solver": ["svd", "lsqr"]}),
    "logistic": (LogisticRegression(), {"C": [0.1, 1]}),
    "path": (tr.models.LogisticPath(n_lambdas=4), {"at": [0, 3]}),
    "svm": (SVC(), {"C": [0.1, 1]}),
    "forest": (RandomForestClassifier(5, random_state=0), {"n_estimators": [2, 5]}),
}
RESAMPLERS = [SMOTE(random_state=3), RandomUnderSampler(random_state=2)]


def piped(learner, resampler):
    """A scaler, a resampler, a learner."""
    return Pipeline([("scale", StandardScaler()), ("resample", resampler), ("model", learner)])


def by_loops(model, params, splits):
    """The share of wrong answers by clone, fit and predict: test rows are all asked about."""
    wrong = [
        clone(model).set_params(**params).fit(X[train], Y[train]).predict(X[test]) != Y[test]
        for train, test in splits
    ]
    return np.concatenate(wrong).mean()


@pytest.mark.parametrize("resampler", RESAMPLERS, ids=["smote", "under"])
@pytest.mark.parametrize("name", LEARNERS)
def test_estimate_risk_of_a_resampler_is_what_loops_find(name, resampler):
    """Whatever the learner, and though engines know it: none takes the pipeline for another."""
    learner, grid = LEARNERS[name]
    model = piped(learner, resampler)
    grid = {f"model__{parameter}": values for parameter, values in grid.items()}
    curve = tr.risk_curve(model, grid, X, Y, cv=SPLITS)
    assert curve[0].engine == "generic"
    for found in curve:
        assert found.value == pytest.approx(by_loops(model, found.params, SPLITS), abs=1e-12)


def test_honest_search_of_a_resampler_is_grid_search():
    """The resampler is tuned, too; and there is an honest risk beside."""
    model = piped(KNeighborsClassifier(), SMOTE(random_state=0))
    grid = {"model__n_neighbors": [1, 9], "resample": [*RESAMPLERS, "passthrough"]}
    ours = tr.HonestSearchCV(model, grid, cv=SPLITS).fit(X, Y)
    theirs = GridSearchCV(model, grid, cv=SPLITS).fit(X, Y)
    name = "mean_test_score"
    assert ours.cv_results_[name] == pytest.approx(theirs.cv_results_[name], abs=1e-12)
    assert ours.risk_.value >= 0


def test_resampler_without_a_seed_is_seeded_by_its_fit():
    """So that results depend neither on the executor nor on the time of day."""
    model = piped(LogisticRegression(), SMOTE())
    found = [tr.estimate_risk(model, X, Y, cv="3-fold", n_jobs=e).value for e in (None, 2)]
    assert found[0] == found[1]


@pytest.mark.parametrize("resampler", RESAMPLERS, ids=["smote", "under"])
def test_resampler_sees_a_bootstrap_sample_with_its_copies(resampler):
    """The resampler sees each row as often as it was drawn."""
    model, method = piped(DecisionTreeClassifier(random_state=0), resampler), Bootstrap("oob", 5)
    found = tr.estimate_risk(model, X, Y, cv=method)
    plan = method.plan(Data.check(X, Y, task="classification"), Streams(0))
    wrong, times = np.zeros(N), np.zeros(N)
    for question in range(plan.n_questions):
        rows, counts = plan.train_rows(int(plan.fit[question]))
        train = np.repeat(rows, counts)
        test, _ = plan.test_rows(question)
        said = clone(model).fit(X[train], Y[train]).predict(X[test])
        wrong[test] += said != Y[test]
        times[test] += 1
    tested = times > 0
    assert found.value == pytest.approx(np.mean(wrong[tested] / times[tested]), abs=1e-12)


def test_groups_of_a_resampler_stay_on_one_side():
    """Groups are for the splits; the resampler does without."""
    model = piped(LogisticRegression(), RandomOverSampler(random_state=0))
    found = tr.estimate_risk(model, X, Y, groups=np.arange(N) // 2, cv="5-fold")
    assert found.interval.method == "beta-cv-grouped"


@pytest.mark.parametrize("resampler", RESAMPLERS, ids=["smote", "under"])
def test_weights_of_a_resampler_are_refused(resampler):
    """imbalanced-learn resamples X and y, and not what belongs to their rows."""
    with pytest.raises(
        Refusal, match=f"entry for each row, and {type(resampler).__name__} changes"
    ):
        tr.estimate_risk(piped(LogisticRegression(), resampler), X, Y, sample_weight=Y + 1.0)


def test_resampler_that_has_too_few_rows_is_named():
    few = (np.arange(N) < 5).astype(int)
    with pytest.raises(
        FitFailed, match=r"failed in the test split .*: step 'resample': ValueError"
    ):
        tr.estimate_risk(piped(LogisticRegression(), SMOTE()), X, few, cv="5-fold")


def test_audit_takes_a_search_of_a_resampler():
    """Its own score is the share of right answers, as that of any pipeline of a classifier."""
    model = piped(LogisticRegression(), SMOTE(random_state=0))
    search = GridSearchCV(model, {"model__C": [0.1, 1]}, cv=3).fit(X, Y)
    assert tr.audit(search, X, Y).honest is not None
    found = tr.assess({"it": (model, {"model__C": [0.1, 1]})}, X, Y)
    assert found.learners["it"].risk.value is not None


def test_copies_do_not_pass_a_resampler():
    """A search behind SMOTE splits rows that no draw made; around the pipeline it is served."""
    inside = piped(GridSearchCV(SVC(), {"C": [1]}, cv=3), SMOTE(random_state=0))
    with pytest.raises(FitFailed, match="put the search around the pipeline"):
        tr.estimate_risk(inside, X, Y, cv=Bootstrap("oob", 2))
    around = GridSearchCV(piped(SVC(), SMOTE(random_state=0)), {"model__C": [1]}, cv=3)
    assert tr.estimate_risk(around, X, Y, cv=Bootstrap("oob", 2)).value is not None
