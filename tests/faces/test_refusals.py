"""What every call refuses: the message says what is wrong, where, and what to do."""

import subprocess
import sys
from itertools import count

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

import truerisk as tr
from truerisk.exceptions import DuplicateRowsWarning, FitFailed, UnknownName
from truerisk.extend import BadArgument, BadData, Refusal, TrueRiskError
from truerisk.results.calibration import Calibration

N = 40
X = np.random.default_rng(0).standard_normal((N, 3))
Y = np.arange(N) % 2
GROUPS = np.arange(N) // 2
KNN = KNeighborsClassifier(3)
LINE = LogisticRegression()
HUGE = 10**400
UNEVEN = [[1, 2], [3]] * (N // 2)
ONES = np.full(N, 1 + 1j)
SEARCH = GridSearchCV(KNN, {"n_neighbors": [1, 3]}, cv=3).fit(X, Y)
SPEC = {"problems": ["simple"], "learners": ["lda"], "methods": ["2-fold"], "sizes": [20]}


def estimate(model=KNN, X=X, y=Y, **more):
    return tr.estimate_risk(model, X, y, **{"cv": "5-fold", **more})


def searched(model=KNN, X=X, y=Y, method="5-fold", **more):
    return tr.HonestSearchCV(model, {}, cv=method).fit(X, y, **more)


VERBS = {
    "estimate": estimate,
    "curve": lambda model=KNN, X=X, y=Y, **more: tr.risk_curve(model, {}, X, y, **more),
    "search": searched,
    "assess": lambda model=KNN, X=X, y=Y, **more: tr.assess({"m": model}, X, y, **more),
    "validate": lambda model=KNN, X=X, y=Y, **more: tr.validate(model, X, y, replicates=4, **more),
    "permute": lambda model=KNN, X=X, y=Y, **more: tr.permutation_test(
        model, X, y, n_permutations=2, **more
    ),
    "learn": lambda model=KNN, X=X, y=Y, **more: tr.learning_curve(
        model, X, y, sizes=[8, 12, 16, 20], **more
    ),
}


# ---------------------------------------------------------------- data, in every verb

WRONG = {
    "X of a huge integer": ({"model": KNN, "X": [[HUGE, i] for i in range(N)]}, "large"),
    "X uneven within rows": ({"X": [[[1], 2], [3, 4]] * (N // 2)}, "X .* not equally long"),
    "X of complex numbers": ({"X": X + 1j}, "Complex data not supported: X holds complex numbers"),
    "X of no rows": ({"X": [], "y": []}, "X has no rows"),
    "y of periods": ({"y": pd.period_range("2024", periods=2)[Y]}, "Period.*turn them into text"),
    "y of one class": ({"y": ["x"] * N}, "only one class, 'x'.*no risk to estimate. Check the tar"),
    "y uneven": ({"y": UNEVEN}, "y .* not equally long"),
    "y of no columns": ({"y": np.empty((N, 0))}, "y has no columns"),
    "numbers y of a huge integer": ({"model": Ridge(), "y": [HUGE] * N}, r"y\[0\] is 1000"),
    "numbers y uneven": ({"model": Ridge(), "y": UNEVEN}, "y .* not equally long"),
    "numbers y of no columns": ({"model": Ridge(), "y": np.empty((N, 0))}, "y has no columns"),
    "weights of a huge integer": ({"model": LINE, "sample_weight": [HUGE] * N}, "sample_weight"),
    "groups uneven": ({"groups": UNEVEN}, "groups .* not equally long"),
    "times of a huge integer": ({"time": [HUGE + i for i in range(N)]}, "time"),
    "places of a huge integer": ({"block": [[HUGE, 1], [1, 2]] * (N // 2)}, "block"),
    "places too near": ({"block": X[:, :2] * 1e-320}, "block.*another unit"),
    "places too far": ({"block": np.sign(X[:, :2]) * 1e300}, "block.*another unit"),
}
NOT_TAKEN = {"permute": {"block", "sample_weight"}, "learn": {"block"}}


class NeverFitted(KNeighborsClassifier):
    def fit(self, X, y):
        raise AssertionError("a fit was made")


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, sp.csr_matrix], ids=count())
@pytest.mark.parametrize("method", ["3-fold", "loo", "holdout", "nested"])
def test_estimate_risk_names_cells_that_are_no_numbers(make, method):
    """How many, the first one's row and column, and to impute inside the folds."""
    for bad in (np.nan, np.inf, -np.inf):
        spoiled = X.copy()
        spoiled[5, 2], spoiled[7, 0] = bad, bad
        with pytest.raises(BadData, match=r"2 cells .* in row 5, column .*2.*Impute inside the f"):
            estimate(X=make(spoiled), cv=method)


UNFIT = [
    ({"X": np.empty((N, 0))}, FitFailed, r"n_features=0\).*0 feature"),
    (
        {"X": pd.DataFrame({"a": X[:, 0], "t": [f"t{c}" for c in Y]})},
        BadData,
        "text in column 't'",
    ),
    (
        {"X": pd.DataFrame({"a": pd.array([pd.NA, *X[1:, 0]], dtype="Float64")})},
        BadData,
        "NaN.*column 'a'.*failed in the test split|failed in the test split.*column 'a'",
    ),
    ({"y": [np.nan, *Y[1:]]}, BadData, "in 1 of 40 rows, first in row 0: leave these rows out"),
    ({"model": KMeans()}, BadData, "KMeans is neither a classifier nor a regressor"),
    ({"y": np.c_[Y, Y]}, BadData, "y has several columns: multi-label targets are not covered"),
    ({"model": MultiOutputClassifier(KNN)}, FitFailed, "MultiOutp.* failed in the test .*two"),
    ({"cv": 1}, BadArgument, "1 is no number of folds"),
    ({"scoring": ["accuracy", "accuracy"]}, BadArgument, "scoring"),
    ({"scoring": []}, BadArgument, "scoring"),
    ({"cv": "50-fold"}, BadData, "50"),
    ({"cv": "reversed 50-fold"}, BadData, "50"),
    ({"cv": KFold(50)}, BadData, "50"),
    ({"cv": "23-fold", "groups": GROUPS}, BadData, "need at least 23 groups and there are 20"),
    ({"cv": "loo", "groups": GROUPS}, Refusal, "'loo' would ignore the groups"),
    (
        {"model": LINE, "cv": tr.methods.KFold(folds=Y)},
        FitFailed,
        r"LogisticRegression .*fold 0\), fit 0 of 2 on 20 rows.*class",
    ),
    (
        {"cv": tr.methods.KFold(folds=Y), "scoring": "auc"},
        Refusal,
        "both classes in every test set.*fewer folds, or 'auc pooled'",
    ),
    (
        {"model": KNeighborsClassifier(35)},
        FitFailed,
        r"KNeighbors.* .*fold 0\).*on 32 rows.*n_samples_fit = 32",
    ),
    ({"scoring": "squared"}, Refusal, "not defined for classification; use zero-one, log or b"),
    (
        {"model": SVC(), "scoring": "log"},
        Refusal,
        "SVC gives no pro.*CalibratedClassifierCV",
    ),
    (
        {"model": DecisionTreeRegressor(), "scoring": "zero-one"},
        Refusal,
        "not defined for regression; use squared or absolute",
    ),
    ({"sample_weight": ONES, "model": LINE}, BadData, "holds what is no number"),
    ({"block": X + 1j}, BadData, "complex|numbers"),
    ({"checks": "no"}, BadArgument, "checks='no'"),
    *(
        ({"scoring": f"log-clip{end}"}, UnknownName, r"log-clip-0\.001")
        for end in ("", "-", "-0", "-x", "-1")
    ),
]
UNKNOWN = [
    ({"cv": "holdot"}, "no method 'holdot'; did you mean 'holdout'"),
    ({"cv": "5-Fold"}, "no method '5-Fold'; did you mean '5-fold'"),
    ({"scoring": "brierr"}, "no scoring 'brierr'; did you mean 'brier'"),
    ({"scoring": np.array([[0, 1], [5, 0]])}, "given as scoring=tr.losses.Cost"),
    ({"interval": "BETA-CV"}, "no interval 'BETA-CV'; did you mean 'beta-cv'"),
    ({"engine": "genric"}, "no engine 'genric'; did you mean 'generic'"),
    ({"n_jobs": "2"}, "n_jobs='2' is unknown; use None .*a number"),
    ({"n_jobs": 0}, "n_jobs=0"),
    ({"random_state": "0"}, "random_state='0' is no seed"),
    ({"model": KNeighborsClassifier}, "not an estimator instance"),
    ({"cv": tr.methods.KFold}, "cv=KFold is a class: make an object"),
    ({"cv": KFold}, "cv=KFold is a class: make an object"),
    ({"engine": tr.engines.Generic}, "engine=Generic is a class: make an object"),
    ({"scoring": tr.losses.Brier}, "scoring=Brier is a class: make an object"),
]
LEVELS = [95, "0.95", True, None]
NO_PAIRS = [3, [1], [("a",)], "ab", None]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        *UNFIT,
        *[(given, UnknownName, message) for given, message in UNKNOWN],
        *[
            (
                {"confidence_level": level},
                BadArgument,
                f"confidence_level={level!r}: use a level between 0 and",
            )
            for level in LEVELS
        ],
        *[({"model": Pipeline(steps)}, BadArgument, "steps=.*pairs") for steps in NO_PAIRS],
    ],
    ids=count(),
)
def test_estimate_risk_says_what_is_wrong_with_its_arguments(given, error, message):
    """Arguments that do not fit together are refused.

    Unknown words, percentages and steps of a pipeline that are no pairs are refused as well.
    """
    with pytest.raises(error, match=message):
        estimate(**given)


NEAREST = [
    *[
        (lambda m=m, g=g: tr.HonestSearchCV(m, g).fit(X, Y), "not an estimator instance")
        for m in (KNeighborsClassifier, "knn", None)
        for g in (None, {"n_neighbors": [1, 3]})
    ],
    (
        lambda: tr.risk_curve(KNN, {"n_neighbour": [1]}, X, Y),
        "no parameter 'n_neighbour'; did you mean 'n_neighbors'",
    ),
    (
        lambda: tr.risk_curve(KNN, {"n_neighbors": [1]}, X, Y, rule="1se"),
        "no rule '1se'; did you mean '1-se'",
    ),
    (lambda: tr.risk_curve(KNN, 3, X, Y), "grid=3 is no grid"),
]


def test_errors_can_be_caught_as_one():
    """All are TrueRiskError; bad values are ValueError, as scikit-learn's callers expect."""
    for kind in (BadData, Refusal, UnknownName):
        assert issubclass(kind, TrueRiskError)
        assert issubclass(kind, ValueError)
    assert issubclass(FitFailed, TrueRiskError)


# ---------------------------------------------------------------- splits

ROWS = np.arange(N)
ALL = [(ROWS, ROWS)]
SOME = [(ROWS[:22], ROWS[20:]), (ROWS[20:], ROWS[:20])]
MASKS = [(ROWS < 22, ROWS >= 20), (ROWS >= 20, ROWS < 20)]
GRID = {"C": [0.1, 1.0]}


class Overlapping(KFold):
    """A splitter whose models see their test rows."""

    def split(self, X, y=None, groups=None):
        for train, test in super().split(X, y, groups):
            yield np.concatenate([train, test[:1]]), test


HONEST = {
    "search": lambda outer: tr.HonestSearchCV(LINE, GRID, outer=outer).fit(X, Y),
    "given search": lambda outer: tr.HonestSearchCV(GridSearchCV(LINE, GRID), outer=outer).fit(
        X, Y
    ),
    "assessment": lambda outer: tr.assess({"a": (LINE, GRID)}, X, Y, outer=outer),
    "nested": lambda outer: estimate(LINE, cv=tr.methods.Nested(outer)),
    "audit": lambda outer: tr.audit(SEARCH, X, Y, level="nested", outer=outer),
    "learning curve": lambda outer: tr.learning_curve(LINE, X, Y, cv=outer),
}
OVERLAPS = {"all": (ALL, 40), "some": (SOME, 2), "masks": (MASKS, 2), "own": (Overlapping(3), 3)}


@pytest.mark.parametrize(
    ("verb", "what"),
    [
        *((verb, "some") for verb in HONEST),
        *(("search", what) for what in ("all", "masks", "own")),
    ],
)
def test_honest_risk_is_refused_where_models_saw_their_test_rows(verb, what):
    """One such row is enough; the sentence names the first."""
    with pytest.raises(Refusal, match=r"trained on them, so the risk would not be honest"):
        HONEST[verb](OVERLAPS[what][0])


@pytest.mark.parametrize("what", OVERLAPS)
def test_estimate_risk_warns_where_models_saw_their_test_rows(what):
    """GridSearchCV takes such splits, too; the number stays, and is not called pessimistic."""
    splits, n = OVERLAPS[what]
    with pytest.warns(DuplicateRowsWarning, match=rf"^{n} rows .* were trained on them"):
        found = estimate(LINE, cv=splits)
    if isinstance(splits, list):
        assert found.bias == "optimistic: models are tested on rows that they were trained on"
        assert tr.methods.GivenSplits([(ROWS[:30], ROWS[30:])]).bias.startswith("pessimistic")


@pytest.mark.parametrize(
    "splits",
    [[("a", "b")], [(UNEVEN, [4, 5])], [([[1, 2]], [3])], [([HUGE], [4])], [(np.float64(1), [2])]],
    ids=count(),
)
def test_splits_that_are_no_row_numbers_are_named_by_their_number(splits):
    search = tr.HonestSearchCV(KNN, {"n_neighbors": [1, 3]}, outer=splits)
    for call in (lambda: estimate(cv=splits), lambda: search.fit(X, Y)):
        with pytest.raises(BadData, match="split 0"):
            call()


# ---------------------------------------------------------------- odd objects

STEPS = [
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
]


A_CLASS = r"([abcu]|estimator)=\w+ is a class: make an object of it, \w+\(\)"
"""The step, or the part of a model around it, and to make an object of it."""


@pytest.mark.parametrize(
    ("verb", "given", "error", "message"),
    [
        *[
            pytest.param(
                verb, {"model": NeverFitted(), **given}, TrueRiskError, told, id=f"{verb}-{what}"
            )
            for verb in VERBS
            for what, (given, told) in WRONG.items()
            if not given.keys() & NOT_TAKEN.get(verb, set())
        ],
        *[
            pytest.param(
                verb, {"model": STEPS[i]}, UnknownName, A_CLASS, id=f"{verb}-class of step {i}"
            )
            for verb, i in (
                *((v, 0) for v in VERBS),
                *(("estimate", i) for i in range(1, len(STEPS))),
            )
        ],
    ],
)
def test_verb_refuses_data_and_classes_before_any_fit(verb, given, error, message):
    with pytest.raises(error, match=message):
        VERBS[verb](**given)


def test_sparse_table_that_contradicts_itself_is_refused():
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
        except tr.exceptions.BadData as error:
            print(error)
"""
    called = [sys.executable, "-c", code]
    done = subprocess.run(called, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": X is a sparse table that contradicts itself (") == 6


NAMED = [
    (lambda: tr.losses.Cost("x"), "matrix='x' holds no costs"),
    (lambda: tr.datasets.read_table(3, "y"), "path=3: give the path of a file"),
    (lambda: tr.datasets.read_table("table.csv", 0), "target=0: give the name of the column"),
    (lambda: tr.RiskEstimate.from_json("x"), "this is no JSON"),
    (lambda: estimate(positive=[[1], [2, 3]]), None),
    (lambda: estimate(cv=np.array(1.0)), None),
    (lambda: tr.audit(SEARCH, X, Y, fit_params=1.0), None),
    (lambda: tr.audit(SEARCH, X, Y, level=X), None),
    (lambda: tr.audit(SEARCH, X, Y, replicates="many"), None),
    (lambda: tr.assess({"m": KNN}, X, Y, mixed_versions=X), None),
    (lambda: tr.compare(estimate(), estimate(), score=X), None),
    (lambda: tr.compare(estimate(), estimate(), test=X), None),
    (lambda: tr.plan_sample(0.2, width=0.1, assurance=X), None),
    (lambda: tr.plan_sample(HUGE, width=0.1), None),
    (lambda: tr.bayesian_error([1, 0], 0, X[:, :2], Y, prior=X), None),
    (lambda: tr.bayesian_error([1, 0], 0, X[..., None], Y), None),
    (lambda: tr.validate(KNN, X, Y, subgroups=sp.csr_array((N, 2))), None),
    (lambda: tr.Study(SPEC, "runs.db").run(attempts="three"), None),
    (lambda: tr.Study(SPEC, "runs.db").run(limit_seconds=1e308), None),
    (lambda: tr.Study(SPEC, "/").run(), None),
    (lambda: tr.Study(SPEC, "n" * 300).run(), None),
    *[
        (lambda given=given: tr.Study(*given), "^(store|spec)=")
        for given in ((None, None), ({}, None), ({}, 3), (3, "runs.db"), ({}, ""))
    ],
]
UNSAID = [
    lambda: tr.losses.Cost([[0, HUGE], [1, 0]]),
    lambda: tr.RocCurve.from_scores(Y, [HUGE] * N),
    lambda: tr.compare([HUGE] * 4, [1] * 4),
    lambda: tr.SelectionBias([[HUGE, 1]] * 4, [0] * 4),
    lambda: tr.ErrorPosterior(1, HUGE),
    lambda: tr.compare_many([[HUGE, 1]] * 4),
    lambda: tr.validate(LINE, X, Y, thresholds=[HUGE]),
    lambda: tr.methods.BayesianError("gaussian", kappa=HUGE),
    lambda: estimate(random_state=-HUGE),
    lambda: tr.models.ThresholdClassifier(KNN, cost=(1, HUGE)).fit(X, Y),
    lambda: tr.bayesian_error([HUGE] * 3, 0, X, Y),
    lambda: estimate(cv=10**5000),
]
COMPLEX = [
    lambda: searched(LINE, sample_weight=ONES),
    lambda: tr.validate(LogisticRegression().fit(X, Y), X + 1j, Y, prefit=True),
    lambda: tr.RocCurve.from_scores(Y, X[:, 0] + 1j),
    lambda: tr.RocCurve.from_scores(Y, X[:, 0], weights=ONES),
    lambda: Calibration.from_predictions(Y, ONES / 2),
    lambda: Calibration.from_predictions(Y, np.full(N, 0.5), weights=ONES),
    lambda: tr.compare(ONES, ONES, folds=np.arange(N) % 5),
    lambda: tr.compare_many(np.random.default_rng(0).normal(size=(6, 3, 5)) + 1j),
]


@pytest.mark.parametrize(("call", "message"), NAMED, ids=count())
def test_odd_argument_is_named_in_one_line(call, message, tmp_path, monkeypatch):
    """Objects without a truth value or an order, of no number, or of many lines."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TrueRiskError, match=message) as refused:
        call()
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        *[(call, UnknownName, message) for call, message in NEAREST],
        (lambda: tr.HonestSearchCV(KNN, {}, checks=2).fit(X, Y), BadArgument, "checks=2"),
        *[(call, (TrueRiskError, ValueError), None) for call in UNSAID],
        *[(call, BadData, None) for call in COMPLEX],
    ],
    ids=count(),
)
def test_call_refuses_unknown_words_huge_integers_and_complex_numbers(call, error, message):
    """Unknown words are refused before scikit-learn is called.

    A float can hold neither the huge integers nor imaginary parts.
    """
    with pytest.raises(error, match=message):
        call()
