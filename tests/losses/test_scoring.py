"""`scoring` as a word, a scorer or a function, and the class that a score of one class rates."""

import pickle
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import truerisk as tr
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, Refusal
from truerisk.losses import FBeta, Recall
from truerisk.losses.scorer_losses import ONE_CLASS_SCORES, PositiveScorer
from truerisk.losses.user_losses import is_loss_function
from truerisk.study.keeping import to_key_content

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
TEXT = LABELS["text"][CODES]
SPLITS = list(StratifiedKFold(3).split(X, CODES))
GRID = {"var_smoothing": [1e-9, 0.1]}
# The positive likelihood ratio of a perfect rule is infinite, so that it is no error.
WORDS = sorted(ONE_CLASS_SCORES & {*get_scorer_names()} - {"positive_likelihood_ratio"})


def risk(scoring=None, y=CODES, cv="5-fold", model=None, **given):
    """Estimate the risk of a naive Bayes classifier or another model."""
    return tr.estimate_risk(model or GaussianNB(), X, y, cv=cv, scoring=scoring, **given)


def by_hand(word, model, X, y, positive):
    """Return scikit-learn's metric of "is it the positive class?"."""
    truth, said = y == positive, model.predict(X) == positive
    place = list(model.classes_).index(positive)
    scores, p = model.decision_function(X) * (2 * place - 1), model.predict_proba(X)[:, place]
    return {
        "f1": lambda: metrics.f1_score(truth, said),
        "precision": lambda: metrics.precision_score(truth, said),
        "recall": lambda: metrics.recall_score(truth, said),
        "jaccard": lambda: metrics.jaccard_score(truth, said),
        "roc_auc": lambda: metrics.roc_auc_score(truth, scores),
        "average_precision": lambda: metrics.average_precision_score(truth, scores),
        "neg_negative_likelihood_ratio": lambda: -metrics.class_likelihood_ratios(truth, said)[1],
        "neg_brier_score": lambda: -metrics.brier_score_loss(truth, p),
        "d2_brier_score": lambda: metrics.d2_brier_score(truth, p),
    }[word]()


@pytest.mark.filterwarnings("ignore:.*likelihood_ratio")
@pytest.mark.parametrize("named", [False, True], ids=["greater", "lesser is named"])
# Every word of several kinds of labels, and every kind for several words.
@pytest.mark.parametrize(
    ("word", "kind"),
    [
        (word, kind)
        for i, word in enumerate(WORDS)
        for j, kind in enumerate(LABELS)
        if (i + j) % len(LABELS) < 3
    ],
)
def test_scoring_word_rates_the_greater_label_or_the_one_that_is_named(word, kind, named):
    """Each fold has what the metric says with pos_label; the result says which class it was."""
    if named and word == "neg_brier_score":
        return  # it rates both
    y, positive = LABELS[kind][CODES], LABELS[kind][0 if named else 1]
    given = {"positive": positive} if named else {}
    found = risk(word, y, SPLITS, LogisticRegression(), **given)
    fitted = [(LogisticRegression().fit(X[a], y[a]), X[b], y[b]) for a, b in SPLITS]
    scores = np.array([by_hand(word, *one, positive) for one in fitted])
    perfect = 0 if word.startswith("neg_") else 1
    np.testing.assert_allclose(found.split_risks, perfect - scores, atol=1e-12)
    assert found.positive == (None if word == "neg_brier_score" else positive)
    label = found.positive if isinstance(found.positive, str) else f"class {found.positive!r}"
    assert found.positive is None or f"{word} of {label}" in str(found).replace("'", "")


@pytest.mark.parametrize("word", get_scorer_names())
def test_want_a_class_holds_every_scorer_that_depends_on_the_label_1(word):
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
    assert not depends or of_numbers or word in ONE_CLASS_SCORES


@pytest.mark.parametrize(
    ("scorer", "named", "has_interval"),
    [
        (make_scorer(metrics.f1_score, pos_label=7), "f1 of class 7", True),
        (make_scorer(metrics.fbeta_score, beta=2, pos_label=1), "f2 of class 1", True),
        (make_scorer(metrics.recall_score), "recall of class 1", True),
        (get_scorer("precision"), "precision of class 1", True),
        (make_scorer(metrics.precision_score, average="macro"), "precision_macro", True),
        (make_scorer(metrics.fbeta_score, beta=0.5, average="weighted"), "f0.5_weighted", True),
        (get_scorer("roc_auc"), "roc_auc of class 7", True),
        (get_scorer("balanced_accuracy"), "balanced_accuracy", True),
        (make_scorer(metrics.f1_score, zero_division=0.0), "f1_score(zero_division=0.0)", False),
        (make_scorer(metrics.f1_score, average="micro"), "f1_score(average='micro')", False),
        (get_scorer("average_precision"), "average_precision_score", False),
    ],
    ids=str,
)
def test_scorer_of_a_metric_is_that_metric_and_has_an_interval(scorer, named, has_interval):
    """It rates the class that it names, scikit-learn's 1 where it names none."""
    y = LABELS["1 is the lesser"][CODES]
    found = risk(["zero-one", scorer], y, model=LogisticRegression())
    (one,) = found.scores.values()
    assert list(found.scores) == [one.named_scoring] == [named]
    searched = tr.HonestSearchCV(LogisticRegression(), scoring=scorer, cv=3).fit(X, y)
    assert searched.risk_.named_scoring == named
    assert (searched.risk_.interval is not None) is has_interval
    theirs = GridSearchCV(LogisticRegression(), {"C": [1.0]}, scoring=scorer, cv=3).fit(X, y)
    assert searched.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)


def test_positive_names_the_class_of_scorers_that_name_none():
    """Scikit-learn takes 1 where it is told nothing."""
    plain, own = make_scorer(metrics.f1_score), make_scorer(metrics.f1_score, pos_label="yes")
    found = risk(["zero-one", plain, own, "mcc"], TEXT, SPLITS, positive="no")
    assert list(found.scores) == ["f1 of 'no'", "f1 of 'yes'", "mcc"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"scoring": "f1", "positive": "on"}, UnknownName, "positive='on' is no class .* no, yes"),
        ({"positive": "no"}, Refusal, r"it names its own \(zero-one\)"),
        ({"positive": "no", "scoring": Recall(positive="yes")}, Refusal, r"its own \(recall\)"),
        ({"scoring": Recall(positive="on")}, UnknownName, "positive='on' is no class"),
        ({"scoring": make_scorer(metrics.f1_score)}, Refusal, "cannot rate even a perfect rule"),
    ],
)
def test_positive_that_is_not_there_or_not_asked_for_is_refused(given, error, message):
    """A search says the same."""
    with pytest.raises(error, match=message):
        risk(y=TEXT, **given)
    with pytest.raises(error, match=message):
        tr.HonestSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, **given).fit(X, TEXT)
    with pytest.raises(Refusal, match="y holds numbers"):
        risk(y=X[:, 0], model=LinearRegression(), positive="no")


def test_positive_sets_one_of_three_classes_against_the_rest():
    """One loss rates two data sets. Without a class, ours is a mean and scikit-learn's refused."""
    y, loss = np.array(["a", "b", "c"])[np.arange(60) % 3], FBeta()
    scoring = [loss, "recall", "average-precision", "auc"]
    found = risk(scoring, y, SPLITS, LogisticRegression(), positive="b")
    train, test = SPLITS[0]
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
    assert "mean over 3 classes, each with equal weight" in risk("f1", y).notes
    with pytest.raises(Refusal, match="jaccard cannot rate even a perfect rule"):
        risk("jaccard", y)


def test_positive_of_a_search_and_of_an_audit_follow_their_own_rule():
    """`score` follows the word; an audit rates a search as its own scorer did, by the label 1."""
    y = LABELS["1, 2"][CODES]
    grid = {"C": [0.1, 1.0]}
    search = tr.HonestSearchCV(LogisticRegression(), grid, scoring="recall").fit(X, y)
    recall = metrics.recall_score(y, search.predict(X), pos_label=2)
    assert search.score(X, y) == pytest.approx(recall)
    theirs = GridSearchCV(LogisticRegression(), grid, scoring="recall", cv=SPLITS).fit(X, y)
    found = tr.audit(theirs, X, y, level="nested", outer="3-fold")
    assert found.claimed.value == pytest.approx(theirs.best_score_)
    assert found.honest.value == pytest.approx(theirs.best_score_, abs=0.2)


def test_positive_scorer_is_pickled_has_a_key_and_takes_weights():
    scorer = PositiveScorer("f1", "yes")
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    assert to_key_content(scorer, "loss") != to_key_content(PositiveScorer("f1", "no"), "loss")
    weights = RNG.random(60)
    found = risk("f1", TEXT, SPLITS, LinearSVC(), sample_weight=weights)
    train, test = SPLITS[0]
    model = LinearSVC().fit(X[train], TEXT[train], sample_weight=weights[train])
    options = {"pos_label": "yes", "sample_weight": weights[test]}
    expected = metrics.f1_score(TEXT[test], model.predict(X[test]), **options)
    assert found.split_risks[0] == pytest.approx(1 - expected)


def errors(y_true, y_pred, threshold=0.5):
    return np.mean(y_true != y_pred)


def weighted_errors(y_true, y_pred, sample_weight=None):
    return (y_true != y_pred) * 1.0


def accuracy_of(estimator, X, y=None):
    return float((estimator.predict(X) == y).mean())


def unclear(a, b, c=1):
    return 0.0


@pytest.mark.parametrize(
    "function",
    [errors, weighted_errors, metrics.zero_one_loss, lambda t, p: (t != p) * 1.0],
    ids=lambda function: function.__name__,
)
def test_scoring_function_of_y_and_predictions_is_a_loss(function):
    """As a scorer it would be given the model."""
    assert is_loss_function(function)
    assert risk(function).value == pytest.approx(risk("zero-one").value)


@pytest.mark.parametrize(
    "function",
    [
        *(accuracy_of, partial(accuracy_of), make_scorer(metrics.f1_score)),
        *(lambda model, X, y: 0.5, lambda estimator, X: 0.5),
    ],
    ids=["y may be left out", "partial", "make_scorer", "three", "without y"],
)
def test_scoring_function_of_model_and_rows_is_a_scorer(function):
    assert not is_loss_function(function)
    found = risk(accuracy_of, cv=4)
    assert found.value == pytest.approx(risk("accuracy", cv=4).value)
    assert found.greater_is_better


@pytest.mark.parametrize("function", [unclear, lambda *given: 0.0], ids=["names", "any number"])
def test_scoring_function_that_could_be_either_is_refused(function):
    """A loss that is called as a scorer gave a risk of 0."""
    with pytest.raises(BadArgument, match="may be called with two arguments or three"):
        risk(function)


def test_scoring_names_do_not_depend_on_which_one_chooses():
    """They are the keys of `cv_results_` and of `scorer_`."""
    scoring = ["accuracy", make_scorer(metrics.fbeta_score, beta=2)]
    for refit in (True, "fbeta_score(beta=2)"):
        search = tr.HonestSearchCV(GaussianNB(), GRID, scoring=scoring, refit=refit, outer=None)
        keys = [key for key in search.fit(X, CODES).cv_results_ if key.startswith("mean_test_")]
        assert set(search.scorer_) == {"accuracy", "f2 of class 1"}
        assert set(keys) == {"mean_test_accuracy", "mean_test_f2 of class 1"}


def test_scoring_of_a_given_search_is_the_score_that_refit_names():
    """The scorer may be one function of several scores, or not the first of a list."""

    def several(model, X, y):
        return {"hits": model.score(X, y), "f": metrics.f1_score(y, model.predict(X))}

    given = GridSearchCV(GaussianNB(), GRID, cv=3, scoring=several, refit="f")
    search = tr.HonestSearchCV(given, outer=3).fit(X, CODES)
    plain = GridSearchCV(GaussianNB(), GRID, cv=3, scoring="f1").fit(X, CODES)
    assert search.selected_risk_.value == pytest.approx(plain.best_score_)
    given = GridSearchCV(GaussianNB(), GRID, cv=3, scoring=["accuracy", "f1"], refit="f1")
    search = tr.HonestSearchCV(given, scoring="f1", outer=None).fit(X, CODES)
    assert search.score(X, CODES) == pytest.approx(metrics.f1_score(CODES, search.predict(X)))


def test_optimism_is_none_where_class_or_average_differ():
    """F1 of another class than the search chose by; leave-one-out pools and outer folds average."""
    given = GridSearchCV(GaussianNB(), GRID, cv=3, scoring="f1")
    for asked in ({"scoring": FBeta(positive=0)}, {"scoring": "f1", "positive": 0}):
        search = tr.HonestSearchCV(given, outer=3, **asked).fit(X, CODES)
        assert search.selected_risk_.named_scoring == "f1 of class 1"
        assert search.selected_risk_.value == pytest.approx(search.search_.best_score_)
        assert search.risk_.named_scoring == "f1 of class 0"
        assert search.optimism_ is None
    search = tr.HonestSearchCV(GaussianNB(), GRID, cv="loo", outer=3, scoring="f1").fit(X, CODES)
    assert search.selected_risk_.pooled
    assert not search.risk_.pooled
    assert search.optimism_ is None


def test_positive_of_a_validation_is_the_class_of_its_scoring():
    """A score of all classes does without it."""
    for scoring, name in (("f1", "f1 of class 0"), ("log", "log")):
        found = tr.validate(GaussianNB(), X, CODES, scoring=scoring, positive=0, replicates=0)
        assert found.risk.named_scoring == name
    model = GaussianNB().fit(X, CODES)
    told = tr.validate(model, X + 0.1, CODES, prefit=True, scoring="recall", positive=0)
    assert told.risk.named_scoring == "recall of class 0"


def test_pooled_scoring_is_pooled_or_refused():
    """By methods whose average says otherwise, in subgroups, and by the bootstrap."""
    pooled = risk("f1 pooled")
    folds = tr.methods.KFold(5, average="fold")
    assert risk("f1 pooled", cv=folds).value == pooled.value
    search = tr.HonestSearchCV(GaussianNB(), {}, cv="5-fold", scoring="accuracy pooled", outer=None)
    assert search.fit(X, CODES).best_score_ == pytest.approx(risk("accuracy pooled").value)
    parts = {"half": np.arange(60) % 2}
    for scoring in ("f1 pooled", {"mine": "f1"}, FBeta(2)):
        found = tr.validate(GaussianNB(), X, CODES, scoring=scoring, subgroups=parts, replicates=0)
        whole = found.subgroups[found.risk.scoring].whole
        assert whole.value == pytest.approx(found.risk.value)
    with pytest.raises(Refusal, match=r"method '\.632' takes the mean over its samples"):
        risk("f1 pooled", cv=".632")
    with pytest.raises(UnknownName, match="write 'pooled' once"):
        risk("f1 pooled pooled")
    with pytest.raises(Refusal, match="scoring='jaccard pooled': the scorer jaccard rates one"):
        risk("jaccard pooled")
    with pytest.raises(UnknownName, match="there is no scoring 'acuracy'; did you mean 'accuracy'"):
        risk("acuracy pooled")
