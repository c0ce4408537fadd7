"""MultipleImputation: several tables filled in at random, one learner each, answers averaged."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.feature_selection import SelectKBest
from sklearn.impute import IterativeImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.models import MultipleImputation

RNG = np.random.default_rng(0)
WHOLE = RNG.normal(size=(80, 3)) @ np.array([[1, 0.7, 0.2], [0, 1, 0.5], [0, 0, 1]])
VALUES = WHOLE @ [1.0, 2.0, -1.0] + RNG.normal(size=80)
LABELS = np.where(VALUES > 0, "ill", "well")
X = np.where(RNG.random(WHOLE.shape) < 0.2, np.nan, WHOLE)


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
def test_multiple_imputation_is_the_mean_of_pipelines_made_by_hand(learner, method):
    """Of probabilities, of decision values, of values; the label is that of the mean."""
    y = VALUES if method == "predict" else LABELS
    model = MultipleImputation(learner, n_imputations=4, random_state=3).fit(X, y)
    each = [getattr(one, method)(X) for one in pipelines(learner, y)]
    mean = np.mean(each, axis=0)
    np.testing.assert_array_equal(getattr(model, method)(X), mean)
    assert np.ptp(each, axis=0).max() > 0.01  # the tables differ
    if method == "predict_proba":
        assert (model.predict(X) == np.array(["ill", "well"])[mean.argmax(1)]).all()
    elif isinstance(learner, RidgeClassifier):
        assert (model.predict(X) == np.where(mean > 0, "well", "ill")).all()


def test_multiple_imputation_repeats_its_answers():
    """Asked twice, fitted twice by one seed; by another seed they are others.

    Without gaps there is nothing to draw.
    """
    model = MultipleImputation(LogisticRegression(), random_state=1).fit(X, LABELS)
    first = model.predict_proba(X)
    np.testing.assert_array_equal(first, model.predict_proba(X))
    np.testing.assert_array_equal(first, clone(model).fit(X, LABELS).predict_proba(X))
    other = clone(model).set_params(random_state=2).fit(X, LABELS)
    assert (first != other.predict_proba(X)).any()
    alone = LogisticRegression().fit(WHOLE, LABELS)
    whole = clone(model).fit(WHOLE, LABELS)
    np.testing.assert_allclose(whole.predict_proba(WHOLE), alone.predict_proba(WHOLE))


def test_multiple_imputation_is_tuned_inside():
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


def test_multiple_imputation_seeds_an_own_imputer():
    """Wherever in a pipeline it stands; the weights of rows go to the learner.

    What draws beside the imputer has the seed, and a step that selects by the outcome gets y.
    """
    own = make_pipeline(StandardScaler(), IterativeImputer(sample_posterior=True))
    model = MultipleImputation(LogisticRegression(), n_imputations=3, imputer=own, random_state=0)
    seeds = {m.steps[1][1].random_state for m in model.fit(X, LABELS).imputers_}
    assert len(seeds) == 3
    weights = np.arange(80) % 2
    weighed = clone(model).fit(X, LABELS, sample_weight=weights)
    assert (weighed.predict_proba(X) != model.predict_proba(X)).any()
    parts = make_pipeline(IterativeImputer(sample_posterior=True), PCA(2), SelectKBest(k=1))
    for fitted in model.set_params(imputer=parts).fit(X, LABELS).imputers_:
        assert fitted[0].random_state == fitted[1].random_state is not None
