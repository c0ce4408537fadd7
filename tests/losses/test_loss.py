"""A score of one class rates the greater label, whatever the two labels are."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

import truerisk as tr
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.losses.confusion_scores import FBeta
from truerisk.losses.scorer_losses import WANT_A_CLASS, PositiveScorer
from truerisk.study.keeping import content_of

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


# That of a perfect rule is infinite, so it is no error.
INFINITE = {"positive_likelihood_ratio"}
WORDS = sorted(WANT_A_CLASS & {*get_scorer_names()} - INFINITE)


@pytest.mark.filterwarnings("ignore:.*likelihood_ratio")
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("word", WORDS)
def test_a_word_rates_the_greater_label(word, kind):
    """Each fold has what the metric says with pos_label; the result says which class it was."""
    y = LABELS[kind][CODES]
    positive = LABELS[kind][1]
    found = tr.estimate_risk(LogisticRegression(), X, y, cv=SPLITS, scoring=word)
    scores = []
    for train, test in SPLITS:
        model = LogisticRegression().fit(X[train], y[train])
        scores.append(by_hand(word, model, X[test], y[test], positive))
    perfect = 0 if word.startswith("neg_") else 1
    np.testing.assert_allclose(found.split_risks, perfect - np.array(scores), atol=1e-12)
    shown = positive.item() if hasattr(positive, "item") else positive
    assert found.positive == (None if word == "neg_brier_score" else shown)  # which rates both


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


@pytest.mark.filterwarnings("ignore:.*likelihood_ratio")
# Every word of two kinds of labels, and every kind for several words; Brier's score rates both.
@pytest.mark.parametrize(
    ("word", "kind"),
    [
        (word, kind)
        for i, word in enumerate(WORDS)
        for j, kind in enumerate(LABELS)
        if word != "neg_brier_score" and (i + j) % len(LABELS) < 2
    ],
)
def test_the_lesser_label_is_rated_where_it_is_named(word, kind):
    """By `positive=`; each fold has what the metric says, and the result names the class."""
    y, lesser = LABELS[kind][CODES], LABELS[kind][0]
    given = {"cv": SPLITS, "scoring": word, "positive": lesser}
    found = tr.estimate_risk(LogisticRegression(), X, y, **given)
    fitted = [(LogisticRegression().fit(X[a], y[a]), X[b], y[b]) for a, b in SPLITS]
    if word in ("average_precision", "roc_auc"):
        score = getattr(metrics, f"{word}_score")
        scores = [score(y == lesser, -m.decision_function(X)) for m, X, y in fitted]
    elif word.endswith("likelihood_ratio"):
        labels = LABELS[kind][::-1]
        likely = metrics.class_likelihood_ratios
        scores = [-likely(y, m.predict(X), labels=labels)[1] for m, X, y in fitted]
    elif word == "d2_brier_score":
        score = metrics.d2_brier_score
        scores = [score(y, m.predict_proba(X)[:, 0], pos_label=lesser) for m, X, y in fitted]
    else:
        scores = [by_hand(word, m, X, y, lesser) for m, X, y in fitted]
    perfect = 0 if word.startswith("neg_") else 1
    np.testing.assert_allclose(found.split_risks, perfect - np.array(scores), atol=1e-12)
    assert found.positive == lesser
    assert f"{word} of {found.positive!r}" in str(found)
    assert tr.RiskEstimate.from_json(found.to_json()).positive == found.positive


@pytest.mark.parametrize(
    ("scorer", "named", "score"),
    [
        (make_scorer(metrics.f1_score, pos_label=7), "f1 of 7", None),
        (make_scorer(metrics.fbeta_score, beta=2, pos_label=1), "f2 of 1", None),
        (make_scorer(metrics.recall_score), "recall of 1", None),
        (get_scorer("precision"), "precision of 1", None),
        (make_scorer(metrics.precision_score, average="macro"), "precision_macro", None),
        (make_scorer(metrics.fbeta_score, beta=0.5, average="weighted"), "f0.5_weighted", None),
        (get_scorer("roc_auc"), "roc_auc of 7", None),
        (get_scorer("balanced_accuracy"), "balanced_accuracy", None),
        (make_scorer(metrics.f1_score, zero_division=0.0), "f1_score(zero_division=0.0)", "none"),
        (make_scorer(metrics.f1_score, average="micro"), "f1_score(average='micro')", "none"),
        (get_scorer("average_precision"), "average_precision_score", "none"),
    ],
    ids=str,
)
def test_a_scorer_of_a_metric_is_that_and_has_an_interval(scorer, named, score):
    """Of the class that it names, scikit-learn's 1 where it names none; under a name to read."""
    y = LABELS["1 is the lesser"][CODES]
    found = tr.estimate_risk(LogisticRegression(), X, y, cv="5-fold", scoring=["zero-one", scorer])
    (one,) = found.scores.values()
    assert list(found.scores) == [one.named_scoring] == [named]
    searched = tr.HonestSearchCV(LogisticRegression(), scoring=scorer, cv=3).fit(X, y)
    assert searched.risk_.named_scoring == named
    assert (searched.risk_.interval is None) == (score == "none")
    theirs = GridSearchCV(LogisticRegression(), {"C": [1.0]}, scoring=scorer, cv=3).fit(X, y)
    assert searched.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)


def test_a_scorer_that_names_no_class_takes_the_one_that_is_named():
    """`positive=` against the 1 that scikit-learn takes where it is told nothing."""
    y = LABELS["text"][CODES]
    plain, own = make_scorer(metrics.f1_score), make_scorer(metrics.f1_score, pos_label="yes")
    given = {"cv": SPLITS, "positive": "no", "scoring": ["zero-one", plain, own, "mcc"]}
    found = tr.estimate_risk(LogisticRegression(), X, y, **given)
    assert list(found.scores) == ["f1 of 'no'", "f1 of 'yes'", "mcc"]
    with pytest.raises(Refusal, match="cannot rate even a perfect rule"):
        tr.estimate_risk(LogisticRegression(), X, y, scoring=plain)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"scoring": "f1", "positive": "on"}, UnknownName, "positive='on' is no class .* no, yes"),
        ({"positive": "no"}, Refusal, r"it names its own \(zero-one\)"),
        (
            {"positive": "no", "scoring": tr.losses.Recall(positive="yes")},
            Refusal,
            r"names its own \(recall\)",
        ),
        ({"scoring": tr.losses.Recall(positive="on")}, UnknownName, "positive='on' is no class"),
    ],
)
def test_a_class_that_is_not_there_or_not_asked_for_is_refused(given, error, message):
    """Before a fit, with the labels that there are; a search says the same."""
    y = LABELS["text"][CODES]
    with pytest.raises(error, match=message):
        tr.estimate_risk(LogisticRegression(), X, y, **given)
    with pytest.raises(error, match=message):
        tr.HonestSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, **given).fit(X, y)
    with pytest.raises(Refusal, match="y holds numbers"):
        tr.estimate_risk(LinearRegression(), X, X[:, 0], positive="no")


def test_a_mean_over_classes_names_none():
    """Both words at once contradict each other."""
    with pytest.raises(BadArgument, match="average='macro' is a mean over all classes"):
        tr.losses.Precision("macro", positive="yes")


def test_one_of_three_classes_stands_against_the_rest():
    """As scikit-learn rates a column of it alone; one of the same losses rates two data sets."""
    y = np.array(["a", "b", "c"])[np.arange(60) % 3]
    loss = FBeta()
    given = {"cv": SPLITS, "positive": "b"}
    scoring = [loss, "recall", "average-precision", "auc"]
    found = tr.estimate_risk(LogisticRegression(), X, y, scoring=scoring, **given)
    for train, test in SPLITS[:1]:
        model = LogisticRegression().fit(X[train], y[train])
        truth, said = y[test] == "b", model.predict(X[test]) == "b"
        p = model.predict_proba(X[test])[:, 1]
        assert found.split_risks[0] == pytest.approx(1 - metrics.f1_score(truth, said))
        for name, score in (
            ("recall", metrics.recall_score(truth, said)),
            ("average-precision", metrics.average_precision_score(truth, p)),
            ("auc", metrics.roc_auc_score(truth, p)),
        ):
            assert found.scores[name].split_risks[0] == pytest.approx(1 - score)
            assert found.scores[name].positive == "b"
    assert loss.positive is None
    assert "f1 of 'b'" in str(found)


def test_three_classes_have_no_positive_one():
    """A word that is scikit-learn's alone is refused in its words; ours is a mean over classes."""
    y = np.arange(60) % 3
    with pytest.raises(Refusal, match="multiclass"):
        tr.estimate_risk(LogisticRegression(), X, y, scoring="jaccard")
    found = tr.estimate_risk(LogisticRegression(), X, y, scoring="f1")
    assert "mean over 3 classes, each counting alike" in found.notes


def test_the_search_scores_and_is_audited_by_its_own_rule():
    """`score` follows the word; an audit rates a search as its own scorer did, by the label 1."""
    y = LABELS["1, 2"][CODES]
    search = tr.HonestSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring="recall").fit(X, y)
    recall = metrics.recall_score(y, search.predict(X), pos_label=2)
    assert search.score(X, y) == pytest.approx(recall)
    theirs = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring="recall", cv=SPLITS)
    found = tr.audit(theirs.fit(X, y), X, y, level="nested", outer="3-fold")
    scores = [
        metrics.recall_score(y[b], theirs.best_estimator_.fit(X[a], y[a]).predict(X[b]))
        for a, b in SPLITS
    ]
    assert theirs.best_score_ == pytest.approx(np.mean(scores))
    assert found.claimed.value == pytest.approx(theirs.best_score_)
    assert found.honest.value == pytest.approx(np.mean(scores), abs=0.2)


def test_it_travels_and_has_a_key():
    """To worker processes, and into a store."""
    scorer = PositiveScorer("f1", "yes")
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    assert content_of(scorer, "loss") != content_of(PositiveScorer("f1", "no"), "loss")
    y = LABELS["text"][CODES]
    given = {"cv": SPLITS, "scoring": "f1"}
    here = tr.estimate_risk(LinearSVC(), X, y, **given)
    there = tr.estimate_risk(LinearSVC(), X, y, n_jobs=2, **given)
    assert here.value == there.value
    weights = RNG.random(60)
    weighed = tr.estimate_risk(LinearSVC(), X, y, sample_weight=weights, **given)
    train, test = SPLITS[0]
    model = LinearSVC().fit(X[train], y[train], sample_weight=weights[train])
    expected = metrics.f1_score(
        y[test], model.predict(X[test]), pos_label="yes", sample_weight=weights[test]
    )
    assert weighed.split_risks[0] == pytest.approx(1 - expected)
