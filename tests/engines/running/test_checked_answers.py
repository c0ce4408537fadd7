"""What cannot be an answer is a sentence; what is strange and can be one is counted and said."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from truerisk.core.errors import FitFailed, TrueRiskError, TrueRiskWarning

N = 60
Y = np.arange(N) % 2
X = np.random.default_rng(0).normal(size=(N, 3)) + Y[:, None]
WORDS = np.array(["a", "b"])[Y]


class Other(ClassifierMixin, BaseEstimator):
    """Naive Bayes that changes its answers, and calls its classes otherwise."""

    def __init__(self, label=None, share=None, classes=None):
        self.label, self.share, self.classes = label, share, classes

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_ if self.classes is None else np.array(self.classes)
        return self

    def predict(self, X):
        said = self.model_.predict(X)
        return said if self.label is None else self.label(said)

    def predict_proba(self, X):
        said = self.model_.predict_proba(X)
        return said if self.share is None else self.share(said)


class Backwards(Other):
    """Knows its classes in descending order, as its columns and decision values do."""

    def fit(self, X, y):
        super().fit(X, y)
        self.classes_ = self.classes_[::-1]
        return self

    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


class Deciding(Backwards):
    """Has decision values for the second of its classes, the first in sorted order."""

    def decision_function(self, X):
        return self.predict_proba(X)[:, 1] - 0.5


class Numbers(RegressorMixin, BaseEstimator):
    """Ridge that gives its answers in another shape."""

    def __init__(self, shape=None):
        self.shape = shape

    def fit(self, X, y):
        self.model_ = Ridge().fit(X, y)
        return self

    def predict(self, X):
        return self.shape(self.model_.predict(X))


def risk(model, y=Y, **options):
    """The value of three folds."""
    return tr.estimate_risk(model, X, y, cv="3-fold", **options).value


@pytest.mark.parametrize(
    ("y", "label", "shown"),
    [
        (Y, lambda said: said.astype(str), "'0'"),
        (Y, lambda said: said.astype("S1"), "b'0'"),
        (Y, lambda said: said * 0.5 + 0.25, "0.25|0.75"),
        (Y, lambda said: said * np.nan, "nan"),
        (Y, lambda said: np.full(len(said), None), "None"),
        (Y == 1, lambda said: said.astype(str), "'False'"),
        (WORDS, lambda said: said == "a", "True|False"),
        (WORDS, lambda said: said.astype("S1"), "b'a'"),
        (WORDS.astype(object), lambda said: said == "a", "True|False"),
    ],
)
def test_a_label_of_another_kind_is_no_answer(y, label, shown):
    """Texts for numbers, bytes for texts, fractions, None: a sentence, not a hundred per cent."""
    with pytest.raises(FitFailed, match=rf"predicted ({shown}), which is no label as y has them"):
        risk(Other(label=label), y)


@pytest.mark.parametrize("kind", [float, np.float32, np.uint8, object, bool])
def test_a_label_of_another_type_is_the_same_label(kind):
    """1.0, True and np.uint8(1) are 1; a column of answers is one answer for each row."""
    assert risk(Other(label=lambda said: said.astype(kind)[:, None])) == risk(Other())


def test_texts_of_any_length_are_texts():
    """As pandas and newer releases of NumPy hold them."""
    kinds = [
        object,
        *([np.dtypes.StringDType()] if hasattr(getattr(np, "dtypes", None), "StringDType") else []),
    ]
    for kind in kinds:
        assert risk(Other(label=lambda said: said.astype(kind)), WORDS) == risk(Other(), WORDS)  # noqa: B023


def test_a_reject_counts_as_wrong_and_is_said():
    """A label of y's kind that y lacks may be meant: the warning says how many fits had it."""
    with pytest.warns(TrueRiskWarning, match=r"first 7, for 20 of 20 rows.*3 times in 3 fits"):
        assert risk(Other(label=lambda said: said * 0 + 7)) == 1


@pytest.mark.parametrize("loss", ["log", "brier", "ece"])
@pytest.mark.parametrize(("share", "said"), [(lambda p: 2 * p, "1"), (lambda p: p - 0.9, "-0")])
def test_shares_outside_of_0_and_1_are_no_probabilities(loss, share, said):
    """scikit-learn's own log loss refuses them; but they may rank."""
    with pytest.raises(FitFailed, match=rf"predict_proba gave {said}\.\d+.*between 0 and 1"):
        risk(Other(share=share), scoring=loss)
    assert risk(Other(share=share), scoring="auc") == pytest.approx(risk(Other(), scoring="auc"))


@pytest.mark.parametrize("loss", ["log", "brier"])
def test_sums_other_than_1_are_rated_and_said(loss):
    """As scikit-learn does."""
    with pytest.warns(
        TrueRiskWarning, match=r"20 of 20 rows do not sum to 1 \(the first to 0\.5\)"
    ):
        assert risk(Other(share=lambda p: p / 2), scoring=loss) > risk(Other(), scoring=loss)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_sums_of_a_coarse_type_are_1(kind):
    """Numbers of half or single precision do not sum to 1 exactly, and nothing is said of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = risk(Other(share=lambda p: p.astype(kind)), scoring="brier")
    assert found == pytest.approx(risk(Other(), scoring="brier"), rel=0.01)


@pytest.mark.parametrize("cell", [np.nan, np.inf, -np.inf])
def test_a_cell_that_is_no_number_is_not_called_a_sum(cell):
    """It is refused as what it is, and other rows are not blamed."""
    share = lambda p: np.where(np.arange(len(p))[:, None] == 3, [cell, -cell], p).tolist()  # noqa: E731
    with pytest.raises(TrueRiskError, match="non-finite"):
        risk(Other(share=share), scoring="brier")


@pytest.mark.parametrize("loss", ["log", "auc"])
@pytest.mark.parametrize(
    ("share", "said"),
    [
        (lambda p: p[:, 1:], r"shape \(20, 1\) for 20 rows and 2 classes"),
        (lambda p: p[:, 1], r"shape \(20,\) for 20 rows and 2 classes"),
        (lambda p: np.c_[p, p], r"shape \(20, 4\) for 20 rows and 2 classes"),
        (lambda p: p[:-1], "19 answers for 20 rows"),
        (lambda p: None, "1 answers for 20 rows"),
    ],
)
def test_a_column_for_each_class(loss, share, said):
    """And a row for each row."""
    with pytest.raises(FitFailed, match=said):
        risk(Other(share=share), scoring=loss)


@pytest.mark.parametrize("classes", [[0, 1], ["x", "y"]])
def test_classes_that_y_does_not_have(classes):
    """Columns of other classes would leave probability 0 for those of y."""
    with pytest.raises(FitFailed, match=r"says that its classes are \[.*\], and y holds 'a', 'b'"):
        risk(Other(classes=classes), WORDS, scoring="log")


def test_a_class_more_has_a_column_of_its_own():
    """A model may know of classes that y does not hold: what it gives them is lost to the rest."""
    more = Other(classes=["a", "b", "c"], share=lambda p: np.c_[0.9 * p, np.full(len(p), 0.1)])
    assert risk(more, WORDS, scoring="log") == pytest.approx(
        risk(Other(), WORDS, scoring="log") - np.log(0.9)
    )


@pytest.mark.parametrize("loss", ["log", "brier", "auc", "average-precision", "zero-one"])
@pytest.mark.parametrize("model", [Backwards(), Deciding()])
def test_classes_in_another_order(model, loss):
    """The order of classes_ is that of the columns, and says whose the decision values are."""
    assert risk(model, WORDS, scoring=loss) == pytest.approx(risk(Other(), WORDS, scoring=loss))


def test_probabilities_of_classes_without_names():
    """Without classes_ nobody knows whose the columns are."""

    class Nameless(Other):
        def fit(self, X, y):
            super().fit(X, y)
            del self.classes_
            return self

    with pytest.raises(FitFailed, match="predict_proba and no classes_"):
        risk(Nameless(), scoring="log")


@pytest.mark.parametrize(
    "shape",
    [lambda p: p[:, None], lambda p: p[None], lambda p: p.tolist()],
    ids=["column", "row", "list"],
)
def test_a_column_of_numbers_is_a_number_for_each_row(shape):
    """Networks answer (n, 1)."""
    assert risk(Numbers(shape), X[:, 0]) == pytest.approx(risk(Numbers(lambda p: p), X[:, 0]))


@pytest.mark.parametrize(
    ("y", "shape", "said"),
    [
        (X[:, :2], lambda p: p.T, "2 answers for 20 rows"),
        (X[:, :2], lambda p: p.ravel(), "40 answers for 20 rows"),
        (X[:, :2], lambda p: np.c_[p, p], r"shape \(20, 4\) for a y of shape \(20, 2\)"),
        (X[:, 0], lambda p: np.c_[p, p], "40 answers for 20 rows"),
        (X[:, 0], lambda p: p[:-1], "19 answers for 20 rows"),
        (X[:, 0], lambda p: None, "1 answers for 20 rows"),
    ],
)
def test_numbers_in_another_shape_are_no_answers(y, shape, said):
    """Targets and rows that changed places would be compared crosswise."""
    with pytest.raises(FitFailed, match=said):
        risk(Numbers(shape), y)
