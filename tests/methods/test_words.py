"""Words, numbers, methods, splitters and lists become methods."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold as SklearnKFold
from sklearn.model_selection import StratifiedKFold

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.data.data import Data
from truerisk.methods import GivenSplits, KFold, ReversedKFold, Splitter, as_method
from truerisk.methods.words import listed_splits


@pytest.mark.parametrize(
    ("given", "kind", "k", "repeats"),
    [
        ("10-fold", KFold, 10, 1),
        ("5x10-fold", KFold, 10, 5),
        (" 3 x 4-fold", KFold, 4, 3),
        ("reversed 5-fold", ReversedKFold, 5, 1),
        ("reversed 2x5-fold", ReversedKFold, 5, 2),
        ("reversed", ReversedKFold, 10, 1),
    ],
)
def test_folds_in_words(given, kind, k, repeats) -> None:
    """Any K, repeated, reversed; the method's own word leads back to it."""
    method = as_method(given)
    assert type(method) is kind
    assert (method.k, method.repeats) == (k, repeats)
    assert as_method(method.word) == method


@pytest.mark.parametrize(
    ("task", "theirs"), [("classification", StratifiedKFold(4)), ("regression", SklearnKFold(4))]
)
def test_number_means_the_folds_of_scikit_learn(task, theirs) -> None:
    """Not shuffled, and stratified where y holds classes; whole numbers may be values."""
    y = np.repeat([0, 1, 2], [10, 5, 5])
    data = Data.check(np.zeros((20, 1)), y, task=task)
    plan = as_method(4).plan(data, Streams(3))
    found = [plan.test_rows(q)[0].tolist() for q in range(plan.n_questions)]
    assert found == [test.tolist() for _, test in theirs.split(data.X, y)]
    assert as_method(as_method(4).word).splitter == 4


def test_listed_splits_tells_several_from_a_list_of_pairs() -> None:
    """A list of words is several; pairs of row numbers are one, as in scikit-learn."""
    pairs = [([0, 1], [2]), ([2], [0, 1])]
    assert listed_splits(["5-fold", 3]) == ["5-fold", 3]
    assert listed_splits(pairs) == [pairs]
    assert listed_splits("loo") == ["loo"]


@pytest.mark.parametrize("word", [w.replace("K", "4") for w in tr.methods.names()])
def test_every_word_is_a_method_of_that_word(word) -> None:
    """Each word of the table gives the method that calls itself so."""
    assert as_method(word).word.startswith(word)


def test_objects_pass() -> None:
    """Methods stay, splitters and lists are wrapped."""
    method = KFold(3)
    assert as_method(method) is method
    assert isinstance(as_method(SklearnKFold(3)), Splitter)
    assert isinstance(as_method([([0], [1])]), GivenSplits)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("holdot", UnknownName, "did you mean 'holdout'"),
        ("10fold", UnknownName, "did you mean '10-fold'"),
        ("5-flod", UnknownName, "did you mean '5-fold'"),
        ("K-fold", UnknownName, "put a number for K"),
        ("1-fold", BadData, "K >= 2"),
        ("0x3-fold", BadData, "repeats=0"),
        (0, BadArgument, "0 is no number of folds"),
        ("1 unshuffled folds", BadArgument, "1 is no number of folds"),
        (1, BadArgument, "1 is no number of folds: give two at least"),
        (True, UnknownName, "cv=True is neither a word"),
        (None, UnknownName, "cv=None is neither a word"),
        (2.5, UnknownName, "cv=2.5 is neither"),
        ([(1, 2, 3)], BadData, "split 0 is no"),
        (["10-fold"], BadArgument, "lists several ways to split"),
    ],
)
def test_what_is_no_method_is_refused(given, error, message) -> None:
    """An unknown word gets the nearest one; anything else is told what is wanted."""
    with pytest.raises(error, match=message):
        as_method(given)


ARGUMENTS = [
    ("KFold", "k", "10"),
    ("KFold", "k", 2.0),
    ("KFold", "repeats", None),
    ("KFold", "repeats", 10**12),
    ("KFold", "stratify", "no"),
    ("ReversedKFold", "k", [5]),
    ("BootstrapBiasCorrected", "repeats", 1.5),
    ("NestedInterval", "k", "10"),
    ("NestedInterval", "repeats", "50"),
    ("NestedInterval", "stratify", 1),
    ("Bootstrap", "replicates", "x"),
    ("Bootstrap", "replicates", True),
    ("Bootstrap", "stratify", "no"),
    ("Holdout", "test_share", "x"),
    ("Holdout", "test_share", 30),
    ("MonteCarlo", "splits_drawn", "x"),
    ("MonteCarlo", "test_share", None),
    ("ThreeWay", "validation_share", "x"),
    ("ThreeWay", "test_share", float("nan")),
    ("PairedHalves", "pairs", 1.5),
    ("PairedHalves", "splits_drawn", "x"),
    ("PairedHalves", "test_share", 0.5),
    ("Complete", "m", "x"),
    ("Complete", "m", [5]),
    ("Complete", "m", float("inf")),
    ("Cp", "sigma2", "1"),
    ("AIC", "per_row", "no"),
    ("EBIC", "gamma", None),
    ("EBIC", "per_row", "no"),
    ("BayesianError", "gamma", "x"),
    ("BayesianError", "gamma", [[0.5]]),
    ("BayesianError", "standardize", "no"),
    ("BayesianError", "prior", 3),
    ("Bolstered", "points", "x"),
    ("Bolstered", "points", float("inf")),
    ("Bolstered", "standardize", 0),
    ("BolsteredBySampling", "points", None),
    ("Swapping", "n0", "10"),
    ("Swapping", "n0", True),
    ("Splitter", "splitter", "x"),
    ("Splitter", "splitter", True),
    ("GivenSplits", "pairs", None),
    ("GivenSplits", "pairs", "x"),
]


@pytest.mark.parametrize(("method", "name", "given"), ARGUMENTS)
def test_an_argument_of_a_wrong_kind_is_named(method, name, given) -> None:
    """It is refused where it is written, with its name and what came: ValueError and TypeError."""
    with pytest.raises(BadArgument, match=f"^{name}=") as refused:
        getattr(tr.methods, method)(**{name: given})
    assert isinstance(refused.value, ValueError)
    assert isinstance(refused.value, TypeError)


def test_numpy_numbers_are_arguments() -> None:
    """Whole numbers, shares and truth values may be NumPy's."""
    method = KFold(np.int64(5), repeats=np.int32(2), stratify=np.bool_(True))
    assert method.word == "2x5-fold"
    assert tr.methods.Holdout(np.float32(0.25)).test_share == 0.25
