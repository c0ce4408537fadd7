"""Functions as `scoring`: losses of (y_true, y_pred), scorers of (estimator, X, y), and others."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.metrics import f1_score, fbeta_score, make_scorer, zero_one_loss
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.losses.user_losses import is_loss_function

X, Y = tr.datasets.make_difficult(60, random_state=0)


def errors(y_true, y_pred, threshold=0.5):
    return np.mean(y_true != y_pred)


def weighted_errors(y_true, y_pred, sample_weight=None):
    return (y_true != y_pred) * 1.0


def accuracy_of(estimator, X, y=None):
    return float((estimator.predict(X) == y).mean())


def unclear(a, b, c=1):
    return 0.0


LOSSES = [errors, weighted_errors, zero_one_loss, lambda t, p: (t != p) * 1.0]


@pytest.mark.parametrize("function", LOSSES, ids=lambda function: function.__name__)
def test_a_function_of_y_and_predictions_is_a_loss(function) -> None:
    """Also with further arguments that have defaults: as a scorer it would be given the model."""
    assert is_loss_function(function)
    by_word = tr.estimate_risk(GaussianNB(), X, Y, scoring="zero-one")
    found = tr.estimate_risk(GaussianNB(), X, Y, scoring=function)
    assert found.value == pytest.approx(by_word.value)


@pytest.mark.parametrize(
    "function",
    [
        *(accuracy_of, partial(accuracy_of), make_scorer(f1_score)),
        *(lambda model, X, y: 0.5, lambda estimator, X: 0.5),
    ],
    ids=["y may be left out", "partial", "make_scorer", "three", "without y"],
)
def test_a_function_of_model_and_rows_is_a_scorer(function) -> None:
    """It is called as scikit-learn calls scorers."""
    assert not is_loss_function(function)


def test_scorers_with_an_optional_y_are_asked_as_scorers() -> None:
    """The number is the accuracy, averaged over folds."""
    found = tr.estimate_risk(GaussianNB(), X, Y, cv=4, scoring=accuracy_of)
    by_name = tr.estimate_risk(GaussianNB(), X, Y, cv=4, scoring="accuracy")
    assert found.value == pytest.approx(by_name.value)
    assert found.greater_is_better


@pytest.mark.parametrize("function", [unclear, lambda *given: 0.0], ids=["names", "any number"])
def test_a_function_that_could_be_either_is_refused(function) -> None:
    """A loss that is called as a scorer gave a risk of 0."""
    with pytest.raises(BadArgument, match="may be called with two arguments or three"):
        tr.estimate_risk(GaussianNB(), X, Y, scoring=function)


def test_names_of_scorers_do_not_depend_on_which_one_chooses() -> None:
    """In the keys of `cv_results_`, of `scorer_` and of further scores."""
    scoring = ["accuracy", make_scorer(fbeta_score, beta=2)]
    for refit in (True, "fbeta_score(beta=2)"):
        search = tr.HonestSearchCV(
            GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, scoring=scoring, refit=refit, outer=None
        ).fit(X, Y)
        assert set(search.scorer_) == {"accuracy", "f2 of 1"}
        keys = [key for key in search.cv_results_ if key.startswith("mean_test_")]
        assert set(keys) == {"mean_test_accuracy", "mean_test_f2 of 1"}


def test_a_search_by_a_function_of_several_scores_is_read() -> None:
    """The claim is the score that `refit` names, though the scorer is one function."""

    def several(model, X, y):
        return {"hits": model.score(X, y), "f": f1_score(y, model.predict(X))}

    grid = {"var_smoothing": [1e-9, 0.1]}
    given = GridSearchCV(GaussianNB(), grid, cv=3, scoring=several, refit="f")
    search = tr.HonestSearchCV(given, outer=3).fit(X, Y)
    plain = GridSearchCV(GaussianNB(), grid, cv=3, scoring="f1").fit(X, Y)
    assert search.selected_risk_.value == pytest.approx(plain.best_score_)


def test_the_score_of_a_given_search_is_the_scoring_that_was_asked() -> None:
    """Not the first metric of the search inside."""
    given = GridSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9]}, cv=3, scoring=["accuracy", "f1"], refit="f1"
    )
    search = tr.HonestSearchCV(given, scoring="f1", outer=None).fit(X, Y)
    assert search.score(X, Y) == pytest.approx(f1_score(Y, search.predict(X)))


def test_the_class_of_the_selected_score_is_its_own() -> None:
    """F1 of another class than the search chose by has no optimism beside it."""
    given = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, cv=3, scoring="f1")
    for asked in ({"scoring": tr.losses.FBeta(positive=0)}, {"scoring": "f1", "positive": 0}):
        search = tr.HonestSearchCV(given, outer=3, **asked).fit(X, Y)
        assert search.selected_risk_.named_scoring == "f1 of 1"
        assert search.selected_risk_.value == pytest.approx(search.search_.best_score_)
        assert search.risk_.named_scoring == "f1 of 0"
        assert search.optimism_ is None


def test_the_event_of_a_validation_is_the_class_of_its_scoring() -> None:
    """F1 of the event that was named; a score of all classes does without it."""
    for scoring, name in (("f1", "f1 of 0"), ("log", "log")):
        found = tr.validate(GaussianNB(), X, Y, scoring=scoring, positive=0, replicates=0)
        assert found.risk.named_scoring == name
    model = GaussianNB().fit(X, Y)
    told = tr.validate(model, X + 0.1, Y, prefit=True, scoring="recall", positive=0)
    assert told.risk.named_scoring == "recall of 0"


def test_pooled_words_are_pooled_or_refused() -> None:
    """By methods whose average says otherwise, in subgroups, and by the bootstrap."""
    pooled = tr.estimate_risk(GaussianNB(), X, Y, cv="5-fold", scoring="f1 pooled")
    folds = tr.methods.KFold(5, average="fold")
    assert tr.estimate_risk(GaussianNB(), X, Y, cv=folds, scoring="f1 pooled").value == pooled.value
    search = tr.HonestSearchCV(GaussianNB(), {}, cv="5-fold", scoring="accuracy pooled", outer=None)
    pooled_accuracy = tr.estimate_risk(GaussianNB(), X, Y, scoring="accuracy pooled")
    assert search.fit(X, Y).best_score_ == pytest.approx(pooled_accuracy.value)
    parts = {"half": np.arange(60) % 2}
    for scoring in ("f1 pooled", {"mine": "f1"}, tr.losses.FBeta(2)):
        found = tr.validate(GaussianNB(), X, Y, scoring=scoring, subgroups=parts, replicates=0)
        whole = found.subgroups[found.risk.scoring].whole
        assert whole.value == pytest.approx(found.risk.value)
    with pytest.raises(Refusal, match=r"method '\.632' takes the mean over its samples"):
        tr.estimate_risk(GaussianNB(), X, Y, cv=".632", scoring="f1 pooled")
    with pytest.raises(UnknownName, match="write 'pooled' once"):
        tr.estimate_risk(GaussianNB(), X, Y, scoring="f1 pooled pooled")


def test_optimism_is_of_one_average() -> None:
    """Leave-one-out pools F1, and outer folds average it: their difference is no optimism."""
    search = tr.HonestSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, cv="loo", outer=3, scoring="f1"
    ).fit(X, Y)
    assert search.selected_risk_.pooled
    assert not search.risk_.pooled
    assert search.optimism_ is None
