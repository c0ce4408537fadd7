"""Words, losses, callables and scorers become losses; each risk is an error."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics
from sklearn.metrics import get_scorer, make_scorer

from truerisk.core.errors import FitFailed, Refusal, UnknownName
from truerisk.data.data import Data
from truerisk.losses.loss import RowLoss
from truerisk.losses.loss_words import as_loss
from truerisk.losses.row_losses import Cost, Squared, ZeroOne, registry
from truerisk.losses.scorer_losses import ScorerLoss

X = np.zeros((6, 1))
TWO = Data.check(X, ["a", "b", "b", "a", "b", "b"], task="classification")
ZEROS = Data.check(X, [0, 1, 1, 0, 1, 1], task="classification")
THREE = Data.check(X, [0, 1, 2, 0, 1, 2], task="classification")
NUMBERS = Data.check(X, np.arange(6.0), task="regression")


PAIRS = [(True, 1), (False, 2), (True, 3), (True, 4), (False, 5), (True, 6)]
TIMES = Data.check(X, np.array(PAIRS, "?,f8"), task="survival")
WHOSE = {("classification",): TWO, ("regression",): NUMBERS, ("survival",): TIMES}


@pytest.mark.parametrize("word", [w for w in registry if w not in ("cost", "brier-at", "auc-at")])
def test_every_word_gives_the_loss_of_that_word(word) -> None:
    """Each word of the table is the word of its loss."""
    assert as_loss(word, WHOSE[registry.load(word).tasks]).word == word


def test_the_usual_losses() -> None:
    """Zero-one for classes, squared for numbers."""
    assert isinstance(as_loss(None, TWO), ZeroOne)
    assert isinstance(as_loss(None, NUMBERS), Squared)
    loss = Cost([[0, 1], [2, 0]])
    assert as_loss(loss, TWO).matrix is loss.matrix


@pytest.mark.parametrize(
    ("loss", "error", "message"),
    [
        ("cost", Refusal, "needs its matrix"),
        ("zero_one", UnknownName, "did you mean 'zero-one'"),
        ("acuracy", UnknownName, "did you mean 'accuracy'"),
        ("xyzzy", UnknownName, "Known: zero-one, cost"),
        (3, UnknownName, "scoring=3 is neither a word"),
        (lambda y: 0, UnknownName, "takes 1 arguments; a loss takes"),
        (lambda y, f: np.zeros(2), Refusal, r"gave shape \(2,\) for 6 rows"),
        (get_scorer("f1"), Refusal, "scorer .*f1.* cannot rate even a perfect rule.*pos_label"),
        (make_scorer(lambda y, f: np.nan), Refusal, "gives nan for a perfect rule"),
    ],
)
def test_what_is_no_loss_is_refused(loss, error, message) -> None:
    """An unknown word gets the nearest one; a callable of another shape is told what is wanted."""
    with pytest.raises(error, match=message):
        as_loss(loss, TWO)


def test_a_callable_per_row_is_a_row_loss() -> None:
    """One value per row makes a loss of rows, on the labels as the user knows them."""

    def harsh(y_true, y_pred):
        return 3.0 * ((y_true == "a") & (y_pred == "b"))

    loss = as_loss(harsh, TWO)
    assert (loss.word, loss.per_row, loss.response) == ("harsh", True, "label")
    rows = np.array([0, 1, 3])
    assert loss.of_rows(TWO, rows, np.array([[1, 1, 0], [0, 0, 1]])).tolist() == [
        [3, 0, 0],
        [0, 0, 3],
    ]
    with pytest.raises(Refusal, match="label that y does not hold"):
        loss.of_rows(TWO, rows, np.array([[-1, 0, 0]]))


def test_a_callable_for_a_set_rates_sets() -> None:
    """One number for all rows makes a loss of sets, which takes no weights."""
    loss = as_loss(metrics.hamming_loss, TWO)
    assert not loss.per_row
    rows = np.arange(6)
    assert loss.of_set(TWO, rows, np.array([[0, 1, 1, 0, 1, 0]]), None) == pytest.approx([1 / 6])
    with pytest.raises(Refusal, match="cannot weight its rows"):
        loss.of_set(TWO, rows, np.zeros((1, 6), int), np.ones(6))


def test_a_callable_that_changes_its_mind_is_refused() -> None:
    """A loss that gives one value per row for all of y must do so for every test set."""
    loss = as_loss(lambda y, f: np.zeros(6), TWO)
    with pytest.raises(Refusal, match=r"gave shape \(6,\) for 2 rows"):
        loss.of_rows(TWO, np.array([0, 1]), np.zeros((1, 2), int))


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
def test_a_scorer_becomes_an_error_that_is_zero_for_the_truth(scorer, data, perfect) -> None:
    """The error is the score of a perfect rule minus the score, so truth costs nothing."""
    loss = ScorerLoss(get_scorer(scorer), scorer, data)
    assert loss.perfect == pytest.approx(perfect, abs=1e-12)
    assert loss.of_set(data, np.arange(6), np.array([0.25]), None) == pytest.approx(
        [perfect - 0.25], abs=1e-12
    )
    for given in (loss, as_loss(scorer, data)):  # some names are losses of ours
        assert given.score(perfect - 0.25) == pytest.approx(0.25, abs=1e-12)


def test_a_callable_of_three_arguments_is_a_scorer() -> None:
    """(estimator, X, y) is scikit-learn's own shape of a scorer."""
    loss = as_loss(lambda model, X, y: float((model.predict(X) == y).mean()), THREE)
    assert (loss.response, loss.perfect) == ("scored", 1.0)


class OneForAll(RowLoss):
    """Gives a number for each model, where one for each row is asked."""

    word, response, tasks = "one-for-all", "value", ("regression",)

    def of_rows(self, data, rows, answers):
        return np.zeros(len(answers))


class Failing(OneForAll):
    word = "failing"

    def of_rows(self, data, rows, answers):
        raise ZeroDivisionError("division by zero")


def test_a_loss_of_ones_own_is_tried_before_any_fit() -> None:
    """Its shape and its errors are told; of other data it is told first that it is for others."""
    with pytest.raises(Refusal, match=r"one-for-all gave shape \(1,\) .* about 6 rows"):
        as_loss(OneForAll(), NUMBERS)
    with pytest.raises(FitFailed, match="loss failing failed on y against itself"):
        as_loss(Failing(), NUMBERS)
    with pytest.raises(Refusal, match="classification"):
        as_loss(OneForAll(), TWO)
