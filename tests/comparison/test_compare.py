"""What pairs and what does not: estimates, rows by folds, risks of splits."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.exceptions import FitFailedWarning, UnknownName
from truerisk.extend import BadArgument, BadData, Refusal

X, Y = tr.datasets.make_difficult(60, random_state=0)


def estimate(k=1, X=X, **options):
    return tr.estimate_risk(KNeighborsClassifier(k), X, Y, **options)


TWICE = {"scoring": "auc", "cv": "2x5-fold"}
REVERSED = tr.methods.ReversedKFold(3)


def test_compare_takes_splits_from_estimates() -> None:
    """Split risks and sizes of the estimates are those of the same folds given with the losses."""
    folds = np.arange(60) % 7  # of unequal sizes
    a, b = (estimate(k, cv=tr.methods.KFold(folds=folds)) for k in (1, 9))
    found = tr.compare(a, b)
    same = tr.compare(a.losses, b.losses, folds=folds)
    assert found.scoring == "zero-one"
    for name in ("difference", "std_error", "p_value", "n_pairs"):
        assert getattr(found, name) == pytest.approx(getattr(same, name), rel=1e-12)


def test_compare_averages_losses_per_split() -> None:
    """Lists of losses per split, of unequal lengths too, give the risks and sizes of the splits."""
    rng = np.random.default_rng(0)
    a, b = ([rng.random(m) for m in (10, 11, 12)] for _ in range(2))
    found = tr.compare(a, b, n_train=[23, 22, 21])
    means = [[x.mean() for x in values] for values in (a, b)]
    same = tr.compare(*means, n_train=[23, 22, 21], n_test=[10, 11, 12])
    assert found.p_value == pytest.approx(same.p_value, rel=1e-12)
    stacked = tr.compare(np.array([x[:10] for x in a]), np.array([x[:10] for x in b]), n_train=23)
    assert stacked.n_pairs == 3


def test_compare_takes_repeated_folds() -> None:
    rng = np.random.default_rng(0)
    folds = np.array([rng.permutation(40) % 4 for _ in range(3)])
    a, b = rng.random((2, 3, 40))
    found = tr.compare(a, b, folds=folds)
    d = [(a - b)[r, folds[r] == k].mean() for r in range(3) for k in range(4)]
    assert found.difference == pytest.approx(np.mean(d), rel=1e-12)
    assert found.std_error == pytest.approx(np.std(d, ddof=1) * np.sqrt(1 / 12 + 1 / 3))


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
def test_compare_refuses_estimates_that_do_not_pair(a, b, message) -> None:
    with pytest.raises(Refusal, match=message):
        tr.compare(estimate(1, **a), estimate(9, **b))


def test_compare_refuses_a_failed_estimate() -> None:
    engine = tr.engines.Generic(error="warn")
    with pytest.warns(FitFailedWarning):
        failed = tr.estimate_risk(LogisticRegression(C=-1), X, Y, engine=engine)
    with pytest.raises(Refusal, match="a fit failed"):
        tr.compare(failed, estimate(9))


ONES, HALVES, NINE = np.ones(10), np.ones((5, 2)), np.arange(10) % 9
SIZES, EQUAL = {"n_train": 90, "n_test": 10}, {"n_train": 50, "n_test": 50}
ODD = {"n_train": [50, 51] * 5, "n_test": 50}


@pytest.mark.parametrize(
    ("a", "b", "options", "error", "message"),
    [
        (ONES, np.ones(9), {"n_train": 9, "n_test": 1}, Refusal, "a has 10 losses and b 9 losses"),
        ([[1, 2], [1]], [[1], [1, 2]], {"n_train": 9}, Refusal, "pair only on the same rows"),
        (ONES, ONES, {}, Refusal, "sizes of the splits are not known"),
        (ONES, ONES, {"n_test": 5}, Refusal, "number of training rows"),
        (HALVES, HALVES, {}, Refusal, "number of training rows"),
        (np.arange(10) % 2, ONES, {"n_train": 8, "n_test": 2}, Refusal, "look like losses of rows"),
        (HALVES, HALVES, {"n_train": 8, "n_test": 3}, BadData, "contradicts"),
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
        (ONES, ONES, {"n_train": "90", "n_test": 10}, BadData, "n_train is a number of rows"),
        (ONES, ONES, {"folds": [0.5, 0.5, *range(8)]}, BadData, "not whole, or missing"),
        (ONES, ONES, {"folds": [0, np.nan, *range(8)]}, BadData, "not whole, or missing"),
        (ONES, ONES, {"folds": NINE, "test": "paired-cv"}, Refusal, "losses alone"),
        (ONES, ONES, {"folds": NINE, "score": "auc"}, UnknownName, "not of losses"),
        (ONES[:5], ONES[:5], {"test": "sharp"}, Refusal, r"a has shape \(5,\)"),
        (HALVES, HALVES[:4], {"test": "sharp"}, Refusal, r"b \(4, 2\)"),
        (HALVES[:1], HALVES[:1], {"test": "sharp"}, Refusal, "two repetitions"),
        (HALVES, HALVES, {"n_train": 9, "test": "sharp"}, UnknownName, "leave out folds"),
        (ONES[:8], ONES[:8], {**EQUAL, "test": "5x2"}, Refusal, "five repetitions of twofold"),
        (ONES, ONES, {**SIZES, "test": "5x2"}, Refusal, "five repetitions of twofold"),
        (ONES, ONES, {**ODD, "test": "5x2"}, Refusal, "five repetitions of twofold"),
        (ONES, ONES, {**SIZES, "test": "t-test"}, UnknownName, "there is no test 't-test'"),
        (ONES, ONES, {**SIZES, "test": "nadeau"}, UnknownName, "did you mean 'nadeau-bengio'"),
        (ONES, ONES, {**SIZES, "rope": 0.02}, UnknownName, "belongs to test='bayes'"),
        *[(ONES, ONES, {**SIZES, "test": "bayes", "rope": rope}, BadArgument, f"rope={rope!r}")
          for rope in (-0.1, float("nan"), "wide")],
        (ONES, ONES, {**SIZES, "confidence_level": 95}, BadArgument, "between 0 and 1"),
        (ONES, ONES, {**SIZES, "confidence_level": "95"}, BadArgument, "confidence_level='95'"),
        (estimate(), ONES, {}, UnknownName, "not one of each"),
        (estimate(), estimate(9), {"n_train": 54}, UnknownName, "estimates carry their splits"),
    ],
)  # fmt: skip
def test_compare_refuses_losses_that_do_not_pair(a, b, options, error, message) -> None:
    with pytest.raises(error, match=message):
        tr.compare(a, b, **options)


@pytest.mark.parametrize("unit", [1e-7, 1.0])
def test_compare_takes_no_rows_of_folds_that_count_alike(unit) -> None:
    """Unequal folds that are averaged as folds: the mean of the rows is another number."""
    y = unit * np.random.default_rng(0).normal(size=len(X))
    method = tr.methods.KFold(folds=np.minimum(np.arange(len(X)) // 7, 5), average="fold")
    one, other = (tr.estimate_risk(Ridge(a), X, y, cv=method) for a in (1.0, 100.0))
    with pytest.raises(Refusal, match="folds of unequal size count alike"):
        tr.compare(one, other, test="mcnemar")


def test_compare_refuses_series_of_other_rows():
    one = pd.Series([0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    other, folds = (1 - one).iloc[::-1], np.arange(6) % 3
    with pytest.raises(BadArgument, match="entry 0 is row 0 of a, and 5 of b"):
        tr.compare(one, other, folds=folds)
    tr.compare(one, other.loc[one.index], folds=folds)
