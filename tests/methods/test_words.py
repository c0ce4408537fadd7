"""Words, numbers, methods, splitters and lists become methods."""

from datetime import timedelta
from itertools import count

import numpy as np
import pytest
from sklearn.model_selection import KFold as SklearnKFold
from sklearn.model_selection import StratifiedKFold
from tests.support.plans import drawn, sets_of

import truerisk as tr
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, BadData, Data, TrueRiskError
from truerisk.methods import (
    BayesianError,
    Blocks,
    BootstrapBiasCorrected,
    Buffered,
    Forward,
    GivenSplits,
    ImproperBayesianError,
    KFold,
    Purged,
    ReversedKFold,
    Splitter,
    as_method,
)
from truerisk.methods.words import to_cv_list


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
def test_as_method_reads_folds_in_words_and_back(given, kind, k, repeats):
    method = as_method(given)
    assert (type(method), method.k, method.repeats) == (kind, k, repeats)
    assert as_method(method.name) == method


@pytest.mark.parametrize(
    ("task", "theirs"), [("classification", StratifiedKFold(4)), ("regression", SklearnKFold(4))]
)
def test_as_method_reads_a_number_as_the_folds_of_scikit_learn(task, theirs):
    """Not shuffled, and stratified where y holds classes; whole numbers may be values."""
    data = Data.check(np.zeros((20, 1)), np.repeat([0, 1, 2], [10, 5, 5]), task=task)
    found = [test for _, test in sets_of(drawn(as_method(4), data, seed=3))]
    assert found == [test.tolist() for _, test in theirs.split(data.X, data.y)]
    assert as_method(as_method(4).name).splitter == 4


def test_listed_splits_tells_several_from_a_list_of_pairs():
    pairs = [([0, 1], [2]), ([2], [0, 1])]
    assert to_cv_list(["5-fold", 3]) == ["5-fold", 3]
    assert to_cv_list(pairs) == [pairs]
    assert to_cv_list("loo") == ["loo"]


@pytest.mark.parametrize("word", [w.replace("K", "4") for w in tr.methods.names()])
def test_as_method_gives_the_method_that_calls_itself_so(word):
    assert as_method(word).name.startswith(word)


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (Forward(7), "forward-7"),
        (Forward(3, gap=2, window=9), "forward-3 (gap 2, window 9)"),
        (Purged(6), "purged-6"),
        (Purged(3, purge=2, embargo=1), "purged-3 (purge 2, embargo 1)"),
        (Blocks(7), "blocks-7"),
        (Blocks(3, size=0.5), "blocks-3 (size 0.5)"),
        (Buffered(), "buffered"),
        (Buffered(0.5, k=4), "buffered (folds 4, radius 0.5)"),
        (BootstrapBiasCorrected(), "bbc"),
        (BootstrapBiasCorrected(5), "bbc (5-fold)"),
        (BootstrapBiasCorrected(repeats=2), "bbc (2x10-fold)"),
        (ImproperBayesianError(), "bee-improper"),
        (BayesianError(standardize=False), "bee (not standardised)"),
    ],
)
def test_method_name_is_its_word_with_the_options_that_are_not_usual(method, name):
    assert method.name == name
    assert "(" in name or as_method(name) == method


def test_as_method_keeps_methods_and_wraps_splitters_and_lists():
    method = KFold(np.int64(3), repeats=np.int32(2), stratify=np.bool_(True))
    assert as_method(method) is method
    assert method.name == "2x3-fold"
    assert tr.methods.Holdout(np.float32(0.25)).test_share == 0.25
    assert isinstance(as_method(SklearnKFold(3)), Splitter)
    assert isinstance(as_method([([0], [1])]), GivenSplits)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("holdot", UnknownName, "did you mean 'holdout'"),
        ("10fold", UnknownName, "did you mean '10-fold'"),
        ("5-flod", UnknownName, "did you mean '5-fold'"),
        ("block-5", UnknownName, "no method 'block-5'"),
        ("K-fold", UnknownName, "put a number for K"),
        ("forward-K", UnknownName, "put a number for K: cv='forward-5'"),
        ("blocks-K", UnknownName, "blocks-5"),
        ("1-fold", BadData, "K >= 2"),
        ("0x3-fold", BadData, "repeats=0: .*at least one"),
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
def test_as_method_refuses_with_what_is_wanted(given, error, message):
    with pytest.raises(error, match=message):
        as_method(given)


WRONG_ARGUMENTS = {
    "KFold": {"k": ["10", 2.0], "repeats": [None, 10**12], "stratify": ["no"], "average": ["mean"]},
    "ReversedKFold": {"k": [[5]]},
    "BootstrapBiasCorrected": {"repeats": [1.5]},
    "NestedInterval": {"k": ["10"], "repeats": ["50"], "stratify": [1]},
    "Bootstrap": {"replicates": ["x", True], "stratify": ["no"]},
    "Holdout": {"test_share": ["x", 30]},
    "MonteCarlo": {"splits_drawn": ["x"], "test_share": [None]},
    "ThreeWay": {"validation_share": ["x"], "test_share": [float("nan")]},
    "PairedHalves": {"pairs": [1.5], "splits_drawn": ["x"], "test_share": [0.5]},
    "Complete": {"m": ["x", [5], float("inf")]},
    "Cp": {"sigma2": ["1"]},
    "AIC": {"per_row": ["no"]},
    "EBIC": {"gamma": [None], "per_row": ["no"]},
    "BayesianError": {"gamma": ["x", [[0.5]]], "standardize": ["no"], "prior": [3]},
    "Bolstered": {"points": ["x", float("inf")], "standardize": [0]},
    "BolsteredBySampling": {"points": [None]},
    "Swapping": {"n0": ["10", True]},
    "Splitter": {"splitter": ["x", True]},
    "GivenSplits": {"pairs": [None, "x"]},
}


@pytest.mark.parametrize(
    ("method", "name", "given"),
    [(m, name, one) for m, of in WRONG_ARGUMENTS.items() for name in of for one in of[name]],
)
def test_method_names_an_argument_of_a_wrong_kind(method, name, given):
    """It is refused where it is written, as ValueError and as TypeError."""
    error = UnknownName if name == "average" else BadArgument
    with pytest.raises(error, match=f"^{name}=") as refused:
        getattr(tr.methods, method)(**{name: given})
    assert isinstance(refused.value, ValueError)
    assert isinstance(refused.value, TypeError) == (name != "average")


WRONG_VALUES = {
    "BayesianError": [
        ({"gamma": g}, "no shares") for g in (-0.1, 1.2, (0.5, 0.6), (0.5, -0.5, 1.0))
    ],
    "Complete": [
        ({"m": m}, "neither a number of training rows nor a sh") for m in (0, -1, 1.5, True)
    ],
    "Cp": [({"sigma2": 0}, "sigma2=0")],
    "NestedInterval": [
        ({"k": 2}, "K >= 3"),
        ({"repeats": 0}, "at least one"),
        ({"bias": "other"}, "mlr3inferr"),
    ],
    "Bootstrap": [
        ({"kind": "632"}, "kind='632' is unknown"),
        ({"replicates": 0}, "replicates=0"),
        ({"convention": "r"}, "convention='r' is unknown"),
    ],
    "EBIC": [({"gamma": 2.0}, "between 0 and 1")],
    "BolsteredBySampling": [({"points": points}, "at least 2") for points in (1, 2.5, True)],
    "Swapping": [({"form": "printed"}, "form='printed' is unknown"), ({"n0": -1}, "n0=-1")],
    "Blocks": [({"k": 1}, "K >= 2")]
    + [
        ({"k": 5, "size": size}, f"size={size!r}.*a length in the unit of block= is wanted")
        for size in (-1.0, np.nan, np.inf, "3", True, 0)
    ],
    "Buffered": [
        ({"radius": radius}, "radius=.*a length in the unit of block=")
        for radius in (-1.0, np.nan, np.inf, "3", True)
    ],
    "Forward": [
        ({"k": 0}, "k=0"),
        ({"gap": -1}, "gap=-1: a number or a length of time is wanted, .* not negative"),
        ({"gap": "7 days"}, r"gap='7 days': .*, such as np.timedelta64\(7, 'D'\)"),
        ({"gap": None}, "gap=None"),
        ({"window": 0}, "window=0: .* more than 0"),
        ({"horizon": timedelta(0)}, "horizon=.* more than 0"),
        ({"horizon": np.timedelta64("NaT", "D")}, "horizon=.* more than 0"),
        ({"window": True}, "window=True"),
        ({"average": "median"}, "median"),
    ],
    "Purged": [
        ({"k": 1}, "k="),
        ({"purge": -1}, "purge="),
        ({"embargo": "2"}, "embargo="),
        ({"purge": None}, "purge="),
    ],
}


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [(method, *one) for method, wrong in WRONG_VALUES.items() for one in wrong],
    ids=count(),
)
def test_method_names_an_option_out_of_its_range(method, options, message):
    """Before any data."""
    with pytest.raises(TrueRiskError, match=message):
        getattr(tr.methods, method)(**options)
