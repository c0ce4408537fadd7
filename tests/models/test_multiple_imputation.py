"""MultipleImputation: several tables filled in at random, one learner each, answers averaged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.feature_selection import SelectKBest
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.estimator_checks import estimator_checks

import truerisk as tr
from truerisk.models.multiple_imputation import MultipleImputation

RNG = np.random.default_rng(0)
WHOLE = RNG.normal(size=(80, 3)) @ np.array([[1, 0.7, 0.2], [0, 1, 0.5], [0, 0, 1]])
VALUES = WHOLE @ [1.0, 2.0, -1.0] + RNG.normal(size=80)
LABELS = np.where(VALUES > 0, "ill", "well")
X = np.where(RNG.random(WHOLE.shape) < 0.2, np.nan, WHOLE)
QUICK = {
    "imputer": IterativeImputer(sample_posterior=True, max_iter=2),
    "n_imputations": 2,
    "random_state": 0,
}
CHECKED = tuple(MultipleImputation(m, **QUICK) for m in (LogisticRegression(), LinearRegression()))


@pytest.mark.parametrize(("estimator", "check"), list(estimator_checks(*CHECKED)))
def test_it_keeps_the_contract_of_scikit_learn(estimator, check) -> None:
    """Scikit-learn's estimator checks pass, of a classifier and of a regressor."""
    check(estimator)


def pipelines(learner, y, n=4, seed=3):
    """By hand: as many pipelines with the seeds that one generator gives."""
    seeds = np.random.RandomState(seed).randint(2**31 - 1, size=n)
    return [
        make_pipeline(IterativeImputer(sample_posterior=True, random_state=s), clone(learner)).fit(
            X, y
        )
        for s in seeds
    ]


@pytest.mark.parametrize(
    ("learner", "method"),
    [
        (LogisticRegression(), "predict_proba"),
        (LogisticRegression(), "decision_function"),
        (RidgeClassifier(), "decision_function"),
        (LinearRegression(), "predict"),
    ],
)
def test_answers_are_the_means_of_pipelines_made_by_hand(learner, method):
    """Of probabilities, of decision values, of values; the label is that of the mean."""
    y = VALUES if method == "predict" else LABELS
    model = MultipleImputation(learner, n_imputations=4, random_state=3).fit(X, y)
    each = [getattr(one, method)(X) for one in pipelines(learner, y)]
    np.testing.assert_array_equal(getattr(model, method)(X), np.mean(each, axis=0))
    assert np.ptp(each, axis=0).max() > 0.01  # the tables differ
    if method == "predict_proba":
        assert (
            model.predict(X) == np.array(["ill", "well"])[np.mean(each, axis=0).argmax(1)]
        ).all()
    elif not hasattr(learner, "predict_proba") and method == "decision_function":
        assert (model.predict(X) == np.where(np.mean(each, axis=0) > 0, "well", "ill")).all()


def test_the_same_rows_have_the_same_answers():
    """Asked twice, fitted twice by one seed; by another seed they are others."""
    model = MultipleImputation(LogisticRegression(), random_state=1).fit(X, LABELS)
    first = model.predict_proba(X)
    np.testing.assert_array_equal(first, model.predict_proba(X))
    np.testing.assert_array_equal(first, clone(model).fit(X, LABELS).predict_proba(X))
    other = clone(model).set_params(random_state=2).fit(X, LABELS)
    assert (first != other.predict_proba(X)).any()


def test_without_gaps_it_is_the_learner():
    """There is nothing to draw."""
    model = MultipleImputation(LogisticRegression(), random_state=0).fit(WHOLE, LABELS)
    alone = LogisticRegression().fit(WHOLE, LABELS)
    np.testing.assert_allclose(model.predict_proba(WHOLE), alone.predict_proba(WHOLE))


def test_a_tuner_sets_what_is_inside(monkeypatch):
    """By the usual double underscore, within a pipeline too; names of columns are known."""
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = MultipleImputation(LogisticRegression(), n_imputations=2, random_state=0)
    grid = {"estimator__C": [0.01, 1.0], "n_imputations": [2, 3]}
    search = GridSearchCV(model, grid, cv=2).fit(frame, LABELS)
    assert search.best_params_["estimator__C"] == search.best_estimator_.estimators_[0].C
    assert search.best_estimator_.feature_names_in_.tolist() == ["a", "b", "c"]
    assert search.best_estimator_.n_features_in_ == 3
    honest = tr.HonestSearchCV(model, {"estimator__C": [0.01, 1.0]}, cv="3-fold")
    assert honest.fit(X, LABELS).risk_.interval is not None


def test_an_imputer_of_ones_own_draws_by_its_seed():
    """Wherever in a pipeline it stands; the weights of rows go to the learner."""
    own = make_pipeline(StandardScaler(), IterativeImputer(sample_posterior=True))
    model = MultipleImputation(LogisticRegression(), n_imputations=3, imputer=own, random_state=0)
    seeds = {m.steps[1][1].random_state for m in model.fit(X, LABELS).imputers_}
    assert len(seeds) == 3
    weights = np.arange(80) % 2
    weighed = clone(model).fit(X, LABELS, sample_weight=weights)
    assert (weighed.predict_proba(X) != model.predict_proba(X)).any()


def test_every_part_of_an_imputer_has_the_seed_and_is_given_y():
    """What draws beside the imputer, and a step that selects by the outcome."""
    own = make_pipeline(IterativeImputer(sample_posterior=True), PCA(2), SelectKBest(k=1))
    model = MultipleImputation(LogisticRegression(), n_imputations=2, imputer=own, random_state=0)
    for fitted in model.fit(X, LABELS).imputers_:
        assert fitted[0].random_state == fitted[1].random_state is not None


@pytest.mark.parametrize(
    "imputer",
    [
        SimpleImputer(),
        IterativeImputer(),
        make_pipeline(IterativeImputer(sample_posterior=True), IterativeImputer()),
    ],
)
def test_an_imputer_that_does_not_draw_is_refused(imputer):
    """All tables would be the same."""
    with pytest.raises(ValueError, match=r"it does not draw, .*sample_posterior=True"):
        MultipleImputation(LogisticRegression(), imputer=imputer).fit(X, LABELS)


@pytest.mark.parametrize("n", [0, 2.5, "5"])
def test_a_number_of_tables_is_one_or_more(n):
    """The sentence names the argument."""
    with pytest.raises(ValueError, match="n_imputations"):
        MultipleImputation(LogisticRegression(), n_imputations=n).fit(X, LABELS)
