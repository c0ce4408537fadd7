"""ThresholdClassifier: the threshold of a cost or a rate, chosen on out-of-fold scores."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import truerisk as tr
from truerisk.extend import BadData, Refusal
from truerisk.models import ThresholdClassifier

X, CODES = tr.datasets.make_simple(120, random_state=0)
Y = np.where(CODES == 1, "sick", "healthy")
NEAREST = KNeighborsClassifier(1)
FOLDS = StratifiedKFold(4, shuffle=True, random_state=3)


def model(estimator=None, **options):
    return ThresholdClassifier(estimator or GaussianNB(), cv=FOLDS, **options).fit(X, Y)


@pytest.mark.parametrize("cost", [(1, 1), (1, 4), (6, 1)])
def test_threshold_classifier_finds_the_least_cost(cost) -> None:
    """On the out-of-fold scores the chosen one is best, counted for every score."""
    found = model(cost=cost)
    scores = cross_val_predict(GaussianNB(), X, Y, cv=FOLDS, method="predict_proba")
    np.testing.assert_array_equal(found.scores_, scores[:, 1])
    costs = []
    for t in [np.inf, *found.scores_]:
        called = found.scores_ >= t
        wrong = cost[0] * (called & (Y == "healthy")) + cost[1] * (~called & (Y == "sick"))
        costs.append(wrong.mean())
    assert found.operating_point_.cost == pytest.approx(min(costs), abs=1e-14)
    assert found.operating_point_.threshold == found.threshold_


def test_threshold_classifier_meets_a_demanded_rate_out_of_fold() -> None:
    """Sensitivity of at least .95 with the fewest false positives; so for the others."""
    found = model(sensitivity=0.95)
    called = found.scores_ >= found.threshold_
    assert called[Y == "sick"].mean() >= 0.95
    fewer = found.scores_ > found.threshold_
    assert fewer[Y == "sick"].mean() < 0.95
    assert model(specificity=0.9).operating_point_.specificity >= 0.9
    assert model(precision=0.9).operating_point_.precision >= 0.9


def test_threshold_classifier_predicts_by_its_threshold() -> None:
    """Positive where the score of the refitted model is at least the threshold, ties included."""
    found = model(cost=(1, 4))
    scores = GaussianNB().fit(X, Y).predict_proba(X)[:, 1]
    np.testing.assert_array_equal(found.predict(X) == "sick", scores >= found.threshold_)
    np.testing.assert_allclose(found.decision_function(X), scores - found.threshold_, atol=1e-12)
    found.threshold_ = scores[7]
    assert found.predict(X[7:8]) == "sick"
    assert not hasattr(found, "predict_proba")  # a half of which would be no threshold
    seeded = [ThresholdClassifier(GaussianNB(), random_state=s).fit(X, Y) for s in (1, 1, 2)]
    np.testing.assert_array_equal(seeded[0].scores_, seeded[1].scores_)
    assert (seeded[0].scores_ != seeded[2].scores_).any()


def test_threshold_classifier_names_the_columns_of_the_fitted_one():
    found = ThresholdClassifier(LogisticRegression(), cv=2)
    assert not hasattr(found, "n_features_in_")
    found.fit(pd.DataFrame(X, columns=["a", "b"]), Y)
    assert found.n_features_in_ == 2
    assert found.feature_names_in_.tolist() == ["a", "b"]
    assert not hasattr(found.fit(X, Y), "feature_names_in_")


@pytest.mark.parametrize("positive", ["healthy", "sick"])
@pytest.mark.parametrize("demanded", [{"cost": (1, 4)}, {"cost": (0, 1)}, {"cost": (1, 0)}])
def test_threshold_classifier_decision_value_has_the_sign_of_the_label(positive, demanded) -> None:
    """Ties included, and where no row is positive; the order is that of the scores."""
    found = model(positive=positive, **demanded)
    if demanded == {"cost": (1, 0)}:
        assert np.isinf(found.threshold_)
        assert (found.predict(X) != positive).all()
    for threshold in (found.threshold_, found.scores_[3]):
        found.threshold_ = threshold
        beyond = found.decision_function(X)
        np.testing.assert_array_equal(beyond > 0, found.predict(X) == "sick")
        scores = found.estimator_.predict_proba(X)[:, 1]
        np.testing.assert_array_equal(np.argsort(beyond), np.argsort(scores))


def test_threshold_classifier_takes_the_positive_class() -> None:
    first, second = model(cost=(3, 1)), model(cost=(1, 3), positive="healthy")
    assert second.operating_point_.cost == pytest.approx(first.operating_point_.cost)
    np.testing.assert_allclose(second.scores_, 1 - first.scores_, atol=1e-12)
    forward = model(RidgeClassifier())
    scores = RidgeClassifier().fit(X, Y).decision_function(X)  # there are no probabilities
    np.testing.assert_array_equal(forward.predict(X) == "sick", scores >= forward.threshold_)
    backward = model(RidgeClassifier(), positive="healthy")
    np.testing.assert_array_equal(forward.scores_, -backward.scores_)
    assert model(LogisticRegression(), response_method="decision_function").scores_.min() < 0


def test_threshold_classifier_counts_weights() -> None:
    """Rows of weight 0 are as if they were not there; weights reach the last step of a pipeline."""
    weights = np.r_[np.ones(100), np.zeros(20)]
    folds = [(np.setdiff1d(np.arange(120), t), t) for t in np.array_split(np.arange(120), 6)]
    weighted = ThresholdClassifier(GaussianNB(), cv=folds).fit(X, Y, sample_weight=weights)
    kept = [(train[train < 100], test) for train, test in folds[:5]]
    alone = ThresholdClassifier(GaussianNB(), cv=kept).fit(X[:100], Y[:100])
    assert weighted.threshold_ == pytest.approx(alone.threshold_, rel=1e-9)
    assert weighted.operating_point_.cost == pytest.approx(alone.operating_point_.cost, rel=1e-12)
    weights = np.linspace(0, 3, 120)
    plain = ThresholdClassifier(GaussianNB(), cv=FOLDS).fit(X, Y, sample_weight=weights)
    piped = ThresholdClassifier(make_pipeline("passthrough", GaussianNB()), cv=FOLDS)
    piped.fit(X, Y, gaussiannb__sample_weight=weights)
    assert piped.operating_point_.to_dict() == plain.operating_point_.to_dict()
    with sklearn.config_context(enable_metadata_routing=True):
        routed = ThresholdClassifier(GaussianNB().set_fit_request(sample_weight=True), cv=FOLDS)
        routed.fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(routed.predict(X), plain.predict(X))
    assert routed.operating_point_.to_dict() == plain.operating_point_.to_dict()


def test_threshold_classifier_keeps_groups_in_one_fold() -> None:
    """With groups the out-of-fold score of a copy does not know its twin."""
    twins, labels = np.repeat(X[:30], 2, axis=0), np.tile(["a", "b", "b", "a"], 15)
    labels = np.repeat(np.random.default_rng(0).permutation(labels[:30]), 2)
    nearest = ThresholdClassifier(KNeighborsClassifier(1), random_state=0)
    leaked = nearest.fit(twins, labels).operating_point_.error
    honest = nearest.fit(twins, labels, groups=np.repeat(np.arange(30), 2)).operating_point_.error
    assert leaked < 0.2
    assert honest > 0.3


def test_threshold_classifier_has_an_honest_risk() -> None:
    """On pure noise the tuned rates flatter, and the estimate, which tunes inside, does not."""
    rng = np.random.default_rng(0)
    tuned, honest = [], []
    for seed in range(16):
        noise, labels = rng.normal(size=(40, 3)), np.tile([0, 1], 20)
        one = ThresholdClassifier(GaussianNB(), random_state=0)
        tuned.append(one.fit(noise, labels).operating_point_.error)
        est = tr.estimate_risk(one, noise, labels, cv="5-fold", random_state=seed)
        honest.append(est.value)
    assert np.mean(tuned) < 0.43
    assert np.mean(honest) > 0.46


def test_threshold_classifier_is_tuned_and_assessed_like_any_model() -> None:
    """In a grid, by a cost loss, and beside scikit-learn's own threshold classifier."""
    loss = tr.losses.Cost([[0, 1], [5, 0]])  # rows: healthy, sick
    one = ThresholdClassifier(GaussianNB(), cost=(1, 5), random_state=0)
    plain = tr.estimate_risk(GaussianNB(), X, Y, scoring=loss, cv="5-fold")
    assert tr.estimate_risk(one, X, Y, scoring=loss, cv="5-fold").value < plain.value
    grid = GridSearchCV(one, {"estimator__var_smoothing": [1e-9, 1.0]}, cv=2).fit(X, Y)
    assert grid.best_estimator_.threshold_ > 0
    peer = TunedThresholdClassifierCV(GaussianNB(), scoring="balanced_accuracy", cv=3)
    a, b = (tr.estimate_risk(m, X, Y, cv="2-fold") for m in (one, peer))
    assert tr.compare(a, b).n_pairs == 2


@pytest.mark.parametrize(
    ("options", "labels", "error", "message"),
    [
        ({"cost": (1, 2), "sensitivity": 0.9}, Y, ValueError, "not both"),
        ({"precision": 0.9, "sensitivity": 0.9}, Y, ValueError, "demand one rate"),
        ({"sensitivity": 90}, Y, BadData, "no rate between 0 and 1"),
        ({"cost": 5}, Y, ValueError, "give two numbers"),
        ({"cost": (-1, 1)}, Y, BadData, "costs -1"),
        ({"positive": "ill"}, Y, ValueError, "positive='ill' is no class"),
        ({"response_method": "proba"}, Y, ValueError, "response_method='proba'"),
        (
            {"estimator": RidgeClassifier(), "response_method": "predict_proba"},
            Y,
            ValueError,
            "no predict_proba",
        ),
        ({}, np.arange(120) % 3, ValueError, "Only binary classification"),
        ({}, np.zeros(120), ValueError, "one class only"),
        ({}, np.r_[1, np.zeros(119)], ValueError, "n_samples=1"),
        ({}, np.where(X[:, 0] > 0, np.inf, 0), ValueError, "infinity"),
        # the highest score is of a negative row
        ({"estimator": NEAREST, "precision": 1.0}, Y, Refusal, "no threshold reaches a precision"),
    ],
)
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_threshold_classifier_refuses(options, labels, error, message) -> None:
    given = {"estimator": GaussianNB(), "random_state": 0, **options}
    with pytest.raises(error, match=message):
        ThresholdClassifier(**given).fit(X, labels)
