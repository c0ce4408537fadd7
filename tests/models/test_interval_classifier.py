"""IntervalClassifier: exact empirical risk minimisation with at most k intervals."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from truerisk.models import IntervalClassifier
from truerisk.models.interval_classifier import boundaries_between

X9 = np.array([1.0, 2, 4, 8, 13, 21, 31, 45, 66])
Y9 = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])


class AnyWidth(IntervalClassifier):
    """The classifier, but of several columns it reads the first instead of refusing."""

    def _refuse_width(self, n_features):
        pass

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        return tags


def checks_of_any_width():
    """All of scikit-learn's checks; they fit several columns, which only the double above takes."""
    column = "a one-dimensional X is one column for a model of the line"
    expected = {"check_fit1d": column, "check_fit2d_predict1d": column}
    for number, (estimator, check) in enumerate(estimator_checks_generator(AnyWidth())):
        name = check.func.__name__
        if name == "check_array_api_input":  # not claimed
            continue
        marks = [pytest.mark.xfail(reason=expected[name])] if name in expected else []
        label = "-".join([name, *map(str, check.keywords.values()), str(number)])
        yield pytest.param(estimator, check, id=label, marks=marks)


@pytest.mark.parametrize(("estimator", "check"), list(checks_of_any_width()))
def test_it_keeps_the_contract_of_scikit_learn(estimator, check) -> None:
    """All of scikit-learn's estimator checks pass once several columns are let in."""
    check(estimator)


def test_check_estimator_passes() -> None:
    """As for scikit-learn's own models of one dimension, only the general checks apply."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        assert check_estimator(IntervalClassifier())


# ---------------------------------------------------------------- against all functions


def best_function(x, y, k):
    """Points and labels of the best function among all with at most k intervals.

    Fewest errors; fewest intervals; ends as far right as possible, the first one first; label 0.
    """
    points = np.unique(x)

    def order(labels):
        ends = [i for i in range(len(points) - 1) if labels[i] != labels[i + 1]]
        wrong = (np.array(labels)[np.searchsorted(points, x)] != y).sum()
        return wrong, len(ends), [-end for end in ends], labels[0]

    every = product((0, 1), repeat=len(points))
    few = [labels for labels in every if len(order(labels)[2]) < k]
    return points, min(few, key=order)


def answer(points, labels, query):
    """The label of the nearest point, the left one of two at the same distance."""
    return labels[int(np.argmin(np.abs(points - query)))]


@st.composite
def lines(draw):
    """Up to 9 rows on a small grid, so that x repeat and midpoints are grid points."""
    n = draw(st.integers(1, 9))
    x = draw(st.lists(st.integers(0, draw(st.sampled_from([3, 12]))), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return np.array(x, float), np.array(y), draw(st.integers(1, n + 1))


@settings(deadline=None)
@given(lines())
def test_it_is_the_best_of_all_functions(line) -> None:
    """Labels between, on and beside the rows are those of exhaustive search with the tie rule."""
    x, y, k = line
    model = IntervalClassifier(k).fit(x, y)
    points, labels = best_function(x, y, k)
    queries = np.arange(-1, 14, 0.5)
    if len(set(y)) == 1:
        labels = [y[0]] * len(points)
    assert model.predict(queries).tolist() == [answer(points, labels, q) for q in queries]


@settings(deadline=None, max_examples=50)
@given(lines())
def test_its_attributes_say_what_it_is(line) -> None:
    """At most k alternating intervals that hold all rows; their shares are the probabilities."""
    x, y, k = line
    model = IntervalClassifier(k).fit(x, y)
    assert len(model.labels_) == len(model.boundaries_) + 1 == len(model.counts_) <= k
    assert (model.labels_[1:] != model.labels_[:-1]).all()
    assert (np.diff(model.boundaries_) > 0).all()
    assert model.counts_.sum() == len(x)
    assert (model.counts_.sum(axis=0) == np.bincount(y)[model.classes_]).all()
    shares = model.predict_proba(x)
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(x)).all()
    inside = model.apply(x)
    for i, interval in enumerate(inside):
        assert shares[i, -1] == (y[inside == interval] == model.classes_[-1]).mean()


@pytest.mark.parametrize(("k", "errors"), [(1, 4), (2, 2), (3, 2), (4, 1), (5, 1), (6, 0), (99, 0)])
def test_golden_errors(k, errors) -> None:
    """n·EER of the nine points of METHODS §3."""
    assert (IntervalClassifier(k).fit(X9, Y9).predict(X9) != Y9).sum() == errors


def test_golden_boundaries() -> None:
    """With four intervals the row at 4 is given up."""
    model = IntervalClassifier(4).fit(X9, Y9)
    assert model.boundaries_.tolist() == [10.5, 26.0, 38.0]
    assert model.labels_.tolist() == [0, 1, 0, 1]
    assert model.counts_.tolist() == [[3, 1], [0, 2], [1, 0], [0, 2]]


# ---------------------------------------------------------------- ties, one by one


def test_fewest_intervals_come_first() -> None:
    """0 1 0 with two intervals: a boundary saves no error over the constant 0, so there is none."""
    assert IntervalClassifier(2).fit([1, 2, 3], [0, 1, 0]).labels_.tolist() == [0]


def test_then_intervals_stay_long() -> None:
    """0 1 0 1: one error with the boundary after 0, or after 0 1 0; the first interval is long."""
    assert IntervalClassifier(2).fit([1, 2, 3, 4], [0, 1, 0, 1]).boundaries_.tolist() == [3.5]
    assert IntervalClassifier(2).fit([1, 2, 3, 4], [1, 0, 1, 0]).boundaries_.tolist() == [3.5]


def test_then_label_0_is_taken() -> None:
    """As many rows of each class and no boundary allowed: the lower class."""
    assert IntervalClassifier(1).fit([1, 2], ["b", "a"]).predict([0.0]).tolist() == ["a"]


def test_no_boundary_parts_equal_x() -> None:
    """Rows with equal x get one label, that of their majority where it pays."""
    model = IntervalClassifier(9).fit([1, 1, 1, 2, 2], [0, 1, 1, 0, 0])
    assert model.boundaries_.tolist() == [1.5]
    assert model.predict([1, 2]).tolist() == [1, 0]


def test_a_boundary_belongs_to_the_left() -> None:
    """On the midpoint itself the left label holds."""
    model = IntervalClassifier(2).fit([0.0, 1.0], [1, 0])
    assert model.predict([0.5, np.nextafter(0.5, 1)]).tolist() == [1, 0]


@pytest.mark.parametrize("left", [0.0, 1.0, -1.0, 5e-324, 1e300, -1.7e308])
def test_neighbouring_numbers_are_parted(left) -> None:
    """Also between two numbers that have none between them, and between huge ones."""
    right = np.nextafter(left, np.inf)
    for low, high in ((left, right), (left, 1.7e308)):
        model = IntervalClassifier(2).fit([low, high], [0, 1])
        assert model.predict([low, high]).tolist() == [0, 1]
        (middle,) = boundaries_between(np.array([low]), np.array([high]))
        assert low <= middle < high


# ---------------------------------------------------------------- what it takes


def test_a_column_and_an_array_are_the_same() -> None:
    """(n, 1), (n,), a list, a frame and a series give the same model."""
    forms = [X9[:, None], X9, X9.tolist(), pd.DataFrame({"x": X9}), pd.Series(X9)]
    answers = {IntervalClassifier(3).fit(X, Y9).predict(X).tobytes() for X in forms}
    assert len(answers) == 1
    model = IntervalClassifier().fit(pd.DataFrame({"x": X9}), Y9)
    assert model.feature_names_in_.tolist() == ["x"]


def test_one_class_is_learned() -> None:
    """A fold that lacks a class predicts the other, with certainty."""
    model = IntervalClassifier(3).fit([1, 2], ["b", "b"])
    assert model.predict([0]).tolist() == ["b"]
    assert model.predict_proba([0]).tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("X", "y", "k", "message"),
    [
        (np.eye(3), [0, 1, 0], 2, r"X has 3 features \(n_features=3\), but .* expecting 1 feature"),
        (X9, Y9, 0, "k=0 is no number of intervals"),
        (X9, Y9, True, "k=True is no number"),
        (X9, Y9, 2.0, "k=2.0 is no number"),
        ([1, 2, 3], [0, 1, 2], 2, "Only binary classification is supported. .* is multiclass"),
        ([1, np.nan], [0, 1], 2, "contains NaN"),
    ],
)
def test_bad_input_is_named(X, y, k, message) -> None:
    """Several columns, three classes, holes in X and a k that is no count are refused."""
    with pytest.raises(ValueError, match=message):
        IntervalClassifier(k).fit(X, y)


def test_prediction_refuses_other_columns() -> None:
    """As many columns as were fitted, which is one."""
    with pytest.raises(ValueError, match="2 features.*expecting 1 feature"):
        IntervalClassifier().fit(X9, Y9).predict(np.ones((3, 2)))
