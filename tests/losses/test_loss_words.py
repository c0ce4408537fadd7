"""Words, losses, callables and scikit-learn's scorers become losses; each risk is an error."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from tests.support.data import checked

import truerisk as tr
from truerisk.exceptions import FitFailed, UnknownName
from truerisk.extend import Data, Refusal
from truerisk.losses import AUC, Cost, FBeta, RowLoss, Squared, ZeroOne, registry
from truerisk.losses.loss_words import as_loss
from truerisk.losses.scorer_losses import ScorerLoss, loss_equal_to_scorer

ZERO = np.zeros((6, 1))
TWO = checked(ZERO, ["a", "b", "b", "a", "b", "b"])
ZEROS = checked(ZERO, [0, 1, 1, 0, 1, 1])
THREE = checked(ZERO, [0, 1, 2, 0, 1, 2])
NUMBERS = checked(ZERO, np.arange(6.0))
PAIRS = [(True, 1), (False, 2), (True, 3), (True, 4), (False, 5), (True, 6)]
TIMES = Data.check(ZERO, np.array(PAIRS, "?,f8"), task="survival")
WHOSE = {("classification",): TWO, ("regression",): NUMBERS, ("survival",): TIMES}


@pytest.mark.parametrize("word", [w for w in registry if w not in ("cost", "brier-at", "auc-at")])
def test_as_loss_gives_the_loss_of_a_word(word):
    assert as_loss(word, WHOSE[registry.load(word).tasks]).name == word


def test_as_loss_gives_the_usual_losses():
    assert isinstance(as_loss(None, TWO), ZeroOne)
    assert isinstance(as_loss(None, NUMBERS), Squared)
    loss = Cost([[0, 1], [2, 0]])
    assert as_loss(loss, TWO).matrix is loss.matrix
    assert as_loss("average-precision", THREE, positive=2).rated(THREE) == 2


class OneForAll(RowLoss):
    """Gives a number for each model, where one for each row is asked."""

    name, response, tasks = "one-for-all", "value", ("regression",)

    def of_rows(self, data, rows, answers):
        return np.zeros(len(answers))


class Failing(OneForAll):
    name = "failing"

    def of_rows(self, data, rows, answers):
        raise ZeroDivisionError("division by zero")


@pytest.mark.parametrize(
    ("loss", "data", "error", "message"),
    [
        ("cost", TWO, Refusal, "needs its matrix"),
        ("zero_one", TWO, UnknownName, "did you mean 'zero-one'"),
        ("acuracy", TWO, UnknownName, "did you mean 'accuracy'"),
        ("xyzzy", TWO, UnknownName, "Known: zero-one, cost"),
        ("average-precision", THREE, Refusal, "is of one class and y has 3: name it"),
        (3, TWO, UnknownName, "scoring=3 is neither a word"),
        (lambda y: 0, TWO, UnknownName, "takes 1 arguments; a loss takes"),
        (lambda y, f: np.zeros(2), TWO, Refusal, r"gave shape \(2,\) for 6 rows"),
        (
            get_scorer("f1"),
            TWO,
            Refusal,
            "f1.* cannot rate even a perfect rule.*pos_label",
        ),
        (make_scorer(lambda y, f: np.nan), TWO, Refusal, "gives nan for a perfect rule"),
        (OneForAll(), NUMBERS, Refusal, r"one-for-all gave shape \(1,\) .* about 6 rows"),
        (Failing(), NUMBERS, FitFailed, "loss failing failed on y against itself"),
        (OneForAll(), TWO, Refusal, "classification"),
    ],
)
def test_as_loss_refuses_what_is_no_loss(loss, data, error, message):
    """A loss of one's own is tried before any fit."""
    with pytest.raises(error, match=message):
        as_loss(loss, data)


def test_as_loss_makes_losses_of_rows_and_of_sets_from_callables():
    """They see the labels as the user knows them. A loss of sets takes no weights."""

    def harsh(y_true, y_pred):
        return 3.0 * ((y_true == "a") & (y_pred == "b"))

    loss, rows = as_loss(harsh, TWO), np.array([0, 1, 3])
    assert (loss.name, loss.per_row, loss.response) == ("harsh", True, "label")
    found = loss.of_rows(TWO, rows, np.array([[1, 1, 0], [0, 0, 1]]))
    assert found.tolist() == [[3, 0, 0], [0, 0, 3]]
    with pytest.raises(Refusal, match="label that y does not hold"):
        loss.of_rows(TWO, rows, np.array([[-1, 0, 0]]))
    changing = as_loss(lambda y, f: np.zeros(6), TWO)
    with pytest.raises(Refusal, match=r"gave shape \(6,\) for 2 rows"):
        changing.of_rows(TWO, np.array([0, 1]), np.zeros((1, 2), int))
    loss, rows = as_loss(metrics.hamming_loss, TWO), np.arange(6)
    assert not loss.per_row
    assert loss.of_set(TWO, rows, np.array([[0, 1, 1, 0, 1, 0]]), None) == pytest.approx([1 / 6])
    with pytest.raises(Refusal, match="cannot weight its rows"):
        loss.of_set(TWO, rows, np.zeros((1, 6), int), np.ones(6))
    loss = as_loss(lambda model, X, y: float((model.predict(X) == y).mean()), THREE)
    assert (loss.response, loss.perfect) == ("scored", 1.0)


@pytest.mark.parametrize(
    ("scorer", "data", "perfect"),
    [
        ("accuracy", TWO, 1),
        ("balanced_accuracy", THREE, 1),
        ("f1_macro", THREE, 1),
        ("roc_auc", TWO, 1),
        ("roc_auc_ovr", THREE, 1),
        ("neg_log_loss", TWO, 0),
        ("neg_brier_score", ZEROS, 0),
        ("matthews_corrcoef", THREE, 1),
        ("r2", NUMBERS, 1),
        ("neg_mean_squared_error", NUMBERS, 0),
        ("neg_median_absolute_error", NUMBERS, 0),
        ("neg_mean_absolute_percentage_error", NUMBERS, 0),
    ],
)
def test_scorer_loss_is_zero_for_the_truth(scorer, data, perfect):
    """The error is the score of a perfect rule minus the score."""
    loss = ScorerLoss(get_scorer(scorer), scorer, data)
    assert loss.perfect == pytest.approx(perfect, abs=1e-12)
    found = loss.of_set(data, np.arange(6), np.array([0.25]), None)
    assert found == pytest.approx([perfect - 0.25], abs=1e-12)
    for given in (loss, as_loss(scorer, data)):  # some names are losses of ours
        assert given.score(perfect - 0.25) == pytest.approx(0.25, abs=1e-12)


RNG = np.random.default_rng(2)
X = RNG.normal(size=(67, 3))
Y = (X[:, 0] + RNG.normal(size=67) > 0.4).astype(int)
OF_THREE = np.digitize(X[:, 0] + RNG.normal(size=67), [-0.5, 0.7])
VALUES = X[:, 0] + RNG.normal(size=67)
SPLITS = list(StratifiedKFold(4).split(X, Y))
LABELS = (
    *("accuracy", "balanced_accuracy", "f1_macro", "f1_weighted", "matthews_corrcoef"),
    *("precision_macro", "precision_weighted", "recall_macro", "recall_weighted"),
)
OF_TWO = ("f1", "precision", "recall", "average_precision", "roc_auc")
CHANCES = ("neg_log_loss", "neg_brier_score", "roc_auc_ovr", "roc_auc_ovr_weighted")
OF_NUMBERS = ("r2", "neg_mean_squared_error", "neg_mean_absolute_error")
CASES = [
    *((LogisticRegression(), Y, name) for name in (*LABELS, *OF_TWO, *CHANCES)),
    *((GaussianNB(), Y, name) for name in (*OF_TWO, *CHANCES)),
    *((LinearSVC(), Y, name) for name in ("average_precision", "roc_auc", "recall")),
    *((GaussianNB(), OF_THREE, name) for name in (*LABELS, "neg_log_loss", *CHANCES[2:])),
    *((Ridge(), VALUES, name) for name in OF_NUMBERS),
]


@pytest.mark.parametrize(
    ("model", "y", "name"),
    CASES,
    ids=[f"{type(m).__name__}-{n}-{'three' * (y is OF_THREE)}" for m, y, n in CASES],
)
def test_scorer_names_mean_what_cross_val_score_means_by_them(model, y, name):
    """Fold by fold and in the mean over folds, for labels, decision values and probabilities."""
    loss = loss_equal_to_scorer(name, 0 if y is VALUES else len(np.unique(y)))
    theirs = cross_val_score(model, X, y, scoring=name, cv=SPLITS)
    found = tr.estimate_risk(model, X, y, cv=SPLITS, scoring=loss)
    assert found.scoring == name
    assert loss.score(found.split_risks) == pytest.approx(theirs, abs=1e-12)
    assert found.value == pytest.approx(theirs.mean(), abs=1e-12)
    if name not in ("f1", "precision", "recall", "r2"):  # which are words of ours
        assert tr.estimate_risk(model, X, y, cv=SPLITS, scoring=name).value == found.value


@pytest.mark.parametrize(("ours", "theirs"), [("f1", "f1"), ("mcc", "matthews_corrcoef")])
def test_scorer_names_average_over_folds_as_words_do_unless_pooled(ours, theirs):
    by_word, by_name, *pooled = (
        tr.estimate_risk(GaussianNB(), X, Y, cv=SPLITS, scoring=word)
        for word in (ours, theirs, f"{ours} pooled", f"{theirs} pooled")
    )
    assert by_word.value == by_name.value == pytest.approx(1 - by_name.split_risks.mean())
    assert by_word.interval == by_name.interval
    assert pooled[0].value == pooled[1].value != by_word.value
    assert [one.scoring for one in pooled] == [f"{ours} pooled", f"{theirs} pooled"]
    assert as_loss(ours, checked(X, Y)).usual_average == FBeta().usual_average == "fold"


def test_same_as_scorer_makes_a_new_loss_where_the_score_is_defined():
    """The average of ours stays."""
    names = {*LABELS, *OF_TWO, *CHANCES, *OF_NUMBERS}
    known = {n for n in get_scorer_names() if any(loss_equal_to_scorer(n, k) for k in (0, 2, 3))}
    assert known == names
    for name in OF_TWO:
        assert loss_equal_to_scorer(name, 2) is not None
        assert loss_equal_to_scorer(name, 3) is loss_equal_to_scorer(name, 0) is None
    assert not any(loss_equal_to_scorer(name, 2) for name in OF_NUMBERS)
    assert ZeroOne().usual_average == "pooled"
    assert type(loss_equal_to_scorer("roc_auc", 2)) is AUC


@pytest.mark.parametrize("name", ["f1_macro", "balanced_accuracy", "average_precision", "accuracy"])
def test_scorer_names_have_an_interval(name):
    """A tuned learner's by default, a single one's by name."""
    grid = {"C": [0.01, 1.0]}
    search = tr.HonestSearchCV(LogisticRegression(), grid, scoring=name, cv="4-fold")
    found = search.fit(X, Y).risk_
    word = "beta-cv" if name == "accuracy" else "logit-cv"
    assert found.interval.method == word
    alone = tr.estimate_risk(GaussianNB(), X, Y, scoring=name, cv="4-fold", interval=word)
    for one in (found, alone):
        assert one.interval.low < one.value < one.interval.high


def test_is_score_is_said_by_scores_and_names_of_scikit_learn():
    data = checked(X, Y)
    scores = ("auc", "f1", "mcc", "kappa", "average-precision", "roc_auc", "f1_macro", "jaccard")
    theirs = ("neg_log_loss", "accuracy")
    assert all(as_loss(word, data).is_score for word in scores + theirs)
    assert not any(as_loss(word, data).is_score for word in ("zero-one", "log", "brier", "ece"))
