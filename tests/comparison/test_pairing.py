"""What pairs and what does not: estimates, rows by folds, risks of splits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.comparison.paired_tests import registry
from truerisk.comparison.pairing import pair
from truerisk.core.errors import BadArgument, BadData, FitFailedWarning, Refusal, UnknownName

X, Y = tr.datasets.make_difficult(60, random_state=0)


def estimate(k=1, X=X, **options):
    return tr.estimate_risk(KNeighborsClassifier(k), X, Y, **options)


TWICE = {"scoring": "auc", "cv": "2x5-fold"}
REVERSED = tr.methods.ReversedKFold(3)


def test_estimates_carry_what_is_needed() -> None:
    """Split risks and sizes of the estimates are those of the same folds given with the losses."""
    folds = np.arange(60) % 7  # of unequal sizes
    a, b = (estimate(k, cv=tr.methods.KFold(folds=folds)) for k in (1, 9))
    found = tr.compare(a, b)
    same = tr.compare(a.losses, b.losses, folds=folds)
    assert found.scoring == "zero-one"
    for name in ("difference", "std_error", "p_value", "n_pairs"):
        assert getattr(found, name) == pytest.approx(getattr(same, name), rel=1e-12)


def test_losses_per_split_are_their_means() -> None:
    """Lists of losses per split, of unequal lengths too, give the risks and sizes of the splits."""
    rng = np.random.default_rng(0)
    a, b = ([rng.random(m) for m in (10, 11, 12)] for _ in range(2))
    found = tr.compare(a, b, n_train=[23, 22, 21])
    means = [[x.mean() for x in values] for values in (a, b)]
    same = tr.compare(*means, n_train=[23, 22, 21], n_test=[10, 11, 12])
    assert found.p_value == pytest.approx(same.p_value, rel=1e-12)
    stacked = tr.compare(np.array([x[:10] for x in a]), np.array([x[:10] for x in b]), n_train=23)
    assert stacked.n_pairs == 3


def test_repeated_folds() -> None:
    """A fold number per row and repetition: as many pairs as folds in all."""
    rng = np.random.default_rng(0)
    folds = np.array([rng.permutation(40) % 4 for _ in range(3)])
    a, b = rng.random((2, 3, 40))
    found = tr.compare(a, b, folds=folds)
    d = [(a - b)[r, folds[r] == k].mean() for r in range(3) for k in range(4)]
    assert found.difference == pytest.approx(np.mean(d), rel=1e-12)
    assert found.std_error == pytest.approx(np.std(d, ddof=1) * np.sqrt(1 / 12 + 1 / 3))


def test_learners_of_an_assessment_are_paired() -> None:
    """The honest risks of an assessment are on the same outer splits and compare."""
    learners = {"knn": KNeighborsClassifier(), "bayes": GaussianNB()}
    a = tr.assess(learners, X, Y, cv=["5-fold"], outer="5-fold")
    found = tr.compare(a.risks["knn"], a.risks["bayes"], test="bayes")
    assert found.difference == pytest.approx(a.risks["knn"].value - a.risks["bayes"].value)


def test_stored_estimates_compare() -> None:
    """What comes back from JSON compares as what was stored."""
    a, b = estimate(1), estimate(9)
    again = [tr.RiskEstimate.from_json(e.to_json()) for e in (a, b)]
    assert tr.compare(*again) == tr.compare(a, b)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ({}, {"random_state": 1}, "different splits"),
        ({}, {"cv": "10-fold"}, "different splits"),
        ({}, {"X": X[:, :1]}, "different data"),
        ({}, {"scoring": "brier"}, "losses differ"),
        (TWICE, TWICE, "Nor is the effect of single rows"),
        ({"cv": REVERSED}, {"cv": REVERSED}, "more rows than it trains on"),
        ({"cv": "holdout"}, {"cv": "holdout"}, "one split has no spread"),
        ({"cv": "complete"}, {"cv": "complete"}, "no losses of single rows|which sizes"),
    ],
)
def test_estimates_that_do_not_pair_are_refused(a, b, message) -> None:
    """Other splits, data, losses, areas, and splits without a formula; each with its reason."""
    with pytest.raises(Refusal, match=message):
        tr.compare(estimate(1, **a), estimate(9, **b))


def test_a_failed_estimate_is_refused() -> None:
    """An estimate without a value has nothing to compare."""
    engine = tr.engines.Generic(error="warn")
    with pytest.warns(FitFailedWarning):
        failed = tr.estimate_risk(LogisticRegression(C=-1), X, Y, engine=engine)
    with pytest.raises(Refusal, match="a fit failed"):
        tr.compare(failed, estimate(9))


ONES = np.ones(10)


@pytest.mark.parametrize(
    ("a", "b", "options", "error", "message"),
    [
        (ONES, np.ones(9), {"n_train": 9, "n_test": 1}, Refusal, "a has 10 losses and b 9 losses"),
        ([[1, 2], [1]], [[1], [1, 2]], {"n_train": 9}, Refusal, "pair only on the same rows"),
        (ONES, ONES, {}, Refusal, "sizes of the splits are not known"),
        (ONES, ONES, {"n_test": 5}, Refusal, "number of training rows"),
        (np.ones((5, 2)), np.ones((5, 2)), {}, Refusal, "number of training rows"),
        (np.arange(10) % 2, ONES, {"n_train": 8, "n_test": 2}, Refusal, "look like losses of rows"),
        (np.ones((5, 2)), np.ones((5, 2)), {"n_train": 8, "n_test": 3}, BadData, "contradicts"),
        (ONES, ONES, {"n_train": 8.5, "n_test": 2}, BadData, "n_train is a number of rows"),
        (ONES, ONES, {"n_train": [8, 8], "n_test": 2}, BadData, "each of 10 splits"),
        (ONES, ONES, {"n_train": 0, "n_test": 2}, BadData, "n_train is a number of rows"),
        (ONES, ONES, {"folds": np.arange(9)}, Refusal, "one loss and one fold number"),
        (ONES, ONES, {"folds": np.zeros(10)}, BadData, "a single fold"),
        (ONES, ONES, {"folds": np.arange(10), "n_test": 1}, UnknownName, "leave out n_train"),
        (ONES, ONES, {"n_train": 1, "test": "mcnemar"}, UnknownName, "looks at rows"),
        (ONES, [np.nan], {"n_train": 1, "n_test": 1}, BadData, "b holds no losses, or some"),
        ([], [], {"n_train": 1, "n_test": 1}, BadData, "a holds no losses"),
        (["x"], ONES, {"n_train": 1, "n_test": 1}, BadData, "a is no array of losses"),
        (np.ones((2, 2, 2)), ONES, {"n_train": 1}, BadData, "losses per split and row"),
        (ONES[:1], ONES[:1], {"n_train": 9, "n_test": 2}, Refusal, "one split has no spread"),
    ],
)
def test_arrays_that_do_not_pair_are_refused(a, b, options, error, message) -> None:
    """Unequal lengths, unknown sizes, contradictions; each with what to give."""
    with pytest.raises(error, match=message):
        tr.compare(a, b, **options)


def test_estimates_and_arrays_do_not_mix() -> None:
    """One of each is refused, and so are sizes beside estimates."""
    with pytest.raises(UnknownName, match="not one of each"):
        tr.compare(estimate(), ONES)
    with pytest.raises(UnknownName, match="estimates carry their splits"):
        tr.compare(estimate(1), estimate(9), n_train=54)


@pytest.mark.parametrize("unit", [1e-7, 1.0])
def test_folds_that_count_alike_are_no_rows_in_any_unit(unit) -> None:
    """Unequal folds that are averaged as folds: the mean of the rows is another number."""
    rng = np.random.default_rng(0)
    x, y = X, unit * rng.normal(size=len(X))
    folds = np.minimum(np.arange(len(X)) // 7, 5)
    method = tr.methods.KFold(folds=folds, average="fold")
    one, other = (tr.estimate_risk(Ridge(a), x, y, cv=method) for a in (1.0, 100.0))
    assert "folds of unequal size count alike" in pair(one, other).why_no_rows


@pytest.mark.parametrize("folds", [[0, 0, 1, np.nan], [0.5, 0.5, 1.5, 1.5]])
def test_folds_are_numbered(folds):
    """A missing fold is no fold, nor is a half one."""
    with pytest.raises(BadData, match="not whole, or missing"):
        tr.compare([0, 1, 0, 1], [0, 0, 1, 1], folds=np.array(folds))


def test_sizes_are_numbers():
    """A text is not."""
    with pytest.raises(BadData, match="n_train is a number of rows"):
        tr.compare([0.1, 0.2], [0.2, 0.3], n_train="90", n_test=10)


def test_series_of_other_rows_are_refused():
    """By their index: position would pair the losses of different rows."""
    import pandas as pd

    one = pd.Series([0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    folds = np.arange(6) % 3
    other = (1 - one).iloc[::-1]
    with pytest.raises(BadArgument, match="entry 0 is row 0 of a, and 5 of b"):
        tr.compare(one, other, folds=folds)
    tr.compare(one, other.loc[one.index], folds=folds)


# ---------------- `compare` takes a word, and refuses what no test answers to


A, B = np.random.default_rng(0).random((2, 10))


def given(word):
    """What a test takes: risks of splits, losses of rows, risks in halves, or estimates."""
    if word == "paired-cv":
        X, y = tr.datasets.make_simple(40, random_state=0)
        models = KNeighborsClassifier(1), KNeighborsClassifier(9)
        return [tr.estimate_risk(model, X, y, cv=tr.methods.Pairs()) for model in models], {}
    if word == "mcnemar":
        return (A > 0.5, B > 0.5), {}
    if word == "sharp":
        return (A.reshape(5, 2), B.reshape(5, 2)), {}
    return (A, B), {"n_train": 50, "n_test": 50}


@pytest.mark.parametrize("word", registry)
def test_every_word_names_its_result(word) -> None:
    """The result carries the word of its test and a difference a − b."""
    pair, sizes = given(word)
    found = tr.compare(*pair, test=word, **sizes)
    assert found.test == word
    values = [getattr(one, "value", one) for one in pair]
    difference = np.mean(np.subtract(*np.array(values, dtype=float)))
    assert found.difference == pytest.approx(difference)
    assert found.value == found.difference
    assert found.assumed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "t-test"}, "there is no test 't-test'"),
        ({"test": "nadeau"}, "did you mean 'nadeau-bengio'"),
        ({"rope": 0.02}, "belongs to test='bayes'"),
    ],
)
def test_unknown_wishes_are_refused(options, message) -> None:
    """Unknown tests, regions and levels; a region that the test would ignore."""
    with pytest.raises(UnknownName, match=message):
        tr.compare(A, B, n_train=50, n_test=50, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "bayes", "rope": -0.1}, "rope=-0.1"),
        ({"test": "bayes", "rope": float("nan")}, "rope=nan"),
        ({"test": "bayes", "rope": "wide"}, "rope='wide'"),
        ({"confidence_level": 95}, "between 0 and 1"),
        ({"confidence_level": "95"}, "confidence_level='95'"),
    ],
)
def test_wishes_of_a_wrong_size_are_refused(options, message) -> None:
    """Regions of equivalence that are none, levels that are percentages."""
    with pytest.raises(BadArgument, match=message):
        tr.compare(A, B, n_train=50, n_test=50, **options)
