"""Sample weights go to the step that takes them, or are refused; never dropped."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.estimation.fit_params import fit_params_with_weight

W = np.arange(1.0, 25.0)
X = np.random.default_rng(0).normal(size=(24, 2))
Y = np.arange(24) % 2
LOGISTIC = LogisticRegression()
PIPE = make_pipeline(StandardScaler(), LOGISTIC)

MODELS = [
    (LOGISTIC, "sample_weight"),
    (PIPE, "logisticregression__sample_weight"),
    (Pipeline([("a", StandardScaler()), ("b", PIPE)]), "b__logisticregression__sample_weight"),
    (GridSearchCV(LOGISTIC, {"C": [1, 2]}, cv=2), "sample_weight"),
    (
        GridSearchCV(PIPE, {"logisticregression__C": [1, 2]}, cv=2),
        "logisticregression__sample_weight",
    ),
    (make_pipeline(GridSearchCV(LOGISTIC, {"C": [1]}, cv=2)), "gridsearchcv__sample_weight"),
    (BaggingClassifier(LOGISTIC, random_state=0), "sample_weight"),
    (CalibratedClassifierCV(LOGISTIC, cv=2), "sample_weight"),
    (TransformedTargetRegressor(Ridge(), transformer=StandardScaler()), "sample_weight"),
    (VotingClassifier([("a", LOGISTIC), ("b", "drop")]), "sample_weight"),
    (make_pipeline(VotingRegressor([("a", Ridge())])), "votingregressor__sample_weight"),
    (
        StackingClassifier([("a", GridSearchCV(LOGISTIC, {"C": [1, 2]}, cv=2))], LOGISTIC, cv=2),
        "sample_weight",
    ),
]


@pytest.mark.parametrize(
    ("model", "name"), MODELS, ids=[f"{i}-{n}" for i, (_, n) in enumerate(MODELS)]
)
def test_the_weight_finds_the_step_that_takes_it(model, name) -> None:
    """The name under which fit takes the weight; and the model's fit does take it there."""
    found = fit_params_with_weight(model, W, {"other": 1})
    assert list(found) == ["other", name]
    y = Y if sklearn.base.is_classifier(model) else X[:, 0]
    risk = tr.estimate_risk(model, X, y, cv="3-fold", sample_weight=W)
    assert np.isfinite(risk.value)


@pytest.mark.parametrize(
    "wrap",
    [lambda m: m, make_pipeline, lambda m: GridSearchCV(m, {"p": [1]})],
    ids=["alone", "pipeline", "search"],
)
def test_a_model_without_weights_is_refused(wrap) -> None:
    """A weight that would be ignored is refused by the model's name, however deep it lies."""
    with pytest.raises(Refusal, match=r"KNeighborsClassifier.fit takes no sample_weight"):
        tr.estimate_risk(wrap(KNeighborsClassifier()), X, Y, sample_weight=W)


def test_no_weight_changes_nothing() -> None:
    """Without weights the fit parameters stay as they are."""
    assert fit_params_with_weight(KNeighborsClassifier(), None, {"a": 1}) == {"a": 1}


def test_with_routing_the_weight_keeps_its_name() -> None:
    """With metadata routing the pipeline itself knows where the weight goes."""
    with sklearn.config_context(enable_metadata_routing=True):
        assert list(fit_params_with_weight(PIPE, W, {})) == ["sample_weight"]


def test_a_search_is_weighted_inside() -> None:
    """The weights reach the fits of a search that is itself the model."""
    search = GridSearchCV(PIPE, {"logisticregression__C": [1]}, cv=2)
    heavy = np.where(Y == 1, 1e6, 1.0)
    risk = tr.estimate_risk(search, X, Y, cv="3-fold", sample_weight=heavy, scoring="zero-one")
    assert risk.losses[Y == 1].sum() == 0  # with these weights everything is called 1
    assert risk.losses[Y == 0].sum() == 12


@pytest.mark.parametrize(
    "model",
    [
        VotingClassifier([("a", GridSearchCV(LOGISTIC, {"C": [0.01, 9]}, cv=2)), ("b", LOGISTIC)]),
        StackingClassifier([("a", LOGISTIC)], cv=2),
    ],
    ids=["vote", "stack"],
)
def test_votes_and_stacks_weigh_as_they_would(model) -> None:
    """Exactly the fits of plain loops."""
    wrong = np.zeros(24)
    splits = list(StratifiedKFold(3).split(X, Y))
    for train, test in splits:
        fitted = clone(model).fit(X[train], Y[train], sample_weight=W[train])
        wrong[test] = fitted.predict(X[test]) != Y[test]
    found = tr.estimate_risk(model, X, Y, cv=splits, sample_weight=W)
    assert found.value == pytest.approx(np.average(wrong, weights=W))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (VotingClassifier([("a", KNeighborsClassifier())]), "KNeighborsClassifier.fit takes no"),
        (StackingClassifier([("a", LOGISTIC)], KNeighborsClassifier()), "KNeighborsClassifier.fit"),
        (
            VotingClassifier([("a", PIPE)]),
            "gives its parts the weight as sample_weight",
        ),
        (OneVsRestClassifier(LOGISTIC), "hands sample_weight on with .*metadata routing only"),
        (TunedThresholdClassifierCV(LOGISTIC), "hands sample_weight on with .*routing only"),
    ],
)
def test_parts_that_take_no_weight_are_found_before_the_fits(model, said) -> None:
    """By the name of the part, or by what has to be switched on."""
    with pytest.raises(Refusal, match=said):
        tr.estimate_risk(model, X, Y, sample_weight=W)


@pytest.mark.parametrize("kind", [OneVsRestClassifier, FixedThresholdClassifier])
def test_with_routing_switched_on_they_take_it(kind) -> None:
    """What the sentence advises works, and is what plain loops find."""
    splits = list(StratifiedKFold(3).split(X, Y))
    with sklearn.config_context(enable_metadata_routing=True):
        model, wrong = kind(LogisticRegression().set_fit_request(sample_weight=True)), np.zeros(24)
        for train, test in splits:
            fitted = clone(model).fit(X[train], Y[train], sample_weight=W[train])
            wrong[test] = fitted.predict(X[test]) != Y[test]
        found = tr.estimate_risk(model, X, Y, cv=splits, sample_weight=W)
    assert found.value == pytest.approx(np.average(wrong, weights=W))


class Doubles(BaseEstimator):
    """A step that resamples, as those of imbalanced-learn."""

    def fit_resample(self, X, y):
        return np.vstack([X, X]), np.r_[y, y]


@pytest.mark.parametrize("grid", [None, {"a": [Doubles()]}])
@pytest.mark.parametrize("name", ["sample_weight", "fit_params"])
def test_weights_do_not_pass_a_step_that_resamples(grid, name) -> None:
    """The learner sees other rows than those that were weighed; a plain number would pass."""
    steps = Pipeline([("a", Doubles() if grid is None else StandardScaler()), ("b", LOGISTIC)])
    given = {"sample_weight": W} if name == "sample_weight" else {"b__sample_weight": W}
    with pytest.raises(Refusal, match="b__sample_weight has an entry for each row, and Doubles"):
        tr.HonestSearchCV(steps, grid or {"b__C": [1]}).fit(X, Y, **given)
