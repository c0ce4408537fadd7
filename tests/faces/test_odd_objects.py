"""Objects that Python can hold and no one meant: good ones work, others get a sentence."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.errors import BadArgument, BadData, TrueRiskError, UnknownName

N = 40
X = np.random.default_rng(0).standard_normal((N, 3))
Y = np.arange(N) % 2
KNN = KNeighborsClassifier(3)
HUGE = 10**400
SEARCH = GridSearchCV(KNN, {"n_neighbors": [1, 3]}, cv=3).fit(X, Y)
SPEC = {"problems": ["simple"], "learners": ["lda"], "methods": ["2-fold"], "sizes": [20]}
UNEVEN = [[1, 2], [3]] * (N // 2)


def estimate(model=KNN, X=X, y=Y, **more):
    return tr.estimate_risk(model, X, y, **{"cv": "5-fold", **more})


VERBS = {
    "estimate": estimate,
    "search": lambda model=KNN, X=X, y=Y, method="5-fold", **more: tr.HonestSearchCV(
        model, {}, cv=method
    ).fit(X, y, **more),
    "assess": lambda model=KNN, X=X, y=Y, **more: tr.assess({"m": model}, X, y, **more),
    "validate": lambda model=KNN, X=X, y=Y, **more: tr.validate(model, X, y, replicates=4, **more),
    "permute": lambda model=KNN, X=X, y=Y, **more: tr.permutation_test(
        model, X, y, n_permutations=2, **more
    ),
    "curve": lambda model=KNN, X=X, y=Y, **more: tr.learning_curve(
        model, X, y, sizes=[8, 12, 16, 20], **more
    ),
}


@pytest.mark.parametrize("verb", ["estimate", "search", "assess", "validate", "curve"])
def test_weights_of_a_polars_series_are_those_of_an_array(verb) -> None:
    """Cut with the rows whatever holds them."""
    weights = 1 + np.arange(N) % 3
    for model in (DecisionTreeClassifier(random_state=0), LogisticRegression()):
        one, other = (
            VERBS[verb](model, sample_weight=held) for held in (weights, pl.Series(weights))
        )
        told, again = (
            re.sub(r"[\d.]+ s", "", str(getattr(found, "risk_", found))) for found in (one, other)
        )
        assert told == again


@pytest.mark.parametrize("model", [KNN, DecisionTreeClassifier(random_state=0)])
def test_a_memoryview_is_the_array_that_it_shows(model) -> None:
    """As X, y and weights."""
    shown = estimate(model, memoryview(X), memoryview(Y))
    assert shown.value == estimate(model).value


@pytest.mark.parametrize(
    "splits",
    [[("a", "b")], [(UNEVEN, [4, 5])], [([[1, 2]], [3])], [([HUGE], [4])], [(np.float64(1), [2])]],
)
@pytest.mark.parametrize("word", ["method", "outer"])
def test_splits_that_are_no_row_numbers(splits, word) -> None:
    """Named by their number, in every verb that takes splits."""
    search = tr.HonestSearchCV(KNN, {"n_neighbors": [1, 3]}, outer=splits)
    with pytest.raises(BadData, match="split 0"):
        estimate(cv=splits) if word == "method" else search.fit(X, Y)


WRONG = {
    "X of a huge integer": ({"X": [[HUGE, i] for i in range(N)]}, "large"),
    "numbers y of a huge integer": ({"model": Ridge(), "y": [HUGE] * N}, r"y\[0\] is 1000"),
    "weights of a huge integer": (
        {"model": LogisticRegression(), "sample_weight": [HUGE] * N},
        "sample_weight",
    ),
    "places of a huge integer": ({"block": [[HUGE, 1], [1, 2]] * (N // 2)}, "block"),
    "times of a huge integer": ({"time": [HUGE + i for i in range(N)]}, "time"),
    "X uneven within rows": ({"X": [[[1], 2], [3, 4]] * (N // 2)}, "X .* not equally long"),
    "y uneven": ({"y": UNEVEN}, "y .* not equally long"),
    "numbers y uneven": ({"model": Ridge(), "y": UNEVEN}, "y .* not equally long"),
    "groups uneven": ({"groups": UNEVEN}, "groups .* not equally long"),
    "y of no columns": ({"y": np.empty((N, 0))}, "y has no columns"),
    "numbers y of no columns": ({"model": Ridge(), "y": np.empty((N, 0))}, "y has no columns"),
    "places too near": ({"block": X[:, :2] * 1e-320}, "block.*another unit"),
    "places too far": ({"block": np.sign(X[:, :2]) * 1e300}, "block.*another unit"),
}


NOT_TAKEN = {"permute": {"block", "sample_weight"}, "curve": {"block"}}
CASES = [
    (verb, what)
    for verb in VERBS
    for what, (given, _) in WRONG.items()
    if not given.keys() & NOT_TAKEN.get(verb, set())
]


@pytest.mark.parametrize(("verb", "what"), CASES)
def test_data_that_no_array_holds(verb, what) -> None:
    """The argument is named, and what to do."""
    given, told = WRONG[what]
    with pytest.raises(TrueRiskError, match=told):
        VERBS[verb](**given)


def test_a_broken_sparse_table() -> None:
    """SciPy reads and writes beyond its arrays there: refused before, in a process of its own."""
    code = """
import numpy as np, scipy.sparse as sp, truerisk as tr
from sklearn.neighbors import KNeighborsClassifier
for form in (sp.csr_matrix, sp.csc_array):
    for array, place, value in (("indices", 5, 99), ("indices", 5, -3), ("indptr", -1, 9999)):
        table = form(np.random.default_rng(0).random((40, 3)))
        getattr(table, array)[place] = value
        print(form.__name__, array, value, end=": ", flush=True)
        try:
            tr.estimate_risk(KNeighborsClassifier(), table, np.arange(40) % 2)
        except tr.core.errors.BadData as error:
            print(error)
"""
    called = [sys.executable, "-c", code]
    done = subprocess.run(called, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": X is a sparse table that contradicts itself (") == 6


@pytest.mark.parametrize(
    "model",
    [
        Pipeline([("a", StandardScaler), ("b", KNN)]),
        Pipeline([("a", StandardScaler)]),
        Pipeline([("a", StandardScaler()), ("b", KNeighborsClassifier)]),
        Pipeline([("in", Pipeline([("a", StandardScaler)])), ("b", KNN)]),
        Pipeline([("a", FeatureUnion([("u", StandardScaler)])), ("b", KNN)]),
        Pipeline([("a", ColumnTransformer([("c", StandardScaler, [0])])), ("b", KNN)]),
        VotingClassifier([("a", KNeighborsClassifier)]),
        BaggingClassifier(KNeighborsClassifier),
        Pipeline([("a", StandardScaler()), ("b", OneVsRestClassifier(KNeighborsClassifier))]),
        tr.models.EarlyStopping(KNeighborsClassifier),
    ],
)
@pytest.mark.parametrize("verb", VERBS)
def test_a_class_in_the_place_of_a_step(model, verb) -> None:
    """The step, or the part of a model around it, is named, and to make an object of it."""
    with pytest.raises(
        UnknownName, match=r"([abcu]|estimator)=\w+ is a class: make an object of it, \w+\(\)"
    ):
        VERBS[verb](model)


@pytest.mark.parametrize("steps", [3, [1], [("a",)], "ab", None])
def test_steps_that_are_no_pairs(steps) -> None:
    """A pipeline is built without a look at its steps."""
    with pytest.raises(BadArgument, match="steps=.*pairs"):
        estimate(Pipeline(steps))


@pytest.mark.parametrize("given", [(None, None), ({}, None), ({}, 3), (3, "runs.db"), ({}, "")])
def test_a_study_of_nothing(given, tmp_path, monkeypatch) -> None:
    """What is to be a file is named."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadArgument, match="^(store|spec)="):
        tr.Study(*given)


CALLS = {
    "cost": lambda: tr.losses.Cost([[0, HUGE], [1, 0]]),
    "roc": lambda: tr.RocCurve.of(Y, [HUGE] * N),
    "compare": lambda: tr.compare([HUGE] * 4, [1] * 4),
    "selection bias": lambda: tr.SelectionBias([[HUGE, 1]] * 4, [0] * 4),
    "posterior": lambda: tr.ErrorPosterior(1, HUGE),
    "compare many": lambda: tr.compare_many([[HUGE, 1]] * 4),
    "thresholds": lambda: tr.validate(LogisticRegression(), X, Y, thresholds=[HUGE]),
    "prior": lambda: tr.methods.BayesianError("gaussian", kappa=HUGE),
    "seed": lambda: estimate(random_state=-HUGE),
    "threshold": lambda: tr.models.ThresholdClassifier(KNN, cost=(1, HUGE)).fit(X, Y),
    "rule": lambda: tr.bayesian_error([HUGE] * 3, 0, X, Y),
    "digits": lambda: estimate(cv=10**5000),
}


@pytest.mark.parametrize("what", CALLS)
def test_an_integer_that_no_float_holds(what) -> None:
    """Refused as any other number out of range."""
    with pytest.raises((TrueRiskError, ValueError)):
        CALLS[what]()


class Foreign:
    """An array of another library of the array API: NumPy reads it, and cannot index it."""

    dtype = "theirs.float64"

    def __init__(self, values, away=False):
        self.values, self.away, self.shape = values, away, values.shape

    def __array_namespace__(self):
        return None

    def __array__(self, dtype=None, copy=None):
        if self.away:
            raise TypeError("it is on another device")
        return self.values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, rows):
        raise IndexError("an index must be of this library")


def test_arrays_of_another_library_are_read_as_numpy_reads_them():
    """The same numbers; one that NumPy cannot read is a sentence."""
    X, y = tr.datasets.make_simple(40, random_state=0)
    model = KNeighborsClassifier(3)
    for engine in ("auto", "generic"):
        theirs = tr.estimate_risk(model, Foreign(X), y, engine=engine)
        assert theirs.value == tr.estimate_risk(model, X, y, engine=engine).value
    with pytest.raises(BadData, match=r"Foreign that NumPy cannot read \(it is on another device"):
        tr.estimate_risk(model, Foreign(X, away=True), y)


@pytest.mark.parametrize(
    "call",
    [
        lambda: estimate(positive=[[1], [2, 3]]),
        lambda: estimate(cv=np.array(1.0)),
        lambda: tr.audit(SEARCH, X, Y, fit_params=1.0),
        lambda: tr.audit(SEARCH, X, Y, level=X),
        lambda: tr.audit(SEARCH, X, Y, replicates="many"),
        lambda: tr.assess({"m": KNN}, X, Y, mixed_versions=X),
        lambda: tr.compare(estimate(), estimate(), score=X),
        lambda: tr.compare(estimate(), estimate(), test=X),
        lambda: tr.plan_sample(0.2, width=0.1, assurance=X),
        lambda: tr.plan_sample(HUGE, width=0.1),
        lambda: tr.bayesian_error([1, 0], 0, X[:, :2], Y, prior=X),
        lambda: tr.bayesian_error([1, 0], 0, X[..., None], Y),
        lambda: tr.validate(KNN, X, Y, subgroups=csr_array((N, 2))),
        lambda: tr.Study(SPEC, "runs.db").run(attempts="three"),
        lambda: tr.Study(SPEC, "runs.db").run(limit_seconds=1e308),
        lambda: tr.Study(SPEC, "/").run(),
        lambda: tr.Study(SPEC, "n" * 300).run(),
    ],
    ids=map(str, range(17)),
)
def test_an_odd_argument_is_named_in_one_line(call) -> None:
    """Objects without a truth value or an order, of no number, or of many lines."""
    with pytest.raises(TrueRiskError) as refused:
        call()
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 500
