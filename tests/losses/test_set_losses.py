"""Losses of whole test sets: values, influences, labels that are lacking, and variances."""

import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from tests.support.data import checked

from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, Refusal
from truerisk.losses import (
    AUC,
    ECE,
    MCC,
    R2,
    AveragePrecision,
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


def labelled(k, n, seed, constant=False):
    """Truth with every class, answers of two candidates, the second one constant where asked."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(k, size=n)])
    answers = rng.integers(k, size=(2, len(y)))
    if constant:
        answers[1] = rng.integers(k)
    return checked(np.zeros((len(y), 1)), y), answers, rng.integers(1, 5, size=len(y)) / 2


def ranked(n, levels, seed):
    """Two classes, scores of two candidates with ties, and weights."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([[0, 1], rng.integers(2, size=n)])
    scores = rng.integers(levels, size=(2, n + 2)) / 3
    return checked(np.zeros((n + 2, 1)), y), scores, rng.random(n + 2) + 1


def likely(k, n=40):
    """Several classes, probabilities of two candidates, and weights."""
    rng = np.random.default_rng(6)
    data = checked(np.zeros((n, 1)), np.array(["a", "b", "c"])[np.arange(n) % k])
    return data, rng.dirichlet(np.ones(k), size=(2, n)), rng.random(n) + 0.1


def numbers(targets, n=30):
    """Values of one target or several, predictions of two candidates, and weights."""
    rng = np.random.default_rng(5)
    y = rng.normal(size=(n, targets)).squeeze() * np.arange(1, targets + 1)
    return checked(np.zeros((n, 1)), y), rng.normal(size=(2, *y.shape)), rng.random(n) + 0.1


def assert_score(loss, drawn, metric, rows=slice(None)):
    """Compare 1 - loss with a metric of scikit-learn, with weights and without."""
    data, answers, weights = drawn
    rows = np.arange(data.n_rows)[rows]
    for w in (None, weights[rows]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn warns of what is never answered
            expected = [metric(data.y[rows], said[rows], sample_weight=w) for said in answers]
        found = loss.of_set(data, rows, answers[:, rows], w)
        assert found == pytest.approx(1 - np.array(expected), abs=1e-12)


@given(
    st.sampled_from(sorted(ALL)),
    st.integers(2, 5),
    st.integers(0, 25),
    st.integers(0, 2**31),
    st.booleans(),
)
def test_scores_of_labels_are_those_of_scikit_learn(name, k, n, seed, constant):
    """Of random tables with empty cells, also of constant answers."""
    loss, metric = ALL[name]
    assert loss.name == name
    assert_score(loss, labelled(2 if name in OF_TWO else k, n, seed, constant), metric)


def unknown():
    """Return answers of which some are a label that does not occur in y."""
    data, answers, weights = labelled(3, 30, 6)
    answers[:, ::7] = -1
    return data, answers, weights


FOUR, FOUR_SAID, FOUR_WEIGHTS = labelled(4, 40, 12)
NOT_SAID = np.maximum(FOUR_SAID, 1)


@pytest.mark.parametrize(
    ("name", "drawn", "rows"),
    [
        *(
            pytest.param(name, (FOUR, said, FOUR_WEIGHTS), FOUR.codes > 0, id=f"{name}-{what}")
            for name in sorted(OF_CLASSES)
            for what, said in (("answered", FOUR_SAID), ("not even answered", NOT_SAID))
        ),
        *(
            pytest.param(name, unknown(), slice(None), id=f"{name}-unknown label")
            for name in ("mcc", "kappa")
        ),
    ],
)
def test_scores_of_classes_in_truth_or_answers_alone_are_those_of_scikit_learn(name, drawn, rows):
    """A class counts if it occurs in the truth or in the answers.

    Means of recalls count only classes that occur in the truth. A label that does not occur in y
    has a column of its own.
    """
    loss, metric = OF_CLASSES[name]
    assert_score(loss, drawn, metric, rows)


@given(st.integers(0, 30), st.integers(1, 12), st.integers(0, 2**31))
def test_rank_scores_are_those_of_scikit_learn(n, levels, seed):
    """With ties. AUC is the weighted share of pairs in the right order, ties half."""
    drawn = data, scores, weights = ranked(n, levels, seed)
    assert_score(AveragePrecision(), drawn, metrics.average_precision_score)
    assert_score(AUC(), drawn, metrics.roc_auc_score)
    up, down = data.y == 1, data.y == 0
    wrong = (np.sign(scores[0][None, down] - scores[0][up, None]) + 1) / 2
    pairs = np.outer(weights[up], weights[down])
    found = AUC().of_set(data, np.arange(n + 2), scores, weights)[0]
    assert found == pytest.approx((wrong * pairs).sum() / pairs.sum(), abs=1e-12)


@pytest.mark.parametrize("targets", [1, 3])
def test_r2_is_that_of_scikit_learn(targets):
    assert_score(R2(), numbers(targets), metrics.r2_score, slice(3, 23))
    assert (R2().lower, R2().upper, R2().score(0.25)) == (0, None, 0.75)


@pytest.mark.parametrize("word", ["auc", "roc_auc_ovr", "roc_auc_ovr_weighted"])
def test_auc_of_several_classes_rates_one_against_the_rest(word):
    """As scikit-learn rates probabilities."""
    data, answers, weights = likely(3)
    answers = answers.round(1)
    answers[..., 0] = 1 - answers[..., 1:].sum(axis=-1)
    average = "weighted" if word.endswith("weighted") else "macro"
    metric = partial(metrics.roc_auc_score, multi_class="ovr", average=average)
    loss = as_loss(word, data)
    assert_score(loss, (data, answers, weights), metric)
    with pytest.raises(Refusal, match=r"needs rows of 'c' and of others.*one of 18 rows lacks"):
        loss.of_set(data, np.flatnonzero(data.y != "c")[:18], answers[:, :18], None)


@pytest.mark.parametrize("bins", [10, 4])
def test_ece_is_its_sum_over_bins(bins):
    data, answers, weights = likely(3)
    for w in (np.ones(40), weights):
        expected = []
        for said in answers:
            top, hits = said.max(axis=1), said.argmax(axis=1) == data.codes
            total = 0.0
            for b in range(bins):
                inside = (b / bins < top) & (top <= (b + 1) / bins)
                total += abs(np.sum((w * (hits - top))[inside]))
            expected.append(total / w.sum())
        assert ECE(bins).of_set(data, np.arange(40), answers, w) == pytest.approx(expected)


def test_ece_counts_an_edge_to_the_bin_below_and_certainty_to_the_last():
    """0.45 and 0.5 share a bin, where their errors cancel; 0.55 stands in the next."""
    data = checked(np.zeros((2, 1)), [0, 1])

    def error(first, second):
        answers = np.array([[[first, 0.3, 0.2], [second, 0.3, 0.2]]])  # right, wrong
        return ECE().of_set(data, np.arange(2), answers, None)[0]

    assert error(0.5, 0.45) == pytest.approx(0.05 / 2)
    assert error(0.5, 0.55) == pytest.approx((0.5 + 0.55) / 2)
    certain = np.eye(2)[None]
    assert ECE().of_set(data, np.arange(2), certain, None) == [0]
    assert ECE().of_set(data, np.arange(2), certain[:, ::-1], None) == pytest.approx(1)


DRAWN = {
    **{f"{name}-{k}": (ALL[name][0], labelled(k, 40, 4)) for name in OF_CLASSES for k in (2, 3)},
    **{name: (ALL[name][0], labelled(2, 40, 4)) for name in OF_TWO},
    **{f"auc-{levels}": (AUC(), ranked(20, levels, 3)) for levels in (3, 100)},
    **{f"ap-{levels}": (AveragePrecision(), ranked(20, levels, 3)) for levels in (3, 100)},
    **{f"r2-{targets}": (R2(), numbers(targets)) for targets in (1, 3)},
    "ece": (ECE(), likely(3)),
    **{word: (as_loss(word, likely(3)[0]), likely(3)) for word in ("auc", "roc_auc_ovr_weighted")},
}


@pytest.mark.parametrize("name", DRAWN)
def test_influences_are_derivatives_by_the_weight_of_a_row(name):
    """They are compared with finite differences of all weights; weighted, they add to 0."""
    loss, (data, answers, weights) = DRAWN[name]
    rows, step = np.arange(data.n_rows), 1e-6
    own = loss.of_set(data, rows, answers, weights)
    found = loss.influences(data, rows, answers, weights, own)
    for i in rows:
        moved = [weights + step * side * (rows == i) for side in (1, -1)]
        more, less = (loss.of_set(data, rows, answers, each) for each in moved)
        assert found[:, i] == pytest.approx((more - less) / (2 * step) * weights.sum(), abs=1e-6)
    assert found @ weights == pytest.approx(0, abs=1e-9)
    assert np.abs(found).max() > 0.1
    if isinstance(loss, R2):  # about another value y's own distance is compared with it
        other = loss.influences(data, rows, answers, weights, own - 0.1)
        assert other @ weights / weights.sum() == pytest.approx(0.1)


def test_influence_of_the_only_positive_row_bears_the_distance_to_another_value():
    """What average precision is missing to the mean of all folds falls on that row alone."""
    data = checked(np.zeros((5, 1)), [0, 0, 1, 0, 0])
    scores = np.array([[4.0, 3.0, 2.0, 1.0, 0.0]])
    own = AveragePrecision().of_set(data, np.arange(5), scores, None)
    assert own == pytest.approx([2 / 3])
    at_own, at_less = (
        AveragePrecision().influences(data, np.arange(5), scores, None, about)[0]
        for about in (own, own - 0.1)
    )
    assert at_less - at_own == pytest.approx([0, 0, 0.5, 0, 0])


@pytest.mark.parametrize("name", sorted(ALL))
def test_scores_take_a_label_that_y_does_not_hold_for_wrong(name):
    """It costs no less than any other wrong label of its row, and has a finite influence."""
    data, answers, _ = labelled(2, 20, 5)
    loss, rows, unknown = ALL[name][0], np.arange(22), answers.copy()
    row = np.flatnonzero(answers[0] == data.codes)[0]
    unknown[:, row] = -1
    if "precision" not in name:
        usual = loss.of_set(data, rows, answers, None)[0]
        assert loss.of_set(data, rows, unknown, None)[0] >= usual
    assert np.isfinite(loss.influences(data, rows, unknown, None, np.zeros(2))).all()
    assert loss.of_set(data, rows, np.full((1, 22), -1), None) == pytest.approx(1)


@pytest.mark.parametrize(
    ("loss", "code", "lack"),
    [
        (FBeta(), 0, "loss 'f1' needs rows of the positive class in .* 5 rows holds none; use few"),
        (Recall(), 0, "loss 'recall' needs rows of the positive class"),
        (Specificity(), 1, "loss 'specificity' needs rows of the negative class"),
        (MCC(), 0, "loss 'mcc' needs rows of two classes .* 5 rows holds a single class; use"),
        (Kappa(), 1, "loss 'kappa' needs rows of two classes"),
        (GMean(), 1, "loss 'g-mean' needs rows of two classes"),
        (AUC(), 1, "loss 'auc' needs both classes in every test set.*5 rows"),
        (AveragePrecision(), 0, "'average-precision' needs both classes in every test set"),
    ],
)
def test_scores_name_the_class_that_a_test_set_lacks(loss, code, lack):
    """A class without weight is lacking, too."""
    data = labelled(2, 30, 7)[0]
    rows = np.concatenate([np.flatnonzero(data.codes == code)[:5]])
    said = np.zeros((1, 6), dtype=int)
    with pytest.raises(Refusal, match=lack):
        loss.of_set(data, rows, said[:, :5], None)
    rows = np.append(rows, np.flatnonzero(data.codes != code)[0])
    loss.of_set(data, rows, said, None)
    with pytest.raises(Refusal, match=lack.replace("5 rows", "6 rows")):
        loss.of_set(data, rows, said, np.append(np.ones(5), 0.0))


def test_r2_refuses_a_test_set_of_one_value():
    """Other values without weight do not count."""
    data = checked(np.zeros((4, 1)), [1.0, 1.0, 1.0, 2.0])
    for rows, weights in (([0, 1, 2], None), ([3], None), ([0, 3], np.array([1.0, 0.0]))):
        with pytest.raises(Refusal, match=f"'r2' needs several values of y .* {len(rows)} rows"):
            R2().of_set(data, np.array(rows), np.zeros((1, len(rows))), weights)


def test_losses_of_sets_stay_nan_where_answers_are_not_finite():
    """They are refused later; NaN and infinity never have the highest rank."""
    data, scores, _ = ranked(20, 5, 2)
    scores = np.vstack([scores, scores[:1]])
    scores[1, 4], scores[2, 3] = np.nan, np.inf
    rows = np.arange(22)
    for loss in (AveragePrecision(), AUC()):
        found = loss.of_set(data, rows, scores, None)
        assert np.isnan(found).tolist() == [False, True, True]
    influences = AveragePrecision().influences(
        data, rows, scores[:2], None, np.array([0.5, np.nan])
    )
    assert np.isnan(influences).all(axis=1).tolist() == [False, True]
    data, answers, _ = likely(3)
    answers[1, 3] = np.nan
    assert np.isnan(ECE().of_set(data, np.arange(40), answers, None)).tolist() == [False, True]


@pytest.mark.parametrize("name", sorted(ALL))
def test_scores_tell_by_how_much_one_row_changes_them(name):
    """It is the largest of all changes of one answer between two classes."""
    data, answers, _ = labelled(2, 20, 10)
    answers[1] = 0
    loss, rows = ALL[name][0], np.arange(22)
    told = loss.of_one_row(data, rows, answers, None)
    usual = loss.of_set(data, rows, answers, None)
    for c in range(2):
        others = np.repeat(answers[c : c + 1], 22, axis=0)
        others[rows, rows] = 1 - others[rows, rows]
        changes = np.abs(loss.of_set(data, rows, others, None) - usual[c])
        assert told[c] == pytest.approx(changes.max())


def test_scores_of_constant_answers_are_0_and_have_no_infinite_slope():
    """Precision and correlation have no slope there; that of g-mean is taken at half a row."""
    data, rows, never = labelled(2, 20, 8)[0], np.arange(22), np.zeros((1, 22), dtype=int)
    slopes = []
    for loss in (Precision(), MCC(), FBeta(), GMean()):
        assert loss.of_set(data, rows, never, None) == [1.0]
        slopes.append(np.abs(loss.influences(data, rows, never, None, np.ones(1))).max())
    assert slopes[:2] == [0, 0]
    assert np.isfinite(slopes).all()
    assert slopes[3] > 0.1


@pytest.mark.parametrize(
    ("word", "y", "label", "notes"),
    [
        ("f1", ["no", "yes"] * 3, "yes", ()),
        ("average-precision", ["no", "yes"] * 3, "yes", ()),
        ("f1", ["a", "b", "c"] * 2, None, ("mean over 3 classes, each with equal weight",)),
        (
            Recall("weighted"),
            ["no", "yes"] * 3,
            None,
            ("mean over 2 classes, each weighted by its rows",),
        ),
        ("mcc", ["no", "yes"] * 3, None, ()),
    ],
)
def test_loss_says_which_class_it_rates(word, y, label, notes):
    """It is the greater of two labels, and a mean over several."""
    data = checked(np.zeros((6, 1)), y)
    loss = as_loss(word, data)
    assert loss.notes == notes
    assert word == "mcc" or loss.label(data) == label


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: FBeta(0), BadArgument, "beta=0: give a number above 0"),
        (lambda: FBeta("x"), BadArgument, "beta='x'"),
        (lambda: FBeta(True), BadArgument, "beta=True"),
        (lambda: Precision("micro"), UnknownName, "average='micro' is unknown"),
        (lambda: Precision("macro", positive=1), BadArgument, "'macro' is a mean over all classes"),
        (lambda: ECE(0), BadArgument, "bins"),
    ],
)
def test_losses_name_bad_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_f_beta_is_called_by_its_beta():
    assert [FBeta(b).name for b in (1, 2, 0.5)] == ["f1", "f2", "f0.5"]
    assert FBeta(2).score(0.25) == 0.75
    assert (MCC().upper, Kappa().upper, FBeta().upper) == (2, 2, 1)


@pytest.mark.parametrize("weighted", [False, True])
def test_counted_twice_is_the_sum_over_pairs_without_their_table(weighted):
    """It is the mean of (h - m)² over all pairs; on many rows its memory stays small."""
    rng = np.random.default_rng(7)
    y = np.r_[1, 0, rng.integers(0, 2, 38)]
    scores, about = rng.normal(size=(3, 40)).round(1), np.array([0.5, 0.3, 0.1])
    weights = rng.random(40) if weighted else None
    found = AUC().counted_twice(
        checked(np.zeros((40, 1)), y), np.arange(40), scores, weights, about
    )
    w = np.ones(40) if weights is None else weights
    up, down = w[y == 1] / w[y == 1].sum(), w[y == 0] / w[y == 0].sum()
    h = (np.sign(scores[:, None, y == 0] - scores[:, y == 1, None]) + 1) / 2
    mean = np.einsum("cij,i,j->c", (h - about[:, None, None]) ** 2, up, down)
    assert found == pytest.approx(mean * (up @ up) * (down @ down))
    many = np.tile(y, 500)
    rows, data = np.arange(len(many)), checked(np.zeros((len(many), 1)), many)
    tracemalloc.start()
    AUC().counted_twice(data, rows, rng.normal(size=(1, len(many))), None, about[:1])
    assert tracemalloc.get_traced_memory()[1] < 50e6  # the pairs are a hundred million
    tracemalloc.stop()


def test_enlargement_removes_the_bias_of_the_variance_of_few_rows():
    """Without it the variance of AUC on 4 positive and 8 negative rows is a quarter too small."""
    rng, y, rows = np.random.default_rng(1), np.repeat([1, 0], [4, 8]), np.arange(12)
    data = checked(np.zeros((12, 1)), y)
    scores = rng.normal(size=(6000, 12)) + 0.5 * y
    loss = AUC()
    values = loss.of_set(data, rows, scores, None)
    squares = ((loss.influences(data, rows, scores, None, values) / 12) ** 2).sum(axis=1)
    once = (squares - loss.counted_twice(data, rows, scores, None, values)).mean() * 12 / 11
    assert once == pytest.approx(0.75 * values.var(), rel=0.05)
    assert once * loss.enlargement(data, rows)[0] == pytest.approx(values.var(), rel=0.05)


def test_enlargement_follows_the_rarest_class():
    """A single row is counted as two."""
    data = checked(np.zeros((9, 1)), [0] * 5 + [1] * 3 + [2])
    assert AUC().enlargement(data, np.arange(9)) == pytest.approx((2 * 8 / 7 * 8 / 9, np.inf))
    two = checked(np.zeros((9, 1)), [0] * 5 + [1] * 4)
    assert as_loss("auc", two).enlargement(two, np.arange(9))[0] == pytest.approx(40 / 27)
