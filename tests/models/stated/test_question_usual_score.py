"""Which estimators have scikit-learn's usual `score`, written where it may be."""

import pytest
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import accuracy_score, r2_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR
from sklearn.utils import all_estimators

import truerisk as tr
from truerisk.models.stated.question import WRITTEN_IN, usual_score


class Own(SVC):
    """Its score is another."""

    def score(self, X, y, sample_weight=None):
        return 0.0


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (SVC(), "accuracy"),
        (SVR(), "r2"),
        (KNeighborsClassifier(), "accuracy"),
        (make_pipeline(make_pipeline(SVC())), "accuracy"),
        (Own(), None),
        (make_pipeline(Own()), None),
        (LogisticRegressionCV(), None),  # whatever its `scoring` says
        (object(), None),
    ],
)
def test_the_score_is_told_by_the_method(model, word):
    """Never by the name of a class."""
    assert usual_score(model) == word


@pytest.mark.parametrize("word", WRITTEN_IN)
def test_those_that_write_it_anew_mean_the_same(word):
    """Their score of data is the metric of their predictions."""
    metric = {"accuracy": accuracy_score, "r2": r2_score}[word]
    mixin = {"accuracy": ClassifierMixin, "r2": RegressorMixin}[word]
    X, y = tr.datasets.make_simple(60, random_state=0)
    own = [place for place in WRITTEN_IN[word] if place.startswith("sklearn.")]
    places = {place.partition(":")[2] for place in own}
    anew = [kind for name, kind in all_estimators() if name in places]
    assert len(anew) == len(own) - 1
    for kind in anew:
        assert kind.score is not mixin.score
        model = kind().fit(X[:40], y[:40])
        assert model.score(X[40:], y[40:]) == pytest.approx(metric(y[40:], model.predict(X[40:])))
