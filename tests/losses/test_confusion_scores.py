"""Scores of labels are scikit-learn's, and a row's influence is a derivative by its weight."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import truerisk as tr
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.data.data import Data
from truerisk.losses.confusion_scores import (
    MCC,
    BalancedAccuracy,
    FBeta,
    GMean,
    Kappa,
    Precision,
    Recall,
    Sensitivity,
    Specificity,
)
from truerisk.losses.loss_words import as_loss

RNG = np.random.default_rng(11)


def recall_of_0(y, f, **weights):
    return metrics.recall_score(y, f, pos_label=0, zero_division=0, **weights)


def geometric_mean(y, f, **weights):
    recalls = metrics.recall_score(y, f, average=None, labels=np.unique(y), **weights)
    return recalls.prod() ** (1 / len(recalls))


def averaged(metric, average, **fixed):
    return partial(metric, average=average, zero_division=0, **fixed)


OF_TWO = {
    "f1": (FBeta(), averaged(metrics.f1_score, "binary")),
    "f0.5": (FBeta(0.5), averaged(metrics.fbeta_score, "binary", beta=0.5)),
    "precision": (Precision(), averaged(metrics.precision_score, "binary")),
    "recall": (Recall(), averaged(metrics.recall_score, "binary")),
    "sensitivity": (Sensitivity(), averaged(metrics.recall_score, "binary")),
    "specificity": (Specificity(), recall_of_0),
}
OF_CLASSES = {
    "balanced-accuracy": (BalancedAccuracy(), metrics.balanced_accuracy_score),
    "mcc": (MCC(), metrics.matthews_corrcoef),
    "kappa": (Kappa(), metrics.cohen_kappa_score),
    "g-mean": (GMean(), geometric_mean),
    "f1-macro": (FBeta(average="macro"), averaged(metrics.f1_score, "macro")),
    "f2-weighted": (FBeta(2, "weighted"), averaged(metrics.fbeta_score, "weighted", beta=2)),
    "precision-macro": (Precision("macro"), averaged(metrics.precision_score, "macro")),
    "precision-weighted": (Precision("weighted"), averaged(metrics.precision_score, "weighted")),
    "recall-macro": (Recall("macro"), averaged(metrics.recall_score, "macro")),
    "recall-weighted": (Recall("weighted"), averaged(metrics.recall_score, "weighted")),
}
ALL = OF_TWO | OF_CLASSES


def table(k, n, seed, constant=False):
    """Truth with every class, answers of two candidates, the second one constant where asked."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(k, size=n)])
    answers = rng.integers(k, size=(2, len(y)))
    if constant:
        answers[1] = rng.integers(k)
    weights = rng.integers(1, 5, size=len(y)) / 2
    return Data.check(np.zeros((len(y), 1)), y, task="classification"), answers, weights


@given(
    st.sampled_from(sorted(ALL)),
    st.integers(2, 5),
    st.integers(0, 25),
    st.integers(0, 2**31),
    st.booleans(),
)
def test_a_score_is_that_of_scikit_learn(name, k, n, seed, constant) -> None:
    """Of random tables with empty cells, also of constant answers, with weights and without."""
    loss, metric = ALL[name]
    data, answers, weights = table(2 if name in OF_TWO else k, n, seed, constant)
    rows = np.arange(data.n_rows)
    assert loss.word == name
    for w in (None, weights):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn warns of what is never answered
            expected = [metric(data.y, said, sample_weight=w) for said in answers]
        found = loss.of_set(data, rows, answers, w)
        assert found == pytest.approx(1 - np.array(expected), abs=1e-12)


@pytest.mark.parametrize("named", [True, False], ids=["answered", "not even answered"])
@pytest.mark.parametrize("name", sorted(OF_CLASSES))
def test_a_fold_without_a_class_has_the_score_that_scikit_learn_gives_it(name, named) -> None:
    """A class counts that is in its truth or its answers; means of recalls need it in the truth."""
    loss, metric = OF_CLASSES[name]
    data, answers, weights = table(4, 40, 12)
    rows = np.flatnonzero(data.codes > 0)
    said = answers[:, rows] if named else np.maximum(answers[:, rows], 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [metric(data.y[rows], one, sample_weight=weights[rows]) for one in said]
    found = loss.of_set(data, rows, said, weights[rows])
    assert found == pytest.approx(1 - np.array(expected), abs=1e-12)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", sorted(ALL))
def test_an_influence_is_a_derivative_by_the_weight_of_a_row(name, k) -> None:
    """By finite differences of all weights; weighted, they add to 0."""
    data, answers, weights = table(2 if name in OF_TWO else k, 40, 4)
    loss, rows = ALL[name][0], np.arange(data.n_rows)
    found = loss.influences(data, rows, answers, weights, np.zeros(2))
    step = 1e-6
    for i in rows:
        more, less = weights.copy(), weights.copy()
        more[i] += step
        less[i] -= step
        by_hand = loss.of_set(data, rows, answers, more) - loss.of_set(data, rows, answers, less)
        assert found[:, i] == pytest.approx(by_hand / (2 * step) * weights.sum(), abs=1e-6)
    assert found @ weights == pytest.approx(0, abs=1e-9)
    assert np.abs(found).max() > 0.1


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_label_that_y_does_not_hold_is_wrong(name) -> None:
    """It costs no less than any other wrong label of its row, and has a finite influence."""
    data, answers, _ = table(2, 20, 5)
    loss, rows, unknown = ALL[name][0], np.arange(22), answers.copy()
    row = np.flatnonzero(answers[0] == data.codes)[0]
    unknown[:, row] = -1
    if "precision" not in name:
        assert (
            loss.of_set(data, rows, unknown, None)[0] >= loss.of_set(data, rows, answers, None)[0]
        )
    assert np.isfinite(loss.influences(data, rows, unknown, None, np.zeros(2))).all()
    nobody = np.full((1, 22), -1)
    assert loss.of_set(data, rows, nobody, None) == pytest.approx(1)


def test_an_unknown_label_is_a_column_of_its_own() -> None:
    """MCC and kappa count it as scikit-learn counts a label that the truth does not hold."""
    data, answers, weights = table(3, 30, 6)
    answers[:, ::7] = -1
    for loss, metric in (OF_CLASSES["mcc"], OF_CLASSES["kappa"]):
        found = loss.of_set(data, np.arange(33), answers, weights)
        expected = [metric(data.y, said, sample_weight=weights) for said in answers]
        assert found == pytest.approx(1 - np.array(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("loss", "code", "lack"),
    [
        (FBeta(), 0, "loss 'f1' needs rows of the positive class in .* 5 rows holds none; use few"),
        (Recall(), 0, "loss 'recall' needs rows of the positive class"),
        (Specificity(), 1, "loss 'specificity' needs rows of the negative class"),
        (MCC(), 0, "loss 'mcc' needs rows of two classes .* 5 rows holds a single class; use"),
        (Kappa(), 1, "loss 'kappa' needs rows of two classes"),
        (GMean(), 1, "loss 'g-mean' needs rows of two classes"),
    ],
)
def test_what_the_truth_lacks_is_named(loss, code, lack) -> None:
    """A test set that cannot have the score is refused; so is one whose rows have no weight."""
    data, _, _ = table(2, 30, 7)
    rows = np.concatenate([np.flatnonzero(data.codes == code)[:5]])
    said = np.zeros((1, 5), dtype=int)
    with pytest.raises(Refusal, match=lack):
        loss.of_set(data, rows, said, None)
    rows = np.append(rows, np.flatnonzero(data.codes != code)[0])
    loss.of_set(data, rows, np.zeros((1, 6), dtype=int), None)
    with pytest.raises(Refusal, match=lack.replace("5 rows", "6 rows")):
        loss.of_set(data, rows, np.zeros((1, 6), dtype=int), np.append(np.ones(5), 0.0))


@pytest.mark.parametrize("name", sorted(ALL))
def test_one_row_changes_the_score_by_no_more_than_is_told(name) -> None:
    """Of all changes of one answer between two classes the largest is told."""
    data, answers, _ = table(2, 20, 10)
    answers[1] = 0
    loss, rows = ALL[name][0], np.arange(22)
    told = loss.of_one_row(data, rows, answers, None)
    usual = loss.of_set(data, rows, answers, None)
    for c in range(2):
        others = np.repeat(answers[c : c + 1], 22, axis=0)
        others[rows, rows] = 1 - others[rows, rows]
        changes = np.abs(loss.of_set(data, rows, others, None) - usual[c])
        assert told[c] == pytest.approx(changes.max())


def test_precision_of_nobody_and_correlation_of_a_constant_are_0() -> None:
    """As in scikit-learn; they have no slope there."""
    data, _, _ = table(2, 20, 8)
    rows, never = np.arange(22), np.zeros((1, 22), dtype=int)
    for loss in (Precision(), MCC(), FBeta()):
        assert loss.of_set(data, rows, never, None) == [1.0]
    for loss in (Precision(), MCC()):
        assert not loss.influences(data, rows, never, None, np.ones(1)).any()


def test_where_no_row_of_a_class_is_found_the_geometric_mean_has_finite_influences() -> None:
    """Its slope is infinite there; at half a row it is not."""
    data, _, _ = table(2, 20, 9)
    rows, never = np.arange(22), np.zeros((1, 22), dtype=int)
    assert GMean().of_set(data, rows, never, None) == [1.0]
    told = GMean().influences(data, rows, never, None, np.ones(1))
    assert np.isfinite(told).all()
    assert np.abs(told).max() > 0.1


def test_a_result_says_which_class_is_rated() -> None:
    """The greater of two labels; of several, that it is a mean over them."""
    two, three = (Data.check(np.zeros((6, 1)), y, task="classification") for y in (
        ["no", "yes", "no"] * 2, ["a", "b", "c"] * 2
    ))  # fmt: skip
    assert as_loss("f1", two).label(two) == "yes"
    assert as_loss("f1", three).label(three) is None
    assert as_loss("f1", three).notes == ("mean over 3 classes, each counting alike",)
    by_rows = as_loss(Recall("weighted"), two)
    assert by_rows.notes == ("mean over 2 classes, each counting by its rows",)
    assert as_loss("mcc", two).notes == ()


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: FBeta(0), BadArgument, "beta=0: give a number above 0"),
        (lambda: FBeta("x"), BadArgument, "beta='x'"),
        (lambda: FBeta(True), BadArgument, "beta=True"),
        (lambda: Precision("micro"), UnknownName, "average='micro' is unknown"),
    ],
)
def test_bad_arguments_are_named(made, error, message) -> None:
    """What beta and average may be."""
    with pytest.raises(error, match=message):
        made()


def test_f_beta_is_called_by_its_beta() -> None:
    """In words of results; the score of a risk is the metric."""
    assert [FBeta(b).word for b in (1, 2, 0.5)] == ["f1", "f2", "f0.5"]
    assert tr.losses.FBeta(2).score(0.25) == 0.75
    assert (MCC().upper, Kappa().upper, FBeta().upper) == (2, 2, 1)
