"""scikit-learn's names of scores mean what `cross_val_score` means by them, and have intervals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import truerisk as tr
from truerisk.core.errors import Refusal, UnknownName
from truerisk.data.data import Data
from truerisk.losses.confusion_scores import FBeta
from truerisk.losses.loss_words import as_loss
from truerisk.losses.rank_scores import AUC
from truerisk.losses.row_losses import ZeroOne
from truerisk.losses.scorer_losses import same_as_scorer

RNG = np.random.default_rng(2)
X = RNG.normal(size=(67, 3))
TWO = (X[:, 0] + RNG.normal(size=67) > 0.4).astype(int)
THREE = np.digitize(X[:, 0] + RNG.normal(size=67), [-0.5, 0.7])
VALUES = X[:, 0] + RNG.normal(size=67)
SPLITS = list(StratifiedKFold(4).split(X, TWO))
OF_LABELS = (
    *("accuracy", "balanced_accuracy", "f1_macro", "f1_weighted", "matthews_corrcoef"),
    *("precision_macro", "precision_weighted", "recall_macro", "recall_weighted"),
)
OF_TWO = ("f1", "precision", "recall", "average_precision", "roc_auc")
OF_CHANCES = ("neg_log_loss", "neg_brier_score", "roc_auc_ovr", "roc_auc_ovr_weighted")
OF_NUMBERS = ("r2", "neg_mean_squared_error", "neg_mean_absolute_error")
CASES = [
    *((LogisticRegression(), TWO, name) for name in (*OF_LABELS, *OF_TWO, *OF_CHANCES)),
    *((GaussianNB(), TWO, name) for name in (*OF_TWO, *OF_CHANCES)),
    *((LinearSVC(), TWO, name) for name in ("average_precision", "roc_auc", "recall")),
    *((GaussianNB(), THREE, name) for name in (*OF_LABELS, "neg_log_loss", *OF_CHANCES[2:])),
    *((Ridge(), VALUES, name) for name in OF_NUMBERS),
]


@pytest.mark.parametrize(
    ("model", "y", "name"),
    CASES,
    ids=[f"{type(m).__name__}-{n}-{'three' * (y is THREE)}" for m, y, n in CASES],
)
def test_a_name_means_what_cross_val_score_means_by_it(model, y, name) -> None:
    """Fold by fold and in the mean over folds, for labels, decision values and probabilities."""
    loss = same_as_scorer(name, 0 if y is VALUES else len(np.unique(y)))
    theirs = cross_val_score(model, X, y, scoring=name, cv=SPLITS)
    found = tr.estimate_risk(model, X, y, cv=SPLITS, scoring=loss)
    assert found.scoring == name
    assert loss.score(found.split_risks) == pytest.approx(theirs, abs=1e-12)
    assert found.value == pytest.approx(theirs.mean(), abs=1e-12)
    if name not in ("f1", "precision", "recall", "r2"):  # which are words of ours
        assert tr.estimate_risk(model, X, y, cv=SPLITS, scoring=name).value == found.value


@pytest.mark.parametrize(("ours", "theirs"), [("f1", "f1"), ("mcc", "matthews_corrcoef")])
def test_words_of_scores_are_means_over_folds_as_names_are(ours: str, theirs: str) -> None:
    """The same number for the same splits; with " pooled" it is of all answers."""
    by_word = tr.estimate_risk(GaussianNB(), X, TWO, cv=SPLITS, scoring=ours)
    by_name = tr.estimate_risk(GaussianNB(), X, TWO, cv=SPLITS, scoring=theirs)
    assert by_word.value == by_name.value == pytest.approx(1 - by_name.split_risks.mean())
    assert by_word.interval == by_name.interval
    pooled = [
        tr.estimate_risk(GaussianNB(), X, TWO, cv=SPLITS, scoring=f"{word} pooled")
        for word in (ours, theirs)
    ]
    assert pooled[0].value == pooled[1].value != by_word.value
    assert [one.scoring for one in pooled] == [f"{ours} pooled", f"{theirs} pooled"]
    data = Data.check(X, TWO, task="classification")
    assert as_loss(ours, data).usual_average == FBeta().usual_average == "fold"


def test_scorers_cannot_be_pooled() -> None:
    """A scorer rates one fitted model, and an unknown word is told as without the ending."""
    with pytest.raises(Refusal, match="scoring='jaccard pooled': the scorer jaccard rates one"):
        tr.estimate_risk(GaussianNB(), X, TWO, scoring="jaccard pooled")
    with pytest.raises(UnknownName, match="there is no scoring 'acuracy'; did you mean 'accuracy'"):
        tr.estimate_risk(GaussianNB(), X, TWO, scoring="acuracy pooled")


def test_every_name_is_scikit_learns_and_made_of_one_loss() -> None:
    """Each time a new one, so that the average of ours stays; for the y it is defined for."""
    names = {*OF_LABELS, *OF_TWO, *OF_CHANCES, *OF_NUMBERS}
    assert names <= {*get_scorer_names()}
    assert {n for n in get_scorer_names() if any(same_as_scorer(n, k) for k in (0, 2, 3))} == names
    for name in OF_TWO:
        assert same_as_scorer(name, 2) is not None
        assert same_as_scorer(name, 3) is same_as_scorer(name, 0) is None
    for name in OF_NUMBERS:
        assert same_as_scorer(name, 2) is None
    assert ZeroOne().usual_average == "pooled"
    assert type(same_as_scorer("roc_auc", 2)) is AUC


@pytest.mark.parametrize("name", ["f1_macro", "balanced_accuracy", "average_precision", "accuracy"])
def test_a_name_has_an_interval_by_the_way(name) -> None:
    """A tuned learner's by default, a single one's by name."""
    grid = {"C": [0.01, 1.0]}
    search = tr.HonestSearchCV(LogisticRegression(), grid, scoring=name, cv="4-fold")
    found = search.fit(X, TWO).risk_
    assert found.interval.low < found.value < found.interval.high
    word = "beta-cv" if name == "accuracy" else "logit-cv"
    assert found.interval.method == word
    alone = tr.estimate_risk(GaussianNB(), X, TWO, scoring=name, cv="4-fold", interval=word)
    assert alone.interval.low < alone.value < alone.interval.high


def test_a_score_says_that_it_is_one() -> None:
    """Scores and whatever scikit-learn calls a score do; losses by our words do not."""
    data = Data.check(X, TWO, task="classification")
    scores = ("auc", "f1", "mcc", "kappa", "average-precision", "roc_auc", "f1_macro", "jaccard")
    theirs = ("neg_log_loss", "accuracy")
    losses = ("zero-one", "log", "brier", "ece")
    assert all(as_loss(word, data).is_score for word in scores + theirs)
    assert not any(as_loss(word, data).is_score for word in losses)
