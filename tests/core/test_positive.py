"""A score of one class rates the greater label, whatever the two labels are."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.core.loss_words import as_loss
from truerisk.core.positive import WANT_A_CLASS, PositiveScorer
from truerisk.core.table.data import Data
from truerisk.study.contents import content_of

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 3))
CODES = (X[:, 0] + RNG.normal(size=60) > 0.4).astype(int)
LABELS = {
    "0, 1": np.array([0, 1]),
    "1, 2": np.array([1, 2]),
    "-1, 1": np.array([-1, 1]),
    "floats": np.array([1.0, 2.0]),
    "truth values": np.array([False, True]),
    "text": np.array(["no", "yes"]),
    "objects": np.array(["no", "yes"], dtype=object),
    "1 is the lesser": np.array([1, 7]),
}
SPLITS = list(StratifiedKFold(3).split(X, CODES))


def by_hand(word, model, X, y, positive):
    """The metric of scikit-learn with the positive class named."""
    of_labels = {
        "f1": metrics.f1_score,
        "precision": metrics.precision_score,
        "recall": metrics.recall_score,
        "jaccard": metrics.jaccard_score,
    }
    if word in of_labels:
        return of_labels[word](y, model.predict(X), pos_label=positive)
    if word == "roc_auc":
        return metrics.roc_auc_score(y == positive, model.decision_function(X))
    if word == "average_precision":
        scores = model.decision_function(X)
        return metrics.average_precision_score(y, scores, pos_label=positive)
    if word.endswith("likelihood_ratio"):
        labels = [next(v for v in np.unique(y) if v != positive), positive]
        plus, minus = metrics.class_likelihood_ratios(y, model.predict(X), labels=labels)
        return plus if word.startswith("positive") else -minus
    p = model.predict_proba(X)[:, 1]
    if word == "neg_brier_score":
        return -metrics.brier_score_loss(y, p, pos_label=positive)
    assert word == "d2_brier_score"
    return metrics.d2_brier_score(y, p, pos_label=positive)


@pytest.mark.filterwarnings("ignore:.*likelihood_ratio")
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("word", sorted(WANT_A_CLASS & {*get_scorer_names()}))
def test_a_word_rates_the_greater_label(word, kind):
    """Each fold has what the metric says with pos_label; the result says which class it was."""
    if word == "positive_likelihood_ratio":
        pytest.skip("that of a perfect rule is infinite, so it is no error")
    y = LABELS[kind][CODES]
    positive = LABELS[kind][1]
    found = tr.estimate_risk(LogisticRegression(), X, y, method=SPLITS, loss=word)
    scores = []
    for train, test in SPLITS:
        model = LogisticRegression().fit(X[train], y[train])
        scores.append(by_hand(word, model, X[test], y[test], positive))
    perfect = 0 if word.startswith("neg_") else 1
    np.testing.assert_allclose(found.split_risks, perfect - np.array(scores), atol=1e-12)
    shown = positive.item() if hasattr(positive, "item") else positive
    either = word in ("roc_auc", "neg_brier_score")  # the same number for both classes
    assert (f"positive class: {shown!r}" in found.notes) == (not either)


@pytest.mark.parametrize("word", get_scorer_names())
def test_every_word_that_depends_on_the_label_1_is_known(word):
    """A new scorer of scikit-learn that takes 1 for the positive class is found here."""
    scorer = get_scorer(word)

    def rated(names):
        y = names[CODES]
        model = LogisticRegression().fit(X[:40], y[:40])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return scorer(model, X[40:], y[40:])
            except ValueError:
                return None

    swapped, usual = rated(np.array([1, 0])), rated(np.array([0, 1]))
    text = rated(np.array(["a", "b"]))
    of_numbers = rated(np.array([-1, 1])) != usual or "error" in word or "r2" in word
    of_numbers |= word in ("explained_variance", "neg_max_error")
    depends = usual is not None and (swapped != pytest.approx(usual) or text is None)
    assert not depends or of_numbers or word in WANT_A_CLASS


def test_a_scorer_that_is_given_stays_as_it_was_given():
    """Another positive class is named by make_scorer; scikit-learn's own scorer rates label 1."""
    y = LABELS["text"][CODES]
    scorer = make_scorer(metrics.f1_score, pos_label="no")
    found = tr.estimate_risk(LogisticRegression(), X, y, method=SPLITS, loss=scorer)
    scores = [
        metrics.f1_score(y[b], LogisticRegression().fit(X[a], y[a]).predict(X[b]), pos_label="no")
        for a, b in SPLITS
    ]
    np.testing.assert_allclose(found.split_risks, 1 - np.array(scores))
    assert not any("positive class" in note for note in found.notes)
    data = Data.check(X, LABELS["1, 2"][CODES], task="classification")
    model = LogisticRegression().fit(X, data.y)
    assert as_loss(get_scorer("recall"), data).scorer(model, X, data.y) == metrics.recall_score(
        data.y, model.predict(X), pos_label=1
    )


def test_three_classes_have_no_positive_one():
    """A word that is scikit-learn's alone is refused in its words; ours is a mean over classes."""
    y = np.arange(60) % 3
    with pytest.raises(Refusal, match="multiclass"):
        tr.estimate_risk(LogisticRegression(), X, y, loss="jaccard")
    found = tr.estimate_risk(LogisticRegression(), X, y, loss="f1")
    assert "mean over 3 classes, each counting alike" in found.notes


def test_the_search_scores_and_is_audited_by_its_own_rule():
    """`score` follows the word; an audit rates a search as its own scorer did, by the label 1."""
    y = LABELS["1, 2"][CODES]
    search = tr.HonestSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, loss="recall").fit(X, y)
    recall = metrics.recall_score(y, search.predict(X), pos_label=2)
    assert search.score(X, y) == pytest.approx(recall)
    theirs = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring="recall", cv=SPLITS)
    found = tr.audit(theirs.fit(X, y), X, y, level="nested", outer="3-fold")
    scores = [
        metrics.recall_score(y[b], theirs.best_estimator_.fit(X[a], y[a]).predict(X[b]))
        for a, b in SPLITS
    ]
    assert theirs.best_score_ == pytest.approx(np.mean(scores))
    assert found.claimed.value == pytest.approx(1 - theirs.best_score_)
    assert found.honest.value == pytest.approx(1 - np.mean(scores), abs=0.2)


def test_it_travels_and_has_a_key():
    """To worker processes, and into a store."""
    scorer = PositiveScorer("f1", "yes")
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    assert content_of(scorer, "loss") != content_of(PositiveScorer("f1", "no"), "loss")
    y = LABELS["text"][CODES]
    given = {"method": SPLITS, "loss": "f1"}
    here = tr.estimate_risk(LinearSVC(), X, y, **given)
    there = tr.estimate_risk(LinearSVC(), X, y, executor=2, **given)
    assert here.value == there.value
    weights = RNG.random(60)
    weighed = tr.estimate_risk(LinearSVC(), X, y, sample_weight=weights, **given)
    train, test = SPLITS[0]
    model = LinearSVC().fit(X[train], y[train], sample_weight=weights[train])
    expected = metrics.f1_score(
        y[test], model.predict(X[test]), pos_label="yes", sample_weight=weights[test]
    )
    assert weighed.split_risks[0] == pytest.approx(1 - expected)
