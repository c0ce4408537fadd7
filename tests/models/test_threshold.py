"""ThresholdClassifier: the threshold of a cost or a rate, chosen on out-of-fold scores."""

from __future__ import annotations

import numpy as np
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
from tests.support.estimator_checks import estimator_checks

import truerisk as tr
from truerisk.core.errors import BadData, Refusal
from truerisk.models.threshold import ThresholdClassifier

X, CODES = tr.datasets.make_simple(120, random_state=0)
Y = np.where(CODES == 1, "sick", "healthy")
FOLDS = StratifiedKFold(4, shuffle=True, random_state=3)
CHECKED = ThresholdClassifier(LogisticRegression(), cost=(1, 2), cv=2, random_state=0)


@pytest.mark.parametrize(("estimator", "check"), list(estimator_checks(CHECKED)))
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_it_keeps_the_contract_of_scikit_learn(estimator, check) -> None:
    """Scikit-learn's estimator checks pass."""
    check(estimator)


def model(estimator=None, **options):
    return ThresholdClassifier(estimator or GaussianNB(), cv=FOLDS, **options).fit(X, Y)


def out_of_fold(method="predict_proba"):
    scores = cross_val_predict(GaussianNB(), X, Y, cv=FOLDS, method=method)
    return scores[:, 1]


@pytest.mark.parametrize("cost", [(1, 1), (1, 4), (6, 1)])
def test_no_threshold_costs_less(cost) -> None:
    """On the out-of-fold scores the chosen one is best, counted for every score."""
    found = model(cost=cost)
    np.testing.assert_array_equal(found.scores_, out_of_fold())
    costs = []
    for t in [np.inf, *found.scores_]:
        called = found.scores_ >= t
        wrong = cost[0] * (called & (Y == "healthy")) + cost[1] * (~called & (Y == "sick"))
        costs.append(wrong.mean())
    assert found.operating_point_.cost == pytest.approx(min(costs), abs=1e-14)
    assert found.operating_point_.threshold == found.threshold_


def test_a_demanded_rate_is_met_out_of_fold() -> None:
    """Sensitivity of at least .95 with the fewest false positives; so for the others."""
    found = model(sensitivity=0.95)
    called = found.scores_ >= found.threshold_
    assert called[Y == "sick"].mean() >= 0.95
    fewer = found.scores_ > found.threshold_
    assert fewer[Y == "sick"].mean() < 0.95
    assert model(specificity=0.9).operating_point_.specificity >= 0.9
    assert model(precision=0.9).operating_point_.precision >= 0.9


def test_it_predicts_by_its_threshold() -> None:
    """Positive where the score of the refitted model is at least the threshold, ties included."""
    found = model(cost=(1, 4))
    scores = GaussianNB().fit(X, Y).predict_proba(X)[:, 1]
    np.testing.assert_array_equal(found.predict(X) == "sick", scores >= found.threshold_)
    np.testing.assert_allclose(found.decision_function(X), scores - found.threshold_, atol=1e-12)
    found.threshold_ = scores[7]
    assert found.predict(X[7:8]) == "sick"
    assert not hasattr(found, "predict_proba")  # a half of which would be no threshold


@pytest.mark.parametrize("positive", ["healthy", "sick"])
@pytest.mark.parametrize("demanded", [{"cost": (1, 4)}, {"cost": (0, 1)}, {"cost": (1, 0)}])
def test_the_sign_of_a_decision_value_is_the_label(positive, demanded) -> None:
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


def test_the_positive_class_can_be_named() -> None:
    """Naming the first class turns scores, costs and rates about."""
    first, second = model(cost=(3, 1)), model(cost=(1, 3), positive="healthy")
    assert second.operating_point_.cost == pytest.approx(first.operating_point_.cost)
    np.testing.assert_allclose(second.scores_, 1 - first.scores_, atol=1e-12)
    ridge = ThresholdClassifier(RidgeClassifier(), cv=FOLDS)
    forward, backward = ridge.fit(X, Y).scores_, None
    backward = ridge.set_params(positive="healthy").fit(X, Y).scores_
    np.testing.assert_array_equal(forward, -backward)


def test_decision_values_serve_where_there_are_no_probabilities() -> None:
    """And where they are asked for."""
    ridge = ThresholdClassifier(RidgeClassifier(), cv=FOLDS, random_state=0).fit(X, Y)
    scores = RidgeClassifier().fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(ridge.predict(X) == "sick", scores >= ridge.threshold_)
    asked = ThresholdClassifier(LogisticRegression(), response_method="decision_function", cv=FOLDS)
    assert asked.fit(X, Y).scores_.min() < 0


def test_weights_count_in_rates_and_fits() -> None:
    """Rows of weight 0 are as if they were not there."""
    weights = np.r_[np.ones(100), np.zeros(20)]
    folds = [(np.setdiff1d(np.arange(120), t), t) for t in np.array_split(np.arange(120), 6)]
    weighted = ThresholdClassifier(GaussianNB(), cv=folds).fit(X, Y, sample_weight=weights)
    kept = [(train[train < 100], test) for train, test in folds[:5]]
    alone = ThresholdClassifier(GaussianNB(), cv=kept).fit(X[:100], Y[:100])
    assert weighted.threshold_ == pytest.approx(alone.threshold_, rel=1e-9)
    assert weighted.operating_point_.cost == pytest.approx(alone.operating_point_.cost, rel=1e-12)


def test_weights_reach_the_last_step_of_a_pipeline() -> None:
    """By its name, and count in the rates; routed weights do as well."""
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


def test_groups_stay_in_one_fold() -> None:
    """With groups the out-of-fold score of a copy does not know its twin."""
    twins, labels = np.repeat(X[:30], 2, axis=0), np.tile(["a", "b", "b", "a"], 15)
    labels = np.repeat(np.random.default_rng(0).permutation(labels[:30]), 2)
    nearest = ThresholdClassifier(KNeighborsClassifier(1), random_state=0)
    leaked = nearest.fit(twins, labels).operating_point_.error
    honest = nearest.fit(twins, labels, groups=np.repeat(np.arange(30), 2)).operating_point_.error
    assert leaked < 0.2
    assert honest > 0.3


def test_the_honest_risk_at_a_tuned_threshold() -> None:
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


def test_it_is_tuned_and_assessed_like_any_model() -> None:
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


def test_a_rate_that_no_threshold_reaches() -> None:
    """Where the highest score is of a negative row, not every precision can be had."""
    scores = np.r_[np.linspace(0, 1, 19), 2.0]
    labels = np.r_[np.tile([0, 1], 10)[:19], 0]
    folds = [(np.setdiff1d(np.arange(20), t), t) for t in np.array_split(np.arange(20), 2)]
    one = ThresholdClassifier(KNeighborsClassifier(1), precision=1.0, cv=folds)
    with pytest.raises(Refusal, match="no threshold reaches a precision of 1"):
        one.fit(scores[:, None], labels)


def test_the_same_seed_is_the_same_threshold() -> None:
    """Folds come from random_state alone."""
    fits = [ThresholdClassifier(GaussianNB(), random_state=s).fit(X, Y).scores_ for s in (1, 1, 2)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert (fits[0] != fits[2]).any()


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
    ],
)
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_what_cannot_be_tuned_is_refused(options, labels, error, message) -> None:
    """Contradictions, impossible rates, classes; each with what is wrong."""
    given = {"estimator": GaussianNB(), "random_state": 0, **options}
    with pytest.raises(error, match=message):
        ThresholdClassifier(**given).fit(X, labels)
