"""IntervalClassifier: exact empirical risk minimisation with at most k intervals."""

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
from truerisk.models.interval_classifier import midpoint_boundaries

X9 = np.array([1.0, 2, 4, 8, 13, 21, 31, 45, 66])
Y9 = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])


class AnyWidth(IntervalClassifier):
    """The classifier, but of several columns it reads the first instead of refusing."""

    def _check_one_feature(self, n_features):
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
def test_interval_classifier_keeps_the_contract_of_scikit_learn(estimator, check) -> None:
    """All of scikit-learn's estimator checks pass once several columns are let in."""
    check(estimator)


def test_interval_classifier_passes_check_estimator() -> None:
    """As for scikit-learn's own models of one dimension, only the general checks apply."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        assert check_estimator(IntervalClassifier())


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
def test_interval_classifier_is_the_best_of_all_functions(line) -> None:
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
def test_interval_classifier_attributes_say_what_it_is(line) -> None:
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
def test_interval_classifier_has_the_golden_errors(k, errors) -> None:
    """n·EER of the nine points of METHODS §3; with four intervals the row at 4 is given up."""
    model = IntervalClassifier(k).fit(X9, Y9)
    assert (model.predict(X9) != Y9).sum() == errors
    if k == 4:
        assert model.boundaries_.tolist() == [10.5, 26.0, 38.0]
        assert model.labels_.tolist() == [0, 1, 0, 1]
        assert model.counts_.tolist() == [[3, 1], [0, 2], [1, 0], [0, 2]]


@pytest.mark.parametrize(
    ("k", "x", "y", "boundaries", "labels"),
    [
        (2, [1, 2, 3], [0, 1, 0], [], [0]),  # a boundary saves no error over the constant 0
        (2, [1, 2, 3, 4], [0, 1, 0, 1], [3.5], [0, 1]),  # the first interval is long
        (2, [1, 2, 3, 4], [1, 0, 1, 0], [3.5], [1, 0]),
        (1, [1, 2], ["b", "a"], [], ["a"]),  # as many of each class: the lower one
        (9, [1, 1, 1, 2, 2], [0, 1, 1, 0, 0], [1.5], [1, 0]),  # equal x get one label
        (3, [1, 2], ["b", "b"], [], ["b"]),  # a fold that lacks a class
    ],
)
def test_interval_classifier_breaks_ties(k, x, y, boundaries, labels) -> None:
    model = IntervalClassifier(k).fit(x, y)
    assert model.boundaries_.tolist() == boundaries
    ends = [x[0] - 1, *boundaries, x[-1] + 1]
    assert model.predict(np.add(ends[1:], ends[:-1]) / 2).tolist() == labels
    assert model.predict(boundaries or [0]).tolist() == labels[:1]  # the left label holds on it


@pytest.mark.parametrize("left", [0.0, 1.0, -1.0, 5e-324, 1e300, -1.7e308])
def test_interval_classifier_parts_neighbouring_numbers(left) -> None:
    """Also between two numbers that have none between them, and between huge ones."""
    right = np.nextafter(left, np.inf)
    for low, high in ((left, right), (left, 1.7e308)):
        model = IntervalClassifier(2).fit([low, high], [0, 1])
        assert model.predict([low, high]).tolist() == [0, 1]
        (middle,) = midpoint_boundaries(np.array([low]), np.array([high]))
        assert low <= middle < high


def test_interval_classifier_takes_a_column_in_any_form() -> None:
    """(n, 1), (n,), a list, a frame and a series give the same model."""
    forms = [X9[:, None], X9, X9.tolist(), pd.DataFrame({"x": X9}), pd.Series(X9)]
    models = [IntervalClassifier(3).fit(X, Y9) for X in forms]
    assert len({m.predict(X).tobytes() for m, X in zip(models, forms, strict=True)}) == 1
    assert models[3].feature_names_in_.tolist() == ["x"]
    with pytest.raises(ValueError, match="2 features.*expecting 1 feature"):
        models[0].predict(np.ones((3, 2)))
